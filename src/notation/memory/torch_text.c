/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch_text.c - size, stride and offset of a PyTorch tensor, as it prints them.
 *
 *   torch.Size([2, 3]) (3, 1)                torch.Size([2, 3]) stride (3, 1)                (2, 3) (3, 1)
 *   size=(2, 3), stride=(3, 1), storage_offset=4, dtype=torch.float32
 */
#include "layout/layout.h"
#include "notation/memory/memory.h"

typedef struct torch_text {
  int64_t size[TESELA_MAX_RANK], stride[TESELA_MAX_RANK], offset;
  int32_t n_size, n_stride; /* -1: missing */
  tesela_dtype dtype;
} torch_text;

static const char *torch_word_at(int32_t i) {
  static const char *const words[] = {"size", "shape", "stride", "storage_offset", "dtype", NULL};
  return words[i];
}

static tesela_status torch_list(tesela__reader *r, const char *what, int64_t *list, int32_t *n) {
  bool open = tesela__read_peek(r) == '(';
  if (*n >= 0) return tesela__read_fail(r, TESELA_E_SYNTAX, r->at, "the %s is given twice", what);
  tesela_status status =
      tesela__read_integers(r, open ? '(' : '[', true, what, TESELA_E_OVERFLOW, TESELA_MAX_RANK, list, n);
  for (int32_t d = 0; status == TESELA_OK && d < *n; d++)
    if (list[d] < 0)
      status = tesela__read_fail(r, TESELA_E_RANGE, r->at, "a %s is %" PRId64 "; expected 0 or more", what,
                                 list[d]);
  return status;
}

/* "torch.Size([2, 3])" after the word. */
static tesela_status torch_size(tesela__reader *r, torch_text *t) {
  tesela_status status = tesela__read_expect(r, '(', "after Size");
  if (status == TESELA_OK) status = torch_list(r, "size", t->size, &t->n_size);
  return status == TESELA_OK ? tesela__read_expect(r, ')', "after the sizes") : status;
}

/* The value of a word, after "=", ":" or nothing. */
static tesela_status torch_value(tesela__reader *r, size_t at, size_t length, torch_text *t) {
  const char *word = r->text + at;
  bool size = tesela__same_word(word, length, "size") || tesela__same_word(word, length, "shape");
  r->at = at + length;
  if (!size && !tesela__same_word(word, length, "stride") && !tesela__same_word(word, length, "strides") &&
      !tesela__same_word(word, length, "storage_offset") && !tesela__same_word(word, length, "dtype")) {
    r->at = at;
    return tesela__read_unknown_of(r, at, length, "word", torch_word_at);
  }
  if (!tesela__read_take(r, '=')) (void)tesela__read_take(r, ':');
  if (size && tesela__read_take_text(r, "torch.Size")) return torch_size(r, t);
  if (size) return torch_list(r, "size", t->size, &t->n_size);
  if (word[0] == 's' && word[2] == 'r') return torch_list(r, "stride", t->stride, &t->n_stride);
  if (word[0] == 's') return tesela__read_integer(r, "storage_offset", 0, INT64_MAX, &t->offset);
  size_t type = tesela__read_word(r);
  tesela_status status = tesela_dtype_read(r->text + r->at, type, &t->dtype, r->err);
  if (status != TESELA_OK && r->err) r->err->at = (int64_t)r->at;
  r->at += type;
  return status;
}

static tesela_status torch_parts(tesela__reader *r, torch_text *t) {
  tesela_status status = TESELA_OK;
  while (status == TESELA_OK && tesela__read_peek(r) >= 0) {
    size_t length = tesela__read_word(r);
    if (tesela__read_take_text(r, "torch.Size") || tesela__read_take_text(r, "Size"))
      status = torch_size(r, t);
    else if (length > 0)
      status = torch_value(r, r->at, length, t);
    else if (tesela__read_peek(r) == '(' && t->n_size < 0)
      status = torch_list(r, "size", t->size, &t->n_size);
    else if (tesela__read_peek(r) == '(')
      status = torch_list(r, "stride", t->stride, &t->n_stride);
    else
      return tesela__read_unexpected(r, "size, stride, storage_offset or dtype", "");
    if (status == TESELA_OK) (void)tesela__read_take(r, ',');
  }
  return status;
}

