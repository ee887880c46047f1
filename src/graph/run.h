/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - what the files of execution share.
 *
 *   run_value.c      one element: bits in memory to a value and back, rounding to a type
 *   run_function.c   functions of values, folds
 *   run_tensor.c     where an operand's element lies, by tables
 *   run_operator.c   one operator, element by element, over its loops
 *   run_copy.c       inputs, outputs, and copies by the relayout engine
 *   run.c            a program: buffers, their poison, the order of things
 *
 * Beside every buffer lies a map of *marks*, one for each few bytes: which buffer an element was last written for. An element is read
 * right only if all its marks are its own buffer's; so reading padding, stale bytes, or an operand that its own result has
 * overwritten is counted.
 */
#ifndef TESELA_SRC_GRAPH_RUN_H
#define TESELA_SRC_GRAPH_RUN_H

#include <tesela/graph_run.h>

#include "base/base.h"
#include "graph/loops.h"

/* ---- values ---- */

typedef union tesela__run_value {
  double f;
  int64_t i; /* unsigned ones as their bits */
} tesela__run_value;

typedef enum tesela__run_class {
  TESELA__RUN_FLOAT,
  TESELA__RUN_SIGNED,
  TESELA__RUN_UNSIGNED
} tesela__run_class;

/* Can be computed with. */
bool tesela__run_known(tesela_dtype dtype);
tesela__run_class tesela__run_class_of(tesela_dtype dtype);
/* The value in `bytes` of memory, of class tesela__run_class_of(dtype). */
tesela__run_value tesela__run_load(tesela_dtype dtype, const uint8_t *memory);
/* A value that the type holds exactly into `width` bytes, the first ones first; a wider place gets zeros behind. */
void tesela__run_store(tesela_dtype dtype, tesela__run_value value, uint8_t *memory, int32_t width);
/* Any value as one that the type holds: floats to the nearest, ties to even, NaN to one NaN; integers keep their low bits; a float to
 * the nearest integer towards 0 within the range, NaN to 0; pred is 1 for all but 0. */
tesela__run_value tesela__run_round(tesela_dtype dtype, tesela__run_class from, tesela__run_value value);
tesela__run_value tesela__run_convert(tesela__run_class to, tesela__run_class from, tesela__run_value value);
/* Does a device type hold this value of a host type, floats but for rounding? */
bool tesela__run_fits(tesela_dtype device, tesela__run_class from, tesela__run_value value);
/* The least and the greatest value of a type. */
tesela__run_value tesela__run_least(tesela_dtype dtype);
tesela__run_value tesela__run_greatest(tesela_dtype dtype);
/* A signalling NaN with a payload for types that have one, else bytes of 0xAD. */
void tesela__run_poison(tesela_dtype dtype, uint8_t *memory, int32_t width);

/* ---- functions ---- */

/* The class that a function computes in, and that of its result. `dtype`: of the operands. */
tesela__run_class tesela__run_class_in(tesela_fn fn, int32_t n, const tesela_dtype *dtype);
tesela__run_class tesela__run_class_out(tesela_fn fn, tesela__run_class in);
/* fn of values in class `in`; `pred`: operand 0 is bool. */
tesela__run_value tesela__run_apply(tesela_fn fn, tesela__run_class in, bool pred,
                                    const tesela__run_value *v);
/* What a fold starts from, and the function that it repeats. */
tesela_fn tesela__run_fold(tesela_fn fn, tesela_dtype dtype, tesela__run_class class,
                           tesela__run_value *first);

/* ---- a run ---- */

/* A buffer in memory. */
typedef struct tesela__run_buffer {
  uint8_t *bytes;
  int32_t *mark;            /* one for each `grain` bytes */
  tesela_dtype host, dtype; /* of the tensor, and as it is stored */
  tesela__run_class class;  /* of host */
  int32_t width;            /* bytes of an element as stored */
  int64_t places;
  bool external, taken; /* outside the arena; in the place of an operand */
} tesela__run_buffer;

typedef struct tesela__run_block {
  struct tesela__run_block *next;
} tesela__run_block;

