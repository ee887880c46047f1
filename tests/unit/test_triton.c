/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_triton.c - Triton's encodings: bases and places that Triton itself computes, its documented formulas, aliases, types, older
 * spellings, refusals.
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

enum { LINE = 4096, INS = 4, BITS = 64 };

/* ---- bases of Triton ---- */

typedef struct row {
  char line[LINE];
  char *kind, *text;
  int32_t rank, n_ins;
  int64_t shape[8];
  struct {
    char name[16];
    int32_t n;
    int64_t basis[BITS][8];
  } in[INS];
} row;

/* "0,1" -> numbers; returns the byte after them. */
static char *numbers(char *at, int64_t *out, int32_t *n) {
  for (*n = 0;; at++) {
    out[(*n)++] = strtoll(at, &at, 10);
    if (*at != ',') return at;
  }
}

static bool next_row(FILE *file, row *r) {
  char *field[4];
  int32_t n = 0;
  do {
    if (!fgets(r->line, sizeof r->line, file)) return false;
  } while (r->line[0] == '#');
  assert_non_null(strchr(r->line, '\n'));
  for (char *at = strtok(r->line, "\t\n"); at && n < 4; at = strtok(NULL, "\t\n")) field[n++] = at;
  assert_int_equal(n, 4);
  r->kind = field[0];
  r->text = field[2];
  numbers(field[1], r->shape, &r->rank);
  r->n_ins = 0;
  for (char *at = field[3]; *at; r->n_ins++) {
    size_t length = strcspn(at, " ;");
    assert_true(r->n_ins < INS && length < 16);
    memcpy(r->in[r->n_ins].name, at, length);
    r->in[r->n_ins].name[length] = '\0';
    r->in[r->n_ins].n = 0;
    for (at += length; *at == ' ';) {
      int32_t rank;
      at = numbers(at + 1, r->in[r->n_ins].basis[r->in[r->n_ins].n++], &rank);
      assert_int_equal(rank, r->rank);
    }
    if (*at == ';') at++;
  }
  return true;
}

/* ---- places ---- */

static tesela_status read_any(const char *text, const tesela_xla_shape *array, const char *definitions,
                              tesela_any_layout *any, tesela_error *err) {
  tesela_layout_read_options options = {.array = array,
                                        .definitions = definitions,
                                        .definitions_length = definitions ? strlen(definitions) : 0};
  return tesela_layout_read(text, strlen(text), &options, any, err);
}

static void read_shape(const char *text, int32_t rank, const int64_t *shape, tesela_layout *layout) {
  static tesela_any_layout any;
  tesela_xla_shape array = {.dtype = TESELA_DTYPE_NONE, .rank = rank};
  tesela_error err;
  bool typed = strncmp(text, "tensor", 6) == 0 || strncmp(text, "!ttg", 4) == 0;
  for (int32_t d = 0; d < rank; d++) array.dim[d] = shape[d];
  if (read_any(text, typed ? NULL : &array, NULL, &any, &err) != TESELA_OK)
    fail_msg("%s: %s", text, err.message);
  assert_int_equal(any.kind, TESELA_KIND_RELATION);
  *layout = any.relation;
}

/* The axis of an input; -1 for an input of one value that has none. */
static int32_t axis_of(const tesela_layout *layout, const char *in) {
  const char *name = strcmp(in, "offset") == 0 ? "memory" : in;
  for (int32_t a = 0; a < layout->n_axes; a++)
    if (strcmp(layout->axis[a].name, name) == 0) return a;
  return -1;
}

/* Does a bit of 0 leave places without an element? */
static bool is_hole(const row *r, int32_t in, int32_t bit) {
  if ((strcmp(r->kind, "nvmma") != 0 && strcmp(r->kind, "tensor") != 0) || strstr(r->text, "cales") ||
      strcmp(r->in[in].name, "block") == 0)
    return false;
  for (int32_t d = 0; d < r->rank; d++)
    if (r->in[in].basis[bit][d] != 0) return false;
  return true;
}

