/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_linear.c - the op linear_layout: each `do` is a row of a table.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "linear_value.h"

typedef struct linear_do {
  const char *name;
  tesela_status (*answer)(tesela_request *q, const struct linear_do *how);
  int variant; /* of functions that several rows share */
} linear_do;

/* ---- fields ------------------------------------------------------------------------------------------------- */

static tesela_status need(tesela_request *q, const char *field, const tesela_value **value) {
  *value = tesela_request_get(q, field);
  if (*value) return TESELA_OK;
  return tesela_request_fail(q, TESELA_E_INVALID, -1, "op linear_layout: do %.24s needs field %s",
                             tesela_value_text(tesela_value_get(q->value, "do")), field);
}

/* The dim that a text names, one of n. */
static tesela_status dim_of(tesela_request *q, const tesela_value *name, const tesela_linear_dim *dims,
                            int32_t n, int32_t *dim) {
  for (*dim = 0; *dim < n; ++*dim)
    if (strcmp(dims[*dim].name, tesela_value_text(name)) == 0) return TESELA_OK;
  return tesela_request_fail(q, TESELA_E_INVALID, -1, "unknown dim '%.40s'", tesela_value_text(name));
}

/* A field of names as bits; all without the field. */
static tesela_status dims_of(tesela_request *q, const char *field, const tesela_linear_dim *dims, int32_t n,
                             uint32_t *bits) {
  const tesela_value *names = tesela_request_get(q, field);
  *bits = names ? 0 : (uint32_t)(((uint64_t)1 << n) - 1);
  for (size_t i = 0; i < tesela_value_size(names); i++) {
    int32_t dim;
    tesela_status status = dim_of(q, tesela_value_at(names, i), dims, n, &dim);
    if (status != TESELA_OK) return status;
    *bits |= (uint32_t)1 << dim;
  }
  return TESELA_OK;
}

static tesela_status put_layout(tesela_request *q, tesela_status status, const tesela_linear *a) {
  if (status == TESELA_OK) linear_value_put(q->out, "layout", a);
  return status;
}

/* ---- making ------------------------------------------------------------------------------------------------- */

/* Without sizes of outputs the bases have to give them all. */
static tesela_status do_from_bases(tesela_request *q, const linear_do *how) {
  tesela_linear a;
  (void)how;
  tesela_status status = linear_value_read(q, "a", &a);
  if (status != TESELA_OK) return status;
  const tesela_value *outs = tesela_value_get(tesela_request_get(q, "a"), "outs");
  tesela_linear unused;
  tesela_linear_example example;
  bool sized = false;
  for (size_t i = 0; i < tesela_value_size(outs); i++)
    sized = sized || tesela_value_is(tesela_value_at(outs, i), TESELA_VALUE_LIST);
  if (!sized) {
    status = tesela_linear_pseudoinvert(&a, &unused, &example, q->err);
    if (status != TESELA_OK) linear_value_example(q, &a, &example);
  }
  return put_layout(q, status, &a);
}

enum { IDENTITY, STRIDED, ZEROS };

static tesela_status do_make_1d(tesela_request *q, const linear_do *how) {
  tesela_linear a;
  const tesela_value *size, *ins, *out, *more = NULL;
  tesela_status status = need(q, "size", &size);
  if (status == TESELA_OK) status = need(q, "out", &out);
  if (status == TESELA_OK && how->variant == STRIDED) status = need(q, "stride", &more);
  if (status == TESELA_OK) status = need(q, "ins", &ins);
  if (status != TESELA_OK) return status;
  if (tesela_value_size(ins) != 1)
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "field ins: expected one name, found %zu",
                               tesela_value_size(ins));
  const char *in = tesela_value_text(tesela_value_at(ins, 0)), *to = tesela_value_text(out);
  if (how->variant == ZEROS) {
    more = tesela_request_get(q, "out_size");
    status =
        tesela_linear_zeros_1d(tesela_value_int(size), in, to, more ? tesela_value_int(more) : 1, &a, q->err);
  } else {
    status = tesela_linear_strided_1d(tesela_value_int(size), more ? tesela_value_int(more) : 1, in, to, &a,
                                      q->err);
  }
  return put_layout(q, status, &a);
}

/* ---- one layout --------------------------------------------------------------------------------------------- */

