/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_memory_texts.c - blocked memory as text: tags of oneDNN, strings of TVM, linalg.pack.
 *
 * What is read is compared with formulas, element by element. What is written is read back, also here; and where nothing is
 * written, a search through all blocks finds nothing, and finds that the contradiction is the smallest.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tesela/notation.h>

#include "support_seed.h"

enum { MOST_DIMS = 4, MOST_ELEMENTS = 64, MOST_BLOCKS = 8 };

static uint64_t state_of_random;

static int64_t below(int64_t n) {
  state_of_random ^= state_of_random << 13;
  state_of_random ^= state_of_random >> 7;
  state_of_random ^= state_of_random << 17;
  return (int64_t)(state_of_random >> 11) % n;
}

/* Blocks, and where they put an element. */
typedef struct blocked {
  int rank, n;
  int order[MOST_DIMS];
  struct {
    int dim;
    int64_t extent;
  } inner[MOST_BLOCKS];
  int64_t shape[MOST_DIMS];
} blocked;

static int64_t formula(const blocked *b, const int64_t *index) {
  int64_t x[MOST_DIMS], n[MOST_DIMS], stride = 1, place = 0;
  for (int d = 0; d < b->rank; d++) {
    x[d] = index[d];
    n[d] = b->shape[d];
  }
  for (int i = b->n - 1; i >= 0; i--) {
    int d = b->inner[i].dim;
    place += x[d] % b->inner[i].extent * stride;
    x[d] /= b->inner[i].extent;
    n[d] = (n[d] + b->inner[i].extent - 1) / b->inner[i].extent;
    stride *= b->inner[i].extent;
  }
  for (int k = b->rank - 1; k >= 0; k--) {
    place += x[b->order[k]] * stride;
    stride *= n[b->order[k]];
  }
  return place;
}

static void shuffle(int *order, int n) {
  for (int k = 0; k < n; k++) order[k] = k;
  for (int k = n - 1; k > 0; k--) {
    int j = (int)below(k + 1), t = order[k];
    order[k] = order[j];
    order[j] = t;
  }
}

static void draw_blocks(blocked *b, int64_t most, int64_t elements) {
  *b = (blocked){.rank = (int)(1 + below(MOST_DIMS)), .n = (int)below(5)};
  int64_t product = 1;
  for (int d = 0; d < b->rank; d++) {
    b->shape[d] = 1 + below(most);
    while (product * b->shape[d] > elements) b->shape[d]--;
    product *= b->shape[d];
  }
  shuffle(b->order, b->rank);
  for (int i = 0; i < b->n; i++) {
    b->inner[i].dim = (int)below(b->rank);
    b->inner[i].extent = 1 + below(5);
  }
}

/* "[3,5] " */
static int write_array(const blocked *b, char *text) {
  int n = 0;
  for (int d = 0; d < b->rank; d++) n += sprintf(text + n, "%c%" PRId64, d ? ',' : '[', b->shape[d]);
  return n + sprintf(text + n, "] ");
}

/* Outer letters in their order, then blocks. */
static void write_tag(const blocked *b, const char *letters, char *text) {
  int n = write_array(b, text);
  for (int k = 0; k < b->rank; k++) {
    char c = letters[b->order[k]];
    for (int i = 0; i < b->n; i++)
      if (b->inner[i].dim == b->order[k]) c = (char)(letters[b->order[k]] - 'a' + 'A');
    text[n++] = c;
  }
  for (int i = 0; i < b->n; i++)
    n += sprintf(text + n, "%" PRId64 "%c", b->inner[i].extent, letters[b->inner[i].dim]);
  text[n] = '\0';
}

static void check_formula(const char *notation, const char *text, const blocked *b) {
  tesela_layout_read_options options = {.notation = notation};
  tesela_any_layout any;
  tesela_error err = {.message = ""};
  if (tesela_layout_read(text, strlen(text), &options, &any, &err) != TESELA_OK)
    fail_msg("%s: %s", text, err.message);
  int64_t index[TESELA_MAX_RANK] = {0}, place;
  do {
    assert_int_equal(tesela_layout_place_of(&any.relation, index, &place, NULL), TESELA_OK);
    if (place != formula(b, index))
      fail_msg("%s: place %" PRId64 ", not %" PRId64, text, place, formula(b, index));
  } while (tesela_index_next(b->rank, b->shape, index));
}

static void tags_are_the_formula(void **state) {
  (void)state;
  static const char *const letters[MOST_DIMS + 1][3] = {
      {NULL}, {"a", "x", "a"}, {"ab", "nc", "oi"}, {"abc", "ncw", "tnc"}, {"abcd", "nchw", "ldio"}};
  state_of_random = first_seed();
  for (int i = 0; i < (slow_run() ? 200 : 2000); i++) {
    blocked b;
    char text[256];
    draw_blocks(&b, 20, 2000);
    write_tag(&b, letters[b.rank][below(3)], text);
    check_formula("onednn", text, &b);
  }
}

/* Capitals in the order of the array; the order of the dims is that of the array. */
static void strings_are_the_formula(void **state) {
  (void)state;
  state_of_random = first_seed() + 2;
  for (int i = 0; i < (slow_run() ? 200 : 2000); i++) {
    blocked b;
    char text[256];
    draw_blocks(&b, 20, 2000);
    for (int k = 0; k < b.rank; k++) b.order[k] = k;
    int n = write_array(&b, text);
    for (int k = 0; k < b.rank; k++) text[n++] = "OIHW"[k];
    for (int k = 0; k < b.n; k++)
      n += sprintf(text + n, "%" PRId64 "%c", b.inner[k].extent, "oihw"[b.inner[k].dim]);
    text[n] = '\0';
    check_formula("tvm", text, &b);
  }
  /* a block before a capital: the capital is a block; before its own one: TVM 0.27 puts 0, 1, 4, 5 of 4nN at 0, 2, 1, 3 */
  blocked b = {.rank = 3, .order = {0, 1, 2}, .n = 2, .inner = {{1, 4}, {2, 5}}, .shape = {3, 10, 5}};
  check_formula("tvm", "[3,10,5] NC4cW", &b);
  tesela_any_layout any;
  int64_t place;
  assert_int_equal(tesela_layout_read("tvm: [8] 4nN", 12, NULL, &any, NULL), TESELA_OK);
  for (int64_t x = 0; x < 8; x++) {
    assert_int_equal(tesela_layout_place_of(&any.relation, &x, &place, NULL), TESELA_OK);
    assert_int_equal(place, x % 4 * 2 + x / 4);
  }
}

