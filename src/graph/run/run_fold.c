/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_fold.c - reduce, matmul, conv2d, pool: products of two operands, or one operand, folded.
 *
 * A block is a row of results and, if that saves reads of an operand, a column of them: x moves along the column only, y along
 * the row only, so each is read once for a block. The folded dims are visited in order, a stretch of the innermost at a time:
 * its part of every operand is read into doubles (or 64-bit integers), then each element of the block folds the stretch, one
 * product after the other. So each element folds its products in row-major order, for any blocks.
 *
 *   matmul   x: k by column      y: k by row      block: column by row      64 by 64 and stretches of 64: 8 KiB to 32 KiB each
 *
 * Missing elements (a window over the border) are not folded.
 */
#include "graph/run/run_operator.h"

enum { FOLD_SIDE = 64, FOLD_STRETCH = 64, FOLD_LANES = 8 };

/* One operand's part of a block and a stretch: FOLD_SIDE elements, or one, for each counter of the stretch. */
typedef struct fold_part {
  int32_t along;             /* the loop of the block that moves it, or -1 */
  bool stretches;            /* does it move along the stretch? */
  int64_t row, column, next; /* steps in `value` */
  bool holes;                /* some elements are missing */
  tesela__run_value *value;
  uint8_t *there;
} fold_part;

typedef struct tesela__run_folding {
  int32_t stretch; /* the innermost folded loop, or -1 */
  int32_t n;       /* operands */
  fold_part part[2];
  tesela__run_value *sum, *term; /* of a block; of a row or a stretch */
} tesela__run_folding;

/* ---- the shape of blocks ---- */

static int64_t fold_side(const tesela__run_state *s, int32_t loop) {
  return loop < 0 ? 1 : tesela__min(s->share.extent[loop], FOLD_SIDE);
}

/* Reads per product with a block of these loops; a huge number if such blocks are impossible. */
static double fold_reads(const tesela__run_state *s, int32_t row, int32_t column) {
  double reads = 0;
  if (column >= 0 && s->loops.loop[row].dim == s->loops.loop[column].dim) return (double)INT64_MAX;
  for (int32_t k = 0; k < s->node->n_operands; k++) {
    bool r = row >= 0 && tesela__run_moves(&s->operand[k], s->loops.loop[row].dim);
    bool c = column >= 0 && tesela__run_moves(&s->operand[k], s->loops.loop[column].dim);
    if (r && c) return (double)INT64_MAX;
    reads += 1 / ((r ? 1 : (double)fold_side(s, row)) * (c ? 1 : (double)fold_side(s, column)));
  }
  return reads;
}

/* Choose the row and the column with the fewest reads; of equal choices, with a column the longer row, then the inner one. */
static void fold_choose(tesela__run_state *s) {
  double least = fold_reads(s, s->row, -1);
  for (int32_t row = s->n_outer - 1; row >= 0; row--)
    for (int32_t column = s->n_outer - 1; column >= -1; column--) {
      double reads = fold_reads(s, row, column);
      bool longer = column >= 0 && fold_side(s, row) > fold_side(s, s->row);
      if (reads > least || (reads == least && !longer)) continue;
      least = reads;
      s->row = row;
      s->column = column;
    }
}

