/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_parts.c - the sources of a word of a phase, as few as possible. A source is a word of the previous phase,
 * chosen by each lane, that gives some of the parts. Parts from the same word in every lane share one.
 */
#include "gpu/exchange/exchange.h"

/* If the source agrees with these words in every lane that has both, add them to it. */
static bool parts_merge(int32_t *source, const int32_t *word, int32_t warp) {
  for (int32_t lane = 0; lane < warp; lane++)
    if (source[lane] >= 0 && word[lane] >= 0 && source[lane] != word[lane]) return false;
  for (int32_t lane = 0; lane < warp; lane++)
    if (word[lane] >= 0) source[lane] = word[lane];
  return true;
}

void tesela__word_parts_of(tesela__word_parts *out, const int32_t *place, int64_t stride, int32_t n,
                           int32_t parts, int32_t lanes) {
  out->n = out->sources = 0;
  for (int32_t k = 0; k < n; k++) {
    int32_t word[TESELA__LANES];
    bool any = false;
    memset(word, 0xff, sizeof word);
    for (int32_t lane = 0; lane < TESELA__LANES; lane++) {
      int32_t at = lane < lanes ? place[lane * stride + k] : -1;
      out->part[k][lane] = at < 0 ? -1 : at % parts;
      if (at >= 0) word[lane] = at / parts;
      any = any || at >= 0;
    }
    out->source_of[k] = -1;
    if (!any) continue;
    out->n = k + 1;
    int32_t i = 0;
    while (i < out->sources && !parts_merge(out->source[i], word, TESELA__LANES)) i++;
    if (i == out->sources) memcpy(out->source[out->sources++], word, sizeof word);
    out->source_of[k] = i;
  }
}

int32_t tesela__word_permutes(const tesela__word_parts *w) {
  if (w->sources != 1) return w->sources ? w->sources - 1 : 0;
  for (int32_t k = 0; k < w->n; k++)
    for (int32_t lane = 0; lane < TESELA__LANES; lane++)
      if (w->part[k][lane] >= 0 && w->part[k][lane] != k) return 1;
  return 0;
}

void tesela__phase_word(tesela__word_parts *out, const tesela_exchange *plan, const tesela__warp_program *w,
                        int32_t phase, int64_t word) {
  int32_t lanes = w->phase[0].moves.src_lanes, parts = plan->parts;
  if (phase == w->n_phases) {
    tesela__word_parts_of(out, w->result + word, plan->facts.dst_units, 1, parts, w->dst_lanes);
    return;
  }
  const tesela__exchange_phase *p = &w->phase[phase];
  tesela__word_parts_of(out, p->part + word * parts, p->src_words * parts, parts, parts, lanes);
}

int64_t tesela__program_permutes(const tesela_exchange *plan, const tesela__warp_program *w) {
  int64_t n = 0;
  tesela__word_parts made;
  for (int32_t phase = 0; w->n_phases && phase <= w->n_phases; phase++) {
    int64_t words = phase < w->n_phases ? w->phase[phase].src_words : plan->facts.dst_units;
    for (int64_t word = 0; word < words; word++) {
      tesela__phase_word(&made, plan, w, phase, word);
      n += tesela__word_permutes(&made);
    }
  }
  return n;
}