/* linalg.pack: outer_dims_perm is the order of the outer dims; each dim has at most one tile. */
static void packs_are_the_formula(void **state) {
  (void)state;
  state_of_random = first_seed() + 4;
  for (int i = 0; i < (slow_run() ? 200 : 2000); i++) {
    blocked b;
    int dims[MOST_DIMS];
    char text[512];
    int64_t packed[2 * MOST_DIMS];
    draw_blocks(&b, 20, 2000);
    shuffle(dims, b.rank);
    b.n = (int)below(b.rank + 1);
    for (int k = 0; k < b.n; k++) {
      b.inner[k].dim = dims[k];
      b.inner[k].extent = 1 + below(6);
    }
    bool typed = below(2) > 0, unpack = below(3) == 0;
    int n = typed ? 0 : write_array(&b, text);
    n += sprintf(text + n, below(2) > 0 ? "%%0 = linalg.%s %%a" : "tensor.%s %%arg0",
                 unpack ? "unpack" : "pack");
    if (!unpack) n += sprintf(text + n, " padding_value(%%cst : f32)");
    n += sprintf(text + n, " outer_dims_perm = [");
    for (int k = 0; k < b.rank; k++) n += sprintf(text + n, "%s%d", k ? ", " : "", b.order[k]);
    n += sprintf(text + n, "] inner_dims_pos = [");
    for (int k = 0; k < b.n; k++) n += sprintf(text + n, "%s%d", k ? ", " : "", b.inner[k].dim);
    n += sprintf(text + n, "] inner_tiles = [");
    for (int k = 0; k < b.n; k++) n += sprintf(text + n, "%s%" PRId64, k ? ", " : "", b.inner[k].extent);
    n += sprintf(text + n, "] into %%b");
    for (int k = 0; k < b.rank; k++) {
      packed[k] = b.shape[b.order[k]];
      for (int j = 0; j < b.n; j++)
        if (b.inner[j].dim == b.order[k]) packed[k] = (packed[k] + b.inner[j].extent - 1) / b.inner[j].extent;
    }
    for (int j = 0; j < b.n; j++) packed[b.rank + j] = b.inner[j].extent;
    for (int side = 0; side < 2 && typed; side++) {
      bool whole = (side == 1) == unpack;
      n += sprintf(text + n, "%s", side ? " -> tensor<" : " : tensor<");
      for (int k = 0; k < (whole ? b.rank : b.rank + b.n); k++)
        n += sprintf(text + n, "%" PRId64 "x", whole ? b.shape[k] : packed[k]);
      n += sprintf(text + n, "f32>");
    }
    check_formula("pack", text, &b);
  }
}

/* memref, strided, and PyTorch: offset + sum of index * stride. */
static void strides_are_the_formula(void **state) {
  (void)state;
  state_of_random = first_seed() + 5;
  for (int i = 0; i < (slow_run() ? 200 : 2000); i++) {
    int rank = (int)below(MOST_DIMS), form = (int)below(5), n = 0;
    int64_t shape[MOST_DIMS], stride[MOST_DIMS], offset = below(5), index[TESELA_MAX_RANK] = {0}, place;
    char text[512];
    for (int d = 0; d < rank; d++) {
      shape[d] = below(6);
      stride[d] = below(50);
    }
    char list[2][128] = {"", ""};
    for (int d = 0, at[2] = {0, 0}; d < rank; d++) {
      at[0] += sprintf(list[0] + at[0], "%s%" PRId64, d ? ", " : "", shape[d]);
      at[1] += sprintf(list[1] + at[1], "%s%" PRId64, d ? ", " : "", stride[d]);
    }
    const char *comma = rank == 1 ? "," : "";
    if (form < 2) offset = 0;
    if (form == 0) sprintf(text, "torch.Size([%s]) (%s%s)", list[0], list[1], comma);
    if (form == 1) sprintf(text, "torch.Size([%s]) stride (%s%s)", list[0], list[1], comma);
    if (form == 2)
      sprintf(text, "size=(%s%s), stride=(%s%s), storage_offset=%" PRId64 ", dtype=torch.float32", list[0],
              comma, list[1], comma, offset);
    if (form == 3) {
      n = sprintf(text, "memref<");
      for (int d = 0; d < rank; d++) n += sprintf(text + n, "%" PRId64 "x", shape[d]);
      sprintf(text + n, "f32, strided<[%s], offset: %" PRId64 ">%s>", list[1], offset, below(2) ? ", 3" : "");
    }
    if (form == 4) sprintf(text, "f32[%s] strided<[%s], offset: %" PRId64 ">", list[0], list[1], offset);
    tesela_any_layout any;
    tesela_error err = {.message = ""};
    if (tesela_layout_read(text, strlen(text), NULL, &any, &err) != TESELA_OK)
      fail_msg("%s: %s", text, err.message);
    assert_int_equal(any.relation.rank, rank);
    if (form >= 2) assert_int_equal(any.relation.dtype, TESELA_F32);
    int64_t elements = 1;
    for (int d = 0; d < rank; d++) {
      assert_int_equal(any.relation.shape[d], shape[d]);
      elements *= shape[d];
    }
    if (elements == 0) continue;
    do {
      int64_t want = offset;
      for (int d = 0; d < rank; d++) want += index[d] * stride[d];
      assert_int_equal(tesela_layout_place_of(&any.relation, index, &place, NULL), TESELA_OK);
      if (place != want) fail_msg("%s: place %" PRId64 ", not %" PRId64, text, place, want);
    } while (tesela_index_next(rank, shape, index));
  }
}

