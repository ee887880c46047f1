/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safetensors.c - the header of .safetensors files: 8 bytes with the length of a JSON object, little-endian; the
 * object; then the data of all tensors without gaps.
 *
 * The text is first checked and counted, without allocation. Then names and metadata are copied, and each tensor is
 * read in place.
 */
#include <stdlib.h>

#include "file/file.h"

enum { ST_LENGTH = 8, ST_HEADER_LIMIT = 100000000, ST_KEY = 80 };
#define ST_MEMORY (INT64_C(256) << 20)

static const struct {
  const char *name;
  tesela_dtype dtype;
} st_types[] = {
    {"BOOL", TESELA_PRED},        {"U8", TESELA_U8},   {"I8", TESELA_S8},   {"F8_E5M2", TESELA_F8E5M2},
    {"F8_E4M3", TESELA_F8E4M3FN}, {"I16", TESELA_S16}, {"U16", TESELA_U16}, {"F16", TESELA_F16},
    {"BF16", TESELA_BF16},        {"I32", TESELA_S32}, {"U32", TESELA_U32}, {"F32", TESELA_F32},
    {"F64", TESELA_F64},          {"I64", TESELA_S64}, {"U64", TESELA_U64}, {"F8_E8M0", TESELA_F8E8M0FNU},
    {"C64", TESELA_C64},
};

const char *tesela__safetensors_type(tesela_dtype dtype) {
  for (size_t i = 0; i < sizeof st_types / sizeof st_types[0]; i++)
    if (st_types[i].dtype == dtype) return st_types[i].name;
  return NULL;
}

static tesela_dtype st_type_of(const char *name) {
  for (size_t i = 0; i < sizeof st_types / sizeof st_types[0]; i++)
    if (strcmp(st_types[i].name, name) == 0) return st_types[i].dtype;
  return TESELA_DTYPE_NONE;
}

static uint64_t st_length_of(const uint8_t *data) {
  uint64_t length = 0;
  for (int i = 0; i < ST_LENGTH; i++) length |= (uint64_t)data[i] << (8 * i);
  return length;
}

/* The format has no magic number: test for a length below 2^40, rare at the start of raw data, and a JSON object. */
bool tesela__safetensors_begins(const uint8_t *data, int64_t bytes) {
  return bytes > ST_LENGTH + 1 && data[ST_LENGTH] == '{' && memchr("\"} \t\r\n", data[ST_LENGTH + 1], 6) &&
         st_length_of(data) >> 40 == 0;
}

/* ---- check and count -------------------------------------------------------------------------------------- */

/* A name, and the byte of its value. */
typedef struct st_member {
  const char *name;
  size_t at;
} st_member;

typedef struct st_reading {
  tesela_file *file;
  tesela_error *err;
  tesela__json json;
  const uint8_t *data; /* after the header */
  int64_t bytes;       /* of data */
  int64_t n_members;   /* of the object, the metadata included */
  size_t metadata_at;  /* byte of its value; 0: absent */
  char *strings;       /* the next free byte of file->strings */
  st_member *member;
} st_reading;

static tesela_status st_wrong(const st_reading *r, const char *name, size_t at, const char *what) {
  char quoted[TESELA__QUOTE];
  return tesela__fail(r->err, TESELA_E_INVALID, r->json.begin + (int64_t)at, "tensor %s %s",
                      tesela__quote(name, strlen(name), quoted), what);
}

static tesela_status st_twice(const st_reading *r, const char *name, size_t at) {
  char quoted[TESELA__QUOTE];
  return tesela__fail(r->err, TESELA_E_INVALID, r->json.begin + (int64_t)at,
                      "its header is not valid JSON: duplicate object key %s",
                      tesela__quote(name, strlen(name), quoted));
}

static tesela_status st_no_memory(const st_reading *r) {
  return tesela__fail(r->err, TESELA_E_MEMORY, -1, "no memory for its header");
}

/* Is the string at j->at the key of the metadata? */
static bool st_is_metadata(tesela__json j) {
  char key[ST_KEY], *end = key;
  size_t begin = j.at;
  j.err = NULL;
  if (tesela__json_string(&j, NULL) != TESELA_OK || j.at - begin > sizeof key) return false;
  j.at = begin;
  return tesela__json_string(&j, &end) == TESELA_OK && strcmp(key, TESELA__FILE_METADATA) == 0;
}

