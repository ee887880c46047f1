/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_register_exhaustive.c - every register layout up to a size against its table: making, asking, forms, the core.
 *
 * All layouts without replicas up to 64 elements, and with one or two replicas up to 16. In slow runs (slow_run) one in 8
 * of those with more than 32 elements and half of those with replicas and more than 8; TESELA_SEED chooses which.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support_register.h"
#include "support_relayout.h"
#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

/* Which layouts a visit looks at: one in `one_in`. */
typedef struct tour {
  reg_rng rng;
  int64_t one_in, seen, checked;
} tour;

static bool takes(tour *t) {
  t->seen++;
  if (slow_run() && reg_below(&t->rng, t->one_in) != 0) return false;
  t->checked++;
  return true;
}

/* Row-major, as an odometer. */
static void advance(const relation *r, int64_t *index) {
  for (int32_t d = r->rank - 1; d >= 0 && ++index[d] == r->shape[d]; d--) index[d] = 0;
}

static bool same_index(const relation *r, const int64_t *a, const int64_t *b) {
  return memcmp(a, b, (size_t)r->rank * sizeof *a) == 0;
}

/* ---- asking -------------------------------------------------------------------------------------------------- */

static bool row_has(const relation *r, int64_t element, int64_t thread) {
  for (int64_t k = 0; k < r->copies; k++)
    if (r->thread[element * r->copies + k] == thread) return true;
  return false;
}

static void check_element(const tesela_register *layout, const relation *r, int64_t element,
                          const int64_t *index, reg_rng *rng) {
  int64_t thread, local, back[TESELA_MAX_RANK];
  bool holds;
  OK(tesela_register_get_local(layout, index, &local, &e_));
  if (local != r->local[element]) fail_msg("local %" PRId64 " of %s", local, reg_text(layout));
  for (int64_t k = 0; k < r->copies; k++) {
    OK(tesela_register_get_spatial(layout, index, k, &thread, &e_));
    if (thread != r->thread[element * r->copies + k])
      fail_msg("thread %" PRId64 " of %s", thread, reg_text(layout));
    OK(tesela_register_get_global(layout, thread, local, back, &e_));
    if (!same_index(r, back, index)) fail_msg("get_global of %s", reg_text(layout));
  }
  for (int64_t t = r->threads <= 4 ? 0 : reg_below(rng, r->threads), n = 0; n < 4 && t < r->threads;
       t++, n++) {
    OK(tesela_register_locate_at(layout, index, t, &holds, &e_));
    if (holds != row_has(r, element, t)) fail_msg("locate_at %" PRId64 " of %s", t, reg_text(layout));
  }
}

static void check_asking(const tesela_register *layout, const relation *r, reg_rng *rng) {
  int64_t index[TESELA_MAX_RANK] = {0};
  uint64_t hash;
  if (layout->spatial_size != r->threads || layout->local_size != r->locals ||
      tesela_register_copies(layout) != r->copies)
    fail_msg("sizes of %s", reg_text(layout));
  for (int64_t x = 0; x < r->elements; x++, advance(r, index)) check_element(layout, r, x, index, rng);
  OK(tesela_register_hash(layout, &hash, &e_));
  if (hash != relation_fnv(r)) fail_msg("hash of %s", reg_text(layout));
}

/* ---- the core model -------------------------------------------------------------------------------------------- */