tesela_status tesela__run_fold_begin(tesela__run_state *s, tesela_error *err) {
  tesela__run *run = s->run;
  tesela__run_folding *f = s->folding = tesela__run_take(run, &run->scratch, 1, sizeof *f);
  if (!f) return tesela__run_no_memory(err);
  if (s->row >= 0) s->most[s->row] = 1;
  fold_choose(s);
  if (s->row >= 0) s->most[s->row] = FOLD_SIDE;
  if (s->column >= 0) s->most[s->column] = FOLD_SIDE;
  *f = (tesela__run_folding){.stretch = s->loops.n > s->n_outer ? s->loops.n - 1 : -1,
                             .n = s->node->n_operands};
  if (f->stretch >= 0) s->most[f->stretch] = FOLD_STRETCH;
  const size_t block = (size_t)FOLD_SIDE * FOLD_SIDE;
  f->sum = tesela__run_take(run, &run->scratch, 1, block * sizeof *f->sum);
  f->term = tesela__run_take(run, &run->scratch, 1, FOLD_SIDE * sizeof *f->term);
  if (!f->sum || !f->term) return tesela__run_no_memory(err);
  for (int32_t k = 0; k < f->n; k++) {
    fold_part *part = &f->part[k];
    part->value = tesela__run_take(run, &run->scratch, 1, block * sizeof *part->value);
    part->there = tesela__run_take(run, &run->scratch, 1, block);
    if (!part->value || !part->there) return tesela__run_no_memory(err);
    memset(part->value, 0, block * sizeof *part->value); /* lanes after a row are computed, too */
    bool row = s->row >= 0 && tesela__run_moves(&s->operand[k], s->loops.loop[s->row].dim);
    bool column = s->column >= 0 && tesela__run_moves(&s->operand[k], s->loops.loop[s->column].dim);
    part->along = row ? s->row : column ? s->column : -1;
    part->row = row;
    part->column = column;
    part->stretches = f->stretch >= 0 && tesela__run_moves(&s->operand[k], s->loops.loop[f->stretch].dim);
    part->next = part->stretches ? FOLD_SIDE : 0;
  }
  return TESELA_OK;
}

/* ---- reading ---- */

/* Read a row of one operand along a loop to `at` of its part, `step` apart. */
static void fold_read_row(tesela__run_state *s, int32_t k, int32_t loop, int64_t n, int64_t at,
                          int64_t step) {
  fold_part *part = &s->folding->part[k];
  int64_t list[FOLD_SIDE];
  tesela__run_places places;
  tesela__run_value row[FOLD_SIDE], *to = step == 1 ? part->value + at : row;
  bool all =
      tesela__run_find(&s->operand[k], s->iteration, tesela__run_line_of(s, loop), 0, n, list, &places) == n;
  tesela__run_read_row(s->run, &s->operand[k], n, places, s->in, to);
  for (int64_t j = 0; j < n && step != 1; j++) part->value[at + j * step] = row[j];
  if (!all && !part->holes) memset(part->there, 1, (size_t)FOLD_SIDE * FOLD_STRETCH);
  part->holes = part->holes || !all;
  if (part->holes)
    for (int64_t j = 0; j < n; j++) part->there[at + j * step] = tesela__run_place(&places, j) >= 0;
}

/* The part of one operand, in rows along the longer side. */
static void fold_read(tesela__run_state *s, int32_t k) {
  fold_part *part = &s->folding->part[k];
  int32_t inner = part->stretches ? s->folding->stretch : -1, outer = part->along;
  int64_t inner_step = FOLD_SIDE, outer_step = 1;
  if (tesela__run_count(s, outer) >= tesela__run_count(s, inner)) {
    int32_t swap = inner;
    inner = outer;
    outer = swap;
    inner_step = 1;
    outer_step = FOLD_SIDE;
  }
  tesela__run_line line = tesela__run_line_of(s, outer);
  int64_t n = tesela__run_count(s, outer);
  part->holes = false;
  for (int64_t i = 0; i < n; i++) {
    fold_read_row(s, k, inner, tesela__run_count(s, inner), i * outer_step, inner_step);
    if (outer >= 0) s->iteration[line.dim] += line.step;
  }
  if (outer >= 0) s->iteration[line.dim] -= n * line.step;
}

/* ---- folding ---- */

