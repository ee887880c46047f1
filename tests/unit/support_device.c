/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_device.c - see support_device.h.
 */
#include "support_device.h"

static uint64_t state;

void device_begin(uint64_t seed) { state = seed ? seed : 1; }

static uint64_t random_bits(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

int64_t device_between(int64_t low, int64_t high) {
  return low + (int64_t)(random_bits() % (uint64_t)(high - low + 1));
}

tesela_device_host device_host(int32_t rank, const int64_t *shape, int32_t bits, int64_t stick_bytes) {
  tesela_device_host host;
  memset(&host, 0, sizeof host);
  host.bits = host.device_bits = bits;
  host.stick_bytes = stick_bytes;
  host.rank = rank;
  for (int32_t d = 0; d < rank; d++) host.shape[d] = shape[d];
  return host;
}

const char *device_text(const tesela_device_layout *layout) {
  static char text[2048];
  size_t used = 0;
  for (int32_t j = 0; j < layout->n_dims; j++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRId32 ":%" PRId64 ":%" PRId64,
                             j ? " " : "", layout->dim[j].dim, layout->dim[j].step, layout->dim[j].extent);
  return text;
}

struct oracle_device device_oracle_of(const tesela_device_host *host, int32_t n,
                                      const tesela_device_dim *dims) {
  struct oracle_device oracle = {.rank = host->rank, .n = n};
  for (int32_t d = 0; d < host->rank; d++) oracle.shape[d] = host->shape[d];
  for (int32_t j = 0; j < n; j++)
    oracle.dim[j] = (struct oracle_device_dim){dims[j].dim, dims[j].step, dims[j].extent, dims[j].stride};
  return oracle;
}

int64_t device_elements(const tesela_device_host *host) {
  int64_t elements = 1;
  for (int32_t d = 0; d < host->rank; d++) elements *= host->shape[d];
  return elements;
}

void device_agrees(const tesela_device_layout *layout) {
  struct oracle_device oracle = device_oracle_of(&layout->host, layout->n_dims, layout->dim);
  int64_t index[ORACLE_DEVICE_RANK] = {0}, start[ORACLE_DEVICE_RANK] = {0}, place, used = 0;
  int64_t copies = oracle_device_copies(&oracle), elements = device_elements(&layout->host);
  tesela_layout core;
  tesela_device_sizes sizes;
  bool *taken = calloc((size_t)layout->places + 1, sizeof *taken);
  OK(tesela_device_to_layout(layout, &core, &e_));
  assert_int_equal(core.axis[0].extent, layout->places);
  assert_int_equal(tesela_layout_copies(&core), copies);
  for (int64_t e = 0; e < elements; e++) {
    for (int64_t k = 0; k < copies; k++) {
      OK(tesela_layout_copy_of(&core, index, k, &place, &e_));
      int64_t expected = oracle_device_place(&oracle, index, k);
      if (place != expected)
        fail_msg("%s: place %" PRId64 ", not %" PRId64, device_text(layout), place, expected);
      assert_true(place >= 0 && place < layout->places && !taken[place]);
      taken[place] = true;
      used++;
    }
    oracle_device_next(layout->host.rank, start, layout->host.shape, index);
  }
  OK(tesela_device_sizes_of(layout, NULL, &sizes, &e_));
  if (elements > 0) assert_int_equal(sizes.padding, layout->places - used);
  free(taken);
}

tesela_device_host device_draw_host(void) {
  static const int64_t extents[] = {1, 1, 2, 3, 5, 7, 8, 9, 16, 17};
  int64_t shape[5];
  int32_t rank = (int32_t)device_between(0, 5);
  for (int32_t d = 0; d < rank; d++) shape[d] = extents[device_between(0, rank > 3 ? 5 : 9)];
  if (rank > 0 && device_between(0, 40) == 0) shape[device_between(0, rank - 1)] = 0;
  return device_host(rank, shape, 8 << device_between(0, 3), (int64_t)8 << device_between(0, 3));
}

void device_shuffle(int32_t n, int32_t *list) {
  for (int32_t k = n; k-- > 1;) {
    int32_t other = (int32_t)device_between(0, k), kept = list[k];
    list[k] = list[other];
    list[other] = kept;
  }
}
