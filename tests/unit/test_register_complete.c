/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_register_complete.c - refusals are right: quotients and reshapes exist exactly if a register layout is the table
 * that the definition asks for, found in a list of all register layouts of that shape and those sizes. And covers against
 * its definition.
 *
 * Quotients of different ranks: all layouts up to 4 elements with dims of 1 anywhere, up to rank 3, by all of them; a
 * quotient exists if one of them composes to the layout.
 *
 * Quotients: layouts up to 8 elements with up to two replicas, up to 12 with up to one, up to 24 without any, by all
 * divisors. Reshapes: all layouts of 12, 16 and 24 elements to all shapes. In slow runs (slow_run) a part of it;
 * TESELA_SEED chooses which.
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

enum { MOST = 24 };

/* ---- all layouts, and all relations that have modes -------------------------------------------------------------- */

typedef struct item {
  tesela_register layout;
  relation table;
} item;

/* One layout for each relation, ordered by the number of elements. */
typedef struct catalogue {
  size_t n, capacity;
  item *item;
  reg_set seen;
} catalogue;

static void visit_item(void *user, const register_lists *lists) {
  catalogue *all = user;
  item new;
  relation_of_lists(&new.table, lists);
  relation_print print = relation_fingerprint(&new.table);
  if (reg_set_has(&all->seen, print)) {
    relation_free(&new.table);
    return;
  }
  reg_set_add(&all->seen, print);
  OK(reg_make(&new.layout, lists, false, &e_));
  if (all->n == all->capacity) {
    all->capacity = all->capacity ? 2 * all->capacity : 1024;
    all->item = realloc(all->item, all->capacity * sizeof *all->item);
    if (!all->item) abort();
  }
  all->item[all->n++] = new;
}

static void free_catalogue(catalogue *all) {
  for (size_t i = 0; i < all->n; i++) relation_free(&all->item[i].table);
  free(all->item);
  reg_set_free(&all->seen);
  *all = (catalogue){0};
}

static const struct {
  int32_t n;
  int64_t replica[2];
} replicas[] = {{0, {0}}, {1, {2}}, {1, {3}}, {2, {2, 2}}, {2, {2, 3}}};
enum { N_REPLICAS = sizeof replicas / sizeof replicas[0] };

static void collect(catalogue *all, int64_t from, int64_t to, int n_replicas) {
  for (int64_t n = from; n <= to; n++)
    for (int i = 0; i < n_replicas; i++)
      reg_enumerate(n, replicas[i].n, replicas[i].replica, true, visit_item, all);
}

/* ---- quotients ---------------------------------------------------------------------------------------------------- */

typedef struct counts {
  int64_t pairs, exist, no_table, no_modes;
} counts;

static void check_quotient(const item *l, const item *r, bool left, const catalogue *all, counts *count) {
  tesela_register q;
  relation table;
  tesela_error err = {.message = ""};
  bool exists = relation_quotient(&table, &l->table, &r->table, left);
  bool modes = exists && reg_set_has(&all->seen, relation_fingerprint(&table));
  if (exists && modes != relation_has_modes(&table))
    fail_msg("relation_has_modes is wrong: %s by %s", reg_text(&l->layout), reg_text(&r->layout));
  tesela_status status =
      (left ? tesela_register_left_divide : tesela_register_divide)(&q, &l->layout, &r->layout, &err);
  if ((status == TESELA_OK) != modes)
    fail_msg("%s by %s, %s: %s", reg_text(&l->layout), reg_text(&r->layout), left ? "left" : "right",
             modes ? err.message : "there is no quotient");
  if (modes)
    reg_expect(&q, &table, left ? "left_divide" : "divide");
  else
    reg_expect_refused(status, &err, left ? REFUSED(NOT_LEFT_DIVISIBLE) : REFUSED(NOT_DIVISIBLE), "quotient");
  count->pairs++;
  count->exist += modes;
  count->no_table += !exists;
  count->no_modes += exists && !modes;
  if (exists) relation_free(&table);
}

/* The layout with dims of 1 put in, so that its shape is `shape`. */
static item with_ones(const item *from, int32_t rank, const int64_t *shape) {
  item to;
  relation_op op = {.kind = RELATION_UNSQUEEZE};
  for (int32_t d = 0, own = 0; d < rank; d++) {
    if (own < from->table.rank && shape[d] == from->table.shape[own] && shape[d] != 1)
      own++;
    else
      op.list[op.n++] = d;
  }
  OK(reg_call(&to.layout, &op, &from->layout, NULL, &e_));
  if (relation_apply(&to.table, &op, &from->table, NULL) != 0) abort();
  return to;
}

static bool is_shape(const relation *r, int32_t rank, const int64_t *shape) {
  int32_t own = 0;
  for (int32_t d = 0; d < rank; d++)
    if (shape[d] != 1 && (own == r->rank || r->shape[own++] != shape[d])) return false;
  return own == r->rank;
}

