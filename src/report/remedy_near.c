/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remedy_near.c - what the other arrays of the schedule say about one: the orders that custom calls want, the numbers by which rows are
 * taken.
 */
#include "report/report_state.h"

enum { NEAR_COLUMNS = 16 /* of numbers by which rows are taken */ };

/* The next array of the main memory from *i on, as a shape. */
static bool near_next(const tesela_report *report, int64_t *i, tesela_report_buffer *buffer,
                      tesela_xla_shape *shape) {
  const int64_t n = report->lives ? tesela_report_n_buffers(report) : 0;
  while (*i < n)
    if (tesela_report_buffer_at(report, (*i)++, buffer, NULL) == TESELA_OK && buffer->space == 0 &&
        tesela_xla_parse(buffer->shape, (size_t)buffer->shape_bytes, TESELA_XLA_STRICT, shape, NULL, NULL) ==
            TESELA_OK &&
        shape->kind == TESELA_XLA_ARRAY)
      return true;
  return false;
}

/*
 * Does a custom call return an array with these dims? LU, Cholesky's factors and kernels read and write an order of their own, so an array
 * that goes in or comes out has that order at the peak, whatever a constraint says.
 */
bool tesela__remedy_is_called(const tesela_report *report, const tesela_xla_shape *from) {
  tesela_report_buffer buffer;
  tesela_xla_shape shape;
  for (int64_t i = 0; near_next(report, &i, &buffer, &shape);)
    if (strncmp(buffer.instruction, "custom-call", 11) == 0 && shape.rank == from->rank &&
        memcmp(shape.dim, from->dim, (size_t)from->rank * sizeof *shape.dim) == 0)
      return true;
  return false;
}

/*
 * Rows [m * k, w] taken by numbers [m, k]: how many are taken for each, k; 0 if they are not, or if k is large. The compiler has them in one
 * row each, the program as [m, k, w]: both dims are apart then, or [m, k] is padded in turn.
 */
int64_t tesela__remedy_taken(const tesela_report *report, const tesela_xla_shape *from) {
  tesela_report_buffer buffer;
  tesela_xla_shape shape;
  for (int64_t i = 0; from->rank == 2 && near_next(report, &i, &buffer, &shape);) {
    const bool numbers = shape.dtype == TESELA_S32 || shape.dtype == TESELA_U32 || shape.dtype == TESELA_S64;
    if (numbers && shape.rank == 2 && shape.dim[1] > 1 && shape.dim[1] <= NEAR_COLUMNS &&
        from->dim[0] % shape.dim[1] == 0 && from->dim[0] / shape.dim[1] == shape.dim[0])
      return shape.dim[1];
  }
  return 0;
}