/* Check and count the metadata; with `text`, also copy it. */
static tesela_status st_metadata(st_reading *r, tesela_file_text *text, int64_t *n) {
  tesela__json *j = &r->json;
  char quoted[TESELA__QUOTE], **to = text ? &r->strings : NULL;
  if (!tesela__json_next_is(j, '{'))
    return tesela__fail(r->err, TESELA_E_INVALID, j->begin + (int64_t)j->at,
                        "its __metadata__ is not an object of strings");
  for (*n = 0;;) {
    bool more;
    const char *key = r->strings;
    tesela_status status = tesela__json_member(j, n, &more, to);
    if (status != TESELA_OK || !more) return status;
    if (text) text[*n - 1] = (tesela_file_text){key, r->strings};
    if (text && !tesela__json_next_is(j, '"'))
      return tesela__fail(r->err, TESELA_E_INVALID, j->begin + (int64_t)j->at,
                          "its __metadata__ %s is not a string", tesela__quote(key, strlen(key), quoted));
    status = text ? tesela__json_string(j, to) : tesela__json_pass(j);
    if (status != TESELA_OK) return status;
  }
}

/* Check the text, and count its members. */
static tesela_status st_count(st_reading *r) {
  tesela__json *j = &r->json;
  bool more;
  r->n_members = 0;
  for (;;) {
    int64_t before = r->n_members;
    tesela__json key = *j;
    tesela_status status = tesela__json_member(j, &r->n_members, &more, NULL);
    if (status != TESELA_OK) return status;
    if (!more) break;
    (void)tesela__json_take(&key, before == 0 ? '{' : ',');
    (void)tesela__json_next_is(&key, '"');
    size_t at = j->at;
    status = tesela__json_pass(j);
    if (status != TESELA_OK) return status;
    if (!st_is_metadata(key)) continue;
    if (r->metadata_at > 0) return st_twice(r, TESELA__FILE_METADATA, at);
    r->metadata_at = at;
    tesela__json value = *j;
    j->at = at;
    status = st_metadata(r, NULL, &r->file->info.n_texts);
    *j = value;
    if (status != TESELA_OK) return status;
  }
  (void)tesela__json_next_is(j, '\0'); /* skips blanks */
  return j->at == j->length ? TESELA_OK : tesela__json_fail(j, j->at, "more than one value");
}

/* ---- names ------------------------------------------------------------------------------------------------- */

/* Copy all names: of tensors to file->tensor, of the metadata with its values to file->text. */
static tesela_status st_names(st_reading *r) {
  tesela__json *j = &r->json;
  tesela_file *file = r->file;
  bool more;
  int64_t n = 0, n_tensors = 0;
  j->at = 0;
  for (;;) {
    const char *name = r->strings;
    tesela_status status = tesela__json_member(j, &n, &more, &r->strings);
    if (status != TESELA_OK || !more) return status;
    r->member[n - 1] = (st_member){name, j->at};
    if (strcmp(name, TESELA__FILE_METADATA) == 0) {
      status = st_metadata(r, file->text, &file->info.n_texts);
    } else {
      file->tensor[n_tensors++] = (tesela_file_tensor){.name = name, .type = ""};
      status = tesela__json_pass(j);
    }
    if (status != TESELA_OK) return status;
  }
}

static int st_by_member_name(const void *a, const void *b) {
  return strcmp(((const st_member *)a)->name, ((const st_member *)b)->name);
}

static int st_by_text_key(const void *a, const void *b) {
  return strcmp((*(const tesela_file_text *const *)a)->key, (*(const tesela_file_text *const *)b)->key);
}

static int st_key_of_text(const void *name, const void *text) {
  const char *key = (*(const tesela_file_text *const *)text)->key;
  size_t n = sizeof TESELA_FILE_LAYOUT_KEY - 1;
  int order = strncmp(TESELA_FILE_LAYOUT_KEY, key, n);
  return order != 0 ? order : strcmp(name, key + n);
}

/* Check that no key of the metadata occurs twice; set the layouts of tensors from it. */
static tesela_status st_texts(st_reading *r, const tesela_file_text **sorted) {
  tesela_file *file = r->file;
  size_t n = (size_t)file->info.n_texts;
  for (size_t i = 0; i < n; i++) sorted[i] = &file->text[i];
  qsort(sorted, n, sizeof *sorted, st_by_text_key);
  for (size_t i = 1; i < n; i++)
    if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0) return st_twice(r, sorted[i]->key, r->metadata_at);
  for (int64_t i = 0; i < file->info.n_tensors && n > 0; i++) {
    const tesela_file_text **found = bsearch(file->tensor[i].name, sorted, n, sizeof *sorted, st_key_of_text);
    if (found) file->tensor[i].layout = (*found)->value;
  }
  return TESELA_OK;
}

static int st_by_tensor_name(const void *a, const void *b) {
  return strcmp((*(const tesela_file_tensor *const *)a)->name, (*(const tesela_file_tensor *const *)b)->name);
}

/* ---- one tensor -------------------------------------------------------------------------------------------- */

