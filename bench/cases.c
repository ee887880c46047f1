/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cases.c - read cases with jansson.
 */
#include "cases.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "race.h"

/* ---- reading --------------------------------------------------------------------------------------------------- */

static double number_or_0(const json_t *object, const char *key) {
  return json_number_value(json_object_get(object, key)); /* null and absent give 0 */
}

static const char *text_of(const json_t *object, const char *key, const char *name) {
  const char *text = json_string_value(json_object_get(object, key));
  if (!text) race_fail("%s: no text \"%s\"", name, key);
  return text;
}

static void read_side(const json_t *list, bench_case *c, bench_side *side, tesela_dtype dtype) {
  side->n = (int)json_array_size(list);
  if (side->n < 1 || side->n > SIDE_DIGITS) race_fail("%s: %d digits", c->name, side->n);
  for (int i = side->n - 1; i >= 0; i--) {
    const json_t *entry = json_array_get(list, (size_t)i);
    side_digit *g = &side->digit[i];
    g->dim = json_integer_value(json_array_get(entry, 0));
    g->step = json_integer_value(json_array_get(entry, 1));
    g->extent = json_integer_value(json_array_get(entry, 2));
    if (json_array_size(entry) != 3 || g->dim < 0 || g->dim >= c->pair.rank || g->step < 1 || g->extent < 1)
      race_fail("%s: digit %d is not [dim, step, extent]", c->name, i);
  }
  side_pack(side);
  side_finish(&c->pair, side, dtype, c->name);
}

static void read_case(const json_t *object, bench_case *c) {
  snprintf(c->name, sizeof c->name, "%s", text_of(object, "name", "a case"));
  snprintf(c->regime, sizeof c->regime, "%s", text_of(object, "regime", c->name));
  const char *type = text_of(object, "dtype", c->name);
  tesela_dtype dtype = tesela_dtype_find(type, strlen(type));
  bench_pair *pair = &c->pair;
  pair->bits = tesela_dtype_bits(dtype);
  const json_t *shape = json_object_get(object, "shape");
  pair->rank = (int32_t)json_array_size(shape);
  if (!pair->bits || pair->rank < 1 || pair->rank > SIDE_RANK) race_fail("%s: dtype or shape", c->name);
  int64_t elements = 1;
  for (int32_t d = 0; d < pair->rank; d++) {
    pair->shape[d] = json_integer_value(json_array_get(shape, (size_t)d));
    elements *= pair->shape[d];
  }
  c->logical_bytes = (elements * pair->bits + 7) / 8;
  read_side(json_object_get(object, "from_digits"), c, &pair->src, dtype);
  read_side(json_object_get(object, "to_digits"), c, &pair->dst, dtype);
  c->counted_bytes = c->logical_bytes + pair->dst.bytes;
  if (c->counted_bytes != (int64_t)number_or_0(object, "counted_bytes"))
    race_fail("%s: %" PRId64 " bytes are counted, the file says otherwise", c->name, c->counted_bytes);
  c->goal_memcpy[0] = number_or_0(object, "goal_vs_memcpy_1t");
  c->goal_memcpy[1] = number_or_0(object, "goal_vs_memcpy_2t");
  c->goal_nt = number_or_0(object, "goal_vs_nt");
}

int cases_read(const char *path, bench_case **cases) {
  json_error_t error;
  json_t *file = json_load_file(path, 0, &error);
  if (!file) race_fail("%s:%d: %s", path, error.line, error.text);
  const json_t *list = json_object_get(file, "cases");
  int n = (int)json_array_size(list);
  bench_case *all = calloc((size_t)n + 1, sizeof *all);
  if (!all) race_fail("no memory for %d cases", n);
  for (int i = 0; i < n; i++) read_case(json_array_get(list, (size_t)i), &all[i]);
  json_decref(file);
  *cases = all;
  return n;
}