/* Sums of products, FOLD_LANES elements of a row at once: sum[j] += x[k][j] * y[k][j] for one k after the other. */
#define FOLD_PRODUCTS(name, type, member, stored)                                                        \
  static inline void name(tesela__run_value *sum, int64_t n, const tesela__run_value *x, int64_t x_next, \
                          int64_t x_row, const tesela__run_value *y, int64_t y_next, int64_t y_row) {    \
    type lane[FOLD_LANES];                                                                               \
    for (int j = 0; j < FOLD_LANES; j++) lane[j] = (type)sum[j].member;                                  \
    for (int64_t k = 0; k < n; k++, x += x_next, y += y_next)                                            \
      for (int j = 0; j < FOLD_LANES; j++) {                                                             \
        type product = (type)x[j * x_row].member * (type)y[j * y_row].member;                            \
        lane[j] += product;                                                                              \
      }                                                                                                  \
    for (int j = 0; j < FOLD_LANES; j++) sum[j].member = (stored)lane[j];                                \
  }
FOLD_PRODUCTS(fold_floats, double, f, double)
FOLD_PRODUCTS(fold_integers, uint64_t, i, int64_t)

/* Row i of the block, sums of products, no holes. The case where only one operand moves along the row is explicit for the compiler. */
static void fold_products(const tesela__run_state *s, int64_t i, int64_t n_row, int64_t n) {
  const fold_part *x = &s->folding->part[0], *y = &s->folding->part[1];
  if (x->row > y->row) {
    const fold_part *swap = x; /* products of numbers do not depend on the order */
    x = y;
    y = swap;
  }
  for (int64_t j = 0; j < n_row; j += FOLD_LANES) {
    tesela__run_value *sum = s->folding->sum + i * FOLD_SIDE + j;
    const tesela__run_value *a = x->value + i * x->column + j * x->row,
                            *b = y->value + i * y->column + j * y->row;
    if (s->in != TESELA__RUN_FLOAT)
      fold_integers(sum, n, a, x->next, x->row, b, y->next, y->row);
    else if (x->row == 0 && y->row == 1)
      fold_floats(sum, n, a, x->next, 0, b, y->next, 1);
    else
      fold_floats(sum, n, a, x->next, x->row, b, y->next, y->row);
  }
}

/* The values to fold at one counter of the stretch, for a row; or at one element, for the stretch: operand 0, or the product.
 * */
static tesela__run_row fold_terms(const tesela__run_state *s, int64_t at[2], const int64_t step[2],
                                  int64_t n) {
  const tesela__run_folding *f = s->folding;
  tesela__run_row operand[2], out = {f->term, 1};
  for (int32_t k = 0; k < f->n; k++) operand[k] = (tesela__run_row){f->part[k].value + at[k], step[k]};
  if (f->n == 1) return operand[0];
  tesela__run_apply_row(TESELA_FN_MUL, s->in, TESELA_DTYPE_NONE, n, out, operand);
  return out;
}

/* Fold counter k of the stretch into row i of the block. */
static void fold_row(const tesela__run_state *s, int64_t i, int64_t k, int64_t n) {
  const tesela__run_folding *f = s->folding;
  int64_t at[2], step[2];
  for (int32_t o = 0; o < f->n; o++) {
    at[o] = i * f->part[o].column + k * f->part[o].next;
    step[o] = f->part[o].row;
  }
  tesela__run_value next[FOLD_SIDE], *sum = f->sum + i * FOLD_SIDE;
  bool holes = f->part[0].holes || (f->n > 1 && f->part[1].holes);
  const tesela__run_row operand[2] = {{sum, 1}, fold_terms(s, at, step, n)};
  tesela__run_apply_row(s->fold, s->in, TESELA_DTYPE_NONE, n, (tesela__run_row){holes ? next : sum, 1},
                        operand);
  for (int64_t j = 0; j < n && holes; j++) {
    bool there = true;
    for (int32_t o = 0; o < f->n; o++)
      there = there && (!f->part[o].holes || f->part[o].there[at[o] + j * step[o]]);
    if (there) sum[j] = next[j];
  }
}

