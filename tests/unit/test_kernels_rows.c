/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kernels_rows.c - every row kernel of the table that this CPU can run, against loops written from the contracts
 * in kernels.h: element by element, bit by bit.
 *
 * Rows lie in an arena whose both ends are followed by memory that may not be touched, often flush against one of
 * them; src may not be written, and all bytes of dst that a row does not name must stay. TESELA_SEED sets the seed.
 */
#include "support_kernels.h"
#include "support_seed.h"

enum { MOST_ROWS = 6, TRIALS = 1500 };

/* ---- rows -------------------------------------------------------------------------------------------------- */

typedef struct rows_case {
  tesela__rows rows;
  int64_t width; /* of an element: bytes, bits for the bit kinds, 1 for copies */
  int64_t count, dst_off[MOST_ROWS], src_off[MOST_ROWS];
  int64_t dst_base, src_base; /* places in the arenas */
} rows_case;

/* Bytes [low, high) of a row, in the unit of its offset. */
typedef struct reach {
  int64_t low, high;
} reach;

static bool bits_of_dst(tesela__kernel_kind kind) {
  return kind == TESELA__K_STRIDED_BITS || kind == TESELA__K_COPY_BITS;
}

static bool bits_of_src(tesela__kernel_kind kind) {
  return kind == TESELA__K_STRIDED_BITS || kind == TESELA__K_COPY_BITS;
}

static reach reach_of(int64_t n, int64_t pitch,
                      int64_t size) { /* n things of `size` that are `pitch` apart */
  int64_t last = (n - 1) * pitch;
  return (reach){last < 0 ? last : 0, (last < 0 ? 0 : last) + size};
}

static void reaches(tesela__kernel_kind kind, const rows_case *c, reach *dst, reach *src) {
  const tesela__rows *rows = &c->rows;
  int64_t size = rows->n * c->width;
  *dst = *src = (reach){0, size};
  switch (kind) {
  case TESELA__K_INTERLEAVE:
    *dst = (reach){0, size * rows->k};
    *src = reach_of(rows->k, rows->src_pitch, size);
    break;
  case TESELA__K_DEINTERLEAVE:
    *dst = reach_of(rows->k, rows->dst_pitch, size);
    *src = (reach){0, size * rows->k};
    break;
  case TESELA__K_STRIDED:
  case TESELA__K_STRIDED_BITS:
    *dst = reach_of(rows->n, rows->dst_pitch, c->width);
    *src = reach_of(rows->n, rows->src_pitch, c->width);
    break;
  default:
    break;
  }
}

/* n, k and pitches; dst never overlaps itself. */
static void draw_row(const tesela__kernel *kernel, rows_case *c) {
  tesela__rows *rows = &c->rows;
  int64_t width = c->width = kernel->width ? kernel->width : 1;
  *rows = (tesela__rows){.k = 1, .stores = (tesela__stores)below(3)};
  int64_t sign = below(2) ? 1 : -1;
  switch (kernel->kind) {
  case TESELA__K_COPY:
    rows->n = draw_size(below(8) ? 900 : 12000);
    break;
  case TESELA__K_COPY_BITS:
    rows->n = draw_size(2000);
    break;
  case TESELA__K_INTERLEAVE:
  case TESELA__K_DEINTERLEAVE: {
    rows->k = kernel->k ? kernel->k : 1 + below(below(4) ? 4 : below(8) ? 20 : 300);
    rows->n = draw_size(below(8) ? 1000 / width : 8000 / width / rows->k);
    int64_t size = rows->n * width;
    bool in = kernel->kind == TESELA__K_INTERLEAVE;
    int64_t pitch = below(4) ? size + below(3) * below(100) : (size + 63) / 64 * 64;
    if (in && below(4) == 0) pitch = below(size + 1); /* streams of src may overlap */
    *(in ? &rows->src_pitch : &rows->dst_pitch) = sign * pitch;
    break;
  }
  case TESELA__K_STRIDED:
  case TESELA__K_STRIDED_BITS:
    rows->n = draw_size(below(2) ? 300 : 900);
    rows->dst_pitch = sign * (below(2) ? width : below(2) ? width * (1 + below(17)) : width + below(40));
    rows->src_pitch = (below(2) ? 1 : -1) * (below(3) ? width * below(19) : below(60));
    if (below(8) == 0) rows->src_pitch = 0;
    if (below(4) == 0) rows->src_pitch = width; /* neighbours that are spread */
    break;
  default:
    fail_msg("%s: not a row kernel", kernel->name);
  }
}

