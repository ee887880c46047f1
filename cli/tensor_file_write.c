/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_file_write.c - write tensors of one file in other layouts into another.
 *
 * In three steps: what each tensor is in the output (type, shape, bytes, recorded layout), the header and where the data
 * of each begins, then the copies. A .safetensors keeps the order of its header; data of wide types comes first, so
 * that every tensor is aligned to its type whatever the sizes are.
 */
#include "tensor_file_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "main/json.h"
#include "npy.h"
#include "output_file.h"
#include "safetensors.h"
#include "main/say.h"
#include "tensor_file_bound.h"

enum { NAME_LIMIT = 4000, RECORD_TEXT = 4096, MAX_ALIGN = 16 };

/* What one tensor is in the output. */
typedef struct written {
  const char *type;
  bool plain, fortran; /* row-major, or the reverse, without padding */
  int32_t rank;
  const int64_t *shape;
  int64_t places; /* shape of a recorded one */
  int64_t begin, bytes;
  int32_t align;
  char *record;
  char *from, *to; /* for --json */
  char plan[TENSOR_PLAN_TEXT];
} written;

typedef struct writing {
  const tensor_job *job;
  written *out; /* job->n of them */
  char *header;
  int64_t header_bytes, bytes;
  tensor_copies copies;
} writing;

/* ---- what a tensor is in the output --------------------------------------------------------------------- */

static char *text_of(const tesela_xla_shape *shape) {
  char text[RECORD_TEXT];
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  if (tesela_xla_print(shape, true, &to, NULL) != TESELA_OK || buffer.length >= sizeof text) return NULL;
  return strdup(text);
}

static int no_memory(const tensor_job *job) {
  say_error(job->cli, "no memory");
  return CLI_FAILED;
}

static int as_npy(const tensor_job *job, const tensor_item *item, const tesela_layout *layout, written *w) {
  char text[TENSOR_SHAPE_TEXT];
  const char *type = npy_type(item->to.dtype);
  if (!w->plain && !w->fortran)
    return say_usage(
        job->cli,
        "a .npy file has its dims in order or in reverse, without padding; %s is not so. Write it raw or "
        "as .safetensors",
        tensor_shape_text(&item->to, text));
  if (!type || 8 * tesela_dtype_bytes(item->to.dtype) != layout->bits)
    return say_usage(job->cli,
                     "a .npy file holds no elements of %" PRId32 " bits; write %s raw or as .safetensors",
                     layout->bits, tensor_shape_text(&item->to, text));
  if (strchr(type, 'V'))
    say_note(job->cli, "NumPy has no %s; it will read elements of type %s", tesela_dtype_name(item->to.dtype),
             type);
  w->type = type;
  return CLI_YES;
}

/* Row-major as a tensor of its own type and shape; all else as a list of places, with its layout recorded. */
static int as_safetensors(const tensor_job *job, const tensor_item *item, const tesela_layout *layout,
                          written *w) {
  char quote[SAY_QUOTE];
  const char *type = tensor_type_in_safetensors(&item->to, layout);
  if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
    return say_usage(job->cli, ".safetensors is written on little-endian machines only");
  w->type = type ? type : "U8";
  if (w->plain && type) return CLI_YES;
  if (strlen(item->name) > NAME_LIMIT)
    return say_usage(job->cli, "the name of tensor %s is too long to record a layout",
                     say_quote(item->name, quote));
  w->record = text_of(&item->to);
  if (!w->record) return no_memory(job);
  w->align = type ? layout->bits / 8 : 1;
  w->places = w->bytes / w->align;
  w->rank = 1;
  w->shape = &w->places;
  return CLI_YES;
}

