/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - a layout as the array operations that make it: transpose, pad, reshape.
 *
 * The second formulation of tiling (XLA's tiled-layout document, "Tiling as pad, reshape, transpose"): start from
 * the dense row-major logical array and apply the steps in order; the row-major order of the last array is memory.
 *
 *   f32[3,5]{1,0:T(2,2)}     pad 1,1         -> [4,6]
 *                            reshape         -> [2,2,3,2]
 *                            transpose 0,2,1,3 -> [2,3,2,2]
 */
#ifndef TESELA_PROGRAM_H
#define TESELA_PROGRAM_H

#include <tesela/layout.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESELA_PROGRAM_STEPS 72     ///< steps of a program
#define TESELA_PROGRAM_NUMBERS 4096 ///< numbers of all its steps and of the shapes after them

#define TESELA_LEVEL_ORDER (-1) ///< tesela_step.level: the order of the dims

typedef enum tesela_step_kind {
  TESELA_STEP_TRANSPOSE, ///< out[k] = in[number[k]]
  TESELA_STEP_PAD,       ///< number[k] cells more at the end of dim k
  TESELA_STEP_RESHAPE,   ///< number[k] is the new extent of dim k; the row-major order stays
} tesela_step_kind;

/// One step; its `rank` numbers stand at tesela_program.number[first], the shape after it at [shape].
typedef struct tesela_step {
  tesela_step_kind kind;
  int32_t
      level; ///< tile level it belongs to, from 0; or TESELA_LEVEL_ORDER; tesela_program.n_levels: tail padding
  int32_t rank;  ///< numbers, and dims of the array after the step
  int32_t first; ///< where the numbers stand
  int32_t shape; ///< where the shape after the step stands
} tesela_step;

/// A program. A plain value.
typedef struct tesela_program {
  int32_t rank; ///< dims of the logical array
  int32_t n_steps, n_numbers;
  int32_t n_levels; ///< tile levels of the layout; INT32_MAX if nobody said, as after tesela_program_begin
  int64_t dim[TESELA_MAX_RANK];
  tesela_step step[TESELA_PROGRAM_STEPS];
  int64_t number[TESELA_PROGRAM_NUMBERS];
} tesela_program;

/// Start a program on a dense row-major array of these dims (NULL if rank is 0).
/// @return TESELA_OK; TESELA_E_LIMIT for rank > TESELA_MAX_RANK; TESELA_E_RANGE for a negative dim;
///         TESELA_E_OVERFLOW if the number of elements exceeds int64.
TESELA_API tesela_status tesela_program_begin(tesela_program *program, int32_t rank, const int64_t *dim,
                                              tesela_error *err);

/// Add a step of n numbers, at most TESELA_MAX_DIGITS. A step that changes nothing (pads 0, permutes nothing,
/// reshapes to the same shape) is left out.
///
/// Example: on [3,5], PAD {1,1} makes [4,6], then RESHAPE {2,2,3,2}; RESHAPE {5,5} is TESELA_E_INVALID.
///
/// @return TESELA_OK; TESELA_E_INVALID if it does not fit the shape so far; TESELA_E_OVERFLOW; TESELA_E_LIMIT.
///         On failure the program keeps its steps.
TESELA_API tesela_status tesela_program_add(tesela_program *program, tesela_step_kind kind, int32_t level,
                                            int32_t n, const int64_t *numbers, tesela_error *err);

/// The shape after `n_steps` steps of the program; *rank its number of dims. Points into the program. NULL if it
/// has fewer steps.
TESELA_API const int64_t *tesela_program_shape(const tesela_program *program, int32_t n_steps, int32_t *rank);

/// Elements of the last array.
TESELA_API int64_t tesela_program_elements(const tesela_program *program);

/// The row-major number of the logical element that the program puts at `place`, -1 if it is a padded cell.
/// @return TESELA_OK; TESELA_E_RANGE for a place outside 0 .. elements-1. O(steps * rank).
TESELA_API tesela_status tesela_program_source(const tesela_program *program, int64_t place, int64_t *element,
                                               tesela_error *err);

/// Execute: dst receives tesela_program_elements() cells of `width` bytes, from src (dense row-major), padded cells
/// get the `width` bytes at fill. dst and src must not overlap. O(elements * steps * rank): a definition, not a
/// fast copy.
/// @return TESELA_OK; TESELA_E_RANGE for a width of 0.
TESELA_API tesela_status tesela_program_run(const tesela_program *program, void *dst, const void *src,
                                            size_t width, const void *fill, tesela_error *err);

/// Print one step a line: "level 0: pad [1,1] -> [4,6]"; "order:" and "tail:" in front of steps of no tile level.
/// A program without steps prints nothing.
TESELA_API tesela_status tesela_program_print(const tesela_program *program, const tesela_writer *to,
                                              tesela_error *err);

#ifdef __cplusplus
}
#endif
#endif
