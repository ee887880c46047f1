/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_access.c - tables of places, and counts from them. Slow and simple on purpose.
 */
#include "support_access.h"

#include <stdlib.h>
#include <string.h>

/* ---- places from the lists ------------------------------------------------------------------------------------ */

void access_oracle_index(const tesela_register *r, int64_t thread, int64_t local, int64_t *index) {
  int64_t digit[TESELA_REGISTER_MODES] = {0};
  for (int32_t i = r->n_spatial - 1; i >= 0; i--) {
    int64_t mode = r->spatial_modes[i], extent = mode < 0 ? -mode : r->mode_shape[mode];
    if (mode >= 0) digit[mode] = thread % extent;
    thread /= extent;
  }
  for (int32_t i = r->n_local - 1; i >= 0; i--) {
    digit[r->local_modes[i]] = local % r->mode_shape[r->local_modes[i]];
    local /= r->mode_shape[r->local_modes[i]];
  }
  int32_t m = 0;
  for (int32_t d = 0; d < r->rank; d++) {
    index[d] = 0;
    for (int64_t product = 1; product < r->shape[d]; m++) {
      index[d] = index[d] * r->mode_shape[m] + digit[m];
      product *= r->mode_shape[m];
    }
  }
}

int64_t access_oracle_place(const tesela_tile_memory *memory, const int64_t *index) {
  int64_t x = memory->offset;
  int32_t end = memory->n_modes;
  for (int32_t d = memory->rank - 1; d >= 0; d--) {
    int64_t rest = index[d];
    for (int64_t product = 1; product < memory->shape[d];) {
      end--;
      x += rest % memory->mode_shape[end] * memory->mode_strides[end];
      rest /= memory->mode_shape[end];
      product *= memory->mode_shape[end];
    }
  }
  tesela_tile_swizzle s = memory->swizzle;
  if (s.bits == 0) return x;
  int64_t mask = (INT64_C(1) << s.bits) - 1;
  if (s.shift >= 0) return x ^ ((x >> (s.base + s.shift) & mask) << s.base);
  return x ^ ((x >> s.base & mask) << (s.base - s.shift));
}

void access_table_fill(access_table *table, const tesela_register *registers,
                       const tesela_tile_memory *memory) {
  table->threads = registers->spatial_size;
  table->locals = registers->local_size;
  table->place = malloc((size_t)(table->threads * table->locals) * sizeof *table->place);
  for (int64_t t = 0; t < table->threads; t++)
    for (int64_t l = 0; l < table->locals; l++) {
      int64_t index[TESELA_MAX_RANK];
      access_oracle_index(registers, t, l, index);
      table->place[t * table->locals + l] = access_oracle_place(memory, index);
    }
}

void access_table_free(access_table *table) {
  free(table->place);
  table->place = NULL;
}

/* ---- vectors -------------------------------------------------------------------------------------------------- */

static bool oracle_possible(const access_table *table, int32_t bits, int64_t v, int64_t max_bytes) {
  if (v < 1 || table->locals % v != 0 || v * bits % 8 != 0) return false;
  if (v == 1) return true;
  for (int64_t bytes = 1; bytes <= max_bytes; bytes *= 2)
    if (bytes * 8 == v * bits) return true;
  return false;
}

static bool oracle_runs(const access_table *table, int64_t v) {
  for (int64_t i = 0; i < table->threads * table->locals; i++) {
    const int64_t *start = &table->place[i - i % v];
    if (start[i % v] != *start + i % v || (v > 1 && *start % v != 0)) return false;
  }
  return true;
}

bool access_oracle_fits(const access_table *table, int32_t bits, int64_t v, int64_t max_bytes) {
  return oracle_possible(table, bits, v, max_bytes) && oracle_runs(table, v);
}

int64_t access_oracle_widest(const access_table *table, int32_t bits, int64_t max_bytes) {
  int64_t widest = 0;
  for (int64_t v = 1; v <= table->locals; v++)
    if (access_oracle_fits(table, bits, v, max_bytes)) widest = v;
  return widest;
}

