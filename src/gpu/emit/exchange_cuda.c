/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_cuda.c - a plan as CUDA C++: registers, shuffles, and a kernel around them.
 *
 * Units are variables of 32 (or 64) bits: s0, s1, ... of src, packed from narrower elements, and d0, d1, ... of dst,
 * unpacked at the end; y0, y1, ... are the results of the rounds. With phases, phase 0 packs words a0_0, a0_1, ... from
 * the s with __byte_perm, its rounds give y0_0, y0_1, ..., and b0_0, b0_1, ... are the words at its end; phase 1 packs
 * a1_0, a1_1, ... from these. A lane chooses its offer among the s by bits of its number, and its results among the y
 * and s. All indices are compile-time constants, so all data stay in registers. Different warps run different branches
 * of an if, always as whole warps.
 */
#include <stdio.h>

#include "gpu/emit/emit.h"

#include "gpu/exchange/exchange.h"

enum {
  CUDA_STATIC_SHARED = 48 * 1024, /* bytes that a kernel may declare */
  CUDA_THREADS = 1024,            /* of a block */
  CUDA_AT_ONCE = 32               /* units whose sources are collected in one pass */
};

/* ---- units ---------------------------------------------------------------------------------------------------- */

static const char *cuda_unit_type(const tesela_exchange *plan) {
  return plan->facts.words > 1 ? "uint64_t" : "uint32_t";
}

/* s0 = src[0] | src[1] << 16; ... */
static void cuda_pack(tesela__emit *e, const tesela_exchange *plan) {
  int64_t unit = plan->facts.unit;
  for (int64_t u = 0; u < plan->facts.src_units; u++) {
    tesela__putf(&e->sink, "  const %s s%" PRId64 " = ", cuda_unit_type(plan), u);
    for (int64_t i = 0; i < unit; i++) {
      tesela__putf(&e->sink, "%s(%s)src[%" PRId64 "]", i ? " | " : "", cuda_unit_type(plan),
                   tesela__unit_register(plan->units.src, plan->units.n, u, i));
      if (i) tesela__putf(&e->sink, " << %" PRId64, i * e->bits);
    }
    tesela__puts(&e->sink, ";\n");
  }
}

static void cuda_unpack(tesela__emit *e, const tesela_exchange *plan) {
  for (int64_t u = 0; u < plan->facts.dst_units; u++)
    for (int64_t i = 0; i < plan->facts.unit; i++) {
      int64_t local = tesela__unit_register(plan->units.dst, plan->units.n, u, i);
      if (i)
        TESELA__EMIT(e, "  dst[%D] = (%T)(d%D >> %D);\n", local, u, i * e->bits);
      else
        TESELA__EMIT(e, "  dst[%D] = (%T)d%D;\n", local, u);
    }
}

/* ---- the program of a warp --------------------------------------------------------------------------------------- */

/* One round, by lane; -1: any. */
typedef struct cuda_round {
  int32_t offer[TESELA__EMIT_LANES], from[TESELA__EMIT_LANES], into[TESELA__EMIT_LANES];
} cuda_round;

/* A round as emitted. A lane that takes nothing takes its own unit from itself if the patterns of the other lanes imply
 * that. It could keep the unit, but the exception would cost more code. */
static cuda_round cuda_round_of(const tesela_exchange *plan, const tesela__warp_program *w, int64_t units,
                                int64_t round) {
  cuda_round r;
  int64_t row = round * plan->warp;
  for (int32_t lane = 0; lane < plan->warp; lane++) {
    r.offer[lane] = w->offer[row + lane];
    r.into[lane] = w->into[row + lane];
    r.from[lane] = r.into[lane] < 0 ? -1 : w->from[row + lane];
  }
  tesela__lane_pattern from = tesela__lane_pattern_of(r.from, plan->warp);
  tesela__lane_pattern into = tesela__lane_pattern_of(r.into, plan->warp);
  for (int32_t lane = 0; lane < w->dst_lanes; lane++) {
    int32_t unit = tesela__lane_pattern_at(&into, lane, plan->warp);
    if (r.into[lane] >= 0 || tesela__lane_pattern_at(&from, lane, plan->warp) != lane) continue;
    if (unit < 0 || unit >= units || !tesela__own(w, units, lane, unit)) continue;
    int32_t own = w->need_unit[lane * units + unit];
    if (r.offer[lane] >= 0 && r.offer[lane] != own) continue;
    r.offer[lane] = own;
    r.from[lane] = lane;
    r.into[lane] = unit;
  }
  return r;
}

