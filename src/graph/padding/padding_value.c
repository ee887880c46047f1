/* SPDX-License-Identifier: Apache-2.0 */
/*
 * padding_value.c - values of padding: of fills, of functions whose operands may be unknown, of folds.
 *
 * A value is known only if the tensor's type and the stored type both hold it. Functions that accelerators approximate
 * are computed only where their value is exact.
 */
#include <math.h>
#include <string.h>

#include "graph/padding/padding.h"

static const tesela__pad_value pad_unknown;

bool tesela__pad_same(tesela_dtype dtype, const tesela__pad_value *a, const tesela__pad_value *b) {
  if (!a->known || !b->known) return false;
  if (tesela__run_class_of(dtype) != TESELA__RUN_FLOAT) return a->v.i == b->v.i;
  return memcmp(&a->v.f, &b->v.f, sizeof a->v.f) == 0; /* zeros of either sign differ */
}

tesela__pad_value tesela__pad_round(const tesela__pad_node *type, tesela__run_class class,
                                    tesela__run_value value) {
  if (!tesela__run_known(type->dtype) || !tesela__run_known(type->device)) return pad_unknown;
  tesela__run_class host = tesela__run_class_of(type->dtype), device = tesela__run_class_of(type->device);
  tesela__pad_value made = {true, tesela__run_round(type->dtype, class, value)};
  if (host == TESELA__RUN_FLOAT && isnan(made.v.f)) return pad_unknown;
  if (type->device == type->dtype) return made;
  if (!tesela__run_fits(type->device, host, made.v)) return pad_unknown;
  tesela__run_value stored = tesela__run_round(type->device, host, made.v);
  tesela__pad_value back = {true, tesela__run_convert(host, device, stored)};
  return tesela__pad_same(type->dtype, &made, &back) ? made : pad_unknown;
}

/* ---- fills -------------------------------------------------------------------------------------------------- */

static bool pad_in_range(tesela_dtype dtype, double value) {
  double least = tesela__run_class_of(dtype) == TESELA__RUN_SIGNED ? (double)tesela__run_least(dtype).i : 0;
  tesela__run_value greatest = tesela__run_greatest(dtype);
  return value >= least && value <= (double)(uint64_t)greatest.i;
}

tesela_status tesela__pad_fill_value(const tesela_padding_fill *fill, const tesela__pad_node *type,
                                     tesela__pad_value *value, tesela_error *err) {
  bool computed = tesela__run_known(type->dtype) && tesela__run_known(type->device);
  tesela__run_class device = tesela__run_class_of(type->device);
  tesela__run_value v = {.f = 0};
  *value = pad_unknown;
  if (fill->pad < TESELA_PAD_LEAVE || fill->pad > TESELA_PAD_VALUE)
    return tesela__fail(err, TESELA_E_RANGE, -1, "invalid fill mode %d; expected 0 to %d", (int)fill->pad,
                        (int)TESELA_PAD_VALUE);
  if (fill->pad == TESELA_PAD_LEAVE || !computed) return TESELA_OK;
  if (device != TESELA__RUN_FLOAT) v.i = 0;
  if (fill->pad == TESELA_PAD_MINUS_INF) v = tesela__run_least(type->device);
  if (fill->pad == TESELA_PAD_PLUS_INF) v = tesela__run_greatest(type->device);
  if (fill->pad == TESELA_PAD_VALUE) {
    if (device != TESELA__RUN_FLOAT && !pad_in_range(type->device, fill->value))
      return tesela__fail(err, TESELA_E_RANGE, -1, "fill value %g is out of the range of %s", fill->value,
                          tesela_dtype_name(type->device));
    if (device != TESELA__RUN_FLOAT && fill->value != floor(fill->value)) return TESELA_OK;
    v = tesela__run_round(type->device, TESELA__RUN_FLOAT, (tesela__run_value){.f = fill->value});
  }
  bool infinite = fill->pad == TESELA_PAD_MINUS_INF || fill->pad == TESELA_PAD_PLUS_INF;
  if (infinite && device == TESELA__RUN_FLOAT && !isinf(v.f))
    return TESELA_OK; /* a type without infinities: the transfer refuses it */
  tesela__run_class host = tesela__run_class_of(type->dtype);
  if (host != TESELA__RUN_FLOAT && device == TESELA__RUN_FLOAT && v.f != floor(v.f)) return TESELA_OK;
  tesela__pad_value as_host = {true, tesela__run_convert(host, device, v)}, made;
  made = tesela__pad_round(type, host, as_host.v);
  if (!made.known || !tesela__pad_same(type->dtype, &as_host, &made)) return TESELA_OK;
  tesela__pad_value stored = {true, v}, back = {true, tesela__run_convert(device, host, made.v)};
  if (tesela__pad_same(type->device, &stored, &back)) *value = made;
  return TESELA_OK;
}

