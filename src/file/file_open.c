/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_open.c - open a file of tensors: detect its format, read its header, find its tensors.
 */
#include "file/file.h"

/* ---- open -------------------------------------------------------------------------------------------------- */

static tesela_status file_new(tesela_file **file, const tesela_file_options *options, tesela_error *err) {
  tesela_allocator allocator = tesela__allocator(options ? options->allocator : NULL);
  tesela_file *made = tesela__alloc(&allocator, sizeof *made, alignof(tesela_file));
  if (!made) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a file");
  *made = (tesela_file){.allocator = allocator, .mapping.handle = -1};
  *file = made;
  return TESELA_OK;
}

static tesela_status file_read_one(tesela_file *file, bool npy, tesela_error *err) {
  file->tensor = tesela__alloc(&file->allocator, sizeof *file->tensor, alignof(tesela_file_tensor));
  if (!file->tensor) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for its header");
  file->info.n_tensors = 1;
  file->info.tensor = file->tensor;
  file->info.format = npy ? TESELA_FILE_NPY : TESELA_FILE_RAW;
  if (npy) return tesela__npy_read(file, err);
  *file->tensor = (tesela_file_tensor){
      .name = "", .type = "", .rank = -1, .data = file->info.data, .bytes = file->info.bytes};
  return TESELA_OK;
}

static bool file_name_ends(const char *name, const char *suffix) {
  size_t n = strlen(name), m = strlen(suffix);
  return n >= m && strcmp(name + n - m, suffix) == 0;
}

/* Detect the format and read the header. `name`: of the file, whose suffix must match its format; "" for memory. */
static tesela_status file_read(tesela_file *file, const char *name, const tesela_file_options *options,
                               tesela_error *err) {
  if (tesela__npy_begins(file->info.data, file->info.bytes)) return file_read_one(file, true, err);
  if (tesela__safetensors_begins(file->info.data, file->info.bytes)) {
    file->info.format = TESELA_FILE_SAFETENSORS;
    return tesela__safetensors_read(file, options ? options->max_header : 0, err);
  }
  if (file_name_ends(name, ".npy") || file_name_ends(name, ".safetensors"))
    return tesela__fail(err, TESELA_E_SYNTAX, 0, "does not have the format of its name%s",
                        file->info.bytes == 0 ? ": it is empty" : "");
  return file_read_one(file, false, err);
}

tesela_status tesela_file_open(tesela_file **file, const char *path, const tesela_file_options *options,
                               tesela_error *err) {
  tesela_file *made = NULL;
  TESELA__NEED(err, file, path);
  TESELA__NEED_CLEAR(err, options);
  tesela_status status = file_new(&made, options, err);
  if (status != TESELA_OK) return status;
  status = tesela__mapping_open(&made->mapping, path, &made->allocator, err);
  made->info.data = made->mapping.data;
  made->info.bytes = made->mapping.bytes;
  if (status == TESELA_OK) status = file_read(made, path, options, err);
  if (status == TESELA_OK)
    *file = made;
  else
    tesela_file_close(made);
  return status;
}

tesela_status tesela_file_open_memory(tesela_file **file, const void *data, int64_t bytes,
                                      const tesela_file_options *options, tesela_error *err) {
  tesela_file *made = NULL;
  TESELA__NEED(err, file);
  TESELA__NEED_LIST(err, data, bytes);
  TESELA__NEED_CLEAR(err, options);
  if (bytes < 0) return tesela__fail(err, TESELA_E_RANGE, -1, "a file of %" PRId64 " bytes", bytes);
  tesela_status status = file_new(&made, options, err);
  if (status != TESELA_OK) return status;
  made->info.data = bytes > 0 ? data : NULL;
  made->info.bytes = bytes;
  status = file_read(made, "", options, err);
  if (status == TESELA_OK)
    *file = made;
  else
    tesela_file_close(made);
  return status;
}

void tesela_file_close(tesela_file *file) {
  if (!file) return;
  tesela_allocator allocator = file->allocator;
  tesela__mapping_close(&file->mapping);
  tesela__release(&allocator, file->tensor);
  tesela__release(&allocator, file->text);
  tesela__release(&allocator, file->by_name);
  tesela__release(&allocator, file->strings);
  tesela__release(&allocator, file);
}

/* ---- tensors ----------------------------------------------------------------------------------------------- */

void tesela_file_describe(const tesela_file *file, tesela_file_info *info) {
  if (info) *info = file ? file->info : (tesela_file_info){0};
}

const tesela_file_tensor *tesela_file_find(const tesela_file *file, const char *name) {
  if (!file || !name) return NULL;
  int64_t low = 0, high = file->info.n_tensors;
  if (!file->by_name) return high == 1 && strcmp(file->tensor->name, name) == 0 ? file->tensor : NULL;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    int order = strcmp(file->by_name[middle]->name, name);
    if (order == 0) return file->by_name[middle];
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

bool tesela_file_type(tesela_file_format format, tesela_dtype dtype, char type[16]) {
  const char *name = format == TESELA_FILE_SAFETENSORS ? tesela__safetensors_type(dtype) : "";
  if (!type) return false;
  type[0] = '\0';
  if (format == TESELA_FILE_NPY) return tesela__npy_type(dtype, type);
  if (name) memcpy(type, name, strlen(name) + 1);
  return name != NULL;
}

tesela_status tesela_file_layout(const tesela_file_tensor *tensor, tesela_dtype dtype, tesela_layout *layout,
                                 tesela_error *err) {
  TESELA__NEED(err, tensor, layout);
  int64_t stride[TESELA_MAX_RANK], next = 1;
  int32_t rank = tensor->rank, bits = 8 * tesela_dtype_bytes(dtype);
  if (rank < 0) return tesela__fail(err, TESELA_E_INVALID, -1, "a raw file has no type and no shape");
  if (dtype == TESELA_DTYPE_NONE) {
    dtype = tensor->dtype;
    bits = tensor->bits;
  }
  if (dtype == TESELA_DTYPE_NONE)
    return tesela__fail(err, TESELA_E_INVALID, -1, "the type of its elements is unknown");
  if (bits != tensor->bits && tensor->bits > 0)
    return tesela__fail(err, TESELA_E_MISMATCH, -1,
                        "it has elements of %" PRId32 " bits, but %s has %" PRId32, tensor->bits,
                        tesela_dtype_name(dtype), bits);
  for (int32_t i = 0; i < rank; i++) {
    int32_t d = tensor->fortran ? i : rank - 1 - i;
    stride[d] = next;
    if (!tesela__mul(next, tesela__max(tensor->shape[d], 1), &next))
      next = 1; /* an array without elements, or refused below */
  }
  return tesela_layout_strided(layout, dtype, bits, rank, tensor->shape, stride, 0, err);
}
