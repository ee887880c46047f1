/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_index.c - the index of a checkpoint, model.safetensors.index.json: the file of each tensor. Read and rewritten.
 *
 *   {"metadata": {"total_size": 8000000000}, "weight_map": {"wte.weight": "model-00001-of-00002.safetensors", ...}}
 *
 * The text is kept, so that a rewritten index differs only in the value of total_size.
 */
#include <stdio.h>
#include <stdlib.h>

#include "file/file.h"

enum { INDEX_MEMORY = 256 << 20 };

typedef struct index_entry {
  const char *tensor, *shard;
} index_entry;

struct tesela_file_index {
  tesela_allocator allocator;
  tesela__mapping mapping;
  tesela_file_index_info info;
  index_entry *entry;
  tesela_file_shard *shard;
  const char **tensor;
  char *strings, *end;           /* all names; the next free byte */
  size_t total_begin, total_end; /* range of metadata.total_size; empty: absent */
};

/* ---- read -------------------------------------------------------------------------------------------------- */

typedef struct index_reading {
  tesela_file_index *index;
  tesela__json json;
  size_t map_at; /* byte of the object weight_map; 0: not found yet */
  tesela_error *err;
} index_reading;

static tesela_status index_wrong(const index_reading *r, size_t at, const char *what) {
  return tesela__fail(r->err, TESELA_E_INVALID, (int64_t)at, "%s", what);
}

/* The next key of an object, after *n others, in the free bytes after all names. */
static tesela_status index_key(index_reading *r, int64_t *n, bool *more, const char **key) {
  char *end = r->index->end;
  *key = end;
  return tesela__json_member(&r->json, n, more, &end);
}

static tesela_status index_metadata(index_reading *r) {
  bool more = true;
  const char *key;
  if (!tesela__json_next_is(&r->json, '{')) return tesela__json_pass(&r->json);
  for (int64_t n = 0; more;) {
    tesela_status status = index_key(r, &n, &more, &key);
    const size_t begin = r->json.at;
    if (status == TESELA_OK && more) status = tesela__json_pass(&r->json);
    if (status != TESELA_OK) return status;
    if (!more || strcmp(key, "total_size") != 0) continue;
    r->index->total_begin = begin;
    r->index->total_end = r->json.at;
  }
  return TESELA_OK;
}

/* Find weight_map, and count its members. */
static tesela_status index_map(index_reading *r) {
  bool more = true;
  if (r->map_at > 0) return index_wrong(r, r->json.at, "it has two members weight_map");
  r->map_at = r->json.at;
  if (!tesela__json_next_is(&r->json, '{')) return index_wrong(r, r->json.at, "weight_map is not an object");
  for (int64_t n = 0;; r->index->info.n_tensors = n) {
    tesela_status status = tesela__json_member(&r->json, &n, &more, NULL);
    if (status != TESELA_OK || !more) return status;
    if (!tesela__json_next_is(&r->json, '"'))
      return index_wrong(r, r->json.at, "a tensor of weight_map: expected the name of a file");
    status = tesela__json_string(&r->json, NULL);
    if (status != TESELA_OK) return status;
  }
}

static tesela_status index_members(index_reading *r) {
  bool more = true;
  const char *key;
  for (int64_t n = 0; more;) {
    tesela_status status = index_key(r, &n, &more, &key);
    if (status == TESELA_OK && more)
      status = strcmp(key, "weight_map") == 0 ? index_map(r)
               : strcmp(key, "metadata") == 0 ? index_metadata(r)
                                              : tesela__json_pass(&r->json);
    if (status != TESELA_OK) return status;
  }
  (void)tesela__json_next_is(&r->json, ' ');
  if (r->json.at < r->json.length) return tesela__json_fail(&r->json, r->json.at, "text after its end");
  if (r->map_at == 0) return index_wrong(r, 0, "it has no weight_map; is it an index of shards?");
  return r->index->info.n_tensors > 0 ? TESELA_OK : index_wrong(r, r->map_at, "weight_map lists no tensor");
}

/* Is it the name of a file beside the index, not a path? */
static bool index_is_name(const char *name) {
  return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !strpbrk(name, "/\\");
}

