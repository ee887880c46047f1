/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npy.c - the header of .npy files.
 *
 *   \x93NUMPY  1 0  <length>  {'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }      \n
 *
 * The length has 2 bytes in version 1 and 4 from version 2 on, little-endian. The dict is Python, of
 * which only this is read: strings without escapes, True, False, a tuple of integers.
 */
#include <stdio.h>

#include "file/file.h"
#include "layout/dtype.h"

static const char npy_magic[] = "\x93NUMPY";
enum { NPY_MAGIC = 6, NPY_LIMIT = 1 << 20, NPY_TEXT = 16 };

bool tesela__npy_begins(const uint8_t *data, int64_t bytes) {
  return bytes >= NPY_MAGIC && memcmp(data, npy_magic, NPY_MAGIC) == 0;
}

/* ---- the dict ------------------------------------------------------------------------------------------ */

typedef struct npy_dict {
  tesela_file *file;
  tesela_error *err;
  const char *at, *end;
  char *type; /* in file->strings */
  bool have_type, have_order, have_shape;
  tesela_file_tensor *entry;
} npy_dict;

static void npy_skip_blanks(npy_dict *d) {
  while (d->at < d->end && (*d->at == ' ' || *d->at == '\n' || *d->at == '\t' || *d->at == '\r')) d->at++;
}

static bool npy_take(npy_dict *d, char c) {
  npy_skip_blanks(d);
  if (d->at == d->end || *d->at != c) return false;
  d->at++;
  return true;
}

static bool npy_take_word(npy_dict *d, const char *word) {
  size_t n = strlen(word);
  npy_skip_blanks(d);
  if ((size_t)(d->end - d->at) < n || memcmp(d->at, word, n) != 0) return false;
  d->at += n;
  return true;
}

/* 'text' or "text", without escapes, of less than `capacity` bytes. */
static bool npy_take_string(npy_dict *d, char *text, size_t capacity) {
  npy_skip_blanks(d);
  if (d->at == d->end || (*d->at != '\'' && *d->at != '"')) return false;
  char quote = *d->at++;
  size_t n = 0;
  for (; d->at < d->end && *d->at != quote; d->at++) {
    if (*d->at == '\\' || n + 1 >= capacity) return false;
    text[n++] = *d->at;
  }
  text[n] = '\0';
  return npy_take(d, quote);
}

static bool npy_wrong(const npy_dict *d, const char *what) {
  (void)tesela__fail(d->err, TESELA_E_SYNTAX, d->at - (const char *)d->file->info.data, "its .npy header %s",
                     what);
  return false;
}

/* An extent, 3 or 3L as Python 2 wrote it. */
static bool npy_take_extent(npy_dict *d, int64_t *extent) {
  int64_t value = 0;
  npy_skip_blanks(d);
  if (d->at == d->end || *d->at < '0' || *d->at > '9')
    return npy_wrong(d, "has a shape that is not a tuple of extents");
  for (; d->at < d->end && *d->at >= '0' && *d->at <= '9'; d->at++)
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *d->at - '0', &value))
      return npy_wrong(d, "has an extent that does not fit in 64 bits");
  npy_take(d, 'L');
  *extent = value;
  return true;
}

/* (3, 5) (3,) () */
static bool npy_take_shape(npy_dict *d) {
  tesela_file_tensor *entry = d->entry;
  if (!npy_take(d, '(')) return npy_wrong(d, "has a shape that is not a tuple of extents");
  for (entry->rank = 0; !npy_take(d, ')'); entry->rank++) {
    if (entry->rank == TESELA_MAX_RANK) return npy_wrong(d, "has more than 32 dims");
    if (!npy_take_extent(d, &entry->shape[entry->rank])) return false;
    if (npy_take(d, ',')) continue;
    if (entry->rank == 0 || !npy_take(d, ')'))
      return npy_wrong(d, "has a shape that is not a tuple of extents");
    entry->rank++;
    return true;
  }
  return true;
}

