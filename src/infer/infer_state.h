/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infer_state.h - a kernel program inside the library: tensors, steps, and declarations for all of src/infer.
 *
 *   infer_program.c  creation and queries             infer_give.c   tensors by name; setting their layouts
 *   read.c, read_operation.c, token.c                 text -> tensors and steps
 *   ops.c            the table of operations          infer_fit.c    shapes of operands and results
 *   infer_solve.c    the levels of access.h           infer_rules.c  layouts through operations without moves
 *   seed.c           loads, stores, converts by trial infer_memory.c layouts for loads and stores
 *   infer_access.c   checks of loads, stores, copies  infer_shared.c layouts for shared memory
 *   dot.c            the matrix product               atom.c         matrix instructions
 *   infer_check.c    checks of threads and elements   grids.c        all; other warps after a conflict
 *   blocks.c         registers for less than a byte   print.c        the table
 */
#ifndef TESELA_SRC_INFER_STATE_H
#define TESELA_SRC_INFER_STATE_H

#include <tesela/register.h>
#include <tesela/access.h>
#include <tesela/notation.h>

#include "base/base.h"

/* The levels of access.h, at which rules run; 0 and 10 are for memory only. */
typedef enum tesela__infer_level {
  TESELA__INFER_FORWARD = 1,
  TESELA__INFER_BACKWARD,
  TESELA__INFER_DOT,
  TESELA__INFER_ONE_OPERAND,
  TESELA__INFER_DOT_GRID,
  TESELA__INFER_ANY_OPERAND,
  TESELA__INFER_MEMORY,
  TESELA__INFER_CONVERT,
  TESELA__INFER_REST,
  TESELA__INFER_LEVELS,
} tesela__infer_level;

typedef struct tesela__infer_tensor {
  char name[TESELA_KERNEL_NAME + 1];
  char rule[160];
  tesela_tensor_space space;
  tesela_dtype dtype;
  int32_t rank;
  bool given;
  bool trial;      /* seed.c: unknown before the trial */
  int32_t decided; /* number of grids chosen before it had its layout, including the one that gave it */
  int64_t shape[TESELA_MAX_RANK];
  int64_t elements;
  int64_t line, at;           /* of the name in its declaration */
  tesela_register *registers; /* owned, NULL while unknown */
  tesela_tile_memory *memory; /* owned, NULL while unknown */
} tesela__infer_tensor;

/* The fragments of a matrix instruction: a is [m,k], b [k,n], c [m,n], each with the same number of lanes. */
typedef struct tesela__infer_atom {
  char name[64];
  tesela_register a, b, c;
  const tesela_fragment *entry[3];
} tesela__infer_atom;

/* Keys of operations, as bits. */
enum {
  TESELA__INFER_KEY_DIMS = 1,
  TESELA__INFER_KEY_KEEPDIMS = 2,
  TESELA__INFER_KEY_ATOM = 4,
  TESELA__INFER_KEY_WARPS = 8,
};

typedef struct tesela__infer_op tesela__infer_op;

/* One operation of a program. */
typedef struct tesela__infer_step {
  const tesela__infer_op *op;
  int64_t line, at; /* of its first word */
  int64_t first;    /* its tensors are program->arg[first] ..; the first of them is the result */
  int32_t n;
  int32_t atom;  /* index in program->atom, or -1 */
  unsigned keys; /* the given keys */
  bool keepdims;
  int32_t n_dims;
  int64_t dims[TESELA_MAX_RANK]; /* non-negative after fit */
  int64_t warps[2];
  int32_t tried[TESELA__INFER_LEVELS]; /* 1 + the number of its known tensors at the last run of the rule */
  int32_t grid;    /* dot: number of its grid of warps; 0: the one with the fewest registers */
  int32_t decided; /* dot: position of its choice of a grid, from 1; 0: it followed from other layouts */
} tesela__infer_step;

