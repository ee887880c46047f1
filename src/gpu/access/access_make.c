/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_make.c - lay a register tile over a tile in memory: the distance per digit of thread and local ids.
 *
 * In:  the modes of the registers and of the memory, dim by dim.
 * Out: the digits of thread and local ids, fastest first, cut where a mode of the memory ends:
 *
 *   dim of 32, registers 8x4, memory 16x2 with strides 64, 1: the cuts are at 2, 4 and 32. The register mode 4 becomes
 *   digits 2 (stride 1) and 2 (stride 64), the mode 8 stays (stride 128).
 *
 * Each cut must divide the next; above the first that does not, the dim is rough: see access.h. Everything is O(modes).
 */
#include "gpu/access/access.h"

/* ---- the machine ------------------------------------------------------------------------------------------------ */

static bool access_field(int32_t given, int32_t standard, int32_t most, bool power, int32_t *out) {
  *out = given == 0 ? standard : given;
  return *out >= 1 && *out <= most && (!power || (*out & (*out - 1)) == 0);
}

tesela_status tesela__access_machine(const tesela_access_machine *machine, tesela_access_machine *full,
                                     tesela_error *err) {
  tesela_access_machine given = {0}, m = {0};
  if (machine) given = *machine;
  const struct {
    const char *name;
    int32_t given, standard, most;
    bool power;
    int32_t *out;
  } fields[] = {
      {"warp", given.warp, 32, TESELA_ACCESS_WARP, false, &m.warp},
      {"banks", given.banks, 32, TESELA__ACCESS_BANKS, true, &m.banks},
      {"bank_bytes", given.bank_bytes, 4, 128, true, &m.bank_bytes},
      {"sector_bytes", given.sector_bytes, 32, 1 << 20, true, &m.sector_bytes},
      {"line_bytes", given.line_bytes, 128, 1 << 20, true, &m.line_bytes},
      {"max_vector_bytes", given.max_vector_bytes, 16, 64, true, &m.max_vector_bytes},
  };
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
    if (!access_field(fields[i].given, fields[i].standard, fields[i].most, fields[i].power, fields[i].out))
      return tesela__fail(err, TESELA_E_RANGE, -1,
                          "%s of the machine is %" PRId32 "; expected 1 to %" PRId32 "%s", fields[i].name,
                          fields[i].given, fields[i].most, fields[i].power ? ", a power of two" : "");
  *full = m;
  return TESELA_OK;
}

/* ---- the modes of a dim ------------------------------------------------------------------------------------------ */

/* The register modes of a dim, and its modes in memory. */
typedef struct access_dim {
  int32_t first, last; /* register modes first .. last-1 */
  int64_t even;        /* indices below this have digits of their own; above, the dim is rough */
  int32_t part;        /* number among the rough dims, or -1 */
  tesela__access_modes modes;
} access_dim;

/* The end of the modes from `first` whose product is this extent, leading modes of 1 included. */
static int32_t access_last_mode(const int64_t *mode_shape, int32_t n_modes, int32_t first, int64_t extent) {
  int64_t product = 1;
  while (first < n_modes && product < extent) product *= mode_shape[first++];
  return first;
}

/* Copy the memory modes [first, last) of a dim, innermost first, and join those that continue each other. */
static tesela__access_modes access_take_modes(tesela__access *access, int32_t at,
                                              const tesela_tile_memory *memory, int32_t first, int32_t last) {
  tesela__access_modes modes = {.first = at, .n = 0};
  int64_t end = 1;
  for (int32_t m = last - 1; m >= first; m--) {
    int64_t extent = memory->mode_shape[m], stride = memory->mode_strides[m];
    if (extent == 1) continue;
    int32_t k = at + modes.n - 1;
    if (modes.n > 0 && stride == access->mode_stride[k] * access->mode_extent[k]) {
      access->mode_extent[k] *= extent;
    } else {
      k = at + modes.n++;
      access->mode_extent[k] = extent;
      access->mode_stride[k] = stride;
    }
    end *= extent;
    access->mode_end[k] = end;
  }
  return modes;
}

/* The largest index up to which each end of a register or memory mode divides the next one; beyond, the two next ends
 * still have a common divisor: 48 and 32 share digits below 16. */