static const struct {
  const char *text;
  int64_t dim[4], order[4];
} verbose_lines[] = {
    {"onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:acdb::f0 "
     "dst_f32::blocked:abcd::f0,,,2x3x4x5,0.1",
     {2, 3, 4, 5},
     {0, 2, 3, 1}},
    {"dst dnnl_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:abcd:f0 "
     "dst_f32::blocked:cdba:f0,,,2x3x4x5,0.1\n",
     {2, 3, 4, 5},
     {2, 3, 1, 0}},
    {"wei "
     "onednn_verbose,v1,primitive,exec,cpu,convolution,jit:avx2,forward_training,src:f32:a:blocked:abcd::f0 "
     "wei:f32:a:blocked:cdba::f0 bia:f32::blocked:a::f0 dst:f32:a:blocked:acdb::f0,attr-scratchpad:user ,"
     "alg:convolution_direct,mb2_ic3oc8_ih7oh5kh4sh1dh0ph0_iw9ow7kw2sw1dw0pw0,7",
     {8, 3, 4, 2},
     {2, 3, 1, 0}},
    {"dst "
     "onednn_verbose,v1,primitive,exec,cpu,convolution,jit:avx2,forward_training,src:f32:a:blocked:abcd::f0 "
     "wei:f32:a:blocked:cdba::f0 bia:f32::blocked:a::f0 dst:f32:a:blocked:acdb::f0,attr-scratchpad:user ,"
     "alg:convolution_direct,mb2_ic3oc8_ih7oh5kh4sh1dh0ph0_iw9ow7kw2sw1dw0pw0,7",
     {2, 8, 5, 7},
     {0, 2, 3, 1}},
    {"src onednn_verbose,v1,primitive,exec,cpu,binary,jit:uni,undef,wei_f32::blocked:abcd::f0 "
     "src_f32::blocked:dcba::f0 "
     "dst_f32::blocked:abcd::f0,,alg:binary_add,2x3x4x5:2x1x4x1",
     {2, 1, 4, 1},
     {3, 2, 1, 0}},
    {"f32[2,3,4,5] src_f32::blocked:dcba::f0", {2, 3, 4, 5}, {3, 2, 1, 0}},
    {"verbose: src:f8_e4m3:a:blocked:dcba::f0 dst_f32::blocked:abcd::f0,,,2x3x4x5",
     {2, 3, 4, 5},
     {3, 2, 1, 0}},
};

static void verbose_lines_are_the_formula(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof verbose_lines / sizeof verbose_lines[0]; i++) {
    blocked b = {.rank = 4};
    for (int d = 0; d < 4; d++) {
      b.shape[d] = verbose_lines[i].dim[d];
      b.order[d] = (int)verbose_lines[i].order[d];
    }
    check_formula(NULL, verbose_lines[i].text, &b);
  }
  static const char strided[] = "[2,17,3,5] src_f32:p:blocked:aBcd16b:1000x500x90x16:f0";
  tesela_any_layout any;
  int64_t place;
  assert_int_equal(tesela_layout_read(strided, strlen(strided), NULL, &any, NULL), TESELA_OK);
  assert_int_equal(any.relation.dtype, TESELA_F32);
  assert_int_equal(tesela_layout_place_of(&any.relation, (int64_t[]){1, 16, 2, 3}, &place, NULL), TESELA_OK);
  assert_int_equal(place, 1000 + 500 + 2 * 90 + 3 * 16);
}

/* ---- what is refused ---------------------------------------------------------------------------------------- */

