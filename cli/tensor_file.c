/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_file.c - tensors in files, for reading.
 */
#include "tensor_file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "main/input.h"
#include "npy.h"
#include "verbs/problem.h"
#include "safetensors.h"
#include "message.h"
#include "main/say.h"
#include "tensor_file_map.h"

enum { MESSAGE = 1024 };

int tensor_file_wrong(const cli_context *cli, const char *file_name, const char *format, ...) {
  char message[MESSAGE], quote[SAY_QUOTE];
  va_list args;
  va_start(args, format);
  message_put(message, sizeof message, format, args);
  va_end(args);
  say_error(cli, "%s: %s", say_quote(file_name, quote), message);
  return CLI_BAD;
}

/* ---- open ---------------------------------------------------------------------------------------------- */

bool tensor_name_ends(const char *name, const char *suffix) {
  size_t n = strlen(name), m = strlen(suffix);
  return n >= m && strcmp(name + n - m, suffix) == 0;
}

/* Room for the only tensor of a file. */
static tensor_entry *only_entry(const cli_context *cli, tensor_file *file) {
  file->entry = calloc(1, sizeof *file->entry);
  if (!file->entry) say_error(cli, "no memory");
  file->n_entries = file->entry ? 1 : 0;
  return file->entry;
}

static int read_raw(const cli_context *cli, tensor_file *file) {
  if (!only_entry(cli, file)) return CLI_FAILED;
  file->entry[0] = (tensor_entry){.name = "", .rank = -1, .data = file->map, .bytes = file->size};
  return CLI_YES;
}

static int read_npy(const cli_context *cli, tensor_file *file) {
  if (!only_entry(cli, file)) return CLI_FAILED;
  return npy_read(cli, file->name, file->map, file->size, file->entry);
}

static int read_header(const cli_context *cli, tensor_file *file) {
  if (npy_begins(file->map, file->size)) {
    file->format = TENSOR_NPY;
    return read_npy(cli, file);
  }
  if (safetensors_begins(file->map, file->size)) {
    file->format = TENSOR_SAFETENSORS;
    return safetensors_read(cli, file);
  }
  if (tensor_name_ends(file->name, ".npy") || tensor_name_ends(file->name, ".safetensors"))
    return tensor_file_wrong(cli, file->name, "does not begin as its name says%s",
                             file->size == 0 ? ": it is empty" : "");
  return read_raw(cli, file);
}

int tensor_file_open(const cli_context *cli, const char *path, tensor_file **file) {
  tensor_file *made = calloc(1, sizeof *made);
  *file = NULL;
  if (!made) {
    say_error(cli, "no memory");
    return CLI_FAILED;
  }
  made->name = strcmp(path, "-") == 0 ? "standard input" : path;
  made->fd = -1;
  int status = tensor_map(cli, path, &made->fd, &made->map, &made->size);
  if (status == CLI_YES) status = read_header(cli, made);
  if (status == CLI_YES)
    *file = made;
  else
    tensor_file_close(made);
  return status;
}

void tensor_file_close(tensor_file *file) {
  if (!file) return;
  tensor_unmap(file->fd, file->map, file->size);
  tesela_json_free(&file->header);
  free(file->entry);
  free(file);
}

/* ---- layouts ------------------------------------------------------------------------------------------- */

int tensor_layout_text(const cli_context *cli, const char *text, const tesela_xla_shape *of,
                       tesela_xla_shape *shape, tesela_layout *layout) {
  problem_side side;
  tesela_xla_repairs repairs = {0};
  tesela_error err = {.at = -1};
  size_t length = strlen(text);
  int status = CLI_YES;
  tesela_target own;
  tesela_layout_read_options options;
  if (!input_options(cli, &own, &options, &status)) return status;
  if (problem_read_side(text, length, &options, of, &side, &repairs, &err) != TESELA_OK)
    return say_failure_in(cli, text, length, &err);
  input_repairs(cli, &repairs);
  *shape = side.shape;
  if (layout) *layout = side.layout;
  return CLI_YES;
}

