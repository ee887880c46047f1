/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linear_text.c - linear layouts as texts: bases by input, Triton's attributes of them, JSON.
 *
 *   plain      input { "," input }                  input = NAME ["="] "[" { "[" INT, .. "]" } "]"
 *   attribute  "#ttg.linear<{" plain "}>"           "#ttg.shared_linear<{" plain "}, alignment = " INT ">"
 *   JSON       {"bases": {NAME: [..], ..}, "outs": [NAME or [NAME, SIZE], ..]}
 */
#include <stdio.h>

#include "base/reader.h"
#include "linear/linear.h"
#include "notation/triton/linear_text.h"

/* What was read so far. */
typedef struct linear_reading {
  tesela__reader r;
  int32_t n_ins, n_outs, n; /* n_outs: -1 before the first basis */
  tesela_linear_dim in[TESELA_LINEAR_DIMS], out[TESELA_LINEAR_DIMS];
  int64_t basis[TESELA_LINEAR_BITS * TESELA_LINEAR_DIMS];
} linear_reading;

/* ---- reading -------------------------------------------------------------------------------------------------- */

static tesela_status linear_read_name(linear_reading *l, const char *what, bool quoted,
                                      tesela_linear_dim *dim) {
  tesela__reader *r = &l->r;
  if (quoted && !tesela__read_take(r, '"')) return tesela__read_unexpected(r, "a name in quotes", "");
  size_t length = tesela__read_word(r);
  if (length == 0) return tesela__read_unexpected(r, what, "");
  if (length >= sizeof dim->name)
    return tesela__read_fail(r, TESELA_E_LIMIT, r->at, "a name of %zu bytes; expected at most %d", length,
                             TESELA_LINEAR_NAME - 1);
  memset(dim->name, 0, sizeof dim->name);
  memcpy(dim->name, r->text + r->at, length);
  dim->bits = 0;
  r->at += length;
  return quoted ? tesela__read_expect(r, '"', "after the name") : TESELA_OK;
}

/* "[[0,1],[8,0]]": the bases of an input. */
static tesela_status linear_read_bases(linear_reading *l, tesela_linear_dim *dim) {
  tesela__reader *r = &l->r;
  bool more = true;
  tesela_status status = tesela__read_expect(r, '[', "before the bases");
  if (status == TESELA_OK && tesela__read_take(r, ']')) return TESELA_OK;
  while (status == TESELA_OK && more) {
    int64_t list[TESELA_LINEAR_DIMS];
    int32_t n = 0;
    (void)tesela__read_peek(r);
    size_t at = r->at;
    status = tesela__read_integers(r, '[', false, "an output", TESELA_E_RANGE, TESELA_LINEAR_DIMS, list, &n);
    if (status == TESELA_OK && l->n == TESELA_LINEAR_BITS)
      status = tesela__read_fail(r, TESELA_E_LIMIT, at, "more than %d bases", TESELA_LINEAR_BITS);
    if (status == TESELA_OK && l->n_outs >= 0 && n != l->n_outs)
      status =
          tesela__read_fail(r, TESELA_E_INVALID, at,
                            "a basis of %" PRId32 " numbers; those before it have %" PRId32, n, l->n_outs);
    for (int32_t i = 0; i < n && status == TESELA_OK; i++)
      if (list[i] < 0)
        status =
            tesela__read_fail(r, TESELA_E_RANGE, at, "a basis has %" PRId64 "; expected 0 or more", list[i]);
    if (status != TESELA_OK) return status;
    l->n_outs = n;
    for (int32_t i = 0; i < n; i++) l->basis[l->n * n + i] = list[i];
    l->n++;
    dim->bits++;
    status = tesela__read_more(r, ']', false, &more);
  }
  return status;
}

