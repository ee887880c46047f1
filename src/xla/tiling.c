/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiling.c - a list of tiles, of the fewest levels, that gives digits in memory.
 *
 * A level of tiles moves parts of the bounds to the minor end: of each bound nothing (entry 1), the lower part (an entry that cuts
 * it) or all of it (an entry of its extent or more, which pads it). So a list of L levels gives each digit L bits, one per level:
 * 1 if it moved. The order in memory is that of the numbers with the last level as their highest bit; digits of one number keep
 * the order of their dims. Of two digits of one dim the less significant one moves first at the level that separates them.
 *
 *   bf16[20,200]{1,0:T(8,128)(2,1)}     memory      i/8   j/128  i%8/2  j%128  i%2
 *                                       level 1     0     0      1      1      1
 *                                       level 2     0     0      0      0      1
 *
 * The search tries such numbers, in the order of memory, for 0, 1, 2, .. levels. Room that elements do not use is the padding of a
 * digit that moves as the top of its bound, or an entry above 1 on a bound of extent 1 (a hole).
 */
#include "xla/tiling.h"

enum {
  TILING_LEVELS = 8,
  TILING_ITEMS = 2 * TESELA__TILING_DIGITS + 1,
  TILING_BOUNDS = TESELA_MAX_DIGITS,
  TILING_EFFORT = 40000, /* numbers tried for a count of levels and a choice of holes */
  TILING_ALL = 2000000,  /* in all */
  TILING_ORDERS = 60     /* orders of the dims tried for each choice of numbers */
};

/* A digit or a hole, in the order of memory. */
typedef struct tiling_item {
  int32_t
      group; /* -1: a hole that comes as a leading one; n_groups + k: a hole on the k-th dim of extent 1 */
  int32_t chain; /* of a digit: its rank in its group, 0 is the most significant */
  int64_t step, extent, room;
  uint32_t moves; /* bit l: moves at level l */
} tiling_item;

/* Digits first .. last of a chain, by their rank; or a hole; or neither, of extent 1. */
typedef struct tiling_bound {
  int32_t group, first, last;
  int32_t hole;  /* item, or -1 */
  int32_t width; /* bounds, for dims that are not joined yet */
  int64_t base, extent, tile;
} tiling_bound;

typedef struct tiling_search {
  const tesela__tiling *tiling;
  int32_t levels, n;
  int32_t n_holes, n_free;                                         /* n_free: of these on dims of extent 1 */
  int32_t left, orders;                                            /* effort */
  int32_t chain_length[TESELA_MAX_RANK], last_of[TESELA_MAX_RANK]; /* of a group: digits, the last item */
  int32_t item_of[TESELA_MAX_RANK][TESELA__TILING_DIGITS];
  tiling_item item[TILING_ITEMS];
  bool found;
  int64_t cost;
  tesela_xla_layout best;
} tiling_search;

static bool tiling_is_hole(const tiling_search *s, int32_t i) {
  return s->item[i].group < 0 || s->item[i].group >= s->tiling->n_groups;
}

/* ---- the bounds ------------------------------------------------------------------------------------------------- */

static int32_t tiling_start(const tiling_search *s, const int32_t *order, tiling_bound *bound) {
  const tesela__tiling *t = s->tiling;
  int32_t n = 0;
  for (int32_t k = s->n_free; k < t->n_ones; k++) bound[n++] = (tiling_bound){-1, 0, -1, -1, 1, 1, 1, 1};
  for (int32_t k = 0; k < t->n_groups + s->n_free; k++) {
    int32_t g = order[k];
    if (g >= t->n_groups) {
      bound[n] = (tiling_bound){-1, 0, -1, -1, 1, 1, 1, 1};
      for (int32_t i = 0; i < s->n; i++)
        if (s->item[i].group == g) bound[n].hole = i;
      n++;
      continue;
    }
    bool moved = false;
    for (int32_t c = 0; c < s->chain_length[g]; c++) moved = moved || s->item[s->item_of[g][c]].moves;
    bound[n++] = (tiling_bound){
        g, 0, s->chain_length[g] - 1, -1, moved ? 1 : t->group[g].n_dims, 1, t->group[g].extent, 1};
  }
  return n;
}

/* ---- one level --------------------------------------------------------------------------------------------------- */