struct tesela_kernel_program {
  tesela_allocator allocator;
  int64_t threads;
  tesela__infer_tensor *tensor;
  size_t n_tensors, cap_tensors;
  tesela__infer_step *step;
  size_t n_steps, cap_steps;
  int32_t *arg;
  size_t n_args, cap_args;
  tesela__infer_atom *atom;
  size_t n_atoms, cap_atoms;
  int32_t n_decided;                /* grids of warps chosen so far */
  bool quiet;                       /* grids.c: a conflict is only found, not explained */
  const tesela__infer_step *failed; /* the operation of the conflict */
  tesela_kernel_conflict conflict;
  char why[512]; /* of a conflict about memory */
};

/* One row of the table of operations. */
struct tesela__infer_op {
  const char *name;
  int32_t least, most; /* tensors, the result included */
  unsigned keys, needed;
  /* Checks shapes, types and spaces; makes dims non-negative. Errors have no byte: the reader adds it. */
  tesela_status (*fit)(tesela_kernel_program *program, tesela__infer_step *step, tesela_error *err);
  /* Gives layouts at a level; *gave: it gave one. Fails only if memory runs out. */
  tesela_status (*rule)(tesela_kernel_program *program, tesela__infer_step *step, tesela__infer_level level,
                        bool *gave, tesela_error *err);
  /* Checks that the operation can run; the layouts of its register tensors are known. Else fills program->conflict. */
  tesela_status (*check)(tesela_kernel_program *program, const tesela__infer_step *step, tesela_error *err);
  /* The layout of the result from that of an operand, and of an operand from that of the result; NULL: never. */
  tesela_status (*image)(const tesela__infer_step *step, const tesela_register *operand,
                         const tesela__infer_tensor *result, tesela_register *out);
  tesela_status (*preimage)(const tesela__infer_step *step, const tesela_register *result,
                            const tesela__infer_tensor *operand, tesela_register *out);
};

/* ---- infer_give.c -------------------------------------------------------------------------------------- */

/* The tensor at position i of a step; 0 is the result. */
static inline tesela__infer_tensor *tesela__infer_arg(const tesela_kernel_program *program,
                                                      const tesela__infer_step *step, int32_t i) {
  return &program->tensor[program->arg[step->first + i]];
}

/* The number of the tensor with this name, or -1. */
int32_t tesela__infer_find(const tesela_kernel_program *program, const char *name, size_t length);

/* Does it have a layout? */
static inline bool tesela__infer_known(const tesela__infer_tensor *tensor) {
  return tensor->registers || tensor->memory;
}

/* The number of tensors of a step with a layout. */
static inline int32_t tesela__infer_count_known(const tesela_kernel_program *program,
                                                const tesela__infer_step *step) {
  int32_t known = 0;
  for (int32_t i = 0; i < step->n; i++) known += tesela__infer_known(tesela__infer_arg(program, step, i));
  return known;
}

/* Give a tensor a layout, unless it has one; `rule` is appended to "line 12, dot: " if there is a step.
 * TESELA_E_MEMORY. */
tesela_status tesela__infer_give(tesela_kernel_program *program, tesela__infer_tensor *tensor,
                                 const tesela_register *layout, const tesela__infer_step *step, bool *gave,
                                 tesela_error *err, const char *rule, ...) TESELA_PRINTF(7, 8);
tesela_status tesela__infer_give_memory(tesela_kernel_program *program, tesela__infer_tensor *tensor,
                                        const tesela_tile_memory *memory, const char *rule,
                                        tesela_error *err);

/* ---- read.c, ops.c ------------------------------------------------------------------------------------- */

tesela_status tesela__infer_read(tesela_kernel_program *program, const char *text, size_t length,
                                 tesela_error *err);

/* The row of an operation, or NULL; the nearest name, or NULL. */
const tesela__infer_op *tesela__infer_op_find(const char *name, size_t length);
const char *tesela__infer_op_nearest(const char *name, size_t length);

/* ---- infer_fit.c: shapes, types and spaces ------------------------------------------------------------- */

tesela_status tesela__infer_fit_cast(tesela_kernel_program *program, tesela__infer_step *step,
                                     tesela_error *err);
tesela_status tesela__infer_fit_convert(tesela_kernel_program *program, tesela__infer_step *step,
                                        tesela_error *err);
tesela_status tesela__infer_fit_copy(tesela_kernel_program *program, tesela__infer_step *step,
                                     tesela_error *err);
