/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_numpy.c - expressions of NumPy over an array: np.pad(x, ((0, 1), (0, 1))).reshape(2, 2, 3, 2).transpose(0, 2, 1, 3).
 *
 *   text   = array | "(" lambda ")" "(" "*np.indices(" shape ")" ")"
 *   array  = (NAME | "np." function "(" array {"," argument} ")") {"." method | "[" index {"," index} "]"}
 *   method = "T" | ("reshape" | "transpose" | "swapaxes" | "ravel" | ..) "(" arguments ")"
 *   index  = ":" | "::-1" | "..." | "None"
 *
 * An element of the array is at its place in the row-major order of the result. The lambda gives the places themselves, an array
 * per axis. Functions are methods of their first argument, so both are read by one table.
 */
#include <string.h>

#include "base/base.h"
#include "notation/index/index.h"

enum { NUMPY_CALLS = 32, NUMPY_NUMBERS = 2 * TESELA_MAX_RANK };

typedef enum numpy_do {
  NUMPY_NOTHING,
  NUMPY_RESHAPE,
  NUMPY_TRANSPOSE,
  NUMPY_SWAP,
  NUMPY_MOVE,
  NUMPY_RAVEL,
  NUMPY_FLIP,
  NUMPY_PAD,
  NUMPY_EXPAND,
  NUMPY_SQUEEZE
} numpy_do;

/* Arguments: a list of integers, perhaps nested once; at most `most` of them. */
static const struct {
  const char *name;
  numpy_do action;
} numpy_functions[] = {
    {"reshape", NUMPY_RESHAPE},   {"view", NUMPY_RESHAPE},       {"transpose", NUMPY_TRANSPOSE},
    {"permute", NUMPY_TRANSPOSE}, {"swapaxes", NUMPY_SWAP},      {"moveaxis", NUMPY_MOVE},
    {"ravel", NUMPY_RAVEL},       {"flatten", NUMPY_RAVEL},      {"flip", NUMPY_FLIP},
    {"pad", NUMPY_PAD},           {"expand_dims", NUMPY_EXPAND}, {"squeeze", NUMPY_SQUEEZE},
    {"copy", NUMPY_NOTHING},      {"contiguous", NUMPY_NOTHING}, {"ascontiguousarray", NUMPY_NOTHING}};

typedef struct numpy {
  tesela__map_text *m;
  tesela__pieces p;
  int32_t n;   /* arguments; or -1 without a list, even an empty one */
  bool nested; /* a list of lists */
  int64_t number[NUMPY_NUMBERS];
} numpy;

/* ---- what is done --------------------------------------------------------------------------------------------- */

static tesela_status numpy_fail(const numpy *x, tesela_status status, const char *message) {
  return tesela__read_fail(&x->m->reader, status, x->m->reader.at, "%s", message);
}

/* A dim of the current array, counted from its end if below 0. */
static tesela_status numpy_dim(const numpy *x, int64_t number, int32_t n, int32_t *dim) {
  if (number < -n || number >= n)
    return tesela__read_fail(&x->m->reader, TESELA_E_RANGE, x->m->reader.at,
                             "dim %" PRId64 "; the array has %" PRId32 " here", number, n);
  *dim = (int32_t)(number < 0 ? number + n : number);
  return TESELA_OK;
}

static tesela_status numpy_reshape(numpy *x) {
  int64_t old = 1, known = 1;
  int32_t unknown = -1;
  if (x->n < 0 || x->n > TESELA_MAX_RANK)
    return numpy_fail(x, TESELA_E_INVALID, "expected the extents of the new shape");
  for (int32_t k = 0; k < x->p.n; k++)
    if (!tesela__mul(old, x->p.piece[k].extent, &old))
      return numpy_fail(x, TESELA_E_OVERFLOW, "the array is too large");
  for (int32_t k = 0; k < x->n; k++) {
    if (x->number[k] < -1 || (x->number[k] == -1 && unknown >= 0))
      return numpy_fail(x, TESELA_E_INVALID, "expected extents, at most one of them -1");
    if (x->number[k] == -1)
      unknown = k;
    else if (!tesela__mul(known, x->number[k], &known))
      return numpy_fail(x, TESELA_E_OVERFLOW, "the extents do not fit in 64 bits");
  }
  if (unknown >= 0 && known > 0 && old % known == 0) known *= x->number[unknown] = old / known;
  if (known != old || (unknown >= 0 && x->number[unknown] < 0))
    return tesela__read_fail(&x->m->reader, TESELA_E_MISMATCH, x->m->reader.at,
                             "a shape of %" PRId64 " elements; the array has %" PRId64, known, old);
  return tesela__pieces_reshape(x->m, &x->p, x->n, x->number);
}