/* An input and its bases; `separator` is between them, a blank: "=" or nothing. */
static tesela_status linear_read_input(linear_reading *l, char separator) {
  tesela__reader *r = &l->r;
  (void)tesela__read_peek(r);
  size_t at = r->at;
  if (l->n_ins == TESELA_LINEAR_DIMS)
    return tesela__read_fail(r, TESELA_E_LIMIT, at, "more than %d inputs", TESELA_LINEAR_DIMS);
  tesela_linear_dim *dim = &l->in[l->n_ins];
  tesela_status status = linear_read_name(l, "an input", separator == ':', dim);
  if (status == TESELA_OK && tesela__linear_find(l->in, l->n_ins, dim->name) >= 0)
    status = tesela__read_fail(r, TESELA_E_INVALID, at, "the input %s is repeated", dim->name);
  if (status != TESELA_OK) return status;
  l->n_ins++;
  if (separator == ' ')
    (void)tesela__read_take(r, '=');
  else
    status = tesela__read_expect(r, separator, "after the input");
  return status == TESELA_OK ? linear_read_bases(l, dim) : status;
}

/* "#ttg.linear<{" or "#ttg.shared_linear<{" was taken. */
static tesela_status linear_read_attribute(linear_reading *l, bool shared) {
  tesela__reader *r = &l->r;
  bool more = true;
  int64_t alignment;
  tesela_status status = TESELA_OK;
  while (status == TESELA_OK && more) {
    status = linear_read_input(l, '=');
    if (status == TESELA_OK) status = tesela__read_more(r, '}', false, &more);
  }
  if (status == TESELA_OK && shared && tesela__read_take(r, ',')) {
    if (!tesela__read_take_text(r, "alignment")) return tesela__read_unexpected(r, "alignment", "");
    status = tesela__read_expect(r, '=', "after alignment");
    if (status == TESELA_OK) status = tesela__read_integer(r, "the alignment", 1, INT64_MAX, &alignment);
  }
  return status == TESELA_OK ? tesela__read_expect(r, '>', "at the end of the attribute") : status;
}

static tesela_status linear_read_json_bases(linear_reading *l) {
  bool more = true;
  tesela_status status = tesela__read_expect(&l->r, '{', "before the inputs");
  if (status == TESELA_OK && tesela__read_take(&l->r, '}')) return TESELA_OK;
  while (status == TESELA_OK && more) {
    status = linear_read_input(l, ':');
    if (status == TESELA_OK) status = tesela__read_more(&l->r, '}', false, &more);
  }
  return status;
}

/* ["x", "y"] or [["dim0", 16], ["dim1", 8]]. */
static tesela_status linear_read_json_outs(linear_reading *l, int32_t *n) {
  tesela__reader *r = &l->r;
  bool more = true;
  tesela_status status = tesela__read_expect(r, '[', "before the outputs");
  *n = 0;
  if (status == TESELA_OK && tesela__read_take(r, ']')) return TESELA_OK;
  while (status == TESELA_OK && more) {
    int64_t size = 0;
    if (*n == TESELA_LINEAR_DIMS)
      return tesela__read_fail(r, TESELA_E_LIMIT, r->at, "more than %d outputs", TESELA_LINEAR_DIMS);
    tesela_linear_dim *dim = &l->out[(*n)++];
    bool sized = tesela__read_take(r, '[');
    status = linear_read_name(l, "an output", true, dim);
    dim->bits = -1;
    if (status == TESELA_OK && sized) {
      status = tesela__read_expect(r, ',', "after the name");
      size_t at = r->at;
      if (status == TESELA_OK)
        status = tesela__read_integer(r, "the size of an output", 1, (int64_t)1 << TESELA_LINEAR_BITS, &size);
      if (status == TESELA_OK && (size & (size - 1)) != 0)
        status = tesela__read_fail(r, TESELA_E_RANGE, at,
                                   "the size of an output is %" PRId64 "; expected a power of two", size);
      if (status == TESELA_OK) status = tesela__read_expect(r, ']', "after the size");
      dim->bits = size > 0 ? __builtin_ctzll((uint64_t)size) : 0;
    }
    if (status == TESELA_OK) status = tesela__read_more(r, ']', false, &more);
  }
  return status;
}

