/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_dma.c - random cases for dma.h and an interpreter of nests; see support_dma.h.
 */
#include "support_dma.h"

int64_t dma_below(uint64_t *state, int64_t n) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return (int64_t)((z ^ z >> 31) % (uint64_t)n);
}

static void add_dim(struct oracle_device *d, int dim, int64_t step, int64_t extent) {
  d->dim[d->n++] = (struct oracle_device_dim){dim, step, extent, 0};
}

/* Device dims of host dim `dim`: step 1 and up to three more steps, larger or equal, even or not. */
static void random_chain(struct oracle_device *d, int dim, uint64_t *r) {
  int64_t step[5], size = d->shape[dim];
  int n = 1;
  step[0] = 1;
  for (int64_t more = dma_below(r, 4); more > 0; more--, n++) {
    int64_t last = step[n - 1];
    switch (dma_below(r, 5)) {
    case 0:
      step[n] = last;
      break;
    case 1:
      step[n] = last + 1 + dma_below(r, 5);
      break;
    default:
      step[n] = last * (2 + dma_below(r, 4));
      break;
    }
  }
  int64_t rest = size;
  for (int k = n - 1; k >= 0; k--) { /* of equal steps the first listed remains the outer one: see shuffle */
    int64_t most = rest > 0 ? (rest - 1) / step[k] : 0;
    int64_t extent = most + 1 + (dma_below(r, 4) == 0 ? dma_below(r, 3) : 0);
    /* Any of several equal steps may end up outermost, so each has room for the digit. */
    if (k > 0 && step[k] == step[k - 1] && rest > step[k]) {
      add_dim(d, dim, step[k], extent);
      continue;
    }
    if (k + 1 < n && step[k] == step[k + 1]) extent = d->dim[d->n - 1].extent;
    add_dim(d, dim, step[k], extent);
    rest = rest < step[k] ? rest : step[k];
  }
}

static void shuffle(struct oracle_device *d, uint64_t *r) {
  for (int k = d->n - 1; k > 0; k--) {
    int at = (int)dma_below(r, k + 1);
    struct oracle_device_dim other = d->dim[k];
    d->dim[k] = d->dim[at], d->dim[at] = other;
  }
}

/* Strides from the innermost dim outwards in a random order, with gaps. Returns the places. */
static int64_t random_strides(struct oracle_device *d, uint64_t *r, bool interleave) {
  int order[ORACLE_DEVICE_DIMS];
  int64_t next = 1, last = 0;
  bool gaps = dma_below(r, 3) == 0;
  for (int k = 0; k < d->n; k++) order[k] = d->n - 1 - k;
  for (int k = d->n - 1; k > 0 && dma_below(r, 3) == 0; k--) {
    int at = (int)dma_below(r, k + 1), other = order[k];
    order[k] = order[at], order[at] = other;
  }
  if (gaps && dma_below(r, 2) == 0) next = 1 + dma_below(r, 3);
  for (int k = 0; k < d->n; k++) {
    struct oracle_device_dim *dim = &d->dim[order[k]];
    dim->stride = interleave ? dma_below(r, 3 * d->n + 2) : next;
    last += (dim->extent - 1) * dim->stride;
    next = next * (dim->extent > 0 ? dim->extent : 1);
    if (gaps && dma_below(r, 2) == 0) next += dma_below(r, 5);
  }
  if (interleave || dma_below(r, 3) == 0) return last + 1 + (gaps ? dma_below(r, 9) : 0);
  return next;
}

void dma_case_layout(dma_case *c, int64_t places, int32_t bytes) {
  struct oracle_device *d = &c->oracle;
  tesela_device_layout *layout = &c->layout;
  int64_t pitch = 1;
  for (int j = d->n - 1; j >= 0 && places < 0; j--) {
    d->dim[j].stride = pitch;
    pitch *= d->dim[j].extent;
  }
  memset(layout, 0, sizeof *layout);
  layout->host.rank = d->rank;
  layout->host.bits = layout->host.device_bits = 8 * bytes;
  layout->host.stick_bytes = bytes;
  memcpy(layout->host.shape, d->shape, sizeof layout->host.shape);
  layout->n_dims = d->n;
  layout->stick_dims = 1;
  layout->lanes = 1;
  layout->places = places < 0 ? pitch : places;
  for (int j = 0; j < d->n; j++)
    layout->dim[j] = (tesela_device_dim){d->dim[j].extent, d->dim[j].step, d->dim[j].stride, d->dim[j].dim};
}

static void random_host(dma_case *c, uint64_t *r) {
  int order[DMA_CASE_RANK], rank = c->oracle.rank;
  int64_t pitch = 1;
  int64_t kind = dma_below(r, 6); /* 0, 1: row-major */
  for (int k = 0; k < rank; k++) order[k] = rank - 1 - k;
  for (int k = rank - 1; k > 0 && kind > 1; k--) {
    int at = (int)dma_below(r, k + 1), other = order[k];
    order[k] = order[at], order[at] = other;
  }
  c->offset = kind > 2 ? dma_below(r, 50) - 10 : 0;
  for (int k = 0; k < rank; k++) {
    int64_t size = c->oracle.shape[order[k]];
    c->stride[order[k]] = pitch;
    if (kind == 4 && dma_below(r, 2) == 0) c->stride[order[k]] = -pitch;
    if (kind == 5 && dma_below(r, 2) == 0) c->stride[order[k]] = dma_below(r, 4);
    pitch = pitch * (size ? size : 1) + (kind == 3 ? dma_below(r, 4) : 0);
  }
}

