/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvm_string.c - layout strings of TVM: the dims of the array as capitals in their order, and blocks of them.
 *
 *   NCHW16c     [n][c/16][h][w][c%16]           a block may be before a capital: NC16cHW
 *   4nN         [n%4][n/4]                      also before its own
 *
 * Read are several blocks of a dim, the first one the most significant; written is one, since TVM refuses more.
 */
#include "notation/memory/memory.h"

enum { TVM_DIMS = 26 };

typedef struct tvm_axis {
  int32_t letter;
  int64_t extent; /* of a block; 0: a capital */
  size_t at;
} tvm_axis;

/* The axes of a string, outermost first; dim[l] is the dim of a letter, or -1. */
static tesela_status tvm_axes(tesela__reader *r, tvm_axis *axis, int32_t *n, int32_t dim[26], int32_t *rank) {
  *n = *rank = 0;
  for (int32_t l = 0; l < 26; l++) dim[l] = -1;
  tesela__read_peek(r);
  while (r->at < r->length && *n < TESELA__MAX_BLOCKS) {
    tvm_axis next = {.at = r->at};
    char c = r->text[r->at];
    if (c >= 'A' && c <= 'Z') {
      next.letter = c - 'A';
      if (dim[next.letter] >= 0)
        return tesela__read_fail(r, TESELA_E_SYNTAX, r->at, "the dim '%c' is listed twice", c);
      dim[next.letter] = (*rank)++;
    } else if (c >= '0' && c <= '9') {
      tesela_status status = tesela__read_integer(r, "block", 1, INT64_MAX, &next.extent);
      if (status != TESELA_OK) return status;
      c = r->at < r->length ? r->text[r->at] : '\0';
      if (c < 'a' || c > 'z') return tesela__read_unexpected(r, "the small letter of a dim", "");
      next.at = r->at;
      next.letter = c - 'a';
    } else if (c >= 'a' && c <= 'z') {
      return tesela__read_fail(r, TESELA_E_SYNTAX, r->at,
                               "the block '%c' has no size: expected a number before it", c);
    } else {
      break;
    }
    axis[(*n)++] = next;
    r->at++;
  }
  if (*n == 0) return tesela__read_unexpected(r, "a dim as a capital, such as NCHW16c", "");
  return *n == TESELA__MAX_BLOCKS && tesela__read_peek(r) >= 0
             ? tesela__read_fail(r, TESELA_E_LIMIT, r->at, "more than %d dims and blocks",
                                 TESELA__MAX_BLOCKS - 1)
             : tesela__text_end(r);
}

