/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dtype.c - element types, from the list in tesela/layout.h, and their names elsewhere.
 */
#include "layout/dtype.h"

#include "base/base.h"

typedef struct dtype_row {
  const char *name; /* NULL: an unknown number */
  int16_t bits, bytes;
  tesela_dtype_family family;
} dtype_row;

/* Indexed by XLA's number. */
static const dtype_row dtype_rows[] = {
#define TESELA__ROW(symbol, number, name, bits, bytes, family) [number] = {name, bits, bytes, family},
    TESELA_DTYPE_MAP(TESELA__ROW)
#undef TESELA__ROW
};

enum { N_DTYPES = sizeof dtype_rows / sizeof dtype_rows[0], LONGEST_NAME = 13 };

static const dtype_row *dtype_row_of(tesela_dtype dtype) {
  static const dtype_row none = {NULL, 0, 0, TESELA_FAMILY_NONE};
  return (int)dtype >= 0 && (int)dtype < N_DTYPES ? &dtype_rows[dtype] : &none;
}

const char *tesela_dtype_name(tesela_dtype dtype) { return dtype_row_of(dtype)->name; }
int32_t tesela_dtype_bits(tesela_dtype dtype) { return dtype_row_of(dtype)->bits; }
int32_t tesela_dtype_bytes(tesela_dtype dtype) { return dtype_row_of(dtype)->bytes; }
tesela_dtype_family tesela_dtype_family_of(tesela_dtype dtype) { return dtype_row_of(dtype)->family; }

/* Names padded with NULs to 16 bytes, so that a comparison is two 64-bit words. */
static const char dtype_names[N_DTYPES][16] = {
#define TESELA__ROW(symbol, number, name, bits, bytes, family) [number] = name,
    TESELA_DTYPE_MAP(TESELA__ROW)
#undef TESELA__ROW
};

tesela_dtype tesela_dtype_find(const char *name, size_t length) {
  if (!name) return TESELA_DTYPE_NONE;
  char padded[sizeof dtype_names[0]] = {0};
  if (length < 2 || length > LONGEST_NAME) return TESELA_DTYPE_NONE;
  memcpy(padded, name, length);
  if (padded[length - 1] == '\0') return TESELA_DTYPE_NONE; /* would read as a shorter name */
  for (int i = 1; i < N_DTYPES; i++)
    if (memcmp(dtype_names[i], padded, sizeof padded) == 0) return (tesela_dtype)i;
  return TESELA_DTYPE_NONE;
}

/* ---- NumPy's codes ---- */

static const tesela__dtype_code dtype_codes[] = {
    {'b', 1, TESELA_PRED}, {'i', 1, TESELA_S8},    {'i', 2, TESELA_S16}, {'i', 4, TESELA_S32},
    {'i', 8, TESELA_S64},  {'u', 1, TESELA_U8},    {'u', 2, TESELA_U16}, {'u', 4, TESELA_U32},
    {'u', 8, TESELA_U64},  {'f', 2, TESELA_F16},   {'f', 4, TESELA_F32}, {'f', 8, TESELA_F64},
    {'c', 8, TESELA_C64},  {'c', 16, TESELA_C128},
};

const tesela__dtype_code *tesela__dtype_code_of(tesela_dtype dtype) {
  for (size_t i = 0; i < sizeof dtype_codes / sizeof dtype_codes[0]; i++)
    if (dtype_codes[i].dtype == dtype) return &dtype_codes[i];
  return NULL;
}

bool tesela__dtype_code_read(const char *text, size_t length, tesela__dtype_code *code) {
  *code = (tesela__dtype_code){.letter = length > 0 ? text[0] : '\0'};
  for (size_t i = 1; i < length; i++) {
    if (text[i] < '0' || text[i] > '9' || i > 4) return false;
    code->bytes = code->bytes * 10 + (text[i] - '0');
  }
  for (size_t i = 0; i < sizeof dtype_codes / sizeof dtype_codes[0]; i++)
    if (dtype_codes[i].letter == code->letter && dtype_codes[i].bytes == code->bytes)
      code->dtype = dtype_codes[i].dtype;
  return length > 1;
}

/* ---- other names ---- */

enum { DTYPE_PLAIN = 1, DTYPE_NUMPY = 2, DTYPE_TORCH = 4, DTYPE_ALL = 7, LONGEST_FOREIGN = 40 };