/* In a warp with fewer lanes, no lane may take from a missing one, even if the value is unused. */
static void cuda_stay_inside(cuda_round *r, int32_t lanes, int32_t warp) {
  tesela__lane_pattern from = tesela__lane_pattern_of(r->from, warp);
  bool inside = from.form != TESELA__LANE_ANY && from.form != TESELA__LANE_TABLE;
  for (int32_t lane = 0; lane < lanes && inside; lane++)
    inside = tesela__lane_pattern_at(&from, lane, warp) < lanes;
  for (int32_t lane = 0; lane < lanes && !inside; lane++)
    if (r->from[lane] < 0) r->from[lane] = lane;
}

/* The names of the moved variables (units or words), and their number at the end. */
typedef struct cuda_names {
  char start[16], round[16], end[32]; /* s, y, d; `end` includes a declaration */
  int64_t units;
} cuda_names;

static void cuda_rounds(tesela__emit *e, const tesela_exchange *plan, const tesela__warp_program *w,
                        const cuda_names *n) {
  const tesela__emit_names units = {n->start, "", INT32_MAX};
  int32_t lanes = w->src_lanes > w->dst_lanes ? w->src_lanes : w->dst_lanes;
  uint32_t mask = lanes == 32 ? ~UINT32_C(0) : (UINT32_C(1) << lanes) - 1;
  for (int64_t round = 0; round < w->rounds; round++) {
    cuda_round r = cuda_round_of(plan, w, n->units, round);
    if (lanes < 32) cuda_stay_inside(&r, lanes, plan->warp);
    tesela__putf(&e->sink, "    const %s %s%" PRId64 " = __shfl_sync(0x%" PRIx32 "u, ", cuda_unit_type(plan),
                 n->round, round, mask);
    tesela__emit_lane_choice(e, &units, r.offer, plan->warp);
    tesela__puts(&e->sink, ", (int)(");
    tesela__emit_lane_number(e, r.from, plan->warp);
    tesela__puts(&e->sink, "));\n");
  }
}

/* Units first .. last-1 of dst, in one pass over the rounds: in each lane the result of a round, or its own unit. */
static void cuda_some_results(tesela__emit *e, const tesela_exchange *plan, const tesela__warp_program *w,
                              const cuda_names *n, int64_t first, int64_t last) {
  const tesela__emit_names names = {n->round, n->start, (int32_t)w->rounds};
  int32_t source[CUDA_AT_ONCE][TESELA__EMIT_LANES];
  for (int64_t into = first; into < last; into++)
    for (int32_t lane = 0; lane < plan->warp; lane++)
      source[into - first][lane] = lane < w->dst_lanes && tesela__own(w, n->units, lane, into)
                                       ? names.split + w->need_unit[lane * n->units + into]
                                       : -1;
  for (int64_t round = 0; round < w->rounds; round++) {
    cuda_round r = cuda_round_of(plan, w, n->units, round);
    for (int32_t lane = 0; lane < plan->warp; lane++)
      if (r.into[lane] >= first && r.into[lane] < last) source[r.into[lane] - first][lane] = (int32_t)round;
  }
  for (int64_t into = first; into < last; into++) {
    tesela__putf(&e->sink, "    %s%" PRId64 " = ", n->end, into);
    tesela__emit_lane_choice(e, &names, source[into - first], plan->warp);
    tesela__puts(&e->sink, ";\n");
  }
}

static void cuda_results(tesela__emit *e, const tesela_exchange *plan, const tesela__warp_program *w,
                         const cuda_names *n) {
  for (int64_t u = 0; u < n->units && w->dst_lanes > 0; u += CUDA_AT_ONCE)
    cuda_some_results(e, plan, w, n, u, tesela__min(u + CUDA_AT_ONCE, n->units));
}

