/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_relayout_part.c - copies in parts give what the oracle says; their stretches stay within both files, and no byte of dst is
 * written by two parts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "relayout/part.h"
#include "support_fault.h"
#include "support_relayout.h"
#include "support_seed.h"

enum { PAIRS = 4000, ELEMENTS = 20000 };

/* A file and a buffer, between which stretches are moved. */
typedef struct moving {
  unsigned char *file, *buffer, *written; /* written: marks, or NULL */
  int64_t file_bytes, buffer_bytes;
  bool to_file;
  const char *text;
} moving;

static tesela_status move_stretch(void *data, int64_t file, int64_t buffer, int64_t bytes) {
  moving *m = data;
  if (file < 0 || bytes < 1 || file + bytes > m->file_bytes || buffer < 0 || buffer + bytes > m->buffer_bytes)
    fail_msg("%s: %" PRId64 " bytes at %" PRId64 " of a file of %" PRId64 ", %" PRId64
             " of a buffer of %" PRId64,
             m->text, bytes, file, m->file_bytes, buffer, m->buffer_bytes);
  for (int64_t i = 0; i < bytes; i++) {
    if (!m->to_file) m->buffer[buffer + i] = m->file[file + i];
    if (!m->to_file) continue;
    m->file[file + i] = m->buffer[buffer + i];
    if (m->written[file + i]++) fail_msg("%s: byte %" PRId64 " is written twice", m->text, file + i);
  }
  return TESELA_OK;
}

/* The bytes of all places of a layout, which is what its file has. */
static int64_t file_bytes(const tesela_layout *layout) {
  return (layout->axis[0].extent * layout->bits + 7) / 8;
}

static unsigned char *file_of(const unsigned char *data, int64_t known, int64_t bytes) {
  unsigned char *file = malloc((size_t)bytes + 1);
  assert_non_null(file);
  memset(file, 0xA5, (size_t)bytes + 1);
  memcpy(file, data, (size_t)(known < bytes ? known : bytes));
  return file;
}

typedef struct counts {
  long copies, parts, transposes;
} counts;

/* Places after those of all digits, to be zero, are so in a file from the start. */
static void clear_tail(unsigned char *file, const pair *p) {
  static const uint8_t zero[TESELA_ELEMENT_BYTES];
  int64_t end = p->dst.axis[0].offset + 1;
  for (int32_t i = 0; i < p->dst.n_active; i++)
    if (p->dst.digit[i].axis >= 0 && p->dst.digit[i].stride > 0)
      end += (p->dst.digit[i].extent - 1) * p->dst.digit[i].stride;
  for (int64_t at = end; at < p->dst.axis[0].extent && p->fill == TESELA_FILL_ZERO; at++)
    tesela_element_put(file, at, p->dst.bits, zero);
}

/* Copy all parts, the last one first. */
static void check_parts(const bench *b, const tesela__copy_parts *parts, int64_t most, const char *text) {
  const int64_t to_bytes = file_bytes(&b->p.dst), from_bytes = file_bytes(&b->p.src);
  unsigned char *to = file_of(b->before, b->dst_bytes, to_bytes),
                *from = file_of(b->data, b->src_bytes, from_bytes);
  unsigned char *written = calloc((size_t)to_bytes + 1, 1), *dst = malloc((size_t)parts->dst_bytes),
                *src = malloc((size_t)parts->src_bytes);
  clear_tail(to, &b->p);
  assert_true(written && dst && src);
  for (int64_t i = parts->n - 1; i >= 0; i--) {
    int64_t dst_at, src_at;
    const tesela__part_kind *kind = tesela__part_at(parts, i, &dst_at, &src_at);
    moving in = {
        .file = from, .file_bytes = from_bytes, .buffer = src, .buffer_bytes = kind->src.bytes, .text = text};
    moving out = {
        .file = to, .file_bytes = to_bytes, .buffer = dst, .buffer_bytes = kind->dst.bytes, .text = text};
    assert_true(kind->src.bytes <= parts->src_bytes && kind->dst.bytes <= parts->dst_bytes);
    memset(src, 0x5A, (size_t)parts->src_bytes);
    assert_int_equal(tesela__part_stretches(&kind->src, src_at, move_stretch, &in), TESELA_OK);
    assert_int_equal(tesela__part_stretches(&kind->dst, dst_at, move_stretch, &out),
                     TESELA_OK); /* as it was */
    assert_int_equal(tesela_plan_run(kind->plan, dst, src, NULL, NULL), TESELA_OK);
    out.to_file = true;
    out.written = written;
    assert_int_equal(tesela__part_stretches(&kind->dst, dst_at, move_stretch, &out), TESELA_OK);
  }
  for (int64_t k = 0; k < to_bytes && k < b->dst_bytes; k++)
    if (to[k] != b->expected[k])
      fail_msg("%s: byte %" PRId64 " of %" PRId64 " parts is %u; expected %u", text, k, parts->n, to[k],
               b->expected[k]);
  if (parts->dst_bytes + parts->src_bytes > most)
    fail_msg("%s: buffers of %" PRId64 " and %" PRId64 " bytes; expected %" PRId64, text, parts->dst_bytes,
             parts->src_bytes, most);
  free(to);
  free(from);
  free(written);
  free(dst);
  free(src);
}

