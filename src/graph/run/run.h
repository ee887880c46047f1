/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - declarations that the files of execution share.
 *
 *   run_code.c       codes of elements to values and back (run_type.h: the types)
 *   run_value.c      rounding to a type
 *   run_function.c   functions of values, folds
 *   run_tensor.c     places of the elements of an operand, by tables
 *   run_row.c        reading and writing these elements
 *   run_operator.c   one operator, block by block, over its loops (run_operator.h)
 *   run_along.c      operators that run along a dim, line by line
 *   run_copy.c       inputs, outputs, and copies by the relayout engine
 *   run_spend.c      memory and steps that a run spends
 *   graph_run.c      a program: buffers, their poison, the order of the operators
 *
 * Every buffer has a map of *marks*, one for each few bytes: the buffer for which an element was last written. A read is right
 * only if all marks of the element are those of its own buffer; so reads of padding, of stale bytes, or of an operand that its
 * own result has overwritten are counted.
 */
#ifndef TESELA_SRC_GRAPH_RUN_H
#define TESELA_SRC_GRAPH_RUN_H

#include <tesela/graph.h>

#include "base/base.h"
#include "graph/loops/loops.h"

/* ---- values ---- */

typedef union tesela__run_value {
  double f;
  int64_t i; /* unsigned integers as their bits */
} tesela__run_value;

typedef enum tesela__run_class {
  TESELA__RUN_FLOAT,
  TESELA__RUN_SIGNED,
  TESELA__RUN_UNSIGNED
} tesela__run_class;

/* Values one after the other, `step` apart; 0: one value for all. */
typedef struct tesela__run_row {
  tesela__run_value *value;
  int64_t step;
} tesela__run_row;

/* Can runs compute with this type? */
bool tesela__run_known(tesela_dtype dtype);
/* Bytes of an element of a type; 0 if runs cannot compute with it. */
int32_t tesela__run_bytes(tesela_dtype dtype);
tesela__run_class tesela__run_class_of(tesela_dtype dtype);
/* Codes (the bytes of an element as one number, in `i`) to values of class tesela__run_class_of(dtype), and values that the type holds
 * exactly to codes, of which the low bytes count. */
void tesela__run_decode(tesela_dtype dtype, int64_t n, tesela__run_value *v);
void tesela__run_encode(tesela_dtype dtype, int64_t n, tesela__run_value *v);
/* Round values to ones that the type holds: floats to the nearest, ties to even, NaN to one NaN; integers keep their low bits;
 * a float to the nearest integer towards 0 within the range, NaN to 0; pred is 1 except for 0. */
void tesela__run_round_row(tesela_dtype dtype, tesela__run_class from, int64_t n, tesela__run_value *v);
void tesela__run_convert_row(tesela__run_class to, tesela__run_class from, int64_t n, tesela__run_value *v);
/* Load and store one value, in memory of `width` bytes, low bytes first; a wider place gets zeros at the end. */
tesela__run_value tesela__run_load(tesela_dtype dtype, const uint8_t *memory);
void tesela__run_store(tesela_dtype dtype, tesela__run_value value, uint8_t *memory, int32_t width);
tesela__run_value tesela__run_round(tesela_dtype dtype, tesela__run_class from, tesela__run_value value);
tesela__run_value tesela__run_convert(tesela__run_class to, tesela__run_class from, tesela__run_value value);
/* Does a device type hold this value of a host type, floats rounded, integers exactly? The number of leading values of n that
 * it holds. */
int64_t tesela__run_fit(tesela_dtype device, tesela__run_class from, int64_t n, const tesela__run_value *v);
bool tesela__run_fits(tesela_dtype device, tesela__run_class from, tesela__run_value value);
/* The least and the greatest value of a type. */
tesela__run_value tesela__run_least(tesela_dtype dtype);
tesela__run_value tesela__run_greatest(tesela_dtype dtype);
/* Poison: a signalling NaN with a payload if the type has one; else a NaN, other than the one that is written if possible; for
 * other types bytes of 0xAD. */
void tesela__run_poison(tesela_dtype dtype, uint8_t *memory, int32_t width);

/* ---- functions ---- */

