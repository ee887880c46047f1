/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_write.c - write tensors in other layouts into a file.
 *
 * Three steps: describe each tensor of the output (type, shape, bytes, kept layout); make the header and place the data
 * of each tensor; copy (file_fill.c). A .safetensors header keeps the given order; data of wide types comes first, so
 * that every tensor is aligned to its type for any sizes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "file/file_writing.h"
#include "layout/layout.h"

enum { FILE_NAME_LIMIT = 4000, FILE_MOST_ALIGN = 16, FILE_LEAST_MEMORY = 1 << 20 };

/* ---- the tensors of the output ----------------------------------------------------------------------------- */

/* Is the layout row-major, or with `fortran` column-major, without padding? */
static bool file_is_dense(const tesela_layout *layout, bool fortran) {
  tesela_file_tensor plain = {
      .dtype = layout->dtype, .bits = layout->bits, .rank = layout->rank, .fortran = fortran};
  tesela_layout dense;
  tesela_difference difference;
  memcpy(plain.shape, layout->shape, sizeof plain.shape);
  return tesela_file_layout(&plain, TESELA_DTYPE_NONE, &dense, NULL) == TESELA_OK &&
         tesela_layout_compare(layout, &dense, &difference, NULL) == TESELA_OK && difference.same &&
         difference.same_extent;
}

/* The layout of an item for a message. */
static const char *file_layout_name(const tesela_file_item *item, char quoted[TESELA__QUOTE]) {
  return item->layout ? tesela__quote(item->layout, strlen(item->layout), quoted) : "this layout";
}

static tesela_status file_as_npy(const tesela__file_writing *w, const tesela_file_item *item, bool plain,
                                 tesela__file_out *out) {
  char quoted[TESELA__QUOTE];
  if (!plain && !out->fortran)
    return tesela__fail(w->err, TESELA_E_UNSUPPORTED, -1,
                        "a .npy file must be row-major or column-major without padding, and %s is not; write "
                        "it raw or as .safetensors",
                        file_layout_name(item, quoted));
  if (!tesela__npy_type(item->to->dtype, out->npy_type) ||
      8 * tesela_dtype_bytes(item->to->dtype) != item->to->bits)
    return tesela__fail(w->err, TESELA_E_UNSUPPORTED, -1,
                        "a .npy file cannot hold elements of %" PRId32
                        " bits; write %s raw or as .safetensors",
                        item->to->bits, file_layout_name(item, quoted));
  out->type = out->npy_type;
  return TESELA_OK;
}

/* A row-major tensor keeps its type and shape; any other becomes a list of places, with its layout in the metadata. */
static tesela_status file_as_safetensors(const tesela__file_writing *w, const tesela_file_item *item,
                                         bool plain, tesela__file_out *out) {
  char quoted[TESELA__QUOTE];
  const tesela_layout *to = item->to;
  const char *type =
      to->bits == 8 * tesela_dtype_bytes(to->dtype) ? tesela__safetensors_type(to->dtype) : NULL;
  out->type = type ? type : "U8";
  if (plain && type) return TESELA_OK;
  if (strlen(item->name) > FILE_NAME_LIMIT)
    return tesela__fail(w->err, TESELA_E_LIMIT, -1, "the name of tensor %s is too long to record a layout",
                        tesela__quote(item->name, strlen(item->name), quoted));
  if (!item->layout)
    return tesela__fail(w->err, TESELA_E_INVALID, -1, "tensor %s needs its layout as text",
                        tesela__quote(item->name, strlen(item->name), quoted));
  out->layout = item->layout;
  out->align = type ? to->bits / 8 : 1;
  out->places = out->bytes / out->align;
  out->rank = 1;
  out->shape = &out->places;
  return TESELA_OK;
}

/* A tensor copied without change. */
static tesela_status file_as_is(const tesela__file_writing *w, const tesela_file_item *item,
                                tesela__file_out *out) {
  const tesela_file_tensor *tensor = item->tensor;
  const tesela_file *source = w->options->source;
  if (w->format != TESELA_FILE_RAW && (!source || source->info.format != w->format))
    return tesela__fail(w->err, TESELA_E_UNSUPPORTED, -1,
                        "a tensor can be copied as is only into a file of its own format or a raw file");
  *out = (tesela__file_out){
      .rank = tensor->rank, .shape = tensor->shape, .bytes = tensor->bytes, .layout = tensor->layout};
  out->type = tensor->type;
  out->fortran = tensor->fortran;
  out->align = tensor->bits > 0 ? tensor->bits / 8 : 1;
  return TESELA_OK;
}

/* Check that the tensor has exactly the bytes of its layout. */
static tesela_status file_check_source(const tesela__file_writing *w, const tesela_file_item *item) {
  tesela_sizes sizes;
  tesela_status status = tesela_layout_sizes(item->from, &sizes, w->err);
  if (status != TESELA_OK || sizes.bytes == item->tensor->bytes) return status;
  return tesela__fail(w->err, TESELA_E_MISMATCH, -1,
                      "the tensor has %" PRId64 " bytes; its layout needs %" PRId64, item->tensor->bytes,
                      sizes.bytes);
}

