/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onednn_verbose.c - one tensor of a line that ONEDNN_VERBOSE prints, or its part alone.
 *
 *   onednn_verbose,v1,primitive,exec,cpu,reorder,..,src_f32::blocked:abcd::f0 dst_bf16:p:blocked:aBcd16b::f0,,,2x17x3x5,0.03
 *   dst onednn_verbose,..         the tensor dst of the line; without a name the first one
 *   f32[2,17,3,5] src_f32::blocked:aBcd16b::f0
 *
 * A tensor is NAME_TYPE (or NAME:TYPE):FLAGS:KIND:TAG:STRIDES:fEXTRA. Dims are 2x17x3x5, one list or one for each source, or
 * mb2_ic16oc32_ih7oh5kh3..: those of convolutions. Written is one tensor without its line: src_f32::blocked:aBcd16b::f0.
 */
#include "notation/memory/memory.h"

/* A part of the text. */
typedef struct verbose_part {
  const char *text;
  size_t length;
} verbose_part;

typedef struct verbose_tensor {
  verbose_part name, type, flags, kind, tag, strides;
  int32_t number; /* among the tensors of the line */
} verbose_tensor;

static bool verbose_same(verbose_part part, const char *word) {
  return tesela__same_word(part.text, part.length, word);
}

/* The part up to `end`, which is removed with `end`, from the front of a text. */
static verbose_part verbose_next(verbose_part *rest, char end) {
  const char *stop = memchr(rest->text, end, rest->length);
  verbose_part part = {rest->text, stop ? (size_t)(stop - rest->text) : rest->length};
  size_t used = part.length + (stop != NULL);
  rest->text += used;
  rest->length -= used;
  return part;
}

static bool verbose_is_marker(const char *text, size_t length) {
  return (length > 14 && memcmp(text, "onednn_verbose", 14) == 0) ||
         (length > 14 && memcmp(text, "mkldnn_verbose", 14) == 0) ||
         (length > 12 && memcmp(text, "dnnl_verbose", 12) == 0);
}

bool tesela__looks_verbose(const char *text, size_t length) {
  size_t at = 0;
  if (verbose_is_marker(text, length)) return true;
  while (at < length && tesela__byte_is(text[at], TESELA__BYTE_NAME)) at++;
  if (at == 0 || at == length) return false;
  if (text[at] == ' ') return verbose_is_marker(text + at + 1, length - at - 1);
  for (; text[at] == ':' && at + 9 < length; at++) {
    if (memcmp(text + at, ":blocked:", 9) == 0) return true;
    while (at + 1 < length && (tesela__byte_is(text[at + 1], TESELA__BYTE_NAME))) at++;
  }
  return false;
}

/* ---- types -------------------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  tesela_dtype dtype;
} verbose_types[] = {
    {"f32", TESELA_F32},
    {"f16", TESELA_F16},
    {"bf16", TESELA_BF16},
    {"f64", TESELA_F64},
    {"s64", TESELA_S64},
    {"s32", TESELA_S32},
    {"s8", TESELA_S8},
    {"u8", TESELA_U8},
    {"s4", TESELA_S4},
    {"u4", TESELA_U4},
    {"boolean", TESELA_PRED},
    {"f8_e5m2", TESELA_F8E5M2},
    {"f8_e4m3", TESELA_F8E4M3FN},
    {"e8m0", TESELA_F8E8M0FNU},
    {"f4_e2m1", TESELA_F4E2M1FN},
};

enum { VERBOSE_TYPES = sizeof verbose_types / sizeof verbose_types[0] };

static tesela_dtype verbose_type(verbose_part part) {
  for (size_t i = 0; i < VERBOSE_TYPES; i++)
    if (verbose_same(part, verbose_types[i].name)) return verbose_types[i].dtype;
  return TESELA_DTYPE_NONE;
}

/* ---- tensors ------------------------------------------------------------------------------------------------ */

/* The colons of "src_f32::blocked:aBcd16b::f0"; false: no tensor. */
static bool verbose_split_tensor(verbose_part part, verbose_tensor *t) {
  verbose_part rest = part;
  t->name = verbose_next(&rest, ':');
  t->type = (verbose_part){NULL, 0};
  for (size_t i = 0; i < t->name.length && !t->type.text; i++) {
    verbose_part type = {t->name.text + i + 1, t->name.length - i - 1};
    if (t->name.text[i] != '_' || (verbose_type(type) == TESELA_DTYPE_NONE && !verbose_same(type, "undef")))
      continue;
    t->type = type;
    t->name.length = i;
  }
  if (!t->type.text) t->type = verbose_next(&rest, ':');
  t->flags = verbose_next(&rest, ':');
  t->kind = verbose_next(&rest, ':');
  t->tag = verbose_next(&rest, ':');
  t->strides = verbose_next(&rest, ':');
  if (t->strides.length > 0 && t->strides.text[0] == 'f') t->strides.length = 0; /* before oneDNN 3: fEXTRA */
  return t->name.length > 0 && t->kind.length > 0 &&
         (verbose_type(t->type) != TESELA_DTYPE_NONE || verbose_same(t->type, "undef"));
}