/* Every place of the relation holds the XOR of the bases of its bits. */
static void check_places(const row *r, const tesela_layout *layout) {
  int64_t value[INS] = {0}, place[TESELA_MAX_AXES], index[TESELA_MAX_RANK];
  int32_t axis[INS];
  tesela_error err;
  for (int32_t i = 0; i < r->n_ins; i++) {
    axis[i] = axis_of(layout, r->in[i].name);
    assert_true(axis[i] >= 0 || r->in[i].n == 0);
    if (axis[i] >= 0) assert_int_equal(layout->axis[axis[i]].extent, INT64_C(1) << r->in[i].n);
  }
  for (bool more = true; more;) {
    int64_t expected[8] = {0};
    bool hole = false, padding = false;
    memset(place, 0, sizeof place);
    for (int32_t i = 0; i < r->n_ins; i++) {
      if (axis[i] >= 0) place[axis[i]] = value[i];
      for (int32_t b = 0; b < r->in[i].n; b++)
        if (value[i] >> b & 1) {
          hole = hole || is_hole(r, i, b);
          for (int32_t d = 0; d < r->rank; d++) expected[d] ^= r->in[i].basis[b][d];
        }
    }
    if (tesela_layout_element_at(layout, place, index, &padding, &err) != TESELA_OK)
      fail_msg("%s: %s", r->text, err.message);
    if (padding != hole || (!hole && memcmp(index, expected, (size_t)r->rank * sizeof index[0]) != 0))
      fail_msg("%s: wrong element at %s %" PRId64, r->text, r->in[0].name, value[0]);
    more = false;
    for (int32_t i = 0; i < r->n_ins && !more; i++) {
      value[i] = (value[i] + 1) & ((INT64_C(1) << r->in[i].n) - 1);
      more = value[i] != 0;
    }
  }
}

static void places_are_those_of_tritons_bases(void **state) {
  (void)state;
  static row r;
  static tesela_layout layout;
  int n = 0;
  FILE *file = fopen("tests/vectors/triton_bases.tsv", "r");
  assert_non_null(file);
  for (; next_row(file, &r); n++) {
    read_shape(r.text, r.rank, r.shape, &layout);
    check_places(&r, &layout);
  }
  (void)fclose(file);
  assert_int_equal(n, 188);
}

static int64_t place_of(const tesela_layout *layout, int64_t i, int64_t j) {
  int64_t index[2] = {i, j}, place[TESELA_MAX_AXES];
  assert_int_equal(tesela_layout_place_of(layout, index, place, NULL), TESELA_OK);
  return place[0];
}

/* Formulas of the documentation: swizzled and rotating, with vec, perPhase and maxPhase from 1 to 8. */
static void swizzles_follow_the_documented_formula(void **state) {
  (void)state;
  enum { ROWS = 64, COLS = 32 };
  const int64_t shape[] = {ROWS, COLS};
  static tesela_layout layout;
  char text[160];
  for (int64_t n = 0; n < 2 * 4 * 4 * 4; n++) {
    int64_t vec = 1 << n % 4, per = 1 << n / 4 % 4, most = 1 << n / 16 % 4;
    bool rotating = n >= 64;
    snprintf(text, sizeof text,
             "#ttg.%s<{vec = %" PRId64 ", perPhase = %" PRId64 ", maxPhase = %" PRId64 ", order = [1, 0]}>",
             rotating ? "amd_rotating_shared" : "swizzled_shared", vec, per, most);
    read_shape(text, 2, shape, &layout);
    for (int64_t r = 0; r < ROWS; r++)
      for (int64_t c = 0; c < COLS; c++) {
        int64_t phase = r / per % most ^ (rotating ? r / (per * most) % most : 0);
        int64_t col = ((c / vec ^ phase) * vec + c % vec) % COLS;
        if (place_of(&layout, r, c) != r * COLS + col) fail_msg("%s: (%" PRId64 ",%" PRId64 ")", text, r, c);
      }
  }
}

