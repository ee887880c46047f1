/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.h - one request in JSON, one response: the engine behind `tesela query`. docs/query.md is its
 * reference.
 *
 *   query.c       reads a request, checks its fields by the table of ops, puts the response together
 *   query_ops.c   the table of ops, and some of them; query_xla.c has those about XLA shapes as such,
 *                 query_register.c those about register layouts, query_tile.c
 *                 those about moving tiles, query_relayout.c those that copy, query_device.c those about device
 *                 layouts, query_graph.c those about programs
 *
 * A new op is one row in the table and one function. When it is called, the fields it requires are there and
 * all of the right type; it writes fields of the response, or fails, and then what it wrote is taken back.
 */
#ifndef TESELA_CLI_QUERY_H
#define TESELA_CLI_QUERY_H

#include <tesela/notation.h>

#include "json.h"

#define QUERY_LINE_LIMIT ((size_t)16 << 20) /* bytes of a request */

/* Answer one line (without its newline) with one response (without a newline), appended to `out`. Never
 * fails: what is wrong is in the response. Only out->failed says that there was no memory for it. */
void query_line(const char *line, size_t length, json_writer *out);

/* The answer to a line that cannot be handed to query_line. */
void query_refuse(tesela_status status, const char *message, json_writer *out);

/* ---- for the ops ------------------------------------------------------------------------------------------
 */

typedef enum query_type {
  QUERY_ANY,     /* a string, a layout of any kind */
  QUERY_LAYOUT,  /* a string, one XLA shape */
  QUERY_TARGET,  /* a string, one XLA shape, or a layout in braces for the shape of another field */
  QUERY_TEXT,    /* any string */
  QUERY_INDICES, /* a list of lists of integers */
  QUERY_PLACES,  /* a list of integers or, of register layouts, of lists [thread, local] */
  QUERY_FLAG,    /* true or false */
  QUERY_NUMBER,  /* an integer */
  QUERY_TEXTS,   /* a list of strings */
  QUERY_NUMBERS, /* a list of integers */
  QUERY_OBJECT,  /* an object; the op checks its members */
  QUERY_OBJECTS, /* a list of objects */
  QUERY_DEVICE,  /* a device layout: a string, or an object */
} query_type;

typedef struct query_field {
  const char *name;
  query_type type;
  bool optional;
  const char *words; /* QUERY_TEXT: the texts allowed, "tpu|..."; NULL: any */
} query_field;

#define QUERY_FIELDS 12

typedef struct query {
  const json_t *request;
  json_writer *out;
  tesela_error *err;
  int32_t flags;      /* how texts are read: TESELA_XLA_STRICT or TESELA_XLA_LENIENT */
  const char *field;  /* the field that is looked at, for the error */
  char error_at[256]; /* of a failure: the operator of a program that is at fault; "" for none */
  char *message;      /* of a failure: all of a text too long for err; NULL: err has it. Owned */
} query;

typedef struct query_op {
  const char *name;
  tesela_status (*run)(query *q);
  const char *summary;
  query_field field[QUERY_FIELDS]; /* ends with a row of zeros, or is full */
} query_op;

/* query_device.c */
tesela_status query_op_device_layout(query *q);
tesela_status query_op_dma(query *q);
tesela_status query_op_restickify(query *q);
tesela_status query_op_view(query *q);
/* query_graph.c */
tesela_status query_op_plan_memory(query *q);
tesela_status query_op_propagate(query *q);
/* query_register.c */
tesela_status query_op_fragment(query *q);
tesela_status query_op_locate_at(query *q);
tesela_status query_op_register(query *q);
tesela_status query_op_shared(query *q);
tesela_status query_op_show(query *q);
/* query_relayout.c */
tesela_status query_op_plan(query *q);
tesela_status query_op_relayout(query *q);
/* query_tile.c */
tesela_status query_op_bank_conflicts(query *q);
tesela_status query_op_convert(query *q);
tesela_status query_op_infer(query *q);
tesela_status query_op_ldmatrix(query *q);
tesela_status query_op_swizzle(query *q);
tesela_status query_op_vector_width(query *q);
/* query_xla.c */
tesela_status query_op_choose(query *q);
tesela_status query_op_info(query *q);
tesela_status query_op_parse(query *q);
tesela_status query_op_program(query *q);

extern const query_op query_ops[];
extern const int query_n_ops;

/* "string, an XLA shape": what a field takes. */
const char *query_type_words(query_type type);

tesela_status query_fail(query *q, tesela_status status, int64_t at, const char *format, ...)
    TESELA_PRINTF(4, 5);

/* The value of a field; NULL if an optional one is not there. */
const json_t *query_get(query *q, const char *field);
bool query_flag(query *q, const char *field);
/* Read a field of type QUERY_ANY; layout may be NULL. */
tesela_status query_any(query *q, const char *field, tesela_any_layout *any, tesela_layout *layout);
/* indices[i] as an index of a shape. */
tesela_status query_index(query *q, int32_t rank, const int64_t *shape, const json_t *list, size_t i,
                          int64_t *index);
/* Read a field of type QUERY_LAYOUT; layout may be NULL. */
tesela_status query_layout(query *q, const char *field, tesela_xla_shape *shape, tesela_layout *layout);

#endif
