/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relayout_plan.c - create, describe and destroy plans.
 */
#include "relayout/gather.h"
#include "relayout/pieces.h"
#include "relayout/solve.h"
#include "relayout/window.h"

/* ---- instruction sets -------------------------------------------------------------------------------------- */

/* The TESELA__CPU_* bits up to an instruction set. */
static unsigned isa_bits(tesela_isa isa) {
  switch (isa) {
  case TESELA_ISA_C:
    return 0;
  case TESELA_ISA_NEON:
    return TESELA__CPU_NEON;
  case TESELA_ISA_AVX2:
    return TESELA__CPU_AVX2;
  default:
    return ~0u;
  }
}

static tesela_isa best_isa(unsigned bits) {
  if (bits & TESELA__CPU_AVX512) return TESELA_ISA_AVX512;
  if (bits & TESELA__CPU_AVX2) return TESELA_ISA_AVX2;
  return bits & TESELA__CPU_NEON ? TESELA_ISA_NEON : TESELA_ISA_C;
}

/* ---- facts ------------------------------------------------------------------------------------------------- */

/* One more than the last place that the digits of a layout reach. */
static int64_t last_reached(const tesela_layout *layout) {
  if (tesela__is_empty(layout)) return 0;
  if (layout->swizzle.n) return layout->axis[0].extent;
  int64_t end = layout->axis[0].offset + 1;
  for (int32_t i = 0; i < layout->n_active; i++) {
    const tesela_digit *digit = &layout->digit[i];
    if (digit->axis >= 0 && digit->stride > 0) end += (digit->extent - 1) * digit->stride;
  }
  return tesela__min(end, layout->axis[0].extent);
}

static int32_t threads_for(const tesela_plan *plan) {
  if (plan->irregular ? !plan->by_sums || plan->dst.bits < 8 : plan->bitwise && plan->window == 0) return 1;
  return tesela__threads_for_bytes(plan, plan->info.bytes_read + plan->info.bytes_written);
}

/* The stack that the staging of a plan needs. */
static int64_t stack_for(const tesela_plan *plan) {
  enum {
    CARRIED = TESELA__CARRIED * TESELA__LINE,
    STAGED = TESELA__STAGE + TESELA__PACK + CARRIED,
    CARRIED_FAR = STAGED - CARRIED + TESELA__CARRIED_FAR * TESELA__LINE,
    OF_BITS = 2 * TESELA__BITS_STAGE + CARRIED
  };
  if (plan->irregular && plan->stretches.n_groups > 0)
    return TESELA__GATHER_STAGE + 2 * TESELA__GATHER_BUFFER;
  int64_t bytes = plan->window > 0 ? STAGED : 0;
  for (int32_t i = 0; i < plan->n_pieces; i++) {
    const tesela__piece *piece = &plan->piece[i];
    if (piece->bits_tile)
      bytes = tesela__max(bytes, OF_BITS);
    else if (piece->pack_pitch || (piece->stream && piece->stage))
      bytes = tesela__max(bytes, piece->carry_step > 1 && plan->window == 0 ? CARRIED_FAR : STAGED);
  }
  return bytes + (plan->window > 0 ? TESELA__WINDOW_MOST + 2 * TESELA__LINE : 0);
}

static void set_facts(tesela_plan *plan) {
  tesela_plan_info *info = &plan->info;
  int64_t elements = 1, copies = tesela_layout_copies(&plan->dst);
  for (int32_t d = 0; d < plan->dst.rank; d++) elements *= plan->dst.shape[d];
  int64_t tail, padding = plan->fill == TESELA_FILL_LEAVE ? 0 : tesela__padding_places(&plan->dst, &tail);
  if (!tesela__mul(elements, plan->src.bits, &info->bytes_read)) info->bytes_read = INT64_MAX;
  info->bytes_read = tesela__ceil_div(info->bytes_read, 8);
  info->bytes_written = tesela__ceil_div((elements * copies + padding) * plan->dst.bits, 8);
  info->n_fills = plan->n_fills;
  info->n_pieces = plan->irregular ? 1 : plan->n_pieces - plan->n_fills;
  info->solver = plan->irregular     ? TESELA_SOLVER_GATHER
                 : plan->largest < 0 ? TESELA_SOLVER_ANY
                                     : plan->piece[plan->largest].solver;
  unsigned isa = 0;
  for (int32_t i = 0; i < plan->n_pieces; i++) isa |= plan->piece[i].isa;
  info->isa = best_isa(isa);
  info->scratch_bytes = stack_for(plan);
  if (plan->irregular) plan->total_bytes += tesela__ceil_div(elements * copies * plan->dst.bits, 8);
  info->threads = threads_for(plan);
}

tesela_status tesela__plan_pieces(tesela_plan *plan, tesela_error *err) {
  tesela_layout dst, src;
  tesela__problem problem;
  uint64_t seed = plan->options.shuffle, *random = seed ? &seed : NULL;
  tesela__forget_pieces(plan);
  plan->irregular = NULL;
  plan->by_sums = false;
  plan->stretches.n_groups = 0;
  tesela_status status = tesela_layout_canonical(&plan->dst, &dst, err);
  if (status == TESELA_OK) status = tesela_layout_canonical(&plan->src, &src, err);
  if (status != TESELA_OK) return status;
  int64_t tail;
  if (plan->fill != TESELA_FILL_LEAVE && tesela__padding_places(&plan->dst, &tail) < 0)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "the strides of dst interleave and its digits have padding, which cannot be filled");
  plan->info.in_place = tesela__in_place_possible(&dst, &src);
  tesela__problem_set(&problem, &dst, &src);
  plan->irregular = problem.irregular;
  if (plan->options.solver == TESELA_SOLVER_GATHER || (random && tesela__random(random) % 16 == 0))
    plan->irregular = "requested";
  if (!plan->irregular) status = tesela__make_regular(plan, &problem, random, err);
  if (status == TESELA_OK && !plan->irregular && !random && plan->options.solver == TESELA_SOLVER_ANY)
    tesela__use_stretches(plan, &problem);
  if (status == TESELA_OK && !plan->irregular) status = tesela__use_windows(plan, &problem, random, err);
  if (status == TESELA_OK && plan->irregular) status = tesela__make_irregular(plan, &problem, random, err);
  if (status == TESELA_OK) set_facts(plan);
  return status;
}