/* i + sum of i / interval * padding, of the offset that the bases give. */
static void padding_follows_the_documented_formula(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t interval[3], padding[3];
    int64_t row[4], col[3]; /* offsets of their bits */
  } rows[] = {
      {"#ttg.padded_shared<[2:+2] {order = [1, 0], shape = [16, 8]}>",
       {2, 1000, 1000},
       {2, 0, 0},
       {8, 16, 32, 64},
       {1, 2, 4}},
      {"#ttg.padded_shared<[4:+1, 16:+2] {order = [0, 1], shape = [16, 8]}>",
       {4, 16, 1000},
       {1, 2, 0},
       {1, 2, 4, 8},
       {16, 32, 64}},
      {"#ttg.padded_shared<[64:+8, 1:+1, 8:+4] {offset = [[0, 1], [2, 0], [0, 2], [1, 0], [4, 0], [0, 4], "
       "[8, 0]], block = []}>",
       {64, 1, 8},
       {8, 1, 4},
       {8, 2, 16, 64},
       {1, 4, 32}},
      {"PaddedSharedLayout(interval_padding_pairs=[[128, 4]], offset_bases=[[0, 1], [0, 2], [0, 4], [1, 0], "
       "[2, 0], [4, 0], [8, 0]], "
       "cga_layout=[], shape=[16, 8])",
       {128, 1000, 1000},
       {4, 0, 0},
       {8, 16, 32, 64},
       {1, 2, 4}},
  };
  const int64_t shape[] = {16, 8};
  static tesela_layout layout;
  for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
    read_shape(rows[n].text, 2, shape, &layout);
    for (int64_t i = 0; i < 16; i++)
      for (int64_t j = 0; j < 8; j++) {
        int64_t offset = 0, place;
        for (int b = 0; b < 4; b++) offset += (i >> b & 1) * rows[n].row[b];
        for (int b = 0; b < 3; b++) offset += (j >> b & 1) * rows[n].col[b];
        place = offset;
        for (int k = 0; k < 3; k++) place += offset / rows[n].interval[k] * rows[n].padding[k];
        assert_int_equal(place_of(&layout, i, j), place);
      }
  }
}

/* The swizzle of 128 bytes is Sw<3,3,3> of 16-bit elements: CuTe's formula. */
static void matrices_of_nvidia_are_swizzled_as_in_cute(void **state) {
  (void)state;
  const int64_t shape[] = {8, 64};
  static tesela_layout layout;
  read_shape("#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>", 2,
             shape, &layout);
  for (int64_t i = 0; i < 8; i++)
    for (int64_t j = 0; j < 64; j++) {
      int64_t x = 64 * i + j;
      assert_int_equal(place_of(&layout, i, j), x ^ (x >> 3 & 7 << 3));
    }
}

static void sizes_do_not_matter(void **state) {
  (void)state;
  const int64_t shape[] = {1 << 20, 1 << 20};
  const int64_t index[] = {(1 << 20) - 1, 5};
  int64_t place[TESELA_MAX_AXES];
  static tesela_layout layout;
  read_shape(
      "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>",
      2, shape, &layout);
  assert_int_equal(tesela_layout_place_of(&layout, index, place, NULL), TESELA_OK);
  /* column 5 is value 1 of lane 1; rows 2^20 - 1 = 3 of lanes, 3 of warps, and all tiles of 16 rows */
  assert_int_equal(place[axis_of(&layout, "lane")], 3 * 8 + 1);
  assert_int_equal(place[axis_of(&layout, "warp")], 3);
  assert_int_equal(place[axis_of(&layout, "register")], 1 + 4 * INT64_C(32768) * 65535);
}

