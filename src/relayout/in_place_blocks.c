/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_place_blocks.c - make the plans of passes, and run them: strips through the scratch, remainders, pairs of blocks that change places, each
 * block becoming its transpose, and cycles of blocks.
 */
#include "relayout/in_place.h"

/* ---- strips ----------------------------------------------------------------------------------------------- */

/* The extents of strips that are the last ones of the levels in `last`, a bit each. */
static void extents_of(const tesela__pass *pass, int32_t last, int64_t *extent) {
  memcpy(extent, pass->sums.extent, sizeof pass->sums.extent);
  for (int32_t i = 0; i < pass->n_levels; i++)
    if (last >> i & 1) extent[pass->level[i].coordinate] = pass->level[i].last;
}

/* Plan `last` of a pass is for the strips of these extents; NULL if they are as others. */
tesela_status tesela__strips_prepare(const tesela_plan *plan, const tesela__pass *pass,
                                     tesela__pass_plans *plans, tesela_error *err) {
  int64_t extent[TESELA_MAX_RANK];
  tesela_status status = TESELA_OK;
  for (int32_t last = 0; last < 1 << pass->n_levels && status == TESELA_OK; last++) {
    bool wanted = true;
    for (int32_t i = 0; i < pass->n_levels; i++)
      wanted = wanted && (!(last >> i & 1) || pass->level[i].last < pass->level[i].step);
    extents_of(pass, last, extent);
    if (wanted)
      status = tesela__part_plan(plan, &pass->sums, extent, pass->dst % 8, pass->src % 8, pass->converts,
                                 &plans->plan[last], err);
  }
  return status;
}

typedef struct strips_run {
  tesela__in_place *run;
  const tesela__pass *pass;
  const tesela__pass_plans *plans;
  int64_t n;
} strips_run;

/* Strip number k of all. False: stopped. */
static bool run_strip(const strips_run *s, int64_t k, unsigned char *scratch) {
  const tesela__pass *pass = s->pass;
  int64_t dst = pass->dst, src = pass->src;
  int32_t last = 0;
  for (int32_t i = pass->n_levels - 1; i >= 0; i--) {
    const tesela__strip_level *level = &pass->level[i];
    const int64_t at = k % level->n;
    k /= level->n;
    dst += at * level->ds;
    src += at * level->ss;
    if (at == level->n - 1 && level->last < level->step) last |= 1 << i;
  }
  /* a strip that has less may end where the buffer does */
  const int64_t bytes = tesela__min(pass->strip_bytes, s->run->plan->info.src_bytes - src / 8);
  tesela__part_copy(s->run->plan, scratch, s->run->buffer + src / 8, bytes);
  tesela__part_run(s->plans->plan[last], s->run->buffer + dst / 8, scratch);
  return tesela__pass_go_on(s->run, bytes);
}

static void run_strips(void *data, int32_t chunk) {
  const strips_run *s = data;
  const tesela__pass *pass = s->pass;
  const int64_t n = s->n, threads = pass->threads;
  const int64_t first = n / threads * chunk + tesela__min(n % threads, chunk),
                end = first + n / threads + (chunk < n % threads);
  unsigned char *scratch = s->run->scratch + chunk * pass->scratch_bytes;
  for (int64_t k = first; k < end; k++)
    if (!run_strip(s, pass->backwards ? n - 1 - k : k, scratch)) return;
}

void tesela__strips_run(tesela__in_place *run, const tesela__pass *pass, const tesela__pass_plans *plans) {
  strips_run s = {run, pass, plans, 1};
  for (int32_t i = 0; i < pass->n_levels; i++) s.n *= pass->level[i].n;
  tesela__run_chunks(run->options ? run->options->executor : NULL, pass->threads, run_strips, &s);
}

void tesela__remainder_run(tesela__in_place *run, const tesela__pass *pass, const tesela__pass_plans *plans) {
  unsigned char *kept = run->kept + pass->kept;
  if (pass->kind == TESELA__PASS_SAVE)
    tesela__part_run(plans->plan[0], kept, run->buffer + pass->src / 8);
  else
    tesela__part_run(plans->plan[0], run->buffer + pass->dst / 8, kept);
}

/* ---- swaps ------------------------------------------------------------------------------------------------ */

/* Blocks of a x b units: from the buffer to the scratch, from the buffer to the place of a block of b x a, from the scratch to the
 * buffer. The first two transpose. */
enum { KEEP, CROSS, PUT, STEPS };

typedef struct shape {
  int64_t a, b; /* units along x, along y */
} shape;

/* The sizes of two blocks that change places: both full, one in the last column and one in the last row, the last one. */
static void shapes_of(const tesela__pass *pass, shape shapes[3]) {
  const int64_t full = pass->side, rest = pass->n % pass->side;
  shapes[0] = (shape){full, full};
  shapes[1] = (shape){full, rest};
  shapes[2] = (shape){rest, rest};
}

