/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.c - the text of a kernel program, line by line, into tensors and steps. access.h has the grammar.
 *
 * One pass, no tree: names must be declared before use. Expressions extend to the end of the line or a comment and are
 * read by notation.h. Every message begins with the line, and err->at is the byte in the whole text.
 */
#include "infer/reader.h"

/* ---- declarations -------------------------------------------------------------------------------------- */

static tesela_status reader_type(infer_reader *reader, tesela_dtype *dtype) {
  size_t at, length = tesela__infer_reader_word(reader, &at);
  if (length == 0) return tesela__read_unexpected(&reader->in, "a type", "");
  *dtype = tesela_dtype_find(reader->in.text + at, length);
  if (tesela_dtype_bits(*dtype) > 0) return TESELA_OK;
  const char *near = *dtype == TESELA_DTYPE_NONE ? tesela_dtype_suggest(reader->in.text + at, length) : NULL;
  return tesela__read_unknown(&reader->in, TESELA_E_SYNTAX, at, length, "element type", "", near, NULL);
}

static tesela_status reader_shape(infer_reader *reader, tesela__infer_tensor *tensor) {
  tesela__read_peek(&reader->in);
  size_t at = reader->in.at;
  tesela_status status = tesela__infer_reader_list(reader, TESELA_MAX_RANK, tensor->shape, &tensor->rank);
  if (status != TESELA_OK) return status;
  tensor->elements = 1;
  for (int32_t d = 0; d < tensor->rank; d++) {
    if (tensor->shape[d] < 1) {
      tesela__read_fail(&reader->in, TESELA_E_RANGE, at, "dim %" PRId32 " is %" PRId64 "; expected 1 or more",
                        d, tensor->shape[d]);
      if (reader->in.err) reader->in.err->reason = TESELA_REASON_SHAPE_NOT_POSITIVE;
      return TESELA_E_RANGE;
    }
    if (!tesela__mul(tensor->elements, tensor->shape[d], &tensor->elements))
      return tesela__read_fail(&reader->in, TESELA_E_OVERFLOW, at,
                               "the number of elements does not fit in 64 bits");
  }
  return TESELA_OK;
}

/* Check that the shape of a layout is that of the tensor. */
static tesela_status reader_same_shape(infer_reader *reader, const tesela__infer_tensor *tensor, size_t at,
                                       int32_t rank, const int64_t *shape) {
  if (rank != tensor->rank)
    return tesela__read_fail(&reader->in, TESELA_E_INVALID, at,
                             "the layout has rank %" PRId32 ", but %s has %" PRId32, rank, tensor->name,
                             tensor->rank);
  for (int32_t d = 0; d < rank; d++)
    if (shape[d] != tensor->shape[d])
      return tesela__read_fail(&reader->in, TESELA_E_INVALID, at,
                               "dim %" PRId32 " of the layout is %" PRId64 ", but that of %s is %" PRId64, d,
                               shape[d], tensor->name, tensor->shape[d]);
  return TESELA_OK;
}

static tesela_status reader_registers(infer_reader *reader, tesela__infer_tensor *tensor, size_t at) {
  tesela_register layout;
  tesela_error inner;
  bool gave = false;
  tesela_kernel_program *program = reader->program;
  tesela_status status = tesela_register_parse(reader->in.text + at, reader->in.length - at, &layout, &inner);
  if (status != TESELA_OK) return tesela__infer_reader_pass(reader, status, at, &inner);
  status = reader_same_shape(reader, tensor, at, layout.rank, layout.shape);
  if (status != TESELA_OK) return status;
  if (layout.spatial_size != program->threads && program->threads % layout.spatial_size == 0)
    return tesela__read_fail(&reader->in, TESELA_E_INVALID, at,
                             "the layout has %" PRId64 " thread%s, but the program has %" PRId64
                             ": if all hold copies, write replicated(1, num_workers=%" PRId64 ") * (...)",
                             layout.spatial_size, layout.spatial_size == 1 ? "" : "s", program->threads,
                             program->threads / layout.spatial_size);
  if (layout.spatial_size != program->threads)
    return tesela__read_fail(&reader->in, TESELA_E_INVALID, at,
                             "the layout has %" PRId64 " threads, but the program has %" PRId64,
                             layout.spatial_size, program->threads);
  return tesela__infer_give(program, tensor, &layout, NULL, &gave, reader->in.err, "given");
}

