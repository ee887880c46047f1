/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_from_layout.c - register layouts, tiles in memory and device layouts of relations: of those that they make themselves (each
 * comes back), and of random other ones of up to 64 places, where a search through all lists of modes says whether there is one.
 *
 * TESELA_SEEDS: random layouts of each kind (default: 600, 150 in slow runs).
 */
#include "support_seed.h"
#include "support_xla.h"

static uint64_t random_state;

static int64_t below(int64_t n) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (int64_t)((random_state >> 11) % (uint64_t)n);
}

static int64_t runs(void) {
  const char *text = getenv("TESELA_SEEDS");
  if (text) return strtoll(text, NULL, 10);
  return slow_run() ? 150 : 600;
}

static void shuffle(int32_t n, int64_t *list) {
  for (int32_t i = n - 1; i > 0; i--) {
    int32_t k = (int32_t)below(i + 1);
    int64_t x = list[i];
    list[i] = list[k];
    list[k] = x;
  }
}

/* Modes of random dims: extents 1 to 4, up to `most` elements. Returns the number of modes. */
static int32_t random_modes(int32_t rank, int64_t *shape, int64_t *mode, int64_t most) {
  int32_t n = 0;
  int64_t elements = 1;
  for (int32_t d = 0; d < rank; d++) {
    shape[d] = 1;
    for (int32_t k = (int32_t)below(3); k >= 0; k--) {
      int64_t extent = 2 + below(3);
      if (elements * extent > most) continue;
      elements *= extent;
      shape[d] *= extent;
      mode[n++] = extent;
    }
  }
  return n;
}

/* ---- what they make themselves ------------------------------------------------------------------------------------- */

static void register_layouts_come_back(void **state) {
  (void)state;
  random_state = first_seed() | 1;
  int64_t n = runs(), copied = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t shape[4], mode[16], list[24], local[16];
    int32_t rank = (int32_t)below(4), modes = random_modes(rank, shape, mode, 4000), spatial = 0, locals = 0;
    tesela_register made, back;
    tesela_layout layout;
    tesela_translation answer;
    for (int32_t m = 0; m < modes; m++) list[m] = m;
    shuffle(modes, list);
    int32_t cut = (int32_t)below(modes + 1);
    for (int32_t m = cut; m < modes; m++) local[locals++] = list[m];
    spatial = cut;
    for (int32_t r = (int32_t)below(3); r > 0; r--) list[spatial++] = -1 - below(4);
    shuffle(spatial, list);
    OK(tesela_register_make(&made, rank, shape, modes, mode, spatial, list, locals, local, &e_));
    OK(tesela_register_to_layout(&made, TESELA_F16, 16, &layout, &e_));
    OK(tesela_register_from_layout(&layout, &back, &answer, &e_));
    if (answer.verdict != TESELA_EXACT) fail_msg("case %" PRId64 ": %s", i, answer.reason);
    if (!tesela_register_same(&made, &back)) fail_msg("case %" PRId64 ": another layout", i);
    copied += tesela_register_copies(&made) > 1;
  }
  printf("%" PRId64 " register layouts: all come back; %" PRId64 " with replicas\n", n, copied);
}

static void tiles_come_back(void **state) {
  (void)state;
  random_state = first_seed() | 1;
  int64_t n = runs(), swizzled = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t shape[4], mode[16], order[16], strides[16], index[4] = {0}, stride = 1;
    int32_t rank = (int32_t)below(4), modes = random_modes(rank, shape, mode, 600);
    tesela_tile_memory made, back;
    tesela_tile_swizzle swizzle = {0, 0, 0};
    tesela_layout layout;
    tesela_translation answer;
    for (int32_t m = 0; m < modes; m++) order[m] = m;
    shuffle(modes, order);
    for (int32_t m = 0; m < modes; m++) {
      strides[order[m]] = below(10) ? stride : below(30);
      stride *= mode[order[m]];
      if (below(5) == 0) stride += below(4);
    }
    if (below(2)) {
      swizzle.bits = 1 + (int32_t)below(3);
      swizzle.base = (int32_t)below(4);
      swizzle.shift = swizzle.bits + (int32_t)below(3);
      if (below(3) == 0) swizzle.shift = -swizzle.shift;
    }
    OK(tesela_tile_memory_make(&made, TESELA_TILE_SHARED, rank, shape, modes, mode, strides,
                               below(6) ? 0 : below(40), &swizzle, &e_));
    OK(tesela_tile_memory_to_layout(&made, TESELA_F16, 16, &layout, &e_));
    OK(tesela_tile_memory_from_layout(&layout, TESELA_TILE_SHARED, &back, &answer, &e_));
    if (answer.verdict != TESELA_EXACT) fail_msg("case %" PRId64 ": %s", i, answer.reason);
    do {
      int64_t a, b;
      OK(tesela_tile_memory_place(&made, index, &a, &e_));
      OK(tesela_tile_memory_place(&back, index, &b, &e_));
      if (a != b) fail_msg("case %" PRId64 ": another tile", i);
    } while (tesela_index_next(rank, shape, index));
    swizzled += back.swizzle.bits > 0;
  }
  printf("%" PRId64 " tiles: all come back; %" PRId64 " with a swizzle\n", n, swizzled);
}