tesela_status tesela__tvm_read(const char *text, size_t length, const tesela_layout_read_options *options,
                               tesela_any_layout *out, tesela_error *err) {
  tesela__reader r = {.text = text, .length = length, .err = err, .blanks = TESELA__BLANKS_TEXT};
  tvm_axis axis[TESELA__MAX_BLOCKS];
  int32_t dim[26], digit[TESELA__MAX_BLOCKS], n, rank, bits, memory = 0;
  const tesela_xla_shape *array = NULL;
  tesela_layout *layout = &out->relation;
  tesela_dtype dtype = tesela__given_dtype(options, &bits);
  tesela_status status = tvm_axes(&r, axis, &n, dim, &rank);
  for (int32_t i = 0; i < n && status == TESELA_OK; i++)
    if (dim[axis[i].letter] < 0)
      status = tesela__read_fail(&r, TESELA_E_SYNTAX, axis[i].at, "the block '%c' has no dim '%c'",
                                 'a' + axis[i].letter, 'A' + axis[i].letter);
  if (status == TESELA_OK) status = tesela__memory_array(options, rank, "the string", &array, err);
  if (status != TESELA_OK) return status;
  out->kind = TESELA_KIND_RELATION;
  status = tesela_layout_begin(layout, dtype, bits, rank, array->dim, err);
  for (int32_t i = n - 1; i >= 0 && status == TESELA_OK; i--) { /* capitals are what blocks leave */
    digit[i] = dim[axis[i].letter];
    if (axis[i].extent > 0)
      status = tesela_layout_split(layout, dim[axis[i].letter], axis[i].extent, &digit[i], err);
  }
  if (status == TESELA_OK) status = tesela_layout_add_axis(layout, "memory", &memory, err);
  if (status == TESELA_OK) status = tesela_layout_place_row_major(layout, n, digit, memory, 1, NULL, err);
  return status == TESELA_OK ? tesela_layout_finish(layout, err) : status;
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

typedef struct tvm_writing {
  const int64_t *whole; /* extents of the array */
  int32_t n;
  tvm_axis axis[2 * TESELA__MAX_PARTS]; /* letter: the dim; from the fastest on */
} tvm_writing;

/* Append a part and what fills the gap before it: a block may be larger than its dim, a capital is what blocks leave. */
static bool tvm_add(const tvm_writing *w, const tesela__dim_part *next, int32_t rank, int64_t size,
                    tesela__dim_part *part, int32_t *n, bool *fixed, bool *used) {
  tesela__dim_part *below = *n > 0 ? &part[*n - 1] : NULL,
                   plain = below ? *below : (tesela__dim_part){.top = false};
  int64_t gap;
  plain.top = plain.top && plain.step == 1;
  if (!tesela__close_gap(below ? &plain : NULL, size, next->stride, &gap)) return false;
  if (below && plain.extent != below->extent) {
    below->extent = plain.extent;
    fixed[*n - 1] = true;
  }
  int32_t spare = rank - 1;
  while (gap > 1 && spare >= 0 && used[spare]) spare--;
  if (gap > 1 && spare < 0) return false;
  if (gap > 1) {
    used[spare] = fixed[*n] = true;
    part[(*n)++] = (tesela__dim_part){spare, 0, 1, gap, size, true};
  }
  fixed[*n] = !next->top;
  part[*n] = *next;
  if (next->step > 1) part[*n].extent = tesela__ceil_div(w->whole[next->dim], next->step);
  (*n)++;
  return true;
}

/* Each dim a capital and at most one block; the capitals in the order of the dims. */
static bool tvm_fit(void *user, const tesela__parts *parts, int32_t rank, const int64_t *shape) {
  tvm_writing *w = user;
  tesela__dim_part part[2 * TESELA__MAX_PARTS];
  bool fixed[2 * TESELA__MAX_PARTS] = {false}, used[TESELA_MAX_RANK] = {false}; /* fixed: a block */
  int32_t n = 0, first = rank, blocks = 0, capitals[TESELA_MAX_RANK];
  int64_t size = 1;
  (void)shape;
  w->n = 0;
  for (int32_t i = 0; i < parts->n; i++) {
    const tesela__dim_part *next = &parts->part[i];
    if (next->dim < 0 || (!next->top && next->step != 1)) return false;
    used[next->dim] = true;
  }
  for (int32_t i = 0; i < parts->n; i++) {
    if (!tvm_add(w, &parts->part[i], rank, size, part, &n, fixed, used)) return false;
    if (!tesela__mul(part[n - 1].stride, part[n - 1].extent, &size)) return false;
  }
  for (int32_t d = 0; d < rank; d++) capitals[d] = -1; /* the parts that are capitals for sure */
  for (int32_t i = 0; i < n; i++)
    if (part[i].step > 1) capitals[part[i].dim] = i;
  for (int32_t d = 0, last = INT32_MAX; d < rank; d++) { /* they go down, from the first dim on */
    if (capitals[d] >= last) return false;
    if (capitals[d] >= 0) last = capitals[d];
  }
  for (int32_t i = n - 1; i >= 0; i--) { /* so do the slowest others, as long as they are in order */
    if (capitals[part[i].dim] == i) continue;
    bool good = part[i].top && !fixed[i];
    for (int32_t d = 0; d < rank && good; d++)
      good = capitals[d] < 0 || (d < part[i].dim ? capitals[d] > i : capitals[d] < i);
    if (!good) break;
    capitals[part[i].dim] = i;
  }
  for (int32_t i = 0; i < n; i++) {
    int32_t d = part[i].dim;
    bool capital = capitals[d] == i;
    while (capital && first > d + 1) /* dims of one block, before the next capital */
      if (capitals[--first] < 0) w->axis[w->n++] = (tvm_axis){.letter = first};
    if (capital) first = d;
    blocks += !capital;
    w->axis[w->n++] = (tvm_axis){.letter = d, .extent = capital ? 0 : part[i].extent};
  }
  while (first > 0)
    if (capitals[--first] < 0) w->axis[w->n++] = (tvm_axis){.letter = first};
  return w->n < TESELA__MAX_BLOCKS;
}

tesela_status tesela__tvm_write(const tesela_layout *layout, const tesela_writer *to,
                                tesela_translation *answer, tesela_error *err) {
  static const char *const usual[] = {"", "N", "NC", "NCW", "NCHW", "NCDHW"};
  const char *letters = layout->rank <= 5 ? usual[layout->rank] : "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  tvm_writing w = {.whole = layout->shape};
  tesela__sink sink;
  if (layout->rank < 1 || layout->rank > TVM_DIMS)
    return tesela__impossible(answer, "a string has 1 to %d dims; the layout has %" PRId32, TVM_DIMS,
                              layout->rank);
  if (layout->n_axes != 1)
    return tesela__impossible(answer, "a string places elements on one axis; the layout has %" PRId32,
                              layout->n_axes);
  tesela_status status = tesela__find_parts(layout, "string with one block of each dim", 0, tvm_fit, &w,
                                            layout->shape, answer, err);
  if (status == TESELA_OK && answer->verdict == TESELA_IMPOSSIBLE)
    return tesela__blocks_refuse(layout, "string",
                                 "no string with one block of each dim, as TVM has them, gives these places",
                                 answer, err);
  if (status != TESELA_OK) return status;
  tesela__sink_init(&sink, to);
  for (int32_t i = w.n - 1; i >= 0; i--) {
    char letter = letters[w.axis[i].letter];
    if (w.axis[i].extent > 0) tesela__put_int(&sink, w.axis[i].extent);
    tesela__putc(&sink, (char)(w.axis[i].extent > 0 ? letter - 'A' + 'a' : letter));
  }
  return tesela__sink_finish(&sink, err);
}