/* ---- phases ------------------------------------------------------------------------------------------------- */

static void cuda_phases(tesela__emit *e, const tesela_exchange *plan, const tesela__warp_program *w) {
  tesela__word_parts made;
  char before[16] = "s";
  for (int32_t i = 0; i < w->n_phases; i++) {
    const tesela__exchange_phase *phase = &w->phase[i];
    cuda_names n = {.units = phase->dst_words};
    snprintf(n.start, sizeof n.start, "a%d_", (int)i);
    snprintf(n.round, sizeof n.round, "y%d_", (int)i);
    snprintf(n.end, sizeof n.end, "const uint32_t b%d_", (int)i);
    for (int64_t word = 0; word < phase->src_words; word++) {
      tesela__phase_word(&made, plan, w, i, word);
      if (made.n == 0) continue;
      tesela__putf(&e->sink, "    const uint32_t %s%" PRId64 " = ", n.start, word);
      tesela__emit_word(e, plan, &made, before);
      tesela__puts(&e->sink, ";\n");
    }
    cuda_rounds(e, plan, &phase->moves, &n);
    cuda_results(e, plan, &phase->moves, &n);
    snprintf(before, sizeof before, "b%d_", (int)i);
  }
  for (int64_t unit = 0; unit < plan->facts.dst_units; unit++) {
    tesela__phase_word(&made, plan, w, w->n_phases, unit);
    if (made.n == 0) continue;
    TESELA__EMIT(e, "    d%D = ", unit);
    tesela__emit_part(e, plan, &made, before);
    tesela__puts(&e->sink, ";\n");
  }
}

/* ---- all warps --------------------------------------------------------------------------------------------------- */

static void cuda_program(tesela__emit *e, const tesela_exchange *plan, const tesela__warp_program *w) {
  const cuda_names units = {"s", "y", "d", plan->facts.dst_units};
  if (w->n_phases) {
    cuda_phases(e, plan, w);
    return;
  }
  cuda_rounds(e, plan, w, &units);
  cuda_results(e, plan, w, &units);
}

/* if (warp is one of those that run program k) */
static void cuda_warps(tesela__emit *e, const tesela_exchange *plan, int32_t k) {
  const char * or = k ? " else if (" : "  if (";
  for (int64_t w = 0; w < plan->n_warps; w++) {
    if (plan->program_of[w] != k) continue;
    int64_t first = w;
    while (w + 1 < plan->n_warps && plan->program_of[w + 1] == k) w++;
    tesela__puts(&e->sink, or);
    or = " || ";
    if (first == w)
      TESELA__EMIT(e, "warp == %Du", w);
    else if (first == 0)
      TESELA__EMIT(e, "warp <= %Du", w);
    else
      TESELA__EMIT(e, "(warp >= %Du && warp <= %Du)", first, w);
  }
  tesela__puts(&e->sink, ") {\n");
}

static void cuda_registers(tesela__emit *e, const tesela_exchange *plan) {
  TESELA__EMIT(e,
               "  const uint32_t lane = threadIdx.x % 32u, bit = 1u << lane, warp = threadIdx.x / 32u;\n"
               "  (void)lane, (void)bit, (void)warp, (void)shared;\n",
               0);
  cuda_pack(e, plan);
  for (int64_t u = 0; u < plan->facts.dst_units; u++)
    tesela__putf(&e->sink, "  %s d%" PRId64 " = 0;\n", cuda_unit_type(plan), u);
  for (size_t k = 0; k < plan->n_programs; k++) {
    if (plan->n_programs > 1)
      cuda_warps(e, plan, (int32_t)k);
    else
      tesela__puts(&e->sink, "  {\n");
    cuda_program(e, plan, &plan->program[k]);
    tesela__puts(&e->sink, "  }");
  }
  tesela__puts(&e->sink, "\n");
  cuda_unpack(e, plan);
}

