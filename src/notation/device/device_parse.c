/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_parse.c - finds the notation of a device layout's text, and reads it.
 *
 *   [f16[1024,256]] ((4, 1024, 64), (65536, 64, 1), (64, 256, 1))
 *   [f16[1024,256]] SpyreTensorLayout(device_size=[...], ...)        also after a path, torch.spyre.SpyreTensorLayout
 *   f16[1000,200] stick(dim_order=[0,1])
 */
#include "notation/device/device_read.h"

static const char device_printed_name[] = "SpyreTensorLayout", device_short_name[] = "stick";

/* Bytes of a path before the last name of a word: "torch.spyre." */
static size_t device_path(const char *word, size_t length) {
  size_t n = length;
  while (n > 0 && word[n - 1] != '.') n--;
  return n;
}

/* ---- recognition ---- */

/* At a word: does a device layout begin here, perhaps misspelt? */
static bool device_begins(const tesela__reader *at) {
  tesela__reader in = *at;
  size_t length = tesela__read_word(&in), path = device_path(in.text + in.at, length);
  const char *name = in.text + in.at + path;
  in.at += length;
  if (length == 0 || tesela__read_peek(&in) != '(') return false;
  return tesela__same_word(name, length - path, device_short_name) ||
         tesela__edits(name, length - path, device_printed_name, sizeof device_printed_name - 1) < 4;
}

bool tesela__device_near(const char *text, size_t length) {
  tesela__reader in = tesela__xla_text(text, length, NULL);
  if (tesela__read_take(&in, '(')) { /* a tuple of shapes does not begin with a number */
    int c = tesela__read_take(&in, '(') ? tesela__read_peek(&in) : -1;
    return (c >= '0' && c <= '9') || c == '-' || c == ')';
  }
  if (device_begins(&in)) return true;
  size_t word = tesela__read_word(&in);
  in.at += word;
  if (word == 0 || !tesela__read_take(&in, '[')) return false;
  while (in.at < length && in.text[in.at] != ']' && in.text[in.at] != '[' && in.text[in.at] != '(') in.at++;
  if (!tesela__read_take(&in, ']')) return false;
  int next = tesela__read_peek(&in);
  in.at += tesela__read_word(&in);
  return next == '(' || (next > 0 && next != '{' && tesela__read_peek(&in) == '(' && in.at < length);
}

/* ---- reading ---- */

static tesela_status device_read_host(tesela__reader *in, tesela__device_text *text) {
  tesela__device_list dims;
  tesela__read_peek(in);
  text->host_at = in->at;
  size_t length = tesela__read_word(in);
  if (length == 0) return tesela__read_unexpected(in, "an element type, such as f32", "");
  text->dtype = tesela_dtype_find(in->text + in->at, length);
  if (text->dtype == TESELA_DTYPE_NONE) return tesela__xla_unknown_type(in, length);
  in->at += length;
  if (tesela_dtype_bytes(text->dtype) == 0)
    return tesela__fail(in->err, TESELA_E_INVALID, (int64_t)text->host_at, "an array cannot have type %s",
                        tesela_dtype_name(text->dtype));
  tesela_status status =
      tesela__device_numbers(in, '[', "the dims of the host tensor, [1000,200]", TESELA_MAX_RANK, &dims);
  if (status != TESELA_OK) return status;
  text->rank = dims.n;
  for (int32_t d = 0; d < dims.n; d++) text->shape[d] = dims.number[d];
  text->have_host = true;
  return TESELA_OK;
}

/* The same from a caller that knows only type and shape. */
static tesela_status device_take_host(tesela__reader *in, const tesela_device_host *host,
                                      tesela__device_text *text) {
  if (host->rank < 0 || host->rank > TESELA_MAX_RANK || tesela_dtype_bytes(host->dtype) == 0)
    return tesela__fail(in->err, TESELA_E_INVALID, -1, "expected an array of at most %d dims",
                        TESELA_MAX_RANK);
  text->dtype = host->dtype;
  text->rank = host->rank;
  for (int32_t d = 0; d < host->rank; d++) text->shape[d] = host->shape[d];
  text->have_host = true;
  return TESELA_OK;
}