/* An array of other extents than powers of two is a part of the next larger one. */
static void other_extents_are_a_valid_part(void **state) {
  (void)state;
#define BLOCKED \
  "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [2, 1], order = [1, 0]}>"
  static const char *const texts[] = {
      BLOCKED, "#ttg.slice<{dim = 2, parent = BlockedLayout([1,1,2],[4,4,2],[1,2,1],[2,1,0])}>",
      "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}>",
      "#ttg.padded_shared<[4:+1, 16:+2] {order = [0, 1], shape = [32, 64]}>"};
#undef BLOCKED
  const int64_t part[] = {20, 33}, whole[] = {32, 64};
  static tesela_layout a, b;
  int64_t place_a[TESELA_MAX_AXES], place_b[TESELA_MAX_AXES], index[2];
  for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
    read_shape(texts[t], 2, part, &a);
    read_shape(texts[t], 2, whole, &b);
    assert_int_equal(a.n_axes, b.n_axes);
    assert_int_equal(tesela_layout_copies(&a), tesela_layout_copies(&b));
    for (index[0] = 0; index[0] < part[0]; index[0]++)
      for (index[1] = 0; index[1] < part[1]; index[1]++)
        for (int64_t k = 0; k < tesela_layout_copies(&a); k++) {
          assert_int_equal(tesela_layout_copy_of(&a, index, k, place_a, NULL), TESELA_OK);
          assert_int_equal(tesela_layout_copy_of(&b, index, k, place_b, NULL), TESELA_OK);
          assert_memory_equal(place_a, place_b, (size_t)a.n_axes * sizeof place_a[0]);
        }
  }
}

/* One dim more than the encoding: the buffers of a pipeline. */
static void buffers_follow_each_other(void **state) {
  (void)state;
  const int64_t whole[] = {3, 8, 16}, *shape = whole + 1, index[][3] = {{0, 3, 5}, {1, 3, 5}, {2, 7, 15}};
  int64_t place[TESELA_MAX_AXES];
  static tesela_layout one, three;
#define SHARED "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}>"
  read_shape(SHARED, 2, shape, &one);
  read_shape("!ttg.memdesc<3x8x16xf16, " SHARED ", #ttg.shared_memory, mutable>", 3, whole, &three);
#undef SHARED
  assert_int_equal(three.rank, 3);
  assert_int_equal(three.axis[0].extent, 3 * 128);
  for (size_t i = 0; i < sizeof index / sizeof index[0]; i++) {
    assert_int_equal(tesela_layout_place_of(&three, index[i], place, NULL), TESELA_OK);
    assert_int_equal(place[0], 128 * index[i][0] + place_of(&one, index[i][1], index[i][2]));
  }
}

/* ---- spellings ---- */

static const char aliases[] =
    "// a file\n"
    "#loc = loc(\"a.py\":1:0)\n"
    "#blocked = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [2, 1], order = "
    "[1, 0]}>\n"
    "  #mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 1], instrShape = [16, "
    "8]}>\n"
    "#dot = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>\n"
    "#again = #dot\n"
    "#round = #around\n#around = #round\n"
    "#self = #ttg.slice<{dim = 0, parent = #self}>\n"
    "#wrong = #ttg.blocked<{sizePerThread = [1, x]}>\n"
    "#three = #ttg.blocked<{sizePerThread = [3], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>\n"
    "module {\n  tt.func @f(%a: tensor<32x16xf16, #blocked>)\n}\n";