/* A device layout from an order, or from dims with strides; false: not a device layout. */
static bool random_device(tesela_device_layout *out, const tesela_device_host *host) {
  static const tesela_order orders[] = {TESELA_ORDER_GENERIC, TESELA_ORDER_STICK_OUTER,
                                        TESELA_ORDER_INNER_PAIR, TESELA_ORDER_GENERIC_JAN26};
  int32_t order[8], n = host->rank;
  for (int32_t d = 0; d < n; d++) {
    int32_t k = (int32_t)below(d + 1);
    order[d] = order[k];
    order[k] = d;
  }
  if (n == 0 || below(5) == 0) order[n++] = TESELA_STICK_SPARSE;
  tesela_device_padding padding = {{0}};
  for (int32_t d = 0; d < host->rank; d++)
    if (below(4) == 0) padding.to[d] = host->shape[d] + below(9);
  return tesela_device_from_order(out, host, orders[below(4)], NULL, n, order, &padding, NULL) == TESELA_OK;
}

static void device_layouts_come_back(void **state) {
  (void)state;
  random_state = first_seed() | 1;
  int64_t n = 0, strided = 0;
  const tesela_target *target = tesela_target_find("spyre");
  for (int64_t i = 0; i < runs(); i++) {
    int64_t shape[4], index[4] = {0};
    int32_t rank = (int32_t)below(4);
    tesela_device_host host;
    tesela_device_layout made, back;
    tesela_layout a, b;
    tesela_translation answer;
    for (int32_t d = 0; d < rank; d++) shape[d] = 1 + below(below(3) ? 9 : 150);
    OK(tesela_device_host_of(&host, target, TESELA_F16, rank, shape, &e_));
    if (!random_device(&made, &host)) continue;
    n++;
    if (below(6) == 0) { /* the same dims with wider strides */
      for (int32_t k = 0; k < made.n_dims - 1; k++) made.dim[k].stride *= 3;
      if (tesela_device_from_dims(&made, &host, made.n_dims, made.dim, true, made.stick_dims, NULL) !=
          TESELA_OK)
        continue;
      strided++;
    }
    OK(tesela_device_to_layout(&made, &a, &e_));
    OK(tesela_device_from_layout(&a, NULL, &back, &answer, &e_));
    if (answer.verdict != TESELA_EXACT) fail_msg("case %" PRId64 ": %s", i, answer.reason);
    OK(tesela_device_to_layout(&back, &b, &e_));
    do {
      int64_t p, q;
      OK(tesela_layout_place_of(&a, index, &p, &e_));
      OK(tesela_layout_place_of(&b, index, &q, &e_));
      if (p != q) fail_msg("case %" PRId64 ": another layout", i);
    } while (tesela_index_next(rank, shape, index));
  }
  printf("%" PRId64 " device layouts: all come back; %" PRId64 " with strides\n", n, strided);
}

/* ---- all layouts of a small shape ------------------------------------------------------------------------------------ */

enum { SMALL = 64 };

typedef struct places { /* of each element: the set of its threads, and its local id; of tiles: its place */
  int64_t n;
  uint64_t thread[SMALL];
  int64_t local[SMALL];
} places;

/* All ways to cut dims evenly; calls with the modes of all dims, outermost first. */
typedef struct factors {
  int32_t rank, n;
  const int64_t *shape;
  int64_t mode[16];
  int32_t dim[16];
  const places *wanted;
  bool found;
  /* of register layouts */
  int64_t copies;
  int32_t n_list;
  int64_t list[20]; /* modes 0 .., replicas as minus the copies */
  uint32_t used;
} factors;

