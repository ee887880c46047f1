/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_table.c - tables of two register layouts: the thread and register of each element, and the largest unit.
 *
 * A register layout is a sum: the row-major number of the element in register l of thread t is the contribution of the
 * digits of t plus that of the digits of l. So tables of threads plus registers suffice, and one pass over the first
 * copy in src inverts them.
 */
#include "gpu/exchange/exchange.h"

/* The weight of each mode in the row-major number of an element; modes are listed slowest first. */
static void mode_weights(const tesela_register *layout, int64_t *weight) {
  int64_t step = 1;
  for (int32_t m = layout->n_modes - 1; m >= 0; m--) {
    weight[m] = step;
    step *= layout->mode_shape[m];
  }
}

/* table has sums for the numbers 0 .. size-1; add a slower digit with this extent and weight. */
static int64_t table_digit(int32_t *table, int64_t size, int64_t extent, int64_t weight) {
  for (int64_t v = 1; v < extent; v++)
    for (int64_t x = 0; x < size; x++) table[v * size + x] = (int32_t)(v * weight + table[x]);
  return size * extent;
}

static void fill_elements(tesela__element_table *table, const tesela_register *layout) {
  int64_t weight[TESELA_REGISTER_MODES], size = 1;
  mode_weights(layout, weight);
  table->of_local[0] = 0;
  for (int32_t i = layout->n_local - 1; i >= 0; i--)
    size = table_digit(table->of_local, size, layout->mode_shape[layout->local_modes[i]],
                       weight[layout->local_modes[i]]);
  table->of_thread[0] = table->base_thread[0] = 0;
  size = 1;
  for (int32_t i = layout->n_spatial - 1; i >= 0; i--) {
    int64_t m = layout->spatial_modes[i], extent = m < 0 ? -m : layout->mode_shape[m];
    table_digit(table->of_thread, size, extent, m < 0 ? 0 : weight[m]);
    size = table_digit(table->base_thread, size, extent, m < 0 ? 0 : size);
  }
}

tesela_status tesela__exchange_table_make(tesela__exchange_table *table, const tesela_register *dst,
                                          const tesela_register *src, const tesela_allocator *alloc,
                                          tesela_error *err) {
  int64_t elements = 1;
  for (int32_t d = 0; d < src->rank; d++) elements *= src->shape[d];
  tesela__exchange_table t = {.dst = {.threads = dst->spatial_size, .registers = dst->local_size},
                              .src = {.threads = src->spatial_size, .registers = src->local_size}};
  int64_t words = 2 * (t.dst.threads + t.src.threads + elements) + t.dst.registers + t.src.registers;
  t.memory = tesela__alloc(alloc, (uint64_t)words * sizeof(int32_t), alignof(int32_t));
  if (!t.memory)
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for tables of %" PRId64 " elements", elements);
  int32_t *at = t.memory;
  tesela__element_table *sides[] = {&t.dst, &t.src};
  for (int i = 0; i < 2; i++) {
    sides[i]->of_thread = at;
    sides[i]->base_thread = at + sides[i]->threads;
    sides[i]->of_local = at + 2 * sides[i]->threads;
    at += 2 * sides[i]->threads + sides[i]->registers;
  }
  t.src_thread = at;
  t.src_local = at + elements;
  fill_elements(&t.dst, dst);
  fill_elements(&t.src, src);
  for (int64_t thread = 0; thread < t.src.threads; thread++) {
    if (t.src.base_thread[thread] != thread) continue;
    for (int64_t l = 0; l < t.src.registers; l++) {
      int32_t e = t.src.of_thread[thread] + t.src.of_local[l];
      t.src_thread[e] = (int32_t)thread;
      t.src_local[e] = (int32_t)l;
    }
  }
  *table = t;
  return TESELA_OK;
}

/* ---- units ---------------------------------------------------------------------------------------------------- */

int64_t tesela__unit_register(const int64_t *step, int32_t n, int64_t unit, int64_t k) {
  for (int32_t i = n - 1; i >= 0; i--)
    unit = unit / step[i] * 2 * step[i] + (k >> i & 1) * step[i] + unit % step[i];
  return unit;
}

int64_t tesela__unit_of_register(const int64_t *step, int32_t n, int64_t local) {
  for (int32_t i = 0; i < n; i++) local = local / (2 * step[i]) * step[i] + local % step[i];
  return local;
}

/* Is the last digit of the list sound, if those before it are? Each unit and the one a step further in dst must also be
 * a step apart in src, for all threads. */
static bool unit_digit_is_sound(const tesela__exchange_table *t, const tesela__unit_digits *d) {
  int32_t n = d->n - 1;
  int64_t a = d->src[n], b = d->dst[n], units = t->dst.registers >> n;
  for (int64_t thread = 0; thread < t->dst.threads; thread++) {
    if (t->dst.base_thread[thread] != thread) continue;
    for (int64_t unit = 0; unit < units; unit++) {
      if (unit / b % 2 != 0) continue;
      int32_t first = t->dst.of_thread[thread] + t->dst.of_local[tesela__unit_register(d->dst, n, unit, 0)];
      int32_t next =
          t->dst.of_thread[thread] + t->dst.of_local[tesela__unit_register(d->dst, n, unit + b, 0)];
      int64_t from = tesela__unit_of_register(d->src, n, t->src_local[first]);
      if (t->src_thread[first] != t->src_thread[next] || from / a % 2 != 0 ||
          t->src_local[next] != tesela__unit_register(d->src, n, from + a, 0))
        return false;
    }
  }
  return true;
}

/* Find one more digit. The first thread determines its step in src. */
static bool find_unit_digit(const tesela__exchange_table *t, tesela__unit_digits *d) {
  int32_t n = d->n;
  int64_t units = t->dst.registers >> n, src_units = t->src.registers >> n;
  for (int64_t b = 1; 2 * b <= units; b++) {
    if (units % (2 * b) != 0) continue;
    int64_t first = t->src_local[t->dst.of_local[0]];
    int64_t next = t->src_local[t->dst.of_local[tesela__unit_register(d->dst, n, b, 0)]];
    int64_t a = tesela__unit_of_register(d->src, n, next) - tesela__unit_of_register(d->src, n, first);
    if (a < 1 || src_units % (2 * a) != 0) continue;
    d->dst[n] = b;
    d->src[n] = a;
    d->n = n + 1;
    if (unit_digit_is_sound(t, d)) return true;
    d->n = n;
  }
  return false;
}

tesela__unit_digits tesela__exchange_units(const tesela__exchange_table *table, int32_t bits) {
  tesela__unit_digits d = {.n = 0};
  while ((INT64_C(2) << d.n) * bits <= 32 && find_unit_digit(table, &d)) continue;
  return d;
}