static tesela_status do_apply(tesela_request *q, const linear_do *how) {
  tesela_linear a;
  const tesela_value *at;
  int64_t in[TESELA_LINEAR_DIMS], out[TESELA_LINEAR_DIMS];
  (void)how;
  tesela_status status = linear_value_read(q, "a", &a);
  if (status == TESELA_OK) status = need(q, "at", &at);
  if (status == TESELA_OK) status = linear_value_inputs(q, &a, at, in);
  if (status == TESELA_OK) status = tesela_linear_apply(&a, in, out, q->err);
  if (status == TESELA_OK) linear_value_put_values(q->out, "value", a.out, a.n_outs, out);
  return status;
}

enum { INVERT, PSEUDOINVERT };

static tesela_status do_invert(tesela_request *q, const linear_do *how) {
  tesela_linear a, out;
  tesela_linear_example example = {.have_in = false};
  tesela_status status = linear_value_read(q, "a", &a);
  if (status != TESELA_OK) return status;
  status = how->variant == INVERT ? tesela_linear_invert(&a, &out, &example, q->err)
                                  : tesela_linear_pseudoinvert(&a, &out, &example, q->err);
  if (status != TESELA_OK) linear_value_example(q, &a, &example);
  return put_layout(q, status, &out);
}

enum { QUOTIENT, EXISTS };

static tesela_status do_quotient(tesela_request *q, const linear_do *how) {
  tesela_linear a, out;
  tesela_linear_example example = {.have_in = false};
  const tesela_value *over;
  const char *names[TESELA_LINEAR_DIMS];
  tesela_status status = linear_value_read(q, "a", &a);
  if (status == TESELA_OK) status = need(q, "over", &over);
  if (status != TESELA_OK) return status;
  if (tesela_value_size(over) > TESELA_LINEAR_DIMS)
    return tesela_request_fail(q, TESELA_E_LIMIT, -1, "more than %d dims", TESELA_LINEAR_DIMS);
  for (size_t i = 0; i < tesela_value_size(over); i++) names[i] = tesela_value_text(tesela_value_at(over, i));
  status = tesela_linear_quotient(&a, (int32_t)tesela_value_size(over), names, &out, &example, q->err);
  if (how->variant == EXISTS && (status == TESELA_OK || status == TESELA_E_UNSUPPORTED)) {
    tesela_put_key_bool(q->out, "value", status == TESELA_OK);
    return TESELA_OK;
  }
  if (status != TESELA_OK) linear_value_example(q, &a, &example);
  return put_layout(q, status, &out);
}

enum { PART, IS_ZERO };

static tesela_status do_sublayout(tesela_request *q, const linear_do *how) {
  tesela_linear a, out;
  uint32_t ins = 0, outs = 0;
  tesela_status status = linear_value_read(q, "a", &a);
  if (status == TESELA_OK) status = dims_of(q, "ins", a.in, a.n_ins, &ins);
  if (status == TESELA_OK) status = dims_of(q, "outs", a.out, a.n_outs, &outs);
  if (status == TESELA_OK) status = tesela_linear_sublayout(&a, ins, outs, &out, q->err);
  if (status != TESELA_OK || how->variant == PART) return put_layout(q, status, &out);
  tesela_put_key_bool(q->out, "value", tesela_linear_is_zero(&out));
  return TESELA_OK;
}

static tesela_status do_masks(tesela_request *q, const linear_do *how) {
  tesela_linear a;
  int64_t masks[TESELA_LINEAR_DIMS];
  (void)how;
  tesela_status status = linear_value_read(q, "a", &a);
  if (status == TESELA_OK) status = tesela_linear_free_variable_masks(&a, masks, q->err);
  if (status == TESELA_OK) linear_value_put_values(q->out, "value", a.in, a.n_ins, masks);
  return status;
}

static tesela_status do_consecutive(tesela_request *q, const linear_do *how) {
  tesela_linear a;
  (void)how;
  tesela_status status = linear_value_read(q, "a", &a);
  if (status == TESELA_OK) tesela_put_key_int(q->out, "value", tesela_linear_num_consecutive_in_out(&a));
  return status;
}

enum { INJECTIVE, SURJECTIVE, INVERTIBLE };

static tesela_status do_is(tesela_request *q, const linear_do *how) {
  tesela_linear a;
  int32_t ins = 0, outs = 0;
  tesela_status status = linear_value_read(q, "a", &a);
  if (status != TESELA_OK) return status;
  for (int32_t i = 0; i < a.n_ins; i++) ins += a.in[i].bits;
  for (int32_t i = 0; i < a.n_outs; i++) outs += a.out[i].bits;
  int32_t rank = tesela_linear_rank(&a);
  tesela_put_key_bool(q->out, "value",
                      (how->variant == SURJECTIVE || rank == ins) &&
                          (how->variant == INJECTIVE || rank == outs));
  return TESELA_OK;
}

/* ---- dims --------------------------------------------------------------------------------------------------- */