static tesela_status index_entries(index_reading *r) {
  tesela_file_index *index = r->index;
  char quoted[2][TESELA__QUOTE];
  bool more;
  r->json.at = r->map_at;
  for (int64_t n = 0; n < index->info.n_tensors;) {
    index_entry *entry = &index->entry[n];
    entry->tensor = index->end;
    tesela_status status = tesela__json_member(&r->json, &n, &more, &index->end);
    const size_t at = r->json.at;
    entry->shard = index->end;
    if (status == TESELA_OK) status = tesela__json_string(&r->json, &index->end);
    if (status != TESELA_OK) return status;
    if (strcmp(entry->tensor, TESELA__FILE_METADATA) == 0)
      return index_wrong(r, at,
                         "weight_map lists a tensor " TESELA__FILE_METADATA
                         ": .safetensors files reserve that name for their texts");
    if (!index_is_name(entry->shard))
      return tesela__fail(r->err, TESELA_E_INVALID, (int64_t)at,
                          "tensor %s is in %s; expected the name of a file beside the index",
                          tesela__quote(entry->tensor, strlen(entry->tensor), quoted[0]),
                          *entry->shard ? tesela__quote(entry->shard, strlen(entry->shard), quoted[1])
                                        : "\"\"");
  }
  return TESELA_OK;
}

static int index_by_tensor(const void *a, const void *b) {
  return strcmp(((const index_entry *)a)->tensor, ((const index_entry *)b)->tensor);
}

static int index_by_shard(const void *a, const void *b) {
  const int order = strcmp(((const index_entry *)a)->shard, ((const index_entry *)b)->shard);
  return order ? order : index_by_tensor(a, b);
}

static tesela_status index_group(index_reading *r) {
  tesela_file_index *index = r->index;
  const size_t n = (size_t)index->info.n_tensors;
  char quoted[TESELA__QUOTE];
  qsort(index->entry, n, sizeof *index->entry, index_by_tensor);
  for (size_t i = 1; i < n; i++)
    if (index_by_tensor(&index->entry[i - 1], &index->entry[i]) == 0)
      return tesela__fail(r->err, TESELA_E_INVALID, -1, "tensor %s is listed twice",
                          tesela__quote(index->entry[i].tensor, strlen(index->entry[i].tensor), quoted));
  qsort(index->entry, n, sizeof *index->entry, index_by_shard);
  for (size_t i = 0; i < n; i++) {
    const index_entry *entry = &index->entry[i];
    index->tensor[i] = entry->tensor;
    if (i == 0 || strcmp(index->entry[i - 1].shard, entry->shard) != 0)
      index->shard[index->info.n_shards++] = (tesela_file_shard){.name = entry->shard, .first = (int64_t)i};
    index->shard[index->info.n_shards - 1].n++;
  }
  index->info.shard = index->shard;
  index->info.tensor = index->tensor;
  return TESELA_OK;
}

static tesela_status index_allocate(index_reading *r, int64_t most) {
  tesela_file_index *index = r->index;
  const size_t n = (size_t)index->info.n_tensors;
  const int64_t memory =
      (int64_t)(n * (sizeof *index->entry + sizeof *index->shard + sizeof *index->tensor) + r->json.length);
  if (memory > most)
    return tesela__fail(r->err, TESELA_E_LIMIT, -1,
                        "an index of %zu tensors needs %" PRId64 " bytes of memory; max_header is %" PRId64,
                        n, memory, most);
  index->entry = tesela__alloc(&index->allocator, n * sizeof *index->entry, alignof(index_entry));
  index->shard = tesela__alloc(&index->allocator, n * sizeof *index->shard, alignof(tesela_file_shard));
  index->tensor = tesela__alloc(&index->allocator, n * sizeof *index->tensor, alignof(char *));
  return index->entry && index->shard && index->tensor
             ? TESELA_OK
             : tesela__fail(r->err, TESELA_E_MEMORY, -1, "no memory for an index");
}

static tesela_status index_read(tesela_file_index *index, int64_t most, tesela_error *err) {
  const size_t length = (size_t)index->mapping.bytes;
  index_reading r = {.index = index,
                     .json = {(const char *)index->mapping.data, length, 0, 0, err, "the index"},
                     .err = err};
  if (length == 0) return index_wrong(&r, 0, "the index is empty");
  if (index->mapping.bytes > most)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "an index of %zu bytes; max_header is %" PRId64, length,
                        most);
  index->strings = index->end = tesela__alloc(&index->allocator, length, 1);
  if (!index->strings) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for an index");
  tesela_status status = index_members(&r);
  if (status == TESELA_OK) status = index_allocate(&r, most);
  if (status == TESELA_OK) status = index_entries(&r);
  return status == TESELA_OK ? index_group(&r) : status;
}

tesela_status tesela_file_index_open(tesela_file_index **index, const char *path,
                                     const tesela_file_options *options, tesela_error *err) {
  TESELA__NEED(err, index, path);
  TESELA__NEED_CLEAR(err, options);
  tesela_allocator allocator = tesela__allocator(options ? options->allocator : NULL);
  tesela_file_index *made = tesela__alloc(&allocator, sizeof *made, alignof(tesela_file_index));
  if (!made) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for an index");
  *made = (tesela_file_index){.allocator = allocator, .mapping.handle = -1};
  tesela_status status = tesela__mapping_open(&made->mapping, path, &made->allocator, err);
  if (status == TESELA_OK)
    status = index_read(made, options && options->max_header > 0 ? options->max_header : INDEX_MEMORY, err);
  if (status == TESELA_OK)
    *index = made;
  else
    tesela_file_index_close(made);
  return status;
}

