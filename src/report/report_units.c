/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_units.c - numbers of bytes as text: written and read.
 *
 * Thousands have one decimal, millions and more two. XLA's units are powers of 1024 whatever their letter,
 * and it drops what is below the next smaller unit before it rounds.
 */
#include <tesela/report.h>

#include <stdio.h>

#include "base/base.h"

static const struct {
  const char *text;
  int64_t bytes;
} unit_rows[] = {
    {"KiB", INT64_C(1) << 10},
    {"MiB", INT64_C(1) << 20},
    {"GiB", INT64_C(1) << 30},
    {"TiB", INT64_C(1) << 40},
    {"PiB", INT64_C(1) << 50},
    {"EiB", INT64_C(1) << 60},
    {"kB", 1000},
    {"KB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", 1000000000000},
    {"PB", 1000000000000000},
    {"EB", 1000000000000000000},
    {"K", INT64_C(1) << 10},
    {"M", INT64_C(1) << 20},
    {"G", INT64_C(1) << 30},
    {"T", INT64_C(1) << 40},
    {"P", INT64_C(1) << 50},
    {"E", INT64_C(1) << 60},
    {"B", 1},
    {"bytes", 1},
};

/* The text after the number, for 0 to 6 steps of 1024 or 1000. */
static const char *const unit_names[][7] = {
    [TESELA_UNITS_IEC] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"},
    [TESELA_UNITS_SI] = {" B", " kB", " MB", " GB", " TB", " PB", " EB"},
    [TESELA_UNITS_BYTES] = {"", "", "", "", "", "", ""},
    [TESELA_UNITS_XLA] = {"B", "K", "M", "G", "T", "P", "E"},
};

/* XLA's way: divide by 1024 and drop the rest until less than 1024 * 1024 are left, the last division is
 * exact. 15360000000 -> 15000000 -> 14648 -> 14.3046875 -> "14.30G", though it is 14.3051. */
static double xla_quotient(int64_t bytes, int *steps) {
  for (*steps = 1; bytes >= 1 << 20; ++*steps) bytes /= 1024;
  return (double)bytes / 1024;
}

static double exact_quotient(int64_t bytes, int64_t base, int *steps) {
  int64_t unit = base;
  for (*steps = 1; bytes / unit >= base; ++*steps) unit *= base;
  return (double)bytes / (double)unit;
}

void tesela_units_print(int64_t bytes, tesela_units units, char text[TESELA_UNITS_TEXT]) {
  if (!text) return;
  int64_t base = units == TESELA_UNITS_SI ? 1000 : 1024;
  int steps = 0;
  if (units == TESELA_UNITS_BYTES || bytes < base) {
    snprintf(text, TESELA_UNITS_TEXT, "%" PRId64 "%s", bytes, unit_names[units][0]);
    return;
  }
  double number =
      units == TESELA_UNITS_XLA ? xla_quotient(bytes, &steps) : exact_quotient(bytes, base, &steps);
  snprintf(text, TESELA_UNITS_TEXT, "%.*f%s", steps == 1 ? 1 : 2, number, unit_names[units][steps]);
}

/* The unit a text starts with; 1 and *n = 0 for any other text. */
static int64_t unit_at(const char *text, size_t length, size_t *n) {
  for (size_t i = 0; i < sizeof unit_rows / sizeof unit_rows[0]; i++) {
    *n = strlen(unit_rows[i].text);
    if (*n <= length && memcmp(text, unit_rows[i].text, *n) == 0) return unit_rows[i].bytes;
  }
  *n = 0;
  return 1;
}

static bool unit_digit_at(const char *text, size_t length, size_t at) {
  return at < length && text[at] >= '0' && text[at] <= '9';
}

tesela_status tesela_units_parse(const char *text, size_t length, int64_t *bytes, size_t *used,
                                 tesela_error *err) {
  TESELA__NEED(err, bytes);
  TESELA__NEED_LIST(err, text, length);
  int64_t whole = 0, unit, total;
  double part = 0, scale = 1;
  size_t at = 0, n;
  bool fits = true;
  for (; unit_digit_at(text, length, at); at++)
    fits = fits && tesela__mul(whole, 10, &whole) && tesela__add(whole, text[at] - '0', &whole);
  if (at == 0)
    return tesela__fail(err, TESELA_E_SYNTAX, 0, "expected a number of bytes such as 16GiB or 14.00G");
  if (at < length && text[at] == '.' && unit_digit_at(text, length, at + 1))
    for (at++; unit_digit_at(text, length, at); at++) part += (text[at] - '0') * (scale /= 10);
  size_t blank = at < length && text[at] == ' ';
  unit = unit_at(text + at + blank, length - at - blank, &n);
  if (n > 0) at += blank + n;
  if (!used && at < length)
    return tesela__fail(err, TESELA_E_SYNTAX, (int64_t)at,
                        "expected a unit: B, KiB MiB GiB TiB, kB MB GB TB, or "
                        "K M G T (powers of 1024)");
  fits = fits && tesela__mul(whole, unit, &total) &&
         tesela__add(total, (int64_t)(part * (double)unit + 0.5), &total);
  if (!fits) return tesela__fail(err, TESELA_E_OVERFLOW, 0, "the number of bytes does not fit in 64 bits");
  *bytes = total;
  if (used) *used = at;
  return TESELA_OK;
}