/* Both texts with the array are the same relation. */
static void one_layout_has_several_spellings(void **state) {
  (void)state;
#define BLOCKED \
  "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [2, 1], order = [1, 0]"
#define MMA \
  "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 1], instrShape = [16, 8]}>"
  static const char *const pairs[][2] = {
      {BLOCKED "}>", "#blocked"},
      {BLOCKED "}>", "#mine = " BLOCKED "}>\n#mine"},
      {BLOCKED "}>", "#mine = " BLOCKED "}>"},
      {BLOCKED "}>", "#a = #b\n#b = " BLOCKED "}>\ntensor<32x16xf16, #a>"},
      {BLOCKED "}>", "tensor<32x16xf16, #blocked>"},
      {BLOCKED "}>", "#ttg.blocked<{order=[1,0], // fastest first\n warpsPerCTA=[2,1], threadsPerWarp=[8,4], "
                     "sizePerThread=[1,2]}>"},
      {BLOCKED "}>", "BlockedLayout([1, 2], [8, 4], [2, 1], [1, 0])"},
      {BLOCKED "}>", "ttgl.BlockedLayout(size_per_thread=(1, 2), threads_per_warp=[8, 4], warps_per_cta=[2, "
                     "1], order=[1, 0],)"},
      {BLOCKED ", CGALayout = [[0, 1], [0, 0]]}>",
       "#triton_gpu.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [2, 1], order = "
       "[1, 0], CTAsPerCGA = "
       "[1, 4], CTASplitNum = [1, 2], CTAOrder = [0, 1]}>"},
      {"#ttg.dot_op<{opIdx = 0, parent = " MMA ", kWidth = 2}>", "#again"},
      {"#ttg.dot_op<{opIdx = 0, parent = " MMA ", kWidth = 2}>",
       "#ttg.dot_op<{kWidth = 2, opIdx = 0, parent = #triton_gpu.mma<{versionMajor = 2, versionMinor = 0, "
       "warpsPerCTA = [2, 1], "
       "CTAsPerCGA = [1, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0], instrShape = [16, 8]}>}>"},
      {"#ttg.dot_op<{opIdx = 0, parent = " MMA ", kWidth = 2}>",
       "DotOperandLayout(operand_index=0, parent=NVMMADistributedLayout(version=[2, 0], warps_per_cta=[2, "
       "1], instr_shape=[16, 8]), "
       "k_width=2)"},
      {"#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}>",
       "#triton_gpu.shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0], CTAsPerCGA = [1, 1], "
       "CTASplitNum = [1, 1], CTAOrder "
       "= [1, 0], hasLeadingOffset = false}>"},
      {"#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}>",
       "!ttg.memdesc<32x16xf16, #ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 4, order = [1, 0]}>, "
       "#ttg.shared_memory, "
       "mutable, 2x32x16>"},
      {"#ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>",
       "#ttg.shared<{vec = 8, perPhase = 4, maxPhase = 2, order = [1, 0], hasLeadingOffset = true}>"},
      {"#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 1], instrShape = [16, 16, 16], isTransposed = true}>",
       "#triton_gpu.mfma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [2, 1], instrShape = [16, 16], "
       "isTransposed = true}>"},
      {"#ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {warp = [[0, 1], [1, 0]]}}>",
       "#ttg.amd_wmma<{version = 2, isTranspose = true, warpsPerCTA = [2, 2]}>"},
      {"#ttg.amd_wmma<{version = 1, isTranspose = false, ctaLayout = {register = [[0, 1], [1, 0]], warp = "
       "[[0, 2], [2, 0]]}}>",
       "#triton_gpu.wmma<{version = 1, isTranspose = false, warpsPerCTA = [2, 2], tilesPerWarp = [2, 2]}>"},
      {"#ttg.padded_shared<[4:+1] {order = [1, 0], shape = [32, 16]}>",
       "#ttg.padded_shared<[4:+1] {offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0], "
       "[16, 0]], block = []}>"},
  };
#undef BLOCKED
#undef MMA
  static tesela_any_layout a, b;
  const tesela_xla_shape array = {.dtype = TESELA_F16, .rank = 2, .dim = {32, 16}};
  tesela_difference difference;
  tesela_error err;
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    if (read_any(pairs[i][0], &array, aliases, &a, &err) != TESELA_OK)
      fail_msg("%s: %s", pairs[i][0], err.message);
    if (read_any(pairs[i][1], &array, aliases, &b, &err) != TESELA_OK)
      fail_msg("%s: %s", pairs[i][1], err.message);
    assert_int_equal(tesela_layout_compare(&a.relation, &b.relation, &difference, &err), TESELA_OK);
    if (!difference.same || !difference.same_extent) fail_msg("%s: %s", pairs[i][1], difference.reason);
  }
}