/* The class that a function computes in, and that of its result. `dtype`: of the operands. */
tesela__run_class tesela__run_class_in(tesela_fn fn, int32_t n, const tesela_dtype *dtype);
tesela__run_class tesela__run_class_out(tesela_fn fn, tesela__run_class in);
/* fn of n elements, one after the other, in class `in`; `dtype`: of operand 0. A row of step 0 as result and operand 0: a fold. */
void tesela__run_apply_row(tesela_fn fn, tesela__run_class in, tesela_dtype dtype, int64_t n,
                           tesela__run_row out, const tesela__run_row *operand);
tesela__run_value tesela__run_apply(tesela_fn fn, tesela__run_class in, tesela_dtype dtype,
                                    const tesela__run_value *v);
/* The initial value of a fold, and the function that it repeats. */
tesela_fn tesela__run_fold(tesela_fn fn, tesela_dtype dtype, tesela__run_class class,
                           tesela__run_value *first);

/* ---- a run ---- */

/* A buffer in memory. */
typedef struct tesela__run_buffer {
  uint8_t *bytes;
  int32_t *mark;            /* one for each `grain` bytes */
  tesela_dtype host, dtype; /* of the tensor; of its stored form */
  tesela__run_class class;  /* of host */
  int32_t width;            /* bytes of an element as stored */
  int64_t places;
  bool external, taken; /* outside the arena; in the memory of an operand */
} tesela__run_buffer;

typedef struct tesela__run_block {
  struct tesela__run_block *next;
} tesela__run_block;

/* For tests: divided operators, and access to the buffers at the end. */
typedef struct tesela__run_hooks {
  int32_t cores;  /* above 0: every operator runs share by share, with folded loops undivided */
  bool backwards; /* the last share first */
  void (*inspect)(void *user, int32_t node, const tesela__run_buffer *buffer, int32_t grain);
  void *user;
} tesela__run_hooks;

typedef struct tesela__run {
  const tesela_graph *graph;
  const tesela_target *target;
  bool plain, device_types;
  const tesela_graph_memory *memory;
  tesela_allocator allocator;
  tesela__run_hooks hooks;
  tesela__run_buffer *buffer; /* one for each node; bytes NULL: without a buffer */
  int32_t grain;
  tesela__run_block *blocks, *scratch; /* memory of the run, of one operator */
  tesela_graph_run_facts facts;
  /* for the caller's progress: results and products of all operators, those done, and their number at the next call */
  tesela_progress *progress;
  void *progress_user;
  int64_t work, worked, next_call;
} tesela__run;

/* Count n more results or products. TESELA_E_STOPPED if the caller stops. */
tesela_status tesela__run_worked(tesela__run *run, int64_t n, tesela_error *err);

/* Memory that lives as long as the list, or NULL. Not cleared. */
void *tesela__run_take(tesela__run *run, tesela__run_block **list, int64_t count, size_t size);
void tesela__run_drop(tesela__run *run, tesela__run_block **list);

/* ---- tensors ---- */

/* The places of elements: a sum of table entries, one for each coordinate, or computed by the core. */
typedef struct tesela__run_tensor {
  tesela__op_tensor at;
  tesela__run_buffer *buffer;
  int32_t id; /* of the buffer */
  bool tabled;
  int64_t *table[TESELA_MAX_RANK]; /* of each coordinate of `at.base` */
  int32_t *even
      [TESELA_MAX_RANK]; /* of each entry of a table: number of following steps that equal the first one */
  int64_t origin;        /* added to them: the offset of the axis */
  int64_t *copy;         /* distances of further places of an element from its first */
  int64_t n_copies;
} tesela__run_tensor;

/* Elements whose iteration indices differ in one dim, by `step` each; dim -1: in no dim. */
typedef struct tesela__run_line {
  int32_t dim;
  int64_t step;
} tesela__run_line;

tesela_status tesela__run_tensor_make(tesela__run *run, const tesela__op_tensor *at,
                                      tesela__run_tensor *tensor, tesela_error *err);
/* Does iteration dim `dim` move it? */
bool tesela__run_moves(const tesela__run_tensor *tensor, int32_t dim);
/* Its place at an iteration; false: no element there. `looked_up`: the index of the dim that is looked up. */
bool tesela__run_locate(const tesela__run_tensor *tensor, const int64_t *iteration, int64_t looked_up,
                        int64_t *place);