static tesela_status reader_memory(infer_reader *reader, tesela__infer_tensor *tensor, size_t at) {
  tesela_tile_memory memory;
  tesela_error inner;
  tesela_status status =
      tesela_tile_memory_parse(reader->in.text + at, reader->in.length - at, &memory, &inner);
  if (status != TESELA_OK) return tesela__infer_reader_pass(reader, status, at, &inner);
  if ((memory.space == TESELA_TILE_SHARED) != (tensor->space == TESELA_TENSOR_SHARED))
    return tesela__read_fail(&reader->in, TESELA_E_INVALID, at,
                             "%s is in %s memory, but its layout is for %s memory", tensor->name,
                             tensor->space == TESELA_TENSOR_SHARED ? "shared" : "global",
                             memory.space == TESELA_TILE_SHARED ? "shared" : "global");
  status = reader_same_shape(reader, tensor, at, memory.rank, memory.shape);
  return status != TESELA_OK
             ? status
             : tesela__infer_give_memory(reader->program, tensor, &memory, "given", reader->in.err);
}

static tesela_status reader_declaration(infer_reader *reader, tesela_tensor_space space) {
  tesela_kernel_program *program = reader->program;
  size_t at, length;
  void *tensors = program->tensor;
  tesela_status status = tesela__infer_reader_name(reader, &at, &length);
  if (status != TESELA_OK) return status;
  int32_t before = tesela__infer_find(program, reader->in.text + at, length);
  if (before >= 0)
    return tesela__read_fail(&reader->in, TESELA_E_INVALID, at, "%s is already declared in line %" PRId64,
                             program->tensor[before].name, program->tensor[before].line);
  if (program->n_tensors == TESELA_KERNEL_TENSORS)
    return tesela__read_fail(&reader->in, TESELA_E_LIMIT, at, "a program has at most %d tensors",
                             TESELA_KERNEL_TENSORS);
  if (!tesela__grow(&program->allocator, &tensors, sizeof *program->tensor, &program->cap_tensors,
                    program->n_tensors + 1))
    return tesela__read_fail(&reader->in, TESELA_E_MEMORY, at, "no memory for a tensor");
  program->tensor = tensors;
  tesela__infer_tensor *tensor = &program->tensor[program->n_tensors++];
  *tensor = (tesela__infer_tensor){.space = space, .line = reader->in.line, .at = (int64_t)at};
  memcpy(tensor->name, reader->in.text + at, length);
  if (!tesela__read_take(&reader->in, ':'))
    return tesela__read_unexpected(&reader->in, "a colon and the type", "");
  status = reader_type(reader, &tensor->dtype);
  if (status == TESELA_OK) status = reader_shape(reader, tensor);
  if (status != TESELA_OK) return status;
  tesela__read_peek(&reader->in);
  if (reader->in.at == reader->in.length) return TESELA_OK;
  if (!tesela__read_take(&reader->in, '='))
    return tesela__read_unexpected(&reader->in, "= and a layout, or the end of the line", "");
  tesela__read_peek(&reader->in);
  if (reader->in.at == reader->in.length) return tesela__read_unexpected(&reader->in, "a layout", "");
  tensor->given = true;
  at = reader->in.at;
  reader->in.at = reader->in.length;
  return space == TESELA_TENSOR_REGISTER ? reader_registers(reader, tensor, at)
                                         : reader_memory(reader, tensor, at);
}

