/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_einops.c - patterns of einops: (h p1) (w p2) c -> h w (p1 p2 c) p1=4 p2=4.
 *
 *   text    = pattern {[","] NAME "=" INT}  |  ["einops."] ("rearrange" | "repeat") "(" NAME "," quote pattern quote {"," NAME "=" INT} ")"
 *   pattern = {group} "->" {group}          group = NAME | "1" | "(" {NAME | "1"} ")"
 *
 * Elements are at the row-major order of the right side. A name of the right side alone is a number of copies.
 */
#include <string.h>

#include "base/base.h"
#include "notation/index/index.h"

enum { EINOPS_NAMES = 64 };

typedef struct einops_name {
  size_t at, length;
  int64_t extent;            /* 0: not known yet */
  int32_t dim;               /* of the left side; -1: only on the right */
  tesela__index_piece piece; /* of that dim */
  bool used;                 /* on the right side */
} einops_name;

typedef struct einops {
  tesela__map_text *m;
  int32_t n, n_left, order[EINOPS_NAMES], n_order;
  einops_name name[EINOPS_NAMES];
} einops;

static einops_name *einops_find(einops *e, size_t at, size_t length) {
  const char *text = e->m->reader.text;
  for (int32_t i = 0; i < e->n; i++)
    if (e->name[i].length == length && memcmp(text + e->name[i].at, text + at, length) == 0)
      return &e->name[i];
  return NULL;
}

static tesela_status einops_add(einops *e, size_t length, int32_t dim) {
  tesela__reader *r = &e->m->reader;
  if (e->n == EINOPS_NAMES)
    return tesela__read_fail(r, TESELA_E_LIMIT, r->at, "more than %d names", EINOPS_NAMES);
  e->name[e->n++] = (einops_name){.at = r->at, .length = length, .dim = dim};
  return TESELA_OK;
}

/* A name of a group of the left side, or of the right one: dim -1. */
static tesela_status einops_item(einops *e, int32_t dim) {
  tesela__reader *r = &e->m->reader;
  size_t length = tesela__read_word(r);
  tesela_status status = TESELA_OK;
  int64_t one;
  if (length == 0 && tesela__read_peek(r) == '.')
    return tesela__read_fail(r, TESELA_E_UNSUPPORTED, r->at,
                             "'...', a number of dims that is not given; expected their names");
  if (length == 0 && tesela__read_integer_next(r)) return tesela__read_integer(r, "an extent", 1, 1, &one);
  if (length == 0) return tesela__read_unexpected(r, dim >= 0 ? "a name, '(' or '->'" : "a name or '('", "");
  einops_name *name = einops_find(e, r->at, length);
  if (name && (dim >= 0 || name->used))
    return tesela__read_fail(r, TESELA_E_INVALID, r->at, "the name '%.*s' is used twice",
                             (int)tesela__min((int64_t)length, 40), r->text + r->at);
  if (!name) {
    status = einops_add(e, length, dim);
    if (status != TESELA_OK) return status;
    name = &e->name[e->n - 1];
  }
  name->used = dim < 0;
  if (dim < 0) e->order[e->n_order++] = (int32_t)(name - e->name);
  r->at += length;
  return status;
}