/* The places of the elements of a row: in equal steps from the first, or in a list, with -1 for no element. */
typedef struct tesela__run_places {
  int64_t first, step;
  const int64_t *list; /* NULL: in steps */
} tesela__run_places;

static inline int64_t tesela__run_place(const tesela__run_places *places, int64_t j) {
  return places->list ? places->list[j] : places->first + j * places->step;
}

/* The places after the first `at`. */
static inline tesela__run_places tesela__run_behind(tesela__run_places places, int64_t at) {
  return (tesela__run_places){places.first + at * places.step, places.step,
                              places.list ? places.list + at : NULL};
}

/* n places from an iteration on; returns the number of elements. `list`: room for n. */
int64_t tesela__run_find(const tesela__run_tensor *tensor, const int64_t *iteration, tesela__run_line line,
                         int64_t looked_up, int64_t n, int64_t *list, tesela__run_places *places);
/* Read codes at places, 0 for no element; counts those that were never written. Write codes to places, which all exist, with
 * marks. */
void tesela__run_get(tesela__run *run, const tesela__run_tensor *tensor, int64_t n, tesela__run_places places,
                     tesela__run_value *v);
void tesela__run_put(tesela__run *run, const tesela__run_tensor *tensor, int64_t n, tesela__run_places places,
                     const tesela__run_value *v);
/* The same with values of a class. Writing rounds them to the tensor's type and then to the stored one, in `v`.
 * TESELA_E_RANGE if an integer does not fit the latter. */
void tesela__run_read_row(tesela__run *run, const tesela__run_tensor *tensor, int64_t n,
                          tesela__run_places places, tesela__run_class class, tesela__run_value *v);
tesela_status tesela__run_write_row(tesela__run *run, const tesela__run_tensor *tensor, int64_t n,
                                    tesela__run_places places, tesela__run_class class, tesela__run_value *v,
                                    tesela_error *err);
/* Copy elements: bits if the types are equal. `v`: room for n. */
tesela_status tesela__run_pass_row(tesela__run *run, const tesela__run_tensor *to,
                                   tesela__run_places to_places, const tesela__run_tensor *from,
                                   tesela__run_places from_places, int64_t n, tesela__run_value *v,
                                   tesela_error *err);
/* Only the counts and marks of such a copy; another function moved the bytes. */
void tesela__run_passed(tesela__run *run, const tesela__run_tensor *to, tesela__run_places to_places,
                        const tesela__run_tensor *from, tesela__run_places from_places, int64_t n);
/* Read one element, in the class of its tensor; write one of any class. */
tesela__run_value tesela__run_read(tesela__run *run, const tesela__run_tensor *tensor, int64_t place);
tesela_status tesela__run_write(tesela__run *run, const tesela__run_tensor *tensor, int64_t place,
                                tesela__run_class class, tesela__run_value value, tesela_error *err);
tesela_status tesela__run_pass(tesela__run *run, const tesela__run_tensor *to, int64_t to_place,
                               const tesela__run_tensor *from, int64_t from_place, tesela_error *err);

/* ---- operators and copies ---- */

tesela_status tesela__run_operator(tesela__run *run, int32_t node, tesela_error *err);
/* An operator along a dim; its passes over a line of n elements: one, plus one for each merge of a sort. */
int64_t tesela__run_along_times(tesela_fn fn, int64_t n);
tesela_status tesela__run_along(tesela__run *run, int32_t node, tesela_error *err);
tesela_status tesela__run_input(tesela__run *run, int32_t node, const void *host, tesela_error *err);
tesela_status tesela__run_output(tesela__run *run, int32_t node, void *host, tesela_error *err);
/* A clone or move by the relayout engine. *done: it was possible. */
tesela_status tesela__run_relayout(tesela__run *run, int32_t node, const tesela__run_tensor *to,
                                   const tesela__run_tensor *from, bool *done, tesela_error *err);

/* tesela_graph_run with hooks, which may be NULL. */
tesela_status tesela__graph_run(const tesela_graph *graph, const tesela_target *target,
                                const void *const *inputs, void *const *outputs,
                                const tesela_graph_run_options *options, const tesela__run_hooks *hooks,
                                tesela_graph_run_facts *facts, tesela_error *err);

#endif