enum { INS, OUTS };

static tesela_status do_reshape(tesela_request *q, const linear_do *how) {
  tesela_linear a, out;
  const tesela_value *list;
  tesela_linear_dim dims[TESELA_LINEAR_DIMS];
  int32_t n = 0;
  tesela_status status = linear_value_read(q, "a", &a);
  if (status == TESELA_OK) status = need(q, "new", &list);
  if (status == TESELA_OK) status = linear_value_dims(q, list, dims, &n);
  if (status == TESELA_OK) status = tesela_linear_reshape(&a, how->variant == OUTS, n, dims, &out, q->err);
  return put_layout(q, status, &out);
}

static tesela_status do_flatten(tesela_request *q, const linear_do *how) {
  tesela_linear a, out;
  tesela_status status = linear_value_read(q, "a", &a);
  if (status != TESELA_OK) return status;
  tesela_linear_dim one = how->variant == OUTS ? a.out[0] : a.in[0];
  int32_t n = how->variant == OUTS ? a.n_outs : a.n_ins;
  for (int32_t i = 1; i < n; i++) one.bits += how->variant == OUTS ? a.out[i].bits : a.in[i].bits;
  status = tesela_linear_reshape(&a, how->variant == OUTS, n > 0, &one, &out, q->err);
  return put_layout(q, status, &out);
}

static tesela_status do_transpose(tesela_request *q, const linear_do *how) {
  tesela_linear a, out;
  const tesela_value *names;
  int32_t order[TESELA_LINEAR_DIMS];
  tesela_status status = linear_value_read(q, "a", &a);
  if (status == TESELA_OK) status = need(q, "order", &names);
  if (status != TESELA_OK) return status;
  const tesela_linear_dim *dims = how->variant == OUTS ? a.out : a.in;
  int32_t n = how->variant == OUTS ? a.n_outs : a.n_ins;
  if (tesela_value_size(names) != (size_t)n)
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "order has %zu dims; the layout has %" PRId32,
                               tesela_value_size(names), n);
  for (int32_t i = 0; i < n && status == TESELA_OK; i++)
    status = dim_of(q, tesela_value_at(names, (size_t)i), dims, n, &order[i]);
  if (status == TESELA_OK) status = tesela_linear_transpose(&a, how->variant == OUTS, order, &out, q->err);
  return put_layout(q, status, &out);
}

/* The field action; at most as many numbers as a layout has bits. */
static tesela_status action_of(tesela_request *q, int32_t *action, int32_t *n) {
  const tesela_value *list;
  tesela_status status = need(q, "action", &list);
  if (status != TESELA_OK) return status;
  if (tesela_value_size(list) > TESELA_LINEAR_BITS)
    return tesela_request_fail(q, TESELA_E_LIMIT, -1, "an action of %zu bits; expected at most %d",
                               tesela_value_size(list), TESELA_LINEAR_BITS);
  for (*n = 0; *n < (int32_t)tesela_value_size(list); ++*n) {
    int64_t bit = tesela_value_int(tesela_value_at(list, (size_t)*n));
    if (bit < 0 || bit >= TESELA_LINEAR_BITS)
      return tesela_error_outside(q->err, -1, "action", *n, bit, 0, TESELA_LINEAR_BITS - 1);
    action[*n] = (int32_t)bit;
  }
  return TESELA_OK;
}

static tesela_status do_permute_columns(tesela_request *q, const linear_do *how) {
  tesela_linear a, out;
  const tesela_value *dim;
  int32_t action[TESELA_LINEAR_BITS], n = 0, in = 0;
  (void)how;
  tesela_status status = linear_value_read(q, "a", &a);
  if (status == TESELA_OK) status = action_of(q, action, &n);
  if (status == TESELA_OK) status = need(q, "dim", &dim);
  if (status == TESELA_OK) status = dim_of(q, dim, a.in, a.n_ins, &in);
  if (status == TESELA_OK) status = tesela_linear_permute_columns(&a, in, n, action, &out, q->err);
  return put_layout(q, status, &out);
}

