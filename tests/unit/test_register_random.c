/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_register_random.c - every operation on random layouts of up to 4096 elements against its pointwise definition, with
 * good and bad arguments: the result, the refusal and its reason, `out` the same object as an input, no error object, an
 * `out` that stays as it was. Lists with faults, covers, and layouts whose fields hold anything at all.
 *
 * TESELA_SEED chooses the layouts; a failure prints the seed of its case: run again with that to get it first.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support_register.h"
#include "support_seed.h"

#define OK(call)                                                    \
  do {                                                              \
    tesela_error e_ = {.message = ""};                              \
    if ((call) != TESELA_OK) fail_msg("%s: %s", #call, e_.message); \
  } while (0)

enum { CASES = 60000 };

/* ---- random arguments --------------------------------------------------------------------------------------------- */

static int64_t signed_dim(reg_rng *rng, int64_t dim, int32_t rank) {
  return reg_below(rng, 2) ? dim - rank : dim;
}

/* k different dims of `rank` in random order, some counted from the end. */
static void random_dims(reg_rng *rng, relation_op *op, int32_t rank, int64_t k) {
  uint64_t taken = 0;
  while (op->n < k) {
    int64_t d = reg_below(rng, rank);
    if (taken >> d & 1) continue;
    taken |= (uint64_t)1 << d;
    op->list[op->n++] = signed_dim(rng, d, rank);
  }
}

static void random_creation(reg_rng *rng, relation_op *op) {
  op->n = reg_random_shape(rng, 1 + reg_below(rng, 256), 4, op->list);
  int64_t elements = 1;
  for (int32_t d = 0; d < op->n; d++) elements *= op->list[d];
  op->number = 1 + reg_below(rng, 8);
  if (op->kind == RELATION_AUTO_LOCAL_SPATIAL) {
    do op->number = 1 + reg_below(rng, 2 * elements);
    while (elements % op->number != 0 && op->number % elements != 0);
    if (op->number > 4 * elements) op->number = elements;
  }
  op->ranked = op->kind <= RELATION_LOCAL && reg_below(rng, 2);
  for (int32_t d = 0; d < op->n; d++) op->ranks[d] = d;
  for (int32_t d = op->n - 1; d > 0; d--) {
    int64_t j = reg_below(rng, d + 1), kept = op->ranks[d];
    op->ranks[d] = op->ranks[j];
    op->ranks[j] = kept;
  }
}

static void random_change(reg_rng *rng, relation_op *op, const relation *a) {
  int32_t rank = a->rank;
  switch (op->kind) {
  case RELATION_SQUEEZE:
    for (int32_t d = 0; d < rank; d++)
      if (a->shape[d] == 1 && reg_below(rng, 3)) op->list[op->n++] = signed_dim(rng, d, rank);
    break;
  case RELATION_UNSQUEEZE: {
    int64_t more = reg_below(rng, 4);
    random_dims(rng, op, rank + (int32_t)more, more);
    break;
  }
  case RELATION_PERMUTE:
    random_dims(rng, op, rank, rank);
    break;
  case RELATION_RESHAPE:
    op->n = reg_random_shape(rng, a->elements, 5, op->list);
    break;
  case RELATION_FLATTEN: {
    int64_t first = rank ? reg_below(rng, rank) : 0, last = rank ? first + reg_below(rng, rank - first) : -1;
    op->n = 2;
    op->list[0] = rank ? signed_dim(rng, first, rank) : first;
    op->list[1] = rank ? signed_dim(rng, last, rank) : last;
    break;
  }
  case RELATION_REDUCE:
    random_dims(rng, op, rank, rank ? reg_below(rng, rank + 1) : 0);
    op->keepdims = reg_below(rng, 2);
    break;
  case RELATION_REDUCE_TO: {
    int32_t lead = (int32_t)reg_below(rng, rank + 1);
    for (int32_t d = lead; d < rank; d++) op->list[op->n++] = reg_below(rng, 2) ? 1 : a->shape[d];
    break;
  }
  default: /* RELATION_REPEAT_TO */
    for (int64_t lead = reg_below(rng, 2); lead > 0; lead--) op->list[op->n++] = 1 + reg_below(rng, 3);
    for (int32_t d = 0; d < rank; d++)
      op->list[op->n++] = a->shape[d] * (a->elements < 512 ? 1 + reg_below(rng, 2) : 1);
  }
}

/* Change one integer of the arguments, or drop or add one. */
static void spoil(reg_rng *rng, relation_op *op) {
  static const int64_t changes[] = {-99, -9, -2, -1, 1, 2, 9};
  int64_t change = reg_pick(rng, 7, changes);
  if (op->kind < RELATION_SQUEEZE && reg_below(rng, 3) == 0)
    op->number += change;
  else if (op->ranked && op->n && reg_below(rng, 2))
    op->ranks[reg_below(rng, op->n)] += change;
  else if (op->n && (op->kind == RELATION_FLATTEN || reg_below(rng, 4)))
    op->list[reg_below(rng, op->n)] += change;
  else if (op->kind >= RELATION_SQUEEZE && op->kind != RELATION_FLATTEN)
    op->list[op->n++] = change;
}

/* ---- one case ------------------------------------------------------------------------------------------------------ */

typedef struct example {
  relation_op op;
  tesela_register a, b;
  relation table_a, table_b;
} example;

static void random_layout(reg_rng *rng, int64_t most, tesela_register *layout, relation *table) {
  register_lists lists;
  reg_random_lists(rng, most, &lists);
  relation_of_lists(table, &lists);
  OK(reg_make(layout, &lists, reg_below(rng, 2), &e_));
}

/* Half of the layouts to be divided are a multiple of the divisor. */
static void multiply(reg_rng *rng, example *x) {
  relation_op op = {.kind = RELATION_COMPOSE};
  relation product;
  bool left = x->op.kind == RELATION_LEFT_DIVIDE;
  if (reg_below(rng, 4) == 0) return;
  (void)relation_apply(&product, &op, left ? &x->table_b : &x->table_a, left ? &x->table_a : &x->table_b);
  OK(reg_call(&x->a, &op, left ? &x->b : &x->a, left ? &x->a : &x->b, &e_));
  relation_free(&x->table_a);
  x->table_a = product;
}

static void random_example(reg_rng *rng, example *x) {
  memset(x, 0, sizeof *x);
  x->op.kind = (relation_kind)reg_below(rng, RELATION_KINDS);
  int operands = relation_op_operands(x->op.kind);
  int64_t most = reg_below(rng, 8) == 0 ? 64 : 16; /* of each of two; their product is up to 4096 */
  random_layout(rng, operands < 2 ? (reg_below(rng, 8) == 0 ? 4096 : 256) : most, &x->a, &x->table_a);
  random_layout(rng, most, &x->b, &x->table_b);
  if (operands == 0) random_creation(rng, &x->op);
  if (operands == 1) random_change(rng, &x->op, &x->table_a);
  if (x->op.kind == RELATION_DIVIDE || x->op.kind == RELATION_LEFT_DIVIDE) multiply(rng, x);
  if (operands < 2 && reg_below(rng, 5) == 0) spoil(rng, &x->op);
}

static bool is_filled(const tesela_register *layout) {
  const unsigned char *byte = (const unsigned char *)layout;
  for (size_t i = 0; i < sizeof *layout; i++)
    if (byte[i] != 0xA5) return false;
  return true;
}

/* The same call with `out` being an input, and without an error object. */
static void check_aliases(const example *x, tesela_status status, const tesela_register *out,
                          const char *what) {
  int operands = relation_op_operands(x->op.kind);
  tesela_error err;
  for (int i = 0; i < operands; i++) {
    tesela_register inputs[2] = {x->a, x->b}, before[2] = {x->a, x->b};
    if (reg_call(&inputs[i], &x->op, &inputs[0], &inputs[1], &err) != status)
      fail_msg("%s: out is input %d", what, i);
    if (status == TESELA_OK ? !reg_equal(&inputs[i], out) : !reg_equal(&inputs[i], &before[i]))
      fail_msg("%s: out is input %d: %s", what, i, reg_text(&inputs[i]));
    if (!reg_equal(&inputs[1 - i], &before[1 - i])) fail_msg("%s: an input changed", what);
  }
  if (operands == 2) {
    tesela_register both = x->b, other;
    status = reg_call(&other, &x->op, &x->b, &x->b, &err);
    if (reg_call(&both, &x->op, &both, &both, NULL) != status) fail_msg("%s: one object for all", what);
    if (!reg_equal(&both, status == TESELA_OK ? &other : &x->b)) fail_msg("%s: one object for all", what);
  } else {
    tesela_register other;
    if (reg_call(&other, &x->op, &x->a, &x->b, NULL) != status) fail_msg("%s: without an error object", what);
  }
}

static void check_example(const example *x, const char *what, int64_t counts[2]) {
  relation expected;
  tesela_register out;
  tesela_error err = {.message = ""};
  memset(&out, 0xA5, sizeof out);
  uint32_t refused = relation_apply(&expected, &x->op, &x->table_a, &x->table_b);
  tesela_status status = reg_call(&out, &x->op, &x->a, &x->b, &err);
  counts[refused != 0]++;
  if (refused) {
    reg_expect_refused(status, &err, refused, what);
    if (!is_filled(&out)) fail_msg("%s: out changed", what);
  } else {
    if (status != TESELA_OK) fail_msg("%s: %s", what, err.message);
    reg_expect(&out, &expected, what);
    relation_free(&expected);
  }
  check_aliases(x, status, &out, what);
}

static void operations_are_their_definitions(void **state) {
  (void)state;
  int64_t counts[RELATION_KINDS][2] = {{0}};
  for (uint64_t i = 0; i < CASES; i++) {
    reg_rng rng = {first_seed() + i};
    example x;
    char what[64];
    random_example(&rng, &x);
    (void)snprintf(what, sizeof what, "TESELA_SEED=%" PRIu64 ": %s", first_seed() + i,
                   relation_op_name(x.op.kind));
    check_example(&x, what, counts[x.op.kind]);
    relation_free(&x.table_a);
    relation_free(&x.table_b);
  }
  for (int kind = 0; kind < RELATION_KINDS; kind++) {
    bool total = kind == RELATION_COMPOSE || kind == RELATION_CONCAT;
    print_message("%-20s %5" PRId64 " made, %5" PRId64 " refused\n", relation_op_name((relation_kind)kind),
                  counts[kind][0], counts[kind][1]);
    assert_true(counts[kind][0] > CASES / 200 && (total || counts[kind][1] > CASES / 2000));
  }
}

/* ---- lists with faults --------------------------------------------------------------------------------------------- */

static void spoil_lists(reg_rng *rng, register_lists *l) {
  static const int64_t changes[] = {-2, -1, 1, 2, 3, 40};
  int64_t change = reg_pick(rng, 6, changes);
  switch (reg_below(rng, 6)) {
  case 0:
    if (l->rank) l->shape[reg_below(rng, l->rank)] += change;
    break;
  case 1:
    if (l->n_modes) l->mode_shape[reg_below(rng, l->n_modes)] += change;
    break;
  case 2:
    if (l->n_spatial) l->spatial_modes[reg_below(rng, l->n_spatial)] += change;
    break;
  case 3:
    if (l->n_local) l->local_modes[reg_below(rng, l->n_local)] += change;
    break;
  case 4:
    l->n_local -= l->n_local > 0;
    break;
  default:
    l->spatial_modes[l->n_spatial++] = reg_below(rng, l->n_modes + 2);
  }
}

static void lists_are_refused_for_what_they_break(void **state) {
  (void)state;
  int64_t counts[2] = {0};
  for (uint64_t i = 0; i < CASES; i++) {
    reg_rng rng = {first_seed() + i};
    register_lists lists;
    tesela_register out;
    tesela_error err = {.message = ""};
    char what[64];
    reg_random_lists(&rng, 64, &lists);
    for (int64_t n = reg_below(&rng, 3); n >= 0; n--) spoil_lists(&rng, &lists);
    uint32_t faults = register_lists_faults(&lists);
    (void)snprintf(what, sizeof what, "TESELA_SEED=%" PRIu64, first_seed() + i);
    tesela_status status = reg_make(&out, &lists, false, &err);
    counts[faults != 0]++;
    if (faults) {
      reg_expect_refused(status, &err, faults, what);
      continue;
    }
    relation table;
    relation_of_lists(&table, &lists);
    if (status != TESELA_OK) fail_msg("%s: %s", what, err.message);
    reg_expect(&out, &table, what);
    relation_free(&table);
  }
  print_message("%" PRId64 " made, %" PRId64 " refused\n", counts[0], counts[1]);
  assert_true(counts[0] > CASES / 50 && counts[1] > CASES / 2);
}

/* ---- covers ---------------------------------------------------------------------------------------------------------- */

/* The layout changed so that it may still be covered, or nearly: threads or registers in another order, a digit cut, a
 * replica more, a dim's digits taken apart otherwise. */
static void vary(reg_rng *rng, register_lists *l) {
  int64_t kind = reg_below(rng, 4);
  if (kind == 0 && l->n_local > 1) {
    int64_t i = reg_below(rng, l->n_local), kept = l->local_modes[0];
    l->local_modes[0] = l->local_modes[i];
    l->local_modes[i] = kept;
  } else if (kind == 1 && l->n_spatial > 1) {
    int64_t i = reg_below(rng, l->n_spatial), kept = l->spatial_modes[0];
    l->spatial_modes[0] = l->spatial_modes[i];
    l->spatial_modes[i] = kept;
  } else if (kind == 2 && l->n_spatial > 0) {
    l->spatial_modes[l->n_spatial++] = l->spatial_modes[0]; /* the slowest threads are */
    if (l->spatial_modes[0] < 0)
      l->spatial_modes[0] = -1; /* .. the fastest replicas */
    else
      l->n_spatial--;
  } else if (l->n_spatial > 0) {
    int64_t mode = l->spatial_modes[0]; /* the slowest threads become registers */
    if (mode >= 0) l->local_modes[l->n_local++] = mode;
    l->n_spatial--;
    memmove(l->spatial_modes, l->spatial_modes + 1, (size_t)l->n_spatial * sizeof mode);
  }
}

/* The modes of each dim taken apart otherwise: neighbours exchanged, in place of each other in the lists. */
static void recut(reg_rng *rng, register_lists *l) {
  for (int32_t m = 0; m + 1 < l->n_modes; m++) {
    int64_t kept = l->mode_shape[m];
    if (reg_below(rng, 4) != 0) continue;
    l->mode_shape[m] = l->mode_shape[m + 1];
    l->mode_shape[m + 1] = kept;
    if (register_lists_faults(l) == 0) continue; /* of one dim */
    l->mode_shape[m + 1] = l->mode_shape[m];
    l->mode_shape[m] = kept;
  }
}

static void covers_is_its_definition(void **state) {
  (void)state;
  int64_t yes = 0, no = 0;
  for (uint64_t i = 0; i < CASES; i++) {
    reg_rng rng = {first_seed() + i};
    register_lists lists;
    tesela_register have, need;
    relation table_have, table_need;
    bool covers;
    reg_random_lists(&rng, reg_below(&rng, 8) == 0 ? 1024 : 96, &lists);
    OK(reg_make(&have, &lists, true, &e_));
    relation_of_lists(&table_have, &lists);
    if (reg_below(&rng, 2)) recut(&rng, &lists);
    for (int64_t n = reg_below(&rng, 3); n > 0; n--) vary(&rng, &lists);
    OK(reg_make(&need, &lists, reg_below(&rng, 2), &e_));
    relation_of_lists(&table_need, &lists);
    OK(tesela_register_covers(&have, &need, &covers, &e_));
    if (covers != relation_covers(&table_have, &table_need))
      fail_msg("TESELA_SEED=%" PRIu64 ": %s covers %s: %d", first_seed() + i, reg_text(&have),
               reg_text(&need), covers);
    yes += covers;
    no += !covers;
    relation_free(&table_have);
    relation_free(&table_need);
  }
  print_message("%" PRId64 " cover, %" PRId64 " do not\n", yes, no);
  assert_true(yes > CASES / 10 && no > CASES / 10);
}

/* ---- a layout that another program filled in ------------------------------------------------------------------------- */

static int64_t any_number(reg_rng *rng) {
  static const int64_t numbers[] = {INT64_MIN, INT64_MIN + 1,    INT32_MIN,        -65,      -1, 0, 1, 64,
                                    INT32_MAX, INT64_C(1) << 32, INT64_C(1) << 62, INT64_MAX};
  return reg_below(rng, 2) ? reg_pick(rng, 12, numbers) : (int64_t)reg_next(rng) >> reg_below(rng, 63);
}

static void overwrite(reg_rng *rng, tesela_register *layout) {
  int64_t number = any_number(rng);
  switch (reg_below(rng, 10)) {
  case 0:
    layout->rank = (int32_t)number;
    break;
  case 1:
    layout->n_modes = (int32_t)number;
    break;
  case 2:
    layout->n_spatial = (int32_t)number;
    break;
  case 3:
    layout->n_local = (int32_t)number;
    break;
  case 4:
    layout->spatial_size = number;
    break;
  case 5:
    layout->local_size = number;
    break;
  case 6:
    layout->shape[reg_below(rng, 4)] = number;
    break;
  case 7:
    layout->mode_shape[reg_below(rng, 8)] = number;
    break;
  case 8:
    layout->spatial_modes[reg_below(rng, 8)] = number;
    break;
  default:
    layout->local_modes[reg_below(rng, 8)] = (int32_t)number;
  }
}

/* The same layout with zeros after the ends of its lists. */
static void copy_lists(tesela_register *to, const tesela_register *from) {
  memset(to, 0, sizeof *to);
  to->rank = from->rank;
  to->n_modes = from->n_modes;
  to->n_spatial = from->n_spatial;
  to->n_local = from->n_local;
  to->spatial_size = from->spatial_size;
  to->local_size = from->local_size;
  memcpy(to->shape, from->shape, (size_t)from->rank * sizeof to->shape[0]);
  memcpy(to->mode_shape, from->mode_shape, (size_t)from->n_modes * sizeof to->mode_shape[0]);
  memcpy(to->spatial_modes, from->spatial_modes, (size_t)from->n_spatial * sizeof to->spatial_modes[0]);
  memcpy(to->local_modes, from->local_modes, (size_t)from->n_local * sizeof to->local_modes[0]);
}

/* Whatever the fields hold: check answers, and what it accepts is a layout of its lists. */
static void check_bears_anything(void **state) {
  (void)state;
  int64_t accepted = 0;
  for (uint64_t i = 0; i < CASES; i++) {
    reg_rng rng = {first_seed() + i};
    register_lists lists;
    tesela_register layout, made;
    tesela_error err;
    reg_random_lists(&rng, 1 << 20, &lists);
    OK(reg_make(&made, &lists, true, &e_));
    copy_lists(&layout, &made);
    for (int64_t n = reg_below(&rng, 3); n >= 0; n--) overwrite(&rng, &layout);
    if (tesela_register_check(&layout, &err) != TESELA_OK) {
      if (err.message[0] == '\0') fail_msg("TESELA_SEED=%" PRIu64 ": no message", first_seed() + i);
      continue;
    }
    accepted++;
    lists_of_register(&lists, &layout);
    OK(reg_make(&made, &lists, true, &e_));
    if (!reg_equal(&made, &layout))
      fail_msg("TESELA_SEED=%" PRIu64 ": %s", first_seed() + i, reg_text(&layout));
  }
  print_message("%" PRId64 " of %d accepted\n", accepted, CASES);
  assert_true(accepted > CASES / 50 && accepted < CASES / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operations_are_their_definitions),
      cmocka_unit_test(lists_are_refused_for_what_they_break),
      cmocka_unit_test(covers_is_its_definition),
      cmocka_unit_test(check_bears_anything),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