static void types_give_shape_and_width(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tesela_dtype dtype;
    int32_t bits;
  } rows[] = {
      {"tensor<32x16xf16, #blocked>", TESELA_F16, 16},
      {"tensor<32x16xi1, #blocked>", TESELA_PRED, 8},
      {"tensor<32x16xi32, #blocked>", TESELA_S32, 32},
      {"tensor<32x16xf8E4M3FN, #blocked>", TESELA_F8E4M3FN, 8},
      {"tensor<32x16xbf16, #blocked>", TESELA_BF16, 16},
      {"tensor<32x16x!tt.ptr<f16>, #blocked>", TESELA_DTYPE_NONE, 64},
  };
  static tesela_any_layout any;
  tesela_error err;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (read_any(rows[i].text, NULL, aliases, &any, &err) != TESELA_OK)
      fail_msg("%s: %s", rows[i].text, err.message);
    assert_int_equal(any.relation.rank, 2);
    assert_int_equal(any.relation.shape[0], 32);
    assert_int_equal(any.relation.shape[1], 16);
    assert_int_equal(any.relation.dtype, rows[i].dtype);
    assert_int_equal(any.relation.bits, rows[i].bits);
  }
}

/* ---- written and read back ---- */

/* Every encoding that has no gaps is also a linear layout; tesela_translate reads the text back. */
static void encodings_are_written_as_linear_layouts(void **state) {
  (void)state;
  static row r;
  static tesela_any_layout any;
  static char text[1 << 14];
  tesela_error err;
  int verdicts[5] = {0};
  FILE *file = fopen("tests/vectors/triton_bases.tsv", "r");
  assert_non_null(file);
  while (next_row(file, &r)) {
    tesela_xla_shape array = {.dtype = TESELA_F16, .rank = r.rank};
    tesela_buffer buffer = {text, sizeof text, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    tesela_translation answer;
    memcpy(array.dim, r.shape, sizeof r.shape);
    assert_int_equal(read_any(r.text, &array, NULL, &any, &err), TESELA_OK);
    if (tesela_translate(&any, "triton", &to, &answer, &err) != TESELA_OK)
      fail_msg("%s: %s", r.text, err.message);
    verdicts[answer.verdict]++;
    if ((answer.verdict == TESELA_IMPOSSIBLE) != (strcmp(r.kind, "tensor") == 0))
      fail_msg("%s: %s", r.text, answer.reason);
  }
  (void)fclose(file);
  print_message("%d exact, %d valid_part, %d impossible\n", verdicts[TESELA_EXACT],
                verdicts[TESELA_VALID_PART], verdicts[TESELA_IMPOSSIBLE]);
}

/* A linear layout that is read for a smaller array repeats it, so lanes without an element need a larger array. */
static void lanes_without_elements_need_a_larger_array(void **state) {
  (void)state;
  static const char *const maps[] = {"map(d0:2) -> register[1]: 0; lane[4]: d0; warp[1]: 0",
                                     "map(d0:3) -> register[1]: 0; lane[8]: d0; warp[1]: 0"};
  static tesela_any_layout any;
  char text[256];
  tesela_error err;
  for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
    tesela_buffer buffer = {text, sizeof text, 0};
    tesela_writer to = tesela_buffer_writer(&buffer);
    tesela_translation answer;
    assert_int_equal(read_any(maps[i], NULL, NULL, &any, &err), TESELA_OK);
    if (tesela_translate(&any, "triton", &to, &answer, &err) != TESELA_OK)
      fail_msg("%s: %s", maps[i], err.message);
    assert_int_equal(answer.verdict, TESELA_VALID_PART);
    assert_int_equal(answer.shape[0], i == 0 ? 4 : 8);
  }
}

