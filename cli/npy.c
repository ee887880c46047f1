/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npy.c - the header of .npy files.
 *
 *   \x93NUMPY  1 0  <length>  {'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }      \n
 *
 * The length has 2 bytes in version 1 and 4 from version 2 on, little end first. The dict is Python; of Python only
 * what stands in such a dict is read: strings without escapes, True, False, a tuple of integers.
 */
#include "npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "main/say.h"

static const char magic[] = "\x93NUMPY";
enum { MAGIC = 6, HEADER_LIMIT = 1 << 20, TYPE_TEXT = 16 };

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HOST_ORDER '<'
#else
#define HOST_ORDER '>'
#endif

/* Types that NumPy has: letter, bytes. */
static const struct {
  char letter;
  int bytes;
  tesela_dtype dtype;
} types[] = {
    {'b', 1, TESELA_PRED}, {'i', 1, TESELA_S8},    {'i', 2, TESELA_S16}, {'i', 4, TESELA_S32},
    {'i', 8, TESELA_S64},  {'u', 1, TESELA_U8},    {'u', 2, TESELA_U16}, {'u', 4, TESELA_U32},
    {'u', 8, TESELA_U64},  {'f', 2, TESELA_F16},   {'f', 4, TESELA_F32}, {'f', 8, TESELA_F64},
    {'c', 8, TESELA_C64},  {'c', 16, TESELA_C128},
};

bool npy_begins(const uint8_t *data, int64_t size) {
  return size >= MAGIC && memcmp(data, magic, MAGIC) == 0;
}

/* ---- the dict ------------------------------------------------------------------------------------------ */

typedef struct dict {
  const cli_context *cli;
  const char *file_name;
  const char *at, *end;
  char type[TYPE_TEXT];
  bool have_type, have_order, have_shape;
  tensor_entry *entry;
} dict;

static void skip_blanks(dict *d) {
  while (d->at < d->end && (*d->at == ' ' || *d->at == '\n' || *d->at == '\t' || *d->at == '\r')) d->at++;
}

static bool take(dict *d, char c) {
  skip_blanks(d);
  if (d->at == d->end || *d->at != c) return false;
  d->at++;
  return true;
}

static bool take_word(dict *d, const char *word) {
  size_t n = strlen(word);
  skip_blanks(d);
  if ((size_t)(d->end - d->at) < n || memcmp(d->at, word, n) != 0) return false;
  d->at += n;
  return true;
}

/* 'text' or "text", without escapes, of less than `capacity` bytes. */
static bool take_string(dict *d, char *text, size_t capacity) {
  skip_blanks(d);
  if (d->at == d->end || (*d->at != '\'' && *d->at != '"')) return false;
  char quote = *d->at++;
  size_t n = 0;
  for (; d->at < d->end && *d->at != quote; d->at++) {
    if (*d->at == '\\' || n + 1 >= capacity) return false;
    text[n++] = *d->at;
  }
  text[n] = '\0';
  return take(d, quote);
}

static bool wrong(const dict *d, const char *what) {
  tensor_file_wrong(d->cli, d->file_name, "its .npy header %s", what);
  return false;
}

/* An extent, 3 or 3L as Python 2 wrote it. */
static bool take_extent(dict *d, int64_t *extent) {
  int64_t value = 0;
  skip_blanks(d);
  if (d->at == d->end || *d->at < '0' || *d->at > '9')
    return wrong(d, "has a shape that is no tuple of extents");
  for (; d->at < d->end && *d->at >= '0' && *d->at <= '9'; d->at++)
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *d->at - '0', &value))
      return wrong(d, "has an extent that does not fit in 64 bits");
  take(d, 'L');
  *extent = value;
  return true;
}

