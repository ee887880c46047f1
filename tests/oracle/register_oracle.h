/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_oracle.h - the meaning of register layouts and their operations, element by element.
 *
 * Calls nothing of the library. A layout is a *relation*: for every index of a shape, the ascending list of the threads
 * that hold it, and its local id. Every operation is defined on these tables; modes occur only where four lists are
 * read, by the definition at the top of <tesela/register.h>.
 *
 *   relation_of_lists      four lists -> relation, or the rules that they break
 *   relation_apply         one operation -> relation, or the possible reasons of its refusal
 *   relation_has_modes     is a register layout equal to this relation?
 *   relation_print_*       fingerprints: FNV-1a as documented, and 128 bits for tables of relations
 *
 * Tables hold 32-bit numbers and at most RELATION_MOST threads of elements; larger ones end the program.
 */
#ifndef ORACLE_REGISTER_ORACLE_H
#define ORACLE_REGISTER_ORACLE_H

#include <tesela/register.h>

enum { RELATION_MOST = 1 << 24, LISTS_MOST = 80 };

/// The four lists as in the call; longer than the library allows, to test its limits.
typedef struct register_lists {
  int32_t rank, n_modes, n_spatial, n_local;
  int64_t shape[LISTS_MOST], mode_shape[LISTS_MOST], spatial_modes[LISTS_MOST], local_modes[LISTS_MOST];
} register_lists;

/// A register layout as a table of its elements.
typedef struct relation {
  int32_t rank;
  int64_t shape[TESELA_MAX_RANK];
  int64_t threads, locals;  ///< numbers of thread ids and of local ids
  int64_t elements, copies; ///< elements of the shape; threads that hold each of them
  int32_t *thread; ///< a row of `copies` ascending thread ids for each element, row-major over the shape
  int32_t *local;  ///< the local id of each element
} relation;

#define REFUSED(reason) ((uint32_t)1 << TESELA_REASON_##reason) ///< a reason in a set of reasons

/// The rules of tesela_register_make that the lists break; 0: none. Sizes must be small. An unused mode counts only if
/// it is above 1 and the lists have no other fault.
uint32_t register_lists_faults(const register_lists *lists);

/// The relation of lists without faults.
void relation_of_lists(relation *out, const register_lists *lists);

/// The lists of a layout, read from its fields; and its relation.
void lists_of_register(register_lists *lists, const tesela_register *layout);
void relation_of_register(relation *out, const tesela_register *layout);

void relation_free(relation *r);
bool relation_equal(const relation *a, const relation *b);

/* The operations that make a layout: from nothing, from one, from two. */
#define RELATION_OPS(X)                        \
  X(SPATIAL, spatial, 0)                       \
  X(LOCAL, local, 0)                           \
  X(COLUMN_SPATIAL, column_spatial, 0)         \
  X(COLUMN_LOCAL, column_local, 0)             \
  X(REPLICATED, replicated, 0)                 \
  X(AUTO_LOCAL_SPATIAL, auto_local_spatial, 0) \
  X(SQUEEZE, squeeze, 1)                       \
  X(UNSQUEEZE, unsqueeze, 1)                   \
  X(PERMUTE, permute, 1)                       \
  X(RESHAPE, reshape, 1)                       \
  X(FLATTEN, flatten, 1)                       \
  X(REDUCE, reduce, 1)                         \
  X(REDUCE_TO, reduce_to, 1)                   \
  X(REPEAT_TO, repeat_to, 1)                   \
  X(COMPOSE, compose, 2)                       \
  X(CONCAT, concat, 2)                         \
  X(DIVIDE, divide, 2)                         \
  X(LEFT_DIVIDE, left_divide, 2)

typedef enum relation_kind {
#define RELATION_OP(symbol, name, operands) RELATION_##symbol,
  RELATION_OPS(RELATION_OP)
#undef RELATION_OP
      RELATION_KINDS
} relation_kind;

/// One operation with its arguments.
typedef struct relation_op {
  relation_kind kind;
  int32_t n;                 ///< entries of `list`
  int64_t list[LISTS_MOST];  ///< the shape, the dims, or first and last of flatten
  bool ranked;               ///< are `ranks` given? (spatial, local)
  int64_t ranks[LISTS_MOST]; ///< one for each dim of the shape
  int64_t number;            ///< num_workers, or num_threads
  bool keepdims;             ///< of reduce
} relation_op;

const char *relation_op_name(relation_kind kind);
int relation_op_operands(relation_kind kind);

/// The result of an operation; `a` and `b` may be NULL if it has fewer operands. Returns 0 and fills *out (not a or b),
/// or the set of possible reasons of the refusal.
uint32_t relation_apply(relation *out, const relation_op *op, const relation *a, const relation *b);

/// The table q with q * r = l, or with `left` r * q = l, with or without modes; false if no such table exists.
bool relation_quotient(relation *q, const relation *l, const relation *r, bool left);

/// Is a register layout equal to this relation? Tries every order of the prime factors of each dim.
bool relation_has_modes(const relation *r);

/// Does every thread hold in `have` all elements that it holds in `need`? The shapes are equal.
bool relation_covers(const relation *have, const relation *need);

/// The fingerprint that tesela_register_hash documents.
uint64_t relation_fnv(const relation *r);

/// 128 bits of shape, sizes and both tables, ignoring dims of extent 1.
typedef struct relation_print {
  uint64_t word[2];
} relation_print;
relation_print relation_fingerprint(const relation *r);

#endif