/* The entry for a bound; its parts are *count, which stays, and *rest, which moves. */
static bool tiling_cut(const tiling_search *s, int32_t level, tiling_bound *b, tiling_bound *count,
                       tiling_bound *rest) {
  tiling_bound none = {-1, 0, -1, -1, b->width, 1, 1, 1};
  int32_t cut = b->first;
  b->tile = 1;
  *count = *b;
  *rest = none;
  if (b->last < b->first) { /* a hole, or nothing */
    if (b->hole < 0 || !(s->item[b->hole].moves >> level & 1)) return true;
    b->tile = s->item[b->hole].extent;
    *rest = *b;
    rest->extent = b->tile;
    *count = none;
    return true;
  }
  for (; cut <= b->last && !(s->item[s->item_of[b->group][cut]].moves >> level & 1); cut++) {
  }
  for (int32_t c = cut; c <= b->last; c++)
    if (!(s->item[s->item_of[b->group][c]].moves >> level & 1)) return false;
  if (cut > b->last) return true;
  if (cut == b->first) {
    const tiling_item *top = &s->item[s->item_of[b->group][b->first]];
    int64_t padded;
    if (!tesela__mul(top->room, top->step / b->base, &padded)) return false;
    b->tile = tesela__max(b->extent, top->room > top->extent ? padded : 0);
    *rest = *b;
    rest->extent = b->tile;
    *count = none;
    return true;
  }
  int64_t step = s->item[s->item_of[b->group][cut - 1]].step;
  for (int32_t c = b->first; c < cut; c++)
    if (s->item[s->item_of[b->group][c]].step % step != 0) return false;
  b->tile = step / b->base;
  *count = *rest = *b;
  count->last = cut - 1;
  count->base = step;
  count->extent = tesela__ceil_div(b->extent, b->tile);
  rest->first = cut;
  rest->extent = b->tile;
  return true;
}

