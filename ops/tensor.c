/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.c - see tensor.h. */
#include "tensor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem_side.h"
#include "quote.h"
#include "request.h"

/* A message too long for r->err is whole in r->q. */
static tesela_status fail(tensor_reading *r, const char *format, va_list args) {
  enum { MOST = 2048 };
  va_list again;
  va_copy(again, args);
  r->text = NULL;
  tesela_error_fill(r->err, TESELA_E_INVALID, -1, format, args);
  char *whole = malloc(MOST);
  if (whole && vsnprintf(whole, MOST, format, again) >= (int)sizeof r->err->message) {
    free(r->q->message);
    r->q->message = whole;
    whole = NULL;
  }
  free(whole);
  va_end(again);
  return TESELA_E_INVALID;
}

tesela_status tensor_usage(tensor_reading *r, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tesela_status status = fail(r, format, args);
  va_end(args);
  r->usage = true;
  return status;
}

tesela_status tensor_wrong(tensor_reading *r, const char *file_name, const char *format, ...) {
  char message[1536], quote[SAY_QUOTE];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  tensor_usage(r, "%s: %s", say_quote(file_name, quote), message);
  r->usage = false;
  return TESELA_E_INVALID;
}

const char *tensor_name_at(const void *file, int32_t i) {
  const tensor_file *f = file;
  return i < f->info.n_tensors ? f->info.tensor[i].name : NULL;
}

const char *tensor_names(const char *unknown, const char *has,
                         const char *(*name)(const void *user, int32_t i), const void *user,
                         char text[TENSOR_NAMES_TEXT]) {
  enum { MOST = 5 };
  char quote[SAY_QUOTE];
  int32_t n = 0;
  const char *near = tesela_nearest(unknown, strlen(unknown), name, user);
  size_t used = 0;
  text[0] = '\0';
  while (name(user, n)) n++;
  if (n == 0) return text;
  if (near) used += (size_t)snprintf(text, TENSOR_NAMES_TEXT, "; did you mean %s", say_quote(near, quote));
  used +=
      (size_t)snprintf(text + used, TENSOR_NAMES_TEXT - used, "%s %s %" PRId32 ":", near ? "?" : ";", has, n);
  for (int32_t i = 0; i < n && i < MOST; i++)
    used += (size_t)snprintf(text + used, TENSOR_NAMES_TEXT - used, "%s %s", i > 0 ? "," : "",
                             say_quote(name(user, i), quote));
  if (n > MOST) snprintf(text + used, TENSOR_NAMES_TEXT - used, ", ...");
  return text;
}

tesela_status tensor_text(tensor_reading *r, const char *text, const tesela_xla_shape *of,
                          problem_side *side) {
  tesela_xla_repairs repairs = {0};
  r->text = text;
  r->usage = false;
  tesela_status status = problem_read_side(text, strlen(text), &r->options, of, side, &repairs, r->err);
  if (status != TESELA_OK) return status;
  char quote[SAY_QUOTE];
  for (int32_t i = 0; i < repairs.count && i < TESELA_XLA_MAX_REPAIRS; i++)
    request_note(r->q, "%s (byte %" PRId64 ")", say_quote(repairs.repair[i].what, quote),
                 repairs.repair[i].at);
  return TESELA_OK;
}

void tensor_print(const tesela_any_layout *any, const tesela_writer *to) {
  if (any->kind == TESELA_KIND_XLA)
    tesela_xla_print(&any->shape, true, to, NULL);
  else
    tesela_any_print(any, to, NULL);
}

static size_t print_text(const tesela_any_layout *any, char *text, size_t room) {
  tesela_buffer buffer = {text, room, 0};
  const tesela_writer to = tesela_buffer_writer(&buffer);
  if (room > 0) text[0] = '\0';
  tensor_print(any, &to);
  return buffer.length;
}

char *tensor_text_of(const tesela_any_layout *any) {
  const size_t room = print_text(any, NULL, 0) + 1;
  char *text = malloc(room);
  if (text) print_text(any, text, room);
  return text;
}

const char *tensor_layout_text(const tesela_any_layout *any, char text[TENSOR_LAYOUT_TEXT]) {
  print_text(any, text, TENSOR_LAYOUT_TEXT);
  return text;
}

/* ---- one tensor ---------------------------------------------------------------------------------------- */

