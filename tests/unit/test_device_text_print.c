/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_device_text_print.c - device layouts printed, row by row, and as XLA layouts; those that cannot be
 * printed.
 *
 * Printed texts are those of the RFC's prototype in its several states, and by hand from the formulas of
 * device.h.
 */
#include "support_device_text.h"

/* ---- what is printed ------------------------------------------------------------------------------------- */

static void layouts_print_byte_for_byte(void **state) {
  (void)state;
  /* text; then what it is in each notation, NULL where that cannot say it */
  static const char *const rows[][1 + NOTATIONS] = {
      {"f16[1024,256] stick()", "f16[1024,256] stick(dim_order=[0,1])",
       "((4, 1024, 64), (65536, 64, 1), (64, 256, 1))",
       "SpyreTensorLayout(device_size=[4, 1024, 64], device_strides=[65536, 64, 1], dim_map =[1, 0, 1], "
       "num_stick_dims=1, format=\"Dense\")",
       "SpyreTensorLayout(device_size=[4, 1024, 64], dim_map =[1, 0, 1], "
       "device_dtype=DataFormats.SEN169_FP16)",
       "SpyreTensorLayout(device_size=[4, 1024, 64], stride_map =[64, 256, 1], "
       "device_dtype=DataFormats.SEN169_FP16)"},
      {"f16[512,256] stick()", "f16[512,256] stick(dim_order=[0,1])",
       "((4, 512, 64), (32768, 64, 1), (64, 256, 1))",
       "SpyreTensorLayout(device_size=[4, 512, 64], device_strides=[32768, 64, 1], dim_map =[1, 0, 1], "
       "num_stick_dims=1, format=\"Dense\")",
       "SpyreTensorLayout(device_size=[4, 512, 64], dim_map =[1, 0, 1], "
       "device_dtype=DataFormats.SEN169_FP16)",
       "SpyreTensorLayout(device_size=[4, 512, 64], stride_map =[64, 256, 1], "
       "device_dtype=DataFormats.SEN169_FP16)"},
      {"f16[1000,200] stick(order=stick_outer)", "f16[1000,200] stick(dim_order=[0,1])",
       "f16[1000,200] ((4, 1000, 64), (64000, 64, 1), (64, 200, 1))",
       "SpyreTensorLayout(device_size=[4, 1000, 64], device_strides=[64000, 64, 1], dim_map =[1, 0, 1], "
       "num_stick_dims=1, format=\"Dense\")",
       "SpyreTensorLayout(device_size=[4, 1000, 64], dim_map =[1, 0, 1], "
       "device_dtype=DataFormats.SEN169_FP16)",
       "SpyreTensorLayout(device_size=[4, 1000, 64], stride_map =[64, 200, 1], "
       "device_dtype=DataFormats.SEN169_FP16)"},
      {"f16[5,100,150] stick()", "f16[5,100,150] stick(dim_order=[0,1,2])",
       "f16[5,100,150] ((100, 3, 5, 64), (960, 320, 64, 1), (150, 64, 15000, 1))",
       "SpyreTensorLayout(device_size=[100, 3, 5, 64], device_strides=[960, 320, 64, 1], dim_map =[1, 2, 0, "
       "2], "
       "num_stick_dims=1, format=\"Dense\")",
       "SpyreTensorLayout(device_size=[100, 3, 5, 64], dim_map =[1, 2, 0, 2], "
       "device_dtype=DataFormats.SEN169_FP16)",
       "SpyreTensorLayout(device_size=[100, 3, 5, 64], stride_map =[150, 64, 15000, 1], "
       "device_dtype=DataFormats.SEN169_FP16)"},
      {"f16[512,256] stick(dim_order=[0,1,-1])", "f16[512,256] stick(dim_order=[0,1,-1])",
       "f16[512,256] ((256, 1, 512, 64), (32768, 32768, 64, 1), (1, -1, 256, -1))",
       "SpyreTensorLayout(device_size=[256, 1, 512, 64], device_strides=[32768, 32768, 64, 1], "
       "dim_map =[1, -1, 0, -1], num_stick_dims=1, format=\"Sparse\")",
       "SpyreTensorLayout(device_size=[256, 1, 512, 64], dim_map =[1, -1, 0, -1], "
       "device_dtype=DataFormats.SEN169_FP16)",
       "SpyreTensorLayout(device_size=[256, 1, 512, 64], stride_map =[1, -1, 256, -1], "
       "device_dtype=DataFormats.SEN169_FP16)"},
      {"f16[] stick()", "f16[] stick(dim_order=[])", "f16[] ((1, 64), (64, 1), (-1, -1))",
       "SpyreTensorLayout(device_size=[1, 64], device_strides=[64, 1], dim_map =[-1, -1], num_stick_dims=1, "
       "format=\"Sparse\")",
       "SpyreTensorLayout(device_size=[1, 64], dim_map =[-1, -1], device_dtype=DataFormats.SEN169_FP16)",
       "SpyreTensorLayout(device_size=[1, 64], stride_map =[-1, -1], device_dtype=DataFormats.SEN169_FP16)"},
      {"s64[70] stick()", "s64[70] stick(dim_order=[0])", "s64[70] ((3, 32), (32, 1), (32, 1))",
       "SpyreTensorLayout(device_size=[3, 32], device_strides=[32, 1], dim_map =[0, 0], num_stick_dims=1, "
       "format=\"Dense\")",
       "SpyreTensorLayout(device_size=[3, 32], dim_map =[0, 0], device_dtype=DataFormats.IEEE_INT32)",
       "SpyreTensorLayout(device_size=[3, 32], stride_map =[32, 1], device_dtype=DataFormats.IEEE_INT32)"},
      /* a step more than dim_map tells */
      {"f32[64,48] stick(target=tiles)", "f32[64,48] stick(dim_order=[0,1], target=tiles)", NULL, NULL, NULL,
       "SpyreTensorLayout(device_size=[2, 2, 2, 2, 16, 16], stride_map =[1536, 32, 768, 16, 48, 1], "
       "device_dtype=DataFormats.IEEE_FP32)"},
      /* gaps: implicit strides do not tell them */
      {"f16[2,64] stick(dims=[(0,1,2),(1,1,64)], device_strides=[70,1])",
       "f16[2,64] stick(dims=[(0,1,2),(1,1,64)], device_strides=[70,1])",
       "f16[2,64] ((2, 64), (70, 1), (64, 1))",
       "SpyreTensorLayout(device_size=[2, 64], device_strides=[70, 1], dim_map =[0, 1], num_stick_dims=1, "
       "format=\"Dense\")",
       NULL, NULL},
      {"f32[33,40] stick(dims=[(1,2,20),(0,16,3),(1,1,2),(0,1,16)], stick_dims=2)",
       "f32[33,40] stick(dims=[(1,2,20),(0,16,3),(1,1,2),(0,1,16)], stick_dims=2)",
       "f32[33,40] ((20, 3, 2, 16), (96, 32, 16, 1), (2, 640, 1, 40))",
       "SpyreTensorLayout(device_size=[20, 3, 2, 16], device_strides=[96, 32, 16, 1], dim_map =[1, 0, 1, 0], "
       "num_stick_dims=2, format=\"Dense\")",
       NULL,
       "SpyreTensorLayout(device_size=[20, 3, 2, 16], stride_map =[2, 640, 1, 40], "
       "device_dtype=DataFormats.IEEE_FP32)"},
      /* types that no target stores so */
      {"f64[20] stick(device_dtype=f64, stick=64)",
       "f64[20] stick(dim_order=[0], stick=64, device_dtype=f64)", NULL,
       "SpyreTensorLayout(device_size=[3, 8], device_strides=[8, 1], dim_map =[0, 0], num_stick_dims=1, "
       "format=\"Dense\")",
       NULL, NULL},
      {"s8[40] stick(device_bits=32)", "s8[40] stick(dim_order=[0], device_dtype=s8, device_bits=32)", NULL,
       "SpyreTensorLayout(device_size=[2, 32], device_strides=[32, 1], dim_map =[0, 0], num_stick_dims=1, "
       "format=\"Dense\")",
       NULL, NULL},
      {"f16[40,60] stick(pad_to={0:512,1:70})", "f16[40,60] stick(dim_order=[0,1], pad_to={0:512,1:128})",
       "f16[40,60] ((2, 512, 64), (32768, 64, 1), (64, 60, 1))",
       "SpyreTensorLayout(device_size=[2, 512, 64], device_strides=[32768, 64, 1], dim_map =[1, 0, 1], "
       "num_stick_dims=1, format=\"Dense\")",
       "SpyreTensorLayout(device_size=[2, 512, 64], dim_map =[1, 0, 1], "
       "device_dtype=DataFormats.SEN169_FP16)",
       "SpyreTensorLayout(device_size=[2, 512, 64], stride_map =[64, 60, 1], "
       "device_dtype=DataFormats.SEN169_FP16)"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_device_layout layout = device_text_read(rows[i][0], NULL);
    for (int n = 0; n < NOTATIONS; n++) {
      char text[TEXT];
      const char *want = rows[i][1 + n];
      tesela_status status = device_text_print(&layout, (tesela_device_notation)n, text);
      if (!want && status != TESELA_E_UNSUPPORTED) fail_msg("%s: notation %d says %s", rows[i][0], n, text);
      if (!want) continue;
      if (status != TESELA_OK || strcmp(text, want) != 0)
        fail_msg("%s: notation %d says %s", rows[i][0], n, text);
      tesela_device_text_options host = {.host = &layout.host};
      tesela_device_layout again = device_text_read(text, &host);
      if (!tesela_device_equal(&layout, &again)) fail_msg("%s reads as another layout", text);
    }
  }
}

/* The example of device.h, its device dims one by one. */
static void fields_are_those_of_the_definition(void **state) {
  (void)state;
  static const tesela_device_dim want[] = {{4, 64, 64000, 1}, {1000, 1, 64, 0}, {64, 1, 1, 1}};
  tesela_device_layout layout = device_text_read("f16[1000,200] stick(dim_order=[0,1])", NULL);
  assert_int_equal(layout.n_dims, 3);
  assert_int_equal(layout.stick_dims, 1);
  assert_int_equal(layout.lanes, 64);
  assert_int_equal(layout.places, 256000);
  assert_int_equal(layout.format, TESELA_STICKS_DENSE);
  assert_int_equal(layout.host.rank, 2);
  assert_int_equal(layout.host.shape[1], 200);
  for (int j = 0; j < 3; j++) {
    assert_int_equal(layout.dim[j].extent, want[j].extent);
    assert_int_equal(layout.dim[j].step, want[j].step);
    assert_int_equal(layout.dim[j].stride, want[j].stride);
    assert_int_equal(layout.dim[j].dim, want[j].dim);
  }
}

/* ---- printing, refused ----------------------------------------------------------------------------------------- */

static int stop_after(void *user, const char *text, size_t length) {
  size_t *left = user;
  (void)text;
  if (length > *left) return 1;
  *left -= length;
  return 0;
}

static void writers_may_stop(void **state) {
  (void)state;
  tesela_device_layout layout = device_text_read("f16[1000,200] stick()", NULL);
  for (int n = 0; n < NOTATIONS; n++) {
    size_t left = 0;
    tesela_writer to = {stop_after, &left};
    tesela_error err = {.at = 0};
    assert_int_equal(tesela_device_print(&layout, (tesela_device_notation)n, &to, &err), TESELA_E_STOPPED);
    assert_int_equal(err.status, TESELA_E_STOPPED);
  }
  tesela_buffer buffer = {NULL, 0, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  assert_int_equal(tesela_device_print(&layout, (tesela_device_notation)NOTATIONS, &to, NULL),
                   TESELA_E_RANGE);
}

static void widths_alone_have_no_short_form(void **state) {
  (void)state;
  char text[TEXT];
  tesela_device_layout layout =
      device_text_read("SpyreTensorLayout(device_size=[4, 64], dim_map =[0, 0])", NULL);
  assert_int_equal(device_text_print(&layout, TESELA_DEVICE_SHORT, text), TESELA_E_UNSUPPORTED);
  assert_int_equal(device_text_print(&layout, TESELA_DEVICE_STRIDE_MAP, text), TESELA_E_UNSUPPORTED);
  assert_int_equal(device_text_print(&layout, TESELA_DEVICE_TUPLES, text), TESELA_OK);
  assert_string_equal(text, "((4, 64), (64, 1), (64, 1))");
  layout.host.shape[0] = 250; /* padding, which bare tuples do not tell */
  assert_int_equal(device_text_print(&layout, TESELA_DEVICE_TUPLES, text), TESELA_E_UNSUPPORTED);
}

/* ---- as XLA says it ------------------------------------------------------------------------------------------ */

static void xla_layouts_of_device_layouts(void **state) {
  (void)state;
  static const char *const rows[][2] = {
      {"f16[1024,256] stick()", "{0,1:T(64,1)}"},
      {"f16[1000,200] stick()", "{0,1:T(64,1)}"},
      {"f16[256,128] stick(dim_order=[1,0])", "{1,0:T(64,1)}"},
      {"f16[1000,200] stick(dim_order=[0,1,-1])", "{0,1:T(64,1,1)}"},
      {"f16[1024] stick(dim_order=[0,-1])", "{0:T(64,1)}"},
      {"f16[1024] stick()", "{0:T(64)}"},
      {"f16[] stick()", "{:T(64)}"},
      {"s64[100,150] stick()", "{0,1:T(32,1)}"},
      {"f16[5,100,150] stick()", "{0,2,1:T(64,1)}"},
      {"f16[5,7,100,150] stick(order=stick_outer)", "{2,1,0,3:T(64,1,1,1)}"},
      {"f32[100,150] stick(target=tiles)", "{1,0:T(32,32)(16,16)}"},
      {"f16[2,64] stick(dims=[(0,1,2),(1,1,64)])", "{1,0}"},
      {"s8[100] stick(device_bits=32)", "{0:T(32)E(32)}"},
      {"f16[64,2] stick(dims=[(1,1,2),(0,1,64)])", "{0,1}"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_device_layout layout = device_text_read(rows[i][0], NULL);
    tesela_xla_layout xla;
    tesela_error err = {.message = ""};
    char text[TEXT];
    tesela_buffer buffer = {text, sizeof text, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    if (tesela_device_to_xla(&layout, &xla, &err) != TESELA_OK) fail_msg("%s: %s", rows[i][0], err.message);
    assert_int_equal(tesela_xla_print_layout(&xla, &to, NULL), TESELA_OK);
    if (strcmp(text, rows[i][1]) != 0) fail_msg("%s is %s", rows[i][0], text);
  }
  static const char *const none[] = {"f16[2,64] stick(dims=[(0,1,2),(1,1,64)], device_strides=[70,1])",
                                     "f16[64] stick(dims=[(-2,0,3),(0,1,64)])"};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
    tesela_device_layout layout = device_text_read(none[i], NULL);
    tesela_xla_layout xla = {.rank = -3};
    assert_int_equal(tesela_device_to_xla(&layout, &xla, NULL), TESELA_E_UNSUPPORTED);
    assert_int_equal(xla.rank, -3);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layouts_print_byte_for_byte),
      cmocka_unit_test(fields_are_those_of_the_definition),
      cmocka_unit_test(writers_may_stop),
      cmocka_unit_test(widths_alone_have_no_short_form),
      cmocka_unit_test(xla_layouts_of_device_layouts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
