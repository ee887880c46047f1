/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_verify.c - check every byte of a file against its description: the header, then each tensor. Elements are
 * compared by the definition of both layouts (tesela_values_compare); then all places without an element are checked.
 * Uses no plan and no kernel.
 */
#include <stdarg.h>
#include <stdio.h>

#include "file/file_writing.h"
#include "relayout/values.h"

enum { VERIFY_STEP = 4 << 20, VERIFY_RUNS = 1 << 16 };

static tesela_status verify_differs(const tesela__file_writing *w, const char *format, ...)
    TESELA_PRINTF(2, 3);
static tesela_status verify_differs(const tesela__file_writing *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tesela_error_fill(w->err, TESELA_E_MISMATCH, -1, format, args);
  va_end(args);
  if (w->options->differs) *w->options->differs = true;
  return TESELA_E_MISMATCH;
}

/* "tensor wte.weight: ", or "" for a format with one tensor. */
static const char *verify_who(const tesela__file_writing *w, int64_t i, char text[TESELA__QUOTE + 16]) {
  char quoted[TESELA__QUOTE];
  text[0] = '\0';
  if (w->format == TESELA_FILE_SAFETENSORS)
    snprintf(text, TESELA__QUOTE + 16,
             "tensor %s: ", tesela__quote(w->item[i].name, strlen(w->item[i].name), quoted));
  return text;
}

/* ---- equal bytes ------------------------------------------------------------------------------------------- */

static tesela_status verify_bytes(const tesela__file_writing *w, const tesela_run_options *run,
                                  const char *who, const uint8_t *expected, const uint8_t *found,
                                  int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += VERIFY_STEP) {
    const int64_t n = tesela__min(bytes - at, VERIFY_STEP);
    int64_t i = 0;
    if (run->progress && run->progress(run->progress_user, at, bytes) != 0)
      return tesela__fail_stopped(w->err);
    if (memcmp(expected + at, found + at, (size_t)n) == 0) continue;
    while (expected[at + i] == found[at + i]) i++;
    return verify_differs(w, "%sbyte %" PRId64 " is 0x%02x; expected 0x%02x", who, at + i, found[at + i],
                          expected[at + i]);
  }
  return TESELA_OK;
}

/* ---- elements ---------------------------------------------------------------------------------------------- */

static tesela_status verify_elements(const tesela__file_writing *w, const tesela_run_options *run, int64_t i,
                                     const uint8_t *data) {
  const tesela_file_item *item = &w->item[i];
  tesela_values_difference d;
  char who[TESELA__QUOTE + 16], found[TESELA_ELEMENT_TEXT], expected[TESELA_ELEMENT_TEXT];
  char index[TESELA_MAX_RANK * 21 + 3] = "()";
  tesela_status status =
      tesela_values_compare(item->from, item->tensor->data, item->to, data, &d, run, w->err);
  if (status != TESELA_OK || d.same) return status;
  for (int32_t k = 0, n = 0; k < item->to->rank; k++)
    n += snprintf(index + n, sizeof index - (size_t)n, "%c%" PRId64 "%s", k > 0 ? ',' : '(', d.index[k],
                  k + 1 < item->to->rank ? "" : ")");
  return verify_differs(
      w, "%selement %s, at place %" PRId64 ", is %s; expected %s (%" PRId64 " elements differ)",
      verify_who(w, i, who), index, d.place_b, tesela_element_bits(d.b, item->to->bits, found),
      tesela_element_bits(d.a, item->from->bits, expected), d.n_different);
}

/* ---- places without an element ----------------------------------------------------------------------------- */

typedef struct verify_fill {
  const uint8_t *data;
  int32_t bits;
  uint8_t value[16]; /* expected at such a place */
  bool or_zero;      /* zero is accepted too: gaps between digits are not filled */
} verify_fill;

static bool verify_is_zero(const uint8_t *data, int64_t n) {
  static const uint8_t zeros[4096];
  for (; n > (int64_t)sizeof zeros; data += sizeof zeros, n -= (int64_t)sizeof zeros)
    if (memcmp(data, zeros, sizeof zeros) != 0) return false;
  return memcmp(data, zeros, (size_t)n) == 0;
}