static tesela_status do_permute_values(tesela_request *q, const linear_do *how) {
  const tesela_value *values;
  int32_t action[TESELA_LINEAR_BITS], n = 0, bits = 0;
  (void)how;
  tesela_status status = action_of(q, action, &n);
  if (status == TESELA_OK) status = need(q, "values", &values);
  if (status != TESELA_OK) return status;
  size_t size = tesela_value_size(values);
  while ((size_t)1 << bits < size && bits < 30) bits++;
  if (size != (size_t)1 << bits)
    return tesela_request_fail(q, TESELA_E_RANGE, -1, "%zu values; expected a power of two", size);
  int64_t *from = malloc(2 * size * sizeof *from);
  if (!from) return tesela_request_fail(q, TESELA_E_MEMORY, -1, "no memory");
  for (size_t i = 0; i < size; i++) from[i] = tesela_value_int(tesela_value_at(values, i));
  status = tesela_linear_permute_values(bits, n, action, from, from + size, q->err);
  if (status == TESELA_OK) tesela_put_key_ints(q->out, "values", (int32_t)1 << n, from + size);
  free(from);
  return status;
}

/* ---- two layouts -------------------------------------------------------------------------------------------- */

enum { PRODUCT, COMPOSE, INVERT_AND_COMPOSE, DIVIDE_LEFT };

static tesela_status do_both(tesela_request *q, const linear_do *how) {
  tesela_linear a, b, out;
  tesela_linear_example example = {.have_in = false};
  tesela_status status = linear_value_read(q, "a", &a);
  if (status == TESELA_OK) status = linear_value_read(q, "b", &b);
  if (status != TESELA_OK) return status;
  if (how->variant == PRODUCT)
    status = tesela_linear_product(&a, &b, &out, q->err);
  else if (how->variant == COMPOSE)
    status = tesela_linear_compose(&a, &b, &out, q->err);
  else if (how->variant == INVERT_AND_COMPOSE)
    status = tesela_linear_invert_and_compose(&a, &b, &out, &example, q->err);
  else
    status = tesela_linear_divide_left(&a, &b, &out, &example, q->err);
  if (status == TESELA_E_UNSUPPORTED) linear_value_example(q, &a, &example);
  return put_layout(q, status, &out);
}

static tesela_status do_equal(tesela_request *q, const linear_do *how) {
  tesela_linear a, b;
  tesela_status status = linear_value_read(q, "a", &a);
  if (status == TESELA_OK) status = linear_value_read(q, "b", &b);
  if (status == TESELA_OK)
    tesela_put_key_bool(q->out, "value", tesela_linear_equal(&a, &b, how->variant == 1));
  return status;
}

/* ---- other notations ---------------------------------------------------------------------------------------- */

/* {"index":[1,1],"place":10,"expected":8} of a relation that is not linear. */
static void show_contradiction(tesela_request *q, const tesela_translation *t) {
  tesela_value index[TESELA_MAX_RANK], index2[TESELA_MAX_RANK], member[3];
  if (t->contradiction == TESELA_CONTRADICTION_NONE) return;
  member[0] = tesela_value_of_ints("index", (size_t)t->rank, index, t->index);
  member[1] = tesela_value_of_int("place", t->place);
  member[2] = t->contradiction == TESELA_CONTRADICTION_SHARED
                  ? tesela_value_of_ints("index2", (size_t)t->rank, index2, t->index2)
                  : tesela_value_of_int("expected", t->expected);
  tesela_value object =
      tesela_value_of_object(NULL, t->contradiction == TESELA_CONTRADICTION_ELEMENT ? 2 : 3, member);
  request_counter_example(q, &object);
}

/* Beside an input of Triton, those that are missing: register, lane, warp and block, or offset and block. */
static tesela_status add_inputs(tesela_request *q, tesela_linear *a) {
  static const char *const order[] = {"offset", "register", "lane", "warp", "block"};
  bool there[5] = {false};
  for (int32_t i = 0; i < a->n_ins; i++)
    for (int k = 0; k < 5; k++) there[k] = there[k] || strcmp(a->in[i].name, order[k]) == 0;
  bool registers = there[1] || there[2] || there[3];
  for (int k = registers ? 1 : 4; k < 5 && (registers || there[0]); k++) {
    tesela_linear one;
    if (there[k]) continue;
    tesela_status status = tesela_linear_zeros_1d(1, order[k], "dim0", 1, &one, q->err);
    one.n_outs = 0;
    if (status == TESELA_OK) status = tesela_linear_product(a, &one, a, q->err);
    if (status != TESELA_OK) return status;
  }
  return TESELA_OK;
}