/* Rows one after the other in dst with gaps, anywhere in src; false if they do not fit. */
static bool draw_places(tesela__kernel_kind kind, rows_case *c) {
  const int64_t unit = bits_of_dst(kind) ? 8 : 1, src_unit = bits_of_src(kind) ? 8 : 1, whole = ARENA * unit;
  bool lines = below(2); /* rows of dst begin at whole cache lines, if the first one does */
  reach dst, src;
  reaches(kind, c, &dst, &src);
  int64_t dst_size = dst.high - dst.low, src_size = src.high - src.low, end = 0, gap = 0;
  c->count = below(3) ? 1 + below(MOST_ROWS) : 1;
  for (int64_t i = 0; i < c->count; i++) {
    if (lines) end = (end + 64 * unit - 1) / (64 * unit) * (64 * unit);
    c->dst_off[i] = end - dst.low;
    end += dst_size;
    if (!lines) end += gap = below(2) * below(200);
  }
  if (!lines) end -= gap;
  if (end > whole / 2 || src_size > ARENA * src_unit / 2) return false;
  int64_t bytes = (end + unit - 1) / unit, at = place(bytes) * unit;
  if (lines && below(4)) at = at / (64 * unit) * (64 * unit);
  if (unit > 1 && at + end + 7 < whole) at += below(8);
  c->dst_base = below(ARENA);
  c->src_base = below(ARENA);
  for (int64_t i = 0; i < c->count; i++) {
    int64_t from = place((src_size + src_unit - 1) / src_unit) * src_unit;
    if (src_unit > 1 && from + src_size + 7 < ARENA * 8) from += below(8);
    c->dst_off[i] += at - c->dst_base * unit;
    c->src_off[i] = from - src.low - c->src_base * src_unit;
  }
  for (int64_t i = c->count; i > 1; i--) { /* in any order */
    int64_t j = below(i), swap = c->dst_off[i - 1];
    c->dst_off[i - 1] = c->dst_off[j], c->dst_off[j] = swap;
  }
  return true;
}

static void move_bytes(const rows_case *c, int64_t to, int64_t from) { /* one element */
  for (int64_t b = 0; b < c->width; b++) want[c->dst_base + to + b] = src_arena[c->src_base + from + b];
}

static void move_bit(const rows_case *c, int64_t to, int64_t from) {
  to += c->dst_base * 8, from += c->src_base * 8;
  unsigned bit = src_arena[from / 8] >> from % 8 & 1;
  want[to / 8] = (unsigned char)((want[to / 8] & ~(1u << to % 8)) | bit << to % 8);
}

static void expect_row(tesela__kernel_kind kind, const rows_case *c, int64_t to, int64_t from) {
  const tesela__rows *rows = &c->rows;
  for (int64_t e = 0; e < rows->n; e++) {
    switch (kind) {
    case TESELA__K_COPY:
      move_bytes(c, to + e, from + e);
      break;
    case TESELA__K_INTERLEAVE:
      for (int64_t s = 0; s < rows->k; s++)
        move_bytes(c, to + (e * rows->k + s) * c->width, from + rows->src_pitch * s + e * c->width);
      break;
    case TESELA__K_DEINTERLEAVE:
      for (int64_t s = 0; s < rows->k; s++)
        move_bytes(c, to + rows->dst_pitch * s + e * c->width, from + (e * rows->k + s) * c->width);
      break;
    case TESELA__K_STRIDED:
      move_bytes(c, to + e * rows->dst_pitch, from + e * rows->src_pitch);
      break;
    case TESELA__K_STRIDED_BITS:
      for (int64_t b = 0; b < c->width; b++)
        move_bit(c, to + e * rows->dst_pitch + b, from + e * rows->src_pitch + b);
      break;
    case TESELA__K_COPY_BITS:
      move_bit(c, to + e, from + e);
      break;
    default:
      fail();
    }
  }
}