static int describe(const tensor_job *job, const tensor_item *item, written *w) {
  tesela_layout layout;
  tesela_sizes sizes;
  tesela_error err;
  if (tesela_xla_to_layout(&item->to, &layout, &err) != TESELA_OK ||
      tesela_layout_sizes(&layout, &sizes, &err) != TESELA_OK)
    return say_failure(job->cli, &err);
  *w = (written){.rank = item->to.rank, .shape = item->to.dim, .bytes = sizes.bytes};
  w->align = tesela_dtype_bytes(item->to.dtype);
  w->plain = tensor_is_dense(&layout, false);
  w->fortran = !w->plain && tensor_is_dense(&layout, true);
  w->to = text_of(&item->to);
  if (!w->to) return no_memory(job);
  if (job->format == TENSOR_NPY) return as_npy(job, item, &layout, w);
  if (job->format == TENSOR_SAFETENSORS) return as_safetensors(job, item, &layout, w);
  return CLI_YES;
}

/* A tensor that stays as it is, in .safetensors. */
static int describe_as_is(const tensor_job *job, const tensor_entry *entry, written *w) {
  *w = (written){.type = entry->type, .rank = entry->rank, .shape = entry->shape, .bytes = entry->bytes};
  w->align = entry->bits > 0 ? entry->bits / 8 : 1;
  if (!entry->packed) return CLI_YES;
  w->record = strdup(entry->packed);
  return w->record ? CLI_YES : no_memory(job);
}

/* ---- header -------------------------------------------------------------------------------------------- */

/* Where the data of each begins, behind a header of *bytes bytes; *bytes becomes the end of all. */
static bool place_data(writing *w, int64_t *bytes) {
  for (int32_t align = MAX_ALIGN; align > 0; align /= 2)
    for (int64_t i = 0; i < w->job->n; i++) {
      written *out = &w->out[i];
      if (out->align != align) continue;
      out->begin = *bytes;
      if (__builtin_add_overflow(*bytes, out->bytes, bytes)) return false;
    }
  return true;
}

static bool make_safetensors(writing *w) {
  const tensor_job *job = w->job;
  safetensors_item *item = calloc((size_t)job->n + 1, sizeof *item);
  if (!item) return false;
  for (int64_t i = 0; i < job->n; i++) {
    const written *out = &w->out[i];
    item[i] = (safetensors_item){job->item[i].name,       out->type,  out->rank, out->shape, out->begin,
                                 out->begin + out->bytes, out->record};
  }
  w->header = safetensors_header(job->n, item, job->in->metadata, &w->header_bytes);
  free(item);
  return w->header != NULL;
}

static bool make_npy(writing *w) {
  const written *out = w->out;
  w->header = malloc(NPY_HEADER);
  if (!w->header) return false;
  w->header_bytes = npy_header(out->type, out->fortran, out->rank, out->shape, w->header);
  return true;
}

static int make_header(writing *w) {
  const tensor_job *job = w->job;
  bool fits = place_data(w, &w->bytes), done = true;
  if (fits && job->format == TENSOR_SAFETENSORS) done = make_safetensors(w);
  if (fits && job->format == TENSOR_NPY) done = make_npy(w);
  if (!done) return no_memory(job);
  if (fits && !__builtin_add_overflow(w->bytes, w->header_bytes, &w->bytes)) return CLI_YES;
  say_error(job->cli, "the size of the output does not fit in 64 bits");
  return CLI_BAD;
}

/* ---- copy ---------------------------------------------------------------------------------------------- */

static int copy_one(writing *w, int64_t i, uint8_t *dst) {
  const tensor_job *job = w->job;
  const tensor_item *item = &job->item[i];
  tesela_layout to;
  tesela_error err;
  tensor from;
  if (item->as_is) return tensor_copy_bytes(&w->copies, dst, item->entry->data, item->entry->bytes);
  int status = tensor_file_read(job->cli, job->in, item->entry, &job->says, &from);
  if (status != CLI_YES) return status;
  if (tesela_xla_to_layout(&item->to, &to, &err) != TESELA_OK) return say_failure(job->cli, &err);
  if (job->cli->json && !(w->out[i].from = text_of(&from.shape))) return no_memory(job);
  return tensor_copy(&w->copies, &to, dst, &from, w->out[i].plan);
}

