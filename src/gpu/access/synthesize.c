/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synthesize.c - the layout in shared memory with the fewest wavefronts for given uses of a tile.
 *
 * In:  register layouts that write or read the tile, with weights; the machine's banks.
 * Out: the best of a family of hundreds of layouts; access.h defines the family and how ties are decided. The order of
 * candidates decides the last ties, so only a better one replaces the best so far.
 *
 * Each candidate is counted exactly, but most phases are known to be alike (access_phase.c), and a candidate is dropped
 * as soon as it is worse than the best, or could not beat it without conflicts. bench_access, x86-64: 128x128 of f16
 * has about 1100 candidates, two uses take 0.3 to 2 ms; tiles other than powers of two, up to 200 KiB, 10 to 70 ms.
 */
#include "gpu/access/access.h"

/* A member of the family. */
typedef struct synth_candidate {
  bool swapped;                /* the last dim but one is the fastest */
  int64_t block;               /* elements of a row that stay together; 0: all */
  int64_t padding;             /* elements after each row */
  tesela_tile_swizzle swizzle; /* bits 0: no swizzle */
} synth_candidate;

typedef struct synth_score {
  int64_t wavefronts, instructions, bytes;
} synth_score;

typedef struct synth_search {
  int32_t n_uses, bits, rank;
  const tesela_access_use *uses;
  const int64_t *shape;
  tesela_access_machine full;
  int64_t elements, max_bytes, candidates;
  int64_t max_steps, steps; /* steps: remaining; below 0: max_steps was exceeded */
  tesela_progress *progress;
  void *progress_user;
  bool stopped;
  int64_t plain; /* wavefronts of row-major, or -1 if it does not allow the vectors */
  bool found;
  synth_candidate best;
  synth_score score;
} synth_search;

static int64_t synth_weight(const tesela_access_use *use) { return use->weight == 0 ? 1 : use->weight; }

/* ---- a candidate in memory --------------------------------------------------------------------------------------- */

/* Every dim is one mode, a row in blocks two; sizes are those of the tile and its padding, so they do not overflow. */
static void synth_memory(const synth_search *s, const synth_candidate *c, tesela_tile_memory *memory) {
  int32_t fast = s->rank - 1 - c->swapped, slow = s->rank - 2 + c->swapped;
  int64_t strides[TESELA_MAX_RANK], stride = 1;
  *memory =
      (tesela_tile_memory){.space = TESELA_TILE_SHARED, .rank = s->rank, .size = 1, .swizzle = c->swizzle};
  for (int32_t i = s->rank - 1; i >= 0; i--) {
    int32_t d = i == s->rank - 1 ? fast : i == s->rank - 2 ? slow : i;
    memory->shape[d] = s->shape[d];
    strides[d] = stride;
    memory->size += (s->shape[d] - 1) * stride;
    stride *= s->shape[d];
    if (i == s->rank - 1) stride += c->padding;
  }
  if (c->block > 0) strides[slow] = c->block;
  for (int32_t d = 0; d < s->rank; d++) {
    bool cut = c->block > 0 && d == fast;
    if (cut) {
      memory->mode_shape[memory->n_modes] = s->shape[d] / c->block;
      memory->mode_strides[memory->n_modes++] = c->block * s->shape[slow];
    }
    memory->mode_shape[memory->n_modes] = cut ? c->block : s->shape[d];
    memory->mode_strides[memory->n_modes++] = strides[d];
  }
}

static int64_t synth_bytes(const synth_search *s, int64_t size) {
  return tesela__ceil_div(size * s->bits, 8);
}

/* ---- the cost of one use ---------------------------------------------------------------------------------------- */

/* A use of a candidate: its vectors and phases. */
typedef struct synth_way {
  tesela__access access;
  tesela__access_phase phase;
  int64_t vector, instructions;
  int32_t warp;
} synth_way;

/* By ldmatrix: false if it does not apply. */
static bool synth_by_rows(const synth_search *s, const tesela_access_use *use,
                          const tesela_tile_memory *memory, synth_way *way) {
  tesela_register quotient, rows;
  bool transposed;
  char why[1];
  if (!use->ldmatrix || s->full.warp != TESELA__LDMATRIX_LANES ||
      !tesela__ldmatrix_rows(use->registers, s->bits, &transposed, &quotient, &rows, why, sizeof why))
    return false;
  way->vector = 8 * TESELA__LDMATRIX_ROW_BYTES / s->bits;
  if (tesela__access_make(&way->access, &rows, memory, s->bits, &s->full, NULL) != TESELA_OK ||
      !tesela__access_fits(&way->access, way->vector))
    return false;
  way->phase = tesela__access_phase_of(&s->full, TESELA__LDMATRIX_ROW_BYTES, TESELA__LDMATRIX_ROWS);
  way->warp = TESELA__LDMATRIX_ROWS;
  way->instructions = quotient.spatial_size * (quotient.local_size / tesela__gcd(quotient.local_size, 4));
  return true;
}

