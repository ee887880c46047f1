/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_place.c - copy within one buffer, moving each unit once.
 *
 * Each place of dst with an element has one source place in src, and no two have the same. So places form paths and
 * cycles. A path starts at a place of dst whose content is not needed (padding of src, a gap, or beyond its end) and
 * ends at a place of src outside dst. Paths are moved first, each from its start, so that nothing is overwritten too
 * early; then the cycles, with one piece of a unit kept on the stack; then padding is filled.
 *
 *   f32[2,3] row-major -> f32[2,3]{0,1}      places 0 1 2 3 4 5: from  a b c d e f  to  a d b e c f
 *                                            cycles: (0), 1 <- 3 <- 4 <- 2 <- 1, (5)
 *
 * A cycle is moved from its smallest place. With marks, that is the first unmarked one; without, the cycle of each
 * place is followed until it reaches a smaller one, for the permutations of layouts usually after a few steps. One
 * thread moves everything, since cycles cross the whole buffer; options->executor is not used.
 */
#include <tesela/layout.h>

#include "relayout/in_place.h"

enum {
  KEPT_BYTES = 4096,    /* kept of a cycle's first unit; larger units move in pieces of this size */
  PROGRESS_WORK = 65536 /* steps from place to place plus KiB moved: about 7 ms */
};

bool tesela__in_place_go_on(tesela__in_place *run, int64_t work) {
  run->work += work;
  if (run->work < PROGRESS_WORK) return true;
  run->work = 0;
  if (!run->options || !run->options->progress) return true;
  run->stopped = run->options->progress(run->options->progress_user, run->done_bytes, run->total_bytes) != 0;
  return !run->stopped;
}

static bool is_marked(const tesela__in_place *run, int64_t place) {
  int64_t unit = place / run->map->unit;
  return run->marks[unit / 8] >> (unit % 8) & 1;
}

static void mark_unit(tesela__in_place *run, int64_t place) {
  if (!run->marks) return;
  int64_t unit = place / run->map->unit;
  run->marks[unit / 8] = (unsigned char)(run->marks[unit / 8] | 1 << unit % 8);
}

/* Move bytes between two units, which do not overlap. */
static void move_bytes(const tesela__in_place *run, unsigned char *to, const unsigned char *from,
                       int64_t bytes) {
  if (run->convert)
    run->convert(to, from, bytes / run->element_bytes);
  else
    memcpy(to, from, (size_t)bytes);
}

/* Call visit for the first place in dst of each unit, until it returns false. */
static bool visit_units(tesela__in_place *run, bool (*visit)(tesela__in_place *run, int64_t place)) {
  const tesela_layout *dst = run->map->dst;
  int64_t n[TESELA_MAX_RANK], number[TESELA_MAX_RANK] = {0}, index[TESELA_MAX_RANK], place;
  if (tesela__is_empty(dst)) return true;
  for (int32_t d = 0; d < dst->rank; d++) n[d] = dst->shape[d] / run->map->block[d];
  do {
    for (int32_t d = 0; d < dst->rank; d++) index[d] = number[d] * run->map->block[d];
    (void)tesela_layout_place_of(dst, index, &place, NULL);
    if (!tesela__in_place_go_on(run, 1) || !visit(run, place)) return false;
  } while (tesela_index_next(dst->rank, n, number));
  return true;
}

/* ---- paths ------------------------------------------------------------------------------------------------ */

static bool go_path(tesela__in_place *run, int64_t place) {
  if (tesela__go(&run->map->to_dst, place) >= 0) return true; /* its content is needed */
  for (int64_t from; (from = tesela__go(&run->map->to_src, place)) >= 0; place = from) {
    move_bytes(run, run->buffer + place * run->element_bytes, run->buffer + from * run->element_bytes,
               run->unit_bytes);
    mark_unit(run, place);
    run->done_bytes += run->unit_bytes;
    if (!tesela__in_place_go_on(run, 1 + run->unit_bytes / 1024)) return false;
  }
  return true;
}

/* ---- cycles ----------------------------------------------------------------------------------------------- */

