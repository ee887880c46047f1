/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onednn_tag.c - tags of oneDNN: the dims from the outermost in, capital with a block, then the blocks.
 *
 *   aBcd16b     [a][b/16][c][d][b%16]           nChw16c is the same: images are n c d h w, weights g o i d h w
 */
#include "notation/memory/memory.h"

/* Letters in the order of the dims. */
static const char *const onednn_orders[] = {
    "x",    "nc",    "ncw",    "nchw", "ncdhw", "oi",   "oiw",  "oihw", "oidhw", "goi",
    "goiw", "goihw", "goidhw", "tn",   "tnc",   "ldnc", "ldio", "ldgo", "ldigo",
};

/* Names of oneDNN whose tag differs from their letters. */
static const char *const onednn_misnamed[][2] = {
    {"gIOhw2i8o16i2o", "aBCde2c8b16c2b"},
    {"gIOdhw2i8o16i2o", "aBCdef2c8b16c2b"},
};

static int onednn_letter(char c) {
  return c >= 'a' && c <= 'z' ? c - 'a' : c >= 'A' && c <= 'Z' ? c - 'A' : -1;
}

/* The dim of each letter, from the set of the outer ones; -1 for others. False: no dims have these letters. */
static bool onednn_dims(const int32_t *outer, int32_t n, int32_t dim[26]) {
  uint32_t set = 0, of;
  for (int32_t k = 0; k < n; k++) set |= UINT32_C(1) << outer[k];
  for (int32_t l = 0; l < 26; l++) dim[l] = (set >> l & 1) ? l : -1;
  if (set == (UINT32_C(1) << n) - 1) return true;
  for (size_t i = 0; i < sizeof onednn_orders / sizeof onednn_orders[0]; i++) {
    of = 0;
    for (const char *c = onednn_orders[i]; *c; c++) of |= UINT32_C(1) << (*c - 'a');
    if (of != set) continue;
    for (const char *c = onednn_orders[i]; *c; c++) dim[*c - 'a'] = (int32_t)(c - onednn_orders[i]);
    return true;
  }
  return false;
}

/* The outer letters; capital[l] is the byte of a capital letter plus 1. */
static tesela_status onednn_outer(tesela__reader *r, tesela__blocks *blocks, int32_t dim[26],
                                  size_t capital[26]) {
  int32_t outer[26], n = 0;
  uint32_t seen = 0;
  size_t begin = r->at;
  for (; r->at < r->length && onednn_letter(r->text[r->at]) >= 0; r->at++) {
    int letter = onednn_letter(r->text[r->at]);
    if (seen >> letter & 1)
      return tesela__read_fail(r, TESELA_E_SYNTAX, r->at, "the dim '%c' is listed twice", 'a' + letter);
    if (n == TESELA__ONEDNN_DIMS)
      return tesela__read_fail(r, TESELA_E_LIMIT, r->at, "a tag has at most %d dims", TESELA__ONEDNN_DIMS);
    seen |= UINT32_C(1) << letter;
    if (r->text[r->at] < 'a') capital[letter] = r->at + 1;
    outer[n++] = letter;
  }
  if (n == 0) return tesela__read_unexpected(r, "a letter of a tag, such as aBcd16b", "");
  if (!onednn_dims(outer, n, dim))
    return tesela__read_fail(
        r, TESELA_E_SYNTAX, begin,
        "unknown dims '%.*s'; expected a, b, c, .. or those of oneDNN: nchw, goihw, tnc, ldigo",
        (int)(r->at - begin), r->text + begin);
  blocks->rank = n;
  for (int32_t k = 0; k < n; k++) blocks->order[k] = dim[outer[k]];
  return TESELA_OK;
}