static tesela_status do_from_encoding(tesela_request *q, const linear_do *how) {
  const tesela_value *text;
  tesela_any_layout any;
  tesela_layout layout;
  tesela_linear a;
  tesela_translation answer;
  (void)how;
  tesela_status status = need(q, "text", &text);
  if (status == TESELA_OK) status = request_any(q, "text", &any, &layout);
  if (status == TESELA_OK) status = tesela_linear_from_layout(&layout, &a, &answer, q->err);
  if (status != TESELA_OK) return status;
  if (answer.verdict == TESELA_IMPOSSIBLE) {
    (void)tesela_request_fail(q, TESELA_E_UNSUPPORTED, -1, "this is not a linear layout: %s", answer.reason);
    show_contradiction(q, &answer);
    return TESELA_E_UNSUPPORTED;
  }
  status = add_inputs(q, &a);
  if (status != TESELA_OK) return status;
  if (answer.verdict != TESELA_EXACT)
    tesela_put_key_text(q->out, "verdict", tesela_verdict_name(answer.verdict));
  return put_layout(q, TESELA_OK, &a);
}

static const tesela_notation *notation_of(const char *name) {
  const tesela_notation *notation = NULL;
  for (int32_t i = 0; (notation = tesela_notation_at(i)) != NULL && strcmp(notation->name, name) != 0; i++)
    continue;
  return notation;
}

/* A text that any reader of layouts takes: Triton's attribute after the array, or index arithmetic. */
static tesela_status do_to_layout(tesela_request *q, const linear_do *how) {
  tesela_linear a;
  tesela_any_layout any = {.kind = TESELA_KIND_RELATION, .notation = notation_of("map")};
  tesela_translation answer;
  tesela_buffer nothing = {NULL, 0, 0};
  tesela_writer measure = tesela_buffer_writer(&nothing);
  int64_t shape[TESELA_LINEAR_DIMS];
  (void)how;
  tesela_status status = linear_value_read(q, "a", &a);
  if (status == TESELA_OK) status = add_inputs(q, &a);
  if (status != TESELA_OK) return status;
  for (int32_t i = 0; i < a.n_outs; i++) shape[i] = (int64_t)1 << a.out[i].bits;
  status = tesela_linear_to_layout(&a, TESELA_DTYPE_NONE, 8, a.n_outs, shape, &any.relation, q->err);
  if (status != TESELA_OK) return status;
  if (tesela_translate(&any, "triton", &measure, &answer, NULL) == TESELA_OK &&
      answer.verdict == TESELA_EXACT)
    any.notation = notation_of("triton");
  tesela_writer to = tesela_put_key_begin(q->out, "text");
  status = tesela_any_print(&any, &to, q->err);
  tesela_put_text_end(q->out);
  return status;
}

/* ---- the table ---------------------------------------------------------------------------------------------- */

static const linear_do dos[] = {
    {"from_bases", do_from_bases, 0},
    {"identity1d", do_make_1d, IDENTITY},
    {"zeros1d", do_make_1d, ZEROS},
    {"strided1d", do_make_1d, STRIDED},
    {"apply", do_apply, 0},
    {"product", do_both, PRODUCT},
    {"compose", do_both, COMPOSE},
    {"invert", do_invert, INVERT},
    {"pseudoinvert", do_invert, PSEUDOINVERT},
    {"invert_and_compose", do_both, INVERT_AND_COMPOSE},
    {"divide_left", do_both, DIVIDE_LEFT},
    {"quotient", do_quotient, QUOTIENT},
    {"quotient_exists", do_quotient, EXISTS},
    {"sublayout", do_sublayout, PART},
    {"sublayout_is_zero", do_sublayout, IS_ZERO},
    {"free_variable_masks", do_masks, 0},
    {"num_consecutive_in_out", do_consecutive, 0},
    {"reshape_ins", do_reshape, INS},
    {"reshape_outs", do_reshape, OUTS},
    {"flatten_ins", do_flatten, INS},
    {"flatten_outs", do_flatten, OUTS},
    {"transpose_ins", do_transpose, INS},
    {"transpose_outs", do_transpose, OUTS},
    {"permute_columns", do_permute_columns, 0},
    {"permute_values", do_permute_values, 0},
    {"equal", do_equal, 0},
    {"equal_ignoring_out_sizes", do_equal, 1},
    {"is_injective", do_is, INJECTIVE},
    {"is_surjective", do_is, SURJECTIVE},
    {"is_invertible", do_is, INVERTIBLE},
    {"from_encoding", do_from_encoding, 0},
    {"to_layout", do_to_layout, 0},
};

enum { DOS = sizeof dos / sizeof dos[0] };

static const char *do_name(const void *user, int32_t i) {
  (void)user;
  return i < DOS ? dos[i].name : NULL;
}

tesela_status op_linear_layout(tesela_request *q) {
  const char *name = tesela_value_text(tesela_request_get(q, "do"));
  for (int i = 0; i < DOS; i++)
    if (strcmp(dos[i].name, name) == 0) return dos[i].answer(q, &dos[i]);
  return tesela_error_unknown(q->err, "do", name, do_name, NULL);
}