/* Is this the smallest place of a cycle? False for a place on a path, which ends at -1. */
static bool leads_cycle(tesela__in_place *run, int64_t place) {
  int64_t other = place;
  do {
    other = tesela__go(&run->map->to_src, other);
    if (other < place || !tesela__in_place_go_on(run, 1)) return false;
  } while (other != place);
  return true;
}

/* Move `bytes` bytes of each unit of a cycle, from byte `at` of the unit on. */
static bool go_around(tesela__in_place *run, int64_t leader, int64_t at, int64_t bytes) {
  unsigned char kept[KEPT_BYTES], *base = run->buffer + at;
  memcpy(kept, base + leader * run->element_bytes, (size_t)bytes);
  int64_t hole = leader;
  for (;;) {
    int64_t from = tesela__go(&run->map->to_src, hole);
    mark_unit(run, hole);
    run->done_bytes += bytes;
    if (from == leader) break;
    move_bytes(run, base + hole * run->element_bytes, base + from * run->element_bytes, bytes);
    if (!tesela__in_place_go_on(run, 1 + bytes / 1024)) return false;
    hole = from;
  }
  move_bytes(run, base + hole * run->element_bytes, kept, bytes);
  return true;
}

static bool go_cycle(tesela__in_place *run, int64_t place) {
  if (run->marks ? is_marked(run, place) : !leads_cycle(run, place)) return !run->stopped;
  if (!run->convert && tesela__go(&run->map->to_src, place) == place) {
    run->done_bytes += run->unit_bytes;
    return true;
  }
  for (int64_t at = 0; at < run->unit_bytes; at += KEPT_BYTES)
    if (!go_around(run, place, at, tesela__min(run->unit_bytes - at, KEPT_BYTES))) return false;
  return true;
}

/* ---- the interface ---------------------------------------------------------------------------------------- */

static bool run_in_place(tesela__in_place *run) {
  const tesela_layout *dst = run->map->dst;
  run->unit_bytes = run->map->unit * run->element_bytes;
  run->total_bytes = run->element_bytes;
  for (int32_t d = 0; d < dst->rank; d++)
    run->total_bytes *= dst->shape[d]; /* fits, as the places of a side do */
  if (run->marks) memset(run->marks, 0, (size_t)tesela__in_place_scratch_bytes(dst, run->map->src));
  return visit_units(run, go_path) && visit_units(run, go_cycle) && tesela__in_place_fill(run);
}

tesela_status tesela_plan_run_in_place(const tesela_plan *plan, void *buffer, void *scratch,
                                       const tesela_run_options *options, tesela_error *err) {
  TESELA__NEED(err, plan);
  TESELA__NEED_LIST(err, buffer, plan->info.dst_bytes);
  TESELA__NEED_CLEAR(err, options);
  TESELA__NEED_ROOM(err, plan->info.dst_bytes);
  TESELA__NEED_ROOM(err, plan->info.src_bytes);
  tesela_layout dst, src;
  tesela_status status = tesela_layout_canonical(&plan->dst, &dst, err);
  if (status == TESELA_OK) status = tesela_layout_canonical(&plan->src, &src, err);
  if (status != TESELA_OK) return status;
  if (!tesela__in_place_possible(&dst, &src))
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "in place, each element needs one place in both layouts and the same width of at "
                        "least 8 bits; %" PRId32 " bits become %" PRId32,
                        src.bits, dst.bits);
  tesela__place_map map;
  tesela__place_map_set(&map, &dst, &src);
  tesela__in_place run = {.plan = plan,
                          .map = &map,
                          .options = options,
                          .buffer = buffer,
                          .marks = scratch,
                          .element_bytes = dst.bits / 8};
  if (plan->conversion != TESELA__CONVERSION_NONE)
    run.convert =
        (tesela__convert_fn *)tesela__kernel_find(TESELA__K_CONVERT, (int32_t)plan->conversion, 0, plan->isa)
            ->fn;
  if (run_in_place(&run)) return TESELA_OK;
  return tesela__fail(err, TESELA_E_STOPPED, -1,
                      "stopped by the progress callback after %" PRId64 " of %" PRId64
                      " bytes; the buffer holds neither layout",
                      run.done_bytes, run.total_bytes);
}