/* False if the candidate does not allow the vectors of the use. */
static bool synth_way_of(const synth_search *s, const tesela_access_use *use,
                         const tesela_tile_memory *memory, synth_way *way) {
  if (synth_by_rows(s, use, memory, way)) return true;
  if (tesela__access_make(&way->access, use->registers, memory, s->bits, &s->full, NULL) != TESELA_OK ||
      tesela__access_choose(&way->access, use->vector, &way->vector, NULL) != TESELA_OK)
    return false;
  way->phase = tesela__access_phase_of(&s->full, way->vector * s->bits / 8, 0);
  way->warp = s->full.warp;
  way->instructions = tesela__ceil_div(way->access.threads, way->warp) * (way->access.locals / way->vector);
  return true;
}

static int64_t synth_free_of_conflicts(const synth_way *way) {
  return way->phase.deliveries * tesela__access_phases(&way->access, &way->phase, way->warp, way->vector);
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

static bool synth_better(const synth_score *a, const synth_score *b) {
  if (a->wavefronts != b->wavefronts) return a->wavefronts < b->wavefronts;
  if (a->instructions != b->instructions) return a->instructions < b->instructions;
  return a->bytes < b->bytes;
}

/* Could the candidate beat the best if it had no conflicts? Depends only on the vectors, so the test is cheap. */
static bool synth_hopeful(const synth_search *s, const tesela_tile_memory *memory, int64_t bytes) {
  synth_score score = {.bytes = bytes};
  synth_way way;
  for (int32_t i = 0; i < s->n_uses; i++) {
    if (!synth_way_of(s, &s->uses[i], memory, &way)) return false;
    score.wavefronts += synth_weight(&s->uses[i]) * synth_free_of_conflicts(&way);
    score.instructions += synth_weight(&s->uses[i]) * way.instructions;
  }
  return !s->found || synth_better(&score, &s->score);
}

static void synth_try(synth_search *s, const synth_candidate *c) {
  tesela_tile_memory memory;
  synth_way way;
  synth_memory(s, c, &memory);
  synth_score score = {.bytes = synth_bytes(s, memory.size)};
  bool first = !c->swapped && c->block == 0 && c->padding == 0 && c->swizzle.bits == 0;
  if (score.bytes > s->max_bytes || s->steps < 0 || s->stopped) return;
  s->stopped = s->progress && s->progress(s->progress_user, s->max_steps - s->steps, s->max_steps) != 0;
  if (s->stopped) return;
  s->candidates++;
  s->steps -= 64 * (int64_t)s->n_uses;
  if (!synth_hopeful(s, &memory, score.bytes)) return;
  for (int32_t i = 0; i < s->n_uses; i++) {
    int64_t weight = synth_weight(&s->uses[i]);
    int64_t most = s->found ? (s->score.wavefronts - score.wavefronts) / weight : INT64_MAX - 1;
    (void)synth_way_of(s, &s->uses[i], &memory, &way); /* succeeds, since hopeful */
    int64_t wavefronts = tesela__access_total(&way.access, &way.phase, way.warp, way.vector, most, &s->steps);
    if (wavefronts > most || s->steps < 0) return;
    score.wavefronts += weight * wavefronts;
    score.instructions += weight * way.instructions;
  }
  if (first) s->plain = score.wavefronts;
  if (s->found && !synth_better(&score, &s->score)) return;
  s->found = true;
  s->best = *c;
  s->score = score;
}

/* Every stage that keeps places below the tile's size and reads at least one bit that is not always 0. */
static void synth_swizzles(synth_search *s, bool swapped, int64_t block) {
  for (int32_t bits = 1; bits < 31; bits++)
    for (int32_t base = 0; base + bits < 31 && s->elements % (INT64_C(1) << (base + bits)) == 0; base++)
      for (int32_t shift = bits; INT64_C(1) << (base + shift + bits - 1) < s->elements; shift++)
        synth_try(s, &(synth_candidate){swapped, block, 0, {base, bits, shift}});
}

/* Rows in blocks; all banks together deliver a whole number of blocks. */
static void synth_blocks(synth_search *s, bool swapped) {
  int64_t all = 8 * (int64_t)s->full.banks * s->full.bank_bytes, extent = s->shape[s->rank - 1 - swapped];
  if (all % s->bits != 0) return;
  int64_t block = tesela__gcd(extent, all / s->bits);
  if (block == extent) return;
  synth_try(s, &(synth_candidate){.swapped = swapped, .block = block});
  synth_swizzles(s, swapped, block);
}

static void synth_paddings(synth_search *s, bool swapped) {
  int64_t unit = 8 / tesela__gcd(s->bits, 8), room = 8 * (int64_t)s->full.banks * s->full.bank_bytes;
  for (int64_t p = unit; p * s->bits <= room; p += unit)
    synth_try(s, &(synth_candidate){.swapped = swapped, .padding = p});
}

static void synth_family(synth_search *s) {
  bool two = s->rank >= 2;
  for (int i = 0; i <= two; i++) synth_try(s, &(synth_candidate){.swapped = i == 1});
  for (int i = 0; i <= two; i++) synth_swizzles(s, i == 1, 0);
  for (int i = 0; two && i < 2; i++) synth_blocks(s, i == 1);
  for (int i = 0; two && i < 2; i++) synth_paddings(s, i == 1);
}

/* A lower bound on the wavefronts of a use, for any layout: over every width of vectors that its registers allow. */
static int64_t synth_least(const synth_search *s, const tesela_access_use *use,
                           const tesela__access *access) {
  int64_t least = INT64_MAX;
  for (int64_t v = 1; v <= access->locals; v *= 2) {
    if (use->vector != 0) v = use->vector;
    int32_t bytes = tesela__access_vector_bytes(access, v);
    if (bytes > 0) {
      tesela__access_phase phase = tesela__access_phase_of(&s->full, bytes, 0);
      least = tesela__min(least, tesela__access_phases(access, &phase, s->full.warp, v) * phase.deliveries);
    }
    if (use->vector != 0) break;
  }
  tesela_register quotient, rows;
  bool transposed;
  char why[1];
  if (use->ldmatrix && s->full.warp == TESELA__LDMATRIX_LANES &&
      tesela__ldmatrix_rows(use->registers, s->bits, &transposed, &quotient, &rows, why, sizeof why)) {
    int64_t tile = tesela__ceil_div(TESELA__LDMATRIX_ROWS * TESELA__LDMATRIX_ROW_BYTES,
                                    (int64_t)s->full.banks * s->full.bank_bytes);
    least = tesela__min(least, quotient.spatial_size * quotient.local_size * tile);
  }
  return least;
}

/* ---- checks and result ------------------------------------------------------------------------------------------- */

/* Refuse use i if its tile differs from that of use 0. */
static tesela_status synth_same_shape(const synth_search *s, int32_t i, tesela_error *err) {
  const tesela_register *layout = s->uses[i].registers;
  if (layout->rank != s->rank)
    return tesela__fail(err, TESELA_E_MISMATCH, -1,
                        "use %" PRId32 " has rank %" PRId32 ", but use 0 has %" PRId32
                        "; all uses must be of one tile",
                        i, layout->rank, s->rank);
  for (int32_t d = 0; d < s->rank; d++)
    if (layout->shape[d] != s->shape[d])
      return tesela__fail(err, TESELA_E_MISMATCH, -1,
                          "dim %" PRId32 " is %" PRId64 " in use %" PRId32 " and %" PRId64
                          " in use 0; all uses must be of one tile",
                          d, layout->shape[d], i, s->shape[d]);
  return TESELA_OK;
}

/* Refuse uses that are impossible for every candidate; add up the lower bounds. */
static tesela_status synth_check(const synth_search *s, int64_t *least, tesela_error *err) {
  tesela_tile_memory memory;
  tesela__access access;
  int64_t bound = 0;
  *least = 0;
  for (int32_t i = 0; i < s->n_uses; i++) {
    const tesela_access_use *use = &s->uses[i];
    if (use->weight < 0 || use->vector < 0)
      return tesela__fail(err, TESELA_E_RANGE, -1,
                          "use %" PRId32 " has weight %" PRId64 " and vectors of %" PRId64
                          "; expected 0 or more for both",
                          i, use->weight, use->vector);
    synth_memory(s, &(synth_candidate){.swapped = false}, &memory);
    tesela_status status = synth_same_shape(s, i, err);
    if (status == TESELA_OK)
      status = tesela__access_make(&access, use->registers, &memory, s->bits, &s->full, err);
    if (status != TESELA_OK) return status;
    int64_t most; /* a register is 64 words at most */
    if (!tesela__mul(synth_weight(use), access.threads * access.locals * 64, &most) ||
        !tesela__add(bound, most, &bound))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the weights up to use %" PRId32 " are too large", i);
    int64_t one = synth_least(s, use, &access);
    if (one == INT64_MAX)
      return tesela__fail(err, TESELA_E_INVALID, -1,
                          "use %" PRId32 " has no vectors of 1, 2, 4, ... whole bytes from %" PRId64
                          " registers",
                          i, access.locals);
    *least += synth_weight(use) * one;
  }
  return TESELA_OK;
}

static tesela_status synth_begin(synth_search *s, const tesela_synthesis_options *options,
                                 tesela_error *err) {
  const int64_t max_bytes = options->max_bytes;
  s->rank = s->uses[0].registers->rank;
  s->shape = s->uses[0].registers->shape;
  s->elements = 1;
  for (int32_t d = 0; d < s->rank; d++)
    if (!tesela__mul(s->elements, s->shape[d], &s->elements) || s->elements > TESELA_ACCESS_LIMIT)
      return tesela__fail(err, TESELA_E_LIMIT, -1, "the tile has more than %" PRId64 " elements",
                          TESELA_ACCESS_LIMIT);
  if (s->bits < 1 || s->bits > 128)
    return tesela__fail(err, TESELA_E_RANGE, -1, "elements of %" PRId32 " bits; expected 1 to 128", s->bits);
  int64_t bytes = synth_bytes(s, s->elements);
  if (max_bytes < 0)
    return tesela__fail(err, TESELA_E_RANGE, -1, "max_bytes is %" PRId64 "; expected 0 or more", max_bytes);
  if (options->max_steps < 0)
    return tesela__fail(err, TESELA_E_RANGE, -1, "max_steps is %" PRId64 "; expected 0 or more",
                        options->max_steps);
  s->max_bytes = max_bytes == 0 ? 2 * bytes : max_bytes;
  s->steps = s->max_steps = options->max_steps == 0 ? TESELA_SYNTHESIS_STEPS : options->max_steps;
  s->progress = options->progress;
  s->progress_user = options->progress_user;
  if (bytes > s->max_bytes)
    return tesela__refuse(err, TESELA_E_LIMIT, TESELA_REASON_MAX_BYTES,
                          "the tile needs %" PRId64 " bytes; max_bytes is %" PRId64, bytes, max_bytes);
  return TESELA_OK;
}

tesela_status tesela_synthesize(int32_t n_uses, const tesela_access_use *uses, int32_t bits,
                                const tesela_synthesis_options *options, const tesela_access_machine *machine,
                                tesela_synthesis *found, tesela_error *err) {
  TESELA__NEED(err, found);
  TESELA__NEED_LIST(err, uses, n_uses);
  TESELA__NEED_CLEAR(err, options);
  TESELA__NEED_CLEAR(err, machine);
  static const tesela_synthesis_options none;
  synth_search s = {.n_uses = n_uses, .bits = bits, .uses = uses, .plain = -1};
  tesela_tile_memory memory, made;
  int64_t least;
  tesela_status status = tesela__access_machine(machine, &s.full, err);
  if (status == TESELA_OK && n_uses < 1)
    status = tesela__fail(err, TESELA_E_RANGE, -1, "%" PRId32 " uses; expected 1 or more", n_uses);
  if (status == TESELA_OK) status = synth_begin(&s, options ? options : &none, err);
  if (status == TESELA_OK) status = synth_check(&s, &least, err);
  if (status != TESELA_OK) return status;
  synth_family(&s);
  if (s.stopped) return tesela__fail_stopped(err);
  if (s.steps < 0)
    return tesela__refuse(err, TESELA_E_LIMIT, TESELA_REASON_MAX_STEPS,
                          "comparing layouts for %" PRId32 " uses of %" PRId64
                          " elements needs more steps (vectors examined) than max_steps, %" PRId64,
                          s.n_uses, s.elements, s.max_steps);
  if (!s.found)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "no layout of %" PRId64 " candidates permits the vectors of all uses", s.candidates);
  synth_memory(&s, &s.best, &memory);
  status = tesela_tile_memory_make(&made, TESELA_TILE_SHARED, s.rank, s.shape, memory.n_modes,
                                   memory.mode_shape, memory.mode_strides, 0, &s.best.swizzle, err);
  if (status != TESELA_OK) return status;
  made.size = memory.size; /* stages stay inside the tile */
  *found = (tesela_synthesis){made, s.score.wavefronts, s.score.instructions, least, s.plain, s.candidates};
  return TESELA_OK;
}