/* The text of a shape for a message, cut if it is long. */
const char *tensor_shape_text(const tesela_xla_shape *shape, char text[TENSOR_SHAPE_TEXT]) {
  tesela_buffer buffer = {text, TENSOR_SHAPE_TEXT, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  text[0] = '\0';
  tesela_xla_print(shape, true, &to, NULL);
  return text;
}

/* ---- one tensor ---------------------------------------------------------------------------------------- */

typedef struct reader {
  const cli_context *cli;
  const tensor_file *file;
  const tensor_entry *entry;
  const tensor_says *says;
  tensor *out;
} reader;

/* "tensor wte" of a file with several, "" of others. */
static const char *which(const reader *r, char text[SAY_QUOTE + 16]) {
  char quote[SAY_QUOTE];
  text[0] = '\0';
  if (*r->entry->name) snprintf(text, SAY_QUOTE + 16, "tensor %s ", say_quote(r->entry->name, quote));
  return text;
}

/* The type that the command line gives, if it is as wide as the file's. */
static int read_type(const reader *r, tesela_dtype *dtype) {
  const char *name = r->says->dtype;
  char quote[SAY_QUOTE], of[SAY_QUOTE + 16];
  *dtype = r->entry->dtype;
  if (name) {
    *dtype = tesela_dtype_find(name, strlen(name));
    if (tesela_dtype_bytes(*dtype) == 0) {
      const char *near = tesela_dtype_suggest(name, strlen(name));
      return say_usage(r->cli, "--dtype is %s, which is no type%s%s%s", say_quote(name, quote),
                       near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
    if (8 * tesela_dtype_bytes(*dtype) != r->entry->bits && r->entry->bits > 0)
      return tensor_file_wrong(r->cli, r->file->name, "%shas elements of %" PRId32 " bits; --dtype %s has %d",
                               which(r, of), r->entry->bits, name, 8 * tesela_dtype_bytes(*dtype));
  }
  if (*dtype != TESELA_DTYPE_NONE) return CLI_YES;
  if (r->file->format == TENSOR_NPY)
    return tensor_file_wrong(r->cli, r->file->name,
                             "its elements are %" PRId32 " bits of no type; say which: --dtype=%s",
                             r->entry->bits, r->entry->bits == 16 ? "bf16" : "T");
  return tensor_file_wrong(r->cli, r->file->name, "%sis of type %s, which is not known; --dtype can say one",
                           which(r, of), say_quote(r->entry->type, quote));
}

/* What the file itself says: type and shape, dims in C or Fortran order. */
static int shape_of_file(const reader *r) {
  const tensor_entry *entry = r->entry;
  tesela_xla_layout order, *given = NULL;
  tesela_dtype dtype;
  tesela_error err;
  int status = read_type(r, &dtype);
  if (status != CLI_YES) return status;
  if (entry->fortran && tesela_xla_layout_make_ascending(&order, entry->rank, &err) == TESELA_OK)
    given = &order;
  if (tesela_xla_shape_make(&r->out->shape, dtype, entry->rank, entry->shape, given, &err) != TESELA_OK ||
      tesela_xla_to_layout(&r->out->shape, &r->out->layout, &err) != TESELA_OK)
    return tensor_file_wrong(r->cli, r->file->name, "%s", err.message);
  return CLI_YES;
}

/* What `tesela pack` recorded. */
static int shape_of_record(const reader *r) {
  tesela_error err;
  char of[SAY_QUOTE + 16];
  const char *text = r->entry->packed;
  if (tesela_xla_parse(text, strlen(text), TESELA_XLA_STRICT, &r->out->shape, NULL, &err) == TESELA_OK &&
      tesela_xla_to_layout(&r->out->shape, &r->out->layout, &err) == TESELA_OK)
    return CLI_YES;
  tensor_file_wrong(r->cli, r->file->name, "%shas a layout in the metadata that is none: %s", which(r, of),
                    err.message);
  if (err.at >= 0) say_caret(r->cli, text, strlen(text), err.at);
  return CLI_BAD;
}

/* The layout that the command line gives says the same as the file. */
static int check_agrees(const reader *r) {
  tesela_xla_shape said;
  tesela_layout layout;
  tesela_difference difference;
  char texts[2][TENSOR_SHAPE_TEXT], of[SAY_QUOTE + 16];
  if (!r->says->layout) return CLI_YES;
  int status = tensor_layout_text(r->cli, r->says->layout, &r->out->shape, &said, &layout);
  if (status != CLI_YES) return status;
  bool same = said.dtype == r->out->shape.dtype &&
              tesela_layout_compare(&layout, &r->out->layout, &difference, NULL) == TESELA_OK &&
              difference.same && difference.same_extent;
  if (same) return CLI_YES;
  return tensor_file_wrong(r->cli, r->file->name, "%sis %s, not %s", which(r, of),
                           tensor_shape_text(&r->out->shape, texts[0]), tensor_shape_text(&said, texts[1]));
}

static int shape_of_words(const reader *r) {
  char quote[SAY_QUOTE];
  if (!r->says->layout)
    return say_usage(r->cli, "%s is raw: its layout must be given, as in %s='f32[1000,200]{1,0}'",
                     say_quote(r->file->name, quote), r->says->option);
  if (r->says->dtype) return say_usage(r->cli, "the layout says the type; --dtype is not needed");
  return tensor_layout_text(r->cli, r->says->layout, NULL, &r->out->shape, &r->out->layout);
}

/* The file has exactly the bytes of the layout. */
static int check_bytes(const reader *r) {
  tesela_sizes sizes;
  tesela_error err;
  char text[TENSOR_SHAPE_TEXT], of[SAY_QUOTE + 16];
  if (tesela_layout_sizes(&r->out->layout, &sizes, &err) != TESELA_OK)
    return tensor_file_wrong(r->cli, r->file->name, "%s", err.message);
  if (sizes.bytes == r->entry->bytes) return CLI_YES;
  return tensor_file_wrong(r->cli, r->file->name, "%shas %" PRId64 " bytes; %s takes %" PRId64, which(r, of),
                           r->entry->bytes, tensor_shape_text(&r->out->shape, text), sizes.bytes);
}

int tensor_file_read(const cli_context *cli, const tensor_file *file, const tensor_entry *entry,
                     const tensor_says *says, tensor *out) {
  static const uint8_t nothing[1];
  reader r = {cli, file, entry, says, out};
  int status;
  out->entry = entry;
  if (entry->rank < 0)
    status = shape_of_words(&r);
  else
    status = entry->packed ? shape_of_record(&r) : shape_of_file(&r);
  if (status == CLI_YES && entry->rank >= 0) status = check_agrees(&r);
  if (status == CLI_YES) status = check_bytes(&r);
  if (status != CLI_YES) return status;
  out->data = entry->bytes > 0 ? entry->data : nothing;
  out->bytes = entry->bytes;
  out->swapped = entry->swapped;
  return CLI_YES;
}

int tensor_file_pick(const cli_context *cli, const tensor_file *file, const tensor_says *says, tensor *out) {
  char quote[SAY_QUOTE];
  if (says->name && file->format != TENSOR_SAFETENSORS)
    return say_usage(cli, "%s holds one tensor without a name; --tensor is for .safetensors",
                     say_quote(file->name, quote));
  if (!says->name && file->n_entries != 1)
    return tensor_file_wrong(cli, file->name, "holds %" PRId64 " tensors%s", file->n_entries,
                             file->n_entries ? "; --tensor=NAME says which one" : "");
  for (int64_t i = 0; i < file->n_entries; i++)
    if (!says->name || strcmp(file->entry[i].name, says->name) == 0)
      return tensor_file_read(cli, file, &file->entry[i], says, out);
  return tensor_file_wrong(cli, file->name, "holds no tensor %s", say_quote(says->name, quote));
}
