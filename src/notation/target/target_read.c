/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target_read.c - a target from text: one `key value` per line, by a table of keys.
 *
 * After each line the target is checked as a whole, so that an inconsistency is reported at the line that causes it.
 */
#include "notation/target/target_text.h"

/* ---- values ---- */

static tesela_status target_read_name(tesela__target_reader *r) {
  r->in.word = TESELA__TARGET_NAME;
  size_t length = tesela__target_word(r);
  r->in.word = TESELA__TARGET_WORD;
  if (length == 0) return tesela__read_unexpected(&r->in, "a name of letters, digits, _ . and -", "");
  if (length >= TESELA_TARGET_NAME)
    return tesela__read_fail(&r->in, TESELA_E_LIMIT, r->in.at, "a name of %zu bytes; expected 1 to %d",
                             length, TESELA_TARGET_NAME - 1);
  memset(r->target->name, 0, sizeof r->target->name);
  memcpy(r->target->name, r->in.text + r->in.at, length);
  r->in.at += length;
  return TESELA_OK;
}

static const char *target_built_in_at(int32_t i) {
  const tesela_target *target = tesela_target_at(i);
  return target ? target->name : NULL;
}

/* Copy everything except the name from a built-in target. */
static tesela_status target_read_like(tesela__target_reader *r) {
  size_t length = tesela__target_word(r);
  if (length == 0) return tesela__read_unexpected(&r->in, "the name of a built-in target", "");
  for (int32_t i = 0; target_built_in_at(i); i++) {
    if (!tesela__same_word(r->in.text + r->in.at, length, target_built_in_at(i))) continue;
    tesela_target base = *tesela_target_at(i);
    memcpy(base.name, r->target->name, sizeof base.name);
    *r->target = base;
    r->in.at += length;
    return TESELA_OK;
  }
  return tesela__read_unknown_of(&r->in, r->in.at, length, "built-in target", target_built_in_at);
}

static const char *target_order_at(int32_t i) { return tesela_order_name((tesela_order)i); }

/* generic, or tiles 32x32 16x16 */
static tesela_status target_read_order(tesela__target_reader *r) {
  size_t length = tesela__target_word(r);
  if (length == 0) return tesela__read_unexpected(&r->in, "an order, generic or tiles 32x32 16x16", "");
  int32_t order = tesela_order_find(r->in.text + r->in.at, length);
  if (order < 0) return tesela__read_unknown_of(&r->in, r->in.at, length, "order", target_order_at);
  r->in.at += length;
  r->target->order = (tesela_order)order;
  r->target->n_tiles = 0;
  memset(r->target->tile, 0, sizeof r->target->tile);
  if (order != TESELA_ORDER_TILES) return TESELA_OK;
  while (tesela__read_peek(&r->in) >= 0) {
    int64_t *tile = r->target->tile[r->target->n_tiles];
    if (r->target->n_tiles == TESELA_TARGET_TILES)
      return tesela__read_fail(&r->in, TESELA_E_LIMIT, r->in.at, "more than %d levels of tiles",
                               TESELA_TARGET_TILES);
    r->in.glue = 0; /* 32x32 */
    tesela_status status = tesela__read_integer(&r->in, "rows of a tile", 1, 1 << 20, &tile[0]);
    r->in.glue = TESELA__TARGET_WORD;
    if (status == TESELA_OK && (r->in.at >= r->in.length || r->in.text[r->in.at] != 'x'))
      return tesela__read_unexpected(&r->in, "x and the columns of the tile, 32x32", "");
    r->in.at++;
    if (status == TESELA_OK) status = tesela__read_integer(&r->in, "columns of a tile", 1, 1 << 20, &tile[1]);
    if (status != TESELA_OK) return status;
    r->target->n_tiles++;
  }
  return r->target->n_tiles > 0 ? TESELA_OK : tesela__read_unexpected(&r->in, "tiles, 32x32 16x16", "");
}