static void check_core(const tesela_register *made, const relation *r) {
  tesela_layout layout;
  tesela_register back;
  int64_t index[TESELA_MAX_RANK] = {0}, place[TESELA_MAX_AXES], found[TESELA_MAX_RANK];
  OK(tesela_register_to_layout(made, TESELA_F16, 16, &layout, &e_));
  if (layout.n_axes != 2 || strcmp(layout.axis[0].name, "thread") != 0 ||
      strcmp(layout.axis[1].name, "local") != 0 || layout.axis[0].extent != r->threads ||
      layout.axis[1].extent != r->locals || layout.bits != 16 || layout.dtype != TESELA_F16 ||
      tesela_layout_copies(&layout) != r->copies)
    fail_msg("axes of the core layout of %s", reg_text(made));
  for (int64_t x = 0; x < r->elements; x++, advance(r, index)) {
    OK(tesela_layout_place_of(&layout, index, place, &e_));
    if (place[0] != r->thread[x * r->copies] || place[1] != r->local[x])
      fail_msg("place_of: %s", reg_text(made));
    for (int64_t k = 0; k < r->copies; k++) {
      bool padding = true;
      OK(tesela_layout_copy_of(&layout, index, k, place, &e_));
      if (place[0] != r->thread[x * r->copies + k] || place[1] != r->local[x])
        fail_msg("copy_of: %s", reg_text(made));
      OK(tesela_layout_element_at(&layout, place, found, &padding, &e_));
      if (padding || !same_index(r, found, index)) fail_msg("element_at: %s", reg_text(made));
    }
  }
  tesela_translation answer;
  OK(tesela_register_from_layout(&layout, &back, &answer, &e_));
  assert_int_equal(answer.verdict, TESELA_EXACT);
  reg_expect(&back, r, "from_layout");
  if (!tesela_register_same(&back, made)) fail_msg("from_layout of %s is not the same", reg_text(made));
}

/* ---- forms ------------------------------------------------------------------------------------------------------ */

/* Replicas in their order, those of 1 included. */
static bool same_replicas(const tesela_register *layout, const register_lists *lists) {
  int32_t i = 0, k = 0;
  for (;;) {
    while (i < layout->n_spatial && layout->spatial_modes[i] >= 0) i++;
    while (k < lists->n_spatial && lists->spatial_modes[k] >= 0) k++;
    if (i == layout->n_spatial || k == lists->n_spatial)
      return i == layout->n_spatial && k == lists->n_spatial;
    if (layout->spatial_modes[i++] != lists->spatial_modes[k++]) return false;
  }
}