static bool npy_take_type(npy_dict *d) {
  npy_skip_blanks(d);
  if (d->at < d->end && *d->at == '[')
    return npy_wrong(d, "has a structured type; only plain numbers are read");
  if (npy_take_string(d, d->type, NPY_TEXT)) return true;
  return npy_wrong(d, "has a descr that is not a type");
}

static bool npy_take_order(npy_dict *d) {
  d->entry->fortran = npy_take_word(d, "True");
  if (d->entry->fortran || npy_take_word(d, "False")) return true;
  return npy_wrong(d, "has a fortran_order that is neither True nor False");
}

static bool npy_take_item(npy_dict *d) {
  static const char *const names[] = {"descr", "fortran_order", "shape"};
  bool (*const take_value[])(npy_dict *) = {npy_take_type, npy_take_order, npy_take_shape};
  bool *const have[] = {&d->have_type, &d->have_order, &d->have_shape};
  char key[NPY_TEXT];
  if (!npy_take_string(d, key, sizeof key))
    return npy_wrong(d, "is not a dict of descr, fortran_order and shape");
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(key, names[i]) != 0) continue;
    if (*have[i]) return npy_wrong(d, "has a key twice");
    *have[i] = true;
    if (!npy_take(d, ':')) return npy_wrong(d, "is not a dict of descr, fortran_order and shape");
    return take_value[i](d);
  }
  return npy_wrong(d, "has a key other than descr, fortran_order and shape");
}

static bool npy_take_dict(npy_dict *d) {
  if (!npy_take(d, '{')) return npy_wrong(d, "is not a dict of descr, fortran_order and shape");
  while (!npy_take(d, '}')) {
    if (!npy_take_item(d)) return false;
    if (npy_take(d, ',')) continue;
    if (!npy_take(d, '}')) return npy_wrong(d, "is not a dict of descr, fortran_order and shape");
    break;
  }
  npy_skip_blanks(d);
  if (d->at < d->end) return npy_wrong(d, "continues after its dict");
  if (d->have_type && d->have_order && d->have_shape) return true;
  return npy_wrong(d, "lacks descr, fortran_order or shape");
}

/* ---- types --------------------------------------------------------------------------------------------- */

/* The name of a kind of type that is not read. */
static const char *npy_refusal(char letter) {
  switch (letter) {
  case 'O':
    return "Python objects, pickled";
  case 'S':
  case 'a':
  case 'U':
    return "strings";
  case 'M':
  case 'm':
    return "dates or times";
  default:
    return "of an unsupported type";
  }
}

/* "<f4": byte order, kind, bytes. */
static tesela_status npy_read_type(npy_dict *d) {
  const char *text = d->type;
  char order = TESELA__FILE_ORDER, quoted[TESELA__QUOTE];
  tesela__dtype_code code;
  tesela_file_tensor *entry = d->entry;
  if (*text && strchr("<>=|", *text)) order = *text++;
  bool right = tesela__dtype_code_read(text, strlen(text), &code);
  bool bytes_alone =
      code.letter == 'V' && code.bytes > 0 && code.bytes <= 16 && (code.bytes & (code.bytes - 1)) == 0;
  if (!right || (code.dtype == TESELA_DTYPE_NONE && !bytes_alone))
    return tesela__fail(d->err, TESELA_E_UNSUPPORTED, -1, "its elements are %s: '%s'",
                        npy_refusal(code.letter), tesela__quote(d->type, strlen(d->type), quoted));
  entry->dtype = code.dtype;
  entry->bits = code.bytes * 8;
  entry->swapped = code.bytes > 1 && order != TESELA__FILE_ORDER && (order == '<' || order == '>');
  return TESELA_OK;
}

/* ---- read ---------------------------------------------------------------------------------------------- */

static tesela_status npy_read_data(const npy_dict *d, const uint8_t *data, int64_t bytes) {
  tesela_file_tensor *entry = d->entry;
  int64_t n;
  if (!tesela__file_bytes(entry->bits, entry->rank, entry->shape, &n))
    return tesela__fail(d->err, TESELA_E_OVERFLOW, -1,
                        "its .npy header has a shape whose size does not fit in 64 bits");
  if (n > bytes)
    return tesela__fail(d->err, TESELA_E_INVALID, d->file->info.bytes,
                        "truncated: %" PRId64 " bytes after the header; expected %" PRId64, bytes, n);
  d->file->info.bytes_after = bytes - n;
  entry->data = data;
  entry->bytes = n;
  return TESELA_OK;
}