static void try_rows(const tesela__kernel *kernel) {
  rows_case c = {.count = 0};
  char what[200];
  draw_row(kernel, &c);
  if (!draw_places(kernel->kind, &c)) return;
  reset_dst();
  for (int64_t i = 0; i < c.count; i++) expect_row(kernel->kind, &c, c.dst_off[i], c.src_off[i]);
  ((tesela__rows_fn *)kernel->fn)(&c.rows, dst_arena + c.dst_base, c.dst_off, src_arena + c.src_base,
                                  c.src_off, c.count);
  tesela__fence();
  snprintf(what, sizeof what,
           "%" PRId64 " rows, n %" PRId64 ", k %" PRId64 ", dst pitch %" PRId64 ", src pitch %" PRId64
           ", stores %d, dst %" PRId64,
           c.count, c.rows.n, c.rows.k, c.rows.dst_pitch, c.rows.src_pitch, c.rows.stores,
           c.dst_off[0] + c.dst_base * (bits_of_dst(kernel->kind) ? 8 : 1));
  check_dst(kernel, what);
}

/* ---- slices ------------------------------------------------------------------------------------------------ */

enum { MOST_SLICED = 12, MOST_SLICES = 8 };

/* Rows of n elements below 8 bits, and of as many bytes, of which some have k rows together. */
typedef struct slices_case {
  tesela__rows rows;
  int64_t width, count;
  int64_t bytes[MOST_SLICED], bits[MOST_SLICED * MOST_SLICES];
} slices_case;

/* A place for rows of bits one after the other, with gaps; that of the last one ends with a byte, sometimes with the arena. */
static void draw_rows_of_bits(slices_case *c, bool together) {
  const int64_t k = c->rows.k, size = c->rows.n * c->width, phase = below(8) / c->width * c->width;
  int64_t end = phase;
  for (int64_t i = 0; i < c->count * k; i++) {
    c->bits[i] = end;
    end += size + below(2) * below(40) * c->width;
    if (together) continue;
    c->bits[i] = place((phase + size + 7) / 8) * 8 + phase;
  }
  const int64_t at = place((end + 7) / 8) * 8;
  for (int64_t i = 0; together && i < c->count * k; i++) c->bits[i] += at;
}

/* Those of dst are one after the other, sometimes with gaps; those of src so, or anywhere. */
static void draw_rows_of_bytes(slices_case *c, bool together) {
  const int64_t n = c->rows.n, step = n + (together ? below(2) * below(20) : 0), at = place(step * c->count);
  const bool follow = together || below(2);
  for (int64_t i = 0; i < c->count; i++) c->bytes[i] = follow ? at + i * step : place(n);
}

static void expect_slices(tesela__kernel_kind kind, const slices_case *c) {
  const rows_case element = {.width = c->width};
  for (int64_t i = 0; i < c->count; i++)
    for (int64_t e = 0; e < c->rows.n; e++) {
      if (kind == TESELA__K_SLICE) want[c->bytes[i] + e] = 0;
      for (int64_t t = 0; t < c->rows.k; t++)
        for (int64_t b = 0; b < c->width; b++) {
          const int64_t of_bytes = (c->bytes[i] + e) * 8 + t * c->width + b;
          const int64_t of_bits = c->bits[i * c->rows.k + t] + e * c->width + b;
          if (kind == TESELA__K_SLICE)
            move_bit(&element, of_bytes, of_bits);
          else
            move_bit(&element, of_bits, of_bytes);
        }
    }
}

static void try_slices(const tesela__kernel *kernel) {
  const bool to_bytes = kernel->kind == TESELA__K_SLICE;
  slices_case c = {.width = kernel->width, .count = 1 + below(below(2) ? MOST_SLICED : 2)};
  char what[100];
  c.rows = (tesela__rows){.n = draw_size(below(8)      ? 300
                                         : c.count > 2 ? 700
                                                       : 4500),
                          .k = 1 + below(8 / c.width)};
  draw_rows_of_bits(&c, !to_bytes);
  draw_rows_of_bytes(&c, to_bytes);
  reset_dst();
  expect_slices(kernel->kind, &c);
  ((tesela__rows_fn *)kernel->fn)(&c.rows, dst_arena, to_bytes ? c.bytes : c.bits, src_arena,
                                  to_bytes ? c.bits : c.bytes, c.count);
  snprintf(what, sizeof what, "%" PRId64 " times %" PRId64 " rows of %" PRId64 ", bits from %" PRId64,
           c.count, c.rows.k, c.rows.n, c.bits[0]);
  check_dst(kernel, what);
}

/* ---- blocks of bits, streams ------------------------------------------------------------------------------- */