/* Stream from this size on at the latest: of a cache of hundreds of MiB a process has a small share. */
enum { STREAM_FROM = 16 << 20 };

static tesela_status set_plan(tesela_plan *plan, tesela_error *err) {
  const tesela_plan_options *o = &plan->options;
  tesela_status status = tesela__conversion_find(o->transform, plan->dst.dtype, plan->dst.bits,
                                                 plan->src.dtype, plan->src.bits, &plan->conversion, err);
  if (status != TESELA_OK) return status;
  plan->fill = o->fill;
  int32_t bytes = plan->dst.bits / 8;
  for (int32_t i = 0; i < TESELA__LINE && o->fill == TESELA_FILL_VALUE; i++) {
    unsigned low = o->fill_value[0] & ((1u << (plan->dst.bits & 7)) - 1u), value = 0;
    for (int32_t bit = 0; bit < 8 && bytes == 0; bit += plan->dst.bits) value |= low << bit;
    plan->fill_pattern[i] = bytes ? o->fill_value[i % bytes] : (uint8_t)value;
  }
  plan->isa = tesela__cpu() & isa_bits(o->isa);
  plan->info.src_bytes = tesela__ceil_div(last_reached(&plan->src) * plan->src.bits, 8);
  int64_t places = o->fill == TESELA_FILL_LEAVE ? last_reached(&plan->dst) : plan->dst.axis[0].extent;
  plan->info.dst_bytes = tesela__ceil_div(places * plan->dst.bits, 8);
  int64_t bytes_of_both;
  if (!tesela__add(plan->info.src_bytes, plan->info.dst_bytes, &bytes_of_both)) bytes_of_both = INT64_MAX;
  plan->info.l2_bytes = tesela__cache_bytes(2);
  plan->info.l3_bytes = tesela__cache_bytes(3);
  plan->stream = bytes_of_both > tesela__min(plan->info.l3_bytes / 2, STREAM_FROM);
  if (plan->tuning.stream) plan->stream = plan->tuning.stream > 0;
  status = tesela__plan_pieces(plan, err);
  if (status != TESELA_OK) return status;
  tesela_solver wanted = o->solver;
  if (wanted == TESELA_SOLVER_ANY || plan->info.n_pieces == 0) return TESELA_OK;
  for (int32_t i = 0; i < plan->n_pieces; i++)
    if (!plan->piece[i].fill && plan->piece[i].solver == wanted) return TESELA_OK;
  if (wanted == TESELA_SOLVER_GATHER) return TESELA_OK;
  const char *why = plan->verdict[wanted].why;
  return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "the solver %s does not apply: %s",
                      tesela_solver_name(wanted), why ? why : "no piece has its form");
}

/* ---- create, destroy, describe ----------------------------------------------------------------------------- */

tesela_status tesela_plan_create(tesela_plan **plan, const tesela_layout *dst, const tesela_layout *src,
                                 const tesela_plan_options *options, tesela_error *err) {
  TESELA__NEED(err, plan, dst, src);
  TESELA__NEED_CLEAR(err, options);
  static const tesela_plan_options defaults = {0};
  const tesela_plan_options *o = options ? options : &defaults;
  tesela_status status = tesela__check_plan(dst, src, o, err);
  if (status != TESELA_OK) return status;
  tesela_allocator allocator = tesela__allocator(o->allocator);
  tesela_plan *made = tesela__alloc(&allocator, sizeof *made, alignof(tesela_plan));
  if (!made) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a plan of %zu bytes", sizeof *made);
  memset(made, 0, sizeof *made);
  atomic_init(&made->references, 1);
  made->allocator = allocator;
  made->dst = *dst;
  made->src = *src;
  made->options = *o;
  made->options.allocator = NULL;
  status = set_plan(made, err);
  if (status == TESELA_OK && o->effort == TESELA_EFFORT_MEASURE) status = tesela__plan_measure(made, err);
  if (status != TESELA_OK) {
    tesela_plan_destroy(made);
    return status;
  }
  *plan = made;
  return TESELA_OK;
}

void tesela_plan_destroy(tesela_plan *plan) {
  if (!plan || atomic_fetch_sub_explicit(&plan->references, 1, memory_order_acq_rel) != 1) return;
  tesela_allocator allocator = plan->allocator;
  tesela__release(&allocator, plan->piece);
  tesela__release(&allocator, plan->table);
  tesela__release(&allocator, plan->fill_box);
  tesela__release(&allocator, plan->bits_tile);
  tesela__release(&allocator, plan->picked_line);
  tesela__release(&allocator, plan->pick);
  tesela__release(&allocator, plan->bit_round);
  tesela__release(&allocator, plan);
}

void tesela_plan_describe(const tesela_plan *plan, tesela_plan_info *info) {
  if (!info) return;
  *info = plan ? plan->info : (tesela_plan_info){0};
  if (info->in_place) info->in_place_scratch_bytes = tesela__in_place_scratch_bytes(plan);
}
