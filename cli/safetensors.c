/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safetensors.c - the header of .safetensors files.
 */
#include "safetensors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/report.h>

#include "json_in.h"
#include "main/say.h"

enum { LENGTH = 8, HEADER_LIMIT = 100000000, HEADER_MEMORY = 256 << 20, KEY_TEXT = 4096 };

static const struct {
  const char *name;
  tesela_dtype dtype;
} types[] = {
    {"BOOL", TESELA_PRED},        {"U8", TESELA_U8},   {"I8", TESELA_S8},   {"F8_E5M2", TESELA_F8E5M2},
    {"F8_E4M3", TESELA_F8E4M3FN}, {"I16", TESELA_S16}, {"U16", TESELA_U16}, {"F16", TESELA_F16},
    {"BF16", TESELA_BF16},        {"I32", TESELA_S32}, {"U32", TESELA_U32}, {"F32", TESELA_F32},
    {"F64", TESELA_F64},          {"I64", TESELA_S64}, {"U64", TESELA_U64}, {"F8_E8M0", TESELA_F8E8M0FNU},
    {"C64", TESELA_C64},
};

static tesela_dtype type_of(const char *name) {
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (strcmp(types[i].name, name) == 0) return types[i].dtype;
  return TESELA_DTYPE_NONE;
}

const char *safetensors_type(tesela_dtype dtype) {
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (types[i].dtype == dtype) return types[i].name;
  return NULL;
}

/* ---- read ---------------------------------------------------------------------------------------------- */

static uint64_t length_of(const uint8_t *data) {
  uint64_t length = 0;
  for (int i = 0; i < LENGTH; i++) length |= (uint64_t)data[i] << (8 * i);
  return length;
}

/* There is no magic: a length that no raw data would have by accident, and the beginning of a JSON object. */
bool safetensors_begins(const uint8_t *data, int64_t size) {
  return size > LENGTH + 1 && data[LENGTH] == '{' && memchr("\"} \t\r\n", data[LENGTH + 1], 6) &&
         length_of(data) >> 40 == 0;
}

typedef struct reading {
  const cli_context *cli;
  tensor_file *file;
  const uint8_t *data; /* behind the header */
  int64_t bytes;
} reading;

static bool wrong(const reading *r, const char *name, const char *what) {
  char quote[SAY_QUOTE];
  tensor_file_wrong(r->cli, r->file->name, "tensor %s %s", say_quote(name, quote), what);
  return false;
}

/* A list of at most `most` integers >= 0 from `value`; -1 if it is none. */
static int32_t read_integers(const tesela_value *value, int32_t most, int64_t *out) {
  size_t n = tesela_value_size(value);
  if (!tesela_value_is(value, TESELA_VALUE_LIST) || n > (size_t)most) return -1;
  for (size_t i = 0; i < n; i++) {
    const tesela_value *item = tesela_value_at(value, i);
    if (!tesela_value_is(item, TESELA_VALUE_INT) || tesela_value_int(item) < 0) return -1;
    out[i] = tesela_value_int(item);
  }
  return (int32_t)n;
}

/* Bytes of the data by type and shape. */
static bool size_of(const tensor_entry *entry, int64_t *bytes) {
  int64_t n = entry->bits / 8;
  for (int32_t d = 0; d < entry->rank; d++)
    if (entry->shape[d] == 0) n = 0;
  for (int32_t d = 0; d < entry->rank; d++)
    if (__builtin_mul_overflow(n, entry->shape[d], &n)) return false;
  *bytes = n;
  return true;
}

static bool read_entry(const reading *r, const char *name, const tesela_value *value, tensor_entry *entry) {
  int64_t offset[2], bytes;
  *entry = (tensor_entry){.name = name, .type = tesela_value_text(tesela_value_get(value, "dtype"))};
  if (!entry->type) return wrong(r, name, "has no dtype");
  entry->dtype = type_of(entry->type);
  entry->bits = 8 * tesela_dtype_bytes(entry->dtype);
  entry->swapped = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ && entry->bits > 8;
  entry->rank = read_integers(tesela_value_get(value, "shape"), TESELA_MAX_RANK, entry->shape);
  if (entry->rank < 0) return wrong(r, name, "has a shape that is no list of up to 32 extents");
  if (read_integers(tesela_value_get(value, "data_offsets"), 2, offset) != 2)
    return wrong(r, name, "has data_offsets that are no two numbers");
  if (offset[0] > offset[1] || offset[1] > r->bytes)
    return wrong(r, name, "has data_offsets outside the file; is it cut off?");
  entry->bytes = offset[1] - offset[0];
  entry->data = r->data + offset[0];
  if (entry->bits == 0) return true; /* a type that is not known can be copied, its size not be checked */
  if (!size_of(entry, &bytes)) return wrong(r, name, "has a shape whose size does not fit in 64 bits");
  if (bytes != entry->bytes) return wrong(r, name, "has data_offsets that do not fit its shape and dtype");
  return true;
}