typedef void check_modes(factors *f);

static void all_factors(factors *f, int32_t d, int64_t left, check_modes *check) {
  if (f->found) return;
  if (d == f->rank) {
    check(f);
    return;
  }
  if (left == 1) {
    all_factors(f, d + 1, d + 1 < f->rank ? f->shape[d + 1] : 1, check);
    return;
  }
  for (int64_t extent = 2; extent <= left; extent++) {
    if (left % extent != 0) continue;
    f->mode[f->n] = extent;
    f->dim[f->n++] = d;
    all_factors(f, d, left / extent, check);
    f->n--;
  }
}

/* The digit of each mode, of one element. */
static void digits_of(const factors *f, int64_t element, int64_t *digit) {
  int64_t index[4];
  for (int32_t d = f->rank - 1; d >= 0; d--) {
    index[d] = element % f->shape[d];
    element /= f->shape[d];
  }
  for (int32_t m = f->n - 1; m >= 0; m--) {
    digit[m] = index[f->dim[m]] % f->mode[m];
    index[f->dim[m]] /= f->mode[m];
  }
}

/* The modes in f->list, the first `spatial` of them threads. */
static void check_lists(factors *f, int32_t spatial) {
  for (int64_t e = 0; e < f->wanted->n && !f->found; e++) {
    int64_t digit[16], local = 0, thread[64] = {0}, n = 1;
    uint64_t threads = 0;
    digits_of(f, e, digit);
    for (int32_t i = 0; i < f->n_list; i++) {
      int64_t entry = f->list[i];
      if (i >= spatial) {
        local = local * f->mode[entry] + digit[entry];
        continue;
      }
      if (entry >= 0) {
        for (int64_t k = 0; k < n; k++) thread[k] = thread[k] * f->mode[entry] + digit[entry];
        continue;
      }
      if (n * -entry > 64) return;
      for (int64_t k = n * -entry - 1; k >= 0; k--) thread[k] = thread[k / -entry] * -entry + k % -entry;
      n *= -entry;
    }
    for (int64_t k = 0; k < n; k++) {
      if (thread[k] > 63) return;
      threads |= UINT64_C(1) << thread[k];
    }
    if (threads != f->wanted->thread[e] || local != f->wanted->local[e]) return;
  }
  f->found = true;
}

static void all_lists(factors *f, int64_t copies) {
  if (f->found) return;
  if (f->used == ((uint32_t)1 << f->n) - 1 && copies == 1) {
    for (int32_t spatial = 0; spatial <= f->n_list && !f->found; spatial++) {
      bool fits = true;
      for (int32_t i = spatial; i < f->n_list; i++) fits = fits && f->list[i] >= 0;
      if (fits) check_lists(f, spatial);
    }
    return;
  }
  for (int32_t m = 0; m < f->n; m++) {
    if (f->used >> m & 1) continue;
    f->used |= (uint32_t)1 << m;
    f->list[f->n_list++] = m;
    all_lists(f, copies);
    f->n_list--;
    f->used &= ~((uint32_t)1 << m);
  }
  for (int64_t c = 2; c <= copies; c++) {
    if (copies % c != 0) continue;
    f->list[f->n_list++] = -c;
    all_lists(f, copies / c);
    f->n_list--;
  }
}

static void check_register_modes(factors *f) {
  f->used = 0;
  f->n_list = 0;
  all_lists(f, f->copies);
}

static int64_t turn(int32_t bits, int32_t base, int32_t shift, int64_t x) {
  int64_t mask = ((int64_t)1 << bits) - 1;
  return shift >= 0 ? x ^ ((x >> (base + shift) & mask) << base) : x ^ ((x >> base & mask) << (base - shift));
}