/* ---- functions ---------------------------------------------------------------------------------------------- */

/* Is fn of these floats exact, without approximation? */
static bool pad_is_exact(tesela_fn fn, double x, double y) {
  switch (fn) {
  case TESELA_FN_EXP:
  case TESELA_FN_EXPM1:
  case TESELA_FN_TANH:
  case TESELA_FN_SIGMOID:
  case TESELA_FN_ERF:
    return x == 0 || isinf(x);
  case TESELA_FN_SIN:
  case TESELA_FN_COS:
  case TESELA_FN_TAN:
  case TESELA_FN_CBRT:
    return x == 0;
  case TESELA_FN_ATAN2:
    return false;
  case TESELA_FN_LOG:
  case TESELA_FN_RSQRT:
    return x == 0 || x == 1 || isinf(x);
  case TESELA_FN_LOG1P:
    return x == 0 || x == -1 || isinf(x);
  case TESELA_FN_POW:
    return x == 1 || y == 1 || (y == 0 && isfinite(x));
  default:
    return true;
  }
}

/* The result if one known integer operand decides it. */
static tesela__pad_value pad_decided(tesela_fn fn, int32_t n, const tesela__pad_node *const *type,
                                     const tesela__pad_value *v, const tesela__pad_node *result) {
  bool logic = type[0]->dtype == TESELA_PRED;
  for (int32_t k = 0; k < n; k++) {
    if (!v[k].known) continue;
    if (v[k].v.i == 0 && (fn == TESELA_FN_MUL || fn == TESELA_FN_AND))
      return tesela__pad_round(result, TESELA__RUN_SIGNED, (tesela__run_value){.i = 0});
    if (logic && v[k].v.i == 1 && fn == TESELA_FN_OR)
      return tesela__pad_round(result, TESELA__RUN_SIGNED, (tesela__run_value){.i = 1});
  }
  return pad_unknown;
}

static tesela__pad_value pad_select(tesela__run_class in, const tesela__pad_node *const *type,
                                    const tesela__pad_value *v, const tesela__pad_node *result) {
  tesela__pad_value choice[2];
  for (int32_t k = 0; k < 2; k++) {
    choice[k] = v[k + 1];
    if (!choice[k].known) continue;
    choice[k].v = tesela__run_convert(in, tesela__run_class_of(type[k + 1]->dtype), v[k + 1].v);
    choice[k] = tesela__pad_round(result, in, choice[k].v);
  }
  if (v[0].known) {
    tesela__run_value asked = tesela__run_round(TESELA_PRED, tesela__run_class_of(type[0]->dtype), v[0].v);
    return choice[asked.i == 0];
  }
  return tesela__pad_same(result->dtype, &choice[0], &choice[1]) ? choice[0] : pad_unknown;
}

tesela__pad_value tesela__pad_apply(tesela_fn fn, int32_t n, const tesela__pad_node *const *type,
                                    const tesela__pad_value *v, const tesela__pad_node *result) {
  tesela_dtype dtype[3];
  tesela__run_value given[3];
  bool all = true;
  if (n < 1 || n > 3 || n != tesela_fn_operands(fn)) return pad_unknown;
  for (int32_t k = 0; k < n; k++) {
    dtype[k] = type[k]->dtype;
    if (!tesela__run_known(dtype[k])) return pad_unknown;
  }
  tesela__run_class in = tesela__run_class_in(fn, n, dtype);
  if (fn == TESELA_FN_BITCAST) return pad_unknown;
  if (fn == TESELA_FN_SELECT) return pad_select(in, type, v, result);
  for (int32_t k = 0; k < n; k++) {
    all = all && v[k].known;
    if (v[k].known) given[k] = tesela__run_convert(in, tesela__run_class_of(dtype[k]), v[k].v);
  }
  if (!all) return in == TESELA__RUN_FLOAT ? pad_unknown : pad_decided(fn, n, type, v, result);
  if (in == TESELA__RUN_FLOAT && !pad_is_exact(fn, given[0].f, given[n > 1].f)) return pad_unknown;
  tesela__run_value value = tesela__run_apply(fn, in, dtype[0], given);
  return tesela__pad_round(result, tesela__run_class_out(fn, in), value);
}

