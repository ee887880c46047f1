/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_recipe_respell.c - a recipe in another spelling, and a recipe of another layout.
 */
#include "support_recipe.h"

int64_t recipe_divisor(int64_t n) {
  if (n < 1) return 1;
  for (int tries = 0; tries < 8; tries++) {
    int64_t t = 1 + recipe_below(n < 16 ? n : 16);
    if (n % t == 0) return t;
  }
  return n;
}

/* A split whose parts are placed like the whole. */
static void respell_split(recipe *r, int x) {
  int64_t extent = (int64_t)recipe_extent(r, x), t = recipe_divisor(extent);
  if (recipe_one_in(2) && r->node[x].stride >= 0 && !recipe_is_free(r, x, TESELA_REPLICA)) {
    t = 1 + recipe_below(5);
    r->extent[r->node[x].axis] = -1;
  }
  recipe_add_split(r, x, t);
}

/* Join two digits whose strides are nested. */
static void respell_neighbours(recipe *r, const int *leaf, int n) {
  for (int tries = 0; tries < 16; tries++) {
    int x = leaf[recipe_below(n)], y = leaf[recipe_below(n)];
    if (x == y || r->node[x].axis != r->node[y].axis || recipe_is_free(r, x, TESELA_REPLICA) ||
        recipe_is_free(r, y, TESELA_REPLICA) || r->node[x].stride != r->node[y].stride * recipe_extent(r, y))
      continue;
    recipe_add_join(r, 2, (const int[]){x, y}, r->node[x].axis, r->node[y].stride);
    return;
  }
}

/* Join some digits and split them again. */
static void respell_round_trip(recipe *r, int *leaf, int n) {
  int part[MOST_PARTS], parts = 0, want = 1 + (int)recipe_below(MOST_PARTS);
  for (int i = 0; i < want && n > 0; i++) {
    int k = (int)recipe_below(n);
    if (!recipe_is_free(r, leaf[k], TESELA_REPLICA) && recipe_extent(r, leaf[k]) > 0) part[parts++] = leaf[k];
    leaf[k] = leaf[--n];
  }
  if (parts == 0) return;
  int whole = recipe_add_join(r, parts, part, r->node[part[0]].axis, r->node[part[0]].stride);
  for (int p = parts - 1; p > 0; p--) {
    int high = recipe_add_split(r, whole, (int64_t)recipe_extent(r, part[p]));
    r->node[high + 1].axis = r->node[part[p]].axis;
    r->node[high + 1].stride = r->node[part[p]].stride;
    r->node[high].axis = r->node[part[0]].axis;
    r->node[high].stride = r->node[part[0]].stride;
    whole = high;
  }
}

void recipe_respell_replicas(recipe *r, const int *leaf, int n) {
  int other = -1;
  for (int i = 0; i < n; i++) {
    node *at = &r->node[leaf[i]];
    if (!recipe_is_free(r, leaf[i], TESELA_REPLICA)) continue;
    if (recipe_one_in(2)) {
      r->offset[at->axis] += (int64_t)(recipe_extent(r, leaf[i]) - 1) * at->stride;
      at->stride = -at->stride;
    }
    if (at->kind != FREE) continue;
    if (other >= 0) {
      node swap = r->node[other];
      r->node[other] = *at;
      *at = swap;
    }
    other = leaf[i];
  }
}

void recipe_respell(recipe *r) {
  for (int64_t times = 1 + recipe_below(3); times > 0; times--) {
    int leaf[MOST_NODES], n = recipe_leaves(r, leaf);
    if (n == 0 || r->n + 6 > MOST_NODES) return;
    switch (recipe_below(4)) {
    case 0:
      respell_split(r, leaf[recipe_below(n)]);
      break;
    case 1:
      respell_neighbours(r, leaf, n);
      break;
    case 2:
      respell_round_trip(r, leaf, n);
      break;
    default:
      recipe_respell_replicas(r, leaf, n);
      break;
    }
  }
}

void recipe_change(recipe *r) {
  int leaf[MOST_NODES], n = recipe_leaves(r, leaf), x = (int)recipe_below(r->n > 0 ? r->n : 1);
  wide low, high;
  if (n > 0 && recipe_one_in(3)) {
    node *at = &r->node[leaf[recipe_below(n)]];
    at->stride += recipe_one_in(2) ? 1 : at->stride;
  } else if (n > 1 && recipe_one_in(3)) {
    node *a = &r->node[leaf[recipe_below(n)]], *b = &r->node[leaf[recipe_below(n)]];
    int64_t stride = a->stride;
    a->stride = b->stride;
    b->stride = stride;
  } else if (r->n > 0 && (r->node[x].kind == HIGH || r->node[x].kind == LOW)) {
    int high_part = r->node[x].kind == HIGH ? x : x - 1;
    int64_t t = r->node[x].by + (recipe_one_in(2) ? 1 : -1);
    if (t >= 1 && !recipe_is_free(r, x, TESELA_REPLICA))
      r->node[high_part].by = r->node[high_part + 1].by = t;
  } else if (r->n > 0 && r->node[x].kind == JOIN) {
    int *a = &r->node[x].part[0], *b = &r->node[x].part[r->node[x].n - 1], swap = *a;
    *a = *b;
    *b = swap;
  } else if (r->n_axes > 0) {
    r->offset[recipe_below(r->n_axes)]++;
  }
  for (int a = 0; a < r->n_axes; a++) {
    recipe_span(r, a, &low, &high);
    if (low < 0) r->offset[a] += (int64_t)-low;
    r->extent[a] = -1;
  }
}