/* ---- lines --------------------------------------------------------------------------------------------- */

static tesela_status reader_threads(infer_reader *reader, size_t at) {
  int64_t threads;
  if (reader->program->threads > 0)
    return tesela__read_fail(&reader->in, TESELA_E_INVALID, at, "the number of threads is already given");
  tesela_status status =
      tesela__read_any_integer(&reader->in, "a number of threads", TESELA_E_OVERFLOW, &threads);
  if (status != TESELA_OK) return status;
  if (threads < 1 || threads > TESELA_KERNEL_THREADS)
    return tesela__read_fail(&reader->in, TESELA_E_RANGE, at, "threads is %" PRId64 "; expected 1 to %d",
                             threads, TESELA_KERNEL_THREADS);
  reader->program->threads = threads;
  return TESELA_OK;
}

static tesela_status reader_statement(infer_reader *reader) {
  static const char *const spaces[] = {"register", "shared", "global"}; /* by tesela_tensor_space */
  tesela__read_peek(&reader->in);
  if (reader->in.at == reader->in.length) return TESELA_OK;
  size_t at, length = tesela__infer_reader_word(reader, &at);
  const char *word = reader->in.text + at;
  if (length == 0) return tesela__read_unexpected(&reader->in, "an operation or the space of a tensor", "");
  if (tesela__same_word(word, length, "threads")) return reader_threads(reader, at);
  int32_t space = 0;
  while (space < 3 && !tesela__same_word(word, length, spaces[space])) space++;
  const tesela__infer_op *op = tesela__infer_op_find(word, length);
  if (space == 3 && !op) {
    const char *near = tesela__infer_op_nearest(word, length);
    return tesela__read_unknown(&reader->in, TESELA_E_SYNTAX, at, length, "operation", "", near, NULL);
  }
  if (reader->program->threads == 0)
    return tesela__read_fail(&reader->in, TESELA_E_SYNTAX, at,
                             "the number of threads must come first: threads 128");
  return op ? tesela__infer_reader_operation(reader, op, at)
            : reader_declaration(reader, (tesela_tensor_space)space);
}

/* The end of the line at `start`, without comment, CR and trailing blanks. */
static size_t reader_line_end(const char *text, size_t start, size_t newline) {
  size_t end = start;
  while (end < newline && text[end] != '#') end++;
  while (end > start && (text[end - 1] == ' ' || text[end - 1] == '\t' || text[end - 1] == '\r')) end--;
  return end;
}

tesela_status tesela__infer_read(tesela_kernel_program *program, const char *text, size_t length,
                                 tesela_error *err) {
  infer_reader reader = {.program = program, .in = {.text = text, .err = err, .word = TESELA__BYTE_NAME}};
  if (length > TESELA_KERNEL_TEXT)
    return tesela__fail(err, TESELA_E_LIMIT, TESELA_KERNEL_TEXT, "a program has at most %d bytes",
                        TESELA_KERNEL_TEXT);
  for (size_t start = 0; start < length;) {
    const char *newline = memchr(text + start, '\n', length - start);
    size_t stop = newline ? (size_t)(newline - text) : length;
    reader.in.line++;
    reader.in.at = start;
    reader.in.length = reader_line_end(text, start, stop);
    if (reader.in.line > TESELA_KERNEL_LINES)
      return tesela__read_fail(&reader.in, TESELA_E_LIMIT, start, "a program has at most %d lines",
                               TESELA_KERNEL_LINES);
    tesela_status status = reader_statement(&reader);
    if (status != TESELA_OK) return status;
    tesela__read_peek(&reader.in);
    if (reader.in.at < reader.in.length)
      return tesela__read_unexpected(&reader.in, "the end of the line", "");
    start = stop + 1;
  }
  if (program->threads == 0)
    return tesela__fail(err, TESELA_E_SYNTAX, (int64_t)length,
                        "the number of threads is missing: threads 128");
  return TESELA_OK;
}