/* Add the tile of a level to out, and replace the bounds. `all`: the tile covers all bounds, since the first one is new. */
static bool tiling_level(const tiling_search *s, int32_t level, bool all, int32_t *n, tiling_bound *bound,
                         tesela_xla_layout *out, int64_t *cost) {
  static const int64_t joined = TESELA_XLA_COMBINE;
  tiling_bound part[2][TILING_BOUNDS];
  int64_t entry[TESELA_XLA_MAX_TILE_NUMBERS];
  int32_t first = *n, n_entries = 0;
  bool any = false;
  for (int32_t k = *n - 1; k >= 0; k--) {
    if (!tiling_cut(s, level, &bound[k], &part[0][k], &part[1][k])) return false;
    any = any || bound[k].tile > 1;
    bool joins = level == 0 && bound[k].width == 1 && bound[k].group >= 0 &&
                 s->tiling->group[bound[k].group].n_dims > 1;
    if (all || joins || bound[k].tile > 1) first = k;
  }
  if (!any || 2 * *n - first > TILING_BOUNDS) return false;
  for (int32_t k = first; k < *n; k++) {
    const tiling_bound *b = &bound[k];
    int32_t more = b->width - 1;
    bool joins = level == 0 && b->width == 1 && b->group >= 0;
    if (joins) more = s->tiling->group[b->group].n_dims - 1;
    if (n_entries + more + 1 > TESELA_XLA_MAX_TILE_NUMBERS) return false;
    for (int32_t i = 0; i < more; i++) entry[n_entries++] = joins ? joined : 1;
    entry[n_entries++] = b->tile;
    *cost += (int64_t)(more + 1) * 1000 + (b->tile > 1);
  }
  if (tesela_xla_layout_add_tile(out, n_entries, entry, NULL) != TESELA_OK) return false;
  int32_t end = *n;
  for (int32_t k = first; k < end; k++) bound[k] = part[0][k];
  for (int32_t k = first; k < end; k++) bound[(*n)++] = part[1][k];
  return true;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* Do the last bounds have the digits and holes in order, with their room? */
static bool tiling_is_right(const tiling_search *s, int32_t n, const tiling_bound *bound) {
  int32_t at = 0;
  for (int32_t k = 0; k < n; k++) {
    const tiling_bound *b = &bound[k];
    if (b->last < b->first && b->hole < 0) continue;
    if (at == s->n || b->last > b->first) return false;
    int32_t item = b->hole >= 0 ? b->hole : s->item_of[b->group][b->first];
    if (item != at || (b->extent != s->item[at].room)) return false;
    at++;
  }
  return at == s->n;
}

/* The bounds before a level, and the layout so far. */
typedef struct tiling_state {
  int32_t n;
  bool all;
  int64_t cost;
  tesela_xla_layout made;
  tiling_bound bound[TILING_BOUNDS];
} tiling_state;

/* Put the holes from item i on that first move at this level on bounds of extent 1, or on a new leading one, in all ways; then
 * go on with the next level. */
static void tiling_levels(tiling_search *s, int32_t level, int32_t i, const tiling_state *before) {
  tiling_state next;
  if (s->found && before->cost >= s->cost) return;
  if (level == s->levels) {
    if (!tiling_is_right(s, before->n, before->bound)) return;
    s->found = true;
    s->cost = before->cost;
    s->best = before->made;
    return;
  }
  while (i < s->n &&
         (s->item[i].group >= 0 || (s->item[i].moves & (((uint32_t)2 << level) - 1)) != (uint32_t)1 << level))
    i++;
  next = *before;
  if (i == s->n) {
    next.all = false;
    if (tiling_level(s, level, before->all, &next.n, next.bound, &next.made, &next.cost))
      tiling_levels(s, level + 1, 0, &next);
    return;
  }
  for (int32_t k = 0; k < before->n && s->left-- > 0; k++) {
    const tiling_bound *b = &before->bound[k];
    if (b->last >= b->first || b->hole >= 0 || b->width != 1) continue;
    next.bound[k].hole = i;
    tiling_levels(s, level, i + 1, &next);
    next.bound[k].hole = -1;
  }
  if (next.n == TILING_BOUNDS) return;
  for (int32_t k = next.n; k > 0; k--) next.bound[k] = next.bound[k - 1];
  next.bound[0] = (tiling_bound){-1, 0, -1, i, 1, 1, 1, 1};
  next.n++;
  next.all = true;
  tiling_levels(s, level, i + 1, &next);
}

/* Numbers and an order of the dims are chosen: make the layout, and keep it if it is the best one. */
static void tiling_try(tiling_search *s, const int32_t *order) {
  const tesela__tiling *t = s->tiling;
  tiling_state start = {.n = 0};
  int32_t major[TESELA_MAX_RANK], n_major = 0;
  for (int32_t k = s->n_free; k < t->n_ones; k++) major[n_major++] = t->one[k];
  for (int32_t k = 0; k < t->n_groups + s->n_free; k++) {
    int32_t g = order[k];
    if (g >= t->n_groups) major[n_major++] = t->one[g - t->n_groups];
    for (int32_t i = 0; g < t->n_groups && i < t->group[g].n_dims; i++) major[n_major++] = t->group[g].dim[i];
  }
  if (tesela_xla_layout_make_major_to_minor(&start.made, n_major, major, NULL) != TESELA_OK) return;
  start.n = tiling_start(s, order, start.bound);
  tiling_levels(s, 0, 0, &start);
}

/* Order groups and the holes on dims of extent 1, most major first, in all ways: digits that always move together keep their
 * order. The first way is that of memory, dims that never move first. */
static void tiling_orders(tiling_search *s, int32_t at, uint64_t done, int32_t *order) {
  uint64_t moved = 0, tried = done;
  if (at == s->tiling->n_groups + s->n_free) {
    s->orders--;
    tiling_try(s, order);
    return;
  }
  for (int32_t i = 0; i < s->n; i++)
    if (s->item[i].group >= 0 && s->item[i].moves) moved |= UINT64_C(1) << s->item[i].group;
  for (int32_t i = 0; i < 2 * s->n && s->orders > 0; i++) {
    int32_t g = s->item[i % s->n].group;
    if (g < 0 || tried >> g & 1 || (i < s->n && moved >> g & 1)) continue;
    bool ready = true;
    for (int32_t k = 1; k < s->n; k++) {
      const tiling_item *low = &s->item[k], *high = &s->item[k - 1];
      if (low->group == g && high->group >= 0 && low->moves == high->moves)
        ready = ready && (done >> high->group & 1);
    }
    tried |= UINT64_C(1) << g;
    if (!ready) continue;
    order[at] = g;
    tiling_orders(s, at + 1, done | UINT64_C(1) << g, order);
  }
}

/* Is the number with the bits of the levels in the other order greater? */
static bool tiling_later(uint32_t a, uint32_t b) {
  uint32_t different = a ^ b, lowest = different & (~different + 1);
  return (a & lowest) != 0;
}

/* All digits of a group have numbers: can its bounds be cut like this, with room for each digit? */
static bool tiling_chain_fits(const tiling_search *s, int32_t g) {
  tiling_bound bound[TESELA__TILING_DIGITS + 1], rest, count;
  int32_t n = 1;
  bound[0] = (tiling_bound){g, 0, s->chain_length[g] - 1, -1, 1, 1, s->tiling->group[g].extent, 1};
  for (int32_t level = 0; level < s->levels; level++)
    for (int32_t k = n - 1; k >= 0; k--) {
      if (!tiling_cut(s, level, &bound[k], &count, &rest)) return false;
      bound[k] = count.last < count.first ? rest : count;
      if (count.last >= count.first && rest.last >= rest.first) bound[n++] = rest;
    }
  for (int32_t k = 0; k < n; k++)
    if (bound[k].first != bound[k].last || bound[k].extent != s->item[s->item_of[g][bound[k].first]].room)
      return false;
  return true;
}

static void tiling_assign(tiling_search *s, int32_t i) {
  int32_t order[2 * TESELA_MAX_RANK];
  if (i == s->n) {
    s->orders = TILING_ORDERS;
    tiling_orders(s, 0, 0, order);
    return;
  }
  tiling_item *item = &s->item[i];
  uint32_t from = i > 0 ? s->item[i - 1].moves : 0;
  if (tiling_is_hole(s, i) && from == 0) from = 1;
  for (uint32_t moves = from; moves < (uint32_t)1 << s->levels && s->left > 0; moves++) {
    bool fits = true;
    s->left--;
    for (int32_t k = 0; k < i && fits && !tiling_is_hole(s, i); k++)
      if (s->item[k].group == item->group)
        fits = item->chain > s->item[k].chain ? tiling_later(moves, s->item[k].moves)
                                              : tiling_later(s->item[k].moves, moves);
    if (!fits) continue;
    item->moves = moves;
    if (item->group < 0 || item->group >= s->tiling->n_groups || s->last_of[item->group] != i ||
        tiling_chain_fits(s, item->group))
      tiling_assign(s, i + 1);
  }
}

/* Append a hole; bit k of `ones`: the k-th is on a dim of extent 1. */
static void tiling_add_hole(tiling_search *s, uint32_t ones, int64_t extent) {
  int32_t group = ones >> s->n_holes++ & 1 ? s->tiling->n_groups + s->n_free++ : -1;
  s->item[s->n++] = (tiling_item){group, 0, 1, extent, extent, 0};
}

/* The items in the order of memory; bit k of `holes`: the k-th digit with padding has a hole before it; of `ones`: the k-th hole is
 * on a dim of extent 1. false: a room is not a multiple, or holes or dims are missing. */
static bool tiling_items(tiling_search *s, uint32_t holes, uint32_t ones) {
  const tesela__tiling *t = s->tiling;
  int32_t padded = 0;
  s->n = s->n_free = s->n_holes = 0;
  for (int32_t g = 0; g < t->n_groups; g++) s->chain_length[g] = 0;
  for (int32_t i = 0; i < t->n; i++) {
    const tesela__tiling_digit *digit = &t->digit[i];
    int64_t room = digit->room;
    bool hole = room > digit->extent && (holes >> padded++ & 1);
    int32_t chain = 0;
    if (hole && room % digit->extent != 0) return false;
    if (hole) tiling_add_hole(s, ones, room / digit->extent);
    for (int32_t k = 0; k < t->n; k++)
      chain += t->digit[k].group == digit->group && t->digit[k].step > digit->step;
    s->chain_length[digit->group]++;
    s->last_of[digit->group] = s->n;
    s->item_of[digit->group][chain] = s->n;
    s->item[s->n++] =
        (tiling_item){digit->group, chain, digit->step, digit->extent, hole ? digit->extent : room, 0};
  }
  if (t->below > 1) tiling_add_hole(s, ones, t->below);
  return s->n_free <= t->n_ones && ones >> s->n_holes == 0;
}

bool tesela__tiling_solve(const tesela__tiling *tiling, tesela_xla_layout *out) {
  tiling_search search = {.tiling = tiling};
  int32_t padded = 0, effort = TILING_ALL;
  for (int32_t i = 0; i < tiling->n; i++) padded += tiling->digit[i].room > tiling->digit[i].extent;
  if (padded > 6) padded = 6;
  uint32_t ones = (uint32_t)1 << (tiling->n_ones ? tesela__min(padded + 1, 4) : 0);
  for (search.levels = 0; search.levels <= TILING_LEVELS && !search.found; search.levels++)
    for (uint32_t holes = 0; holes < (uint32_t)1 << padded; holes++)
      for (uint32_t k = ones; k > 0; k--) {
        search.left = effort < TILING_EFFORT ? effort : TILING_EFFORT;
        effort -= search.left;
        if (tiling_items(&search, holes, k - 1)) tiling_assign(&search, 0);
        if (search.left > 0) effort += search.left;
      }
  if (search.found) *out = search.best;
  return search.found;
}