/* ((4, 1024, 64), (65536, 64, 1), (64, 256, 1)) */
static tesela_status device_read_tuples(tesela__reader *in, tesela__device_text *text) {
  static const struct {
    tesela__device_field field;
    const char *what, *name;
  } tuples[] = {
      {TESELA__DEVICE_DEVICE_SIZE, "the tuple of ranges, (4, 1024, 64)", "ranges"},
      {TESELA__DEVICE_DEVICE_STRIDES, "the tuple of device strides, (65536, 64, 1)", "device strides"},
      {TESELA__DEVICE_STRIDE_MAP, "the tuple of host strides, (64, 256, 1)", "host strides"},
  };
  tesela__device_list *const lists[] = {&text->size, &text->strides, &text->stride_map};
  in->at++; /* ( */
  for (size_t i = 0; i < 3; i++) {
    bool more = true;
    tesela__read_peek(in);
    text->at[tuples[i].field] = in->at;
    tesela__device_say(text, tuples[i].field);
    tesela_status status = tesela__device_numbers(in, '(', tuples[i].what, TESELA_DEVICE_DIMS, lists[i]);
    if (status != TESELA_OK) return status;
    if (lists[i]->n != lists[0]->n)
      return tesela__fail(in->err, TESELA_E_INVALID, (int64_t)text->at[tuples[i].field],
                          "%" PRId32 " %s for %" PRId32 " ranges; the three tuples must have the same length",
                          lists[i]->n, tuples[i].name, lists[0]->n);
    if (i < 2) {
      status = tesela__read_expect(in, ',', "and the next of three tuples");
    } else {
      tesela__read_peek(in);
      size_t at = in->at;
      status = tesela__read_more(in, ')', false, &more);
      if (status == TESELA_OK && more && !tesela__read_take(in, ')'))
        return tesela__fail(in->err, TESELA_E_SYNTAX, (int64_t)at,
                            "more than three tuples: ranges, device strides, host strides");
    }
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}

static tesela_status device_read_form(tesela__reader *in, tesela__device_text *text) {
  int c = tesela__read_peek(in);
  text->form_at = in->at;
  if (c == '(') {
    text->form = TESELA__DEVICE_FORM_TUPLES;
    return device_read_tuples(in, text);
  }
  size_t length = tesela__read_word(in), path = device_path(in->text + in->at, length);
  const char *name = in->text + in->at + path;
  if (tesela__same_word(name, length - path, device_printed_name)) {
    text->form = TESELA__DEVICE_FORM_PRINTED;
  } else if (path == 0 && tesela__same_word(name, length, device_short_name)) {
    text->form = TESELA__DEVICE_FORM_SHORT;
  } else {
    bool near_long =
        tesela__edits(name, length - path, device_printed_name, sizeof device_printed_name - 1) < 4;
    bool near_short =
        length > 0 && tesela__edits(name, length - path, device_short_name, sizeof device_short_name - 1) < 3;
    return tesela__read_unexpected(in,
                                   "stick(...), SpyreTensorLayout(...) or three tuples ((..), (..), (..))",
                                   near_long    ? "; did you mean SpyreTensorLayout?"
                                   : near_short ? "; did you mean stick?"
                                                : "");
  }
  in->at += length;
  tesela_status status = tesela__read_expect(in, '(', "after the name of a notation");
  return status == TESELA_OK ? tesela__device_read_fields(in, text) : status;
}

/* Does a host shape come next: a word and `[`? */
static bool device_host_next(const tesela__reader *at) {
  tesela__reader in = *at;
  size_t length = tesela__read_word(&in);
  in.at += length;
  return length > 0 && tesela__read_peek(&in) == '[';
}

tesela_status tesela_device_parse(tesela_device_layout *layout, const char *text, size_t length,
                                  const tesela_device_text_options *options, tesela_error *err) {
  TESELA__NEED(err, layout);
  TESELA__NEED_LIST(err, text, length);
  TESELA__NEED_CLEAR(err, options);
  static const tesela_device_text_options none;
  tesela__reader in = tesela__xla_text(text, length, err);
  if (!options) options = &none;
  tesela__device_text said = {.options = options, .dtype = TESELA_DTYPE_NONE, .stick_dims = 1};
  tesela_status status = TESELA_OK;
  if (device_host_next(&in))
    status = device_read_host(&in, &said);
  else if (options->host && options->host->stick_bytes == 0)
    status = device_take_host(&in, options->host, &said);
  if (status == TESELA_OK) status = device_read_form(&in, &said);
  if (status == TESELA_OK && tesela__read_peek(&in) >= 0)
    status = tesela__read_unexpected(&in, "nothing more after a device layout", "");
  return status == TESELA_OK ? tesela__device_build(&said, options, layout, err) : status;
}