static tesela_status prepare_shape(const tesela_plan *plan, const tesela__pass *pass, shape size,
                                   int32_t bits, tesela_plan **made, tesela_error *err) {
  const int64_t x = pass->x, y = pass->y, u = pass->unit, n = u / bits;
  tesela_status status = TESELA_OK;
  for (int32_t step = KEEP; step < STEPS && status == TESELA_OK; step++) {
    tesela__sums sums;
    sums.n = sums.n_digits = 0;
    if (step == KEEP) { /* i of a, j of b: (i,j) becomes (j,i), in rows of a */
      tesela__sums_add_loop(&sums, size.a, u, x);
      tesela__sums_add_loop(&sums, size.b, size.a * u, y);
    } else if (step == CROSS) { /* the other block has b x a */
      tesela__sums_add_loop(&sums, size.b, y, x);
      tesela__sums_add_loop(&sums, size.a, x, y);
    } else {
      tesela__sums_add_loop(&sums, size.b, x, size.a * u);
      tesela__sums_add_loop(&sums, size.a, y, u);
    }
    tesela__sums_add_loop(&sums, n, bits, bits);
    status =
        tesela__part_plan(plan, &sums, sums.extent, 0, 0, pass->converts && step != PUT, &made[step], err);
  }
  return status;
}

tesela_status tesela__swaps_prepare(const tesela_plan *plan, const tesela__pass *pass,
                                    tesela__pass_plans *plans, tesela_error *err) {
  shape shapes[3];
  tesela_status status = TESELA_OK;
  shapes_of(pass, shapes);
  for (int32_t i = 0; i < 3 && status == TESELA_OK; i++)
    if (shapes[i].b > 0)
      status = prepare_shape(plan, pass, shapes[i], plan->dst.bits, &plans->plan[i * STEPS], err);
  return status;
}

typedef struct swaps_run {
  tesela__in_place *run;
  const tesela__pass *pass;
  const tesela__pass_plans *plans;
  int64_t n_side, n_pairs, n_all; /* blocks along a side, pairs of a matrix, of all matrices */
} swaps_run;

/* Rows of a block that is moved soon. */
static void prefetch_block(const tesela__pass *pass, const unsigned char *block, int64_t rows,
                           int64_t bytes) {
  for (int64_t i = 0; i < rows; i++)
    for (int64_t at = 0; at < bytes; at += TESELA__LINE)
      __builtin_prefetch(block + i * (pass->x / 8) + at, 1, 2);
}

/* The pair of block (i,j) and block (j,i) of a matrix, i <= j. */
static void swap_pair(const swaps_run *s, unsigned char *matrix, int64_t i, int64_t j, unsigned char *scratch,
                      bool ahead) {
  const tesela__pass *pass = s->pass;
  const int64_t row = pass->side * pass->x / 8, column = pass->side * pass->y / 8,
                last = pass->n / pass->side;
  tesela_plan *const *plan = &s->plans->plan[(j < last ? 0 : i < last ? 1 : 2) * STEPS];
  unsigned char *a = matrix + i * row + j * column, *b = matrix + j * row + i * column;
  if (ahead && j + 1 < last) {
    prefetch_block(pass, a + column, pass->side, column);
    prefetch_block(pass, b + row, pass->side, column);
  }
  tesela__part_run(plan[KEEP], scratch, a);
  if (i != j) tesela__part_run(plan[CROSS], a, b);
  tesela__part_run(plan[PUT], b, scratch);
}

static unsigned char *swapped_matrix(const swaps_run *s, int64_t number) {
  int64_t bit = s->pass->dst;
  for (int32_t l = s->pass->n_loops - 1; l >= 0; l--) {
    bit += number % s->pass->loop[l].n * s->pass->loop[l].ss;
    number /= s->pass->loop[l].n;
  }
  return s->run->buffer + bit / 8;
}

static void run_swaps(void *data, int32_t chunk) {
  const swaps_run *s = data;
  const tesela__pass *pass = s->pass;
  const int64_t n = s->n_all, threads = pass->threads, block = pass->side * pass->side * pass->unit / 8 + 1;
  const int64_t first = n / threads * chunk + tesela__min(n % threads, chunk),
                end = first + n / threads + (chunk < n % threads);
  unsigned char *scratch = s->run->scratch + chunk * pass->scratch_bytes;
  const bool ahead = pass->y == pass->unit && pass->side > 1;
  if (first >= end) return;
  int64_t number = first / s->n_pairs, i = 0, j = first % s->n_pairs;
  while (j >= s->n_side - i) j -= s->n_side - i++; /* row i of the upper triangle has n_side - i blocks */
  j += i;
  unsigned char *matrix = swapped_matrix(s, number);
  for (int64_t k = first; k < end; k++) {
    swap_pair(s, matrix, i, j, scratch, ahead);
    if (!tesela__pass_go_on(s->run, i == j ? block : 2 * block)) return;
    if (++j < s->n_side) continue;
    j = ++i;
    if (i < s->n_side || k == end - 1) continue;
    i = j = 0;
    matrix = swapped_matrix(s, ++number);
  }
}