static int copy_all(writing *w, output_file *file) {
  const tensor_file *in = w->job->in;
  tensor_bound bound;
  int status = CLI_YES;
  if (w->header_bytes > 0) memcpy(file->data, w->header, (size_t)w->header_bytes);
  w->copies.bytes_total = file->size - w->header_bytes;
  if (!tensor_bound_begin(&bound, w->copies.options.memory_bytes, in->map, in->size, file->data,
                          file->size)) {
    say_error(w->job->cli, "no thread that keeps --memory");
    return CLI_FAILED;
  }
  w->copies.bound = w->copies.options.memory_bytes > 0 ? &bound : NULL;
  for (int64_t i = 0; i < w->job->n && status == CLI_YES; i++)
    status = copy_one(w, i, file->data + w->header_bytes + w->out[i].begin);
  tensor_bound_end(&bound);
  tensor_copies_end(&w->copies);
  return status;
}

/* ---- say ----------------------------------------------------------------------------------------------- */

static void put_answer(tesela_sink *j, const writing *w) {
  static const char *const formats[] = {"raw", "npy", "safetensors"};
  const tensor_job *job = w->job;
  tesela_put_object(j);
  tesela_put_key_text(j, "output", job->path);
  tesela_put_key_text(j, "format", formats[job->format]);
  tesela_put_key_int(j, "bytes", w->bytes);
  tesela_put_key(j, "tensors");
  tesela_put_list(j);
  for (int64_t i = 0; i < job->n; i++) {
    const written *out = &w->out[i];
    if (job->item[i].as_is) continue;
    tesela_put_object(j);
    if (job->format == TENSOR_SAFETENSORS) tesela_put_key_text(j, "name", job->item[i].name);
    tesela_put_key_text(j, "from", out->from);
    tesela_put_key_text(j, "to", out->to);
    tesela_put_key_int(j, "offset", w->header_bytes + out->begin);
    tesela_put_key_int(j, "bytes", out->bytes);
    tesela_put_key_text(j, "plan", out->plan);
    tesela_put_end(j);
  }
  tesela_put_end(j);
  tesela_put_end(j);
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static int write_file(writing *w) {
  output_file file;
  int status = output_file_create(w->job->cli, w->job->path, w->bytes, &file);
  if (status != CLI_YES) return status;
  tesela_json_out j = TESELA_JSON_OUT; /* put together before the file is there */
  status = copy_all(w, &file);
  if (status == CLI_YES && w->job->cli->json) put_answer(&j.sink, w);
  if (j.sink.stopped) status = no_memory(w->job);
  if (status == CLI_YES) status = output_file_finish(&file);
  output_file_abandon(&file);
  if (status == CLI_YES && w->job->cli->json && !json_line(&j, stdout) && !ferror(stdout))
    status = CLI_FAILED;
  tesela_json_out_free(&j);
  return status;
}

int tensor_write(const tensor_job *job) {
  writing w = {.job = job};
  if (job->cli->json && output_file_is_standard(job->path))
    return say_usage(job->cli, "standard output takes the data or JSON, not both");
  int status = tensor_copies_begin(job->cli, job->fill, &w.copies);
  if (status != CLI_YES) return status;
  w.copies.options.transform = job->transform;
  w.out = calloc((size_t)job->n + 1, sizeof *w.out);
  if (!w.out) return no_memory(job);
  for (int64_t i = 0; i < job->n && status == CLI_YES; i++)
    status = job->item[i].as_is ? describe_as_is(job, job->item[i].entry, &w.out[i])
                                : describe(job, &job->item[i], &w.out[i]);
  if (status == CLI_YES) status = make_header(&w);
  if (status == CLI_YES) status = write_file(&w);
  for (int64_t i = 0; i < job->n; i++) {
    free(w.out[i].record);
    free(w.out[i].from);
    free(w.out[i].to);
  }
  free(w.out);
  free(w.header);
  return status;
}