static int64_t access_even(const tesela__access *access, const tesela_register *registers,
                           const access_dim *dim, int64_t extent) {
  int64_t at = 1, ours = 1;
  int32_t k = dim->modes.first, m = dim->last - 1;
  while (at < extent) { /* both lists end with the extent, and `at` divides their next ends */
    while (ours <= at) ours *= registers->mode_shape[m--];
    while (access->mode_end[k] <= at) k++;
    int64_t low = tesela__min(ours, access->mode_end[k]), high = tesela__max(ours, access->mode_end[k]);
    if (high % low != 0) return tesela__gcd(low, high);
    at = low;
  }
  return extent;
}

/* The modes of a rough dim above dim->even; the mode that contains it is cut in two. */
static tesela__access_modes access_above(tesela__access *access, access_dim *dim) {
  int32_t k = dim->modes.first, stop = k + dim->modes.n;
  int64_t even = dim->even;
  while (access->mode_end[k] <= even) k++;
  int64_t start = access->mode_end[k] / access->mode_extent[k];
  if (start < even) {
    for (int32_t i = stop; i > k; i--) {
      access->mode_extent[i] = access->mode_extent[i - 1];
      access->mode_stride[i] = access->mode_stride[i - 1];
      access->mode_end[i] = access->mode_end[i - 1];
    }
    access->mode_extent[k] = even / start;
    access->mode_end[k] = even;
    access->mode_extent[k + 1] /= even / start;
    access->mode_stride[k + 1] *= even / start;
    dim->modes.n++;
    stop++;
    k++;
  }
  return (tesela__access_modes){k, stop - k};
}

/* ---- digits ------------------------------------------------------------------------------------------------------ */

static void access_add(tesela__access_digits *digits, int64_t extent, int64_t stride, int32_t part) {
  if (extent > 1) digits->digit[digits->n++] = (tesela__access_digit){extent, stride, part};
}

/* A register mode of `extent` steps of `inside` indices, fastest digit first. */
static void access_add_mode(tesela__access_digits *digits, const tesela__access *access,
                            const access_dim *dim, int64_t inside, int64_t extent) {
  int64_t at = inside, end = inside * extent, even = tesela__min(end, dim->even);
  for (int32_t k = dim->modes.first; at < even; k++) {
    if (access->mode_end[k] <= at) continue;
    int64_t start = access->mode_end[k] / access->mode_extent[k],
            next = tesela__min(even, access->mode_end[k]);
    access_add(digits, next / at, access->mode_stride[k] * (at / start), -1);
    at = next;
  }
  if (at < end) access_add(digits, end / at, at / dim->even, dim->part);
}

/* The dim of each register mode, and the indices per step of the mode. */
typedef struct access_plan {
  int32_t dim[TESELA_REGISTER_MODES];
  int64_t inside[TESELA_REGISTER_MODES];
  access_dim dims[TESELA_MAX_RANK];
} access_plan;

static void access_plan_dims(access_plan *plan, tesela__access *access, const tesela_register *registers,
                             const tesela_tile_memory *memory) {
  int32_t ours = 0, theirs = 0, taken = 0;
  for (int32_t d = 0; d < registers->rank; d++) {
    access_dim *dim = &plan->dims[d];
    dim->first = ours;
    dim->last = ours = access_last_mode(registers->mode_shape, registers->n_modes, ours, registers->shape[d]);
    int32_t end = access_last_mode(memory->mode_shape, memory->n_modes, theirs, memory->shape[d]);
    dim->modes = access_take_modes(access, taken, memory, theirs, end);
    theirs = end;
    dim->part = -1;
    dim->even = access_even(access, registers, dim, registers->shape[d]);
    if (dim->even < registers->shape[d]) {
      dim->part = access->n_rough;
      access->rough[access->n_rough++] = access_above(access, dim);
    }
    taken += dim->modes.n;
    int64_t inside = 1;
    for (int32_t m = dim->last - 1; m >= dim->first; m--) {
      plan->dim[m] = d;
      plan->inside[m] = inside;
      inside *= registers->mode_shape[m];
    }
  }
}

static void access_digits(tesela__access *access, const access_plan *plan, const tesela_register *registers) {
  access->thread.n = access->local.n = 0;
  for (int32_t i = registers->n_spatial - 1; i >= 0; i--) {
    int64_t m = registers->spatial_modes[i];
    if (m < 0)
      access_add(&access->thread, -m, 0, -1);
    else if (registers->mode_shape[m] > 1)
      access_add_mode(&access->thread, access, &plan->dims[plan->dim[m]], plan->inside[m],
                      registers->mode_shape[m]);
  }
  for (int32_t i = registers->n_local - 1; i >= 0; i--) {
    int32_t m = registers->local_modes[i];
    if (registers->mode_shape[m] > 1)
      access_add_mode(&access->local, access, &plan->dims[plan->dim[m]], plan->inside[m],
                      registers->mode_shape[m]);
  }
}