/* foreign name, type, modules after which the name is unambiguous; of two rows the first is suggested */
static const struct {
  const char *foreign, *name;
  int sure;
} dtype_aliases[] = {
    {"bool", "pred", DTYPE_ALL},
    {"boolean", "pred", DTYPE_ALL},
    {"bool_", "pred", DTYPE_NUMPY},
    {"i1", "pred", 0},
    {"half", "f16", DTYPE_ALL},
    {"float16", "f16", DTYPE_ALL},
    {"fp16", "f16", DTYPE_ALL},
    {"bfloat16", "bf16", DTYPE_ALL},
    {"bfloat", "bf16", DTYPE_ALL},
    {"float", "f32", DTYPE_PLAIN | DTYPE_TORCH},
    {"float32", "f32", DTYPE_ALL},
    {"fp32", "f32", DTYPE_ALL},
    {"single", "f32", DTYPE_NUMPY},
    {"tf32", "f32", 0},
    {"double", "f64", DTYPE_ALL},
    {"float64", "f64", DTYPE_ALL},
    {"fp64", "f64", DTYPE_ALL},
    {"fp8", "f8e4m3fn", 0},
    {"f8", "f8e4m3fn", 0},
    {"float8", "f8e4m3fn", 0},
    {"e4m3", "f8e4m3fn", 0},
    {"e5m2", "f8e5m2", DTYPE_ALL},
    {"fp4", "f4e2m1fn", 0},
    {"f4", "f4e2m1fn", 0},
    {"int", "s32", DTYPE_TORCH},
    {"uint", "u32", 0},
    {"intc", "s32", DTYPE_NUMPY},
    {"uintc", "u32", DTYPE_NUMPY},
    {"short", "s16", DTYPE_TORCH},
    {"short", "s16", DTYPE_NUMPY},
    {"ushort", "u16", DTYPE_NUMPY},
    {"long", "s64", DTYPE_TORCH},
    {"longlong", "s64", DTYPE_NUMPY},
    {"ulonglong", "u64", DTYPE_NUMPY},
    {"byte", "u8", 0},
    {"byte", "s8", DTYPE_NUMPY},
    {"ubyte", "u8", DTYPE_NUMPY},
    {"char", "s8", 0},
    {"complex64", "c64", DTYPE_ALL},
    {"complex128", "c128", DTYPE_ALL},
    {"csingle", "c64", DTYPE_NUMPY},
    {"cdouble", "c128", DTYPE_NUMPY | DTYPE_TORCH},
    {"cfloat", "c64", DTYPE_TORCH},
    {"complex", "c64", 0},
    {"fp8e4nv", "f8e4m3fn", DTYPE_ALL},
    {"fp8e5", "f8e5m2", DTYPE_ALL},
    {"fp8e4b8", "f8e4m3fnuz", DTYPE_ALL},
    {"fp8e5b16", "f8e5m2fnuz", DTYPE_ALL},
};

/* int8, uint16, i32: the width is in the name. */
static tesela_dtype dtype_by_width(const char *lower, size_t length) {
  static const char *const prefixes[] = {"i", "si", "int", "sint", "u", "ui", "uint"};
  size_t letters = 0;
  while (letters < length && (lower[letters] < '0' || lower[letters] > '9')) letters++;
  size_t width = length - letters;
  if (width < 1 || width > 2) return TESELA_DTYPE_NONE;
  char plain[3] = {lower[0] == 'u' ? 'u' : 's'};
  memcpy(plain + 1, lower + letters, width);
  for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
    if (strlen(prefixes[i]) == letters && memcmp(prefixes[i], lower, letters) == 0)
      return tesela_dtype_find(plain, width + 1);
  return TESELA_DTYPE_NONE;
}

/* float8_e4m3fn, float4_e2m1fn: XLA's name of the bits, after "f". */
static tesela_dtype dtype_by_form(const char *lower, size_t length) {
  static const char *const prefixes[] = {"float", "f"};
  char plain[LONGEST_FOREIGN];
  for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
    size_t n = strlen(prefixes[i]);
    if (length < n + 4 || memcmp(lower, prefixes[i], n) != 0 || lower[n + 1] != '_') continue;
    plain[0] = 'f';
    plain[1] = lower[n];
    memcpy(plain + 2, lower + n + 2, length - n - 2);
    return tesela_dtype_find(plain, length - n);
  }
  return TESELA_DTYPE_NONE;
}

/* *sure: the name is unambiguous after its module. */
static tesela_dtype dtype_by_other_name(const char *lower, size_t length, int modules, bool *sure) {
  const char *suggested = NULL;
  *sure = true;
  tesela_dtype dtype = tesela_dtype_find(lower, length);
  for (size_t i = 0; i < sizeof dtype_aliases / sizeof dtype_aliases[0] && dtype == TESELA_DTYPE_NONE; i++) {
    if (strlen(dtype_aliases[i].foreign) != length || memcmp(dtype_aliases[i].foreign, lower, length) != 0)
      continue;
    if (!suggested) suggested = dtype_aliases[i].name;
    if (dtype_aliases[i].sure & modules)
      dtype = tesela_dtype_find(dtype_aliases[i].name, strlen(dtype_aliases[i].name));
  }
  if (dtype != TESELA_DTYPE_NONE) return dtype;
  if (suggested) {
    *sure = false;
    return tesela_dtype_find(suggested, strlen(suggested));
  }
  dtype = dtype_by_form(lower, length);
  return dtype != TESELA_DTYPE_NONE ? dtype : dtype_by_width(lower, length);
}

