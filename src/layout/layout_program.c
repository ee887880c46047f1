/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout_program.c - a layout as steps (transpose, pad, reshape): building, tracing back, executing, printing.
 *
 * A step stores its numbers and the shape after it, so every prefix of a list of steps is valid. Digits are not used:
 * the steps are a second definition of a layout, which the tests compare with the first.
 *
 * A place is traced back step by step. A reshape keeps its row-major number; for a transpose or a pad the number is
 * split over the shape after the step and joined over the shape before.
 */
#include <tesela/layout.h>

#include "base/base.h"

/* ---- shapes ---- */

/* The product of n extents >= 0; 0 if one is 0, whatever the others. False: it does not fit. */
static bool extents_product(int32_t n, const int64_t *extent, int64_t *product) {
  *product = 1;
  for (int32_t i = 0; i < n; i++)
    if (extent[i] == 0) *product = 0;
  for (int32_t i = 0; i < n && *product != 0; i++)
    if (!tesela__mul(*product, extent[i], product)) return false;
  return true;
}

const int64_t *tesela_program_shape(const tesela_program *program, int32_t n_steps, int32_t *rank) {
  if (!program || !rank) return NULL;
  *rank = 0;
  if (n_steps < 0 || n_steps > program->n_steps) return NULL;
  *rank = n_steps == 0 ? program->rank : program->step[n_steps - 1].rank;
  return n_steps == 0 ? program->dim : &program->number[program->step[n_steps - 1].shape];
}

int64_t tesela_program_elements(const tesela_program *program) {
  if (!program) return 0;
  int32_t rank;
  int64_t elements = 0;
  const int64_t *shape = tesela_program_shape(program, program->n_steps, &rank);
  extents_product(rank, shape, &elements); /* fits: tesela_program_add checked it */
  return elements;
}

/* ---- building ---- */

tesela_status tesela_program_begin(tesela_program *program, int32_t rank, const int64_t *dim,
                                   tesela_error *err) {
  TESELA__NEED(err, program);
  TESELA__NEED_LIST(err, dim, rank);
  int64_t elements;
  if (rank < 0 || rank > TESELA_MAX_RANK)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "rank is %" PRId32 "; expected 0 to %d", rank,
                        TESELA_MAX_RANK);
  for (int32_t d = 0; d < rank; d++)
    if (dim[d] < 0)
      return tesela__fail(err, TESELA_E_RANGE, -1, "dim %" PRId32 " is %" PRId64 "; expected 0 or more", d,
                          dim[d]);
  if (!extents_product(rank, dim, &elements))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the number of elements does not fit in 64 bits");
  program->rank = rank;
  program->n_steps = program->n_numbers = 0;
  program->n_levels = INT32_MAX;
  for (int32_t d = 0; d < rank; d++) program->dim[d] = dim[d];
  return TESELA_OK;
}

/* Shape after a transpose. */
static tesela_status after_transpose(int32_t rank, const int64_t *before, int32_t n, const int64_t *numbers,
                                     int64_t *after, tesela_error *err) {
  bool used[TESELA_MAX_DIGITS] = {false};
  if (n != rank)
    return tesela__fail(err, TESELA_E_INVALID, -1, "transpose of %" PRId32 " dims on an array of %" PRId32, n,
                        rank);
  for (int32_t k = 0; k < n; k++) {
    if (numbers[k] < 0 || numbers[k] >= rank || used[numbers[k]])
      return tesela__fail(err, TESELA_E_INVALID, -1,
                          "transpose has dim %" PRId64 " at position %" PRId32
                          "; expected each dim from 0 to %" PRId32 " once",
                          numbers[k], k, rank - 1);
    used[numbers[k]] = true;
    after[k] = before[numbers[k]];
  }
  return TESELA_OK;
}