static void check_pair(const pair *p, uint64_t seed, uint64_t *state, counts *n) {
  const tesela_allocator allocator = tesela__allocator(NULL);
  char text[PAIR_TEXT];
  bench b;
  trial t;
  tesela_plan *plan;
  if (!make_bench(&b, p, seed)) return;
  draw_trial(state, &t);
  t.options.transform = p->transform;
  t.options.fill = p->fill;
  memcpy(t.options.fill_value, p->fill_value, sizeof p->fill_value);
  if (tesela_plan_create(&plan, &p->dst, &p->src, &t.options, NULL) == TESELA_OK) {
    tesela__copy_parts parts;
    const int64_t most = 1 + (int64_t)(mixed(state) % 16384);
    tesela_plan_destroy(plan);
    pair_text(p, text);
    assert_int_equal(tesela__copy_parts_find(&parts, &p->dst, &p->src, most, &t.options, &allocator, NULL),
                     TESELA_OK);
    if (parts.n > 0) check_parts(&b, &parts, most, text);
    n->copies += parts.n > 1;
    n->parts += parts.n;
    n->transposes += parts.n > 1 && parts.n_cut > 1;
    tesela__copy_parts_free(&parts);
  }
  free_bench(&b);
}

static void parts_are_what_the_oracle_says(void **state) {
  (void)state;
  uint64_t seed = first_seed();
  const int pairs = slow_run() ? PAIRS / 10 : PAIRS;
  counts n = {0, 0, 0};
  for (int k = 0; k < pairs; k++) {
    uint8_t bytes[DRAW_BYTES];
    uint64_t random = mixed(&seed);
    pair p;
    for (size_t i = 0; i < DRAW_BYTES; i++) bytes[i] = (uint8_t)(mixed(&random) >> 24);
    draws d = {bytes, DRAW_BYTES, 0};
    draw_pair(&d, ELEMENTS, k % 8 == 0, &p);
    if (p.transform > TESELA_TRANSFORM_SWAP) continue; /* the bits of a NaN are not known */
    check_pair(&p, random, &random, &n);
  }
  print_message("%ld copies in %ld parts; %ld are cut along several dims\n", n.copies, n.parts, n.transposes);
  assert_true(n.copies > pairs / 10 && n.transposes > pairs / 50);
}

typedef struct expected_part {
  const char *name, *dst, *src;
  int64_t shape[2], most;
  int64_t parts, dst_stretch, src_stretch; /* 0 parts: it is not cut */
} expected_part;

static const expected_part part_rows[] = {
    {"the whole fits", "1 0", "0 1", {100, 60}, 1 << 20, 1, 12000, 12000},
    {"rows of both sides stay whole", "0 1", "0 1", {64, 100}, 64 * 100, 4, 16 * 100 * 2, 16 * 100 * 2},
    {"a transpose keeps rows of dst, which follow each other",
     "1 0",
     "0 1",
     {4096, 4096},
     36 << 20,
     2,
     16 << 20,
     4096},
    {"rows of tiles", "0/8 1/128 0 1", "0 1", {64, 128}, 8192, 4, 16 * 128 * 2, 16 * 128 * 2},
    {"a side of 6 and one of 8 are cut at 24",
     "0/8 1 0",
     "0/6 1 0",
     {96, 10},
     1100,
     4,
     24 * 10 * 2,
     24 * 10 * 2},
    {"one element more than fits", "0 1", "0 1", {1, 1}, 3, 0, 0, 0},
};

