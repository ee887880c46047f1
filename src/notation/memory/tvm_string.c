/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvm_string.c - layout strings of TVM: the dims of the array as capitals in their order, and blocks of them.
 *
 *   NCHW16c     [n][c/16][h][w][c%16]           a block may be before a capital: NC16cHW
 */
#include "notation/memory/memory.h"

enum { TVM_DIMS = 26 };

typedef struct tvm_axis {
  int32_t letter;
  int64_t extent; /* 0: a capital */
  size_t at;
} tvm_axis;

/* The axes of a string, outermost first; dim[l] is the dim of a letter, or -1. */
static tesela_status tvm_axes(tesela__reader *r, tvm_axis *axis, int32_t *n, int32_t dim[26], int32_t *rank) {
  *n = *rank = 0;
  for (int32_t l = 0; l < 26; l++) dim[l] = -1;
  tesela__read_peek(r);
  while (r->at < r->length && *n < TESELA__MAX_BLOCKS) {
    tvm_axis next = {.at = r->at};
    char c = r->text[r->at];
    if (c >= 'A' && c <= 'Z') {
      next.letter = c - 'A';
      if (dim[next.letter] >= 0)
        return tesela__read_fail(r, TESELA_E_SYNTAX, r->at, "the dim '%c' is listed twice", c);
      dim[next.letter] = (*rank)++;
    } else if (c >= '0' && c <= '9') {
      tesela_status status = tesela__read_integer(r, "block", 1, INT64_MAX, &next.extent);
      if (status != TESELA_OK) return status;
      c = r->at < r->length ? r->text[r->at] : '\0';
      if (c < 'a' || c > 'z') return tesela__read_unexpected(r, "the small letter of a dim", "");
      next.at = r->at;
      next.letter = c - 'a';
    } else if (c >= 'a' && c <= 'z') {
      return tesela__read_fail(r, TESELA_E_SYNTAX, r->at,
                               "the block '%c' has no size: expected a number before it", c);
    } else {
      break;
    }
    axis[(*n)++] = next;
    r->at++;
  }
  if (*n == 0) return tesela__read_unexpected(r, "a dim as a capital, such as NCHW16c", "");
  return *n == TESELA__MAX_BLOCKS && tesela__read_peek(r) >= 0
             ? tesela__read_fail(r, TESELA_E_LIMIT, r->at, "more than %d dims and blocks",
                                 TESELA__MAX_BLOCKS - 1)
             : tesela__text_end(r);
}

tesela_status tesela__tvm_read(const char *text, size_t length, const tesela_layout_read_options *options,
                               tesela_any_layout *out, tesela_error *err) {
  tesela__reader r = {.text = text, .length = length, .err = err, .blanks = TESELA__BLANKS_TEXT};
  tesela__blocks blocks = {.rank = 0};
  tvm_axis axis[TESELA__MAX_BLOCKS];
  int32_t dim[26], n;
  int64_t outer[26];
  const tesela_xla_shape *array = NULL;
  bool inner = false;
  tesela_status status = tvm_axes(&r, axis, &n, dim, &blocks.rank);
  for (int32_t i = 0; i < n && status == TESELA_OK; i++)
    if (dim[axis[i].letter] < 0)
      status = tesela__read_fail(&r, TESELA_E_SYNTAX, axis[i].at, "the block '%c' has no dim '%c'",
                                 'a' + axis[i].letter, 'A' + axis[i].letter);
  if (status == TESELA_OK) status = tesela__memory_array(options, blocks.rank, "the string", &array, err);
  if (status != TESELA_OK) return status;
  for (int32_t d = 0; d < blocks.rank; d++) {
    blocks.order[d] = d;
    outer[d] = array->dim[d];
  }
  for (int32_t i = 0; i < n; i++)
    if (axis[i].extent > 0)
      outer[dim[axis[i].letter]] = tesela__ceil_div(outer[dim[axis[i].letter]], axis[i].extent);
  for (int32_t i = 0; i < n; i++) { /* a dim after a block is a block itself */
    int32_t d = dim[axis[i].letter];
    inner = inner || axis[i].extent > 0;
    if (inner)
      blocks.inner[blocks.n++] =
          (tesela__inner_block){d, axis[i].extent > 0 ? axis[i].extent : tesela__max(outer[d], 1)};
  }
  return tesela__memory_blocks(&blocks, options, array, NULL, out, err);
}

tesela_status tesela__tvm_write(const tesela_layout *layout, const tesela_writer *to,
                                tesela_translation *answer, tesela_error *err) {
  static const char *const usual[] = {"", "N", "NC", "NCW", "NCHW", "NCDHW"};
  const char *letters = layout->rank <= 5 ? usual[layout->rank] : "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  tesela__blocks blocks;
  tesela__sink sink;
  if (layout->rank < 1 || layout->rank > TVM_DIMS)
    return tesela__impossible(answer, "a string has 1 to %d dims; the layout has %" PRId32, TVM_DIMS,
                              layout->rank);
  tesela_status status = tesela__blocks_find(layout, "string", &blocks, answer, err);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  if (!tesela__blocks_in_order(&blocks, layout->shape) || blocks.rank + blocks.n >= TESELA__MAX_BLOCKS)
    return tesela__impossible(answer, "the layout needs more than %d dims and blocks",
                              TESELA__MAX_BLOCKS - 1);
  tesela__sink_init(&sink, to);
  tesela__put(&sink, letters, (size_t)blocks.rank);
  for (int32_t i = 0; i < blocks.n; i++) {
    tesela__put_int(&sink, blocks.inner[i].extent);
    tesela__putc(&sink, (char)(letters[blocks.inner[i].dim] - 'A' + 'a'));
  }
  return tesela__sink_finish(&sink, err);
}
