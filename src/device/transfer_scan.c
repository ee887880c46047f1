/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer_scan.c - the search for integers that the narrower type cannot hold, before anything is written.
 *
 * First a fold over all of them, in the order of addresses and on the transfer's threads, decides whether any is
 * outside. Only then does a second pass, in row-major order, find the first one.
 */
#include "device/transfer.h"
#include "relayout/values.h"

bool tesela__transfer_narrows(tesela_dtype from, tesela_dtype to, int64_t *low, int64_t *high) {
  tesela_dtype_family family = tesela_dtype_family_of(from);
  int32_t bits = tesela_dtype_bits(to);
  if (family != tesela_dtype_family_of(to) || bits >= tesela_dtype_bits(from)) return false;
  if (family != TESELA_FAMILY_SIGNED && family != TESELA_FAMILY_UNSIGNED) return false;
  bool has_sign = family == TESELA_FAMILY_SIGNED;
  *high = (int64_t)(((uint64_t)1 << (bits - has_sign)) - 1); /* bits is below 64 */
  *low = has_sign ? -*high - 1 : 0;
  return true;
}

/* ---- numbers ------------------------------------------------------------------------------------------------- */

/* A number fits into `bits` bits if number + bias has no bit above them; bias is half of their range for signed
 * numbers, else 0. So the OR of all sums shows whether any number does not fit. Vectors have the size of a cache
 * line. */
typedef uint64_t look_line64 __attribute__((vector_size(64)));
typedef uint32_t look_line32 __attribute__((vector_size(64)));
enum { LOOK_LINE = 64, LOOK_AHEAD = 8192 }; /* bytes */

#define LOOK_FOLD(name, TYPE, LINE)                                                            \
  static TYPE name(const unsigned char *data, int64_t n, int64_t step, TYPE bias) {            \
    enum { EACH = LOOK_LINE / (int)sizeof(TYPE) };                                             \
    TYPE x, all = 0;                                                                           \
    int64_t i = 0;                                                                             \
    if (step == (int64_t)sizeof(TYPE)) {                                                       \
      LINE line, a = {0}, b = {0};                                                             \
      for (; i + 2 * EACH <= n; i += 2 * EACH) {                                               \
        const unsigned char *at = data + i * (int64_t)sizeof(TYPE);                            \
        uintptr_t ahead = (uintptr_t)at + LOOK_AHEAD; /* may be beyond the end: only a hint */ \
        __builtin_prefetch((const void *)ahead);                                               \
        __builtin_prefetch((const void *)(ahead + LOOK_LINE));                                 \
        memcpy(&line, at, sizeof line);                                                        \
        a |= line + bias;                                                                      \
        memcpy(&line, at + LOOK_LINE, sizeof line);                                            \
        b |= line + bias;                                                                      \
      }                                                                                        \
      a |= b;                                                                                  \
      for (int32_t k = 0; k < EACH; k++) all |= a[k];                                          \
    }                                                                                          \
    for (; i < n; i++) {                                                                       \
      memcpy(&x, data + i * step, sizeof x);                                                   \
      all |= x + bias;                                                                         \
    }                                                                                          \
    return all;                                                                                \
  }
LOOK_FOLD(look_fold64, uint64_t, look_line64)
LOOK_FOLD(look_fold32, uint32_t, look_line32)
#undef LOOK_FOLD

/* Is any of n numbers, `step` bytes apart, outside? */
static bool look_outside(const tesela__look *look, const unsigned char *data, int64_t n, int64_t step) {
  int32_t bits = tesela_dtype_bits(look->to);
  uint64_t bias = look->low < 0 ? (uint64_t)1 << (bits - 1) : 0;
  if (look->src->bits == 64) return look_fold64(data, n, step, bias) >> bits != 0;
  return look_fold32(data, n, step, (uint32_t)bias) >> bits != 0;
}

/* ---- all of them, in the order of addresses ------------------------------------------------------------------ */

typedef struct look_making {
  tesela__look *look;
  const tesela_allocator *allocator;
  size_t capacity;
  bool no_memory;
} look_making;

/* Keep a box of src: its loops with strides in bytes, simplified. */
static bool look_take(void *data, tesela__box *box) {
  look_making *m = data;
  void *boxes = m->look->box;
  bool grown = tesela__grow(m->allocator, &boxes, sizeof *box, &m->capacity, (uint64_t)m->look->n_boxes + 1);
  m->look->box = boxes;
  m->no_memory = !grown;
  if (!grown) return false;
  tesela__box *kept = &m->look->box[m->look->n_boxes++];
  kept->src = box->src / 8;
  kept->dst = 0;
  kept->n_loops = 0;
  for (int32_t i = 0; i < box->n_loops; i++)
    if (box->loop[i].ss != 0)
      (void)tesela__box_add(kept, box->loop[i].n, box->loop[i].ss / 8, box->loop[i].ss / 8);
  tesela__box_simplify(kept);
  return true;
}

