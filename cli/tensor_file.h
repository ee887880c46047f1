/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_file.h - tensors in files, for reading: raw bytes, .npy, .safetensors. The format is found from the first
 * bytes, not from the name.
 *
 *   tensor_file *file;
 *   tensor t;
 *   int status = tensor_file_open(cli, path, &file);
 *   if (status == CLI_YES) status = tensor_file_pick(cli, file, &(tensor_says){.layout = from, .option = "--from"}, &t);
 *   ... t.layout, t.data ...
 *   tensor_file_close(file);
 *
 * A regular file is mapped. Pipes and `-` are written to an unlinked file in TMPDIR (/var/tmp) first and that is
 * mapped, so memory stays bounded. If a file shrinks while it is mapped, or its device fails, the process says so,
 * removes its unfinished output and exits with CLI_FAILED (tensor_file_map.c).
 *
 * Whatever a file holds, a function here says what is wrong with it and returns CLI_BAD; it never reads outside the
 * file. Every message names the file.
 */
#ifndef TESELA_CLI_TENSOR_FILE_H
#define TESELA_CLI_TENSOR_FILE_H

#include <tesela/xla.h>

#include <tesela/ops.h>
#include "main/options.h"

typedef enum tensor_format { TENSOR_RAW, TENSOR_NPY, TENSOR_SAFETENSORS } tensor_format;

/* What a file says about one of its tensors. */
typedef struct tensor_entry {
  const char *name; /* "" in a raw or .npy file */
  const char *type; /* as the file writes it: "BF16", "<f4" */
  tesela_dtype
      dtype;    /* TESELA_DTYPE_NONE: the file gives no more than a width (V2), or not even that (raw) */
  int32_t bits; /* of one element; 0: not known */
  int32_t rank; /* -1 in a raw file */
  int64_t shape[TESELA_MAX_RANK];
  bool fortran; /* dim 0 varies fastest */
  bool swapped; /* the bytes of each number are in the other order than this machine's */
  const uint8_t *data;
  int64_t bytes;
  const char *packed; /* the layout that `tesela pack` recorded, full text; NULL: none */
} tensor_entry;

typedef struct tensor_file {
  const char *name; /* for messages: the path, or "standard input" */
  tensor_format format;
  const uint8_t *map; /* the whole file; NULL if it is empty */
  int64_t size;
  int64_t n_entries;
  tensor_entry *entry;          /* in the order of the file's header */
  const tesela_value *metadata; /* of .safetensors: an object of strings; NULL if there is none */
  tesela_json_in header;        /* of .safetensors: owns the names */
  int fd;
} tensor_file;

/* What the command line says about a tensor; NULL: nothing. */
typedef struct tensor_says {
  const char
      *layout; /* LAYOUT, or its braces alone: a raw file needs a whole one, the others' must agree with it */
  const char *dtype;  /* a type of the width the file gives: "bf16" for <V2 */
  const char *name;   /* which tensor of a file with several */
  const char *option; /* what gives the layout, for messages: "--from" */
} tensor_says;

/* One tensor, ready to be read. */
typedef struct tensor {
  const tensor_entry *entry;
  tesela_xla_shape shape;
  tesela_layout layout; /* of shape; one axis */
  const uint8_t *data;  /* place 0; the file has all places of the layout */
  int64_t bytes;
  bool swapped; /* as in tensor_entry: reading it needs TESELA_TRANSFORM_SWAP */
} tensor;

/* Open a file, "-" for standard input. Returns an exit status after saying why; then *file is NULL. */
int tensor_file_open(const cli_context *cli, const char *path, tensor_file **file);
void tensor_file_close(tensor_file *file); /* NULL is fine */

/* Find the tensor that `says` names (or the only one) and put together what the file and `says` tell about it. */
int tensor_file_pick(const cli_context *cli, const tensor_file *file, const tensor_says *says, tensor *out);
/* The same for a tensor that is found already. */
int tensor_file_read(const cli_context *cli, const tensor_file *file, const tensor_entry *entry,
                     const tensor_says *says, tensor *out);

/* A LAYOUT, or braces alone (`{1,0:T(8,128)}`), which take type and dims from `of` (NULL: only a whole LAYOUT will do).
 * Returns an exit status after saying what is wrong. `layout` may be NULL. */
int tensor_layout_text(const cli_context *cli, const char *text, const tesela_xla_shape *of,
                       tesela_xla_shape *shape, tesela_layout *layout);

/* The text of a shape, for a message; cut if it is very long. Returns `text`. */
#define TENSOR_SHAPE_TEXT 512
const char *tensor_shape_text(const tesela_xla_shape *shape, char text[TENSOR_SHAPE_TEXT]);

bool tensor_name_ends(const char *name, const char *suffix);

/* Say an error about a file: "model.safetensors: ...". Returns CLI_BAD. */
int tensor_file_wrong(const cli_context *cli, const char *file_name, const char *format, ...)
    TESELA_PRINTF(3, 4);

#endif