enum { ST_DTYPE = 1, ST_SHAPE = 2, ST_OFFSETS = 4 };

/* Read the value of a key of a tensor; values of unknown keys are skipped. */
static tesela_status st_field(st_reading *r, tesela_file_tensor *tensor, const char *key, int64_t offset[2],
                              int *have) {
  tesela__json *j = &r->json;
  int32_t n;
  int field = strcmp(key, "dtype") == 0          ? ST_DTYPE
              : strcmp(key, "shape") == 0        ? ST_SHAPE
              : strcmp(key, "data_offsets") == 0 ? ST_OFFSETS
                                                 : 0;
  if (*have & field) return st_twice(r, key, j->at);
  *have |= field;
  if (field == ST_SHAPE) return tesela__json_integers(j, TESELA_MAX_RANK, tensor->shape, &tensor->rank);
  if (field == ST_OFFSETS) {
    tesela_status status = tesela__json_integers(j, 2, offset, &n);
    if (n != 2) offset[0] = -1;
    return status;
  }
  if (field != ST_DTYPE || !tesela__json_next_is(j, '"')) return tesela__json_pass(j);
  tensor->type = r->strings;
  return tesela__json_string(j, &r->strings);
}

/* Check a tensor's fields against each other. */
static tesela_status st_agrees(const st_reading *r, tesela_file_tensor *tensor, size_t at,
                               const int64_t offset[2]) {
  int64_t bytes;
  if (!*tensor->type) return st_wrong(r, tensor->name, at, "has no dtype");
  tensor->dtype = st_type_of(tensor->type);
  tensor->bits = 8 * tesela_dtype_bytes(tensor->dtype);
  tensor->swapped = TESELA__FILE_ORDER != '<' && tensor->bits > 8;
  if (tensor->rank < 0)
    return st_wrong(r, tensor->name, at, "has a shape that is not a list of at most 32 extents");
  if (offset[0] < 0) return st_wrong(r, tensor->name, at, "has data_offsets that are not two numbers");
  if (offset[0] > offset[1] || offset[1] > r->bytes)
    return st_wrong(r, tensor->name, at, "has data_offsets outside the file; is it truncated?");
  tensor->bytes = offset[1] - offset[0];
  tensor->data = r->data + offset[0];
  if (tensor->bits == 0) return TESELA_OK; /* an unknown type: its size cannot be checked */
  if (!tesela__file_bytes(tensor->bits, tensor->rank, tensor->shape, &bytes))
    return st_wrong(r, tensor->name, at, "has a shape whose size does not fit in 64 bits");
  if (bytes != tensor->bytes)
    return st_wrong(r, tensor->name, at, "has data_offsets that do not match its shape and dtype");
  return TESELA_OK;
}

static tesela_status st_tensor(st_reading *r, tesela_file_tensor *tensor, size_t at) {
  tesela__json *j = &r->json;
  int64_t offset[2] = {-1, -1}, n = 0;
  int have = 0;
  bool more;
  j->at = at;
  tensor->rank = -1;
  if (!tesela__json_next_is(j, '{')) return st_wrong(r, tensor->name, at, "is not an object");
  for (;;) {
    char key[ST_KEY], *end = key;
    tesela__json before = *j;
    tesela_status status = tesela__json_member(j, &n, &more, NULL);
    if (status != TESELA_OK) return status;
    if (!more) break;
    size_t value = j->at;
    key[0] = '\0';
    if (value - before.at < sizeof key) { /* read a short key again, into `key` */
      int64_t again = n - 1;
      status = tesela__json_member(&before, &again, &more, &end);
    }
    if (status == TESELA_OK) status = st_field(r, tensor, key, offset, &have);
    if (status != TESELA_OK) return status;
  }
  return st_agrees(r, tensor, at, offset);
}

/* ---- all tensors ------------------------------------------------------------------------------------------- */

static int st_by_data(const void *a, const void *b) {
  const tesela_file_tensor *const *x = a, *const *y = b;
  if ((*x)->data != (*y)->data) return (*x)->data < (*y)->data ? -1 : 1;
  return (*x)->bytes < (*y)->bytes ? -1 : (*x)->bytes > (*y)->bytes;
}

/* Check that each byte of the data belongs to exactly one tensor. */
static tesela_status st_covers(const st_reading *r, const tesela_file_tensor **sorted) {
  const tesela_file *file = r->file;
  const uint8_t *end = r->data;
  qsort(sorted, (size_t)file->info.n_tensors, sizeof *sorted, st_by_data);
  for (int64_t i = 0; i < file->info.n_tensors; i++) {
    if (sorted[i]->data != end)
      return st_wrong(r, sorted[i]->name, 0,
                      sorted[i]->data < end ? "shares bytes with another tensor"
                                            : "has unused bytes before it");
    end = sorted[i]->data + sorted[i]->bytes;
  }
  if (end == r->data + r->bytes) return TESELA_OK;
  return tesela__fail(r->err, TESELA_E_INVALID, end - file->info.data,
                      "%" PRId64 " bytes after the last tensor", (int64_t)(r->data + r->bytes - end));
}

