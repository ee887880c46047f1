/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor.h - a tensor in a file: what the file and the caller give, put together.
 *
 * Whatever a file holds, a function here reports what is wrong; it never reads outside the file. Messages name the file.
 */
#ifndef TESELA_OPS_TENSOR_H
#define TESELA_OPS_TENSOR_H

#include <tesela/file.h>
#include <tesela/notation.h>
#include <tesela/ops.h>
#include <tesela/xla.h>

#include "problem_side.h"

/* An open file; its description of a tensor is a tesela_file_tensor. */
typedef struct tensor_file {
  const char *name; /* for messages: the path, or "standard input" */
  tesela_file *file;
  tesela_file_info info;
} tensor_file;

/* What the command line gives about a tensor; NULL: not given. */
typedef struct tensor_says {
  const char
      *layout; /* LAYOUT, or its braces alone: a raw file needs a whole one, the others' must agree with it */
  const char *dtype;  /* a type of the width the file gives, "bf16" for <V2; that of a layout without one */
  const char *name;   /* which tensor of a file with several */
  const char *option; /* what gives the layout, for messages: "from" */
} tensor_says;

/* One tensor, ready to be read. */
typedef struct tensor {
  const tesela_file_tensor *entry;
  tesela_any_layout any;
  tesela_layout layout; /* of any; one axis */
  const uint8_t *data;  /* place 0; the file has all places of the layout */
  int64_t bytes;
  bool swapped; /* reading it needs TESELA_TRANSFORM_SWAP */
} tensor;

/* How texts are read, and where errors and notes about them go. */
typedef struct tensor_reading {
  tesela_layout_read_options options;
  const char *dash; /* written before the name of a field: "--" of options, "" of fields */
  tesela_error *err;
  tesela_request *q; /* receives notes on repairs, and a message too long for err */
  const char *text;  /* of a failure: the text of which err->at is a byte, or NULL */
  bool usage;        /* of a failure: the request is wrong, not the file */
} tensor_reading;

/* A layout in memory, in any notation; type and dims that it lacks are those of `of` (NULL: those of the request). */
tesela_status tensor_text(tensor_reading *r, const char *text, const tesela_xla_shape *of,
                          problem_side *side);

/* Print a layout in its own notation, JAX's as an XLA shape. */
void tensor_print(const tesela_any_layout *any, const tesela_writer *to);
/* The same as a text to be freed. NULL: no memory. */
char *tensor_text_of(const tesela_any_layout *any);

/* Put together what the file and `says` give about a tensor. `entry` NULL: the one that `says` names, or the only one. */
tesela_status tensor_read(tensor_reading *r, const tensor_file *file, const tesela_file_tensor *entry,
                          const tensor_says *says, tensor *out);

/* A layout that a .safetensors has recorded: strict, in any notation, complete without what a request gives. */
tesela_status tensor_read_record(const char *text, tesela_any_layout *any, tesela_layout *layout,
                                 tesela_error *err);

/* Does an operation on values use all tensors of a file: there are several, and the caller names none? */
bool tensor_goes_through(const tensor_file *file, const tensor_says *says);

/* The same for a message; cut if it is very long. Returns `text`. */
#define TENSOR_LAYOUT_TEXT 512
const char *tensor_layout_text(const tesela_any_layout *any, char text[TENSOR_LAYOUT_TEXT]);

/* Names for the end of a message about one that is unknown: "; the file has 6: wte.weight, ..." or
 * "; did you mean wte.weight? the file has 6: ..."; "" for a file without any.
 * `name` gives name i, NULL after the last; `has`: "the file has". Returns `text`. */
#define TENSOR_NAMES_TEXT 640
const char *tensor_names(const char *unknown, const char *has,
                         const char *(*name)(const void *user, int32_t i), const void *user,
                         char text[TENSOR_NAMES_TEXT]);
/* The names of the tensors of a file, for tensor_names; user is a tensor_file. */
const char *tensor_name_at(const void *file, int32_t i);

/* Fill r->err; `tensor_wrong` with the name of the file before the message. */
tesela_status tensor_wrong(tensor_reading *r, const char *file_name, const char *format, ...)
    TESELA_PRINTF(3, 4);
tesela_status tensor_usage(tensor_reading *r, const char *format, ...) TESELA_PRINTF(2, 3);

/* ---- for operations ---- */

/* Open the file that a field names, or another path that is a text. */
tesela_status tensor_request_open(tesela_request *q, const char *field, tensor_file *file);
tesela_status tensor_request_open_at(tesela_request *q, const tesela_value *path, tensor_file *file);
void tensor_request_close(tensor_file *file);
/* The layouts of a request. tensor_request_failed makes q agree with a failure of reading: the field whose text, or an item of whose
 * list, it is about, or NULL. Returns status. */
tensor_reading tensor_request_reading(tesela_request *q);
tesela_status tensor_request_failed(tesela_request *q, const tensor_reading *r, tesela_status status);

#endif