static tesela_status linear_read_json(linear_reading *l) {
  tesela__reader *r = &l->r;
  bool more = true, bases = false, outs = false;
  int32_t n = 0;
  tesela_status status = TESELA_OK;
  while (status == TESELA_OK && more) {
    if (!bases && tesela__read_take_text(r, "\"bases\"")) {
      bases = true;
      status = tesela__read_expect(r, ':', "after bases");
      if (status == TESELA_OK) status = linear_read_json_bases(l);
    } else if (!outs && tesela__read_take_text(r, "\"outs\"")) {
      outs = true;
      status = tesela__read_expect(r, ':', "after outs");
      if (status == TESELA_OK) status = linear_read_json_outs(l, &n);
    } else {
      return tesela__read_unexpected(r, bases ? "\"outs\"" : "\"bases\"", "");
    }
    if (status == TESELA_OK) status = tesela__read_more(r, '}', false, &more);
  }
  if (status != TESELA_OK) return status;
  if (!bases || !outs)
    return tesela__read_fail(r, TESELA_E_SYNTAX, r->at, "%s is missing", bases ? "\"outs\"" : "\"bases\"");
  if (l->n_outs >= 0 && l->n_outs != n)
    return tesela__read_fail(r, TESELA_E_INVALID, r->at,
                             "the bases have %" PRId32 " numbers for %" PRId32 " outputs", l->n_outs, n);
  l->n_outs = n;
  return TESELA_OK;
}

static tesela_status linear_read_plain(linear_reading *l) {
  tesela_status status = linear_read_input(l, ' ');
  while (status == TESELA_OK && tesela__read_take(&l->r, ',')) status = linear_read_input(l, ' ');
  return status;
}

tesela_status tesela_linear_parse(tesela_linear *out, const char *text, size_t length, tesela_error *err) {
  TESELA__NEED(err, out);
  TESELA__NEED_LIST(err, text, length);
  static const char *const begins[] = {"#ttg.linear", "#triton_gpu.linear", "#ttg.shared_linear"};
  linear_reading l = {.n_ins = 0, .n_outs = -1};
  l.r = (tesela__reader){.text = text,
                         .length = length,
                         .err = err,
                         .blanks = TESELA__BLANKS_TEXT,
                         .word = TESELA__BYTE_NAME,
                         .glue = TESELA__BYTE_NAME | TESELA__BYTE_DOT};
  tesela_status status = TESELA_OK;
  int attribute = -1;
  bool json = tesela__read_take(&l.r, '{');
  for (int i = 0; i < 3 && !json && attribute < 0; i++)
    if (tesela__read_take_text(&l.r, begins[i])) attribute = i;
  if (json) {
    status = linear_read_json(&l);
  } else if (attribute >= 0) {
    status = tesela__read_expect(&l.r, '<', "before the bases");
    if (status == TESELA_OK) status = tesela__read_expect(&l.r, '{', "before the bases");
    if (status == TESELA_OK) status = linear_read_attribute(&l, attribute == 2);
  } else {
    status = linear_read_plain(&l);
  }
  if (status == TESELA_OK && tesela__read_peek(&l.r) >= 0)
    status = tesela__read_unexpected(&l.r, "the end of the layout", "");
  if (status != TESELA_OK) return status;
  for (int32_t i = 0; i < l.n_outs && !json; i++) {
    snprintf(l.out[i].name, sizeof l.out[i].name, "dim%" PRId32, i);
    l.out[i].bits = -1;
  }
  return tesela_linear_make(out, l.n_ins, l.in, l.n_outs < 0 ? 0 : l.n_outs, l.out, l.basis, err);
}

/* ---- printing ------------------------------------------------------------------------------------------------- */