/* Shape after a pad. */
static tesela_status after_pad(int32_t rank, const int64_t *before, int32_t n, const int64_t *numbers,
                               int64_t *after, tesela_error *err) {
  if (n != rank)
    return tesela__fail(err, TESELA_E_INVALID, -1, "pad of %" PRId32 " dims on an array of %" PRId32, n,
                        rank);
  for (int32_t k = 0; k < n; k++) {
    if (numbers[k] < 0)
      return tesela__fail(err, TESELA_E_INVALID, -1,
                          "pad of dim %" PRId32 " is %" PRId64 "; expected 0 or more", k, numbers[k]);
    if (!tesela__add(before[k], numbers[k], &after[k]))
      return tesela__fail(err, TESELA_E_OVERFLOW, -1, "dim %" PRId32 " of %" PRId64 " padded by %" PRId64, k,
                          before[k], numbers[k]);
  }
  return TESELA_OK;
}

/* Shape after a reshape. */
static tesela_status after_reshape(int32_t rank, const int64_t *before, int32_t n, const int64_t *numbers,
                                   int64_t *after, tesela_error *err) {
  int64_t had, has;
  for (int32_t k = 0; k < n; k++) {
    if (numbers[k] < 0)
      return tesela__fail(err, TESELA_E_INVALID, -1,
                          "reshape sets dim %" PRId32 " to %" PRId64 "; expected 0 or more", k, numbers[k]);
    after[k] = numbers[k];
  }
  if (!extents_product(rank, before, &had) || !extents_product(n, after, &has) || had != has)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "reshape changes the number of elements, which is %" PRId64, had);
  return TESELA_OK;
}

typedef tesela_status shape_after(int32_t rank, const int64_t *before, int32_t n, const int64_t *numbers,
                                  int64_t *after, tesela_error *err);

static const struct {
  const char *word;
  shape_after *after;
} step_kinds[] = {
    [TESELA_STEP_TRANSPOSE] = {"transpose", after_transpose},
    [TESELA_STEP_PAD] = {"pad", after_pad},
    [TESELA_STEP_RESHAPE] = {"reshape", after_reshape},
};

/* Do these numbers leave the array unchanged? */
static bool step_is_idle(tesela_step_kind kind, int32_t rank, const int64_t *before, int32_t n,
                         const int64_t *numbers) {
  if (n != rank) return false;
  for (int32_t k = 0; k < n; k++)
    if (numbers[k] != (kind == TESELA_STEP_TRANSPOSE ? k : kind == TESELA_STEP_PAD ? 0 : before[k]))
      return false;
  return true;
}

tesela_status tesela_program_add(tesela_program *program, tesela_step_kind kind, int32_t level, int32_t n,
                                 const int64_t *numbers, tesela_error *err) {
  TESELA__NEED(err, program);
  TESELA__NEED_LIST(err, numbers, n);
  int32_t rank;
  int64_t after[TESELA_MAX_DIGITS], elements;
  const int64_t *before = tesela_program_shape(program, program->n_steps, &rank);
  if ((size_t)kind >= sizeof step_kinds / sizeof step_kinds[0])
    return tesela__fail(err, TESELA_E_RANGE, -1, "unknown kind of step %d", (int)kind);
  if (n < 0 || n > TESELA_MAX_DIGITS)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "a step of %" PRId32 " dims; expected 0 to %d", n,
                        TESELA_MAX_DIGITS);
  tesela_status status = step_kinds[kind].after(rank, before, n, numbers, after, err);
  if (status != TESELA_OK) return status;
  if (step_is_idle(kind, rank, before, n, numbers)) return TESELA_OK;
  if (!extents_product(n, after, &elements))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "the number of elements after %s does not fit in 64 bits",
                        step_kinds[kind].word);
  if (program->n_steps == TESELA_PROGRAM_STEPS || program->n_numbers + 2 * n > TESELA_PROGRAM_NUMBERS)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "the program is full: %d steps, %d numbers",
                        TESELA_PROGRAM_STEPS, TESELA_PROGRAM_NUMBERS);
  tesela_step *step = &program->step[program->n_steps++];
  *step = (tesela_step){kind, level, n, program->n_numbers, program->n_numbers + n};
  program->n_numbers += 2 * n;
  for (int32_t k = 0; k < n; k++) {
    program->number[step->first + k] = numbers[k];
    program->number[step->shape + k] = after[k];
  }
  return TESELA_OK;
}