typedef struct reader {
  tensor_reading *r;
  const tensor_file *file;
  const tesela_file_tensor *entry;
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
static tesela_status read_type(const reader *r, tesela_dtype *dtype) {
  const char *name = r->says->dtype;
  char quote[SAY_QUOTE], of[SAY_QUOTE + 16];
  *dtype = r->entry->dtype;
  if (name) {
    tesela_error err;
    if (tesela_dtype_read(name, strlen(name), dtype, &err) != TESELA_OK)
      return tensor_usage(r->r, "%sdtype: %s", r->r->dash, err.message);
    if (tesela_dtype_bytes(*dtype) == 0)
      return tensor_usage(r->r, "%sdtype: expected an element type, found '%s'", r->r->dash, name);
    if (8 * tesela_dtype_bytes(*dtype) != r->entry->bits && r->entry->bits > 0)
      return tensor_wrong(r->r, r->file->name, "%shas elements of %" PRId32 " bits, but %sdtype %s has %d",
                          which(r, of), r->entry->bits, r->r->dash, name, 8 * tesela_dtype_bytes(*dtype));
  }
  if (*dtype != TESELA_DTYPE_NONE) return TESELA_OK;
  if (r->file->info.format == TESELA_FILE_NPY)
    return tensor_wrong(r->r, r->file->name,
                        "the elements have %" PRId32 " bits and no type; give it with %sdtype=%s",
                        r->entry->bits, r->r->dash, r->entry->bits == 16 ? "bf16" : "T");
  return tensor_wrong(r->r, r->file->name, "%shas the unknown type %s; %sdtype can give another",
                      which(r, of), say_quote(r->entry->type, quote), r->r->dash);
}

/* What the file itself has: type and shape, dims in C or Fortran order. */
static tesela_status shape_of_file(const reader *r) {
  const tesela_file_tensor *entry = r->entry;
  tesela_xla_layout order, *given = NULL;
  tesela_dtype dtype;
  tesela_error err;
  tesela_status status = read_type(r, &dtype);
  if (status != TESELA_OK) return status;
  if (entry->fortran && tesela_xla_layout_make_ascending(&order, entry->rank, &err) == TESELA_OK)
    given = &order;
  r->out->any = (tesela_any_layout){.kind = TESELA_KIND_XLA};
  if (tesela_xla_shape_make(&r->out->any.shape, dtype, entry->rank, entry->shape, given, &err) != TESELA_OK ||
      tesela_xla_to_layout(&r->out->any.shape, &r->out->layout, &err) != TESELA_OK)
    return tensor_wrong(r->r, r->file->name, "%s", err.message);
  return TESELA_OK;
}

tesela_status tensor_read_record(const char *text, tesela_any_layout *any, tesela_layout *layout,
                                 tesela_error *err) {
  tesela_status status = tesela_layout_read(text, strlen(text), NULL, any, err);
  if (status == TESELA_OK) status = tesela_any_to_layout(any, layout, err);
  if (status != TESELA_OK || (layout->n_axes == 1 && layout->dtype != TESELA_DTYPE_NONE)) return status;
  return ops_fail(err, TESELA_E_MISMATCH, 0, "expected a layout in memory with an element type");
}

/* What `tesela pack` recorded. */
static tesela_status shape_of_record(const reader *r) {
  tesela_error err;
  char of[SAY_QUOTE + 16];
  if (tensor_read_record(r->entry->layout, &r->out->any, &r->out->layout, &err) == TESELA_OK)
    return TESELA_OK;
  return tensor_wrong(r->r, r->file->name, "%shas an invalid layout in the metadata: %s (byte %" PRId64 ")",
                      which(r, of), err.message, err.at);
}

/* The layout that the command line gives must be that of the file. */
static tesela_status check_agrees(const reader *r) {
  problem_side said;
  tesela_difference difference;
  const tesela_xla_shape array = problem_array(&r->out->layout);
  char texts[2][TENSOR_LAYOUT_TEXT], of[SAY_QUOTE + 16];
  if (!r->says->layout) return TESELA_OK;
  tesela_status status = tensor_text(r->r, r->says->layout, &array, &said);
  if (status != TESELA_OK) return status;
  bool same = said.layout.dtype == r->out->layout.dtype && said.layout.bits == r->out->layout.bits &&
              tesela_any_compare(&said.any, &r->out->any, &difference, NULL) == TESELA_OK &&
              difference.same && difference.same_extent;
  if (same) return TESELA_OK;
  return tensor_wrong(r->r, r->file->name, "%sis %s; the layout given is %s", which(r, of),
                      tensor_layout_text(&r->out->any, texts[0]), tensor_layout_text(&said.any, texts[1]));
}

/* The dims that are given beside the texts must be those of the file. */
static tesela_status check_dims(const reader *r) {
  const tesela_xla_shape *given = r->r->options.array;
  const tesela_layout *layout = &r->out->layout;
  char text[TENSOR_LAYOUT_TEXT], of[SAY_QUOTE + 16];
  if (!given) return TESELA_OK;
  if (given->rank == layout->rank &&
      memcmp(given->dim, layout->shape, (size_t)layout->rank * sizeof *given->dim) == 0)
    return TESELA_OK;
  return tensor_wrong(r->r, r->file->name, "%sis %s; %sshape has other dims", which(r, of),
                      tensor_layout_text(&r->out->any, text), r->r->dash);
}

/* A raw file is what the layout says; the type beside it is for a layout without one. */
static tesela_status shape_of_words(const reader *r) {
  char quote[SAY_QUOTE];
  tensor_reading typed = *r->r;
  problem_side side;
  tesela_error err;
  tesela_xla_shape array;
  const char *text = r->says->layout, *dtype = r->says->dtype;
  if (!text)
    return tensor_usage(r->r, "%s is raw; missing its layout, as in %s%s='f32[1000,200]{1,0}'",
                        say_quote(r->file->name, quote), r->r->dash, r->says->option);
  if (typed.options.array) array = *typed.options.array;
  if (typed.options.array) typed.options.array = &array;
  array.dtype = typed.options.dtype = TESELA_DTYPE_NONE;
  if (dtype) {
    if (problem_read_side(text, strlen(text), &typed.options, NULL, &side, NULL, &err) == TESELA_OK &&
        side.layout.dtype != TESELA_DTYPE_NONE)
      return tensor_usage(r->r, "unexpected %sdtype: the layout has the type", r->r->dash);
    if (tesela_dtype_read(dtype, strlen(dtype), &typed.options.dtype, &err) != TESELA_OK)
      return tensor_usage(r->r, "%sdtype: %s", r->r->dash, err.message);
    if (tesela_dtype_bytes(typed.options.dtype) == 0)
      return tensor_usage(r->r, "%sdtype: expected an element type, found '%s'", r->r->dash, dtype);
  }
  array.dtype = typed.options.dtype;
  tesela_status status = tensor_text(&typed, text, NULL, &side);
  r->r->text = typed.text;
  r->r->usage = typed.usage;
  if (status != TESELA_OK) return status;
  r->out->any = side.any;
  r->out->layout = side.layout;
  return TESELA_OK;
}

/* The file has exactly the bytes of the layout. */
static tesela_status check_bytes(const reader *r) {
  tesela_sizes sizes;
  tesela_error err;
  char text[TENSOR_LAYOUT_TEXT], of[SAY_QUOTE + 16];
  if (tesela_layout_sizes(&r->out->layout, &sizes, &err) != TESELA_OK)
    return tensor_wrong(r->r, r->file->name, "%s", err.message);
  if (sizes.bytes == r->entry->bytes) return TESELA_OK;
  tensor_layout_text(&r->out->any, text);
  if (r->out->layout.dtype == TESELA_DTYPE_NONE)
    return tensor_wrong(r->r, r->file->name,
                        "%shas %" PRId64 " bytes; expected %" PRId64 " for %s of %" PRId32
                        " bits; %sdtype gives it a type",
                        which(r, of), r->entry->bytes, sizes.bytes, text, r->out->layout.bits, r->r->dash);
  return tensor_wrong(r->r, r->file->name, "%shas %" PRId64 " bytes; expected %" PRId64 " for %s",
                      which(r, of), r->entry->bytes, sizes.bytes, text);
}

static tesela_status read_entry(const reader *r) {
  static const uint8_t nothing[1];
  const tesela_file_tensor *entry = r->entry;
  tensor *out = r->out;
  tesela_status status;
  out->entry = entry;
  if (entry->rank < 0)
    status = shape_of_words(r);
  else
    status = entry->layout ? shape_of_record(r) : shape_of_file(r);
  if (status == TESELA_OK && entry->rank >= 0) status = check_agrees(r);
  if (status == TESELA_OK && entry->rank >= 0) status = check_dims(r);
  if (status == TESELA_OK) status = check_bytes(r);
  if (status != TESELA_OK) return status;
  out->data = entry->bytes > 0 ? entry->data : nothing;
  out->bytes = entry->bytes;
  out->swapped = entry->swapped;
  return TESELA_OK;
}

tesela_status tensor_read(tensor_reading *r, const tensor_file *file, const tesela_file_tensor *entry,
                          const tensor_says *says, tensor *out) {
  char quote[SAY_QUOTE];
  if (!entry) {
    if (says->name && file->info.format != TESELA_FILE_SAFETENSORS)
      return tensor_usage(r, "%s has one tensor without a name; %stensor is for .safetensors files",
                          say_quote(file->name, quote), r->dash);
    if (!says->name && file->info.n_tensors != 1)
      return tensor_wrong(r, file->name, "has %" PRId64 " tensors%s%s%s", file->info.n_tensors,
                          file->info.n_tensors ? "; " : "", file->info.n_tensors ? r->dash : "",
                          file->info.n_tensors ? "tensor=NAME selects one" : "");
    entry = says->name ? tesela_file_find(file->file, says->name) : file->info.tensor;
  }
  if (!entry) {
    char names[TENSOR_NAMES_TEXT];
    return tensor_wrong(r, file->name, "has no tensor %s%s", say_quote(says->name, quote),
                        tensor_names(says->name, "the file has", tensor_name_at, file, names));
  }
  return read_entry(&(reader){r, file, entry, says, out});
}

bool tensor_goes_through(const tensor_file *file, const tensor_says *says) {
  return file->info.n_tensors > 1 && !says->name;
}

/* ---- for operations -------------------------------------------------------------------------------------- */

tesela_status tensor_request_open(tesela_request *q, const char *field, tensor_file *file) {
  return tensor_request_open_at(q, tesela_request_get(q, field), file);
}

tesela_status tensor_request_open_at(tesela_request *q, const tesela_value *value, tensor_file *file) {
  request_path path;
  tesela_status status = request_path_open(q, value, false, &path);
  if (status != TESELA_OK) return status;
  *file =
      (tensor_file){.name = q->files_anywhere && strcmp(path.name, "-") == 0 ? "standard input" : path.name};
  const tesela_value *max_header = tesela_request_get(q, "max_header");
  const tesela_file_options options = {.max_header = tesela_value_int(max_header)};
  status = tesela_file_open(&file->file, request_path_text(&path), &options, q->err);
  request_path_close(&path);
  q->field = NULL;
  if (status != TESELA_OK) {
    const tesela_error err = *q->err;
    tensor_reading r = {.err = q->err};
    char at[40] = "";
    if (err.at >= 0) snprintf(at, sizeof at, " (byte %" PRId64 ")", err.at);
    tensor_wrong(&r, file->name, "%s%s", err.message, at);
    q->err->status = err.reason == TESELA_REASON_PATH ? TESELA_E_INVALID : status;
    q->err->reason = err.reason;
    return q->err->status;
  }
  tesela_file_describe(file->file, &file->info);
  if (file->info.bytes_after > 0)
    request_note(q, "%" PRId64 " bytes after the array are ignored", file->info.bytes_after);
  return TESELA_OK;
}

void tensor_request_close(tensor_file *file) {
  tesela_file_close(file->file);
  file->file = NULL;
}

tensor_reading tensor_request_reading(tesela_request *q) {
  return (tensor_reading){
      .options = request_reading(q, NULL), .dash = q->dash ? q->dash : "", .err = q->err, .q = q};
}

/* Is `text` the end of a text? */
static bool is_in(const tesela_value *value, const char *text) {
  const uintptr_t at = (uintptr_t)text, begin = (uintptr_t)tesela_value_text(value);
  return begin && at >= begin && at <= begin + value->n;
}

tesela_status tensor_request_failed(tesela_request *q, const tensor_reading *r, tesela_status status) {
  q->field = q->text = NULL;
  if (status == TESELA_OK) return status;
  q->usage = r->usage;
  for (size_t i = 0; r->text && i < tesela_value_size(q->value); i++) {
    const tesela_value *field = tesela_value_at(q->value, i), *item = field;
    for (size_t k = 0; item && !q->field; item = tesela_value_at(field, k++))
      if (is_in(item, r->text)) {
        q->field = field->name;
        q->text = item->as.text;
      }
  }
  if (!q->field) q->err->at = -1;
  if (q->err->at >= 0) q->err->at += r->text - q->text;
  return status;
}
