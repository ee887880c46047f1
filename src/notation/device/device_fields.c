/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_fields.c - the fields of texts of device layouts, name=value: one table, and a reader for each sort of value.
 */
#include "layout/dtype.h"
#include "notation/device/device_read.h"

typedef enum device_value {
  DEVICE_VALUE_LIST,
  DEVICE_VALUE_NUMBER,
  DEVICE_VALUE_ORDER,
  DEVICE_VALUE_TARGET,
  DEVICE_VALUE_PADS,
  DEVICE_VALUE_DIMS,
  DEVICE_VALUE_FORMAT,
  DEVICE_VALUE_DTYPE,
  DEVICE_VALUE_ARRANGEMENT,
} device_value;

static const struct device_field_row {
  const char *name;
  bool in_short, in_printed;
  device_value value;
  const char *what;
} device_fields[TESELA__DEVICE_FIELDS] = {
#define TESELA__ROW(symbol, name, in_short, in_printed, value, what) \
  {name, in_short, in_printed, DEVICE_VALUE_##value, what},
    TESELA__DEVICE_FIELD_MAP(TESELA__ROW)
#undef TESELA__ROW
};

/* Formats of elements as the printed forms name them. Of two names for one type the first is printed. */
static const struct {
  const char *name;
  tesela_dtype dtype; /* TESELA_DTYPE_NONE: known, but no type here has its width */
} device_formats[] = {
    {"SEN169_FP16", TESELA_F16},
    {"IEEE_FP32", TESELA_F32},
    {"IEEE_INT32", TESELA_S32},
    {"IEEE_INT64", TESELA_S64},
    {"SENINT8", TESELA_S8},
    {"SENINT16", TESELA_S16},
    {"SENUINT32", TESELA_U32},
    {"SEN143_FP8", TESELA_F8E4M3FN},
    {"SEN152_FP8", TESELA_F8E5M2},
    {"BFLOAT16", TESELA_BF16},
    {"BOOL", TESELA_PRED},
    {"IEEE_FP16", TESELA_F16},
    {"SEN153_FP9", TESELA_DTYPE_NONE},
    {"SEN18F_FP24", TESELA_DTYPE_NONE},
    {"SENINT2", TESELA_DTYPE_NONE},
    {"SENINT4", TESELA_DTYPE_NONE},
    {"SENINT24", TESELA_DTYPE_NONE},
    {"SENUINT2", TESELA_DTYPE_NONE},
    {"INVALID", TESELA_DTYPE_NONE},
};
enum { DEVICE_FORMATS = sizeof device_formats / sizeof device_formats[0] };

const char *tesela__device_format_name(tesela_dtype dtype) {
  for (int32_t i = 0; dtype != TESELA_DTYPE_NONE && i < DEVICE_FORMATS; i++)
    if (device_formats[i].dtype == dtype) return device_formats[i].name;
  return NULL;
}

/* ---- names ---- */

static const char *device_order_at(int32_t i) { return tesela_order_name((tesela_order)i); }
static const char *device_format_at(const void *user, int32_t i) {
  (void)user;
  return i < DEVICE_FORMATS ? device_formats[i].name : NULL;
}
static const char *device_short_field_at(int32_t i) {
  return i == TESELA__DEVICE_FIELDS ? NULL : device_fields[i].in_short ? device_fields[i].name : "";
}
static const char *device_printed_field_at(int32_t i) {
  return i == TESELA__DEVICE_FIELDS ? NULL : device_fields[i].in_printed ? device_fields[i].name : "";
}

/* Offset of the last part of a dotted path; only that part counts. */
static size_t device_bare(const char *word, size_t length) {
  size_t from = length;
  while (from > 0 && word[from - 1] != '.') from--;
  return from;
}

/* ---- values ---- */

static tesela_status device_value_pads(tesela__reader *in, const char *what, tesela_device_padding *pads) {
  bool more = true;
  *pads = (tesela_device_padding){{0}};
  if (!tesela__read_take(in, '{')) return tesela__read_unexpected(in, what, "");
  if (tesela__read_take(in, '}')) return TESELA_OK;
  while (more) {
    int64_t dim, to;
    tesela__read_peek(in);
    size_t at = in->at;
    tesela_status status = tesela__device_number(in, "a host dim", &dim);
    if (status != TESELA_OK) return status;
    if (dim < 0 || dim >= TESELA_MAX_RANK)
      return tesela__fail(in->err, TESELA_E_RANGE, (int64_t)at, "host dim %" PRId64 "; expected 0 to %d", dim,
                          TESELA_MAX_RANK - 1);
    if (pads->to[dim] != 0)
      return tesela__fail(in->err, TESELA_E_INVALID, (int64_t)at, "host dim %" PRId64 " is given twice", dim);
    status = tesela__read_expect(in, ':', "after a host dim");
    if (status != TESELA_OK) return status;
    tesela__read_peek(in);
    at = in->at;
    status = tesela__device_number(in, "an extent", &to);
    if (status != TESELA_OK) return status;
    if (to < 1)
      return tesela__fail(in->err, TESELA_E_RANGE, (int64_t)at, "%" PRId64 " elements; expected 1 or more",
                          to);
    pads->to[dim] = to;
    status = tesela__read_more(in, '}', false, &more);
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}

static tesela_status device_value_dims(tesela__reader *in, const char *what, tesela__device_text *text) {
  bool more = true;
  text->n_dims = 0;
  if (!tesela__read_take(in, '[')) return tesela__read_unexpected(in, what, "");
  if (tesela__read_take(in, ']')) return TESELA_OK;
  while (more) {
    tesela__device_list one;
    char open = tesela__read_peek(in) == '[' ? '[' : '(';
    size_t at = in->at;
    if (text->n_dims == TESELA_DEVICE_DIMS)
      return tesela__fail(in->err, TESELA_E_LIMIT, (int64_t)at, "more than %d device dims",
                          TESELA_DEVICE_DIMS);
    tesela_status status =
        tesela__device_numbers(in, open, "a device dim, (host dim, step, extent)", TESELA_DEVICE_DIMS, &one);
    if (status != TESELA_OK) return status;
    if (one.n != 3)
      return tesela__fail(in->err, TESELA_E_INVALID, (int64_t)at,
                          "%" PRId32 " number%s; a device dim is (host dim, step, extent)", one.n,
                          one.n == 1 ? "" : "s");
    if (one.number[0] < TESELA_DIM_REPLICATED || one.number[0] >= TESELA_MAX_RANK)
      return tesela__fail(in->err, TESELA_E_RANGE, (int64_t)at,
                          "host dim %" PRId64 "; expected 0 to %d, -1 (synthetic) or -2 (replicated)",
                          one.number[0], TESELA_MAX_RANK - 1);
    tesela_device_dim *dim = &text->dim[text->n_dims++];
    *dim = (tesela_device_dim){.dim = (int32_t)one.number[0], .step = one.number[1], .extent = one.number[2]};
    if (dim->dim < 0 && dim->step == 1) dim->step = 0;
    status = tesela__read_more(in, ']', false, &more);
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}

/* A format, in quotes or as StickFormat.Dense. */
static tesela_status device_value_format(tesela__reader *in, const char *what, tesela_stick_format *format) {
  static const char *const names[] = {
#define TESELA__ROW(symbol, value, name, text) name,
      TESELA_STICK_FORMAT_MAP(TESELA__ROW)
#undef TESELA__ROW
  };
  int quote = tesela__read_peek(in);
  bool quoted = quote == '"' || quote == '\'';
  in->at += quoted;
  size_t length = tesela__read_lump(in, in->at), skip = device_bare(in->text + in->at, length);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (!tesela__same_word(in->text + in->at + skip, length - skip, names[i])) continue;
    in->at += length;
    *format = (tesela_stick_format)i;
    if (!quoted) return TESELA_OK;
    return tesela__read_expect(in, (char)quote, "after a format");
  }
  return tesela__read_unexpected(in, what, "");
}

static tesela_status device_value_dtype(tesela__reader *in, const char *what, tesela_dtype *dtype) {
  size_t length = tesela__read_word(in), skip = device_bare(in->text + in->at, length);
  const char *word = in->text + in->at + skip;
  if (length == 0) return tesela__read_unexpected(in, what, "");
  *dtype = tesela__dtype_alias(word, length - skip);
  for (int32_t i = 0; i < DEVICE_FORMATS && *dtype == TESELA_DTYPE_NONE; i++) {
    const char *name = device_formats[i].name;
    if (!tesela__same_word(word, length - skip, name)) continue;
    *dtype = device_formats[i].dtype;
    if (*dtype == TESELA_DTYPE_NONE)
      return tesela__fail(in->err, TESELA_E_UNSUPPORTED, (int64_t)(in->at + skip),
                          "tesela has no type for elements of format %s", name);
  }
  if (*dtype == TESELA_DTYPE_NONE || tesela_dtype_bytes(*dtype) == 0) {
    const char *near = tesela_nearest(word, length - skip, device_format_at, NULL);
    if (!near) near = tesela_dtype_suggest(word, length - skip);
    return tesela__read_unknown(in, TESELA_E_SYNTAX, in->at + skip, length - skip, "type of an element", "",
                                near, "f16 or SEN169_FP16, ...");
  }
  in->at += length;
  return TESELA_OK;
}

static tesela_status device_value_order(tesela__reader *in, const char *what, tesela_order *order) {
  size_t length = tesela__read_word(in);
  if (length == 0) return tesela__read_unexpected(in, what, "");
  int32_t found = tesela_order_find(in->text + in->at, length);
  if (found < 0) return tesela__read_unknown_of(in, in->at, length, "order", device_order_at);
  in->at += length;
  *order = (tesela_order)found;
  return TESELA_OK;
}

/* Target i of those that a text may name: the caller's, its default, the built-in ones; NULL after the last. */
static const tesela_target *device_any_target(const tesela_device_text_options *options, int32_t i) {
  if (i < options->n_targets) return &options->targets[i];
  i -= options->n_targets;
  if (options->target && i-- == 0) return options->target;
  return tesela_target_at(i);
}

/* The name of target i; "" for a repeated name. */
static const char *device_target_name(const void *user, int32_t i) {
  const tesela_target *target = device_any_target(user, i);
  for (int32_t k = 0; target && k < i; k++)
    if (strcmp(device_any_target(user, k)->name, target->name) == 0) return "";
  return target ? target->name : NULL;
}

static tesela_status device_value_target(tesela__reader *in, const char *what, tesela__device_text *text) {
  const tesela_target *target;
  size_t length = tesela__read_word(in);
  if (length == 0) return tesela__read_unexpected(in, what, "");
  for (int32_t i = 0; (target = device_any_target(text->options, i)) != NULL; i++) {
    if (!tesela__same_word(in->text + in->at, length, target->name)) continue;
    in->at += length;
    text->target = target;
    return TESELA_OK;
  }
  return tesela__read_unknown_among(in, in->at, length, "target", device_target_name, text->options);
}

static tesela_status device_value_arrangement(tesela__reader *in, const char *what) {
  static const char standard[] = "STANDARD";
  size_t length = tesela__read_word(in), skip = device_bare(in->text + in->at, length);
  if (length == 0) return tesela__read_unexpected(in, what, "");
  if (!tesela__same_word(in->text + in->at + skip, length - skip, standard)) {
    char quoted[TESELA__FOUND];
    tesela__read_found(in, in->at + skip, quoted);
    return tesela__fail(in->err, TESELA_E_UNSUPPORTED, (int64_t)(in->at + skip),
                        "element_arrangement %s: device dims do not give the order of elements in a stick; "
                        "only STANDARD is read",
                        quoted);
  }
  in->at += length;
  return TESELA_OK;
}

/* ---- fields ---- */

static tesela_status device_read_value(tesela__reader *in, tesela__device_field field,
                                       tesela__device_text *text) {
  const char *what = device_fields[field].what;
  switch (field) {
  case TESELA__DEVICE_DIM_ORDER:
    return tesela__device_numbers(in, '[', what, TESELA_DEVICE_DIMS, &text->dim_order);
  case TESELA__DEVICE_DEVICE_SIZE:
    return tesela__device_numbers(in, '[', what, TESELA_DEVICE_DIMS, &text->size);
  case TESELA__DEVICE_STRIDE_MAP:
    return tesela__device_numbers(in, '[', what, TESELA_DEVICE_DIMS, &text->stride_map);
  case TESELA__DEVICE_DEVICE_STRIDES:
    return tesela__device_numbers(in, '[', what, TESELA_DEVICE_DIMS, &text->strides);
  case TESELA__DEVICE_DIM_MAP:
    return tesela__device_numbers(in, '[', what, TESELA_DEVICE_DIMS, &text->dim_map);
  case TESELA__DEVICE_STICK:
    return tesela__device_number(in, what, &text->stick);
  case TESELA__DEVICE_STICK_DIMS:
  case TESELA__DEVICE_NUM_STICK_DIMS:
    return tesela__device_number(in, what, &text->stick_dims);
  case TESELA__DEVICE_DEVICE_BITS:
    return tesela__device_number(in, what, &text->device_bits);
  case TESELA__DEVICE_ORDER:
    return device_value_order(in, what, &text->order);
  case TESELA__DEVICE_TARGET:
    return device_value_target(in, what, text);
  case TESELA__DEVICE_PAD_TO:
    return device_value_pads(in, what, &text->padding);
  case TESELA__DEVICE_DIMS:
    return device_value_dims(in, what, text);
  case TESELA__DEVICE_FORMAT:
    return device_value_format(in, what, &text->format);
  case TESELA__DEVICE_DEVICE_DTYPE:
    return device_value_dtype(in, what, &text->device_dtype);
  case TESELA__DEVICE_ARRANGEMENT:
    return device_value_arrangement(in, what);
  case TESELA__DEVICE_FIELDS:
    break;
  }
  return tesela__read_unexpected(in, "a field", "");
}

static tesela_status device_read_field(tesela__reader *in, tesela__device_text *text) {
  bool printed = text->form == TESELA__DEVICE_FORM_PRINTED;
  size_t length = tesela__read_word(in), at = in->at;
  int32_t f = 0;
  if (length == 0) return tesela__read_unexpected(in, "a field, name=value", "");
  while (f < TESELA__DEVICE_FIELDS && (!(printed ? device_fields[f].in_printed : device_fields[f].in_short) ||
                                       !tesela__same_word(in->text + at, length, device_fields[f].name)))
    f++;
  if (f == TESELA__DEVICE_FIELDS)
    return tesela__read_unknown_of(in, in->at, length, "field",
                                   printed ? device_printed_field_at : device_short_field_at);
  if (text->seen >> f & 1)
    return tesela__fail(in->err, TESELA_E_INVALID, (int64_t)at, "%s is given twice", device_fields[f].name);
  in->at += length;
  tesela_status status = tesela__read_expect(in, '=', "after the name of a field");
  if (status != TESELA_OK) return status;
  tesela__read_peek(in);
  text->at[f] = in->at;
  text->seen |= (uint32_t)1 << f;
  return device_read_value(in, (tesela__device_field)f, text);
}

tesela_status tesela__device_read_fields(tesela__reader *in, tesela__device_text *text) {
  bool more = true;
  if (tesela__read_take(in, ')')) return TESELA_OK;
  while (more) {
    tesela_status status = device_read_field(in, text);
    if (status == TESELA_OK) status = tesela__read_more(in, ')', false, &more);
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}