static void known_copies_have_known_parts(void **state) {
  (void)state;
  const tesela_allocator allocator = tesela__allocator(NULL);
  for (size_t i = 0; i < sizeof part_rows / sizeof part_rows[0]; i++) {
    const expected_part *row = &part_rows[i];
    tesela_layout dst, src;
    tesela__copy_parts parts;
    assert_true(layout_of_digits(&dst, TESELA_BF16, 16, 2, row->shape, row->dst));
    assert_true(layout_of_digits(&src, TESELA_BF16, 16, 2, row->shape, row->src));
    const tesela_plan_options options = {.threads = 1};
    assert_int_equal(tesela__copy_parts_find(&parts, &dst, &src, row->most, &options, &allocator, NULL),
                     TESELA_OK);
    if (parts.n != row->parts)
      fail_msg("%s: %" PRId64 " parts; expected %" PRId64, row->name, parts.n, row->parts);
    if (parts.n > 0 &&
        (parts.kind[0].dst.stretch != row->dst_stretch || parts.kind[0].src.stretch != row->src_stretch))
      fail_msg("%s: stretches of %" PRId64 " and %" PRId64, row->name, parts.kind[0].dst.stretch,
               parts.kind[0].src.stretch);
    tesela__copy_parts_free(&parts);
  }
}

/* Where elements are mixed by bits, and where a value is to fill what no digit reaches. */
static void what_cannot_be_cut_has_no_parts(void **state) {
  (void)state;
  const tesela_allocator allocator = tesela__allocator(NULL);
  const int64_t shape[] = {64, 64};
  tesela_layout plain, longer, turned = {0};
  tesela__copy_parts parts;
  int32_t axis;
  assert_true(layout_of_digits(&plain, TESELA_BF16, 16, 2, shape, "0 1"));
  assert_true(layout_of_digits(&longer, TESELA_BF16, 16, 2, shape, "0 1 =5000"));
  assert_int_equal(tesela_layout_begin(&turned, TESELA_BF16, 16, 2, shape, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_add_axis(&turned, "memory", &axis, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_place_row_major(&turned, 2, (int32_t[]){0, 1}, axis, 1, NULL, NULL),
                   TESELA_OK);
  assert_int_equal(tesela_layout_add_swizzle(&turned, (tesela_swizzle){0, 2, 1, 6}, NULL), TESELA_OK);
  assert_int_equal(tesela_layout_finish(&turned, NULL), TESELA_OK);
  const struct {
    const tesela_layout *dst, *src;
    tesela_fill fill;
    bool cut;
  } rows[] = {{&plain, &plain, TESELA_FILL_VALUE, true},
              {&turned, &plain, TESELA_FILL_ZERO, false},
              {&plain, &turned, TESELA_FILL_ZERO, false},
              {&longer, &plain, TESELA_FILL_VALUE, false},
              {&longer, &plain, TESELA_FILL_ZERO, true}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const tesela_plan_options options = {.fill = rows[i].fill};
    assert_int_equal(
        tesela__copy_parts_find(&parts, rows[i].dst, rows[i].src, 4096, &options, &allocator, NULL),
        TESELA_OK);
    assert_int_equal(parts.n > 0, rows[i].cut);
    tesela__copy_parts_free(&parts);
  }
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  const int64_t shape[] = {100, 90};
  tesela_layout dst, src;
  assert_true(layout_of_digits(&dst, TESELA_BF16, 16, 2, shape, "1 0"));
  assert_true(layout_of_digits(&src, TESELA_BF16, 16, 2, shape, "0 1"));
  for (int64_t n = 0;; n++) {
    fault f = {.countdown = n};
    const tesela_allocator allocator = fault_allocator(&f);
    const tesela_plan_options options = {.threads = 1};
    tesela__copy_parts parts;
    const tesela_status status =
        tesela__copy_parts_find(&parts, &dst, &src, 4096, &options, &allocator, NULL);
    assert_true(status == TESELA_OK || (status == TESELA_E_MEMORY && parts.n >= 0));
    tesela__copy_parts_free(&parts);
    assert_int_equal(f.live, 0);
    if (status == TESELA_OK) break;
    assert_true(n < 100);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_are_what_the_oracle_says),
      cmocka_unit_test(known_copies_have_known_parts),
      cmocka_unit_test(what_cannot_be_cut_has_no_parts),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