static tesela_status numpy_transpose(numpy *x) {
  tesela__pieces old = x->p;
  uint64_t seen = 0;
  if (x->n <= 0) {
    for (int32_t k = 0; k < old.n; k++) x->p.piece[k] = old.piece[old.n - 1 - k];
    return TESELA_OK;
  }
  if (x->n != old.n) return numpy_fail(x, TESELA_E_MISMATCH, "expected each dim once");
  for (int32_t k = 0; k < x->n; k++) {
    int32_t dim = 0;
    tesela_status status = numpy_dim(x, x->number[k], old.n, &dim);
    if (status != TESELA_OK) return status;
    if (seen >> dim & 1) return numpy_fail(x, TESELA_E_INVALID, "expected each dim once");
    seen |= (uint64_t)1 << dim;
    x->p.piece[k] = old.piece[dim];
  }
  return TESELA_OK;
}

/* Dim `from` becomes dim `to`: the dims between move by one, or exchange with it. */
static tesela_status numpy_move(numpy *x, bool swap) {
  int32_t from = 0, to = 0;
  tesela_status status = TESELA_OK;
  if (x->n != 2) return numpy_fail(x, TESELA_E_INVALID, "expected two dims");
  status = numpy_dim(x, x->number[0], x->p.n, &from);
  if (status == TESELA_OK) status = numpy_dim(x, x->number[1], x->p.n, &to);
  if (status != TESELA_OK) return status;
  tesela__index_piece moved = x->p.piece[from];
  if (swap) x->p.piece[from] = x->p.piece[to];
  for (int32_t k = from; !swap && k != to; k += from < to ? 1 : -1)
    x->p.piece[k] = x->p.piece[from < to ? k + 1 : k - 1];
  x->p.piece[to] = moved;
  return TESELA_OK;
}

static void numpy_reverse(tesela__index_piece *piece) {
  piece->term.factor = -piece->term.factor;
  piece->constant = piece->extent - 1 - piece->constant;
}

static tesela_status numpy_flip(numpy *x) {
  uint64_t dims = x->n <= 0 ? UINT64_MAX : 0;
  for (int32_t k = 0; k < x->n; k++) {
    int32_t dim = 0;
    tesela_status status = numpy_dim(x, x->number[k], x->p.n, &dim);
    if (status != TESELA_OK) return status;
    dims |= (uint64_t)1 << dim;
  }
  for (int32_t k = 0; k < x->p.n; k++)
    if (dims >> k & 1) numpy_reverse(&x->p.piece[k]);
  return TESELA_OK;
}

/* pad(x, 1), pad(x, (1, 2)) and pad(x, ((0, 1), (0, 1))) */
static tesela_status numpy_pad(numpy *x) {
  if (x->nested ? x->n != 2 * x->p.n && x->n != 2 : x->n != 1 && x->n != 2)
    return numpy_fail(x, TESELA_E_MISMATCH, "expected the padding before and after each dim");
  for (int32_t k = 0; k < x->p.n; k++) {
    int64_t before = x->number[x->n > 2 ? 2 * k : 0], after = x->number[x->n > 2 ? 2 * k + 1 : x->n - 1];
    tesela__index_piece *piece = &x->p.piece[k];
    if (before < 0 || after < 0) return numpy_fail(x, TESELA_E_RANGE, "padding below 0");
    if (!tesela__add(piece->constant, before, &piece->constant) ||
        !tesela__add(piece->extent, before, &piece->extent) ||
        !tesela__add(piece->extent, after, &piece->extent))
      return numpy_fail(x, TESELA_E_OVERFLOW, "the padding does not fit in 64 bits");
  }
  return TESELA_OK;
}