void tesela__swaps_run(tesela__in_place *run, const tesela__pass *pass, const tesela__pass_plans *plans) {
  swaps_run s = {run, pass, plans, tesela__ceil_div(pass->n, pass->side), 0, 1};
  s.n_pairs = s.n_side * (s.n_side + 1) / 2;
  s.n_all = s.n_pairs;
  for (int32_t l = 0; l < pass->n_loops; l++) s.n_all *= pass->loop[l].n;
  tesela__run_chunks(run->options ? run->options->executor : NULL, pass->threads, run_swaps, &s);
}

/* ---- cycles of blocks ------------------------------------------------------------------------------------- */

typedef struct block_cycles {
  tesela__in_place *run;
  const tesela__pass *pass;
  tesela__stream_fn *stream;   /* or NULL: the blocks stay in the caches */
  tesela__convert_fn *convert; /* or NULL */
  int64_t n, n_pieces, element_bytes;
} block_cycles;

/* Where block k comes from. */
static int64_t block_before(const block_cycles *b, int64_t k) {
  int64_t from = 0;
  for (int32_t i = b->pass->n_digits - 1; i >= 0; i--) {
    from += k % b->pass->digit[i].n * b->pass->digit[i].weight;
    k /= b->pass->digit[i].n;
  }
  return from;
}

static void move_piece(const block_cycles *b, unsigned char *to, const unsigned char *from, int64_t bytes) {
  if (b->convert)
    b->convert(to, from, bytes / b->element_bytes);
  else if (b->stream && (uintptr_t)to % TESELA__LINE == 0 && bytes % TESELA__LINE == 0)
    b->stream(to, from, bytes / TESELA__LINE);
  else
    tesela__part_copy(b->run->plan, to, from, bytes);
}

/* Move a piece of each block of a group along its cycles; false: stopped. */
static bool run_group(const block_cycles *b, unsigned char *base, int64_t bytes, unsigned char *marks,
                      unsigned char *kept) {
  const int64_t pitch = b->pass->block_bytes;
  memset(marks, 0, (size_t)tesela__ceil_div(b->n, 8));
  for (int64_t leader = 0; leader < b->n; leader++) {
    if (marks[leader / 8] >> leader % 8 & 1) continue;
    int64_t hole = leader, from = block_before(b, hole), moved = bytes;
    if (from == leader && !b->convert) continue;
    memcpy(kept, base + leader * pitch, (size_t)bytes);
    for (; from != leader; hole = from, from = block_before(b, hole), moved += bytes) {
      move_piece(b, base + hole * pitch, base + from * pitch, bytes);
      marks[from / 8] = (unsigned char)(marks[from / 8] | 1 << from % 8);
    }
    move_piece(b, base + hole * pitch, kept, bytes);
    if (!tesela__pass_go_on(b->run, moved)) return false;
  }
  return true;
}

static void run_blocks(void *data, int32_t chunk) {
  const block_cycles *b = data;
  const tesela__pass *pass = b->pass;
  const int64_t n = pass->batch * b->n_pieces, threads = pass->threads;
  const int64_t first = n / threads * chunk + tesela__min(n % threads, chunk),
                end = first + n / threads + (chunk < n % threads);
  unsigned char *marks = b->run->scratch + chunk * pass->scratch_bytes,
                *kept = marks + (b->n + 511) / 512 * 64;
  for (int64_t k = first; k < end; k++) {
    const int64_t at = k % b->n_pieces * pass->piece_bytes;
    unsigned char *base = b->run->buffer + pass->dst / 8 + k / b->n_pieces * b->n * pass->block_bytes + at;
    if (!run_group(b, base, tesela__min(pass->piece_bytes, pass->block_bytes - at), marks, kept)) break;
  }
  if (b->stream) tesela__fence();
}

void tesela__blocks_run(tesela__in_place *run, const tesela__pass *pass) {
  const tesela_plan *plan = run->plan;
  block_cycles b = {.run = run, .pass = pass, .n = 1, .element_bytes = tesela__max(1, plan->dst.bits / 8)};
  for (int32_t i = 0; i < pass->n_digits; i++) b.n *= pass->digit[i].n;
  b.n_pieces = tesela__ceil_div(pass->block_bytes, pass->piece_bytes);
  if (plan->stream)
    b.stream = (tesela__stream_fn *)tesela__kernel_find(TESELA__K_STREAM, 0, 0, plan->isa)->fn;
  if (pass->converts && plan->conversion)
    b.convert =
        (tesela__convert_fn *)tesela__kernel_find(TESELA__K_CONVERT, (int32_t)plan->conversion, 0, plan->isa)
            ->fn;
  tesela__run_chunks(run->options ? run->options->executor : NULL, pass->threads, run_blocks, &b);
}