/* All swizzles of up to 6 bits; strides are read from the values. */
static void check_tile_modes(factors *f) {
  for (int32_t bits = 0; bits <= 3; bits++)
    for (int32_t base = 0; base + 2 * bits <= 6; base++)
      for (int32_t shift = -6; shift <= 6 && !f->found; shift++) {
        int32_t distance = shift < 0 ? -shift : shift;
        if (distance < bits || base + distance + bits > 6) continue;
        int64_t stride[16] = {0}, first = turn(bits, base, shift, f->wanted->local[0]);
        bool fits = true;
        for (int64_t e = 0; e < f->wanted->n; e++) {
          int64_t digit[16], units = 0, which = 0;
          digits_of(f, e, digit);
          for (int32_t m = 0; m < f->n; m++) {
            units += digit[m];
            if (digit[m]) which = m;
          }
          if (units == 1) stride[which] = turn(bits, base, shift, f->wanted->local[e]) - first;
        }
        for (int32_t m = 0; m < f->n; m++) fits = fits && stride[m] >= 0;
        for (int64_t e = 0; e < f->wanted->n && fits; e++) {
          int64_t digit[16], place = first;
          digits_of(f, e, digit);
          for (int32_t m = 0; m < f->n; m++) place += digit[m] * stride[m];
          fits = place >= 0 && turn(bits, base, shift, place) == f->wanted->local[e];
        }
        f->found = f->found || fits;
      }
}

/* ---- random relations -------------------------------------------------------------------------------------------------- */

/* Random splits and strides; registers: on thread and local. */
static bool random_relation(int32_t rank, const int64_t *shape, bool registers, tesela_layout *layout) {
  int32_t digit[16], n = rank, axis[2] = {0, 0};
  int64_t order[16], stride[2] = {1, 1};
  OK(tesela_layout_begin(layout, TESELA_F16, 16, rank, shape, &e_));
  OK(tesela_layout_add_axis(layout, registers ? "thread" : "memory", &axis[0], &e_));
  if (registers) OK(tesela_layout_add_axis(layout, "local", &axis[1], &e_));
  for (int32_t d = 0; d < rank; d++) digit[d] = d;
  for (int32_t splits = (int32_t)below(4); splits > 0; splits--, n++)
    OK(tesela_layout_split(layout, digit[below(n)], 1 + below(4), &digit[n], &e_));
  if (registers && below(2)) {
    OK(tesela_layout_add_digit(layout, TESELA_REPLICA, 2, &digit[n], &e_));
    n++;
  }
  for (int32_t k = 0; k < n; k++) order[k] = k;
  shuffle(n, order);
  for (int32_t k = 0; k < n; k++) {
    int32_t i = digit[order[k]],
            a = registers && layout->digit[i].source != TESELA_REPLICA ? (int32_t)below(2) : 0;
    if (layout->digit[i].source == TESELA_REPLICA && below(16) == 0) a = axis[1] ? 1 : 0;
    OK(tesela_layout_place(layout, i, axis[a], below(12) ? stride[a] : 1 + below(12), &e_));
    stride[a] *= layout->digit[i].extent;
    if (below(10) == 0) stride[a] += below(3);
  }
  if (below(3) == 0) {
    int16_t bits = (int16_t)(1 + below(2));
    tesela_swizzle swizzle = {0, bits, (int16_t)below(2), (int16_t)(bits + below(2))};
    if (below(3) == 0) swizzle.shift = (int16_t)-swizzle.shift;
    OK(tesela_layout_add_swizzle(layout, swizzle, &e_));
    if (below(6) == 0) OK(tesela_layout_add_swizzle(layout, (tesela_swizzle){0, 1, 0, 2}, &e_));
  }
  return tesela_layout_finish(layout, NULL) == TESELA_OK;
}

static const struct {
  int32_t rank;
  int64_t shape[3];
} small_shapes[] = {{1, {6, 1, 1}}, {1, {8, 1, 1}}, {1, {12, 1, 1}}, {2, {2, 3, 1}}, {2, {4, 4, 1}},
                    {2, {3, 4, 1}}, {2, {8, 4, 1}}, {3, {2, 2, 2}},  {3, {2, 3, 4}}, {2, {1, 16, 1}}};