/* The first of n places with an unexpected value, or n. */
static int64_t verify_run(const verify_fill *f, int64_t place, int64_t n) {
  static const uint8_t zero[16];
  const int64_t width = f->bits / 8;
  if (f->bits < 8) {
    for (int64_t k = 0; k < n; k++) {
      const unsigned found = tesela__values_bits(f->data, place + k, f->bits);
      if (found != (f->value[0] & ((1u << f->bits) - 1)) && !(f->or_zero && found == 0)) return k;
    }
    return n;
  }
  const uint8_t *at = f->data + place * width;
  if (memcmp(f->value, zero, (size_t)width) == 0 && verify_is_zero(at, n * width)) return n;
  for (int64_t k = 0; k < n; k++, at += width)
    if (memcmp(at, f->value, (size_t)width) != 0 && !(f->or_zero && memcmp(at, zero, (size_t)width) == 0))
      return k;
  return n;
}

/* Are the bits after the last place 0? */
static bool verify_tail(const uint8_t *data, const tesela_sizes *sizes) {
  return sizes->bits % 8 == 0 || data[sizes->bits / 8] >> (sizes->bits % 8) == 0;
}

static tesela_status verify_padding(const tesela__file_writing *w, const tesela_run_options *run, int64_t i,
                                    const uint8_t *data) {
  const tesela_layout *to = w->item[i].to;
  verify_fill fill = {.data = data, .bits = to->bits};
  char who[TESELA__QUOTE + 16], found[TESELA_ELEMENT_TEXT], expected[TESELA_ELEMENT_TEXT];
  uint8_t value[16] = {0};
  tesela_sizes sizes;
  tesela_scan scan;
  tesela_status status = tesela_layout_sizes(to, &sizes, w->err);
  if (status != TESELA_OK || sizes.elements == 0) return status;
  if (!verify_tail(data, &sizes))
    return verify_differs(w, "%sbits after the last place are set", verify_who(w, i, who));
  if (sizes.elements == sizes.logical_elements) return TESELA_OK;
  status = tesela_scan_begin(&scan, to, w->err);
  if (status != TESELA_OK) return status;
  fill.or_zero = scan.general;
  if (w->options->plan.fill == TESELA_FILL_VALUE)
    memcpy(fill.value, w->item[i].fill_value, sizeof fill.value);
  for (int64_t runs = 1; scan.more; tesela_scan_next(&scan), runs++) {
    const int64_t n = scan.left + 1, same = scan.padding ? verify_run(&fill, scan.place, n) : n;
    if (same < n) {
      if (to->bits < 8)
        value[0] = (uint8_t)tesela__values_bits(data, scan.place + same, to->bits);
      else
        memcpy(value, data + (scan.place + same) * (to->bits / 8), (size_t)to->bits / 8);
      return verify_differs(w, "%spadding at place %" PRId64 " is %s; expected %s", verify_who(w, i, who),
                            scan.place + same, tesela_element_bits(value, to->bits, found),
                            tesela_element_bits(fill.value, to->bits, expected));
    }
    if (runs % VERIFY_RUNS == 0 && run->progress && run->progress(run->progress_user, 1, 1) != 0)
      return tesela__fail_stopped(w->err);
    scan.place += scan.left; /* the end of the run */
    scan.left = 0;
  }
  return TESELA_OK;
}

/* ---- the whole file ---------------------------------------------------------------------------------------- */

tesela_status tesela__file_verify(const tesela__file_writing *w, tesela__file_copies *copies,
                                  const uint8_t *data, int64_t bytes) {
  tesela_run_options run = tesela__file_watch(copies, 0);
  if (bytes != w->bytes)
    return verify_differs(w, "has %" PRId64 " bytes; expected %" PRId64, bytes, w->bytes);
  tesela_status status =
      verify_bytes(w, &run, "the header: ", (const uint8_t *)w->header, data, w->header_bytes);
  for (int64_t i = 0; i < w->n && status == TESELA_OK; i++) {
    const tesela_file_tensor *tensor = w->item[i].tensor;
    const uint8_t *begin = data + w->header_bytes + w->out[i].begin;
    char who[TESELA__QUOTE + 16];
    run = tesela__file_watch(copies, w->out[i].bytes);
    if (w->item[i].from) {
      if (tensor->bytes > 0) status = verify_elements(w, &run, i, begin);
      if (status == TESELA_OK) status = verify_padding(w, &run, i, begin);
    } else {
      status = verify_bytes(w, &run, verify_who(w, i, who), tensor->data, begin, tensor->bytes);
    }
    tesela__file_count(copies);
  }
  return status;
}