/* Divide a layout by all layouts (one in `one_in`) of all shapes that divide its shape. */
static void divide_by_all(const item *l, const catalogue *divisors, const catalogue *all, reg_rng *rng,
                          int64_t one_in, counts *count) {
  const relation *whole = &l->table;
  int64_t shape[TESELA_MAX_RANK];
  for (int32_t d = 0; d < whole->rank; d++) shape[d] = 1;
  for (;;) {
    for (size_t i = 0; i < divisors->n; i++) {
      if (reg_below(rng, one_in) != 0 || !is_shape(&divisors->item[i].table, whole->rank, shape)) continue;
      item r = with_ones(&divisors->item[i], whole->rank, shape);
      check_quotient(l, &r, false, all, count);
      check_quotient(l, &r, true, all, count);
      relation_free(&r.table);
    }
    int32_t d = whole->rank - 1;
    for (; d >= 0; shape[d--] = 1) { /* the next vector of divisors */
      do shape[d]++;
      while (shape[d] <= whole->shape[d] && whole->shape[d] % shape[d] != 0);
      if (shape[d] <= whole->shape[d]) break;
    }
    if (d < 0) return;
  }
}

static void report(const char *what, const counts *count) {
  print_message("%s: %" PRId64 " pairs, %" PRId64 " with a quotient, %" PRId64
                " tables without modes (TESELA_SEED=%" PRIu64 ")\n",
                what, count->pairs, count->exist, count->no_modes, first_seed());
  assert_true(count->exist > 0 && count->no_table > 0);
}

static void quotients_exist_exactly_if_a_layout_is_one(void **state) {
  (void)state;
  catalogue small = {0}, plain = {0}, all = {0};
  counts first = {0}, second = {0}, third = {0};
  reg_rng rng = {first_seed()};
  collect(&small, 1, 8, N_REPLICAS);
  collect(&plain, 1, 12, 2);
  collect(&plain, 13, MOST, 1);
  collect(&all, 1, 8, N_REPLICAS);
  collect(&all, 9, 12, 2);
  collect(&all, 13, MOST, 1);
  for (size_t i = 0; i < small.n; i++)
    divide_by_all(&small.item[i], &small, &all, &rng, slow_run() ? 2 : 1, &first);
  report("up to 8 elements, replicas", &first);
  for (size_t i = 0; i < plain.n; i++) {
    bool large = plain.item[i].table.elements > 12;
    if (!large)
      divide_by_all(&plain.item[i], &plain, &all, &rng, 1, &second);
    else if (!slow_run() || reg_below(&rng, 4) == 0)
      divide_by_all(&plain.item[i], &plain, &all, &rng, 1, &third);
  }
  report("up to 12 elements", &second);
  report("13 to 24 elements", &third);
  free_catalogue(&small);
  free_catalogue(&plain);
  free_catalogue(&all);
}

/* ---- quotients of different ranks --------------------------------------------------------------------------------- */

/* Every layout of the catalogue with dims of 1 put in at every place, up to rank 3. */
static size_t spread_ones(const catalogue *all, item *spread, size_t room) {
  size_t n = 0;
  for (size_t i = 0; i < all->n; i++)
    for (int32_t rank = all->item[i].table.rank; rank <= 3; rank++)
      for (uint32_t own = 0; own < 1U << rank; own++) { /* bit d: dim d is one of the layout's */
        int64_t shape[3];
        int32_t k = 0;
        for (int32_t d = 0; d < rank; d++) {
          bool take = (own >> d & 1) && k < all->item[i].table.rank;
          shape[d] = take ? all->item[i].table.shape[k] : 1;
          k += (int32_t)(own >> d & 1);
        }
        if (k != all->item[i].table.rank) continue;
        if (n == room) abort();
        spread[n++] = with_ones(&all->item[i], rank, shape);
      }
  return n;
}

/* Does one of the layouts compose to l with r, by the definition of compose? */
static bool composes(const item *spread, size_t n, const item *l, const item *r, bool left) {
  relation_op compose = {.kind = RELATION_COMPOSE};
  for (size_t i = 0; i < n; i++) {
    const relation *q = &spread[i].table;
    relation product;
    if (q->elements * r->table.elements != l->table.elements) continue;
    (void)relation_apply(&product, &compose, left ? &r->table : q, left ? q : &r->table);
    bool same = relation_equal(&product, &l->table);
    relation_free(&product);
    if (same) return true;
  }
  return false;
}

static void quotients_of_other_ranks(void **state) {
  (void)state;
  enum { ROOM = 1024 };
  static item spread[ROOM];
  catalogue all = {0};
  int64_t exist = 0, more = 0;
  collect(&all, 1, 4, 2);
  size_t n = spread_ones(&all, spread, ROOM);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n; k++)
      for (int left = 0; left < 2; left++) {
        const item *l = &spread[i], *r = &spread[k];
        if (l->table.elements % r->table.elements != 0) continue;
        bool exists = composes(spread, n, l, r, left);
        counts count = {0};
        check_quotient(l, r, left, &all, &count);
        if (exists != (count.exist == 1))
          fail_msg("%s by %s, %s: %d by composing", reg_text(&l->layout), reg_text(&r->layout),
                   left ? "left" : "right", exists);
        exist += exists;
        more += r->table.rank > l->table.rank;
      }
  print_message("%zu layouts with dims of 1: %" PRId64 " quotients, %" PRId64 " divisors of larger rank\n", n,
                exist, more);
  assert_true(exist > 100 && more > 100);
  for (size_t i = 0; i < n; i++) relation_free(&spread[i].table);
  free_catalogue(&all);
}

