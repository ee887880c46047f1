/* SPDX-License-Identifier: Apache-2.0 */
/*
 * propagate_family.c - the layouts that buffers can have, prices of moves between them, and hints.
 *
 * Buffers of one type and shape share a family. A buffer with a set layout has only that candidate; a layout outside the
 * target's family makes a family of its own with one more candidate.
 */
#include "graph/propagate/propagate.h"

/* ---- hashed lists ---- */

uint64_t tesela__propagate_hash(uint64_t hash, int64_t word) {
  uint64_t bits = (uint64_t)word;
  for (int k = 0; k < 8; k++) hash = (hash ^ (bits >> 8 * k & 255)) * 1099511628211u;
  return hash ^ hash >> 29;
}

bool tesela__slots_room(tesela__slots *slots, const tesela_allocator *allocator, int32_t n,
                        uint64_t (*hash)(const tesela_propagation *p, int32_t k),
                        const tesela_propagation *p) {
  if (slots->n > 2 * (size_t)n) return true;
  size_t room = slots->n ? slots->n * 4 : 64;
  int32_t *slot = tesela__alloc(allocator, room * sizeof *slot, alignof(int32_t));
  if (!slot) return false;
  memset(slot, 0, room * sizeof *slot);
  for (int32_t k = 0; k < n - 1; k++) {
    size_t i = (size_t)hash(p, k) & (room - 1);
    while (slot[i] != 0) i = (i + 1) & (room - 1);
    slot[i] = k + 1;
  }
  tesela__release(allocator, slots->slot);
  *slots = (tesela__slots){slot, room};
  return true;
}

/* ---- a family ---- */

static uint64_t family_hash(const tesela_propagation *p, int32_t k) { return p->families[k].hash; }

static uint64_t family_hash_node(const tesela_node *node) {
  uint64_t hash = tesela__propagate_hash(14695981039346656037u, (int64_t)node->dtype);
  hash = tesela__propagate_hash(hash, node->bits);
  for (int32_t d = 0; d < node->rank; d++) hash = tesela__propagate_hash(hash, node->shape[d]);
  return hash;
}

static bool family_same(const tesela_node *a, const tesela_node *b) {
  return a->dtype == b->dtype && a->bits == b->bits && a->rank == b->rank &&
         memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
}

/* The host side; a type with only a known width is stored unchanged. */
static tesela_status family_host(const tesela_target *target, const tesela_node *node,
                                 tesela_device_host *host, tesela_error *err) {
  if (node->dtype != TESELA_DTYPE_NONE)
    return tesela_device_host_of(host, target, node->dtype, node->rank, node->shape, err);
  if (node->rank > target->max_rank)
    return tesela__fail(err, TESELA_E_LIMIT, -1, "rank %" PRId32 "; target %s allows at most %" PRId32,
                        node->rank, target->name, target->max_rank);
  int32_t bits = (node->bits + 7) / 8 * 8;
  if (target->stick_bytes % (bits / 8) != 0)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1,
                        "a stick of %" PRId64 " bytes is not a whole number of elements of %" PRId32 " bytes",
                        target->stick_bytes, bits / 8);
  *host = (tesela_device_host){
      .bits = node->bits, .device_bits = bits, .stick_bytes = target->stick_bytes, .rank = node->rank};
  memcpy(host->shape, node->shape, (size_t)node->rank * sizeof *node->shape);
  return TESELA_OK;
}

int32_t tesela__family_candidate(const tesela__family *family, int32_t stick) {
  for (int32_t c = 0; c < family->n; c++)
    if (c != family->given && family->stick[c] == stick) return c;
  return -1;
}

bool tesela__stick_is_sparse(int32_t rank, const int64_t *shape, int32_t stick) {
  bool longer = false;
  for (int32_t d = 0; d < rank; d++) longer = longer || shape[d] > 1;
  return longer && (stick == TESELA_STICK_SPARSE || (stick >= 0 && shape[stick] == 1));
}

bool tesela__family_sparse(const tesela__family *family, int32_t candidate) {
  return tesela__stick_is_sparse(family->rank, family->layout[candidate].host.shape,
                                 family->stick[candidate]);
}

/* Prices of all moves of a family. */
static tesela_status family_prices(tesela_propagation *p, tesela__family *family, tesela_error *err) {
  const tesela_propagate_options *options = &p->options;
  for (int32_t from = 0; from < family->n; from++)
    for (int32_t to = 0; to < family->n; to++) {
      int64_t *price = &family->price[from * family->n + to];
      *price = -1;
      if (to == from || to == family->given) continue;
      if (tesela__family_sparse(family, to) && !options->spread) continue;
      if (tesela__family_sparse(family, from) && !options->compact) continue;
      *price = options->price ? options->price(options->user, &family->layout[from], &family->layout[to])
                              : family->layout[from].places;
      if (*price < 0)
        return tesela__fail(err, TESELA_E_RANGE, -1, "the price of a move is %" PRId64 "; expected 0 or more",
                            *price);
      family->most = tesela__max(family->most, *price);
    }
  return TESELA_OK;
}