/* The tensor of a name, or the first one, of those in a field, which blanks separate. */
static bool verbose_find_tensor(verbose_part field, verbose_part wanted, verbose_tensor *t) {
  for (int32_t i = 0; field.length > 0; i++) {
    verbose_part part = verbose_next(&field, ' ');
    if (!verbose_split_tensor(part, t)) return false;
    t->number = i;
    if (wanted.length == 0 ||
        (wanted.length == t->name.length && memcmp(wanted.text, t->name.text, wanted.length) == 0))
      return true;
  }
  return false;
}

/* ---- dims --------------------------------------------------------------------------------------------------- */

/* "2x17x3x5": how many; 0 for another text. */
static int32_t verbose_numbers(verbose_part part, int64_t *number) {
  tesela__reader r = {.text = part.text, .length = part.length};
  int32_t n = 0;
  size_t end;
  do {
    if (n == TESELA_MAX_RANK || r.at == r.length || !tesela__byte_is(r.text[r.at], TESELA__BYTE_DIGIT) ||
        tesela__read_scan(&r, &end, &number[n]) != 1)
      return 0;
    n++;
    r.at = end;
  } while (r.at < r.length && r.text[r.at++] == 'x');
  return r.at == r.length && r.text[r.length - 1] != 'x' ? n : 0;
}

/* The number after a key of "mb2_ic16oc32_ih7": -1 without it. */
static int64_t verbose_key(verbose_part part, const char *key) {
  for (size_t at = 0, word = 0; at < part.length; at++, word = at) {
    tesela__reader r = {.text = part.text, .length = part.length};
    int64_t value;
    while (at < part.length && part.text[at] >= 'a' && part.text[at] <= 'z') at++;
    bool same = tesela__same_word(part.text + word, at - word, key);
    r.at = at;
    if (at == part.length || !tesela__byte_is(part.text[at], TESELA__BYTE_DIGIT) ||
        tesela__read_scan(&r, &at, &value) != 1)
      continue;
    if (same) return value;
    at--; /* the next key begins directly after the number */
  }
  return -1;
}

/* The dims of a tensor of a convolution, from its name and rank; false: not all are known. */
static bool verbose_conv_dims(verbose_part problem, const verbose_tensor *t, int32_t rank, int64_t *dim) {
  static const char *const spatial[3][3] = {{"id", "ih", "iw"}, {"od", "oh", "ow"}, {"kd", "kh", "kw"}};
  verbose_part name = t->name;
  if (name.length > 5 && memcmp(name.text, "diff_", 5) == 0)
    name = (verbose_part){name.text + 5, name.length - 5};
  bool weights = verbose_same(name, "wei"), target = verbose_same(name, "dst"),
       bias = verbose_same(name, "bia");
  int64_t groups = verbose_key(problem, "g"), in = verbose_key(problem, "ic"),
          out = verbose_key(problem, "oc");
  int32_t n = 0, kind = weights ? 2 : target ? 1 : 0;
  if (out < 0 && !weights) out = in;
  if (bias) {
    dim[n++] = out;
  } else if (weights) {
    if (groups > 0) dim[n++] = groups;
    if (groups > 0 && (in % groups != 0 || out % groups != 0)) return false;
    dim[n++] = groups > 0 ? out / groups : out;
    dim[n++] = groups > 0 ? in / groups : in;
  } else {
    dim[n++] = verbose_key(problem, "mb");
    dim[n++] = target ? out : in;
  }
  if (rank < n || rank > n + 3 || (bias && rank != 1)) return false;
  for (int32_t k = 3 - (rank - n); k < 3; k++, n++) {
    dim[n] = verbose_key(problem, spatial[kind][k]);
    if (dim[n] < 0) dim[n] = verbose_key(problem, spatial[0][k]); /* weights of an inner product */
  }
  for (int32_t k = 0; k < n; k++)
    if (dim[k] < 0) return false;
  return true;
}