tesela_status tesela__infer_fit_dot(tesela_kernel_program *program, tesela__infer_step *step,
                                    tesela_error *err);
tesela_status tesela__infer_fit_elementwise(tesela_kernel_program *program, tesela__infer_step *step,
                                            tesela_error *err);
tesela_status tesela__infer_fit_load(tesela_kernel_program *program, tesela__infer_step *step,
                                     tesela_error *err);
tesela_status tesela__infer_fit_permute(tesela_kernel_program *program, tesela__infer_step *step,
                                        tesela_error *err);
tesela_status tesela__infer_fit_reduce(tesela_kernel_program *program, tesela__infer_step *step,
                                       tesela_error *err);
tesela_status tesela__infer_fit_reshape(tesela_kernel_program *program, tesela__infer_step *step,
                                        tesela_error *err);
tesela_status tesela__infer_fit_squeeze(tesela_kernel_program *program, tesela__infer_step *step,
                                        tesela_error *err);
tesela_status tesela__infer_fit_store(tesela_kernel_program *program, tesela__infer_step *step,
                                      tesela_error *err);
tesela_status tesela__infer_fit_transpose(tesela_kernel_program *program, tesela__infer_step *step,
                                          tesela_error *err);
tesela_status tesela__infer_fit_unsqueeze(tesela_kernel_program *program, tesela__infer_step *step,
                                          tesela_error *err);

/* ---- seed.c: loads, stores and converts ---------------------------------------------------------------- */

/* The next layout at one of the levels MEMORY, CONVERT and REST. */
tesela_status tesela__infer_seed(tesela_kernel_program *program, tesela__infer_level level, bool *gave,
                                 tesela_error *err);

/* ---- infer_rules.c ------------------------------------------------------------------------------------- */

tesela_status tesela__infer_same(const tesela__infer_step *step, const tesela_register *operand,
                                 const tesela__infer_tensor *result, tesela_register *out);
tesela_status tesela__infer_broadcast(const tesela__infer_step *step, const tesela_register *result,
                                      const tesela__infer_tensor *operand, tesela_register *out);
tesela_status tesela__infer_permute(const tesela__infer_step *step, const tesela_register *operand,
                                    const tesela__infer_tensor *result, tesela_register *out);
tesela_status tesela__infer_unpermute(const tesela__infer_step *step, const tesela_register *result,
                                      const tesela__infer_tensor *operand, tesela_register *out);
tesela_status tesela__infer_squeeze(const tesela__infer_step *step, const tesela_register *operand,
                                    const tesela__infer_tensor *result, tesela_register *out);
tesela_status tesela__infer_unsqueeze(const tesela__infer_step *step, const tesela_register *operand,
                                      const tesela__infer_tensor *result, tesela_register *out);
tesela_status tesela__infer_reshape(const tesela__infer_step *step, const tesela_register *from,
                                    const tesela__infer_tensor *to, tesela_register *out);
tesela_status tesela__infer_reduce(const tesela__infer_step *step, const tesela_register *operand,
                                   const tesela__infer_tensor *result, tesela_register *out);
tesela_status tesela__infer_unreduce(const tesela__infer_step *step, const tesela_register *result,
                                     const tesela__infer_tensor *operand, tesela_register *out);
tesela_status tesela__infer_rule_move(tesela_kernel_program *program, tesela__infer_step *step,
                                      tesela__infer_level level, bool *gave, tesela_error *err);
tesela_status tesela__infer_rule_convert(tesela_kernel_program *program, tesela__infer_step *step,
                                         tesela__infer_level level, bool *gave, tesela_error *err);

/* ---- dot.c --------------------------------------------------------------------------------------------- */

/* Check the shapes and types of a dot. Sets step->atom: the instruction of atom=, or the one for its types. */
tesela_status tesela__infer_dot_fit(tesela_kernel_program *program, tesela__infer_step *step,
                                    tesela_error *err);
/* Read an instruction's name; *atom receives its number. */
tesela_status tesela__infer_atom_find(tesela_kernel_program *program, const char *name, size_t length,
                                      int32_t *atom, tesela_error *err);
