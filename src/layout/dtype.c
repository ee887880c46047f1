/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dtype.c - element types from the one list in dtype.h.
 */
#include "layout/dtype.h"

#include "base/base.h"

typedef struct dtype_row {
  const char *name; /* NULL: the number is no type */
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

/* Names padded with NULs, so that two of them compare as two words. */
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

/* ---- names other communities use ---- */

/* foreign name, type, whether everybody means that type by it */
static const struct {
  const char *foreign, *name;
  bool sure;
} dtype_aliases[] = {
    {"bool", "pred", true},      {"boolean", "pred", true},    {"i1", "pred", false},
    {"half", "f16", true},       {"float16", "f16", true},     {"fp16", "f16", true},
    {"bfloat16", "bf16", true},  {"bfloat", "bf16", true},     {"float", "f32", true},
    {"float32", "f32", true},    {"fp32", "f32", true},        {"tf32", "f32", false},
    {"double", "f64", true},     {"float64", "f64", true},     {"fp64", "f64", true},
    {"fp8", "f8e4m3fn", false},  {"f8", "f8e4m3fn", false},    {"float8", "f8e4m3fn", false},
    {"e4m3", "f8e4m3fn", false}, {"e5m2", "f8e5m2", true},     {"fp4", "f4e2m1fn", false},
    {"f4", "f4e2m1fn", false},   {"int", "s32", false},        {"uint", "u32", false},
    {"long", "s64", false},      {"byte", "u8", false},        {"char", "s8", false},
    {"complex64", "c64", true},  {"complex128", "c128", true}, {"complex", "c64", false},
};

/* int8, uint16, i32: the width says it. */
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

/* *sure: everybody means this type. */
static tesela_dtype dtype_by_other_name(const char *lower, size_t length, bool *sure) {
  *sure = true;
  tesela_dtype dtype = tesela_dtype_find(lower, length);
  if (dtype != TESELA_DTYPE_NONE) return dtype;
  for (size_t i = 0; i < sizeof dtype_aliases / sizeof dtype_aliases[0]; i++) {
    const char *name = dtype_aliases[i].name;
    if (strlen(dtype_aliases[i].foreign) != length || memcmp(dtype_aliases[i].foreign, lower, length) != 0)
      continue;
    *sure = dtype_aliases[i].sure;
    return tesela_dtype_find(name, strlen(name));
  }
  return dtype_by_width(lower, length);
}

enum { LONGEST_FOREIGN = 2 * LONGEST_NAME };

/* false: longer than any name, or empty. */
static bool dtype_lower(const char *name, size_t length, char *lower) {
  if (length == 0 || length > LONGEST_FOREIGN) return false;
  for (size_t i = 0; i < length; i++)
    lower[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
  return true;
}

tesela_dtype tesela__dtype_alias(const char *name, size_t length) {
  char lower[LONGEST_FOREIGN];
  bool sure;
  if (!dtype_lower(name, length, lower)) return TESELA_DTYPE_NONE;
  tesela_dtype dtype = dtype_by_other_name(lower, length, &sure);
  return sure ? dtype : TESELA_DTYPE_NONE;
}

/* ---- the nearest name ---- */

const char *tesela_dtype_suggest(const char *name, size_t length) {
  if (!name) return NULL;
  char lower[LONGEST_FOREIGN];
  bool sure;
  if (!dtype_lower(name, length, lower)) return NULL;
  tesela_dtype known = dtype_by_other_name(lower, length, &sure);
  if (known != TESELA_DTYPE_NONE) return tesela_dtype_name(known);
  const char *best = NULL;
  size_t best_distance = length > 4 ? 3 : 2; /* at most 2 edits, 1 for short names */
  for (int i = 0; i < N_DTYPES; i++) {
    if (!dtype_rows[i].name) continue;
    size_t distance = tesela__edits(lower, length, dtype_rows[i].name, strlen(dtype_rows[i].name));
    if (distance < best_distance) {
      best = dtype_rows[i].name;
      best_distance = distance;
    }
  }
  return best;
}