static tesela_status target_read_flag(tesela__target_reader *r, bool *flag) {
  bool yes = tesela__read_take_text(&r->in, "yes");
  if (!yes && !tesela__read_take_text(&r->in, "no")) return tesela__read_unexpected(&r->in, "yes or no", "");
  *flag = yes;
  return TESELA_OK;
}

static tesela_status target_read_sparse(tesela__target_reader *r) {
  return target_read_flag(r, &r->target->sparse);
}
static tesela_status target_read_keep(tesela__target_reader *r) {
  return target_read_flag(r, &r->target->keep_host_bytes);
}
static tesela_status target_read_stick(tesela__target_reader *r) {
  bool follows = r->target->alignment == r->target->stick_bytes;
  tesela_status status =
      tesela__read_integer(&r->in, "bytes of a stick", 1, 1 << 20, &r->target->stick_bytes);
  if (status == TESELA_OK && follows) r->target->alignment = r->target->stick_bytes;
  return status;
}
static tesela_status target_read_alignment(tesela__target_reader *r) {
  return tesela__read_integer(&r->in, "bytes of alignment", 1, (int64_t)1 << 30, &r->target->alignment);
}
static tesela_status target_read_scratchpad(tesela__target_reader *r) {
  return tesela__read_integer(&r->in, "bytes of a scratchpad", 0, INT64_MAX, &r->target->scratchpad_bytes);
}

static tesela_status target_read_int32(tesela__target_reader *r, const char *what, int64_t most,
                                       int32_t *value) {
  int64_t number;
  tesela_status status = tesela__read_integer(&r->in, what, 0, most, &number);
  if (status == TESELA_OK) *value = (int32_t)number;
  return status;
}
static tesela_status target_read_max_rank(tesela__target_reader *r) {
  return target_read_int32(r, "a rank", TESELA_MAX_RANK, &r->target->max_rank);
}
static tesela_status target_read_cores(tesela__target_reader *r) {
  return target_read_int32(r, "a number of cores", INT32_MAX, &r->target->cores);
}

static const char *const target_limits[] = {"max_dims",  "max_extent", "alignment", "min_burst",
                                            "max_burst", "max_nests",  NULL};
static const char *target_limit_at(int32_t i) { return target_limits[i]; }

/* max_dims=4 max_extent=65535 ... */
static tesela_status target_read_dma(tesela__target_reader *r) {
  tesela_dma_limits *dma = &r->target->dma;
  int64_t max_dims = dma->max_dims;
  int64_t *const value[] = {&max_dims,       &dma->max_extent, &dma->alignment,
                            &dma->min_burst, &dma->max_burst,  &dma->max_nests};
  uint32_t seen = 0;
  do {
    int32_t k = 0;
    size_t length = tesela__target_word(r), at = r->in.at;
    if (length == 0) return tesela__read_unexpected(&r->in, "a limit, max_dims=4", "");
    while (target_limits[k] && (!tesela__same_word(r->in.text + at, length, target_limits[k]))) k++;
    if (!target_limits[k]) return tesela__read_unknown_of(&r->in, r->in.at, length, "limit", target_limit_at);
    if (seen >> k & 1)
      return tesela__read_fail(&r->in, TESELA_E_INVALID, at, "%s is given twice", target_limits[k]);
    seen |= (uint32_t)1 << k;
    r->in.at += length;
    if (!tesela__read_take_text(&r->in, "=")) return tesela__read_unexpected(&r->in, "= and a number", "");
    tesela_status status =
        tesela__read_integer(&r->in, target_limits[k], 0, k == 0 ? INT32_MAX : INT64_MAX, value[k]);
    if (status != TESELA_OK) return status;
    tesela__read_peek(&r->in);
  } while (r->in.at < r->in.length);
  dma->max_dims = (int32_t)max_dims;
  return TESELA_OK;
}

/* ---- keys ---- */