/* The dims of the tensor from the fields after the tensors. */
static bool verbose_dims(verbose_part rest, const verbose_tensor *t, int32_t rank, int64_t *dim) {
  while (rest.length > 0) {
    verbose_part field = verbose_next(&rest, ',');
    int64_t number[TESELA_MAX_RANK];
    verbose_part lists = field, first = verbose_next(&lists, ':');
    if (verbose_numbers(first, number) > 0) {
      bool source =
          t->name.length >= 3 && memcmp(t->name.text, "dst", 3) != 0 && memcmp(t->name.text, "bia", 3) != 0;
      if (lists.length > 0 && !source) return false;
      for (int32_t i = 0; i < t->number && lists.length > 0; i++) first = verbose_next(&lists, ':');
      return verbose_numbers(first, dim) == rank;
    }
    if (verbose_key(field, "mb") >= 0 || (verbose_key(field, "g") >= 0 && verbose_key(field, "ic") >= 0))
      return verbose_conv_dims(field, t, rank, dim);
  }
  return false;
}

/* ---- reading ------------------------------------------------------------------------------------------------ */

static tesela_status verbose_fail(const tesela__reader *r, verbose_part at, tesela_status status,
                                  const char *what) {
  char quoted[TESELA__QUOTE];
  return tesela__read_fail(r, status, (size_t)(at.text - r->text), "%s: '%s'", what,
                           tesela__quote(at.text, at.length, quoted));
}

/* The tensor that the text means, and what follows the tensors. */
static tesela_status verbose_tensor_of(const tesela__reader *r, verbose_tensor *t, verbose_part *rest) {
  verbose_part text = {r->text, r->length}, wanted = {r->text, 0}, field;
  *rest = text;
  if (!verbose_is_marker(text.text, text.length) && memchr(text.text, ',', text.length) == NULL) {
    rest->length = 0;
    if (verbose_find_tensor(text, wanted, t)) return TESELA_OK;
  } else {
    if (!verbose_is_marker(text.text, text.length)) wanted = verbose_next(rest, ' ');
    if (memchr(wanted.text, ':', wanted.length)) { /* a tensor, without the fields before */
      *rest = text;
      wanted.length = 0;
    }
    while (rest->length > 0) {
      field = verbose_next(rest, ',');
      verbose_tensor first;
      if (!verbose_find_tensor(field, (verbose_part){field.text, 0}, &first)) continue;
      if (verbose_find_tensor(field, wanted, t)) return TESELA_OK;
      return verbose_fail(r, wanted, TESELA_E_INVALID, "the line has no tensor of this name");
    }
  }
  return tesela__read_fail(r, TESELA_E_SYNTAX, 0,
                           "expected a tensor, such as src_f32::blocked:aBcd16b::f0, in the line");
}

static tesela_status verbose_check(const tesela__reader *r, const verbose_tensor *t,
                                   const tesela__blocks *blocks) {
  if (memchr(t->flags.text, 'o', t->flags.length) || memchr(t->flags.text, '0', t->flags.length))
    return verbose_fail(r, t->flags, TESELA_E_UNSUPPORTED, "an offset that the line does not have");
  if (memchr(t->flags.text, 'p', t->flags.length) && blocks->n == 0)
    return verbose_fail(r, t->flags, TESELA_E_UNSUPPORTED,
                        "padded dims without blocks: the line does not have their extents");
  return TESELA_OK;
}