/* A name without its module and without NumPy's dtype('...') around it. */
typedef struct dtype_word {
  const char *text;
  size_t length;
  int modules;
} dtype_word;

static bool dtype_take(dtype_word *word, const char *begin, const char *end) {
  size_t n = strlen(begin), m = strlen(end);
  if (word->length < n + m || memcmp(word->text, begin, n) != 0 ||
      memcmp(word->text + word->length - m, end, m) != 0)
    return false;
  word->text += n;
  word->length -= n + m;
  return true;
}

static dtype_word dtype_bare(const char *name, size_t length) {
  static const struct {
    const char *text;
    int modules;
  } modules[] = {{"np.", DTYPE_NUMPY},        {"numpy.", DTYPE_NUMPY},     {"jnp.", DTYPE_NUMPY},
                 {"jax.numpy.", DTYPE_NUMPY}, {"ml_dtypes.", DTYPE_NUMPY}, {"torch.", DTYPE_TORCH},
                 {"tf.", DTYPE_PLAIN},        {"tl.", DTYPE_PLAIN}};
  dtype_word word = {name, length, DTYPE_PLAIN};
  for (size_t i = 0; i < sizeof modules / sizeof modules[0] && word.modules == DTYPE_PLAIN; i++)
    if (dtype_take(&word, modules[i].text, "")) word.modules = modules[i].modules;
  if (dtype_take(&word, "dtype('", "')") || dtype_take(&word, "dtype(\"", "\")")) word.modules = DTYPE_NUMPY;
  return word;
}

/* The type of a name in any spelling; *sure: the name is unambiguous. */
static tesela_dtype dtype_by_any_name(const char *name, size_t length, bool *sure) {
  char lower[LONGEST_FOREIGN];
  tesela__dtype_code code;
  dtype_word word = dtype_bare(name, length);
  *sure = true;
  if (word.length == 0 || word.length > sizeof lower) return TESELA_DTYPE_NONE;
  if (word.length == 1 && word.text[0] == '?') return TESELA_PRED;
  if (memchr("<>=|", word.text[0], 4))
    return tesela__dtype_code_read(word.text + 1, word.length - 1, &code) ? code.dtype : TESELA_DTYPE_NONE;
  for (size_t i = 0; i < word.length; i++)
    lower[i] = word.text[i] >= 'A' && word.text[i] <= 'Z' ? (char)(word.text[i] - 'A' + 'a') : word.text[i];
  return dtype_by_other_name(lower, word.length, word.modules, sure);
}

tesela_dtype tesela__dtype_alias(const char *name, size_t length) {
  bool sure;
  tesela_dtype dtype = dtype_by_any_name(name, length, &sure);
  return sure ? dtype : TESELA_DTYPE_NONE;
}

tesela_status tesela_dtype_read(const char *name, size_t length, tesela_dtype *dtype, tesela_error *err) {
  char quoted[TESELA__QUOTE];
  TESELA__NEED(err, name, dtype);
  tesela_dtype found = tesela__dtype_alias(name, length);
  if (found != TESELA_DTYPE_NONE) {
    *dtype = found;
    return TESELA_OK;
  }
  const char *near = tesela_dtype_suggest(name, length);
  return tesela__fail(err, TESELA_E_SYNTAX, 0, "unknown element type '%s'%s%s%s",
                      tesela__quote(name, length, quoted), near ? "; did you mean " : "", near ? near : "",
                      near ? "?" : "");
}

/* ---- the nearest name ---- */

const char *tesela_dtype_suggest(const char *name, size_t length) {
  if (!name) return NULL;
  bool sure;
  tesela_dtype known = dtype_by_any_name(name, length, &sure);
  if (known != TESELA_DTYPE_NONE) return tesela_dtype_name(known);
  dtype_word word = dtype_bare(name, length);
  if (word.length == 0 || word.length > 2 * LONGEST_NAME || memchr("<>=|", word.text[0], 4)) return NULL;
  const char *best = NULL;
  size_t best_distance = word.length > 4 ? 3 : 2; /* at most 2 edits, 1 for short names */
  for (int i = 0; i < N_DTYPES; i++) {
    if (!dtype_rows[i].name) continue;
    size_t distance = tesela__edits(word.text, word.length, dtype_rows[i].name, strlen(dtype_rows[i].name));
    if (distance < best_distance) {
      best = dtype_rows[i].name;
      best_distance = distance;
    }
  }
  return best;
}