static const struct target_key {
  const char *name;
  bool many;
  tesela_status (*read)(tesela__target_reader *r);
} target_keys[] = {
    {"target", false, target_read_name},           {"like", false, target_read_like},
    {"stick", false, target_read_stick},           {"alignment", false, target_read_alignment},
    {"max_rank", false, target_read_max_rank},     {"order", false, target_read_order},
    {"type", true, tesela__target_type},           {"sparse", false, target_read_sparse},
    {"keep_host_bytes", false, target_read_keep},  {"cores", false, target_read_cores},
    {"scratchpad", false, target_read_scratchpad}, {"dma", false, target_read_dma},
    {"rule", true, tesela__target_rule},
};
enum { TARGET_KEYS = sizeof target_keys / sizeof target_keys[0], TARGET_KEY_TARGET = 0, TARGET_KEY_LIKE = 1 };

static const char *target_key_at(int32_t i) { return i < TARGET_KEYS ? target_keys[i].name : NULL; }

/* Read one nonblank line. line_of[k]: the line of an earlier key k, or 0. */
static tesela_status target_read_line(tesela__target_reader *r, int64_t *line_of, bool first, bool second) {
  size_t length = tesela__target_word(r), at = r->in.at;
  int32_t k = 0;
  if (length == 0) return tesela__read_unexpected(&r->in, "a key", "");
  while (k < TARGET_KEYS && (!tesela__same_word(r->in.text + at, length, target_keys[k].name))) k++;
  if (k == TARGET_KEYS) return tesela__read_unknown_of(&r->in, r->in.at, length, "key", target_key_at);
  if (line_of[k] > 0 && !target_keys[k].many)
    return tesela__read_fail(&r->in, TESELA_E_INVALID, at, "%s is given twice; first in line %" PRId64,
                             target_keys[k].name, line_of[k]);
  if (first != (k == TARGET_KEY_TARGET))
    return tesela__read_fail(&r->in, TESELA_E_INVALID, at,
                             "%s before target; the first line must be: target NAME", target_keys[k].name);
  if (k == TARGET_KEY_LIKE && !second)
    return tesela__read_fail(&r->in, TESELA_E_INVALID, at,
                             "like after other keys; it must come right after target");
  line_of[k] = r->in.line;
  r->in.at += length;
  tesela__read_peek(&r->in);
  r->value = r->in.at;
  tesela_status status = target_keys[k].read(r);
  if (status != TESELA_OK) return status;
  tesela__read_peek(&r->in);
  if (r->in.at < r->in.length) return tesela__read_unexpected(&r->in, "the end of the line", "");
  tesela_error err;
  status = tesela_target_check(r->target, &err);
  return status == TESELA_OK ? status : tesela__read_fail(&r->in, status, r->value, "%s", err.message);
}

tesela_status tesela_target_read(tesela_target *target, const char *text, size_t length, tesela_error *err) {
  TESELA__NEED(err, target);
  TESELA__NEED_LIST(err, text, length);
  tesela_target made;
  tesela__target_reader r = {
      .in = {.text = text, .err = err, .word = TESELA__TARGET_WORD, .glue = TESELA__TARGET_WORD},
      .target = &made};
  int64_t line_of[TARGET_KEYS] = {0}, lines = 0;
  tesela_status status = tesela_target_plain(&made, 128, err);
  for (size_t start = 0; start < length && status == TESELA_OK;) {
    size_t end = start, next;
    while (end < length && text[end] != '\n') end++;
    next = end + (end < length);
    r.in.line++;
    r.in.at = start;
    for (size_t i = start; i < end; i++)
      if (text[i] == '#') end = i;
    while (end > start && (text[end - 1] == ' ' || text[end - 1] == '\t' || text[end - 1] == '\r')) end--;
    r.in.length = end;
    tesela__read_peek(&r.in);
    if (r.in.at < r.in.length) {
      status = target_read_line(&r, line_of, lines == 0, lines == 1);
      lines++;
    }
    start = next;
  }
  if (status != TESELA_OK) return status;
  if (lines == 0)
    return tesela__fail(err, TESELA_E_SYNTAX, 0, "the text is empty; the first line must be: target NAME");
  *target = made;
  return TESELA_OK;
}