/* "[[0,1],[8,0]]", or with a blank after each comma. */
static void linear_put_bases(tesela__sink *sink, const tesela_linear *a, int32_t in, const char *comma) {
  int64_t value[TESELA_LINEAR_DIMS];
  int32_t first = tesela__bits_of(a->in, in);
  tesela__putc(sink, '[');
  for (int32_t k = 0; k < a->in[in].bits; k++) {
    tesela__linear_values(a->out, a->n_outs, a->basis[first + k], value);
    tesela__puts(sink, k ? comma : "");
    tesela__putc(sink, '[');
    for (int32_t i = 0; i < a->n_outs; i++) {
      tesela__puts(sink, i ? comma : "");
      tesela__put_int(sink, value[i]);
    }
    tesela__putc(sink, ']');
  }
  tesela__putc(sink, ']');
}

/* Does the plain text read back: outputs dim0, dim1, ... that are as large as the bases need? */
static bool linear_is_plain(const tesela_linear *a) {
  uint64_t used = 0;
  char name[TESELA_LINEAR_NAME];
  int32_t bits = tesela__bits_of(a->in, a->n_ins);
  for (int32_t k = 0; k < bits; k++) used |= a->basis[k];
  for (int32_t i = 0; i < a->n_outs; i++) {
    int64_t value[TESELA_LINEAR_DIMS];
    snprintf(name, sizeof name, "dim%" PRId32, i);
    tesela__linear_values(a->out, a->n_outs, used, value);
    if (strcmp(a->out[i].name, name) != 0 || (a->out[i].bits > 0 && value[i] >> (a->out[i].bits - 1) == 0))
      return false;
  }
  return a->n_ins > 0 && (bits > 0 || a->n_outs == 0);
}

static void linear_put_json(tesela__sink *sink, const tesela_linear *a) {
  tesela__puts(sink, "{\"bases\":{");
  for (int32_t i = 0; i < a->n_ins; i++) {
    tesela__putf(sink, "%s\"%s\":", i ? "," : "", a->in[i].name);
    linear_put_bases(sink, a, i, ",");
  }
  tesela__puts(sink, "},\"outs\":[");
  for (int32_t i = 0; i < a->n_outs; i++)
    tesela__putf(sink, "%s[\"%s\",%" PRId64 "]", i ? "," : "", a->out[i].name, (int64_t)1 << a->out[i].bits);
  tesela__puts(sink, "]}");
}

tesela_status tesela_linear_print(const tesela_linear *a, const tesela_writer *to, tesela_error *err) {
  TESELA__NEED(err, a, to);
  tesela__sink sink;
  tesela_status status = tesela__linear_check(a, "the linear layout", err);
  if (status != TESELA_OK) return status;
  tesela__sink_init(&sink, to);
  if (!linear_is_plain(a)) {
    linear_put_json(&sink, a);
    return tesela__sink_finish(&sink, err);
  }
  for (int32_t i = 0; i < a->n_ins; i++) {
    tesela__putf(&sink, "%s%s ", i ? ", " : "", a->in[i].name);
    linear_put_bases(&sink, a, i, ",");
  }
  return tesela__sink_finish(&sink, err);
}

/* ---- attributes ----------------------------------------------------------------------------------------------- */

void tesela__linear_put_attribute(tesela__sink *sink, const tesela_linear *a, bool shared) {
  static const char *const registers[] = {"register", "lane", "warp", "block"}, *const memory[] = {"offset",
                                                                                                   "block"};
  tesela__puts(sink, shared ? "#ttg.shared_linear<{" : "#ttg.linear<{");
  for (int32_t i = 0; i < (shared ? 2 : 4); i++) {
    const char *name = shared ? memory[i] : registers[i];
    int32_t in = tesela__linear_find(a->in, a->n_ins, name);
    tesela__putf(sink, "%s%s = ", i ? ", " : "", name);
    if (in < 0)
      tesela__puts(sink, "[]");
    else
      linear_put_bases(sink, a, in, ", ");
  }
  tesela__puts(sink, shared ? "}, alignment = 16>" : "}>");
}