static tesela_status file_check_transform(const tesela__file_writing *w, const tesela_file_item *item) {
  const bool transforms = w->options->plan.transform != TESELA_TRANSFORM_NONE;
  if (item->tensor->swapped && transforms)
    return tesela__fail(w->err, TESELA_E_UNSUPPORTED, -1,
                        "the file's numbers are in the other byte order and need a swap, which is a "
                        "transform; a second transform needs a second pass");
  if (w->options->verify && (item->tensor->swapped || transforms))
    return tesela__fail(w->err, TESELA_E_UNSUPPORTED, -1, "cannot verify a copy that changes the bytes of %s",
                        transforms ? "elements" : "numbers, which are in the other byte order in the file");
  return TESELA_OK;
}

static tesela_status file_describe_item(const tesela__file_writing *w, const tesela_file_item *item,
                                        tesela__file_out *out) {
  tesela_sizes sizes;
  if (!item->tensor || (item->from && !item->to) || (w->format == TESELA_FILE_SAFETENSORS && !item->name))
    return tesela__fail(w->err, TESELA_E_INVALID, -1, "an item needs tensor and name, and to if it has from");
  if (w->format == TESELA_FILE_SAFETENSORS && strcmp(item->name, TESELA__FILE_METADATA) == 0)
    return tesela__fail(w->err, TESELA_E_INVALID, -1,
                        "a tensor cannot be named " TESELA__FILE_METADATA
                        ": .safetensors files reserve that name for their texts");
  if (!item->from) return file_as_is(w, item, out);
  tesela_status status = file_check_transform(w, item);
  if (status == TESELA_OK) status = file_check_source(w, item);
  if (status == TESELA_OK) status = tesela_layout_sizes(item->to, &sizes, w->err);
  if (status != TESELA_OK) return status;
  *out =
      (tesela__file_out){.type = "", .rank = item->to->rank, .shape = item->to->shape, .bytes = sizes.bytes};
  out->align = (int32_t)tesela__max(tesela_dtype_bytes(item->to->dtype), 1);
  bool plain = file_is_dense(item->to, false);
  out->fortran = !plain && file_is_dense(item->to, true);
  if (w->format == TESELA_FILE_NPY) return file_as_npy(w, item, plain, out);
  if (w->format == TESELA_FILE_SAFETENSORS) return file_as_safetensors(w, item, plain, out);
  return TESELA_OK;
}

static tesela_status file_check_format(const tesela__file_writing *w) {
  if (w->format != TESELA_FILE_SAFETENSORS && w->n != 1)
    return tesela__fail(w->err, TESELA_E_INVALID, -1, "this format holds one tensor; found %" PRId64, w->n);
  if (w->format == TESELA_FILE_SAFETENSORS && TESELA__FILE_ORDER != '<')
    return tesela__fail(w->err, TESELA_E_UNSUPPORTED, -1,
                        ".safetensors can be written only on little-endian machines");
  if (w->options->plan.memory_bytes != 0 && w->options->plan.memory_bytes < FILE_LEAST_MEMORY)
    return tesela__fail(w->err, TESELA_E_RANGE, -1,
                        "a limit of %" PRId64 " bytes of memory; expected 1 MiB or more",
                        w->options->plan.memory_bytes);
  return TESELA_OK;
}

/* ---- header ------------------------------------------------------------------------------------------------ */

/* Place the data of all tensors, in bytes after the header, and set w->bytes to its end. False on overflow. */
static bool file_place_data(tesela__file_writing *w) {
  for (int32_t align = FILE_MOST_ALIGN; align > 0; align /= 2)
    for (int64_t i = 0; i < w->n; i++) {
      tesela__file_out *out = &w->out[i];
      if (out->align != align) continue;
      out->begin = w->bytes;
      if (!tesela__add(w->bytes, out->bytes, &w->bytes)) return false;
    }
  return true;
}

static int file_by_name(const void *a, const void *b) {
  return strcmp(((const tesela__safetensors_item *)a)->name, ((const tesela__safetensors_item *)b)->name);
}

static tesela_status file_make_safetensors(tesela__file_writing *w) {
  char quoted[TESELA__QUOTE];
  uint64_t size = (uint64_t)w->n * sizeof(tesela__safetensors_item);
  tesela__safetensors_item *item = tesela__alloc(&w->allocator, size, alignof(tesela__safetensors_item));
  if (!item) return tesela__fail(w->err, TESELA_E_MEMORY, -1, "no memory for the header");
  for (int64_t i = 0; i < w->n; i++) {
    const tesela__file_out *out = &w->out[i];
    item[i] = (tesela__safetensors_item){
        w->item[i].name, out->type, out->rank, out->shape, out->begin, out->begin + out->bytes, out->layout};
  }
  tesela_status status = tesela__safetensors_header(w->n, item, w->options->source, &w->allocator, &w->header,
                                                    &w->header_bytes, w->err);
  qsort(item, (size_t)w->n, sizeof *item, file_by_name);
  for (int64_t i = 1; i < w->n && status == TESELA_OK; i++)
    if (strcmp(item[i - 1].name, item[i].name) == 0)
      status = tesela__fail(w->err, TESELA_E_INVALID, -1, "two tensors are named %s",
                            tesela__quote(item[i].name, strlen(item[i].name), quoted));
  tesela__release(&w->allocator, item);
  return status;
}