static void small_relations(bool registers) {
  int64_t rates[2] = {0}, undecided = 0;
  random_state = first_seed() | 1;
  for (int64_t i = 0; i < runs(); i++) {
    size_t which = (size_t)below((int64_t)(sizeof small_shapes / sizeof small_shapes[0]));
    const int64_t *shape = small_shapes[which].shape;
    int32_t rank = small_shapes[which].rank;
    tesela_layout layout;
    tesela_translation answer;
    tesela_register found;
    tesela_tile_memory tile;
    int64_t index[3] = {0};
    places wanted = {.n = 0};
    tesela_error err = {.message = ""};
    if (!random_relation(rank, shape, registers, &layout) || layout.axis[0].extent > 64) continue;
    int64_t copies = tesela_layout_copies(&layout);
    bool one_local = true;
    do {
      for (int64_t k = 0; k < copies; k++) {
        int64_t place[2] = {0};
        OK(tesela_layout_copy_of(&layout, index, k, place, &e_));
        wanted.thread[wanted.n] |= UINT64_C(1) << place[0];
        one_local = one_local && (k == 0 || place[1] == wanted.local[wanted.n]);
        wanted.local[wanted.n] = registers ? place[1] : place[0];
      }
      wanted.n++;
    } while (tesela_index_next(rank, shape, index));
    factors f = {.rank = rank, .shape = shape, .wanted = &wanted, .copies = copies};
    if (one_local) all_factors(&f, 0, shape[0], registers ? check_register_modes : check_tile_modes);
    tesela_status status =
        registers ? tesela_register_from_layout(&layout, &found, &answer, &err)
                  : tesela_tile_memory_from_layout(&layout, TESELA_TILE_SHARED, &tile, &answer, &err);
    if (status == TESELA_E_UNSUPPORTED && registers && copies > 1 && layout.swizzle.n > 0) {
      undecided++;
      continue;
    }
    if (status != TESELA_OK) fail_msg("case %" PRId64 ": %s", i, err.message);
    if (f.found != (answer.verdict == TESELA_EXACT))
      fail_msg("case %" PRId64 ": [%" PRId64 ",%" PRId64 ",%" PRId64 "]: %s, but the search says %s (%s)", i,
               shape[0], shape[1], shape[2], tesela_verdict_name(answer.verdict),
               f.found ? "exact" : "impossible", answer.reason);
    rates[f.found]++;
    if (f.found && !registers) {
      memset(index, 0, sizeof index);
      for (int64_t e = 0; e < wanted.n; e++, tesela_index_next(rank, shape, index)) {
        int64_t place;
        OK(tesela_tile_memory_place(&tile, index, &place, &e_));
        AGREE("tile", place, wanted.local[e]);
      }
    }
    if (f.found && registers) {
      memset(index, 0, sizeof index);
      for (int64_t e = 0; e < wanted.n; e++, tesela_index_next(rank, shape, index)) {
        int64_t thread, local;
        uint64_t threads = 0;
        for (int64_t k = 0; k < tesela_register_copies(&found); k++) {
          OK(tesela_register_get_spatial(&found, index, k, &thread, &e_));
          threads |= UINT64_C(1) << thread;
        }
        OK(tesela_register_get_local(&found, index, &local, &e_));
        assert_true(threads == wanted.thread[e] && local == wanted.local[e]);
      }
    }
    if (!f.found && answer.contradiction == TESELA_CONTRADICTION_PLACE) {
      int64_t place[2];
      OK(tesela_layout_place_of(&layout, answer.index, place, &e_));
      AGREE("contradiction", place[answer.axis], answer.place);
      assert_true(answer.place != answer.expected);
    }
  }
  printf("%s of up to 64 places: %" PRId64 " exact, %" PRId64 " impossible, %" PRId64 " undecided\n",
         registers ? "threads and registers" : "tiles", rates[1], rates[0], undecided);
  assert_true(4 * undecided < rates[0]);
  assert_true(10 * rates[0] > rates[1] && 10 * rates[1] > rates[0]);
}

static void no_small_register_layout_is_missed(void **state) {
  (void)state;
  small_relations(true);
}

static void no_small_tile_is_missed(void **state) {
  (void)state;
  small_relations(false);
}

/* ---- by name ----------------------------------------------------------------------------------------------------------- */