/* ---- folds -------------------------------------------------------------------------------------------------- */

bool tesela__pad_is_zero(tesela_dtype dtype, const tesela__pad_value *v) {
  if (!v->known) return false;
  return tesela__run_class_of(dtype) == TESELA__RUN_FLOAT ? v->v.f == 0 : v->v.i == 0;
}

bool tesela__pad_is_finite(tesela_dtype dtype, const tesela__pad_value *v) {
  return v->known && (tesela__run_class_of(dtype) != TESELA__RUN_FLOAT || isfinite(v->v.f));
}

tesela_fn tesela__pad_fold_of(const tesela_node *node) {
  if (node->op == TESELA_OP_REDUCE || node->op == TESELA_OP_POOL) return node->fn;
  if (node->op != TESELA_OP_ALONG) return TESELA_FN_SUM;
  switch (node->fn) {
  case TESELA_FN_CUMSUM:
    return TESELA_FN_SUM;
  case TESELA_FN_CUMPROD:
    return TESELA_FN_PROD;
  case TESELA_FN_CUMMAX:
    return TESELA_FN_MAX;
  case TESELA_FN_CUMMIN:
    return TESELA_FN_MIN;
  default:
    return TESELA_FN_MEAN;
  }
}

tesela__pad_value tesela__pad_neutral(tesela_fn fn, const tesela__pad_node *type) {
  tesela__pad_value made = {.known = true}, stored;
  tesela__run_class class = tesela__run_class_of(type->dtype);
  bool zero = fn == TESELA_FN_SUM || fn == TESELA_FN_ADD; /* zero exists in every type */
  if (fn == TESELA_FN_MEAN || (!tesela__run_known(type->dtype) && !zero)) return pad_unknown;
  (void)tesela__run_fold(fn, type->dtype, class, &made.v);
  if (fn == TESELA_FN_AND && type->dtype == TESELA_PRED) made.v.i = 1;
  stored = tesela__pad_round(type, class, made.v);
  bool narrower = !stored.known && class != TESELA__RUN_FLOAT && tesela__run_known(type->device) &&
                  tesela__run_class_of(type->device) == class;
  if (narrower) (void)tesela__run_fold(fn, type->device, class, &made.v); /* no element exceeds the limits */
  return made;
}

bool tesela__pad_is_neutral(tesela_fn fn, const tesela__pad_node *type, const tesela__pad_value *v) {
  tesela__pad_value neutral = tesela__pad_neutral(fn, type);
  if (!neutral.known || !v->known) return false;
  if (tesela__pad_is_zero(type->dtype, &neutral)) return tesela__pad_is_zero(type->dtype, v);
  return tesela__pad_same(type->dtype, &neutral, v);
}

tesela__pad_value tesela__pad_fold(tesela_fn fn, const tesela__pad_node *type, const tesela__pad_value *v,
                                   const tesela__pad_node *result) {
  bool is_float = tesela__run_class_of(type->dtype) == TESELA__RUN_FLOAT, same = false;
  if (!v->known || !tesela__run_known(type->dtype)) return pad_unknown;
  tesela__run_value value = v->v;
  switch (fn) {
  case TESELA_FN_SUM:
  case TESELA_FN_ADD:
  case TESELA_FN_MEAN: /* from 0, so the sum of -0 is 0 */
    same = tesela__pad_is_zero(type->dtype, v);
    if (is_float) value.f = 0;
    break;
  case TESELA_FN_PROD:
    same = is_float ? value.f == 1 : value.i == 1;
    break;
  case TESELA_FN_MAX:
  case TESELA_FN_MIN:
    same = true;
    break;
  case TESELA_FN_AND:
  case TESELA_FN_OR:
    same = !is_float;
    break;
  default:
    break;
  }
  return same ? tesela__pad_round(result, tesela__run_class_of(type->dtype), value) : pad_unknown;
}

tesela_padding_state tesela__pad_state(tesela_padding_kind kind, tesela_dtype dtype,
                                       const tesela__pad_value *v) {
  tesela_padding_state state = {.kind = kind};
  if (kind != TESELA_PADDING_VALUE) return state;
  tesela__run_class class = tesela__run_class_of(dtype);
  state.integer = class != TESELA__RUN_FLOAT;
  state.value = tesela__run_convert(TESELA__RUN_FLOAT, class, v->v).f;
  if (state.integer) state.whole = v->v.i;
  return state;
}