static tesela_status file_make_header(tesela__file_writing *w) {
  const tesela__file_out *out = w->out;
  tesela_status status = TESELA_OK;
  bool fits = file_place_data(w);
  if (fits && w->format == TESELA_FILE_SAFETENSORS) status = file_make_safetensors(w);
  if (fits && w->format == TESELA_FILE_NPY) {
    w->header = tesela__alloc(&w->allocator, TESELA__NPY_HEADER, 1);
    if (!w->header) return tesela__fail(w->err, TESELA_E_MEMORY, -1, "no memory for the header");
    w->header_bytes = tesela__npy_header(out->type, out->fortran, out->rank, out->shape, w->header);
  }
  if (status != TESELA_OK) return status;
  if (fits && tesela__add(w->bytes, w->header_bytes, &w->bytes)) return TESELA_OK;
  return tesela__fail(w->err, TESELA_E_OVERFLOW, -1, "the size of the output does not fit in 64 bits");
}

/* ---- the interface ----------------------------------------------------------------------------------------- */

tesela_status tesela_file_write(const char *path, tesela_file_format format, int64_t n,
                                const tesela_file_item *items, const tesela_file_write_options *options,
                                tesela_file_written *written, int64_t *bytes, tesela_error *err) {
  static const tesela_file_write_options defaults = {.unfinished = NULL};
  if (!options) options = &defaults;
  tesela__file_writing w = {
      .format = format, .n = n, .item = items, .options = options, .written = written, .err = err};
  TESELA__NEED(err, path);
  TESELA__NEED_LIST(err, items, n);
  TESELA__NEED_CLEAR(err, options);
  if (n < 0 || n > INT64_MAX / (int64_t)sizeof(tesela__file_out))
    return tesela__fail(err, TESELA_E_INVALID, -1, "%" PRId64 " tensors", n);
  w.allocator = tesela__allocator(options->allocator);
  tesela_status status = file_check_format(&w);
  if (status != TESELA_OK) return status;
  w.out = tesela__alloc(&w.allocator, (uint64_t)n * sizeof *w.out, alignof(tesela__file_out));
  if (!w.out) status = tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for %" PRId64 " tensors", n);
  for (int64_t i = 0; i < n && status == TESELA_OK; i++)
    status = file_describe_item(&w, &items[i], &w.out[i]);
  if (status == TESELA_OK) status = file_make_header(&w);
  if (status == TESELA_OK && bytes) *bytes = w.bytes;
  if (status == TESELA_OK) status = tesela__file_fill(&w, path);
  tesela__release(&w.allocator, w.out);
  tesela__release(&w.allocator, w.header);
  return status;
}

/* ---- held files -------------------------------------------------------------------------------------------- */

/* Memory of one call, on its stack: renaming or removing many files cannot run out of memory half-way. */
typedef struct file_room {
  alignas(max_align_t) unsigned char bytes[3 * TESELA_FILE_PATH];
  size_t used;
} file_room;

static void *file_room_alloc(void *user, size_t size, size_t align) {
  file_room *room = user;
  const size_t begin = (room->used + align - 1) / align * align;
  if (size > sizeof room->bytes - begin) return NULL;
  room->used = begin + size;
  return room->bytes + begin;
}

static void file_room_release(void *user, void *memory) { (void)user, (void)memory; }

static tesela_status file_settle(const char *path, int64_t bytes, bool only_files, bool keep,
                                 tesela_error *err) {
  file_room room = {.used = 0};
  tesela_allocator allocator = {&room, file_room_alloc, file_room_release};
  tesela__output *output;
  if (bytes < 0) return tesela__fail(err, TESELA_E_RANGE, -1, "a file of %" PRId64 " bytes", bytes);
  tesela_status status = tesela__partial_open(&output, path, bytes, !keep, only_files, &allocator, err);
  if (status == TESELA_OK && keep) status = tesela__output_finish(output, err);
  tesela__output_close(output);
  return status;
}

tesela_status tesela_file_publish(const char *path, int64_t bytes, bool only_files, tesela_error *err) {
  TESELA__NEED(err, path);
  return file_settle(path, bytes, only_files, true, err);
}

tesela_status tesela_file_discard(const char *path, bool only_files, tesela_error *err) {
  TESELA__NEED(err, path);
  return file_settle(path, 0, only_files, false, err);
}
