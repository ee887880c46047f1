/* SPDX-License-Identifier: Apache-2.0 */
/* support_blocks.c - see support_blocks.h. */
#include "support_blocks.h"

typedef struct search {
  const form_table *t;
  blocks_rules rules;
  int64_t block[FORM_DIMS]; /* 0: not known; 1: none */
  bool has_block[FORM_DIMS], has_outer[FORM_DIMS];
  int depth, of[2 * FORM_DIMS]; /* innermost first */
  bool is_block[2 * FORM_DIMS];
  int64_t stride[2 * FORM_DIMS];
} search;

/* Are the elements right that have only digits so far? *all: no element has others. */
static bool agrees(const search *s, bool *all) {
  const form_table *t = s->t;
  *all = true;
  for (int e = 0; e < t->n; e++) {
    int64_t place = 0;
    bool whole = true;
    for (int d = 0; d < t->rank; d++) {
      int64_t x = t->index[e][d], b = s->block[d] > 0 ? s->block[d] : 1;
      whole = whole && (s->has_outer[d] || x / b == 0) && (s->has_block[d] || x % b == 0);
    }
    *all = *all && whole;
    for (int i = 0; i < s->depth; i++) {
      int64_t x = t->index[e][s->of[i]], b = s->block[s->of[i]];
      place += (s->is_block[i] ? x % b : x / b) * s->stride[i];
    }
    if (whole && place != t->place[e]) return false;
  }
  return true;
}

static bool next_exists(search *s, int64_t size);

static bool with_part(search *s, int d, bool is_block, int64_t size, int64_t extent) {
  bool *has = is_block ? s->has_block : s->has_outer;
  s->of[s->depth] = d;
  s->is_block[s->depth] = is_block;
  s->stride[s->depth++] = size;
  has[d] = true;
  bool found = next_exists(s, size * extent);
  has[d] = false;
  s->depth--;
  return found;
}

static bool with_outer(search *s, int d, int64_t size) {
  int64_t n = s->t->shape[d], least = (n + s->block[d] - 1) / s->block[d];
  int64_t most = s->rules.larger ? s->t->most / size + 1 : 0;
  for (int64_t extent = least; extent <= (most > least ? most : least); extent++)
    if (with_part(s, d, false, size, extent)) return true;
  return false;
}

static bool next_exists(search *s, int64_t size) {
  const int rank = s->t->rank;
  bool all, outer = false;
  if (!agrees(s, &all)) return false;
  if (all) return true; /* the rest, of digits 0, is outside */
  for (int d = 0; d < rank; d++) outer = outer || s->has_outer[d];
  for (int d = 0; d < rank; d++) {
    int64_t known = s->block[d], most = s->t->most / size + 1;
    bool found = false, may_outer = !s->has_outer[d];
    bool may_block = s->rules.blocks && !s->has_block[d] && known != 1 && (!outer || s->rules.after);
    if (most < s->t->shape[d]) most = s->t->shape[d];
    for (int k = d + 1; k < rank && s->rules.ordered; k++) may_outer = may_outer && s->has_outer[k];
    if (may_block && known > 1) found = with_part(s, d, true, size, known);
    for (int64_t b = 2; b <= most && known == 0 && !found; b++) {
      s->block[d] = b;
      if (may_block) found = with_part(s, d, true, size, b);
      if (!found && may_outer && s->rules.blocks && s->rules.after) found = with_outer(s, d, size);
    }
    if (known == 0) s->block[d] = 1;
    if (!found && may_outer && (known < 2 || s->has_block[d])) found = with_outer(s, d, size);
    s->block[d] = known;
    if (found) return true;
  }
  return false;
}

bool blocks_exist(const form_table *t, blocks_rules rules) {
  search s = {.t = t, .rules = rules};
  return t->copies == 1 && next_exists(&s, 1);
}