static const struct {
  const char *text;
  tesela_status status;
  int64_t at;
  const char *message;
} refused[] = {
    {"onednn: f32[2,3] aBcd16b", TESELA_E_MISMATCH, 17, "the tag has 4 dims; the array has 2"},
    {"onednn: f32[2,3] aBb", TESELA_E_SYNTAX, 19, "the dim 'b' is listed twice"},
    {"onednn: f32[2,3] ab16b", TESELA_E_SYNTAX, 21,
     "the dim 'b' has a block, so it is a capital in the outer dims"},
    {"onednn: f32[2,3] aB", TESELA_E_SYNTAX, 18, "the dim 'B' is a capital, but has no block"},
    {"onednn: f32[2,3] aB0b", TESELA_E_RANGE, 19, "block is 0"},
    {"onednn: f32[2,3] aB16", TESELA_E_SYNTAX, 21,
     "expected the letter of a dim of the tag, found the end of the text"},
    {"onednn: f32[2,3] qr", TESELA_E_SYNTAX, 17, "unknown dims 'qr'"},
    {"onednn: f32[2,3] aB16b x", TESELA_E_SYNTAX, 23, "expected the end of the text, found 'x'"},
    {"onednn: f32[2,3,4,5,6] gIOhw2i8o16i2o", TESELA_E_UNSUPPORTED, 23,
     "oneDNN defines gIOhw2i8o16i2o as aBCde2c8b16c2b"},
    {"tvm: f32[2,3] NC16", TESELA_E_SYNTAX, 18,
     "expected the small letter of a dim, found the end of the text"},
    {"tvm: f32[2,3] NC16h", TESELA_E_SYNTAX, 18, "the block 'h' has no dim 'H'"},
    {"tvm: f32[2,3] NNC", TESELA_E_SYNTAX, 15, "the dim 'N' is listed twice"},
    {"tvm: f32[2,3] NCc", TESELA_E_SYNTAX, 16, "the block 'c' has no size: expected a number before it"},
    {"tvm: f32[2,3] NCHW", TESELA_E_MISMATCH, 14, "the string has 4 dims; the array has 2"},
    {"src_f32::blocked:abcd::f0", TESELA_E_UNSUPPORTED, 0, "the line does not have the dims of this tensor"},
    {"f32[2] src_f32:o:blocked:a::f0", TESELA_E_UNSUPPORTED, 15,
     "an offset that the line does not have: 'o'"},
    {"f32[2] src_f32:p:blocked:a::f0", TESELA_E_UNSUPPORTED, 15, "padded dims without blocks"},
    {"f32[2,3] src_f32::blocked:*::f0", TESELA_E_UNSUPPORTED, 26, "strides known at run time only: '*'"},
    {"onednn_verbose,v1,primitive,exec,cpu,rnn,x,y,src_f32::rnn_packed:::f0,,,2x3,1", TESELA_E_UNSUPPORTED,
     54, "this kind of memory has no documented places: 'rnn_packed'"},
    {"foo onednn_verbose,v1,primitive,exec,cpu,reorder,x,y,src_f32::blocked:ab::f0,,,2x3,1", TESELA_E_INVALID,
     0, "the line has no tensor of this name: 'foo'"},
    {"f32[2,4] onednn_verbose,v1,primitive,exec,cpu,reorder,x,y,src_f32::blocked:ab::f0,,,2x3,1",
     TESELA_E_MISMATCH, 9, "the line gives this tensor other dims than the array"},
    {"memref<?x8xf32>", TESELA_E_UNSUPPORTED, 7, "'?' is an extent known at run time only"},
    {"memref<*xf32>", TESELA_E_UNSUPPORTED, 7, "'*' is a rank known at run time only"},
    {"memref<4x8xf32, strided<[?, 1]>>", TESELA_E_UNSUPPORTED, 25, "'?' is known at run time only"},
    {"memref<4x8xf32, strided<[8, 1], offset: ?>>", TESELA_E_UNSUPPORTED, 40,
     "'?' is known at run time only"},
    {"memref<4x8xf33>", TESELA_E_SYNTAX, 11, "unknown element type 'f33'; did you mean"},
    {"memref<4x8xf32, strided<[8]>>", TESELA_E_MISMATCH, 0, "1 strides of 2 dims"},
    {"memref<4x8xf32> x", TESELA_E_SYNTAX, 16, "expected the end of the text, found 'x'"},
    {"strided<[8, 1]>", TESELA_E_UNSUPPORTED, 0, "the strided layout needs type and dims before it"},
    {"memref<4xf32, strided<[-1]>>", TESELA_E_RANGE, -1, ""},
    {"f32[5,8] memref<4x8xf32>", TESELA_E_MISMATCH, 9, "dim 0 of the array is 5; the text has 4"},
    {"torch.Size([2, 3])", TESELA_E_SYNTAX, 18, "expected a stride, such as (3, 1)"},
    {"torch.Size([2, 3]) (3,)", TESELA_E_MISMATCH, 0, "1 strides of 2 dims"},
    {"torch.Size([2, 3]) (-3, 1)", TESELA_E_RANGE, 26, "a stride is -3; expected 0 or more"},
    {"size=(2, 3), strid=(3, 1)", TESELA_E_SYNTAX, 13, "unknown word 'strid'; did you mean stride?"},
    {"stride=(3, 1)", TESELA_E_UNSUPPORTED, 0, "expected a size, or an array before the text"},
    {"[4] inner_dims_pos = [0] inner_tiles = [%c]", TESELA_E_UNSUPPORTED, 40,
     "a value known at run time only"},
    {"[4] inner_dims_pos = [0] inner_tiles = [0]", TESELA_E_RANGE, 36, "a tile is 0"},
    {"[4] inner_dims_pos = [1] inner_tiles = [2]", TESELA_E_INVALID, 4, "dim 1 is not a dim of the array"},
    {"[4,4] inner_dims_pos = [1, 1] inner_tiles = [2, 2]", TESELA_E_INVALID, 6, "dim 1 is listed twice"},
    {"[4,4] inner_dims_pos = [1] inner_tiles = [2, 2]", TESELA_E_SYNTAX, 38,
     "2 inner_tiles of 1 inner_dims_pos"},
    {"[4,4] outer_dims_perm = [1, 1] inner_dims_pos = [] inner_tiles = []", TESELA_E_INVALID, 6,
     "is not a permutation"},
    {"linalg.pack %a inner_dims_pos = [0] inner_tiles = [8] into %b", TESELA_E_UNSUPPORTED, 0,
     "the pack needs type"},
    {"linalg.pack %a inner_dims_pos = [0] inner_tiles = [8] into %b : tensor<20xf32> -> tensor<4x8xf32>",
     TESELA_E_MISMATCH, 0, "the packed type is not what the tiles give"},
    {"S[(2, 3) : (1)]", TESELA_E_SYNTAX, 1, "1 strides of 2 extents"},
    {"S[2 : 1@lane]", TESELA_E_SYNTAX, 8, "unknown axis 'lane'; did you mean"},
    {"S[2 : 1] + R[2 : 2] + R[2 : 4]", TESELA_E_SYNTAX, 23, "R is given twice"},
    {"S[2 : 1] 5", TESELA_E_SYNTAX, 9, "expected the end of the text, found '5'"},
    {"ComposeLayout(S[2 : 1])", TESELA_E_UNSUPPORTED, 0, "swizzles of Axe are not read"},
    {"f32[5] S[4 : 1]", TESELA_E_MISMATCH, -1, ""},
    {"f32[2,4] src_f32::blocked:ab:4x1x1:f0", TESELA_E_SYNTAX, 29, "expected the strides of all dims"},
};

static void refusals_say_what_and_where(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    tesela_any_layout any;
    tesela_error err = {.message = ""};
    tesela_status status = tesela_layout_read(refused[i].text, strlen(refused[i].text), NULL, &any, &err);
    if (status != refused[i].status || err.at != refused[i].at || !strstr(err.message, refused[i].message))
      fail_msg("%s: status %d at %d: %s", refused[i].text, status, (int)err.at, err.message);
  }
}

/* ---- what is written ---------------------------------------------------------------------------------------- */

/* A layout as a table, and a search through all blocks that agree with its first elements. */
typedef struct table {
  int rank, n;
  int64_t shape[MOST_DIMS], index[MOST_ELEMENTS][MOST_DIMS], place[MOST_ELEMENTS], most;
} table;

typedef struct search {
  const table *t;
  int count;      /* elements that must agree */
  int64_t limit;  /* the largest stride */
  int seen;       /* different places of element `count` */
  int64_t at[64]; /* those */
  bool pack;      /* one tile for each dim at most, then the dims */
  int depth;
  int dim[64];
  int64_t extent[64];
} search;

static int64_t place_in(const search *s, int element, bool *whole) {
  int64_t x[MOST_DIMS], place = 0, stride = 1;
  for (int d = 0; d < s->t->rank; d++) x[d] = s->t->index[element][d];
  for (int i = 0; i < s->depth; i++) {
    place += x[s->dim[i]] % s->extent[i] * stride;
    x[s->dim[i]] /= s->extent[i];
    stride *= s->extent[i];
  }
  *whole = true;
  for (int d = 0; d < s->t->rank; d++) *whole = *whole && x[d] == 0;
  return place;
}

/* Are the parts tiles, one for each dim at most, and then whole dims? Of extent 1 are those that have no part. */
static bool is_pack(const search *s) {
  for (int tiles = 0; tiles <= s->depth; tiles++) {
    bool tiled[MOST_DIMS] = {false}, outer[MOST_DIMS] = {false}, good = true;
    int64_t left[MOST_DIMS];
    for (int d = 0; d < s->t->rank; d++) left[d] = s->t->shape[d];
    for (int i = 0; i < s->depth && good; i++) {
      int d = s->dim[i];
      bool *used = i < tiles ? tiled : outer;
      good = !used[d] && (i < tiles || left[d] == s->extent[i]);
      used[d] = true;
      left[d] = (left[d] + s->extent[i] - 1) / s->extent[i];
    }
    if (good) return true;
  }
  return false;
}