static tesela_status numpy_insert(numpy *x, int32_t dim) {
  if (x->p.n == TESELA_MAX_RANK) return numpy_fail(x, TESELA_E_LIMIT, "too many dims");
  memmove(&x->p.piece[dim + 1], &x->p.piece[dim], (size_t)(x->p.n - dim) * sizeof *x->p.piece);
  x->p.piece[dim] = (tesela__index_piece){.extent = 1};
  x->p.n++;
  return TESELA_OK;
}

static tesela_status numpy_squeeze(numpy *x) {
  uint64_t dims = 0;
  for (int32_t k = 0; k < x->n; k++) {
    int32_t dim = 0;
    tesela_status status = numpy_dim(x, x->number[k], x->p.n, &dim);
    if (status != TESELA_OK) return status;
    if (x->p.piece[dim].extent != 1)
      return numpy_fail(x, TESELA_E_INVALID, "the extent of this dim is not 1");
    dims |= (uint64_t)1 << dim;
  }
  int32_t kept = 0;
  for (int32_t k = 0; k < x->p.n; k++)
    if (x->n <= 0 ? x->p.piece[k].extent != 1 : !(dims >> k & 1)) x->p.piece[kept++] = x->p.piece[k];
  x->p.n = kept;
  return TESELA_OK;
}

static tesela_status numpy_apply(numpy *x, numpy_do action) {
  int32_t dim = 0;
  tesela_status status;
  if (x->nested && action != NUMPY_PAD)
    return numpy_fail(x, TESELA_E_INVALID, "expected one list of numbers");
  switch (action) {
  case NUMPY_RESHAPE:
    return numpy_reshape(x);
  case NUMPY_TRANSPOSE:
    return numpy_transpose(x);
  case NUMPY_SWAP:
    return numpy_move(x, true);
  case NUMPY_MOVE:
    return numpy_move(x, false);
  case NUMPY_RAVEL:
    if (x->n > 0) return numpy_fail(x, TESELA_E_INVALID, "expected no argument");
    x->n = 1;
    x->number[0] = -1;
    for (int32_t k = 0; k < x->p.n; k++)
      if (x->p.piece[k].extent == 0) x->number[0] = 0;
    return numpy_reshape(x);
  case NUMPY_FLIP:
    return numpy_flip(x);
  case NUMPY_PAD:
    return numpy_pad(x);
  case NUMPY_SQUEEZE:
    return numpy_squeeze(x);
  case NUMPY_EXPAND:
    if (x->n != 1) return numpy_fail(x, TESELA_E_INVALID, "expected one dim");
    status = numpy_dim(x, x->number[0], x->p.n + 1, &dim);
    return status == TESELA_OK ? numpy_insert(x, dim) : status;
  case NUMPY_NOTHING:
    break;
  }
  return x->n > 0 ? numpy_fail(x, TESELA_E_INVALID, "expected no argument") : TESELA_OK;
}

/* ---- what is read --------------------------------------------------------------------------------------------- */

/* Numbers up to ')', in up to two levels of brackets: "2, 3)", "(2, 3))", "((0, 1), (0, 1)))". */
static tesela_status numpy_arguments(numpy *x) {
  tesela__reader *r = &x->m->reader;
  char close[3];
  int32_t depth = 0;
  tesela_status status = TESELA_OK;
  x->n = -1;
  x->nested = false;
  for (bool item = true; status == TESELA_OK;) { /* an item, or what follows one */
    int c = tesela__read_peek(r);
    if (item && (c == '(' || c == '[') && depth < 2) {
      r->at++;
      close[depth++] = c == '(' ? ')' : ']';
      x->nested = depth == 2;
      if (x->n < 0) x->n = 0;
    } else if (depth > 0 && c == close[depth - 1]) {
      r->at++;
      depth--;
      item = false;
    } else if (depth == 0 && c == ')') {
      r->at++;
      return TESELA_OK;
    } else if (!item && c == ',') {
      r->at++;
      item = true;
    } else if (item) {
      if (x->n < 0) x->n = 0;
      if (tesela__read_take_text(r, "axis") || tesela__read_take_text(r, "axes") ||
          tesela__read_take_text(r, "pad_width")) {
        status = tesela__read_expect(r, '=', "and numbers");
        continue;
      }
      if (x->n == NUMPY_NUMBERS) return numpy_fail(x, TESELA_E_LIMIT, "more than 64 numbers");
      status = tesela__read_integer(r, "a number", -INT64_MAX, INT64_MAX, &x->number[x->n]);
      x->n++;
      item = false;
    } else {
      status = tesela__read_unexpected(r, "',' or ')'", "");
    }
  }
  return status;
}

