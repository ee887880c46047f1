/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_operation.c - reads the line of an operation: its tensors and keys; checks that they are compatible with it.
 */
#include "infer/reader.h"

#include <stdio.h>

static const char *reader_tensor_word(const void *user, int32_t i) {
  const tesela_kernel_program *program = user;
  return (size_t)i < program->n_tensors ? program->tensor[i].name : NULL;
}

static tesela_status reader_operand(infer_reader *reader, tesela__infer_step *step) {
  tesela_kernel_program *program = reader->program;
  size_t at, length;
  void *args = program->arg;
  tesela_status status = tesela__infer_reader_name(reader, &at, &length);
  if (status != TESELA_OK) return status;
  int32_t tensor = tesela__infer_find(program, reader->in.text + at, length);
  if (tensor < 0) {
    const char *near = tesela_nearest(reader->in.text + at, length, reader_tensor_word, program);
    return tesela__read_unknown(&reader->in, TESELA_E_INVALID, at, length, "tensor", "", near, NULL);
  }
  if (!tesela__grow(&program->allocator, &args, sizeof *program->arg, &program->cap_args,
                    program->n_args + 1))
    return tesela__read_fail(&reader->in, TESELA_E_MEMORY, at, "no memory for an operand");
  program->arg = args;
  program->arg[program->n_args++] = tensor;
  step->n++;
  return TESELA_OK;
}

static tesela_status reader_bool(infer_reader *reader, bool *value) {
  size_t at, length = tesela__infer_reader_word(reader, &at);
  *value = tesela__same_word(reader->in.text + at, length, "True");
  if (*value || tesela__same_word(reader->in.text + at, length, "False")) return TESELA_OK;
  reader->in.at = at;
  return tesela__read_unexpected(&reader->in, "True or False", "");
}

static tesela_status reader_atom(infer_reader *reader, tesela__infer_step *step) {
  tesela_error inner;
  reader->in.word |= TESELA__BYTE_DOT;
  size_t at, length = tesela__infer_reader_word(reader, &at);
  reader->in.word = TESELA__BYTE_NAME;
  if (length == 0) return tesela__read_unexpected(&reader->in, "the name of a fragment", "");
  tesela_status status =
      tesela__infer_atom_find(reader->program, reader->in.text + at, length, &step->atom, &inner);
  return status == TESELA_OK ? status : tesela__infer_reader_pass(reader, status, at, &inner);
}

static tesela_status reader_warps(infer_reader *reader, tesela__infer_step *step) {
  int32_t n;
  tesela__read_peek(&reader->in);
  size_t at = reader->in.at;
  tesela_status status = tesela__infer_reader_list(reader, 2, step->warps, &n);
  if (status != TESELA_OK) return status;
  if (n == 2 && step->warps[0] >= 1 && step->warps[1] >= 1) return TESELA_OK;
  return tesela__read_fail(&reader->in, TESELA_E_RANGE, at,
                           "expected two numbers of 1 or more for warps: along rows and columns");
}

static const struct {
  const char *name;
  unsigned bit;
} infer_keys[] = {{"atom", TESELA__INFER_KEY_ATOM},
                  {"dims", TESELA__INFER_KEY_DIMS},
                  {"keepdims", TESELA__INFER_KEY_KEEPDIMS},
                  {"warps", TESELA__INFER_KEY_WARPS}};

enum { N_INFER_KEYS = sizeof infer_keys / sizeof infer_keys[0] };

/* The keys of an operation, as text. */
static const char *reader_keys(const tesela__infer_op *op, char room[64]) {
  size_t n = 0;
  for (int32_t i = 0; i < N_INFER_KEYS; i++)
    if (op->keys & infer_keys[i].bit)
      n += (size_t)snprintf(room + n, 64 - n, "%s%s=", n > 0 ? " or " : "", infer_keys[i].name);
  return n > 0 ? room : "the end of the line";
}