static void translations_by_name(void **state) {
  (void)state;
  static const struct {
    const char *from, *to, *text; /* text: NULL if impossible */
  } rows[] = {
      {"bf16[20,200]{1,0:T(8,128)(2,1)}", "jax",
       "Layout(major_to_minor=(0, 1), tiling=((8, 128), (2, 1)), sub_byte_element_size_in_bits=0)"},
      {"f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", "jax", NULL},
      {"f16[1000,200]{0,1:T(64,1)}", "device", "f16[1000,200] stick(dim_order=[0,1])"},
      {"f16[1000,200] stick(dim_order=[0,1])", "xla", "f16[1000,200]{0,1:T(64,1)}"},
      {"f16[] stick(dim_order=[-1])", "device", "f16[] stick(dims=[(-1,0,64)])"},
      {"map(d0:4, d1:6) of f32 -> memory[50]: 8*d0 + d1 + 3", "device", NULL},
      {"map(d0:64; copies r0:3) of f32 -> memory[192]: d0 + 64*r0", "device",
       "f32[64] stick(dims=[(-2,0,3),(0,32,2),(0,1,32)])"},
      {"local(3, 4).spatial(2, 3)", "register", "local(3, 4).spatial(2, 3)"},
      {"map(d0:12; copies r0:2) -> thread[8]: d0/3 + 4*r0; local[3]: d0%3", "register",
       "replicated(1, num_workers=2).spatial(4).local(3)"},
      {"map(d0:64) -> register[2]: d0%2; lane[32]: d0/2; warp[1]: 0", "register", "spatial(32).local(2)"},
      {"map(d0:64, d1:2) -> register[2]: d1; lane[32]: d0%32; warp[2]: d0/32", "register",
       "spatial(64, 1).local(1, 2)"},
      {"map(d0:4, d1:4) -> thread[16]: 4*d0 + d1; local[1]: 0; thread ^= thread/4%4", "register", NULL},
      {"f32[4,6]", "register", NULL},
      {"f32[4,6]", "shared", "shared_row_major(4, 6)"},
      {"f32[4,6]{0,1}", "global", "global_column_major(4, 6)"},
      {"map(d0:4, d1:8) -> memory[32]: 8*d0 + d1; memory ^= 2*(memory/8%4)", "shared",
       "SharedLayout(shape=[4, 8], mode_shape=[4, 8], mode_strides=[8, 1], swizzle=Swizzle(base=1, bits=2, "
       "shift=2))"},
      {"f32[4,6]{1,0:T(2,2)}", "shared",
       "SharedLayout(shape=[4, 6], mode_shape=[2, 2, 3, 2], mode_strides=[12, 2, 4, 1])"},
      {"f32[3,5]{1,0:T(2,2)}", "shared", NULL},
      {"local(3, 4).spatial(2, 3)", "shared", NULL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tesela_any_layout any;
    tesela_translation answer;
    char text[TEXT] = "";
    tesela_buffer buffer = {text, sizeof text, 0};
    tesela_writer writer = tesela_buffer_writer(&buffer);
    tesela_error err = {.message = ""};
    OK(tesela_layout_read(rows[i].from, strlen(rows[i].from), NULL, &any, &e_));
    if (tesela_translate(&any, rows[i].to, &writer, &answer, &err) != TESELA_OK)
      fail_msg("%s to %s: %s", rows[i].from, rows[i].to, err.message);
    if (strcmp(text, rows[i].text ? rows[i].text : "") != 0)
      fail_msg("%s to %s: %s%s", rows[i].from, rows[i].to, text, answer.reason);
    assert_int_equal(answer.verdict, rows[i].text ? TESELA_EXACT : TESELA_IMPOSSIBLE);
  }
}

/* A layout without a type is refused, not impossible. */
static void types_are_needed(void **state) {
  (void)state;
  static const char *const names[] = {"xla", "jax", "device"};
  const char *from = "map(d0:4, d1:6) -> memory[24]: 6*d0 + d1";
  for (int i = 0; i < 3; i++) {
    tesela_any_layout any;
    tesela_translation answer;
    char text[TEXT];
    tesela_buffer buffer = {text, sizeof text, 0};
    tesela_writer writer = tesela_buffer_writer(&buffer);
    tesela_error err = {.message = ""};
    OK(tesela_layout_read(from, strlen(from), NULL, &any, &e_));
    assert_int_equal(tesela_translate(&any, names[i], &writer, &answer, &err), TESELA_E_UNSUPPORTED);
    if (!strstr(err.message, "an element type")) fail_msg("%s", err.message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(translations_by_name),       cmocka_unit_test(types_are_needed),
      cmocka_unit_test(register_layouts_come_back), cmocka_unit_test(tiles_come_back),
      cmocka_unit_test(device_layouts_come_back),   cmocka_unit_test(no_small_register_layout_is_missed),
      cmocka_unit_test(no_small_tile_is_missed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