/* "[..., None, ::-1]": dims from the left, and after "..." from the right. */
static tesela_status numpy_index(numpy *x) {
  tesela__reader *r = &x->m->reader;
  size_t begin = r->at;
  int32_t dim = 0, given = 0, named = 0; /* named: dims named so far */
  bool more = true, dots = false;
  for (size_t at = begin, comma = 1; at < r->length && r->text[at] != ']';
       at++) { /* dims that the index names */
    if (r->text[at] == ':' && comma) given++, comma = 0;
    if (r->text[at] == ',') comma = 1;
  }
  while (more) {
    int c = tesela__read_peek(r);
    tesela_status status = TESELA_OK;
    if (c == '.' && !dots && tesela__read_take_text(r, "...")) {
      dots = true;
      if (given > x->p.n) return numpy_fail(x, TESELA_E_MISMATCH, "more indices than dims");
      dim = x->p.n - (given - named); /* the dims between are skipped */
    } else if (tesela__read_take_text(r, "None") || tesela__read_take_text(r, "np.newaxis")) {
      status = numpy_insert(x, dim++);
    } else if (c == ':') {
      if (dim >= x->p.n) return numpy_fail(x, TESELA_E_MISMATCH, "more indices than dims");
      r->at++;
      bool reverse = tesela__read_take_text(r, ":-1");
      if (!reverse) (void)tesela__read_take(r, ':');
      if (reverse) numpy_reverse(&x->p.piece[dim]);
      dim++;
      named++;
    } else {
      return tesela__read_fail(
          r, TESELA_E_UNSUPPORTED, r->at,
          "an index that leaves out elements has no place for them; expected ':', '::-1', '...' or None");
    }
    if (status == TESELA_OK) status = tesela__read_more(r, ']', false, &more);
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}

static bool numpy_action(const char *text, size_t length, numpy_do *action) {
  for (size_t i = 0; i < sizeof numpy_functions / sizeof numpy_functions[0]; i++)
    if (tesela__same_word(text, length, numpy_functions[i].name)) {
      *action = numpy_functions[i].action;
      return true;
    }
  return false;
}

static const char *numpy_name(int32_t i) {
  return i >= 0 && i < (int32_t)(sizeof numpy_functions / sizeof numpy_functions[0]) ? numpy_functions[i].name
                                                                                     : NULL;
}

static tesela_status numpy_find(tesela__reader *r, numpy_do *action) {
  size_t length = tesela__read_word(r), at = r->at;
  if (length == 0) return tesela__read_unexpected(r, "a method", "");
  if (!numpy_action(r->text + at, length, action))
    return tesela__read_unknown_of(r, at, length, "method", numpy_name);
  r->at += length;
  return tesela__read_expect(r, '(', "after the method");
}

/* ".reshape(2, 3).T[..., None]" */
static tesela_status numpy_chain(numpy *x) {
  tesela__reader *r = &x->m->reader;
  tesela_status status = TESELA_OK;
  while (status == TESELA_OK) {
    numpy_do action = NUMPY_NOTHING;
    if (tesela__read_take(r, '[')) {
      status = numpy_index(x);
    } else if (!tesela__read_take(r, '.')) {
      return TESELA_OK;
    } else if (tesela__read_take_text(r, "T")) {
      x->n = -1;
      status = numpy_transpose(x);
    } else {
      status = numpy_find(r, &action);
      if (status == TESELA_OK) status = numpy_arguments(x);
      if (status == TESELA_OK) status = numpy_apply(x, action);
    }
  }
  return status;
}

/* "np.pad(np.flip(x", then ", 0), 1)" */
static tesela_status numpy_array(numpy *x) {
  tesela__reader *r = &x->m->reader;
  numpy_do call[NUMPY_CALLS];
  int32_t n = 0;
  tesela_status status = TESELA_OK;
  for (;;) {
    size_t length = tesela__read_word(r), end = r->at + length;
    if (length == 0) return tesela__read_unexpected(r, "the name of an array", "");
    bool module = tesela__same_word(r->text + r->at, length, "np") ||
                  tesela__same_word(r->text + r->at, length, "numpy") ||
                  tesela__same_word(r->text + r->at, length, "jnp");
    r->at = end;
    if (!module || end >= r->length || r->text[end] != '.') break;
    r->at++;
    if (n == NUMPY_CALLS)
      return tesela__read_fail(r, TESELA_E_LIMIT, r->at, "more than %d open calls", NUMPY_CALLS);
    status = numpy_find(r, &call[n++]);
    if (status != TESELA_OK) return status;
  }
  status = numpy_chain(x);
  while (status == TESELA_OK && n > 0) {
    (void)tesela__read_take(r, ',');
    status = numpy_arguments(x);
    if (status == TESELA_OK) status = numpy_apply(x, call[--n]);
    if (status == TESELA_OK) status = numpy_chain(x);
  }
  return status;
}

/* "(lambda d0, d1: ..)(*np.indices((3, 5)))" */
static tesela_status numpy_places(numpy *x, const char *as) {
  tesela__map_text *m = x->m;
  tesela__reader *r = &m->reader;
  int32_t separator[TESELA_MAX_AXES], n = 0;
  tesela_status status = tesela__read_expect(r, '(', "and a lambda");
  if (status == TESELA_OK) status = tesela__read_lambda(m, separator, &n);
  if (status == TESELA_OK && n > 0)
    return numpy_fail(x, TESELA_E_INVALID, "expected results without separators");
  if (status == TESELA_OK) status = tesela__read_expect(r, ')', "after the lambda");
  if (status == TESELA_OK) status = tesela__read_expect(r, '(', "and *np.indices");
  if (status == TESELA_OK && !(tesela__read_take(r, '*') && (tesela__read_take_text(r, "np.indices") ||
                                                             tesela__read_take_text(r, "numpy.indices"))))
    status = tesela__read_unexpected(r, "*np.indices", "");
  if (status == TESELA_OK) status = tesela__read_expect(r, '(', "after np.indices");
  if (status == TESELA_OK) status = numpy_arguments(x);
  if (status == TESELA_OK) status = tesela__read_expect(r, ')', "after the shape");
  bool same = x->n == m->n_dims;
  for (int32_t d = 0; d < m->n_dims && same; d++) same = x->number[d] == m->shape[d];
  if (status == TESELA_OK && !same)
    return numpy_fail(x, TESELA_E_MISMATCH, "the indices are those of another shape than the array's");
  if (status == TESELA_OK && m->n_values > TESELA_MAX_AXES)
    return numpy_fail(x, TESELA_E_LIMIT, "more results than axes");
  for (int32_t a = 1; a < m->n_values && status == TESELA_OK; a++) separator[n++] = a;
  return status == TESELA_OK ? tesela__index_results(m, as, n, separator, NULL) : status;
}

static tesela_status numpy_text(tesela__map_text *m, const void *user) {
  const tesela_layout_read_options *options = user;
  numpy x = {.m = m};
  tesela__index_array(m, options);
  tesela__pieces_begin(m, &x.p);
  bool places = tesela__read_peek(&m->reader) == '(';
  tesela_status status = places ? numpy_places(&x, options->as) : numpy_array(&x);
  if (status == TESELA_OK && tesela__read_peek(&m->reader) >= 0)
    status = tesela__read_unexpected(&m->reader, places ? "the end" : "'.', '[' or the end", "");
  return status == TESELA_OK && !places ? tesela__pieces_place(m, &x.p) : status;
}

tesela_status tesela__numpy_read(const char *text, size_t length, const tesela_layout_read_options *options,
                                 tesela_any_layout *out, tesela_error *err) {
  return tesela__index_read(text, length, numpy_text, options, out, err);
}