/* Does a sequence of parts agree with the first elements? All sequences are tried that agree so far. With `at`, all places of the
 * next element are collected. */
static bool exists(search *s, int64_t stride, bool collect) {
  bool whole, all = true;
  for (int e = 0; e < s->count; e++) {
    int64_t place = place_in(s, e, &whole);
    if (whole && place != s->t->place[e]) return false;
    all = all && whole;
  }
  if (all && collect) {
    int64_t place = place_in(s, s->count, &whole);
    if (whole) {
      int i = 0;
      while (i < s->seen && s->at[i] != place) i++;
      if (i == s->seen && i < 64) s->at[s->seen++] = place;
      return false;
    }
  } else if (all && (!s->pack || is_pack(s))) {
    return true;
  }
  for (int d = 0; d < s->t->rank; d++)
    for (int64_t b = 2; stride <= s->limit && b * stride <= 2 * s->limit + 2 * MOST_ELEMENTS; b++) {
      s->dim[s->depth] = d;
      s->extent[s->depth++] = b;
      bool found = exists(s, stride * b, collect);
      s->depth--;
      if (found) return true;
    }
  return false;
}

static bool blocks_exist(const table *t, int count) {
  search s = {.t = t, .count = count, .limit = t->most};
  return exists(&s, 1, false);
}

static void tabulate(const tesela_layout *layout, table *t) {
  int64_t index[TESELA_MAX_RANK] = {0};
  *t = (table){.rank = layout->rank};
  for (int d = 0; d < t->rank; d++) t->shape[d] = layout->shape[d];
  do {
    for (int d = 0; d < t->rank; d++) t->index[t->n][d] = index[d];
    assert_int_equal(tesela_layout_place_of(layout, index, &t->place[t->n], NULL), TESELA_OK);
    if (t->place[t->n] > t->most) t->most = t->place[t->n];
    t->n++;
  } while (tesela_index_next(t->rank, t->shape, index));
}

/* Digits of dims that may or may not divide, in any order, without gaps or with some; sometimes a stride that does not fit. */
static bool draw_layout(tesela_layout *layout) {
  int32_t digit[16], n = 0, order[16], axis;
  int64_t shape[MOST_DIMS], product = 1, stride = 1, most = 3 + below(12);
  int rank = (int)(1 + below(3));
  for (int d = 0; d < rank; d++) {
    shape[d] = 1 + below(most);
    while (product * shape[d] > MOST_ELEMENTS) shape[d]--;
    product *= shape[d];
  }
  if (product < 4 || tesela_layout_begin(layout, TESELA_F32, 32, rank, shape, NULL) != TESELA_OK)
    return false;
  for (n = 0; n < rank; n++) digit[n] = n;
  for (int64_t k = below(4); k > 0; k--) {
    int from = (int)below(n);
    int64_t extent = layout->digit[digit[from]].extent, t = 1 + below(5);
    if (below(4) > 0)
      while (extent % t != 0 && layout->digit[digit[from]].step == 1 && below(8) > 0) t = 1 + below(5);
    if (tesela_layout_split(layout, digit[from], t, &digit[n], NULL) != TESELA_OK) return false;
    n++;
  }
  int shuffled[16];
  shuffle(shuffled, n);
  for (int k = 0; k < n; k++) order[k] = digit[shuffled[k]];
  if (tesela_layout_add_axis(layout, "memory", &axis, NULL) != TESELA_OK) return false;
  int64_t gaps = below(3);
  for (int k = n - 1; k >= 0; k--) {
    if (gaps == 0 && below(3) == 0) stride *= 1 + below(3);
    if (gaps == 1 && below(6) == 0) stride += below(3);
    if (tesela_layout_place(layout, order[k], axis, below(30) == 0 ? below(4) : stride, NULL) != TESELA_OK)
      return false;
    stride *= layout->digit[order[k]].extent;
  }
  (void)tesela_layout_set_axis(layout, axis, below(25) == 0, -1, NULL);
  return stride < 400 && tesela_layout_finish(layout, NULL) == TESELA_OK;
}