tesela_status tesela__look_make(tesela__look *look, const tesela_allocator *allocator, tesela_error *err) {
  tesela_layout dense, rows, src;
  tesela__problem problem;
  const tesela_layout *l = look->src;
  look->box = NULL;
  look->n_boxes = 0;
  if (tesela_layout_strided(&rows, l->dtype, l->bits, l->rank, l->shape, NULL, 0, NULL) != TESELA_OK ||
      tesela_layout_canonical(&rows, &dense, NULL) != TESELA_OK ||
      tesela_layout_canonical(l, &src, NULL) != TESELA_OK)
    return TESELA_OK;
  tesela__problem_set(&problem, &dense, &src);
  look_making m = {.look = look, .allocator = allocator};
  if (tesela__is_empty(l) || problem.irregular || tesela__problem_boxes(&problem, look_take, &m))
    return TESELA_OK;
  tesela__release(allocator, look->box);
  look->box = NULL;
  look->n_boxes = 0;
  if (!m.no_memory) return TESELA_OK; /* too many boxes: row by row */
  return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for the boxes of the integer check");
}

/* Pieces of at most this many elements of the innermost loops; threads share them. */
enum { LOOK_PIECE = 1 << 16 };

typedef struct look_run {
  const tesela__look *look;
  const unsigned char *data;
  atomic_bool outside;
} look_run;

/* Check pieces `first` to `end` - 1 of a box. */
static void look_box(look_run *run, const tesela__box *box, int64_t first, int64_t end, int64_t per_row) {
  const tesela__loop one = {1, 0, 0};
  const tesela__loop *inner = box->n_loops ? &box->loop[box->n_loops - 1] : &one;
  for (int64_t piece = first; piece < end; piece++) {
    if (atomic_load_explicit(&run->outside, memory_order_relaxed)) return;
    int64_t row = piece / per_row, at = piece % per_row * LOOK_PIECE;
    const unsigned char *data = run->data + box->src + at * inner->ss;
    for (int32_t i = box->n_loops - 2; i >= 0; i--) {
      data += row % box->loop[i].n * box->loop[i].ss;
      row /= box->loop[i].n;
    }
    if (look_outside(run->look, data, tesela__min(LOOK_PIECE, inner->n - at), inner->ss))
      atomic_store_explicit(&run->outside, true, memory_order_relaxed);
  }
}

static void look_chunk(void *data, int32_t chunk) {
  look_run *run = data;
  const tesela__look *look = run->look;
  for (int32_t k = 0; k < look->n_boxes; k++) {
    const tesela__box *box = &look->box[k];
    int64_t inner = box->n_loops ? box->loop[box->n_loops - 1].n : 1, rows = 1;
    int64_t per_row = tesela__ceil_div(inner, LOOK_PIECE), n = look->threads;
    for (int32_t i = 0; i < box->n_loops - 1; i++) rows *= box->loop[i].n;
    int64_t pieces = rows * per_row;
    look_box(run, box, pieces / n * chunk + pieces % n * chunk / n,
             pieces / n * (chunk + 1) + pieces % n * (chunk + 1) / n, per_row);
  }
}

/* ---- the first one ------------------------------------------------------------------------------------------- */

static tesela_status look_found(const tesela__look *look, const int64_t *index, const unsigned char *data,
                                tesela_error *err) {
  const tesela_layout *src = look->src;
  char text[700]; /* 32 coordinates */
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer writer = tesela_buffer_writer(&buffer);
  tesela__sink sink;
  uint64_t x = 0;
  int32_t bits = src->bits;
  memcpy(&x, data, (size_t)bits / 8); /* elements are little-endian */
  if (bits < 64 && tesela_dtype_family_of(src->dtype) == TESELA_FAMILY_SIGNED && x >> (bits - 1) & 1)
    x |= ~(uint64_t)0 << bits;
  text[0] = '\0';
  tesela__sink_init(&sink, &writer);
  for (int32_t d = 0; d < src->rank; d++) tesela__putf(&sink, d ? ",%" PRId64 : "%" PRId64, index[d]);
  (void)tesela__sink_finish(&sink, NULL); /* a buffer never refuses */
  if (src->dtype == TESELA_U64)
    return tesela__fail(err, TESELA_E_RANGE, -1, "element (%s) is %" PRIu64 "; %s holds 0 to %" PRId64, text,
                        x, tesela_dtype_name(look->to), look->high);
  return tesela__fail(err, TESELA_E_RANGE, -1,
                      "element (%s) is %" PRId64 "; %s holds %" PRId64 " to %" PRId64, text, (int64_t)x,
                      tesela_dtype_name(look->to), look->low, look->high);
}

tesela_status tesela__look_run(const tesela__look *look, const void *data, const tesela_executor *executor,
                               tesela_error *err) {
  tesela__values v;
  const tesela_layout *src = look->src;
  int64_t bytes = src->bits / 8;
  if (look->n_boxes > 0) {
    look_run run = {.look = look, .data = data};
    tesela__run_chunks(executor, look->threads, look_chunk, &run);
    if (!atomic_load(&run.outside)) return TESELA_OK;
  }
  tesela_status status = tesela__values_begin(&v, src, err);
  if (status != TESELA_OK) return status;
  for (; v.more; tesela__values_skip(&v, v.left)) {
    const unsigned char *at = (const unsigned char *)data + v.place * bytes;
    if (!look_outside(look, at, v.left, v.stride * bytes)) continue;
    int64_t n = 0;
    while (!look_outside(look, at + n * v.stride * bytes, 1, bytes)) n++;
    at += n * v.stride * bytes;
    if (n > 0) tesela__values_skip(&v, n); /* skip to it, within the run */
    return look_found(look, v.index, at, err);
  }
  return TESELA_OK;
}