/* A group of a side; its names. */
static tesela_status einops_group(einops *e, int32_t dim) {
  tesela__reader *r = &e->m->reader;
  if (!tesela__read_take(r, '(')) return einops_item(e, dim);
  while (!tesela__read_take(r, ')')) {
    tesela_status status = einops_item(e, dim);
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}

static tesela_status einops_pattern(einops *e, int end) {
  tesela__map_text *m = e->m;
  tesela__reader *r = &m->reader;
  tesela_status status = TESELA_OK;
  int32_t dim = 0;
  for (; status == TESELA_OK && !tesela__read_take_text(r, "->"); dim++) {
    if (dim == m->n_dims)
      return tesela__read_fail(r, TESELA_E_MISMATCH, r->at,
                               "expected '->' after %" PRId32 " dims, those of the array", dim);
    status = einops_group(e, dim);
  }
  if (status == TESELA_OK && dim < m->n_dims)
    return tesela__read_fail(r, TESELA_E_MISMATCH, r->at, "%" PRId32 " dims; the array has %" PRId32, dim,
                             m->n_dims);
  e->n_left = e->n;
  while (status == TESELA_OK) {
    int c = tesela__read_peek(r);
    size_t length = tesela__read_word(r);
    tesela__reader after = *r;
    after.at += length;
    if (c < 0 || c == end || c == ',') break;
    if (length > 0 && tesela__read_peek(&after) == '=') break; /* lengths */
    status = einops_group(e, -1);
  }
  for (int32_t i = 0; i < e->n && status == TESELA_OK; i++)
    if (!e->name[i].used)
      return tesela__read_fail(r, TESELA_E_UNSUPPORTED, e->name[i].at,
                               "a name of the left side alone, a reduction, has no places");
  return status;
}

/* "p1=4, p2=4" */
static tesela_status einops_lengths(einops *e) {
  tesela__reader *r = &e->m->reader;
  for (;;) {
    (void)tesela__read_take(r, ',');
    size_t length = tesela__read_word(r);
    if (length == 0) return TESELA_OK;
    einops_name *name = einops_find(e, r->at, length);
    if (!name)
      return tesela__read_unknown(r, TESELA_E_INVALID, r->at, length, "name", "", NULL,
                                  "a name of the pattern");
    r->at += length;
    tesela_status status = tesela__read_expect(r, '=', "and the length of the name");
    if (status == TESELA_OK) status = tesela__read_integer(r, "a length", 1, INT64_MAX, &name->extent);
    if (status != TESELA_OK) return status;
  }
}

/* The lengths of the names of a dim; at most one is computed. */
static tesela_status einops_dim(einops *e, int32_t dim) {
  tesela__map_text *m = e->m;
  einops_name *unknown = NULL;
  int64_t known = 1, extent[TESELA_MAX_RANK];
  int32_t n = 0;
  tesela__pieces p = {.n = 1};
  for (int32_t i = 0; i < e->n_left; i++) {
    einops_name *name = &e->name[i];
    if (name->dim != dim) continue;
    if (name->extent == 0 && unknown)
      return tesela__read_fail(&m->reader, TESELA_E_INVALID, name->at, "the length of '%.*s' is not given",
                               (int)tesela__min((int64_t)name->length, 40), m->reader.text + name->at);
    if (n++ == TESELA_MAX_RANK)
      return tesela__read_fail(&m->reader, TESELA_E_LIMIT, name->at, "more than %d names of one dim",
                               TESELA_MAX_RANK);
    if (name->extent == 0)
      unknown = name;
    else if (!tesela__mul(known, name->extent, &known))
      return tesela__read_fail(&m->reader, TESELA_E_OVERFLOW, name->at, "the lengths do not fit in 64 bits");
  }
  if (unknown ? m->shape[dim] % known != 0 : m->shape[dim] != known)
    return tesela__read_fail(&m->reader, TESELA_E_MISMATCH, m->reader.at,
                             "the lengths of dim %" PRId32 " are %" PRId64
                             " together; its extent is %" PRId64,
                             dim, known, m->shape[dim]);
  if (unknown) unknown->extent = m->shape[dim] / known;
  n = 0;
  for (int32_t i = 0; i < e->n_left; i++)
    if (e->name[i].dim == dim) extent[n++] = e->name[i].extent;
  p.piece[0] = (tesela__index_piece){
      .term = {.kind = TESELA__MAP_DIM, .number = dim, .factor = 1, .divisor = 1}, .extent = m->shape[dim]};
  tesela_status status = tesela__pieces_reshape(m, &p, n, extent);
  for (int32_t i = e->n_left - 1; i >= 0 && status == TESELA_OK; i--)
    if (e->name[i].dim == dim) e->name[i].piece = p.piece[--n];
  return status;
}

static tesela_status einops_finish(einops *e) {
  tesela__map_text *m = e->m;
  tesela__pieces p = {.n = 0};
  tesela_status status = TESELA_OK;
  for (int32_t d = 0; d < m->n_dims && status == TESELA_OK; d++) status = einops_dim(e, d);
  for (int32_t i = e->n_left; i < e->n && status == TESELA_OK; i++) {
    einops_name *name = &e->name[i];
    if (name->extent == 0)
      return tesela__read_fail(&m->reader, TESELA_E_INVALID, name->at, "the length of '%.*s' is not given",
                               (int)tesela__min((int64_t)name->length, 40), m->reader.text + name->at);
    name->piece = (tesela__index_piece){
        .term = {.kind = TESELA__MAP_COPY, .number = m->n_copies, .factor = name->extent > 1, .divisor = 1},
        .extent = name->extent};
    if (name->extent > 1) m->copies[m->n_copies++] = name->extent;
  }
  if (status == TESELA_OK && e->n_order > TESELA_MAX_RANK)
    return tesela__read_fail(&m->reader, TESELA_E_LIMIT, m->reader.at, "more than %d names", TESELA_MAX_RANK);
  for (; p.n < e->n_order && status == TESELA_OK; p.n++) p.piece[p.n] = e->name[e->order[p.n]].piece;
  return status == TESELA_OK ? tesela__pieces_place(m, &p) : status;
}

/* "rearrange(x, '": the quote, or 0 for a pattern alone. */
static tesela_status einops_call(tesela__reader *r, int *quote) {
  size_t at = r->at;
  *quote = 0;
  (void)tesela__read_take_text(r, "einops.");
  if ((tesela__read_take_text(r, "rearrange") || tesela__read_take_text(r, "repeat")) &&
      tesela__read_take(r, '(')) {
    size_t length = tesela__read_word(r);
    tesela__reader after = *r;
    after.at += length;
    if (length > 0 && tesela__read_take(&after, ',')) {
      int c = tesela__read_peek(&after);
      if (c != '"' && c != '\'') return tesela__read_unexpected(&after, "a pattern in quotes", "");
      *r = after;
      r->at++;
      *quote = c;
      return TESELA_OK;
    }
  }
  r->at = at; /* names of the pattern */
  return TESELA_OK;
}

static tesela_status einops_text(tesela__map_text *m, const void *user) {
  einops e;
  int quote;
  memset(&e, 0, offsetof(einops, name));
  e.m = m;
  tesela__index_array(m, user);
  tesela_status status = einops_call(&m->reader, &quote);
  if (status == TESELA_OK) status = einops_pattern(&e, quote);
  if (status == TESELA_OK && quote)
    status = tesela__read_expect(&m->reader, (char)quote, "after the pattern");
  if (status == TESELA_OK) status = einops_lengths(&e);
  if (status == TESELA_OK && quote) status = tesela__read_expect(&m->reader, ')', "after the lengths");
  if (status == TESELA_OK && tesela__read_peek(&m->reader) >= 0)
    status = tesela__read_unexpected(&m->reader, "a length such as p1=4, or the end", "");
  return status == TESELA_OK ? einops_finish(&e) : status;
}

tesela_status tesela__einops_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                  tesela_any_layout *out, tesela_error *err) {
  return tesela__index_read(text, length, einops_text, options, out, err);
}