/* Fold the whole stretch into element j of row i. */
static void fold_element(const tesela__run_state *s, int64_t i, int64_t j, int64_t n) {
  const tesela__run_folding *f = s->folding;
  int64_t at[2], step[2];
  for (int32_t o = 0; o < f->n; o++) {
    at[o] = i * f->part[o].column + j * f->part[o].row;
    step[o] = f->part[o].next;
  }
  tesela__run_row sum = {f->sum + i * FOLD_SIDE + j, 0}, term = fold_terms(s, at, step, n);
  const tesela__run_row operand[2] = {sum, term};
  if (s->fold == TESELA_FN_ADD && s->in == TESELA__RUN_FLOAT) { /* the same, in a register */
    double all = sum.value->f;
    for (int64_t k = 0; k < n; k++) all += term.value[k * term.step].f;
    sum.value->f = all;
    return;
  }
  tesela__run_apply_row(s->fold, s->in, TESELA_DTYPE_NONE, n, sum, operand);
}

static void fold_stretch(const tesela__run_state *s, int64_t n_column, int64_t n_row, int64_t n) {
  const tesela__run_folding *f = s->folding;
  bool holes = f->part[0].holes || (f->n > 1 && f->part[1].holes);
  bool products = f->n > 1 && !holes && s->fold == TESELA_FN_ADD;
  for (int64_t i = 0; i < n_column; i++) {
    if (products && n_row >= FOLD_LANES / 2)
      fold_products(s, i, n_row, n);
    else if (holes || n_row >= FOLD_LANES)
      for (int64_t k = 0; k < n; k++) fold_row(s, i, k, n_row);
    else
      for (int64_t j = 0; j < n_row; j++) fold_element(s, i, j, n);
  }
}

/* ---- a block ---- */

/* Write rows of sums to their places. */
static tesela_status fold_write(tesela__run_state *s, int64_t n_column, int64_t n_row, int64_t count,
                                tesela_error *err) {
  tesela__run_folding *f = s->folding;
  tesela__run_line down = tesela__run_line_of(s, s->column);
  tesela_status status = TESELA_OK;
  for (int64_t i = 0; i < n_column && status == TESELA_OK; i++) {
    tesela__run_row sum = {f->sum + i * FOLD_SIDE, 1};
    if (s->node->op == TESELA_OP_REDUCE && s->node->fn == TESELA_FN_MEAN) {
      tesela__run_value of = tesela__run_convert(s->in, TESELA__RUN_SIGNED, (tesela__run_value){.i = count});
      tesela__run_apply_row(TESELA_FN_DIV, s->in, TESELA_DTYPE_NONE, n_row, sum,
                            (const tesela__run_row[]){sum, {&of, 0}});
    }
    tesela__run_find(s->result, s->iteration, tesela__run_line_of(s, s->row), 0, n_row, s->to_list, &s->to);
    status = tesela__run_write_row(s->run, s->result, n_row, s->to, s->in, sum.value, err);
    if (s->column >= 0) s->iteration[down.dim] += down.step;
  }
  if (s->column >= 0) s->iteration[down.dim] -= n_column * down.step;
  return status;
}

tesela_status tesela__run_fold_block(tesela__run_state *s, tesela_error *err) {
  tesela__run_folding *f = s->folding;
  int64_t n_row = tesela__run_count(s, s->row), n_column = tesela__run_count(s, s->column), count = 0;
  for (int64_t i = 0; i < n_column * FOLD_SIDE; i++) f->sum[i] = s->first;
  bool more = tesela__run_begin(s, s->n_outer, s->loops.n);
  for (; more; more = tesela__run_next(s, s->n_outer, s->loops.n)) {
    if (!tesela__run_inside(s, s->n_outer, s->loops.n)) continue;
    int64_t n = tesela__run_count(s, f->stretch);
    for (int32_t k = 0; k < f->n; k++) fold_read(s, k);
    fold_stretch(s, n_column, n_row, n);
    count += n;
    tesela_status status = tesela__run_worked(s->run, n_column * n_row * n, err);
    if (status != TESELA_OK) return status;
  }
  return fold_write(s, n_column, n_row, count, err);
}