/* ---- reshape ------------------------------------------------------------------------------------------------------ */

typedef struct shapes {
  int32_t n, rank[128];
  int64_t shape[128][TESELA_MAX_RANK];
} shapes;

static void add_shapes(shapes *s, int32_t rank, int64_t *shape, int64_t left) {
  if (left == 1) {
    s->rank[s->n] = rank;
    memcpy(s->shape[s->n++], shape, (size_t)rank * sizeof *shape);
  }
  for (int64_t f = 2; f <= left; f++)
    if (left % f == 0) {
      shape[rank] = f;
      add_shapes(s, rank + 1, shape, left / f);
    }
}

typedef struct reshaping {
  shapes shapes;
  const catalogue *all;
  int64_t pairs, refused;
} reshaping;

static void visit_reshaped(void *user, const register_lists *lists) {
  reshaping *job = user;
  tesela_register layout, out;
  relation r, expected;
  tesela_error err;
  OK(reg_make(&layout, lists, false, &e_));
  relation_of_lists(&r, lists);
  for (int32_t i = 0; i < job->shapes.n; i++) {
    expected = r; /* the same tables: row-major numbers stay */
    expected.rank = job->shapes.rank[i];
    memcpy(expected.shape, job->shapes.shape[i], (size_t)expected.rank * sizeof expected.shape[0]);
    bool modes = reg_set_has(&job->all->seen, relation_fingerprint(&expected));
    tesela_status status = tesela_register_reshape(&out, &layout, expected.rank, expected.shape, &err);
    if ((status == TESELA_OK) != modes)
      fail_msg("reshape %s to shape %d of %" PRId64 ": %s", reg_text(&layout), (int)i, r.elements,
               modes ? err.message : "no modes say it");
    if (modes)
      reg_expect(&out, &expected, "reshape");
    else
      reg_expect_refused(status, &err, REFUSED(RESHAPE_NOT_REPRESENTABLE), "reshape");
    if (job->pairs % 16 == 0 && modes != relation_has_modes(&expected))
      fail_msg("relation_has_modes is wrong");
    job->pairs++;
    job->refused += !modes;
  }
  relation_free(&r);
}

static void reshapes_exist_exactly_if_modes_say_them(void **state) {
  (void)state;
  static const int64_t sizes[] = {12, 16, 24};
  for (int s = 0; s < 3; s++) {
    catalogue all = {0};
    reshaping job = {.all = &all};
    int64_t shape[TESELA_MAX_RANK];
    int most = s < 2 ? 3 : 1;
    add_shapes(&job.shapes, 0, shape, sizes[s]);
    collect(&all, sizes[s], sizes[s], most);
    for (int i = 0; i < most; i++)
      reg_enumerate(sizes[s], replicas[i].n, replicas[i].replica, i > 0, visit_reshaped, &job);
    print_message("reshapes of %" PRId64 " elements: %" PRId64 ", refused %" PRId64 "\n", sizes[s], job.pairs,
                  job.refused);
    assert_true(s == 1 ? job.refused == 0 : job.refused > 0); /* powers of two never disagree */
    free_catalogue(&all);
  }
}

/* ---- covers -------------------------------------------------------------------------------------------------------- */

static void covers_is_its_definition(void **state) {
  (void)state;
  catalogue all = {0};
  int64_t pairs = 0, yes = 0, fewer = 0;
  reg_rng rng = {first_seed()};
  collect(&all, 1, 8, N_REPLICAS);
  collect(&all, 12, 12, 2);
  for (size_t i = 0; i < all.n; i++)
    for (size_t k = 0; k < all.n; k++) {
      const relation *have = &all.item[i].table, *need = &all.item[k].table;
      if (!is_shape(have, need->rank, need->shape)) continue;
      if (need->elements > 6 && i != k && slow_run() && reg_below(&rng, need->elements > 8 ? 64 : 8) != 0)
        continue;
      bool covers;
      OK(tesela_register_covers(&all.item[i].layout, &all.item[k].layout, &covers, &e_));
      if (covers != relation_covers(have, need))
        fail_msg("%s covers %s: %d", reg_text(&all.item[i].layout), reg_text(&all.item[k].layout), covers);
      pairs++;
      yes += covers;
      fewer += covers && need->threads < have->threads;
    }
  print_message("covers: %" PRId64 " pairs, %" PRId64 " yes, %" PRId64 " of them with fewer threads\n", pairs,
                yes, fewer);
  assert_true(yes > 100 && fewer > 10 && yes < pairs / 2);
  free_catalogue(&all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quotients_exist_exactly_if_a_layout_is_one),
      cmocka_unit_test(quotients_of_other_ranks),
      cmocka_unit_test(reshapes_exist_exactly_if_modes_say_them),
      cmocka_unit_test(covers_is_its_definition),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