/* ---- tracing back ---- */

/* The number that cell `at` of the array after step s had before it; -1: the step added the cell. */
static int64_t number_before(const tesela_program *program, int32_t s, int64_t at) {
  const tesela_step *step = &program->step[s];
  const int64_t *numbers = &program->number[step->first], *after = &program->number[step->shape];
  int64_t index[TESELA_MAX_DIGITS], number = 0;
  int32_t rank;
  const int64_t *before = tesela_program_shape(program, s, &rank);
  if (step->kind == TESELA_STEP_RESHAPE) return at;
  for (int32_t k = rank - 1; k >= 0; k--) {
    index[step->kind == TESELA_STEP_TRANSPOSE ? numbers[k] : k] = at % after[k];
    at /= after[k];
  }
  for (int32_t k = 0; k < rank; k++) {
    if (index[k] >= before[k]) return -1;
    number = number * before[k] + index[k];
  }
  return number;
}

/* The element at a place of the last array, or -1. */
static int64_t source_of(const tesela_program *program, int64_t place) {
  for (int32_t s = program->n_steps - 1; s >= 0 && place >= 0; s--) place = number_before(program, s, place);
  return place;
}

tesela_status tesela_program_source(const tesela_program *program, int64_t place, int64_t *element,
                                    tesela_error *err) {
  TESELA__NEED(err, program, element);
  int64_t elements = tesela_program_elements(program);
  if (elements == 0)
    return tesela__fail(err, TESELA_E_RANGE, -1, "place is %" PRId64 "; the array has no places", place);
  if (place < 0 || place >= elements)
    return tesela__fail(err, TESELA_E_RANGE, -1, "place is %" PRId64 "; expected 0 to %" PRId64, place,
                        elements - 1);
  *element = source_of(program, place);
  return TESELA_OK;
}

tesela_status tesela_program_run(const tesela_program *program, void *dst, const void *src, size_t width,
                                 const void *fill, tesela_error *err) {
  TESELA__NEED(err, program);
  if (width == 0) return tesela__fail(err, TESELA_E_RANGE, -1, "a cell of 0 bytes; expected 1 or more");
  int64_t elements = tesela_program_elements(program);
  if (elements > 0) TESELA__NEED(err, dst, src, fill);
  if ((uint64_t)elements > PTRDIFF_MAX / width) {
    tesela__say_too_large(err);
    return TESELA_E_LIMIT;
  }
  for (int64_t place = 0; place < elements; place++) {
    int64_t element = source_of(program, place);
    const char *from = element < 0 ? fill : (const char *)src + (size_t)element * width;
    memcpy((char *)dst + (size_t)place * width, from, width);
  }
  return TESELA_OK;
}

/* ---- printing ---- */

static void put_numbers(tesela__sink *sink, int32_t n, const int64_t *number) {
  tesela__putc(sink, '[');
  for (int32_t k = 0; k < n; k++) {
    if (k > 0) tesela__putc(sink, ',');
    tesela__put_int(sink, number[k]);
  }
  tesela__putc(sink, ']');
}

tesela_status tesela_program_print(const tesela_program *program, const tesela_writer *to,
                                   tesela_error *err) {
  TESELA__NEED(err, program, to);
  tesela__sink sink;
  tesela__sink_init(&sink, to);
  for (int32_t s = 0; s < program->n_steps; s++) {
    const tesela_step *step = &program->step[s];
    if (step->level == TESELA_LEVEL_ORDER || step->level == program->n_levels)
      tesela__puts(&sink, step->level == TESELA_LEVEL_ORDER ? "order" : "tail");
    else
      tesela__putf(&sink, "level %" PRId32, step->level);
    tesela__putf(&sink, ": %s ", step_kinds[step->kind].word);
    put_numbers(&sink, step->rank, &program->number[step->first]);
    tesela__puts(&sink, " -> ");
    put_numbers(&sink, step->rank, &program->number[step->shape]);
    tesela__putc(&sink, '\n');
  }
  return tesela__sink_finish(&sink, err);
}