static int by_data(const void *a, const void *b) {
  const tensor_entry *const *x = a, *const *y = b;
  if ((*x)->data != (*y)->data) return (*x)->data < (*y)->data ? -1 : 1;
  return (*x)->bytes < (*y)->bytes ? -1 : (*x)->bytes > (*y)->bytes;
}

static int no_memory(const reading *r) {
  say_error(r->cli, "%s: no memory for its header", r->file->name);
  return CLI_FAILED;
}

/* The data of all tensors: no two share a byte, none is left over. */
static int covers_file(const reading *r) {
  int64_t n = r->file->n_entries;
  const tensor_entry **sorted = malloc((size_t)(n + 1) * sizeof *sorted);
  if (!sorted) return no_memory(r);
  for (int64_t i = 0; i < n; i++) sorted[i] = &r->file->entry[i];
  qsort(sorted, (size_t)n, sizeof *sorted, by_data);
  const uint8_t *end = r->data;
  bool right = true;
  for (int64_t i = 0; i < n && right; i++) {
    if (sorted[i]->data != end)
      right = wrong(r, sorted[i]->name,
                    sorted[i]->data < end ? "shares bytes with another one" : "has unused bytes before it");
    end = sorted[i]->data + sorted[i]->bytes;
  }
  free(sorted);
  if (right && end != r->data + r->bytes) {
    tensor_file_wrong(r->cli, r->file->name, "%" PRId64 " bytes behind the last tensor",
                      (int64_t)(r->data + r->bytes - end));
    right = false;
  }
  return right ? CLI_YES : CLI_BAD;
}

static bool read_metadata(const reading *r, const tesela_value *metadata) {
  if (!tesela_value_is(metadata, TESELA_VALUE_OBJECT)) {
    tensor_file_wrong(r->cli, r->file->name, "its __metadata__ is no object of strings");
    return false;
  }
  for (size_t i = 0; i < metadata->n; i++) {
    const char *key = metadata->as.item[i].name;
    char quote[SAY_QUOTE];
    if (tesela_value_is(&metadata->as.item[i], TESELA_VALUE_TEXT)) continue;
    tensor_file_wrong(r->cli, r->file->name, "its __metadata__ %s is no string", say_quote(key, quote));
    return false;
  }
  r->file->metadata = metadata;
  return true;
}

/* "tesela.layout.<tensor>"; false if it is too long to be one of ours. */
static bool layout_key(const char *name, char key[KEY_TEXT]) {
  int n = snprintf(key, KEY_TEXT, "%s%s", SAFETENSORS_LAYOUT_KEY, name);
  return n > 0 && n < KEY_TEXT;
}

static int read_entries(const reading *r) {
  tensor_file *file = r->file;
  char key[KEY_TEXT];
  file->entry = calloc(tesela_value_size(file->header.value) + 1, sizeof *file->entry);
  if (!file->entry) return no_memory(r);
  const tesela_value *metadata = tesela_value_get(file->header.value, "__metadata__");
  if (metadata && !read_metadata(r, metadata)) return CLI_BAD;
  for (size_t i = 0; i < file->header.value->n; i++) {
    const tesela_value *value = &file->header.value->as.item[i];
    const char *name = value->name;
    if (value == metadata) continue;
    tensor_entry *entry = &file->entry[file->n_entries++];
    if (!tesela_value_is(value, TESELA_VALUE_OBJECT)) {
      wrong(r, name, "is no object");
      return CLI_BAD;
    }
    if (!read_entry(r, name, value, entry)) return CLI_BAD;
    if (metadata && layout_key(name, key)) entry->packed = tesela_value_text(tesela_value_get(metadata, key));
  }
  return covers_file(r);
}

/* Memory that reading a header takes, from above: the JSON, and an entry for each tensor. */
static int64_t header_memory(const char *text, uint64_t length) {
  int64_t memory = (int64_t)json_memory(text, length);
  for (uint64_t i = 0; i < length; i++)
    if (text[i] == '{') memory += (int64_t)sizeof(tensor_entry);
  return memory;
}

/* Does the header keep --max-header? */
static bool header_allowed(const cli_context *cli, const tensor_file *file, uint64_t length) {
  char takes[TESELA_UNITS_TEXT], allowed[TESELA_UNITS_TEXT];
  int64_t most, memory = header_memory((const char *)file->map + LENGTH, length);
  if (!cli_size(cli, "max-header", HEADER_MEMORY, &most)) return false;
  if (memory <= most) return true;
  tesela_units_print(memory, TESELA_UNITS_IEC, takes);
  tesela_units_print(most, TESELA_UNITS_IEC, allowed);
  tensor_file_wrong(cli, file->name,
                    "its header of %" PRIu64
                    " bytes may take %s of memory; at most %s are taken, --max-header=SIZE raises this limit",
                    length, takes, allowed);
  return false;
}

