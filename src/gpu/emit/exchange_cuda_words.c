/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_cuda_words.c - words of several units as CUDA: packed by __byte_perm, unpacked by shifts.
 *
 * Each lane chooses the sources of a word, then byte permutes move their parts into place: one for two sources, and one
 * more for each further source. A selector is a constant if parts are the same in all lanes, else a sum of products.
 */
#include "gpu/emit/emit.h"

#include "gpu/exchange/exchange.h"

/* If the part number differs between lanes, write it times `factor`, and *same is 0; else *same is the part number. */
static void cuda_part(tesela__emit *e, const tesela_exchange *plan, const int32_t *part, uint32_t factor,
                      const char *lead, int32_t *same) {
  tesela__lane_pattern p = tesela__lane_pattern_of(part, plan->warp);
  *same = p.form == TESELA__LANE_SAME ? p.a : 0;
  if (p.form == TESELA__LANE_SAME) return;
  tesela__putf(&e->sink, "%s((", lead);
  tesela__emit_lane_number(e, part, plan->warp);
  tesela__putf(&e->sink, ") & %" PRId32 "u) * 0x%" PRIx32 "u", plan->parts - 1, factor);
}

/* The selector that moves the parts of source i into place. Parts of earlier sources are in place already, except that
 * source 1 also moves those of source 0. */
static void cuda_selector(tesela__emit *e, const tesela_exchange *plan, const tesela__word_parts *made,
                          int32_t i) {
  int32_t bytes = 4 / plan->parts;
  uint32_t selector = 0;
  for (int32_t k = 0; k < made->n; k++) {
    int32_t source = made->source_of[k], part = 0;
    if (source < 0 || source > i) continue;
    bool moves = source == i || i == 1; /* source 0 is not in place yet for source 1 */
    uint32_t ones = bytes == 2 ? 0x11 : 1, steps = bytes == 2 ? 0x10 : 0;
    if (moves)
      cuda_part(e, plan, made->part[k], ones * (uint32_t)bytes << (4 * k * bytes), "", &part);
    else
      part = k;
    if (moves && tesela__lane_pattern_of(made->part[k], plan->warp).form != TESELA__LANE_SAME)
      tesela__puts(&e->sink, " + ");
    uint32_t first = (uint32_t)(part * bytes) + (source == i && i > 0 ? 4 : 0);
    selector |= (ones * first + steps) << (4 * k * bytes);
  }
  tesela__putf(&e->sink, "0x%04" PRIx32 "u", selector);
}

void tesela__emit_word(tesela__emit *e, const tesela_exchange *plan, const tesela__word_parts *made,
                       const char *before) {
  const tesela__emit_names names = {before, "", INT32_MAX};
  int32_t permutes = tesela__word_permutes(made);
  for (int32_t i = 0; i < permutes; i++) tesela__puts(&e->sink, "__byte_perm(");
  tesela__emit_lane_choice(e, &names, made->source[0], plan->warp);
  for (int32_t i = made->sources == 1 ? 0 : 1; i < made->sources && permutes > 0; i++) {
    tesela__puts(&e->sink, ", ");
    if (i == 0)
      tesela__puts(&e->sink, "0u");
    else
      tesela__emit_lane_choice(e, &names, made->source[i], plan->warp);
    tesela__puts(&e->sink, ", ");
    cuda_selector(e, plan, made, i);
    tesela__puts(&e->sink, ")");
  }
}

/* Write a unit of dst: a part of a word, shifted down. */
void tesela__emit_part(tesela__emit *e, const tesela_exchange *plan, const tesela__word_parts *made,
                       const char *before) {
  const tesela__emit_names names = {before, "", INT32_MAX};
  uint32_t bits = 32 / (uint32_t)plan->parts;
  int32_t same;
  tesela__emit_lane_choice(e, &names, made->source[0], plan->warp);
  cuda_part(e, plan, made->part[0], bits, " >> ", &same);
  if (same) tesela__putf(&e->sink, " >> %" PRIu32, (uint32_t)same * bits);
}