/* ---- the access -------------------------------------------------------------------------------------------------- */

static tesela_status access_check(const tesela_register *registers, const tesela_tile_memory *memory,
                                  int32_t bits, tesela_error *err) {
  int64_t total;
  if (bits < 1 || bits > 128)
    return tesela__fail(err, TESELA_E_RANGE, -1, "elements of %" PRId32 " bits; expected 1 to 128", bits);
  if (registers->rank != memory->rank)
    return tesela__fail(err, TESELA_E_MISMATCH, -1,
                        "registers of rank %" PRId32 ", but memory of rank %" PRId32, registers->rank,
                        memory->rank);
  for (int32_t d = 0; d < registers->rank; d++)
    if (registers->shape[d] != memory->shape[d])
      return tesela__fail(err, TESELA_E_MISMATCH, -1,
                          "dim %" PRId32 " is %" PRId64 " in registers, but %" PRId64 " in memory", d,
                          registers->shape[d], memory->shape[d]);
  if (!tesela__mul(registers->spatial_size, registers->local_size, &total) || total > TESELA_ACCESS_LIMIT)
    return tesela__fail(err, TESELA_E_LIMIT, -1,
                        "%" PRId64 " threads with %" PRId64 " registers each; expected at most %" PRId64
                        " registers in total",
                        registers->spatial_size, registers->local_size, TESELA_ACCESS_LIMIT);
  if (!tesela__mul(memory->size, bits, &total))
    return tesela__fail(err, TESELA_E_OVERFLOW, -1, "%" PRId64 " places of %" PRId32 " bits exceed 2^63 bits",
                        memory->size, bits);
  return TESELA_OK;
}

static tesela__access_swizzle access_stage(tesela_tile_swizzle s) {
  if (s.bits == 0) return (tesela__access_swizzle){0, 0, 0};
  return (tesela__access_swizzle){(UINT64_C(1) << s.bits) - 1, s.base + (s.shift > 0 ? s.shift : 0),
                                  s.base - (s.shift < 0 ? s.shift : 0)};
}

tesela_status tesela__access_make(tesela__access *access, const tesela_register *registers,
                                  const tesela_tile_memory *memory, int32_t bits,
                                  const tesela_access_machine *full, tesela_error *err) {
  tesela_status status = access_check(registers, memory, bits, err);
  if (status != TESELA_OK) return status;
  access_plan plan;
  access->bits = bits;
  access->max_vector_bytes = full->max_vector_bytes;
  access->threads = registers->spatial_size;
  access->locals = registers->local_size;
  access->offset = memory->offset;
  access->swizzle = access_stage(memory->swizzle);
  access->n_rough = 0;
  access_plan_dims(&plan, access, registers, memory);
  access_digits(access, &plan, registers);
  return TESELA_OK;
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

void tesela__access_start(tesela__access_walk *walk, const tesela__access_digits *digits, int64_t id) {
  walk->digits = digits;
  walk->place = 0;
  memset(walk->part, 0, sizeof walk->part);
  for (int32_t i = 0; i < digits->n; i++) {
    const tesela__access_digit *digit = &digits->digit[i];
    walk->at[i] = id % digit->extent;
    id /= digit->extent;
    *(digit->part < 0 ? &walk->place : &walk->part[digit->part]) += walk->at[i] * digit->stride;
  }
}

void tesela__access_take(tesela__access_lanes *lanes, const tesela__access *access,
                         tesela__access_walk *thread, int32_t n) {
  lanes->n = n;
  for (int32_t i = 0; i < n; i++, tesela__access_next(thread)) {
    lanes->place[i] = thread->place;
    for (int32_t k = 0; k < access->n_rough; k++) lanes->part[i][k] = thread->part[k];
  }
}

int64_t tesela__access_through_rough(const tesela__access *access, const int64_t *thread_part,
                                     const int64_t *local_part) {
  int64_t place = 0;
  for (int32_t r = 0; r < access->n_rough; r++) {
    int64_t index = thread_part[r] + local_part[r];
    const tesela__access_modes *modes = &access->rough[r];
    for (int32_t k = modes->first; k < modes->first + modes->n; k++) {
      place += index % access->mode_extent[k] * access->mode_stride[k];
      index /= access->mode_extent[k];
    }
  }
  return place;
}