int safetensors_read(const cli_context *cli, tensor_file *file) {
  uint64_t length = length_of(file->map);
  char quote[SAY_QUOTE];
  tesela_error bad;
  if (length > HEADER_LIMIT)
    return tensor_file_wrong(cli, file->name, "its header has %" PRIu64 " bytes; %d are allowed", length,
                             HEADER_LIMIT);
  if ((int64_t)length > file->size - LENGTH)
    return tensor_file_wrong(cli, file->name,
                             "cut off: a header of %" PRIu64 " bytes is announced, %" PRId64 " are there",
                             length, file->size - LENGTH);
  if (!header_allowed(cli, file, length)) return CLI_BAD;
  int64_t begin = LENGTH + (int64_t)length;
  reading r = {cli, file, file->map + begin, file->size - begin};
  switch (tesela_json_read(&file->header, (const char *)file->map + LENGTH, length, &bad)) {
  case TESELA_OK:
    break;
  case TESELA_E_MEMORY:
    return no_memory(&r);
  default:
    return tensor_file_wrong(cli, file->name, "its header is no JSON: %s (byte %" PRId64 ")",
                             say_quote(bad.message, quote), bad.at);
  }
  if (!tesela_value_is(file->header.value, TESELA_VALUE_OBJECT))
    return tensor_file_wrong(cli, file->name, "its header is no JSON object");
  return read_entries(&r);
}

/* ---- write --------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Is this the key of a layout of one of the n tensors? Their names, sorted, are `names`. */
static bool is_layout_key(const char *key, int64_t n, const char *const *names) {
  size_t begin = sizeof SAFETENSORS_LAYOUT_KEY - 1;
  if (strncmp(key, SAFETENSORS_LAYOUT_KEY, begin) != 0) return false;
  key += begin;
  return bsearch(&key, names, (size_t)n, sizeof *names, by_name);
}

static void put_metadata(tesela_sink *j, int64_t n, const safetensors_item *items,
                         const tesela_value *metadata, const char *const *names) {
  char text[KEY_TEXT];
  bool any = false;
  for (int64_t i = 0; i < n; i++) any = any || items[i].layout;
  for (size_t i = 0; i < tesela_value_size(metadata); i++)
    any = any || !is_layout_key(metadata->as.item[i].name, n, names);
  if (!any) return;
  tesela_put_key(j, "__metadata__");
  tesela_put_object(j);
  for (size_t i = 0; i < tesela_value_size(metadata); i++) {
    const tesela_value *value = tesela_value_at(metadata, i);
    if (!is_layout_key(value->name, n, names)) tesela_put_key_text(j, value->name, value->as.text);
  }
  for (int64_t i = 0; i < n; i++)
    if (items[i].layout && layout_key(items[i].name, text)) tesela_put_key_text(j, text, items[i].layout);
  tesela_put_end(j);
}

static void put_items(tesela_sink *j, int64_t n, const safetensors_item *items) {
  for (int64_t i = 0; i < n; i++) {
    tesela_put_key(j, items[i].name);
    tesela_put_object(j);
    tesela_put_key_text(j, "dtype", items[i].type);
    tesela_put_key(j, "shape");
    tesela_put_ints(j, items[i].rank, items[i].shape);
    tesela_put_key(j, "data_offsets");
    tesela_put_ints(j, 2, (int64_t[]){items[i].begin, items[i].end});
    tesela_put_end(j);
  }
}

/* The length in front of a JSON text, blanks behind it; takes it over. */
static char *framed(tesela_json_out *j, int64_t *length) {
  size_t n = (j->length + LENGTH - 1) / LENGTH * LENGTH;
  char *text = j->sink.stopped ? NULL : malloc(LENGTH + n);
  if (text) {
    for (int i = 0; i < LENGTH; i++) text[i] = (char)((uint64_t)n >> (8 * i) & 255);
    memcpy(text + LENGTH, j->text, j->length);
    memset(text + LENGTH + j->length, ' ', n - j->length);
    *length = LENGTH + (int64_t)n;
  }
  tesela_json_out_free(j);
  return text;
}

char *safetensors_header(int64_t n, const safetensors_item *items, const tesela_value *metadata,
                         int64_t *length) {
  tesela_json_out j = TESELA_JSON_OUT;
  const char **names = malloc((size_t)(n + 1) * sizeof *names);
  if (!names) return NULL;
  for (int64_t i = 0; i < n; i++) names[i] = items[i].name;
  qsort(names, (size_t)n, sizeof *names, by_name);
  tesela_put_object(&j.sink);
  put_metadata(&j.sink, n, items, metadata, names);
  put_items(&j.sink, n, items);
  tesela_put_end(&j.sink);
  free(names);
  return framed(&j, length);
}