static void cuda_nothing(tesela__emit *e, const tesela_exchange *plan) {
  TESELA__EMIT(e, "  (void)shared;\n", 0);
  for (int64_t l = 0; l < plan->dst.local_size; l++) TESELA__EMIT(e, "  dst[%D] = src[%D];\n", l, l);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static void cuda_kernel(tesela__emit *e, const tesela_exchange *plan) {
  const tesela_exchange_facts *facts = &plan->facts;
  TESELA__EMIT(e,
               "\nextern \"C\" __global__ void __launch_bounds__(%D) %N_kernel(%T *dst, const %T *src) {\n",
               facts->threads);
  if (facts->shared_bytes > CUDA_STATIC_SHARED)
    TESELA__EMIT(e, "  extern __shared__ __align__(16) unsigned char shared[]; // launch with %D bytes\n",
                 facts->shared_bytes);
  else if (facts->shared_bytes > 0)
    TESELA__EMIT(e, "  __shared__ __align__(16) unsigned char shared[%D];\n", facts->shared_bytes);
  else
    TESELA__EMIT(e, "  void *const shared = nullptr;\n", 0);
  TESELA__EMIT(e,
               "  const uint32_t thread = threadIdx.x;\n"
               "  %T s[%D], d[%D];\n"
               "#pragma unroll\n"
               "  for (int i = 0; i < %D; i++) s[i] = thread < %Du ? src[thread * %Du + i] : %T(0);\n"
               "  %N(d, s, shared);\n"
               "  if (thread >= %Du) return;\n"
               "#pragma unroll\n"
               "  for (int i = 0; i < %D; i++) dst[thread * %Du + i] = d[i];\n"
               "}\n",
               plan->src.local_size, plan->dst.local_size, plan->src.local_size, plan->src.spatial_size,
               plan->src.local_size, plan->dst.spatial_size, plan->dst.local_size, plan->dst.local_size);
}

static tesela_status cuda_check(const tesela_exchange *plan, const char *name, tesela_error *err) {
  int32_t bits = plan->facts.bits;
  tesela_status status = tesela__emit_check_name(name, err);
  if (status != TESELA_OK) return status;
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "elements of %" PRId32 " bits; expected 8, 16, 32 or 64", bits);
  if (plan->full_warp != 32)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "the plan has warps of %" PRId32 " lanes; expected 32 for CUDA", plan->full_warp);
  if (plan->facts.threads > CUDA_THREADS)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "the plan needs a block of %" PRId64 " threads; CUDA allows at most %d",
                        plan->facts.threads, CUDA_THREADS);
  return TESELA_OK;
}

tesela_status tesela_codegen_exchange_cuda(const tesela_exchange *plan, const char *name,
                                           const tesela_writer *to, tesela_error *err) {
  TESELA__NEED(err, plan, name, to);
  tesela_status status = cuda_check(plan, name, err);
  if (status != TESELA_OK) return status;
  int32_t bits = plan->facts.bits;
  tesela__emit e = {.name = name, .bits = bits};
  e.element = bits == 8 ? "uint8_t" : bits == 16 ? "uint16_t" : bits == 32 ? "uint32_t" : "uint64_t";
  tesela__sink_init(&e.sink, to);
  TESELA__EMIT(&e, "// %N: registers of %D threads, %D per thread of %T become %D.\n#include <cstdint>\n\n",
               plan->facts.threads, plan->src.local_size, plan->dst.local_size);
  if (plan->facts.kind == TESELA_EXCHANGE_SHARED) tesela__emit_memory_helpers(&e, plan);
  TESELA__EMIT(
      &e, "static __device__ __forceinline__ void %N(%T (&dst)[%D], const %T (&src)[%D], void *shared) {\n",
      plan->dst.local_size, plan->src.local_size);
  if (plan->facts.kind == TESELA_EXCHANGE_SHARED)
    tesela__emit_through_memory(&e, plan);
  else if (plan->facts.kind == TESELA_EXCHANGE_NOTHING)
    cuda_nothing(&e, plan);
  else
    cuda_registers(&e, plan);
  tesela__puts(&e.sink, "}\n");
  cuda_kernel(&e, plan);
  return tesela__sink_finish(&e.sink, err);
}