/* (3, 5) (3,) () */
static bool take_shape(dict *d) {
  tensor_entry *entry = d->entry;
  if (!take(d, '(')) return wrong(d, "has a shape that is no tuple of extents");
  for (entry->rank = 0; !take(d, ')'); entry->rank++) {
    if (entry->rank == TESELA_MAX_RANK) return wrong(d, "has more than 32 dims");
    if (!take_extent(d, &entry->shape[entry->rank])) return false;
    if (take(d, ',')) continue;
    if (entry->rank == 0 || !take(d, ')')) return wrong(d, "has a shape that is no tuple of extents");
    entry->rank++;
    return true;
  }
  return true;
}

static bool take_type(dict *d) {
  skip_blanks(d);
  if (d->at < d->end && *d->at == '[') return wrong(d, "says a structured type; only plain numbers are read");
  if (take_string(d, d->type, sizeof d->type)) return true;
  return wrong(d, "has a descr that is no type");
}

static bool take_order(dict *d) {
  d->entry->fortran = take_word(d, "True");
  if (d->entry->fortran || take_word(d, "False")) return true;
  return wrong(d, "has a fortran_order that is neither True nor False");
}

static bool take_item(dict *d) {
  static const char *const names[] = {"descr", "fortran_order", "shape"};
  bool (*const take_value[])(dict *) = {take_type, take_order, take_shape};
  bool *const have[] = {&d->have_type, &d->have_order, &d->have_shape};
  char key[TYPE_TEXT];
  if (!take_string(d, key, sizeof key)) return wrong(d, "is no dict of descr, fortran_order and shape");
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(key, names[i]) != 0) continue;
    if (*have[i]) return wrong(d, "has a key twice");
    *have[i] = true;
    if (!take(d, ':')) return wrong(d, "is no dict of descr, fortran_order and shape");
    return take_value[i](d);
  }
  return wrong(d, "has a key other than descr, fortran_order and shape");
}

static bool take_dict(dict *d) {
  if (!take(d, '{')) return wrong(d, "is no dict of descr, fortran_order and shape");
  while (!take(d, '}')) {
    if (!take_item(d)) return false;
    if (take(d, ',')) continue;
    if (!take(d, '}')) return wrong(d, "is no dict of descr, fortran_order and shape");
    break;
  }
  skip_blanks(d);
  if (d->at < d->end) return wrong(d, "goes on behind its dict");
  if (d->have_type && d->have_order && d->have_shape) return true;
  return wrong(d, "lacks descr, fortran_order or shape");
}

/* ---- types --------------------------------------------------------------------------------------------- */

/* Why a kind of type is not read. */
static const char *refusal(char letter) {
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
    return "of a type that is not read";
  }
}

/* "<f4": order, letter, bytes. */
static bool read_type(dict *d) {
  const char *text = d->type;
  char order = HOST_ORDER, quote[SAY_QUOTE];
  int bytes = 0;
  if (*text && strchr("<>=|", *text)) order = *text++;
  char letter = *text;
  if (letter) text++;
  for (int i = 0; i < 4 && *text >= '0' && *text <= '9'; i++) bytes = bytes * 10 + (*text++ - '0');
  tensor_entry *entry = d->entry;
  entry->bits = 0;
  if (letter == 'V' && *text == '\0' && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16))
    entry->bits = bytes * 8;
  for (size_t i = 0; i < sizeof types / sizeof types[0] && *text == '\0'; i++)
    if (types[i].letter == letter && types[i].bytes == bytes) {
      entry->dtype = types[i].dtype;
      entry->bits = bytes * 8;
    }
  entry->swapped = bytes > 1 && order != HOST_ORDER && (order == '<' || order == '>');
  if (entry->bits > 0) return true;
  tensor_file_wrong(d->cli, d->file_name, "its elements are %s: '%s'", refusal(letter),
                    say_quote(d->type, quote));
  return false;
}

/* ---- read ---------------------------------------------------------------------------------------------- */