static void try_bit_block(const tesela__kernel *kernel) {
  int64_t width = kernel->width, m = 8 / width, bytes = draw_size(600), src_off[8];
  int32_t shift[8] = {0};
  const bool shifts = below(2);
  int64_t pitch = bytes + below(2) * below(100), size = pitch * (m - 1) + bytes, at = place(size);
  char what[100];
  if (below(2)) at += pitch * (m - 1), pitch = -pitch;
  for (int64_t i = 0; i < m; i++) {
    if (shifts) shift[i] = (int32_t)below(8);
    src_off[i] = place(bytes + (shift[i] > 0));
  }
  reset_dst();
  for (int64_t i = 0; i < m; i++)
    for (int64_t e = 0; e < m * bytes; e++) {
      rows_case c = {.width = width};
      int64_t row = at + pitch * (e % m), bit = (row + e / m) * 8 + i * width;
      for (int64_t b = 0; b < width; b++) move_bit(&c, bit + b, src_off[i] * 8 + shift[i] + e * width + b);
    }
  ((tesela__bit_block_fn *)kernel->fn)(dst_arena + at, pitch, src_arena, src_off, shifts ? shift : NULL,
                                       bytes);
  snprintf(what, sizeof what, "%" PRId64 " bytes, pitch %" PRId64 ", shift %d", bytes, pitch, shift[0]);
  check_dst(kernel, what);
}

static void try_bit_transpose(const tesela__kernel *kernel) {
  enum { MOST_BYTES = 100 };
  const int64_t width = kernel->width, m = 8 / width, rows = TESELA__BIT_GROUPS * m;
  const int64_t bytes = TESELA__BIT_STEP + below(MOST_BYTES - TESELA__BIT_STEP), columns = m * bytes;
  const int64_t column = TESELA__BIT_GROUPS + below(2) * below(30);
  const int64_t at = place(column * (columns - 1) + TESELA__BIT_GROUPS), ahead = below(2) * below(1 << 20);
  const bool shifts = below(2);
  int64_t src_off[TESELA__BIT_GROUPS * 8];
  int32_t shift[TESELA__BIT_GROUPS * 8] = {0};
  char what[100];
  for (int64_t i = 0; i < rows; i++) {
    if (shifts) shift[i] = (int32_t)below(8);
    src_off[i] = place(bytes + (shift[i] > 0));
  }
  reset_dst();
  for (int64_t i = 0; i < rows; i++)
    for (int64_t k = 0; k < columns; k++) {
      const rows_case c = {.width = width};
      const int64_t bit = (at + column * k + i / m) * 8 + i % m * width;
      for (int64_t b = 0; b < width; b++) move_bit(&c, bit + b, src_off[i] * 8 + shift[i] + k * width + b);
    }
  ((tesela__bit_transpose_fn *)kernel->fn)(dst_arena + at, column, src_arena, src_off, shifts ? shift : NULL,
                                           bytes, ahead);
  snprintf(what, sizeof what, "%" PRId64 " bytes, column %" PRId64 ", shift %d", bytes, column, shift[0]);
  check_dst(kernel, what);
}

static void try_stream(const tesela__kernel *kernel) {
  int64_t lines = below(200), at = place(lines * 64) / 64 * 64, from = place(lines * 64);
  char what[100];
  reset_dst();
  memcpy(want + at, src_arena + from, (size_t)lines * 64);
  ((tesela__stream_fn *)kernel->fn)(dst_arena + at, src_arena + from, lines);
  tesela__fence();
  snprintf(what, sizeof what, "%" PRId64 " lines", lines);
  check_dst(kernel, what);
}

/* Rows in order of dst that begin and end with this call or not: what comes before them there is before them in src, too. */
static void try_stream_rows(const tesela__kernel *kernel) {
  enum { MOST = 12 };
  const int64_t count = 1 + below(MOST), step = 1 + below(3);
  const bool begins = below(2), ends = below(2);
  const int64_t n = (ends ? 1 : 64) + below(500), pitch = 64 + n + below(200),
                from = place(pitch * count) + 64;
  static alignas(64) unsigned char keep[MOST][64];
  int64_t off[3 * MOST], at = place(count * step * (n + 134));
  char what[100];
  reset_dst();
  memset(keep, 0, sizeof keep);
  for (int64_t i = 0; i < count * step; i++, at += n + 64 + below(70)) off[i] = at + 64;
  for (int64_t i = 0; i < count; i++) {
    const int64_t to = off[i * step], phase = (int64_t)((uintptr_t)(dst_arena + to) % 64);
    const int64_t first = begins ? 0 : -phase, last = ends ? n : n - (phase + n) % 64;
    memcpy(want + to + first, src_arena + from + pitch * i + first, (size_t)(last - first));
  }
  ((tesela__stream_rows_fn *)kernel->fn)(&(tesela__stream_rows){.dst = dst_arena,
                                                                .dst_off = off,
                                                                .src = src_arena + from,
                                                                .step = step,
                                                                .pitch = pitch,
                                                                .count = count,
                                                                .n = n,
                                                                .begins = begins,
                                                                .ends = ends,
                                                                .keep = keep});
  tesela__fence();
  for (int64_t i = 0; i < count && !ends; i++)
    assert_memory_equal(keep[i], src_arena + from + pitch * i + n - 64, 64);
  snprintf(what, sizeof what, "%" PRId64 " rows of %" PRId64 " bytes", count, n);
  check_dst(kernel, what);
}

