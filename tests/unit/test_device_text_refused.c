/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_device_text_refused.c - texts that are not device layouts: what is refused, where and why; texts that
 * end early.
 */
#include "support_device_text.h"

#define EIGHT "(0,1,1),(0,1,1),(0,1,1),(0,1,1),(0,1,1),(0,1,1),(0,1,1),(0,1,1),"
#define TEN "(0,1,1),(0,1,1)," EIGHT

static void refusals_say_where_and_why(void **state) {
  (void)state;
  static const struct {
    const char *text; /* ^ marks the byte that is wrong */
    tesela_status status;
    const char *part; /* of the message */
  } rows[] = {
      {"^", TESELA_E_SYNTAX, "the end of the text"},
      {"f16[2]^", TESELA_E_SYNTAX, "expected stick(...)"},
      {"f16[1000,200] ^stik(dim_order=[0,1])", TESELA_E_SYNTAX, "did you mean stick?"},
      {"^SpyreTensorLayot(device_size=[1])", TESELA_E_SYNTAX, "did you mean SpyreTensorLayout?"},
      {"f16[2] ^x.stick()", TESELA_E_SYNTAX, "found 'x.stick'"},
      {"^f17[100] stick()", TESELA_E_SYNTAX, "did you mean f16?"},
      {"^token[] stick()", TESELA_E_INVALID, "cannot have type token"},
      {"f16[1,^x] stick()", TESELA_E_SYNTAX, "found 'x'"},
      {"f16[^99999999999999999999] stick()", TESELA_E_RANGE,
       "'99999999999999999999' does not fit in 64 bits"},
      {"^f16[-1] stick()", TESELA_E_RANGE, "extent -1"},
      {"f16[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,^1] stick()", TESELA_E_LIMIT,
       "more than 32"},
      {"^f16[1,1,1,1,1,1,1] stick()", TESELA_E_LIMIT, "rank 7"},
      {"^c64[2] stick()", TESELA_E_UNSUPPORTED, "no type for c64"},
      {"f16[3] stick() ^x", TESELA_E_SYNTAX, "nothing more after"},
      {"f16[3] stick^", TESELA_E_SYNTAX, "'('"},
      {"f16[3] stick(^", TESELA_E_SYNTAX, "a field"},
      {"f16[3] stick(^3)", TESELA_E_SYNTAX, "a field"},
      {"f16[3] stick(order^)", TESELA_E_SYNTAX, "'='"},
      {"f16[3] stick(order=^)", TESELA_E_SYNTAX, "the name of an order"},
      {"f16[3] stick(order=generic,^)", TESELA_E_SYNTAX, "a field"},
      {"f16[1000,200] stick(^dim_ordr=[0,1])", TESELA_E_SYNTAX, "did you mean dim_order?"},
      {"f16[3] stick(^dim_map=[0])", TESELA_E_SYNTAX, "unknown field 'dim_map'"},
      {"f16[3] SpyreTensorLayout(^dim_order=[0])", TESELA_E_SYNTAX, "unknown field 'dim_order'"},
      {"f16[3] stick(^xyzzy=1)", TESELA_E_SYNTAX, "expected dim_order"},
      {"f16[3] stick(stick=64, ^stick=64)", TESELA_E_INVALID, "is given twice"},
      {"f16[3] stick(order=^generik)", TESELA_E_SYNTAX, "did you mean generic?"},
      {"f16[3] stick(order=^zzzzzzz)", TESELA_E_SYNTAX, "expected generic"},
      {"f16[3] stick(order=^tiles)", TESELA_E_INVALID, "needs a target"},
      {"f16[3] stick(target=^spire)", TESELA_E_SYNTAX, "did you mean spyre?"},
      {"f16[3] stick(target=^gpu)", TESELA_E_SYNTAX, "expected spyre, tiles"},
      {"f16[3] stick(stick=^0)", TESELA_E_RANGE, "a stick of 0 bytes"},
      {"f16[3] stick(stick=^1048577)", TESELA_E_RANGE, "1048577"},
      {"^f16[3] stick(stick=101)", TESELA_E_UNSUPPORTED, "101 bytes"},
      {"f16[3] stick(device_bits=^24)", TESELA_E_INVALID, "3 bytes do not fill"},
      {"f16[3] stick(device_bits=^8)", TESELA_E_RANGE, "from 16"},
      {"f16[3] stick(device_bits=^20)", TESELA_E_RANGE, "a multiple of 8"},
      {"f16[3] stick(device_bits=^2048)", TESELA_E_RANGE, "1024"},
      {"f16[3] stick(device_dtype=^f17)", TESELA_E_SYNTAX, "f16"},
      {"f16[3] stick(device_dtype=^SENINT4)", TESELA_E_UNSUPPORTED, "SENINT4"},
      {"f16[3] SpyreTensorLayout(device_size=[1,64], dim_map=[0,0], device_dtype=DataFormats.^SEN169_FP)",
       TESELA_E_SYNTAX, "did you mean SEN169_FP16?"},
      {"f16[1000,200] stick(dim_order=^[0,0])", TESELA_E_INVALID, "repeats"},
      {"f16[1000,200] stick(dim_order=[0,1^)", TESELA_E_SYNTAX, "',' or ']'"},
      {"f16[1000,200] stick(dim_order=^0)", TESELA_E_SYNTAX, "a list of host dims"},
      {"f16[1000,200] stick(dim_order=^[0])", TESELA_E_INVALID, "1 entries"},
      {"f16[1000,200] stick(dim_order=^[-1,0])", TESELA_E_RANGE, "dim_order[0]"},
      {"f16[1000,200] stick(dim_order=^[0,32])", TESELA_E_RANGE, "dim_order[1]"},
      {"f16[3] stick(pad_to=^{1:3})", TESELA_E_RANGE, "host dim 1"},
      {"f16[3] stick(pad_to={0:^0})", TESELA_E_RANGE, "1 or more"},
      {"f16[3] stick(pad_to={0:3,^0:4})", TESELA_E_INVALID, "is given twice"},
      {"f16[3] stick(pad_to={^32:3})", TESELA_E_RANGE, "0 to 31"},
      {"f16[3] stick(pad_to={0^=3})", TESELA_E_SYNTAX, "':'"},
      {"f16[3] stick(pad_to={0:3,^})", TESELA_E_SYNTAX, "a host dim"},
      {"f16[3] stick(pad_to=^[3])", TESELA_E_SYNTAX, "{0:96}"},
      {"f16[100] stick(dims=^[(0,1,64)])", TESELA_E_INVALID, "coordinate 64 has no place"},
      {"f16[100] stick(dims=[^(0,1)])", TESELA_E_INVALID, "2 numbers"},
      {"f16[100] stick(dims=[^(-3,1,1)])", TESELA_E_RANGE, "host dim -3"},
      {"f16[100] stick(dims=[^(32,1,1)])", TESELA_E_RANGE, "host dim 32"},
      {"f16[100] stick(dims=^[(1,1,64)])", TESELA_E_RANGE, "host dim 1"},
      {"f16[100] stick(dims=[(0,1,64)^", TESELA_E_SYNTAX, "the end of the text"},
      {"f16[1] stick(dims=[" TEN TEN TEN TEN EIGHT "^(0,1,1)])", TESELA_E_LIMIT, "48 device dims"},
      {"f16[100] stick(dims=[(0,64,2),(0,1,64)], stick_dims=^3)", TESELA_E_RANGE, "3 stick dims"},
      {"f16[100] stick(dims=[(0,64,2),(0,1,64)], stick_dims=^0)", TESELA_E_RANGE, "0 stick dims"},
      {"f16[100] stick(stick_dims=^1)", TESELA_E_INVALID, "dims, which is missing"},
      {"f16[100] stick(dims=^[(0,64,2),(0,1,64)], dim_order=[0])", TESELA_E_INVALID, "dim_order"},
      {"f16[100] stick(dims=^[(0,64,2),(0,1,64)], order=generic)", TESELA_E_INVALID, "order"},
      {"f16[100] stick(dims=^[(0,64,2),(0,1,64)], pad_to={0:1})", TESELA_E_INVALID, "pad_to"},
      {"f16[100] stick(dims=^[(0,64,2),(0,1,64)], device_size=[1], stride_map=[1])", TESELA_E_INVALID,
       "device_size"},
      {"f16[100] stick(dims=[(0,64,2),(0,1,64)], device_strides=^[1])", TESELA_E_INVALID,
       "1 entries, dims 2"},
      {"f16[100] stick(dims=^[(0,64,2),(0,1,64)], device_strides=[32,1])", TESELA_E_INVALID,
       "could share a place"},
      {"f16[100] stick(device_strides=^[1])", TESELA_E_INVALID, "needs dims"},
      {"f16[100] stick(device_size=^[2,64])", TESELA_E_INVALID, "stride_map"},
      {"f16[100] stick(stride_map=^[64,1])", TESELA_E_INVALID, "device_size"},
      {"f16[100] stick(device_size=^[2,64], stride_map=[64,1], dim_order=[0])", TESELA_E_INVALID,
       "dim_order"},
      {"f16[100] stick(device_size=^[2,64], stride_map=[64,1], order=generic)", TESELA_E_INVALID, "order"},
      {"f16[100] stick(device_size=^[2,64], stride_map=[64,1], pad_to={0:1})", TESELA_E_INVALID, "pad_to"},
      {"f16[100] stick(device_size=[2,64], stride_map=^[64])", TESELA_E_INVALID, "1 entries, device_size 2"},
      {"f16[100] stick(device_size=[2,64], stride_map=^[64,3])", TESELA_E_INVALID, ""},
      {"f16[2,64] stick(device_size=[2,64], stride_map=[64,1], device_strides=^[63,1])", TESELA_E_INVALID,
       "could share a place"},
      {"f16[4,4] SpyreTensorLayout(device_size=^[4,64])", TESELA_E_INVALID, "dim_map or stride_map"},
      {"f16[4,4] SpyreTensorLayout(dim_map=^[0,1])", TESELA_E_INVALID, "device_size"},
      {"f16[4,4] ^SpyreTensorLayout()", TESELA_E_INVALID, "missing device_size"},
      {"f16[4,64] SpyreTensorLayout(device_size=[4,64], dim_map=^[0,1], stride_map=[64,1])", TESELA_E_INVALID,
       "exclude each other"},
      {"f16[4,64] SpyreTensorLayout(device_size=[4,64], stride_map=[64,1], num_stick_dims=^1)",
       TESELA_E_INVALID, "dim_map"},
      {"f16[4,64] SpyreTensorLayout(device_size=[4,64], dim_map=^[0])", TESELA_E_INVALID,
       "1 entries, device_size 2"},
      {"f16[4,64] SpyreTensorLayout(device_size=[4,64], dim_map=[0,1], num_stick_dims=^3)", TESELA_E_RANGE,
       "3 stick dims"},
      {"f16[4,64] SpyreTensorLayout(device_size=[4,64], dim_map=^[0,-3])", TESELA_E_RANGE, "dim_map[1]"},
      {"f16[4,64] SpyreTensorLayout(device_size=[4,64], dim_map=^[0,2])", TESELA_E_RANGE, "host dim 2"},
      {"f16[4,64] SpyreTensorLayout(device_size=[4,64], dim_map=[0,1], format=^\"Sparse\")", TESELA_E_INVALID,
       "are Dense"},
      {"f16[4,64] SpyreTensorLayout(device_size=[4,64], dim_map=[0,1], format=\"Dense^)", TESELA_E_SYNTAX,
       ""},
      {"f16[4,64] SpyreTensorLayout(device_size=[4,64], dim_map=[0,1], format=^Thick)", TESELA_E_SYNTAX,
       "\"Dense\""},
      {"f16[4,64] SpyreTensorLayout(device_size=[4,64], dim_map=[0,1], "
       "element_arrangement=ElementArrangement.^EXX2)",
       TESELA_E_UNSUPPORTED, "EXX2"},
      {"f16[8,64] SpyreTensorLayout(device_size=[2,4,64], dim_map=^[0,0,1])", TESELA_E_UNSUPPORTED,
       "outside the stick"},
      {"f16[8,64] SpyreTensorLayout(device_size=[8,8,8], dim_map=^[0,1,1], num_stick_dims=2)",
       TESELA_E_UNSUPPORTED, "in the stick"},
      {"^stick(dim_order=[0,1])", TESELA_E_UNSUPPORTED, "f16[1000,200] stick(dim_order=[0,1])"},
      {"^SpyreTensorLayout(device_size=[4, 64], stride_map =[64, 1])", TESELA_E_UNSUPPORTED,
       "write it first"},
      {"SpyreTensorLayout(device_size=[4,64], dim_map=^[2,2])", TESELA_E_UNSUPPORTED,
       "host dim 0 is not in dim_map"},
      {"SpyreTensorLayout(device_size=^[4,60], dim_map=[0,0])", TESELA_E_UNSUPPORTED, "60 lanes"},
      {"SpyreTensorLayout(device_size=^[-4,64], dim_map=[0,0])", TESELA_E_RANGE, "-4"},
      {"SpyreTensorLayout(device_size=^[4611686018427387904,64], dim_map=[0,0])", TESELA_E_OVERFLOW,
       "64 bits"},
      {"((4, 64), (64, 1)^)", TESELA_E_SYNTAX, "the next of three tuples"},
      {"((4, 1024, 64), ^(65536, 64), (64, 256, 1))", TESELA_E_INVALID, "2 device strides for 3 ranges"},
      {"((64,), (1,), (1,)^, (3,))", TESELA_E_SYNTAX, "more than three tuples"},
      {"((64,), (1,), (1,)^", TESELA_E_SYNTAX, "the end of the text"},
      {"((64,), ^1, (1,))", TESELA_E_SYNTAX, "device strides"},
      {"((1, 64), (64, 1), ^(-1, 1))", TESELA_E_UNSUPPORTED, "f16[1000,200]"},
      {"(^(0, 64), (64, 1), (64, 1))", TESELA_E_UNSUPPORTED, "a range of 0"},
      {"((3, 64), (64, 1), ^(9223372036854775807, 1))", TESELA_E_OVERFLOW, "2^63"},
      {"(^(2, 64), (64, 1), (32, 1))", TESELA_E_INVALID, ""},
      {"f16[^\xff"
       "] stick()",
       TESELA_E_SYNTAX, "not UTF-8"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_device_layout layout = {.n_dims = -7};
    tesela_error err = {.at = -5};
    char text[TEXT];
    int64_t at = (int64_t)strcspn(rows[i].text, "^");
    snprintf(text, sizeof text, "%.*s%s", (int)at, rows[i].text, rows[i].text + at + 1);
    tesela_status status = tesela_device_parse(&layout, text, strlen(text), NULL, &err);
    if (status != rows[i].status || err.status != status)
      fail_msg("%s: %s: %s", text, tesela_status_code(status), err.message);
    if (err.at != at) fail_msg("%s: byte %" PRId64 ": %s", text, err.at, err.message);
    if (!strstr(err.message, rows[i].part)) fail_msg("%s: %s", text, err.message);
    assert_int_equal(layout.n_dims, -7); /* only written on success */
    assert_int_equal(tesela_device_parse(&layout, text, strlen(text), NULL, NULL), status);
  }
}

/* A text that ends anywhere is refused or read, and nothing is read after its end. */
static void texts_that_end_early(void **state) {
  (void)state;
  static const char *const whole[] = {
      "f16[5,7] stick(dim_order=[0,1], order=generic, target=spyre, stick=64, pad_to={0:6,1:80})",
      ("f16[5,64] SpyreTensorLayout(device_size=[5, 64], device_strides=[64, 1], dim_map =[0, 1], "
       "num_stick_dims=1, format=\"Dense\")"),
      "f32[3] ((1, 32), (32, 1), (32, 1))",
  };
  for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
    for (size_t n = 0; n <= strlen(whole[i]); n++) {
      char *cut = malloc(n ? n : 1); /* of just its size: a sanitizer sees a read past the end */
      tesela_device_layout layout;
      tesela_error err = {.at = -1};
      assert_non_null(cut);
      memcpy(cut, whole[i], n);
      const tesela_notation *notation;
      tesela_notation_find(cut, n, &notation, NULL, NULL);
      tesela_status status = tesela_device_parse(&layout, cut, n, NULL, &err);
      if ((status == TESELA_OK) != (n == strlen(whole[i])))
        fail_msg("%.*s: %s", (int)n, whole[i], err.message);
      if (status != TESELA_OK && (err.at < 0 || err.at > (int64_t)n))
        fail_msg("%.*s: byte %" PRId64, (int)n, whole[i], err.at);
      free(cut);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refusals_say_where_and_why),
      cmocka_unit_test(texts_that_end_early),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