static tesela_status st_tensors(st_reading *r) {
  tesela_file *file = r->file;
  int64_t n_tensors = file->info.n_tensors, next = 0;
  tesela_status status = st_names(r);
  for (int64_t i = 0; i < n_tensors; i++) file->by_name[i] = &file->tensor[i];
  if (status == TESELA_OK)
    status = st_texts(r, (const tesela_file_text **)(void *)(r->member + r->n_members));
  for (int64_t i = 0; i < r->n_members && status == TESELA_OK; i++) {
    if (next < n_tensors && r->member[i].name == file->tensor[next].name)
      status = st_tensor(r, &file->tensor[next++], r->member[i].at);
  }
  if (status == TESELA_OK) status = st_covers(r, file->by_name);
  qsort(file->by_name, (size_t)n_tensors, sizeof *file->by_name, st_by_tensor_name);
  return status;
}

/* Check that no name occurs twice, before any value is read. */
static tesela_status st_unique(st_reading *r) {
  char *strings = r->strings;
  tesela_status status = st_names(r);
  if (status != TESELA_OK) return status;
  qsort(r->member, (size_t)r->n_members, sizeof *r->member, st_by_member_name);
  for (int64_t i = 1; i < r->n_members; i++)
    if (strcmp(r->member[i - 1].name, r->member[i].name) == 0)
      return st_twice(r, r->member[i].name, r->member[i].at);
  r->strings = strings;
  return TESELA_OK;
}

/* Allocate for the counts, and for sorting. */
static tesela_status st_allocate(st_reading *r, int64_t max_header) {
  tesela_file *file = r->file;
  size_t n = (size_t)r->n_members, n_texts = (size_t)file->info.n_texts, length = r->json.length;
  size_t tensors = n * sizeof *file->tensor, names = n * sizeof *file->by_name;
  size_t texts = n_texts * sizeof *file->text;
  size_t sorting = n * sizeof *r->member + n_texts * sizeof(tesela_file_text *);
  int64_t memory = (int64_t)(tensors + names + texts + sorting + length);
  file->info.n_tensors = r->n_members - (r->metadata_at > 0);
  if (memory > max_header)
    return tesela__refuse(r->err, TESELA_E_LIMIT, TESELA_REASON_MAX_HEADER,
                          "its header of %zu bytes needs %" PRId64 " bytes of memory; max_header is %" PRId64,
                          length, memory, max_header);
  file->tensor = tesela__alloc(&file->allocator, tensors, alignof(max_align_t));
  file->by_name = tesela__alloc(&file->allocator, names, alignof(max_align_t));
  file->text = tesela__alloc(&file->allocator, texts, alignof(max_align_t));
  file->strings = r->strings = tesela__alloc(&file->allocator, length, 1);
  r->member = tesela__alloc(&file->allocator, sorting, alignof(max_align_t));
  return file->tensor && file->by_name && file->text && r->strings && r->member ? TESELA_OK : st_no_memory(r);
}

tesela_status tesela__safetensors_read(tesela_file *file, int64_t max_header, tesela_error *err) {
  const uint8_t *data = file->info.data;
  uint64_t length = st_length_of(data);
  if (length > ST_HEADER_LIMIT)
    return tesela__fail(err, TESELA_E_LIMIT, 0, "its header has %" PRIu64 " bytes; expected at most %d",
                        length, ST_HEADER_LIMIT);
  if ((int64_t)length > file->info.bytes - ST_LENGTH)
    return tesela__fail(err, TESELA_E_INVALID, 0,
                        "truncated: the header should have %" PRIu64 " bytes, %" PRId64 " are present",
                        length, file->info.bytes - ST_LENGTH);
  st_reading r = {.file = file,
                  .err = err,
                  .json = {(const char *)data + ST_LENGTH, (size_t)length, 0, ST_LENGTH, err, NULL},
                  .data = data + ST_LENGTH + length,
                  .bytes = file->info.bytes - ST_LENGTH - (int64_t)length};
  tesela_status status = st_count(&r);
  if (status == TESELA_OK) status = st_allocate(&r, max_header > 0 ? max_header : ST_MEMORY);
  if (status == TESELA_OK) status = st_unique(&r);
  if (status == TESELA_OK) status = st_tensors(&r);
  tesela__release(&file->allocator, r.member);
  file->info.tensor = file->tensor;
  file->info.text = file->text;
  return status;
}