static int oracle_order(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Are these sorted places a union of aligned runs of v? Removes the lowest run until all are used. */
static bool oracle_partition(int64_t *sorted, int64_t n, int64_t v) {
  bool *used = calloc((size_t)n, sizeof *used);
  bool good = true;
  for (int64_t first = 0; first < n && good; first++) {
    if (used[first]) continue;
    good = sorted[first] % v == 0;
    for (int64_t j = 0; j < v && good; j++) {
      int64_t at = first;
      while (at < n && (used[at] || sorted[at] != sorted[first] + j)) at++;
      good = at < n;
      if (good && j > 0) used[at] = true;
    }
    used[first] = true;
  }
  free(used);
  return good;
}

int64_t access_oracle_renamed(const access_table *table, int32_t bits, int64_t max_bytes) {
  int64_t widest = 1;
  int64_t *sorted = malloc((size_t)table->locals * sizeof *sorted);
  for (int64_t v = 1; v <= table->locals; v++) {
    int64_t group = bits < 32 ? 32 / bits : 1;
    if (!oracle_possible(table, bits, v, max_bytes)) continue;
    bool good = oracle_runs(table, group < v ? group : v);
    for (int64_t t = 0; t < table->threads && good; t++) {
      memcpy(sorted, &table->place[t * table->locals], (size_t)table->locals * sizeof *sorted);
      qsort(sorted, (size_t)table->locals, sizeof *sorted, oracle_order);
      good = v == 1 || oracle_partition(sorted, table->locals, v);
    }
    if (good) widest = v;
  }
  free(sorted);
  return widest;
}

int32_t access_oracle_dim(const tesela_register *registers, int64_t v) {
  int32_t found = -1;
  for (int64_t l = 0; l < registers->local_size; l++) {
    int64_t here[TESELA_MAX_RANK], start[TESELA_MAX_RANK];
    access_oracle_index(registers, 0, l, here);
    access_oracle_index(registers, 0, l - l % v, start);
    for (int32_t d = 0; d < registers->rank; d++) {
      if (here[d] == start[d]) continue;
      if (found >= 0 && found != d) return -1;
      found = d;
    }
  }
  return found;
}

/* ---- costs ------------------------------------------------------------------------------------------------------ */

/* The number of different values; sorts them. */
static int64_t oracle_different(int64_t *values, int64_t n) {
  int64_t different = 0;
  qsort(values, (size_t)n, sizeof *values, oracle_order);
  for (int64_t i = 0; i < n; i++) different += i == 0 || values[i] != values[i - 1];
  return different;
}

static int64_t oracle_byte(const access_table *table, int32_t bits, int64_t t, int64_t l) {
  return table->place[t * table->locals + l] * bits / 8;
}

/* Different words of each bank that threads [first, last) access with their vectors at local id l. */
static void oracle_words(const access_table *table, int32_t bits, int64_t v, const tesela_access_machine *m,
                         int64_t first, int64_t last, int64_t l, int32_t *words) {
  int64_t bytes = v * bits / 8, n = 0, *wanted = malloc((size_t)((last - first) * bytes) * sizeof *wanted);
  for (int64_t t = first; t < last; t++)
    for (int64_t x = 0; x < bytes; x++) {
      int64_t word = (oracle_byte(table, bits, t, l) + x) / m->bank_bytes;
      if (n == 0 || wanted[n - 1] != word) wanted[n++] = word;
    }
  qsort(wanted, (size_t)n, sizeof *wanted, oracle_order);
  for (int32_t b = 0; b < m->banks; b++) words[b] = 0;
  for (int64_t i = 0; i < n; i++) words[wanted[i] % m->banks] += i == 0 || wanted[i] != wanted[i - 1];
  free(wanted);
}

int64_t access_oracle_lanes(const tesela_access_machine *m, int64_t bytes) {
  int64_t lanes = (int64_t)m->banks * m->bank_bytes / bytes;
  if (lanes < 1) lanes = 1;
  return lanes < m->warp ? lanes : m->warp;
}

void access_oracle_banks(const access_table *table, int32_t bits, int64_t v, const tesela_access_machine *m,
                         int64_t warp, int64_t instruction, int64_t phase, int32_t *words) {
  int64_t lanes = access_oracle_lanes(m, v * bits / 8), first = warp * m->warp + phase * lanes,
          last = first + lanes;
  if (last > (warp + 1) * m->warp) last = (warp + 1) * m->warp;
  if (last > table->threads) last = table->threads;
  oracle_words(table, bits, v, m, first, last, instruction * v, words);
}

static int64_t oracle_worst(const int32_t *words, int32_t n) {
  int64_t worst = 0;
  for (int32_t b = 0; b < n; b++)
    if (words[b] > worst) worst = words[b];
  return worst;
}

/* The number of pieces of `size` bytes that the warp touches. */
static int64_t oracle_pieces(const access_table *table, int32_t bits, int64_t v, int64_t first, int64_t last,
                             int64_t l, int64_t size) {
  int64_t bytes = v * bits / 8, n = 0, *pieces = malloc((size_t)((last - first) * bytes) * sizeof *pieces);
  for (int64_t t = first; t < last; t++)
    for (int64_t x = 0; x < bytes; x++) pieces[n++] = (oracle_byte(table, bits, t, l) + x) / size;
  int64_t different = oracle_different(pieces, n);
  free(pieces);
  return different;
}

tesela_access_cost access_oracle_shared(const access_table *table, int32_t bits, int64_t v,
                                        const tesela_access_machine *m, int64_t lanes) {
  tesela_access_cost cost = {.vector_elements = v, .vector_bytes = (int32_t)(v * bits / 8)};
  for (int64_t warp = 0; warp * m->warp < table->threads; warp++)
    for (int64_t k = 0; k < table->locals / v; k++) {
      int64_t first = warp * m->warp,
              last = first + m->warp < table->threads ? first + m->warp : table->threads;
      cost.instructions++;
      for (int64_t at = first; at < last; at += lanes) {
        int32_t words[128];
        oracle_words(table, bits, v, m, at, at + lanes < last ? at + lanes : last, k * v, words);
        int64_t worst = oracle_worst(words, m->banks);
        cost.phases++;
        cost.wavefronts += worst;
        if (worst <= cost.worst) continue;
        cost.worst = worst;
        cost.worst_warp = warp;
        cost.worst_instruction = k;
        cost.worst_phase = (at - first) / lanes;
      }
    }
  cost.conflicts = cost.wavefronts - cost.phases;
  return cost;
}

tesela_access_cost access_oracle_cost(const access_table *table, int32_t bits, int64_t v,
                                      const tesela_access_machine *m, int32_t lanes) {
  tesela_access_cost cost =
      access_oracle_shared(table, bits, v, m, lanes ? lanes : access_oracle_lanes(m, v * bits / 8));
  for (int64_t first = 0; first < table->threads; first += m->warp)
    for (int64_t k = 0; k < table->locals / v; k++) {
      int64_t last = first + m->warp < table->threads ? first + m->warp : table->threads;
      cost.sectors += oracle_pieces(table, bits, v, first, last, k * v, m->sector_bytes);
      cost.lines += oracle_pieces(table, bits, v, first, last, k * v, m->line_bytes);
      int64_t needed = oracle_pieces(table, bits, v, first, last, k * v, 1);
      cost.least_sectors += (needed + m->sector_bytes - 1) / m->sector_bytes;
    }
  return cost;
}