/* The number of possible grids of warps of a dot: 1 if it has warps=. */
int32_t tesela__infer_dot_grids(const tesela_kernel_program *program, const tesela__infer_step *step);
tesela_status tesela__infer_rule_dot(tesela_kernel_program *program, tesela__infer_step *step,
                                     tesela__infer_level level, bool *gave, tesela_error *err);
tesela_status tesela__infer_check_dot(tesela_kernel_program *program, const tesela__infer_step *step,
                                      tesela_error *err);

/* ---- infer_memory.c ------------------------------------------------------------------------------------ */

tesela_status tesela__infer_rule_memory(tesela_kernel_program *program, tesela__infer_step *step,
                                        tesela__infer_level level, bool *gave, tesela_error *err);
/* The default register layout to load or store a tensor in this memory (NULL: row-major), and the elements of its
 * vectors. */
tesela_status tesela__infer_memory_registers(const tesela_kernel_program *program,
                                             const tesela__infer_tensor *tensor,
                                             const tesela_tile_memory *memory, tesela_register *out,
                                             int64_t *vector);
/* blocks.c: likewise for elements of less than a byte. False: threads cannot move the elements of this memory. */
bool tesela__infer_memory_blocks(const tesela_kernel_program *program, const tesela_tile_memory *memory,
                                 int32_t bits, tesela_register *out, int64_t *vector);
/* May a store put two elements in one place? NULL: no; else the reason, "has ...". */
const char *tesela__infer_memory_folds(const tesela_tile_memory *memory);

/* ---- infer_check.c ------------------------------------------------------------------------------------- */

tesela_status tesela__infer_check_move(tesela_kernel_program *program, const tesela__infer_step *step,
                                       tesela_error *err);
tesela_status tesela__infer_check_reduce(tesela_kernel_program *program, const tesela__infer_step *step,
                                         tesela_error *err);
tesela_status tesela__infer_check_nothing(tesela_kernel_program *program, const tesela__infer_step *step,
                                          tesela_error *err);

/* ---- infer_access.c ------------------------------------------------------------------------------------ */

/* Check loads, stores, and copies between memories. */
tesela_status tesela__infer_check_access(tesela_kernel_program *program, const tesela__infer_step *step,
                                         tesela_error *err);

/* Find a layout of a tensor in memory that is valid for all its loads, stores and copies whose other side is known, or
 * only for `only` if not NULL. Tries row-major, column-major, each dim as the fastest, and the orders in which threads
 * hold their registers; false if all fail. */
bool tesela__infer_memory_for(const tesela_kernel_program *program, const tesela__infer_tensor *tensor,
                              const tesela__infer_step *only, tesela_tile_memory *memory);

/* ---- infer_shared.c ------------------------------------------------------------------------------------ */

/* Give each tensor without a layout one: in global memory before the rules, in shared memory after them. */
tesela_status tesela__infer_global_memory(tesela_kernel_program *program, tesela_error *err);
tesela_status tesela__infer_shared_memory(tesela_kernel_program *program, tesela_error *err);

/* ---- infer_solve.c ------------------------------------------------------------------------------------- */

/* Forget inferred layouts, infer all layouts with the grids of the steps, check all operations. After a conflict
 * program->failed is its operation; *late: all checks that do not wait for shared memory passed. */
tesela_status tesela__infer_once(tesela_kernel_program *program, bool *late, tesela_error *err);

/* Two incompatible layouts. */
typedef struct tesela__infer_clash {
  const tesela__infer_tensor *tensor, *other;
  bool is_result;
  tesela_register has, needs;
  const char *why;
} tesela__infer_clash;

/* TESELA_OK if every thread has the elements it needs; else fails as tesela__infer_refuse does. */
tesela_status tesela__infer_demand(tesela_kernel_program *program, const tesela__infer_step *step,
                                   const tesela__infer_clash *clash, tesela_error *err);
/* Fill program->conflict and fail. */
tesela_status tesela__infer_refuse(tesela_kernel_program *program, const tesela__infer_step *step,
                                   const tesela__infer_clash *clash, tesela_error *err);

#endif