tesela_status tesela__torch_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                 tesela_any_layout *out, tesela_error *err) {
  tesela__reader r = {.text = text,
                      .length = length,
                      .err = err,
                      .blanks = TESELA__BLANKS_TEXT,
                      .word = TESELA__BYTE_NAME | TESELA__BYTE_DOT};
  torch_text t = {.n_size = -1, .n_stride = -1};
  const tesela_xla_shape *array = options->array;
  int32_t bits;
  tesela_dtype dtype = tesela__given_dtype(options, &bits);
  tesela_status status = torch_parts(&r, &t);
  if (status != TESELA_OK) return status;
  if (t.n_stride < 0) return tesela__read_unexpected(&r, "a stride, such as (3, 1)", "");
  if (t.n_size < 0 && !array)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, 0,
                        "expected a size, or an array before the text, such as f32[2,3]");
  if (t.n_size < 0) memcpy(t.size, array->dim, sizeof t.size);
  if (t.n_size < 0) t.n_size = array->rank;
  if (t.n_size != t.n_stride)
    return tesela__fail(err, TESELA_E_MISMATCH, 0, "%" PRId32 " strides of %" PRId32 " dims", t.n_stride,
                        t.n_size);
  if (dtype == TESELA_DTYPE_NONE && t.dtype != TESELA_DTYPE_NONE) {
    dtype = t.dtype;
    bits = 8 * tesela_dtype_bytes(dtype);
  }
  out->kind = TESELA_KIND_RELATION;
  status = tesela_layout_strided(&out->relation, dtype, bits, t.n_size, t.size, t.stride, t.offset, err);
  return status == TESELA_OK ? tesela__memory_valid(options, &out->relation, err) : status;
}

static void torch_print_list(tesela__sink *sink, const char *word, const int64_t *list, int32_t n) {
  tesela__puts(sink, word);
  for (int32_t d = 0; d < n; d++) {
    tesela__puts(sink, d ? ", " : "(");
    tesela__put_int(sink, list[d]);
  }
  tesela__puts(sink, n == 0 ? "()" : n == 1 ? ",)" : ")");
}

/* Is a neighbour of element 0 before it? The first such element contradicts, unless an earlier one does. */
static bool torch_backwards(const tesela_layout *layout, tesela_translation *answer) {
  int64_t index[TESELA_MAX_RANK] = {0}, first, place;
  if (layout->n_axes != 1 || tesela__is_empty(layout) || tesela_layout_copies(layout) != 1) return false;
  (void)tesela_layout_place_of(layout, index, &first, NULL);
  for (int32_t d = layout->rank - 1; d >= 0; d--, index[d + 1] = 0) {
    index[d] = layout->shape[d] > 1;
    if (index[d] == 0 || tesela_layout_place_of(layout, index, &place, NULL) != TESELA_OK || place >= first)
      continue;
    if (answer->contradiction != TESELA_CONTRADICTION_NONE &&
        tesela_index_compare(layout->rank, answer->index, index) < 0)
      return false;
    answer->contradiction = TESELA_CONTRADICTION_ELEMENT;
    answer->place = place;
    memcpy(answer->index, index, sizeof index);
    (void)tesela__impossible(answer,
                             "dim %" PRId32 " has the stride %" PRId64 "; those of PyTorch are 0 or more", d,
                             place - first);
    return true;
  }
  return false;
}

tesela_status tesela__torch_write(const tesela_layout *layout, const tesela_writer *to,
                                  tesela_translation *answer, tesela_error *err) {
  int64_t strides[TESELA_MAX_RANK], offset;
  tesela__sink sink;
  tesela_status status = tesela__strided_find(layout, strides, &offset, answer, err);
  if (status == TESELA_OK && torch_backwards(layout, answer)) return TESELA_OK;
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  tesela__sink_init(&sink, to);
  torch_print_list(&sink, "size=", layout->shape, layout->rank);
  torch_print_list(&sink, ", stride=", strides, layout->rank);
  if (offset > 0) tesela__putf(&sink, ", storage_offset=%" PRId64, offset);
  return tesela__sink_finish(&sink, err);
}