/* The candidates of a node's buffer, and `given` unless it is NULL. */
static tesela_status family_fill(tesela_propagation *p, const tesela_node *node,
                                 const tesela_device_layout *given, tesela__family *family,
                                 tesela_error *err) {
  tesela_device_host host;
  tesela_status status = family_host(&p->target, node, &host, err);
  if (status != TESELA_OK) return status;
  uint64_t room = (uint64_t)node->rank + 2;
  family->layout = tesela__alloc(&p->allocator, room * sizeof *family->layout, alignof(tesela_device_layout));
  family->price = tesela__alloc(&p->allocator, room * room * sizeof *family->price, alignof(int64_t));
  if (!family->layout || !family->price)
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for layouts");
  for (int32_t d = 0; d <= node->rank; d++) {
    int32_t stick = d < node->rank ? d : TESELA_STICK_SPARSE;
    tesela_error why = {.message = ""};
    status = tesela_device_with_stick(&family->layout[family->n], &host, &p->target, stick, &why);
    if (status == TESELA_E_UNSUPPORTED || status == TESELA_E_INVALID)
      continue; /* the target does not have this layout */
    if (status != TESELA_OK) return tesela__fail(err, status, -1, "%s", why.message);
    family->stick[family->n++] = stick;
  }
  if (given) {
    family->given = family->n;
    family->stick[family->n] = tesela_device_stick(given);
    family->layout[family->n++] = *given;
  }
  if (family->n == 0)
    return tesela__fail(err, TESELA_E_UNSUPPORTED, -1, "target %s has no layout for it", p->target.name);
  family->lanes = family->layout[0].lanes;
  family->preset = tesela__family_candidate(family, node->rank > 0 ? node->rank - 1 : TESELA_STICK_SPARSE);
  if (family->preset < 0) family->preset = 0;
  return family_prices(p, family, err);
}

static tesela_status family_add(tesela_propagation *p, int32_t k, const tesela_device_layout *given,
                                uint64_t hash, tesela_error *err) {
  const tesela_node *node = tesela_graph_node(p->graph, k);
  void *items = p->families;
  if (!tesela__grow(&p->allocator, &items, sizeof *p->families, &p->family_capacity,
                    (uint64_t)p->n_families + 1))
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for layouts");
  p->families = items;
  tesela__family *family = &p->families[p->n_families++];
  *family = (tesela__family){.hash = hash, .node = k, .given = -1, .rank = node->rank};
  tesela_error why = {.message = ""};
  tesela_status status = family_fill(p, node, given, family, &why);
  if (status != TESELA_OK) {
    tesela__release(&p->allocator, family->layout);
    tesela__release(&p->allocator, family->price);
    p->n_families--;
    return tesela__fail(err, status, -1, "%.40s: %s", node->name, why.message);
  }
  p->family[k] = p->n_families - 1;
  return TESELA_OK;
}

/* The shared family of a buffer, created on first use. */
static tesela_status family_find(tesela_propagation *p, int32_t k, tesela_error *err) {
  const tesela_node *node = tesela_graph_node(p->graph, k);
  uint64_t hash = family_hash_node(node);
  if (!tesela__slots_room(&p->family_slots, &p->allocator, p->n_families + 1, family_hash, p))
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for layouts");
  size_t mask = p->family_slots.n - 1, i = (size_t)hash & mask;
  for (; p->family_slots.slot[i] != 0; i = (i + 1) & mask) {
    int32_t f = p->family_slots.slot[i] - 1;
    const tesela__family *family = &p->families[f];
    if (family->hash != hash || family->given >= 0) continue;
    if (!family_same(tesela_graph_node(p->graph, family->node), node)) continue;
    p->family[k] = f;
    return TESELA_OK;
  }
  tesela_status status = family_add(p, k, NULL, hash, err);
  if (status == TESELA_OK) p->family_slots.slot[i] = p->n_families;
  return status;
}

tesela_status tesela__family_of_copy(tesela_propagation *p, int32_t node, int32_t *number,
                                     tesela_error *err) {
  int32_t own = p->family[node]; /* of the value itself, if a move copies it */
  tesela_status status = family_find(p, node, err);
  if (status == TESELA_OK) *number = p->family[node];
  p->family[node] = own;
  return status;
}

/* ---- what a buffer may be ---- */

/* An input has its given layout; a free input any stick, but not one element per stick. */
static tesela_status family_input(tesela_propagation *p, int32_t k, bool is_free, tesela_error *err) {
  const tesela_node *node = tesela_graph_node(p->graph, k);
  const tesela__family *family = tesela__family_of(p, k);
  if (is_free) {
    p->allowed[k] = 0;
    for (int32_t c = 0; c < family->n; c++)
      if (family->stick[c] != TESELA_STICK_SPARSE && !tesela__family_sparse(family, c))
        p->allowed[k] |= tesela__stick_bit(c);
    if (p->allowed[k] == 0) p->allowed[k] = tesela__stick_bits(family->n);
    return TESELA_OK;
  }
  int32_t stick = node->rank == 0 ? TESELA_STICK_SPARSE : node->stick;
  int32_t c = tesela__family_candidate(family, stick);
  if (c < 0)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "input %.40s has stick %" PRId32 "; target %s has no such layout", node->name, stick,
                        p->target.name);
  p->allowed[k] = tesela__stick_bit(c);
  return TESELA_OK;
}