static bool same_list(int32_t n, const int64_t *a, int32_t m, const int64_t *b) {
  return n == m && memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

static bool same_lists(const register_lists *a, const register_lists *b) {
  return same_list(a->rank, a->shape, b->rank, b->shape) &&
         same_list(a->n_modes, a->mode_shape, b->n_modes, b->mode_shape) &&
         same_list(a->n_spatial, a->spatial_modes, b->n_spatial, b->spatial_modes) &&
         same_list(a->n_local, a->local_modes, b->n_local, b->local_modes);
}

static void check_forms(const tesela_register *made, const tesela_register *raw, const register_lists *lists,
                        const relation *r) {
  tesela_register form, again;
  register_lists kept;
  reg_expect(made, r, "make");
  if (!same_replicas(made, lists)) fail_msg("make changed replicas: %s", reg_text(made));
  lists_of_register(&kept, raw);
  if (!same_lists(&kept, lists)) fail_msg("make_raw changed the lists: %s", reg_text(raw));
  tesela_register_reduced(&form, raw);
  if (!reg_equal(&form, made)) fail_msg("reduced %s, made %s", reg_text(&form), reg_text(made));
  form = *raw;
  tesela_register_reduced(&form, &form);
  if (!reg_equal(&form, made)) fail_msg("reduced in place: %s", reg_text(&form));
  form = *raw;
  tesela_register_canonical(&form, &form);
  tesela_register_canonical(&again, raw);
  if (!reg_equal(&form, &again)) fail_msg("canonical in place: %s", reg_text(&form));
  reg_expect(&form, r, "canonical");
  if (!reg_is_reduced(&form, true)) fail_msg("not canonical: %s", reg_text(&form));
  tesela_register_canonical(&again, made);
  if (!reg_equal(&form, &again) || !tesela_register_identical(&form, &again))
    fail_msg("canonical %s of raw, %s of made", reg_text(&form), reg_text(&again));
  tesela_register_canonical(&again, &form);
  if (!reg_equal(&form, &again)) fail_msg("canonical twice: %s", reg_text(&again));
  if (!tesela_register_same(raw, made) || !tesela_register_same(&form, made))
    fail_msg("not same: %s", reg_text(made));
}

static void check_layout(const register_lists *lists, tour *t) {
  tesela_register raw, made;
  relation r;
  if (register_lists_faults(lists) != 0) fail_msg("the enumeration is wrong");
  relation_of_lists(&r, lists);
  OK(reg_make(&raw, lists, true, &e_));
  OK(reg_make(&made, lists, false, &e_));
  check_forms(&made, &raw, lists, &r);
  check_asking(&made, &r, &t->rng);
  if (r.elements <= 12) check_asking(&raw, &r, &t->rng);
  if (r.elements <= 12 || t->checked % 4 == 0) check_core(&made, &r);
  relation_free(&r);
}

static void visit_checked(void *user, const register_lists *lists) {
  if (takes(user)) check_layout(lists, user);
}

/* The same with a dim of 1 at every position, and a mode of 1 at every position of the modes and of a list. */
static void visit_with_ones(void *user, const register_lists *lists) {
  tour *t = user;
  if (!takes(t)) return;
  for (int32_t at = 0; at <= lists->rank; at++) {
    register_lists l = *lists;
    memmove(&l.shape[at + 1], &l.shape[at], (size_t)(l.rank++ - at) * sizeof l.shape[0]);
    l.shape[at] = 1;
    check_layout(&l, t);
  }
  for (int32_t m = 0; m <= lists->n_modes; m++) {
    register_lists l = *lists;
    memmove(&l.mode_shape[m + 1], &l.mode_shape[m], (size_t)(l.n_modes++ - m) * sizeof l.mode_shape[0]);
    l.mode_shape[m] = 1;
    for (int32_t i = 0; i < l.n_spatial; i++) l.spatial_modes[i] += l.spatial_modes[i] >= m;
    for (int32_t i = 0; i < l.n_local; i++) l.local_modes[i] += l.local_modes[i] >= m;
    if (reg_below(&t->rng, 2)) {
      int64_t at = reg_below(&t->rng, l.n_spatial + 1);
      memmove(&l.spatial_modes[at + 1], &l.spatial_modes[at],
              (size_t)(l.n_spatial++ - at) * sizeof l.spatial_modes[0]);
      l.spatial_modes[at] = m;
    } else {
      int64_t at = reg_below(&t->rng, l.n_local + 1);
      memmove(&l.local_modes[at + 1], &l.local_modes[at],
              (size_t)(l.n_local++ - at) * sizeof l.local_modes[0]);
      l.local_modes[at] = m;
    }
    check_layout(&l, t);
  }
}

static void report(const char *what, const tour *t) {
  print_message("%s: %" PRId64 " of %" PRId64 " (TESELA_SEED=%" PRIu64 ")\n", what, t->checked, t->seen,
                first_seed());
}

static const struct {
  int32_t n;
  int64_t replica[2];
} replicas[] = {{1, {2}}, {1, {3}}, {1, {1}}, {2, {2, 2}}, {2, {2, 3}}, {2, {1, 2}}, {2, {3, 3}}};
enum { N_REPLICAS = sizeof replicas / sizeof replicas[0] };

static void every_layout_is_its_table(void **state) {
  (void)state;
  tour small = {{first_seed()}, 1, 0, 0}, large = {{first_seed() + 1}, 8, 0, 0};
  for (int64_t n = 1; n <= 32; n++) reg_enumerate(n, 0, NULL, false, visit_checked, &small);
  for (int64_t n = 33; n <= 64; n++) reg_enumerate(n, 0, NULL, false, visit_checked, &large);
  report("layouts up to 32 elements", &small);
  report("layouts of 33 to 64 elements", &large);
}

static void replicas_are_all_their_threads(void **state) {
  (void)state;
  tour small = {{first_seed()}, 1, 0, 0}, large = {{first_seed() + 1}, 2, 0, 0};
  for (int i = 0; i < N_REPLICAS; i++)
    for (int64_t n = 1; n <= 16; n++)
      reg_enumerate(n, replicas[i].n, replicas[i].replica, false, visit_checked, n <= 8 ? &small : &large);
  report("layouts with replicas up to 8 elements", &small);
  report("layouts with replicas of 9 to 16 elements", &large);
}

static void ones_change_nothing(void **state) {
  (void)state;
  tour plain = {{first_seed()}, 1, 0, 0}, copied = {{first_seed() + 1}, 1, 0, 0};
  for (int64_t n = 1; n <= 12; n++) {
    reg_enumerate(n, 0, NULL, false, visit_with_ones, &plain);
    reg_enumerate(n, 1, replicas[0].replica, false, visit_with_ones, &copied);
  }
  report("layouts with ones put in", &plain);
  report("layouts with ones put in and a replica", &copied);
}

/* ---- the canonical form is unique --------------------------------------------------------------------------------- */

typedef struct entry {
  relation_print relation, form;
  register_lists lists;
} entry;

typedef struct entries {
  size_t n, capacity;
  entry *entry;
} entries;

static void add_text(relation_print *print, int64_t value) {
  for (int i = 0; i < 2; i++) {
    print->word[i] = (print->word[i] ^ (uint64_t)value) * (UINT64_C(0x9e3779b97f4a7c15) + 2 * (uint64_t)i);
    print->word[i] ^= print->word[i] >> 31;
  }
}

/* Of all the lists, lengths included; not the sizes, which follow. */
static relation_print print_of_lists(const tesela_register *layout) {
  relation_print print = {{1, 2}};
  register_lists l;
  lists_of_register(&l, layout);
  add_text(&print, l.rank);
  add_text(&print, l.n_modes);
  add_text(&print, l.n_spatial);
  for (int32_t i = 0; i < l.rank; i++) add_text(&print, l.shape[i]);
  for (int32_t i = 0; i < l.n_modes; i++) add_text(&print, l.mode_shape[i]);
  for (int32_t i = 0; i < l.n_spatial; i++) add_text(&print, l.spatial_modes[i] + 1000);
  for (int32_t i = 0; i < l.n_local; i++) add_text(&print, l.local_modes[i]);
  return print;
}

static void visit_collected(void *user, const register_lists *lists) {
  entries *all = user;
  if (all->n == all->capacity) {
    all->capacity = all->capacity ? 2 * all->capacity : 1024;
    all->entry = realloc(all->entry, all->capacity * sizeof *all->entry);
    if (!all->entry) abort();
  }
  tesela_register made, form;
  relation r;
  relation_of_lists(&r, lists);
  OK(reg_make(&made, lists, false, &e_));
  tesela_register_canonical(&form, &made);
  all->entry[all->n++] = (entry){relation_fingerprint(&r), print_of_lists(&form), *lists};
  relation_free(&r);
}

static int by_relation(const void *a, const void *b) {
  return memcmp(&((const entry *)a)->relation, &((const entry *)b)->relation, sizeof(relation_print));
}

static int by_form(const void *a, const void *b) {
  return memcmp(&((const entry *)a)->form, &((const entry *)b)->form, sizeof(relation_print));
}

/* In the list sorted by one print: are neighbours equal in it exactly if they are equal in the other? */
static size_t check_neighbours(const entries *all) {
  size_t classes = all->n > 0;
  for (size_t i = 1; i < all->n; i++) {
    bool table = by_relation(&all->entry[i - 1], &all->entry[i]) == 0;
    bool form = by_form(&all->entry[i - 1], &all->entry[i]) == 0;
    tesela_register a, b;
    OK(reg_make(&a, &all->entry[i - 1].lists, false, &e_));
    OK(reg_make(&b, &all->entry[i].lists, true, &e_));
    if (table != form || tesela_register_same(&a, &b) != table)
      fail_msg("%s and %s: same table %d, same canonical form %d", reg_text(&a), reg_text(&b), table, form);
    classes += !table;
  }
  return classes;
}

static void same_relation_is_same_canonical_form(void **state) {
  (void)state;
  entries all = {0, 0, NULL};
  for (int64_t n = 1; n <= 12; n++) {
    reg_enumerate(n, 0, NULL, false, visit_collected, &all);
    for (int i = 0; i < N_REPLICAS; i++)
      reg_enumerate(n, replicas[i].n, replicas[i].replica, false, visit_collected, &all);
  }
  qsort(all.entry, all.n, sizeof *all.entry, by_relation);
  size_t relations = check_neighbours(&all);
  qsort(all.entry, all.n, sizeof *all.entry, by_form);
  size_t forms = check_neighbours(&all);
  print_message("%zu spellings of %zu relations\n", all.n, relations);
  assert_int_equal(relations, forms);
  free(all.entry);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_layout_is_its_table),
      cmocka_unit_test(replicas_are_all_their_threads),
      cmocka_unit_test(ones_change_nothing),
      cmocka_unit_test(same_relation_is_same_canonical_form),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