tesela_status tesela__npy_read(tesela_file *file, tesela_error *err) {
  const uint8_t *data = file->info.data;
  int64_t bytes = file->info.bytes;
  int version = bytes > NPY_MAGIC ? data[NPY_MAGIC] : 0, width = version == 1 ? 2 : 4;
  int64_t begin = NPY_MAGIC + 2 + width, length = 0;
  if (bytes < NPY_MAGIC + 2 || bytes < begin)
    return tesela__fail(err, TESELA_E_INVALID, bytes, "truncated in its .npy header");
  if (version < 1 || version > 3)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, NPY_MAGIC,
                        ".npy version %d is not read; versions 1 to 3 are", version);
  for (int i = 0; i < width; i++) length |= (int64_t)data[NPY_MAGIC + 2 + i] << (8 * i);
  if (length > NPY_LIMIT)
    return tesela__fail(err, TESELA_E_LIMIT, NPY_MAGIC + 2,
                        "its .npy header has %" PRId64 " bytes; expected at most %d", length, NPY_LIMIT);
  if (length > bytes - begin)
    return tesela__fail(err, TESELA_E_INVALID, bytes, "truncated in its .npy header");
  const char *text = (const char *)data + begin;
  file->strings = tesela__alloc(&file->allocator, NPY_TEXT, 1);
  if (!file->strings) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for its header");
  npy_dict d = {.file = file,
                .err = err,
                .at = text,
                .end = text + length,
                .type = file->strings,
                .entry = file->tensor};
  *file->tensor = (tesela_file_tensor){.name = "", .type = file->strings};
  if (!npy_take_dict(&d)) return TESELA_E_SYNTAX;
  tesela_status status = npy_read_type(&d);
  return status == TESELA_OK ? npy_read_data(&d, data + begin + length, bytes - begin - length) : status;
}

/* ---- write --------------------------------------------------------------------------------------------- */

bool tesela__npy_type(tesela_dtype dtype, char type[16]) {
  int bits = tesela_dtype_bits(dtype), bytes = tesela_dtype_bytes(dtype);
  const tesela__dtype_code *code = tesela__dtype_code_of(dtype);
  if (dtype != TESELA_PRED && (bits == 0 || bits != 8 * bytes)) return false;
  snprintf(type, 16, "%c%c%d", bytes == 1 ? '|' : TESELA__FILE_ORDER, code ? code->letter : 'V', bytes);
  return true;
}

int64_t tesela__npy_header(const char *type, bool fortran, int32_t rank, const int64_t *shape,
                           char header[TESELA__NPY_HEADER]) {
  enum { BEGIN = NPY_MAGIC + 4, ALIGN = 64 };
  int n = BEGIN;
  n += snprintf(header + n, (size_t)(TESELA__NPY_HEADER - n),
                "{'descr': '%s', 'fortran_order': %s, 'shape': (", type, fortran ? "True" : "False");
  for (int32_t d = 0; d < rank; d++)
    n += snprintf(header + n, (size_t)(TESELA__NPY_HEADER - n), "%s%" PRId64 "%s", d > 0 ? ", " : "",
                  shape[d], rank == 1 ? "," : "");
  n += snprintf(header + n, (size_t)(TESELA__NPY_HEADER - n), "), }");
  int total = (n + ALIGN) / ALIGN * ALIGN; /* leaves room for a newline after the text */
  memset(header + n, ' ', (size_t)(total - n));
  header[total - 1] = '\n';
  memcpy(header, npy_magic, NPY_MAGIC);
  header[NPY_MAGIC] = 1;
  header[NPY_MAGIC + 1] = 0;
  header[NPY_MAGIC + 2] = (char)((total - BEGIN) & 255);
  header[NPY_MAGIC + 3] = (char)((total - BEGIN) >> 8);
  return total;
}