void dma_case_random(dma_case *c, uint64_t seed, bool interleave) {
  uint64_t state = seed * 0xD1342543DE82EF95u + 1, *r = &state;
  for (;;) {
    struct oracle_device *d = &c->oracle;
    *c = (dma_case){.seed = seed, .nested = !interleave};
    d->rank = (int)dma_below(r, interleave ? 3 : DMA_CASE_RANK);
    int64_t most = interleave ? 7 : d->rank > 2 ? 9 : 40;
    for (int k = 0; k < d->rank; k++) d->shape[k] = dma_below(r, 40) == 0 ? 0 : 1 + dma_below(r, most);
    for (int k = 0; k < d->rank; k++) random_chain(d, k, r);
    for (int64_t more = dma_below(r, 5) == 0 ? 1 + dma_below(r, 2) : 0; more > 0; more--)
      add_dim(d, dma_below(r, 2) ? ORACLE_SYNTHETIC : ORACLE_REPLICATED, 0, 1 + dma_below(r, 4));
    if (dma_below(r, 2)) shuffle(d, r);
    int64_t places = random_strides(d, r, interleave), all = 1;
    for (int j = 0; j < d->n; j++) all *= d->dim[j].extent;
    if (places > DMA_CASE_PLACES || all > 4 * DMA_CASE_PLACES) continue;
    dma_case_layout(c, places, 1 << dma_below(r, 4));
    random_host(c, r);
    for (int k = 0; k < d->rank; k++) {
      c->start[k] = dma_below(r, d->shape[k] + 1);
      c->size[k] = dma_below(r, d->shape[k] - c->start[k] + 1);
      if (dma_below(r, 3) == 0) c->start[k] = 0, c->size[k] = d->shape[k];
    }
    return;
  }
}

/* ---- maps --------------------------------------------------------------------------------------------------- */

void dma_map_begin(dma_map *map, int64_t places) {
  map->places = places, map->named = 0;
  map->host = calloc((size_t)places + 1, sizeof *map->host);
  map->times = calloc((size_t)places + 1, 1);
  assert_non_null(map->host);
  assert_non_null(map->times);
}

void dma_map_end(dma_map *map) {
  free(map->host);
  free(map->times);
}

static void name_place(dma_map *map, int64_t place, int64_t host, const char *what, uint64_t seed) {
  if (place < 0 || place >= map->places)
    fail_msg("%s, seed %" PRIu64 ": place %" PRId64 " of %" PRId64, what, seed, place, map->places);
  if (map->times[place] < 2) map->times[place]++;
  map->host[place] = host;
  map->named++;
}

bool dma_map_expected(dma_map *map, const dma_case *c, bool boxed, bool first_copy) {
  const struct oracle_device *d = &c->oracle;
  int64_t zero[DMA_CASE_RANK] = {0}, index[DMA_CASE_RANK];
  const int64_t *start = boxed ? c->start : zero, *size = boxed ? c->size : d->shape;
  int64_t copies = first_copy ? 1 : oracle_device_copies(d);
  bool apart = true;
  for (int k = 0; k < d->rank; k++)
    if (size[k] == 0) return true;
  memcpy(index, start, sizeof index);
  do {
    int64_t host = c->offset;
    for (int k = 0; k < d->rank; k++) host += index[k] * c->stride[k];
    for (int64_t copy = 0; copy < copies; copy++) {
      int64_t place = oracle_device_place(d, index, copy);
      apart &= map->times[place] == 0;
      name_place(map, place, host, "oracle", c->seed);
    }
  } while (oracle_device_next(d->rank, start, size, index));
  return apart;
}

void dma_map_run(dma_map *map, const tesela_dma *dma, const char *what, uint64_t seed) {
  const tesela_nest *nest;
  for (int32_t k = 0; (nest = tesela_dma_nest(dma, k)) != NULL; k++) {
    int64_t index[TESELA_DEVICE_DIMS], zero[TESELA_DEVICE_DIMS] = {0};
    memset(index, 0, sizeof index);
    do {
      int64_t place = nest->device_offset, host = nest->host_offset;
      for (int32_t i = 0; i < nest->n; i++) {
        place += index[i] * nest->device_stride[i];
        host += index[i] * nest->host_stride[i];
      }
      name_place(map, place, host, what, seed);
    } while (oracle_device_next(nest->n, zero, nest->range, index));
  }
}

void dma_map_check_same(const dma_map *found, const dma_map *expected, const char *what, uint64_t seed) {
  for (int64_t p = 0; p < expected->places; p++) {
    if (found->times[p] > 1)
      fail_msg("%s, seed %" PRIu64 ": place %" PRId64 " is named twice", what, seed, p);
    if (found->times[p] != expected->times[p] || (found->times[p] && found->host[p] != expected->host[p]))
      fail_msg("%s, seed %" PRIu64 ": place %" PRId64 " has %d x %" PRId64
               ", by the definition %d x %" PRId64,
               what, seed, p, found->times[p], found->host[p], expected->times[p], expected->host[p]);
  }
}