static tesela_status family_buffer(tesela_propagation *p, int32_t k, tesela_error *err) {
  const tesela_node *node = tesela_graph_node(p->graph, k);
  tesela_status status = family_find(p, k, err);
  if (status != TESELA_OK) return status;
  if (!node->layout) {
    if (node->op == TESELA_OP_INPUT) return family_input(p, k, node->stick == TESELA_STICK_FREE, err);
    p->allowed[k] = tesela__stick_bits(tesela__family_of(p, k)->n);
    return TESELA_OK;
  }
  for (int32_t c = 0; c < tesela__family_of(p, k)->n; c++)
    if (tesela_device_equal(node->layout, &tesela__family_of(p, k)->layout[c])) {
      p->allowed[k] = tesela__stick_bit(c);
      return TESELA_OK;
    }
  status = family_add(p, k, node->layout, 0, err);
  if (status == TESELA_OK) p->allowed[k] = tesela__stick_bit(tesela__family_of(p, k)->given);
  return status;
}

/* ---- hints ---- */

static tesela_status family_prefer(tesela_propagation *p, int32_t buffer, const tesela_hint *hint,
                                   tesela_error *err) {
  const tesela__family *family = tesela__family_of(p, buffer);
  if (!p->prefer) {
    uint64_t room = (uint64_t)p->count * TESELA__CANDIDATES;
    p->prefer = tesela__alloc(&p->allocator, room * sizeof *p->prefer, alignof(int64_t));
    if (!p->prefer) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for hints");
    memset(p->prefer, 0, (size_t)room * sizeof *p->prefer);
  }
  for (int32_t c = 0; c < family->n; c++) {
    int64_t *price = &p->prefer[(size_t)buffer * TESELA__CANDIDATES + (size_t)c];
    if (family->stick[c] != hint->stick && !tesela__add(*price, hint->price, price))
      return tesela__fail(err, TESELA_E_LIMIT, -1, "the prices of hints exceed 2^63");
  }
  return TESELA_OK;
}

static tesela_status family_hint(tesela_propagation *p, const tesela_hint *hint, tesela_error *err) {
  const tesela_node *node = tesela_graph_node(p->graph, hint->node);
  int32_t buffer = node->buffer;
  if (hint->kind == TESELA_HINT_FORBID_MOVE || p->family[buffer] < 0) return TESELA_OK;
  const tesela__family *family = tesela__family_of(p, buffer);
  tesela__sticks meant = 0;
  for (int32_t c = 0; c < family->n; c++)
    if (family->stick[c] == hint->stick) meant |= tesela__stick_bit(c);
  if (hint->kind == TESELA_HINT_FREE) return node->layout ? TESELA_OK : family_input(p, buffer, true, err);
  if (meant == 0)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "a hint has stick %" PRId32 " for %.40s; target %s has no such layout for it",
                        hint->stick, node->name, p->target.name);
  if (hint->kind == TESELA_HINT_PREFER) return family_prefer(p, buffer, hint, err);
  tesela__sticks left = p->allowed[buffer] & (hint->kind == TESELA_HINT_REQUIRE ? meant : ~meant);
  if (left == 0)
    return tesela__fail(err, TESELA_E_INVALID, -1,
                        "a hint %s stick %" PRId32 " of %.40s, which leaves no layout%s",
                        hint->kind == TESELA_HINT_REQUIRE ? "requires" : "forbids", hint->stick, node->name,
                        node->op == TESELA_OP_INPUT ? ": an input keeps its stick unless it is free" : "");
  p->allowed[buffer] = left;
  return TESELA_OK;
}

tesela_status tesela__propagate_families(tesela_propagation *p, tesela_error *err) {
  tesela_status status = TESELA_OK;
  for (int32_t k = 0; k < p->count && status == TESELA_OK; k++) {
    const tesela_node *node = tesela_graph_node(p->graph, k);
    p->family[k] = -1;
    p->allowed[k] = 0;
    if (node->buffer == k && node->dtype != TESELA_TOKEN) status = family_buffer(p, k, err);
  }
  for (int32_t pass = 0; pass < 2; pass++) /* first the hints that free an input */
    for (int32_t h = 0; h < tesela_graph_hint_count(p->graph) && status == TESELA_OK; h++) {
      const tesela_hint *hint = tesela_graph_hint_at(p->graph, h);
      if ((hint->kind == TESELA_HINT_FREE) == (pass == 0)) status = family_hint(p, hint, err);
    }
  return status;
}