/* ---- tests -------------------------------------------------------------------------------------------------- */

static void test_rows(void **unused) {
  (void)unused;
  fill_src();
  protect_src(true);
  try_kinds(TESELA__K_COPY, TESELA__K_COPY_BITS, try_rows, slow_run() ? TRIALS / 10 : TRIALS);
}

static void test_slices(void **unused) {
  (void)unused;
  fill_src();
  protect_src(true);
  try_kinds(TESELA__K_SLICE, TESELA__K_UNSLICE, try_slices, slow_run() ? TRIALS / 10 : TRIALS);
}

static void test_bit_blocks(void **unused) {
  (void)unused;
  fill_src();
  protect_src(true);
  try_kinds(TESELA__K_BIT_BLOCK, TESELA__K_BIT_BLOCK, try_bit_block, slow_run() ? TRIALS / 10 : TRIALS);
  try_kinds(TESELA__K_BIT_TRANSPOSE, TESELA__K_BIT_TRANSPOSE, try_bit_transpose,
            slow_run() ? TRIALS / 10 : TRIALS);
}

static void test_streams(void **unused) {
  (void)unused;
  fill_src();
  protect_src(true);
  try_kinds(TESELA__K_STREAM, TESELA__K_STREAM, try_stream, slow_run() ? TRIALS / 10 : TRIALS);
  try_kinds(TESELA__K_STREAM_ROWS, TESELA__K_STREAM_ROWS, try_stream_rows, slow_run() ? TRIALS / 10 : TRIALS);
}

/* Without any instruction set there is a kernel for every question, and it is one of the C kernels. */
static void test_c_serves_everything(void **unused) {
  (void)unused;
  static const struct {
    tesela__kernel_kind kind;
    int32_t widths[6]; /* ends with -1 */
    int32_t most_k;
  } rows[] = {
      {TESELA__K_COPY, {0, -1}, 0},
      {TESELA__K_INTERLEAVE, {1, 2, 4, 8, 16, -1}, 9},
      {TESELA__K_DEINTERLEAVE, {1, 2, 4, 8, 16, -1}, 9},
      {TESELA__K_STRIDED, {1, 2, 4, 8, 16, -1}, 0},
      {TESELA__K_STRIDED_BITS, {1, 2, 4, -1}, 0},
      {TESELA__K_COPY_BITS, {0, -1}, 0},
      {TESELA__K_SLICE, {1, 2, 4, -1}, 0},
      {TESELA__K_UNSLICE, {1, 2, 4, -1}, 0},
      {TESELA__K_PERMUTE, {0, -1}, 0},
      {TESELA__K_PERMUTE_BITS, {0, -1}, 0},
      {TESELA__K_BIT_BLOCK, {1, 2, 4, -1}, 0},
      {TESELA__K_STREAM, {0, -1}, 0},
      {TESELA__K_STREAM_ROWS, {0, -1}, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    for (const int32_t *width = rows[i].widths; *width >= 0; width++)
      for (int32_t k = 0; k <= rows[i].most_k; k++) {
        const tesela__kernel *kernel = tesela__kernel_find(rows[i].kind, *width, k, 0);
        assert_non_null(kernel);
        assert_int_equal(kernel->isa, 0);
      }
#define ROW(symbol, value, name, src_bits, dst_bits) \
  assert_non_null(tesela__kernel_find(TESELA__K_CONVERT, symbol, 0, 0));
  TESELA__CONVERSION_MAP(ROW)
#undef ROW
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_c_serves_everything),
      cmocka_unit_test(test_rows),
      cmocka_unit_test(test_slices),
      cmocka_unit_test(test_bit_blocks),
      cmocka_unit_test(test_streams),
  };
  return cmocka_run_group_tests(tests, set_up_arenas, NULL);
}