void tesela_file_index_close(tesela_file_index *index) {
  if (!index) return;
  tesela_allocator allocator = index->allocator;
  tesela__mapping_close(&index->mapping);
  tesela__release(&allocator, index->entry);
  tesela__release(&allocator, index->shard);
  tesela__release(&allocator, (void *)index->tensor);
  tesela__release(&allocator, index->strings);
  tesela__release(&allocator, index);
}

void tesela_file_index_describe(const tesela_file_index *index, tesela_file_index_info *info) {
  if (info) *info = index ? index->info : (tesela_file_index_info){0};
}

/* ---- compared with a file ---------------------------------------------------------------------------------- */

static bool index_lists(const tesela_file_index *index, const tesela_file_shard *shard, const char *tensor) {
  const index_entry wanted = {.tensor = tensor};
  return bsearch(&wanted, index->entry + shard->first, (size_t)shard->n, sizeof wanted, index_by_tensor);
}

tesela_status tesela_file_index_check(const tesela_file_index *index, int64_t k, const tesela_file *file,
                                      tesela_error *err) {
  char quoted[2][TESELA__QUOTE];
  TESELA__NEED(err, index, file);
  if (k < 0 || k >= index->info.n_shards)
    return tesela__fail(err, TESELA_E_RANGE, -1, "shard %" PRId64 "; the index has %" PRId64, k,
                        index->info.n_shards);
  const tesela_file_shard *shard = &index->shard[k];
  for (int64_t i = shard->first; i < shard->first + shard->n; i++)
    if (!tesela_file_find(file, index->tensor[i]))
      return tesela__fail(err, TESELA_E_MISMATCH, -1, "lacks tensor %s, which the index lists for it",
                          tesela__quote(index->tensor[i], strlen(index->tensor[i]), quoted[0]));
  for (int64_t i = 0; i < file->info.n_tensors; i++) {
    const char *name = file->info.tensor[i].name;
    int64_t other = 0;
    if (index_lists(index, shard, name)) continue;
    while (other < index->info.n_shards && !index_lists(index, &index->shard[other], name)) other++;
    tesela__quote(name, strlen(name), quoted[0]);
    if (other == index->info.n_shards)
      return tesela__fail(err, TESELA_E_MISMATCH, -1, "has tensor %s, which the index does not list",
                          quoted[0]);
    const char *file_name = index->shard[other].name;
    return tesela__fail(err, TESELA_E_MISMATCH, -1, "has tensor %s, which the index lists for %s", quoted[0],
                        tesela__quote(file_name, strlen(file_name), quoted[1]));
  }
  return TESELA_OK;
}

/* ---- write ------------------------------------------------------------------------------------------------- */

tesela_status tesela_file_index_write(const tesela_file_index *index, const char *path, int64_t total_bytes,
                                      const tesela_file_write_options *options, int64_t *bytes,
                                      tesela_error *err) {
  static const tesela_file_write_options defaults = {.unfinished = NULL};
  TESELA__NEED(err, index, path);
  TESELA__NEED_CLEAR(err, options);
  if (!options) options = &defaults;
  if (total_bytes < 0)
    return tesela__fail(err, TESELA_E_RANGE, -1, "tensors of %" PRId64 " bytes", total_bytes);
  tesela_allocator allocator = tesela__allocator(options->allocator);
  const uint8_t *text = index->mapping.data;
  const size_t before = index->total_begin, after = (size_t)index->mapping.bytes - index->total_end;
  char number[24] = "";
  size_t digits = 0;
  bool continued;
  uint8_t *data;
  tesela__output *output;
  if (index->total_end > before) digits = (size_t)snprintf(number, sizeof number, "%" PRId64, total_bytes);
  const int64_t size = (int64_t)(before + digits + after);
  tesela_status status = options->hold
                             ? tesela__partial_create(&output, path, size, NULL, options->only_files,
                                                      &allocator, &data, &continued, err)
                             : tesela__output_create(&output, path, size, options->unfinished,
                                                     options->only_files, &allocator, &data, err);
  if (status != TESELA_OK) return status;
  if (bytes) *bytes = size;
  if (before > 0) memcpy(data, text, before);
  memcpy(data + before, number, digits);
  memcpy(data + before + digits, text + index->total_end, after);
  status = options->hold ? tesela__partial_hold(output, err) : tesela__output_finish(output, err);
  tesela__output_close(output);
  return status;
}