/* ---- refusals ---- */

static void refusals_say_why(void **state) {
  (void)state;
#define B1 "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]"
#define B2 "threadsPerWarp = [8, 4], warpsPerCTA = [2, 1], order = [1, 0]}>"
  static const struct {
    const char *text;
    int64_t at; /* -1: any */
    const char *message;
  } rows[] = {
      {"#ttg.blocked<{sizePerThred = [1, 2], " B2, 14,
       "unknown key 'sizePerThred'; did you mean sizePerThread?"},
      {"#ttg.blocked<{sizePerThread = [1, 2] 3, " B2, 37, "expected ',' or the end of the list, found '3'"},
      {"#ttg.blocked<{" B2, 12, "'sizePerThread' is missing"},
      {"#ttg.blocked<{sizePerThread = [1, 2], sizePerThread = [1, 2], " B2, 38,
       "'sizePerThread' is given twice"},
      {"#ttg.blocked<{sizePerThread = [1, 2, 4], " B2, 0, "threadsPerWarp has 2 numbers; expected 3"},
      {"#ttg.blocked<{sizePerThread = [1, 3], " B2, 0, "sizePerThread[1] is 3; expected a power of two"},
      {"#ttg.blocked<{sizePerThread = [1, -2], " B2, 30, "sizePerThread[1] is -2; expected 0 or more"},
      {"#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [2, 1], order = [1, "
       "1]}>",
       0, "order is not an order of 2 dims"},
      {"#ttg.blocked<{sizePerThread = [1, 2], " B2 " x", -1, "expected the end of the text, found 'x'"},
      {"#ttg.blocked<{sizePerThread = [1, 2}, " B2, -1, "expected ',' or ']', found '}'"},
      {"#ttg.blockd<{" B2, 5, "unknown encoding 'blockd'; did you mean blocked?"},
      {"triton: BlockdLayout([1], [32], [1], [0])", 8,
       "unknown layout 'BlockdLayout'; did you mean BlockedLayout?"},
      {"#ttg.partitioned_shared<{numPartitions = 2}>", 5, "tesela does not read partitioned_shared"},
      {"#ttg.linear<{register = [[0, 1], [1]], lane = [], warp = [], block = []}>", 33,
       "a basis of register has 1 number; expected 2"},
      {B1 "}>", -1, "the encoding has 1 dim; the array has 2"},
      {"#ttg.slice<{dim = 3, parent = #blocked}>", -1, "the encoding has 1 dim; the array has 2"},
      {"tensor<16xf16, #ttg.slice<{dim = 2, parent = #blocked}>>", -1,
       "dim of a slice is 2; expected 0 to 1"},
      {"#ttg.slice<{dim = 0, parent = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, "
       "0]}>}>",
       -1, "the parent of a slice is an encoding in registers"},
      {"#ttg.dot_op<{opIdx = 0, parent = #ttg.slice<{dim = 0, parent = #blocked}>}>", -1,
       "the parent of an operand is"},
      {"#ttg.dot_op<{opIdx = 2, parent = #blocked}>", -1, "opIdx is 2; expected 0 or 1"},
      {"#ttg.dot_op<{opIdx = 0, parent = #mma}>", -1, "kWidth is missing for an operand of nvidia_mma"},
      {"#ttg.nvidia_mma<{versionMajor = 1, versionMinor = 0, warpsPerCTA = [2, 1], instrShape = [16, 16]}>",
       -1, "tesela reads nvidia_mma of versions 2 (mma) and 3 (wgmma), not 1"},
      {"#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [64, 4, 4], isTransposed = false}>",
       -1, "amd_mfma of 64x4 is read only with isTransposed = true"},
      {"#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>", -1,
       "a swizzle of 128 bytes needs a matrix of 8 rows of 64 elements or more; found 32x16"},
      {"#ttg.nvmma_shared<{swizzlingByteWidth = 48, transposed = false, elementBitWidth = 16}>", -1,
       "swizzlingByteWidth is 48; expected 0, 32, 64 or 128"},
      {"#ttg.padded_shared<[3:+1] {order = [1, 0], shape = [32, 16]}>", -1, "3:+1 are not powers of two"},
      {"#ttg.padded_shared<[4:+1] {order = [1, 0], shape = [32, 16], offset = []}>", -1,
       "expected either offset and block, or order and shape"},
      {"#ttg.padded_shared<[4:1] {order = [1, 0], shape = [32, 16]}>", 22, "expected '+'"},
      {"#ttg.padded_shared<[4:+1] {offset = [[0, 1], [1, 1]], block = []}>", -1, "the bases cover"},
      {"#nothing", 0, "'#nothing' is not defined in the definitions"},
      {"#round", -1, "line 8, column 11 of the definitions: the definition of '#round' needs itself"},
      {"#self", -1, "line 9, column 9 of the definitions: more than 16 slices around each other"},
      {"#wrong", 0, "line 10, column 44 of the definitions: expected a whole number, found 'x"},
      {"tensor<16xf16, #three>", 15,
       "line 11, column 10 of the definitions: sizePerThread[0] is 3; expected a power of two"},
      {"tensor<?x16xf16, #blocked>", 7, "extents that are known at run time, '?', are not read"},
      {"tensor<32x16xf17, #blocked>", 13, "f17"},
      {"tensor<32x16xf16, #blocked> ", -1, NULL},                                     /* read */
      {"#ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {}}>", -1, NULL}, /* one warp */
      {"tensor<24x16xf16, #blocked>", -1, "dim 0 has 24 elements; encodings of Triton need powers of two"},
      {"!ttg.memdesc<32x16xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, "
       "#smem, 32x64>",
       -1, "a part of a larger allocation is not read"},
  };
#undef B1
#undef B2
  static tesela_any_layout any;
  const tesela_xla_shape array = {.dtype = TESELA_F16, .rank = 2, .dim = {32, 16}};
  tesela_error err;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    bool typed = strncmp(rows[i].text, "tensor", 6) == 0 || rows[i].text[0] == '!';
    tesela_status status = read_any(rows[i].text, typed ? NULL : &array, aliases, &any, &err);
    if ((status == TESELA_OK) != (rows[i].message == NULL))
      fail_msg("%s: status %d %s", rows[i].text, status, err.message);
    if (status == TESELA_OK) continue;
    if (!strstr(err.message, rows[i].message)) fail_msg("%s: %s", rows[i].text, err.message);
    if (rows[i].at >= 0 && err.at != rows[i].at) fail_msg("%s: byte %" PRId64, rows[i].text, err.at);
  }
  assert_int_equal(read_any("#blocked", NULL, aliases, &any, &err), TESELA_E_UNSUPPORTED);
  assert_non_null(strstr(err.message, "needs type and dims before it"));
  assert_int_equal(read_any("tensor<16x32xf16, #blocked>", &array, aliases, &any, &err), TESELA_E_MISMATCH);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(places_are_those_of_tritons_bases),
      cmocka_unit_test(swizzles_follow_the_documented_formula),
      cmocka_unit_test(padding_follows_the_documented_formula),
      cmocka_unit_test(matrices_of_nvidia_are_swizzled_as_in_cute),
      cmocka_unit_test(sizes_do_not_matter),
      cmocka_unit_test(other_extents_are_a_valid_part),
      cmocka_unit_test(buffers_follow_each_other),
      cmocka_unit_test(one_layout_has_several_spellings),
      cmocka_unit_test(types_give_shape_and_width),
      cmocka_unit_test(encodings_are_written_as_linear_layouts),
      cmocka_unit_test(lanes_without_elements_need_a_larger_array),
      cmocka_unit_test(refusals_say_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