tesela_status tesela__verbose_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                   tesela_any_layout *out, tesela_error *err) {
  while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r' || text[length - 1] == ' '))
    length--;
  tesela__reader r = {.text = text, .length = length, .err = err};
  tesela_xla_shape array = {.rank = 0};
  verbose_tensor t;
  verbose_part rest;
  tesela__blocks blocks;
  int64_t strides[TESELA_MAX_RANK], dim[TESELA_MAX_RANK] = {0};
  int32_t n_strides = 0;
  tesela_status status = verbose_tensor_of(&r, &t, &rest);
  if (status != TESELA_OK) return status;
  if (!verbose_same(t.kind, "blocked"))
    return verbose_fail(&r, t.kind, TESELA_E_UNSUPPORTED, "this kind of memory has no documented places");
  if (verbose_same(t.tag, "*"))
    return verbose_fail(&r, t.tag, TESELA_E_UNSUPPORTED, "strides known at run time only");
  tesela__reader tag = {.text = text,
                        .length = (size_t)(t.tag.text - text) + t.tag.length,
                        .err = err,
                        .word = TESELA__BYTE_NAME,
                        .at = (size_t)(t.tag.text - text)};
  status = tesela__onednn_tag(&tag, &blocks);
  if (status == TESELA_OK) status = verbose_check(&r, &t, &blocks);
  if (status == TESELA_OK && t.strides.length > 0 &&
      (n_strides = verbose_numbers(t.strides, strides)) != blocks.rank)
    status =
        verbose_fail(&r, t.strides, TESELA_E_SYNTAX, "expected the strides of all dims, such as 408x24x8x1");
  if (status != TESELA_OK) return status;
  bool in_line = verbose_dims(rest, &t, blocks.rank, dim);
  if (options->array) {
    array = *options->array;
    if (array.rank != blocks.rank)
      return tesela__fail(err, TESELA_E_MISMATCH, 0, "the tag has %" PRId32 " dims; the array has %" PRId32,
                          blocks.rank, array.rank);
    if (in_line && memcmp(dim, array.dim, (size_t)array.rank * sizeof dim[0]) != 0)
      return tesela__fail(err, TESELA_E_MISMATCH, 0, "the line gives this tensor other dims than the array");
  } else if (!in_line) {
    return tesela__fail(
        err, TESELA_E_UNSUPPORTED, (int64_t)(t.name.text - text),
        "the line does not have the dims of this tensor: write them before it, as in f32[2,16,7,7]");
  } else {
    array.rank = blocks.rank;
    memcpy(array.dim, dim, sizeof dim);
  }
  array.dtype = verbose_type(t.type);
  status = tesela__memory_blocks(&blocks, options, &array, n_strides > 0 ? strides : NULL, out, err);
  return status;
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

typedef struct verbose_writing {
  tesela__tiled found;
  bool dense; /* the strides follow from the order */
} verbose_writing;

/* The dims from the largest stride on; their strides are dense if each is that of all dims after it. */
static bool verbose_fit(void *user, const tesela__parts *parts, int32_t rank, const int64_t *shape) {
  verbose_writing *w = user;
  tesela__blocks *blocks = &w->found.blocks;
  int64_t outer[TESELA_MAX_RANK], size = 1;
  if (!tesela__fit_tiled(&w->found, parts, rank, shape) || !tesela__tiled_strides(&w->found, shape))
    return false;
  if (blocks->n > TESELA__ONEDNN_DIMS) return false;
  for (int32_t d = 0; d < rank; d++) outer[d] = shape[d];
  for (int32_t i = blocks->n - 1; i >= 0; i--)
    outer[blocks->inner[i].dim] = tesela__ceil_div(outer[blocks->inner[i].dim], blocks->inner[i].extent);
  for (int32_t k = 1; k < rank; k++)
    for (int32_t j = k; j > 0 && w->found.strides[blocks->order[j - 1]] < w->found.strides[blocks->order[j]];
         j--) {
      int32_t d = blocks->order[j];
      blocks->order[j] = blocks->order[j - 1];
      blocks->order[j - 1] = d;
    }
  size = w->found.size;
  w->dense = true;
  for (int32_t k = rank - 1; k >= 0 && w->dense; k--) {
    int32_t d = blocks->order[k];
    w->dense = outer[d] < 2 || w->found.strides[d] == size;
    w->dense = w->dense && tesela__mul(size, tesela__max(outer[d], 1), &size);
  }
  return true;
}

tesela_status tesela__verbose_write(const tesela_layout *layout, const tesela_writer *to,
                                    tesela_translation *answer, tesela_error *err) {
  verbose_writing w = {.dense = false};
  const char *type = layout->dtype == TESELA_DTYPE_NONE ? "undef" : NULL;
  tesela__sink sink;
  bool padded = false;
  for (int32_t i = 0; i < VERBOSE_TYPES && !type; i++)
    if (verbose_types[i].dtype == layout->dtype) type = verbose_types[i].name;
  if (!type) return tesela__impossible(answer, "oneDNN has no type for %s", tesela_dtype_name(layout->dtype));
  if (layout->rank < 1 || layout->rank > TESELA__ONEDNN_DIMS || layout->n_axes != 1)
    return tesela__impossible(
        answer, "a tag has 1 to %d dims in one memory; the layout has %" PRId32 " and %" PRId32 " axes",
        TESELA__ONEDNN_DIMS, layout->rank, layout->n_axes);
  tesela_status status = tesela__find_parts(layout, "tag with strides in whole blocks", TESELA__PARTS_SHARED,
                                            verbose_fit, &w, layout->shape, answer, err);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  const tesela__blocks *blocks = &w.found.blocks;
  for (int32_t d = 0; d < blocks->rank; d++) {
    int64_t block = 1;
    for (int32_t i = 0; i < blocks->n; i++)
      if (blocks->inner[i].dim == d) block *= blocks->inner[i].extent; /* part of the places */
    padded = padded || layout->shape[d] % block != 0;
  }
  tesela__sink_init(&sink, to);
  tesela__putf(&sink, "src_%s:%s:blocked:", type, padded ? "p" : "");
  tesela__onednn_put_tag(&sink, blocks);
  tesela__putc(&sink, ':');
  for (int32_t d = 0; d < blocks->rank && !w.dense; d++)
    tesela__putf(&sink, "%s%" PRId64, d ? "x" : "", w.found.strides[d]);
  tesela__puts(&sink, ":f0");
  return tesela__sink_finish(&sink, err);
}
