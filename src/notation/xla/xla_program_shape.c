/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xla_program_shape.c - "(x: f32[2]{0}, (unknown): s32[]) -> f32[2]{0}": parameters and result of a computation.
 *
 * The parameters are a tree with a tuple at its root, the result is another; the names are in one block, each with its
 * NUL. The text is read twice, as for trees, and a wrong one allocates nothing.
 */
#include "notation/xla/xla_print.h"
#include "notation/xla/xla_tree.h"
#include "xla/xla_shape_tree.h"

struct tesela_xla_program_shape {
  tesela_allocator allocator;
  tesela_xla_tree *parameters, *result;
  size_t *name_at; /* of each parameter, in `names` */
  char *names;
};

/* ---- reading ---- */

/* Names: counted, and copied if there is a program. */
typedef struct xla_names {
  tesela_xla_program_shape *program; /* NULL: only count */
  size_t n, bytes;
} xla_names;

static const char xla_unknown[] = "(unknown)";

/* "name:" or nothing, without a blank before the colon, as in XLA. */
static tesela_status xla_read_name(tesela__xla_reader *reader, void *user) {
  xla_names *names = user;
  size_t length = tesela__read_word(&reader->in), unknown = sizeof xla_unknown - 1;
  const char *word = reader->in.text + reader->in.at;
  size_t left = reader->in.length - reader->in.at;
  if (left > unknown && word[unknown] == ':' && memcmp(word, xla_unknown, unknown) == 0) {
    reader->in.at += unknown + 1;
    length = 0;
  } else if (length > 0 && left > length && word[length] == ':') {
    reader->in.at += length + 1;
  } else {
    length = 0;
  }
  if (names->program) {
    char *name = names->program->names + names->bytes;
    memcpy(name, word, length);
    name[length] = '\0';
    names->program->name_at[names->n] = names->bytes;
  }
  names->n++;
  names->bytes += length + 1;
  return TESELA_OK;
}

static tesela_status xla_read_program_shape(tesela__xla_reader *reader, tesela__xla_builder *parameters,
                                            tesela__xla_builder *result, xla_names *names) {
  tesela_status status = tesela__read_expect(&reader->in, '(', "of the parameters");
  if (status == TESELA_OK) status = tesela__xla_build_tuple(reader, parameters, ')', xla_read_name, names);
  if (status != TESELA_OK) return status;
  tesela__read_peek(&reader->in);
  if (reader->in.length - reader->in.at < 2 || memcmp(reader->in.text + reader->in.at, "->", 2) != 0)
    return tesela__read_unexpected(&reader->in, "'->' and the result", "");
  reader->in.at += 2;
  status = tesela__xla_build(reader, result);
  return status == TESELA_OK ? tesela__xla_end(reader, "the result") : status;
}

void tesela_xla_program_shape_destroy(tesela_xla_program_shape *program) {
  if (!program) return;
  tesela_allocator allocator = program->allocator;
  tesela_xla_tree_destroy(program->parameters);
  tesela_xla_tree_destroy(program->result);
  tesela__release(&allocator, program);
}

/* Allocate the counted sizes; NULL without memory. */
static tesela_xla_program_shape *xla_alloc_program(const tesela_allocator *allocator, const xla_names *names,
                                                   const tesela__xla_builder *parameters,
                                                   const tesela__xla_builder *result) {
  tesela_allocator from = tesela__allocator(allocator);
  uint64_t names_at = sizeof(tesela_xla_program_shape) + names->n * sizeof(size_t);
  char *block = tesela__alloc(&from, names_at + names->bytes, alignof(max_align_t));
  if (!block) return NULL;
  tesela_xla_program_shape *program = (tesela_xla_program_shape *)(void *)block;
  program->allocator = from;
  program->name_at = (size_t *)(void *)(program + 1);
  program->names = block + names_at;
  program->parameters = tesela__xla_tree_alloc(allocator, parameters->n_nodes, parameters->n_leaves);
  program->result = tesela__xla_tree_alloc(allocator, result->n_nodes, result->n_leaves);
  if (program->parameters && program->result) return program;
  tesela_xla_program_shape_destroy(program);
  return NULL;
}

tesela_status tesela_xla_program_shape_create(tesela_xla_program_shape **program, const char *text,
                                              size_t length, int32_t flags, const tesela_allocator *allocator,
                                              tesela_xla_repairs *repairs, tesela_error *err) {
  TESELA__NEED(err, program);
  TESELA__NEED_LIST(err, text, length);
  tesela_xla_repairs noted;
  xla_names names = {NULL, 0, 0};
  tesela__xla_builder parameters = tesela__xla_builder_make(NULL), result = parameters;
  tesela__xla_reader reader = tesela__xla_reader_make(text, length, flags, &noted, err);
  tesela_status status = xla_read_program_shape(&reader, &parameters, &result, &names);
  if (status != TESELA_OK) return status;
  tesela_xla_program_shape *made = xla_alloc_program(allocator, &names, &parameters, &result);
  if (!made)
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a program shape of %zu parameters", names.n);
  names = (xla_names){made, 0, 0};
  parameters = tesela__xla_builder_make(made->parameters);
  result = tesela__xla_builder_make(made->result);
  reader = tesela__xla_reader_make(text, length, flags, NULL, NULL);
  xla_read_program_shape(&reader, &parameters, &result, &names); /* the same text, so it cannot fail */
  tesela__xla_repairs_copy(repairs, &noted);
  *program = made;
  return TESELA_OK;
}

/* ---- queries ---- */

const tesela_xla_tree *tesela_xla_program_shape_parameters(const tesela_xla_program_shape *program) {
  return program ? program->parameters : NULL;
}

const tesela_xla_tree *tesela_xla_program_shape_result(const tesela_xla_program_shape *program) {
  return program ? program->result : NULL;
}

const char *tesela_xla_program_shape_name(const tesela_xla_program_shape *program, int32_t i) {
  if (!program) return NULL;
  bool there = i >= 0 && i < program->parameters->node[0].n_members;
  return there ? program->names + program->name_at[i] : NULL;
}

/* XLA puts no index comments between parameters. */
tesela_status tesela_xla_program_shape_print(const tesela_xla_program_shape *program, bool with_layout,
                                             const tesela_writer *to, tesela_error *err) {
  TESELA__NEED(err, program, to);
  const tesela_xla_tree *parameters = program->parameters;
  tesela__sink sink;
  tesela__sink_init(&sink, to);
  tesela__putc(&sink, '(');
  for (int32_t node = 1, k = 0; node < parameters->n_nodes; node = parameters->node[node].next, k++) {
    const char *name = tesela_xla_program_shape_name(program, k);
    if (k > 0) tesela__puts(&sink, ", ");
    tesela__puts(&sink, name[0] != '\0' ? name : xla_unknown);
    tesela__puts(&sink, ": ");
    tesela__xla_put_node(&sink, parameters, node, with_layout);
  }
  tesela__puts(&sink, ") -> ");
  tesela__xla_put_node(&sink, program->result, 0, with_layout);
  return tesela__sink_finish(&sink, err);
}