static tesela_status reader_key(infer_reader *reader, tesela__infer_step *step) {
  char room[64];
  size_t at, length = tesela__infer_reader_word(reader, &at);
  unsigned bit = 0;
  for (int32_t i = 0; i < N_INFER_KEYS && length > 0; i++)
    if (tesela__same_word(reader->in.text + at, length, infer_keys[i].name))
      bit = infer_keys[i].bit & step->op->keys;
  if (bit == 0) {
    reader->in.at = at;
    if (length == 0)
      return tesela__read_unexpected(&reader->in,
                                     step->n == 1 ? "a comma or a key" : reader_keys(step->op, room), "");
    char of[64];
    snprintf(of, sizeof of, " of %s", step->op->name);
    return tesela__read_unknown(&reader->in, TESELA_E_SYNTAX, at, length, "key", of, NULL,
                                reader_keys(step->op, room));
  }
  if (step->keys & bit)
    return tesela__read_fail(&reader->in, TESELA_E_SYNTAX, at, "%.*s is given twice", (int)length,
                             reader->in.text + at);
  step->keys |= bit;
  if (!tesela__read_take(&reader->in, '=')) return tesela__read_unexpected(&reader->in, "=", "");
  switch (bit) {
  case TESELA__INFER_KEY_ATOM:
    return reader_atom(reader, step);
  case TESELA__INFER_KEY_WARPS:
    return reader_warps(reader, step);
  case TESELA__INFER_KEY_KEEPDIMS:
    return reader_bool(reader, &step->keepdims);
  default:
    return tesela__infer_reader_list(reader, TESELA_MAX_RANK, step->dims, &step->n_dims);
  }
}

/* Does a word come next that is not a key and has no = after it, as after a missing comma? */
static bool reader_stray_word(infer_reader *reader, const tesela__infer_op *op) {
  size_t at, length = tesela__infer_reader_word(reader, &at);
  bool stray = length > 0 && !tesela__read_take(&reader->in, '=');
  for (int32_t i = 0; i < N_INFER_KEYS; i++)
    if (op->keys & infer_keys[i].bit)
      stray &= !tesela__same_word(reader->in.text + at, length, infer_keys[i].name);
  reader->in.at = at;
  return stray;
}

static tesela_status reader_stray(infer_reader *reader, const tesela__infer_step *step) {
  char room[64], allowed[96];
  const tesela__infer_op *op = step->op;
  if (step->n < op->least) return tesela__read_unexpected(&reader->in, "a comma", "");
  snprintf(allowed, sizeof allowed, "%s%s", op->most == 0 || step->n < op->most ? "a comma or " : "",
           reader_keys(op, room));
  return tesela__read_unexpected(&reader->in, allowed, "");
}

/* Read the tensors of an operation, then its keys. */
static tesela_status reader_operands(infer_reader *reader, tesela__infer_step *step) {
  tesela_status status;
  do status = reader_operand(reader, step);
  while (status == TESELA_OK && tesela__read_take(&reader->in, ','));
  if (status == TESELA_OK && reader_stray_word(reader, step->op)) return reader_stray(reader, step);
  if (status == TESELA_OK && (step->n < step->op->least || (step->op->most > 0 && step->n > step->op->most)))
    return tesela__read_fail(&reader->in, TESELA_E_SYNTAX, (size_t)step->at,
                             "%s expects %s%" PRId32 " tensors, found %" PRId32, step->op->name,
                             step->op->least < step->op->most && step->n < step->op->least ? "at least " : "",
                             step->n < step->op->least ? step->op->least : step->op->most, step->n);
  tesela__read_peek(&reader->in);
  while (status == TESELA_OK && reader->in.at < reader->in.length) {
    status = reader_key(reader, step);
    tesela__read_peek(&reader->in);
  }
  return status;
}

tesela_status tesela__infer_reader_operation(infer_reader *reader, const tesela__infer_op *op, size_t at) {
  tesela_kernel_program *program = reader->program;
  char room[64];
  tesela_error inner;
  void *steps = program->step;
  if (!tesela__grow(&program->allocator, &steps, sizeof *program->step, &program->cap_steps,
                    program->n_steps + 1))
    return tesela__read_fail(&reader->in, TESELA_E_MEMORY, at, "no memory for an operation");
  program->step = steps;
  tesela__infer_step *step = &program->step[program->n_steps++];
  *step = (tesela__infer_step){
      .op = op, .line = reader->in.line, .at = (int64_t)at, .first = (int64_t)program->n_args, .atom = -1};
  tesela_status status = reader_operands(reader, step);
  if (status != TESELA_OK) return status;
  if (op->needed & ~step->keys)
    return tesela__read_fail(&reader->in, TESELA_E_SYNTAX, reader->in.length, "%s needs %s", op->name,
                             reader_keys(op, room));
  status = op->fit(program, step, &inner);
  return status == TESELA_OK ? status : tesela__infer_reader_pass(reader, status, at, &inner);
}