/* For tests: divided operators, and a look at the buffers at the end. */
typedef struct tesela__run_hooks {
  int32_t cores;  /* above 0: every operator is run share by share, no folded loop cut */
  bool backwards; /* the last share first */
  void (*inspect)(void *user, int32_t node, const tesela__run_buffer *buffer, int32_t grain);
  void *user;
} tesela__run_hooks;

typedef struct tesela__run {
  const tesela_graph *graph;
  const tesela_target *target;
  bool plain;
  const tesela_graph_memory *memory;
  tesela_allocator allocator;
  tesela__run_hooks hooks;
  tesela__run_buffer *buffer; /* one for each node; bytes NULL: it has none */
  int32_t grain;
  tesela__run_block *blocks, *scratch; /* memory of the run, of one operator */
  tesela_graph_run_facts facts;
} tesela__run;

/* Memory that lasts as long as the list; NULL if there is none. Not cleared. */
void *tesela__run_take(tesela__run *run, tesela__run_block **list, int64_t count, size_t size);
void tesela__run_drop(tesela__run *run, tesela__run_block **list);

/* ---- tensors ---- */

/* Where elements lie: a sum of table entries, one for each iteration dim (flat) or each coordinate, or the core's word for it. */
typedef struct tesela__run_tensor {
  tesela__op_tensor at;
  tesela__run_buffer *buffer;
  int32_t id;                      /* of the buffer */
  int64_t *table[TESELA_MAX_RANK]; /* of each coordinate of `at.base`; NULL: by tesela_layout_place_of */
  int32_t n_flat;                  /* -1: not flat */
  int32_t flat_dim[TESELA_GRAPH_RANK];
  const int64_t *flat[TESELA_GRAPH_RANK];
  int64_t origin; /* flat: place with all iteration indices 0, tables aside; else the offset of the axis */
  int64_t *copy;  /* further places of an element, from its first */
  int64_t n_copies;
} tesela__run_tensor;

/* `iteration` NULL: the tensor's own dims. */
tesela_status tesela__run_tensor_make(tesela__run *run, const tesela__op_tensor *at,
                                      const tesela_iteration *iteration, tesela__run_tensor *tensor,
                                      tesela_error *err);
/* Its place at an iteration; false: no element there. `looked_up` stands for the dim that is looked up. */
bool tesela__run_locate(const tesela__run_tensor *tensor, const int64_t *iteration, int64_t looked_up,
                        int64_t *place);
tesela__run_value tesela__run_read(tesela__run *run, const tesela__run_tensor *tensor, int64_t place);
/* Round to the tensor's type and then to the stored one. TESELA_E_RANGE if an integer does not fit the latter. */
tesela_status tesela__run_write(tesela__run *run, const tesela__run_tensor *tensor, int64_t place,
                                tesela__run_class class, tesela__run_value value, tesela_error *err);
/* An element as it is: bits where the types are the same. */
tesela_status tesela__run_pass(tesela__run *run, const tesela__run_tensor *to, int64_t to_place,
                               const tesela__run_tensor *from, int64_t from_place, tesela_error *err);
void tesela__run_mark(tesela__run *run, const tesela__run_tensor *tensor, int64_t place);
bool tesela__run_marked(const tesela__run *run, const tesela__run_tensor *tensor, int64_t place);

/* ---- operators and copies ---- */

tesela_status tesela__run_operator(tesela__run *run, int32_t node, tesela_error *err);
tesela_status tesela__run_input(tesela__run *run, int32_t node, const void *host, tesela_error *err);
tesela_status tesela__run_output(tesela__run *run, int32_t node, void *host, tesela_error *err);
/* A clone or move by the relayout engine. *done: it could. */
tesela_status tesela__run_relayout(tesela__run *run, int32_t node, const tesela__run_tensor *to,
                                   const tesela__run_tensor *from, bool *done, tesela_error *err);

/* tesela_graph_run with hooks, which may be NULL. */
tesela_status tesela__graph_run(const tesela_graph *graph, const tesela_target *target,
                                const void *const *inputs, void *const *outputs,
                                const tesela_graph_run_options *options, const tesela__run_hooks *hooks,
                                tesela_graph_run_facts *facts, tesela_error *err);

#endif