static const char *map_of(const tesela_layout *layout) {
  static char map[4096];
  tesela_buffer buffer = {map, sizeof map, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  assert_int_equal(tesela_map_print(layout, &to, NULL), TESELA_OK);
  return map;
}

static tesela_translation write_layout(const char *notation, const tesela_layout *layout, char *text,
                                       size_t room) {
  const tesela_notation *from;
  tesela_buffer buffer = {text, room, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_translation answer;
  tesela_error err = {.message = ""};
  assert_int_equal(tesela_notation_find("map() -> m[1]: 0", 16, &from, NULL, NULL), TESELA_OK);
  tesela_any_layout any = {.kind = TESELA_KIND_RELATION, .notation = from};
  any.relation = *layout;
  text[0] = '\0';
  if (tesela_translate(&any, notation, &to, &answer, &err) != TESELA_OK)
    fail_msg("%s: %s", map_of(layout), err.message);
  return answer;
}

static void check_text(const char *notation, const char *text, const tesela_layout *layout, const table *t) {
  tesela_xla_shape array = {.dtype = layout->dtype, .rank = layout->rank};
  for (int d = 0; d < layout->rank; d++) array.dim[d] = layout->shape[d];
  tesela_layout_read_options options = {.notation = notation, .array = &array};
  tesela_any_layout any;
  tesela_error err = {.message = ""};
  if (tesela_layout_read(text, strlen(text), &options, &any, &err) != TESELA_OK)
    fail_msg("%s: %s", text, err.message);
  for (int e = 0; e < t->n; e++) {
    int64_t place;
    assert_int_equal(tesela_layout_place_of(&any.relation, t->index[e], &place, NULL), TESELA_OK);
    if (place != t->place[e]) fail_msg("%s: element %d", text, e);
  }
}

static int number_of(const table *t, const int64_t *index) {
  int64_t n = 0;
  for (int d = 0; d < t->rank; d++) n = n * t->shape[d] + index[d];
  return (int)n;
}

/* No blocks agree with the elements up to the contradiction, and some agree with those before it. */
static void check_contradiction(const table *t, const tesela_translation *answer, const char *map,
                                int64_t *kinds) {
  int first = 0;
  while (first < t->n && blocks_exist(t, first + 1)) first++;
  kinds[answer->contradiction]++;
  if (first == t->n) fail_msg("%s: %s, but there are blocks", map, answer->reason);
  if (number_of(t, answer->index) != first && answer->contradiction != TESELA_CONTRADICTION_NONE)
    fail_msg("%s: %s; the first contradiction is element %d", map, answer->reason, first);
  if (answer->contradiction == TESELA_CONTRADICTION_SHARED)
    assert_int_equal(t->place[number_of(t, answer->index2)], t->place[first]);
  if (answer->contradiction != TESELA_CONTRADICTION_PLACE) return;
  assert_int_equal(answer->place, t->place[first]);
  search s = {.t = t, .count = first, .limit = t->most};
  (void)exists(&s, 1, true);
  if (s.seen != 1 || s.at[0] != answer->expected)
    fail_msg("%s: %s; %d places, %" PRId64, map, answer->reason, s.seen, s.at[0]);
}

static void blocks_are_complete(const char *notation, uint64_t seed) {
  int64_t exact = 0, impossible = 0, kinds[TESELA_CONTRADICTION_ELEMENT + 1] = {0};
  state_of_random = seed;
  while (exact + impossible < (slow_run() ? 100 : 600)) {
    tesela_layout layout;
    table t;
    char text[512];
    if (!draw_layout(&layout)) continue;
    tabulate(&layout, &t);
    tesela_translation answer = write_layout(notation, &layout, text, sizeof text);
    if (answer.verdict == TESELA_EXACT) {
      check_text(notation, text, &layout, &t);
      exact++;
    } else {
      assert_int_equal(answer.verdict, TESELA_IMPOSSIBLE);
      check_contradiction(&t, &answer, map_of(&layout), kinds);
      impossible++;
    }
  }
  printf("%s: %" PRId64 " exact, %" PRId64 " impossible (%" PRId64 " places, %" PRId64 " shared, %" PRId64
         " others)\n",
         notation, exact, impossible, kinds[TESELA_CONTRADICTION_PLACE], kinds[TESELA_CONTRADICTION_SHARED],
         kinds[TESELA_CONTRADICTION_NONE]);
  assert_true(exact * 10 > impossible && impossible * 10 > exact);
}

static void tags_are_complete(void **state) {
  (void)state;
  blocks_are_complete("onednn", first_seed() + 1);
}

/* The most elements, from the first on, that a string of TVM has at their places: all strings with one block of each dim at most are
 * tried. */
typedef struct strings {
  const table *t;
  int n, dim[2 * MOST_DIMS], best;
  int64_t block[MOST_DIMS], extent[2 * MOST_DIMS]; /* block 0: a capital alone; extent 0: a capital */
} strings;

static int64_t place_in_string(const strings *s, int element) {
  int64_t place = 0;
  for (int i = 0; i < s->n; i++) {
    int d = s->dim[i];
    int64_t b = s->block[d] ? s->block[d] : 1, x = s->t->index[element][d],
            outer = (s->t->shape[d] + b - 1) / b;
    place = s->extent[i] ? place * b + x % b : place * outer + x / b;
  }
  return place;
}

static void try_string(strings *s) {
  int e = 0;
  while (e < s->t->n && place_in_string(s, e) == s->t->place[e]) e++;
  if (e > s->best) s->best = e;
}

/* Append capitals in the order of the dims, and blocks anywhere. */
static void try_strings(strings *s, int capitals, unsigned blocks) {
  bool all = true;
  if (s->best == s->t->n) return;
  if (capitals < s->t->rank) {
    all = false;
    s->dim[s->n] = capitals;
    s->extent[s->n++] = 0;
    try_strings(s, capitals + 1, blocks);
    s->n--;
  }
  for (int d = 0; d < s->t->rank; d++) {
    if (s->block[d] == 0 || (blocks >> d & 1)) continue;
    all = false;
    s->dim[s->n] = d;
    s->extent[s->n++] = s->block[d];
    try_strings(s, capitals, blocks | 1U << d);
    s->n--;
  }
  if (all) try_string(s);
}

static void try_blocks(strings *s, int d) {
  if (d == s->t->rank || d == MOST_DIMS) {
    try_strings(s, 0, 0);
    return;
  }
  for (int64_t b = 0; b <= s->t->most + 1; b += b == 0 ? 2 : 1) {
    s->block[d] = b;
    try_blocks(s, d + 1);
  }
}

static void strings_are_complete(void **state) {
  (void)state;
  int64_t exact = 0, impossible = 0;
  state_of_random = first_seed() + 3;
  while (exact + impossible < (slow_run() ? 50 : 300)) {
    tesela_layout layout;
    table t;
    char text[512];
    if (!draw_layout(&layout) || layout.rank > 2) continue;
    tabulate(&layout, &t);
    if (t.most > 60) continue;
    tesela_translation answer = write_layout("tvm", &layout, text, sizeof text);
    strings s = {.t = &t};
    try_blocks(&s, 0);
    if ((s.best == t.n) != (answer.verdict == TESELA_EXACT))
      fail_msg("%s: %s %s", map_of(&layout), text, answer.reason);
    if (s.best == t.n) check_text("tvm", text, &layout, &t);
    *(s.best == t.n ? &exact : &impossible) += 1;
  }
  printf("tvm: %" PRId64 " exact, %" PRId64 " impossible\n", exact, impossible);
  assert_true(exact * 10 > impossible && impossible * 10 > exact);
}

static void packs_are_complete(void **state) {
  (void)state;
  int64_t exact = 0, impossible = 0;
  state_of_random = first_seed() + 6;
  while (exact + impossible < (slow_run() ? 100 : 600)) {
    tesela_layout layout;
    table t;
    char text[512];
    if (!draw_layout(&layout)) continue;
    tabulate(&layout, &t);
    tesela_translation answer = write_layout("pack", &layout, text, sizeof text);
    search s = {.t = &t, .count = t.n, .limit = t.most, .pack = true};
    bool found = exists(&s, 1, false);
    if (found != (answer.verdict == TESELA_EXACT))
      fail_msg("%s: %s %s", map_of(&layout), text, answer.reason);
    if (found) check_text("pack", text, &layout, &t);
    *(found ? &exact : &impossible) += 1;
  }
  printf("pack: %" PRId64 " exact, %" PRId64 " impossible\n", exact, impossible);
  assert_true(exact * 10 > impossible && impossible * 10 > exact);
}

/* The only candidates are the distances of element 0 to its neighbours; the first element that they do not give. */
static void strides_are_complete(const char *notation, uint64_t seed) {
  int64_t exact = 0, impossible = 0;
  state_of_random = seed;
  while (exact + impossible < (slow_run() ? 100 : 600)) {
    tesela_layout layout;
    table t;
    char text[512];
    int64_t stride[MOST_DIMS] = {0};
    if (!draw_layout(&layout)) continue;
    tabulate(&layout, &t);
    int wrong = 0;
    for (int e = 0; e < t.n; e++) {
      int64_t sum = 0, want = t.place[0];
      for (int d = 0; d < t.rank; d++) sum += t.index[e][d];
      for (int d = 0; d < t.rank && sum == 1; d++)
        if (t.index[e][d] == 1) stride[d] = t.place[e] - t.place[0];
      for (int d = 0; d < t.rank; d++) want += stride[d] * t.index[e][d];
      if (want != t.place[e] && wrong == 0) wrong = e;
    }
    tesela_translation answer = write_layout(notation, &layout, text, sizeof text);
    if ((wrong == 0) != (answer.verdict == TESELA_EXACT)) fail_msg("%s: %s", map_of(&layout), answer.reason);
    if (wrong == 0) check_text(notation, text, &layout, &t);
    if (answer.contradiction == TESELA_CONTRADICTION_PLACE) {
      assert_int_equal(number_of(&t, answer.index), wrong);
      assert_int_equal(answer.place, t.place[wrong]);
      assert_int_not_equal(answer.expected, t.place[wrong]);
    }
    *(wrong == 0 ? &exact : &impossible) += 1;
  }
  printf("%s: %" PRId64 " exact, %" PRId64 " impossible\n", notation, exact, impossible);
  assert_true(exact * 10 > impossible && impossible * 10 > exact);
}

static void memrefs_are_complete(void **state) {
  (void)state;
  strides_are_complete("mlir", first_seed() + 7);
}

static void sizes_are_complete(void **state) {
  (void)state;
  strides_are_complete("torch", first_seed() + 8);
}

/* Tiles in tiles: a sequence of inner parts, then what is left of each dim at any multiple of their product. All sequences are tried that agree
 * so far. */
static bool tiles_exist(search *s, int64_t size) {
  bool whole, agree = true;
  int64_t stride[MOST_DIMS] = {0}, done[MOST_DIMS];
  for (int d = 0; d < s->t->rank; d++) done[d] = 1;
  for (int i = 0; i < s->depth; i++) done[s->dim[i]] *= s->extent[i];
  for (int e = 0; e < s->t->n; e++) {
    int64_t place = place_in(s, e, &whole), rest[MOST_DIMS], sum = 0;
    if (whole && place != s->t->place[e]) return false;
    for (int d = 0; d < s->t->rank; d++) {
      rest[d] = s->t->index[e][d] / done[d];
      sum += s->t->index[e][d] == done[d] ? 1 : s->t->index[e][d] != 0 ? 2 : 0;
    }
    for (int d = 0; d < s->t->rank && sum == 1; d++)
      if (rest[d] == 1) stride[d] = s->t->place[e];
  }
  for (int e = 0; e < s->t->n && agree; e++) {
    int64_t place = place_in(s, e, &whole);
    for (int d = 0; d < s->t->rank; d++) {
      place += s->t->index[e][d] / done[d] * stride[d];
      agree = agree && stride[d] % size == 0;
    }
    agree = agree && place == s->t->place[e];
  }
  if (agree) return true;
  for (int d = 0; d < s->t->rank; d++)
    for (int64_t b = 2; b * size <= 2 * s->t->most; b++) {
      s->dim[s->depth] = d;
      s->extent[s->depth++] = b;
      bool found = tiles_exist(s, size * b);
      s->depth--;
      if (found) return true;
    }
  return false;
}

static void tiles_are_complete(void **state) {
  (void)state;
  int64_t exact = 0, impossible = 0;
  state_of_random = first_seed() + 10;
  while (exact + impossible < (slow_run() ? 100 : 600)) {
    tesela_layout layout;
    table t;
    char text[512];
    if (!draw_layout(&layout)) continue;
    tabulate(&layout, &t);
    tesela_translation answer = write_layout("mosaic", &layout, text, sizeof text);
    search s = {.t = &t};
    bool found = t.place[0] == 0 && tiles_exist(&s, 1);
    bool registers = strncmp(text, "#tpu.vpad<", 10) == 0; /* written where no tiles are found */
    if (answer.verdict == TESELA_NEEDS_PADDING || answer.verdict == TESELA_VALID_PART) {
      if (!registers || found) fail_msg("%s: %s", map_of(&layout), text);
      continue;
    }
    if (found == registers && (registers || answer.verdict == TESELA_EXACT))
      fail_msg("%s: %s %s", map_of(&layout), text, answer.reason);
    if (text[0]) check_text("mosaic", text, &layout, &t);
    *(found ? &exact : &impossible) += 1;
  }
  printf("mosaic: %" PRId64 " exact, %" PRId64 " impossible\n", exact, impossible);
  assert_true(exact * 10 > impossible && impossible * 10 > exact);
}

/* Extents whose product is `left`, least first, each with the distance of its first step as stride: do they give all places? */
static bool split_exists(const table *t, int64_t *extent, int n, int64_t left) {
  if (left == 1) {
    for (int e = 0; e < t->n; e++) {
      int64_t rest = e, done = 1, want = t->place[0];
      for (int i = 0; i < n; i++) {
        want += rest % extent[i] * (t->place[done] - t->place[0]);
        rest /= extent[i];
        done *= extent[i];
      }
      if (want != t->place[e]) return false;
    }
    return true;
  }
  for (int64_t b = 2; b <= left; b++) {
    extent[n] = b;
    if (left % b == 0 && split_exists(t, extent, n + 1, left / b)) return true;
  }
  return false;
}

static void splits_are_complete(void **state) {
  (void)state;
  int64_t exact = 0, impossible = 0;
  state_of_random = first_seed() + 9;
  while (exact + impossible < (slow_run() ? 100 : 600)) {
    tesela_layout layout;
    table t;
    char text[512];
    int64_t extent[16];
    if (!draw_layout(&layout)) continue;
    tabulate(&layout, &t);
    tesela_translation answer = write_layout("axe", &layout, text, sizeof text);
    bool found = split_exists(&t, extent, 0, t.n);
    if (found != (answer.verdict == TESELA_EXACT))
      fail_msg("%s: %s %s", map_of(&layout), text, answer.reason);
    if (found) check_text("axe", text, &layout, &t);
    *(found ? &exact : &impossible) += 1;
  }
  printf("axe: %" PRId64 " exact, %" PRId64 " impossible\n", exact, impossible);
  assert_true(exact * 10 > impossible && impossible * 10 > exact);
}

/* 10^12 elements, and extents 0 and 1; expected texts by hand. */
static void texts_are_the_expected_ones(void **state) {
  (void)state;
  static const struct {
    const char *from, *to, *text;
  } rows[] = {
      {"f32[2,17,3,5]{3,2,1,0:T(16,1,1)}", "onednn", "aBcd16b"},
      {"f32[32,128,2,3]{3,2,1,0:T(16,64,1,1)(16,4,1,1)}", "onednn", "ABcd16b16a4b"},
      {"f32[20,40]{1,0:T(8,8)(2,4)}", "onednn", "AB4a2b2a4b"},
      {"f32[2,3,4,5]{1,3,2,0}", "onednn", "acdb"},
      {"f32[2,3,4,5]{1,3,2,0}", "pack",
       "linalg.pack %source outer_dims_perm = [0, 2, 3, 1] inner_dims_pos = [] inner_tiles = [] into %dest : "
       "tensor<2x3x4x5xf32> -> tensor<2x4x5x3xf32>"},
      {"f32[20,40]{1,0:T(8,32)}", "pack",
       "linalg.pack %source padding_value(%pad : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 32] into "
       "%dest : "
       "tensor<20x40xf32> -> tensor<3x2x8x32xf32>"},
      {"f32[2,17,3,5]{3,2,1,0:T(16,1,1)}", "tvm", "NCHW16c"},
      {"f32[1000000,1000000]{0,1}", "onednn", "ba"},
      {"f32[1000000,1000000]{0,1:T(8,128)}", "onednn", "BA8b128a"},
      {"f32[1000000,1000000]{0,1}", "torch", "size=(1000000, 1000000), stride=(1, 1000000)"},
      {"f32[4,8]{1,0}", "mlir", "memref<4x8xf32>"},
      {"f32[4,8]{0,1}", "mlir", "memref<4x8xf32, strided<[1, 4]>>"},
      {"bf16[]", "mlir", "memref<bf16>"},
      {"map(i:3, j:2) of 24 bits -> memory[20]: 5*i + 2*j + 4", "mlir",
       "memref<3x2xi24, strided<[5, 2], offset: 4>>"},
      {"map(i:3, j:2) -> memory[20]: 5*i + 2*j + 4", "torch", "size=(3, 2), stride=(5, 2), storage_offset=4"},
      {"f32[0,3,1]", "torch", "size=(0, 3, 1), stride=(3, 1, 1)"},
      {"f32[0,3,1]", "onednn", "abc"},
      {"bf16[32,256]{1,0:T(8,128)(2,1)}", "mosaic", "#tpu.tiled<(8,128)(2,1),[2,1]>"},
      {"f32[20,200]{1,0:T(8,128)}", "mosaic", "#tpu.tiled<(8,128),[2,1]>"},
      {"memref<4x8xf32, strided<[20, 2]>>", "mosaic", "#tpu.tiled<(1),[20,2]>"},
      {"f32[24,256]{1,0:T(8,128)}", "axe", "S[(3, 8, 2, 128) : (2048, 128, 1024, 1)]"},
      {"local(3, 4).spatial(2, 3)", "axe", "S[(3, 2, 4, 3) : (4, 3@tx, 1, 1@tx)]"},
      {"map(d0:8; copies r0:4) -> thread[35]: 4*d0 + r0 + 3; local[1]: 0", "axe",
       "S[8 : 4@tx] + R[4 : 1@tx] + 3@tx"},
      {"map(d0:2, d1:3) -> memory[20]: 5*d0 - 2*d1 + 9", "axe", "S[(2, 3) : (5, -2)] + 9"},
      {"f32[]", "axe", "S[1 : 1]"},
      {"map(d0:4) -> m[1]: 0; TCol[4]: d0", "axe", "S[4 : 1@TCol] + 0"},
      {"f32[1000000,1000000]{0,1:T(10,100)}", "axe",
       "S[(10000, 100, 100000, 10) : (1000, 1, 10000000, 100)]"},
      {"f32[1,3,1]{1,0,2}", "onednn", "abc"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_any_layout any;
    tesela_translation answer;
    tesela_error err = {.message = ""};
    char text[512] = "";
    tesela_buffer buffer = {text, sizeof text, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    assert_int_equal(tesela_layout_read(rows[i].from, strlen(rows[i].from), NULL, &any, NULL), TESELA_OK);
    if (tesela_translate(&any, rows[i].to, &to, &answer, &err) != TESELA_OK)
      fail_msg("%s: %s", rows[i].from, err.message);
    if (strcmp(text, rows[i].text) != 0)
      fail_msg("%s: %s, not %s (%s)", rows[i].from, text, rows[i].text, answer.reason);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tags_are_the_formula),
      cmocka_unit_test(strings_are_the_formula),
      cmocka_unit_test(packs_are_the_formula),
      cmocka_unit_test(strides_are_the_formula),
      cmocka_unit_test(verbose_lines_are_the_formula),
      cmocka_unit_test(refusals_say_what_and_where),
      cmocka_unit_test(tags_are_complete),
      cmocka_unit_test(strings_are_complete),
      cmocka_unit_test(packs_are_complete),
      cmocka_unit_test(memrefs_are_complete),
      cmocka_unit_test(sizes_are_complete),
      cmocka_unit_test(splits_are_complete),
      cmocka_unit_test(tiles_are_complete),
      cmocka_unit_test(texts_are_the_expected_ones),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
