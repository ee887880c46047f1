/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_register.h - register layouts for the tests: all of them up to a size, random ones, and every function that
 * creates one, called by the table of the oracle.
 */
#ifndef UNIT_SUPPORT_REGISTER_H
#define UNIT_SUPPORT_REGISTER_H

#include <tesela/tesela.h>

#include "register_oracle.h"

/* ---- random numbers ------------------------------------------------------------------------------------------ */

typedef struct reg_rng {
  uint64_t state;
} reg_rng;

uint64_t reg_next(reg_rng *rng);
int64_t reg_below(reg_rng *rng, int64_t n);                     ///< 0 .. n-1
int64_t reg_pick(reg_rng *rng, int32_t n, const int64_t *from); ///< one of a list

/* ---- the library ----------------------------------------------------------------------------------------------- */

/// make or make_raw, from four lists.
tesela_status reg_make(tesela_register *out, const register_lists *lists, bool raw, tesela_error *err);

/// Call the function for an operation of the oracle. `b` is NULL for one operand, both for none.
tesela_status reg_call(tesela_register *out, const relation_op *op, const tesela_register *a,
                       const tesela_register *b, tesela_error *err);

/// The status for a reason.
tesela_status reg_status_of(tesela_reason reason);

/// "[6,12] modes [3,2,4,3] spatial [1,3] local [0,2]"; one of four buffers in turn.
const char *reg_text(const tesela_register *layout);

/* ---- assertions; each prints the layout's text ----------------------------------------------------------------- */

/// The layout is this relation, accepted by tesela_register_check, and reduced.
void reg_expect(const tesela_register *layout, const relation *expected, const char *what);

/// No mode of 1 and none that could join the one before it; canonical: also no replica of 1 and no two adjacent
/// replicas.
bool reg_is_reduced(const tesela_register *layout, bool canonical);

/// A refusal with one of the reasons, its status, a message, and an unchanged `out`.
void reg_expect_refused(tesela_status status, const tesela_error *err, uint32_t reasons, const char *what);

/// Equal in all fields that are used, sizes included.
bool reg_equal(const tesela_register *a, const tesela_register *b);

/* ---- all layouts ------------------------------------------------------------------------------------------------ */

typedef void reg_visit(void *user, const register_lists *lists);

/// Visit every layout of `elements` elements whose dims are above 1: every shape, every split into modes above 1
/// (`primes`: into primes), every order of modes and given replicas in the two lists.
void reg_enumerate(int64_t elements, int32_t n_replicas, const int64_t *replicas, bool primes,
                   reg_visit *visit, void *user);

/// Random lists of up to `most` elements and a few replicas, sometimes with dims and modes of 1.
void reg_random_lists(reg_rng *rng, int64_t most, register_lists *lists);

/// A random shape of `elements` elements and up to `rank` dims; returns its rank.
int32_t reg_random_shape(reg_rng *rng, int64_t elements, int32_t rank, int64_t *shape);

/* ---- sets of relations ------------------------------------------------------------------------------------------- */

typedef struct reg_set {
  size_t n, capacity;
  relation_print *print;
} reg_set;

void reg_set_add(reg_set *set, relation_print print);
bool reg_set_has(const reg_set *set, relation_print print);
void reg_set_free(reg_set *set);

#endif