static bool read_data(const dict *d, const uint8_t *data, int64_t bytes) {
  tensor_entry *entry = d->entry;
  int64_t n = entry->bits / 8;
  bool fits = true, empty = false;
  for (int32_t i = 0; i < entry->rank; i++) empty = empty || entry->shape[i] == 0;
  for (int32_t i = 0; i < entry->rank && !empty; i++)
    fits = fits && !__builtin_mul_overflow(n, entry->shape[i], &n);
  if (empty) n = 0;
  if (!fits) return wrong(d, "has a shape whose size does not fit in 64 bits");
  if (n > bytes) {
    tensor_file_wrong(d->cli, d->file_name,
                      "cut off: %" PRId64 " bytes behind the header, %" PRId64 " are announced", bytes, n);
    return false;
  }
  if (n < bytes) say_note(d->cli, "%" PRId64 " bytes behind the array are not read", bytes - n);
  entry->data = data;
  entry->bytes = n;
  return true;
}

int npy_read(const cli_context *cli, const char *file_name, const uint8_t *data, int64_t size,
             tensor_entry *entry) {
  int version = size > MAGIC ? data[MAGIC] : 0, width = version == 1 ? 2 : 4;
  int64_t begin = MAGIC + 2 + width, length = 0;
  if (size < MAGIC + 2 || size < begin)
    return tensor_file_wrong(cli, file_name, "cut off in its .npy header");
  if (version < 1 || version > 3)
    return tensor_file_wrong(cli, file_name, ".npy version %d is not read; versions 1 to 3 are", version);
  for (int i = 0; i < width; i++) length |= (int64_t)data[MAGIC + 2 + i] << (8 * i);
  if (length > HEADER_LIMIT)
    return tensor_file_wrong(cli, file_name, "its .npy header has %" PRId64 " bytes; %d are allowed", length,
                             HEADER_LIMIT);
  if (length > size - begin) return tensor_file_wrong(cli, file_name, "cut off in its .npy header");
  const char *text = (const char *)data + begin;
  dict d = {.cli = cli, .file_name = file_name, .at = text, .end = text + length, .entry = entry};
  *entry = (tensor_entry){.name = ""};
  if (!take_dict(&d) || !read_type(&d) || !read_data(&d, data + begin + length, size - begin - length))
    return CLI_BAD;
  return CLI_YES;
}

/* ---- write --------------------------------------------------------------------------------------------- */

const char *npy_type(tesela_dtype dtype) {
  static char text[TYPE_TEXT];
  int bits = tesela_dtype_bits(dtype), bytes = tesela_dtype_bytes(dtype);
  char letter = 'V';
  if (dtype != TESELA_PRED && (bits == 0 || bits != 8 * bytes)) return NULL;
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (types[i].dtype == dtype) letter = types[i].letter;
  snprintf(text, sizeof text, "%c%c%d", bytes == 1 ? '|' : HOST_ORDER, letter, bytes);
  return text;
}

int64_t npy_header(const char *type, bool fortran, int32_t rank, const int64_t *shape,
                   char header[NPY_HEADER]) {
  enum { BEGIN = MAGIC + 4, ALIGN = 64 };
  int n = BEGIN;
  n += snprintf(header + n, (size_t)(NPY_HEADER - n), "{'descr': '%s', 'fortran_order': %s, 'shape': (", type,
                fortran ? "True" : "False");
  for (int32_t d = 0; d < rank; d++)
    n += snprintf(header + n, (size_t)(NPY_HEADER - n), "%s%" PRId64 "%s", d > 0 ? ", " : "", shape[d],
                  rank == 1 ? "," : "");
  n += snprintf(header + n, (size_t)(NPY_HEADER - n), "), }");
  int total = (n + ALIGN) / ALIGN * ALIGN; /* a newline fits behind the text */
  memset(header + n, ' ', (size_t)(total - n));
  header[total - 1] = '\n';
  memcpy(header, magic, MAGIC);
  header[MAGIC] = 1;
  header[MAGIC + 1] = 0;
  header[MAGIC + 2] = (char)((total - BEGIN) & 255);
  header[MAGIC + 3] = (char)((total - BEGIN) >> 8);
  return total;
}
