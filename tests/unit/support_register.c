/* SPDX-License-Identifier: Apache-2.0 */
/* support_register.c - see support_register.h. */
#include "support_register.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- random numbers ------------------------------------------------------------------------------------------ */

uint64_t reg_next(reg_rng *rng) {
  uint64_t z = rng->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

int64_t reg_below(reg_rng *rng, int64_t n) { return (int64_t)(reg_next(rng) >> 1) % n; }

int64_t reg_pick(reg_rng *rng, int32_t n, const int64_t *from) { return from[reg_below(rng, n)]; }

/* ---- the library ----------------------------------------------------------------------------------------------- */

tesela_status reg_make(tesela_register *out, const register_lists *l, bool raw, tesela_error *err) {
  return (raw ? tesela_register_make_raw
              : tesela_register_make)(out, l->rank, l->shape, l->n_modes, l->mode_shape, l->n_spatial,
                                      l->spatial_modes, l->n_local, l->local_modes, err);
}

tesela_status reg_call(tesela_register *out, const relation_op *op, const tesela_register *a,
                       const tesela_register *b, tesela_error *err) {
  const int64_t *list = op->list, *ranks = op->ranked ? op->ranks : NULL;
  switch (op->kind) {
  case RELATION_SPATIAL:
    return tesela_register_spatial(out, op->n, list, ranks, err);
  case RELATION_LOCAL:
    return tesela_register_local(out, op->n, list, ranks, err);
  case RELATION_COLUMN_SPATIAL:
    return tesela_register_column_spatial(out, op->n, list, err);
  case RELATION_COLUMN_LOCAL:
    return tesela_register_column_local(out, op->n, list, err);
  case RELATION_REPLICATED:
    return tesela_register_replicated(out, op->n, list, op->number, err);
  case RELATION_AUTO_LOCAL_SPATIAL:
    return tesela_register_auto_local_spatial(out, op->number, op->n, list, err);
  case RELATION_SQUEEZE:
    return tesela_register_squeeze(out, a, op->n, list, err);
  case RELATION_UNSQUEEZE:
    return tesela_register_unsqueeze(out, a, op->n, list, err);
  case RELATION_PERMUTE:
    return tesela_register_permute(out, a, op->n, list, err);
  case RELATION_RESHAPE:
    return tesela_register_reshape(out, a, op->n, list, err);
  case RELATION_FLATTEN:
    return tesela_register_flatten(out, a, list[0], list[1], err);
  case RELATION_REDUCE:
    return tesela_register_reduce(out, a, op->n, list, op->keepdims, err);
  case RELATION_REDUCE_TO:
    return tesela_register_reduce_to(out, a, op->n, list, err);
  case RELATION_REPEAT_TO:
    return tesela_register_repeat_to(out, a, op->n, list, err);
  case RELATION_COMPOSE:
    return tesela_register_compose(out, a, b, err);
  case RELATION_CONCAT:
    return tesela_register_concat(out, a, b, err);
  case RELATION_DIVIDE:
    return tesela_register_divide(out, a, b, err);
  case RELATION_LEFT_DIVIDE:
    return tesela_register_left_divide(out, a, b, err);
  case RELATION_KINDS:
    break;
  }
  fail_msg("no such operation");
  return TESELA_OK;
}

tesela_status reg_status_of(tesela_reason reason) {
  switch (reason) {
  case TESELA_REASON_SHAPE_NOT_POSITIVE:
  case TESELA_REASON_MODE_NOT_POSITIVE:
  case TESELA_REASON_SPATIAL_MODE_OUT_OF_RANGE:
  case TESELA_REASON_LOCAL_MODE_OUT_OF_RANGE:
  case TESELA_REASON_RANKS_OUT_OF_RANGE:
  case TESELA_REASON_WORKERS_NOT_POSITIVE:
  case TESELA_REASON_DIM_OUT_OF_RANGE:
    return TESELA_E_RANGE;
  default:
    return TESELA_E_INVALID;
  }
}

static size_t put_list(char *to, size_t room, const char *word, int32_t n, const int64_t *list) {
  size_t used = (size_t)snprintf(to, room, "%s[", word);
  for (int32_t i = 0; i < n && used < room; i++)
    used += (size_t)snprintf(to + used, room - used, "%s%" PRId64, i ? "," : "", list[i]);
  if (used < room) used += (size_t)snprintf(to + used, room - used, "]");
  return used < room ? used : room;
}

const char *reg_text(const tesela_register *layout) {
  static char texts[4][2048];
  static int turn;
  char *text = texts[turn++ % 4];
  size_t used = 0, room = sizeof texts[0];
  register_lists l;
  lists_of_register(&l, layout);
  used += put_list(text + used, room - used, "", l.rank, l.shape);
  used += put_list(text + used, room - used, " modes ", l.n_modes, l.mode_shape);
  used += put_list(text + used, room - used, " spatial ", l.n_spatial, l.spatial_modes);
  used += put_list(text + used, room - used, " local ", l.n_local, l.local_modes);
  return text;
}

/* ---- assertions ------------------------------------------------------------------------------------------------ */

/* The position of a mode: spatial entries from 0, local ones from 100. */
static int32_t position_of(const tesela_register *layout, int64_t mode) {
  for (int32_t i = 0; i < layout->n_spatial; i++)
    if (layout->spatial_modes[i] == mode) return i;
  for (int32_t i = 0; i < layout->n_local; i++)
    if (layout->local_modes[i] == mode) return 100 + i;
  return 1000;
}

bool reg_is_reduced(const tesela_register *layout, bool canonical) {
  int32_t m = 0;
  for (int32_t d = 0; d < layout->rank; d++)
    for (int64_t have = 1; have < layout->shape[d]; have *= layout->mode_shape[m++]) {
      if (m >= layout->n_modes || layout->mode_shape[m] == 1) return false;
      if (have > 1 && position_of(layout, m) == position_of(layout, m - 1) + 1) return false;
    }
  for (int32_t i = 0; canonical && i < layout->n_spatial; i++) {
    if (layout->spatial_modes[i] == -1) return false;
    if (i > 0 && layout->spatial_modes[i] < 0 && layout->spatial_modes[i - 1] < 0) return false;
  }
  return m == layout->n_modes;
}

void reg_expect(const tesela_register *layout, const relation *expected, const char *what) {
  relation found;
  tesela_error err = {.message = ""};
  if (tesela_register_check(layout, &err) != TESELA_OK)
    fail_msg("%s: %s: %s", what, reg_text(layout), err.message);
  relation_of_register(&found, layout);
  if (!relation_equal(&found, expected)) fail_msg("%s: another relation: %s", what, reg_text(layout));
  if (layout->spatial_size != expected->threads || layout->local_size != expected->locals)
    fail_msg("%s: %" PRId64 " threads, %" PRId64 " registers: %s", what, layout->spatial_size,
             layout->local_size, reg_text(layout));
  if (!reg_is_reduced(layout, false)) fail_msg("%s: not reduced: %s", what, reg_text(layout));
  relation_free(&found);
}

void reg_expect_refused(tesela_status status, const tesela_error *err, uint32_t reasons, const char *what) {
  if (status == TESELA_OK) fail_msg("%s: accepted", what);
  if (!((uint64_t)reasons >> err->reason & 1))
    fail_msg("%s: reason %s, allowed are %#x: %s", what, tesela_reason_code(err->reason), (unsigned)reasons,
             err->message);
  if (status != err->status || status != reg_status_of(err->reason) || err->message[0] == '\0')
    fail_msg("%s: status %d with reason %s: %s", what, (int)status, tesela_reason_code(err->reason),
             err->message);
}

bool reg_equal(const tesela_register *a, const tesela_register *b) {
  return a->spatial_size == b->spatial_size && a->local_size == b->local_size && a->rank == b->rank &&
         a->n_modes == b->n_modes && a->n_spatial == b->n_spatial && a->n_local == b->n_local &&
         memcmp(a->shape, b->shape, (size_t)a->rank * sizeof a->shape[0]) == 0 &&
         memcmp(a->mode_shape, b->mode_shape, (size_t)a->n_modes * sizeof a->mode_shape[0]) == 0 &&
         memcmp(a->spatial_modes, b->spatial_modes, (size_t)a->n_spatial * sizeof a->spatial_modes[0]) == 0 &&
         memcmp(a->local_modes, b->local_modes, (size_t)a->n_local * sizeof a->local_modes[0]) == 0;
}

/* ---- all layouts ------------------------------------------------------------------------------------------------ */

typedef struct enumeration {
  register_lists lists;
  int32_t n_replicas, n_items; /* items to place: modes, then replicas */
  const int64_t *replicas;
  bool primes;
  reg_visit *visit;
  void *user;
} enumeration;

static void place_items(enumeration *e, uint32_t left, bool spatial) {
  register_lists *l = &e->lists;
  uint32_t modes = ((uint32_t)1 << l->n_modes) - 1;
  if (left == 0 && !spatial) e->visit(e->user, l);
  if (spatial && (left & ~modes) == 0) place_items(e, left, false);
  for (int32_t i = 0; i < e->n_items; i++) {
    if (!(left >> i & 1)) continue;
    bool mode = i < l->n_modes;
    if (spatial) {
      l->spatial_modes[l->n_spatial++] = mode ? i : -e->replicas[i - l->n_modes];
      place_items(e, left & ~((uint32_t)1 << i), true);
      l->n_spatial--;
    } else if (mode) {
      l->local_modes[l->n_local++] = i;
      place_items(e, left & ~((uint32_t)1 << i), false);
      l->n_local--;
    }
  }
}

static void group_into_dims(enumeration *e) {
  register_lists *l = &e->lists;
  int32_t n = l->n_modes;
  e->n_items = n + e->n_replicas;
  for (uint32_t borders = 0; borders < (n > 1 ? (uint32_t)1 << (n - 1) : 1); borders++) {
    l->rank = 0;
    for (int32_t m = 0; m < n; m++)
      if (m == 0 || borders >> (m - 1) & 1)
        l->shape[l->rank++] = l->mode_shape[m];
      else
        l->shape[l->rank - 1] *= l->mode_shape[m];
    place_items(e, ((uint32_t)1 << e->n_items) - 1, true);
  }
}

static void choose_modes(enumeration *e, int64_t left) {
  if (left == 1) group_into_dims(e);
  for (int64_t f = 2; f <= left; f++) {
    bool prime = true;
    for (int64_t g = 2; e->primes && g * g <= f; g++) prime = prime && f % g != 0;
    if (left % f != 0 || !prime) continue;
    e->lists.mode_shape[e->lists.n_modes++] = f;
    choose_modes(e, left / f);
    e->lists.n_modes--;
  }
}

void reg_enumerate(int64_t elements, int32_t n_replicas, const int64_t *replicas, bool primes,
                   reg_visit *visit, void *user) {
  enumeration e = {
      .n_replicas = n_replicas, .replicas = replicas, .primes = primes, .visit = visit, .user = user};
  choose_modes(&e, elements);
}

/* ---- random layouts ---------------------------------------------------------------------------------------------- */

int32_t reg_random_shape(reg_rng *rng, int64_t elements, int32_t rank, int64_t *shape) {
  int32_t n = elements > 1 || reg_below(rng, 2) ? 1 + (int32_t)reg_below(rng, rank) : 0;
  for (int32_t d = 0; d < n; d++) shape[d] = 1;
  for (int64_t f = 2; elements > 1; f++)
    for (; elements % f == 0; elements /= f) shape[reg_below(rng, n)] *= f;
  return n;
}

static void shuffle(reg_rng *rng, int32_t n, int64_t *list) {
  for (int32_t i = n - 1; i > 0; i--) {
    int64_t j = reg_below(rng, i + 1), kept = list[i];
    list[i] = list[j];
    list[j] = kept;
  }
}

void reg_random_lists(reg_rng *rng, int64_t most, register_lists *l) {
  static const int64_t factors[] = {1, 2, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8};
  int64_t n = 1, items[LISTS_MOST], copies = 1;
  int32_t n_items = 0;
  *l = (register_lists){.rank = (int32_t)reg_below(rng, 5)};
  for (int32_t d = 0; d < l->rank; d++) {
    l->shape[d] = 1;
    for (int64_t m = reg_below(rng, 4); m >= 0; m--) {
      int64_t f = reg_pick(rng, 12, factors);
      if (n * f > most) continue;
      n *= f;
      l->shape[d] *= f;
      if (f > 1 || reg_below(rng, 2)) l->mode_shape[l->n_modes++] = f;
    }
  }
  for (int32_t m = 0; m < l->n_modes; m++) items[n_items++] = m;
  for (int64_t r = reg_below(rng, 6) - 2; r > 0; r--) {
    int64_t f = 1 + reg_below(rng, 4);
    if (copies * f > 8) continue;
    copies *= f;
    items[n_items++] = -f;
  }
  shuffle(rng, n_items, items);
  int64_t local = reg_below(rng, 4); /* number of the three modes that are local: all, none, some */
  for (int32_t i = 0; i < n_items; i++)
    if (items[i] >= 0 && reg_below(rng, 3) < local)
      l->local_modes[l->n_local++] = items[i];
    else
      l->spatial_modes[l->n_spatial++] = items[i];
}

/* ---- sets of relations ------------------------------------------------------------------------------------------- */

static size_t slot_of(const reg_set *set, relation_print print) {
  size_t at = (size_t)print.word[0] & (set->capacity - 1);
  while ((set->print[at].word[0] | set->print[at].word[1]) &&
         (set->print[at].word[0] != print.word[0] || set->print[at].word[1] != print.word[1]))
    at = (at + 1) & (set->capacity - 1);
  return at;
}

bool reg_set_has(const reg_set *set, relation_print print) {
  if (set->capacity == 0) return false;
  relation_print found = set->print[slot_of(set, print)];
  return (found.word[0] | found.word[1]) != 0;
}

void reg_set_add(reg_set *set, relation_print print) {
  if (2 * set->n >= set->capacity) {
    reg_set larger = {0, set->capacity ? 4 * set->capacity : 1024, NULL};
    larger.print = calloc(larger.capacity, sizeof *larger.print);
    if (!larger.print) abort();
    for (size_t i = 0; i < set->capacity; i++)
      if (set->print[i].word[0] | set->print[i].word[1]) reg_set_add(&larger, set->print[i]);
    free(set->print);
    *set = larger;
  }
  size_t at = slot_of(set, print);
  set->n += (set->print[at].word[0] | set->print[at].word[1]) == 0;
  set->print[at] = print;
}

void reg_set_free(reg_set *set) {
  free(set->print);
  *set = (reg_set){0};
}