tesela_status tesela__onednn_tag(tesela__reader *r, tesela__blocks *blocks) {
  int32_t dim[26];
  size_t capital[26] = {0};
  bool blocked[26] = {false};
  *blocks = (tesela__blocks){.rank = 0};
  tesela__read_peek(r);
  for (size_t i = 0; i < sizeof onednn_misnamed / sizeof onednn_misnamed[0]; i++)
    if (tesela__read_take_text(r, onednn_misnamed[i][0]))
      return tesela__read_fail(r, TESELA_E_UNSUPPORTED, 0,
                               "oneDNN defines %s as %s, against its letters; write that tag",
                               onednn_misnamed[i][0], onednn_misnamed[i][1]);
  tesela_status status = onednn_outer(r, blocks, dim, capital);
  while (status == TESELA_OK && r->at < r->length && tesela__byte_is(r->text[r->at], TESELA__BYTE_DIGIT)) {
    int64_t extent;
    status = tesela__read_integer(r, "block", 1, INT64_MAX, &extent);
    if (status != TESELA_OK) break;
    int letter = r->at < r->length && r->text[r->at] >= 'a' ? onednn_letter(r->text[r->at]) : -1;
    if (letter < 0 || dim[letter] < 0)
      return tesela__read_unexpected(r, "the letter of a dim of the tag", "");
    if (capital[letter] == 0)
      return tesela__read_fail(r, TESELA_E_SYNTAX, r->at,
                               "the dim '%c' has a block, so it is a capital in the outer dims",
                               'a' + letter);
    if (blocks->n == TESELA__MAX_BLOCKS)
      return tesela__read_fail(r, TESELA_E_LIMIT, r->at, "a tag has at most %d blocks", TESELA__MAX_BLOCKS);
    blocks->inner[blocks->n++] = (tesela__inner_block){dim[letter], extent};
    blocked[letter] = true;
    r->at++;
  }
  if (status == TESELA_OK) status = tesela__text_end(r);
  for (int l = 0; l < 26 && status == TESELA_OK; l++)
    if (capital[l] > 0 && !blocked[l])
      status = tesela__read_fail(r, TESELA_E_SYNTAX, capital[l] - 1,
                                 "the dim '%c' is a capital, but has no block", 'A' + l);
  return status;
}

tesela_status tesela__onednn_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                  tesela_any_layout *out, tesela_error *err) {
  tesela__reader r = {
      .text = text, .length = length, .err = err, .blanks = TESELA__BLANKS_TEXT, .word = TESELA__BYTE_NAME};
  tesela__blocks blocks;
  const tesela_xla_shape *array;
  tesela_status status = tesela__onednn_tag(&r, &blocks);
  if (status == TESELA_OK) status = tesela__memory_array(options, blocks.rank, "the tag", &array, err);
  return status == TESELA_OK ? tesela__memory_blocks(&blocks, options, array, NULL, out, err) : status;
}

void tesela__onednn_put_tag(tesela__sink *sink, const tesela__blocks *blocks) {
  bool blocked[TESELA_MAX_RANK] = {false};
  for (int32_t i = 0; i < blocks->n; i++) blocked[blocks->inner[i].dim] = true;
  for (int32_t k = 0; k < blocks->rank; k++)
    tesela__putc(sink, (char)((blocked[blocks->order[k]] ? 'A' : 'a') + blocks->order[k]));
  for (int32_t i = 0; i < blocks->n; i++) {
    tesela__put_int(sink, blocks->inner[i].extent);
    tesela__putc(sink, (char)('a' + blocks->inner[i].dim));
  }
}

tesela_status tesela__onednn_write(const tesela_layout *layout, const tesela_writer *to,
                                   tesela_translation *answer, tesela_error *err) {
  tesela__blocks blocks;
  tesela__sink sink;
  if (layout->rank < 1 || layout->rank > TESELA__ONEDNN_DIMS)
    return tesela__impossible(answer, "a tag has 1 to %d dims; the layout has %" PRId32, TESELA__ONEDNN_DIMS,
                              layout->rank);
  tesela_status status = tesela__blocks_find(layout, "tag", &blocks, answer, err);
  if (status != TESELA_OK || answer->verdict == TESELA_IMPOSSIBLE) return status;
  if (blocks.n > TESELA__ONEDNN_DIMS)
    return tesela__impossible(answer, "a tag has at most %d inner blocks; the layout needs %" PRId32,
                              TESELA__ONEDNN_DIMS, blocks.n);
  tesela__sink_init(&sink, to);
  tesela__onednn_put_tag(&sink, &blocks);
  return tesela__sink_finish(&sink, err);
}
