/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_graph_random.c - random programs and layouts.
 *
 * An operator uses existing tensors; other operands (indices, weights, a second factor) are new inputs. An operator
 * that the graph refuses (a reshape that would copy, a value that was overwritten) is not added.
 */
#include "support_graph_operators.h"

int64_t random_below(uint64_t *state, int64_t n) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (int64_t)((*state >> 8) % (uint64_t)n);
}

int64_t random_elements(int32_t rank, const int64_t *shape) {
  int64_t n = 1;
  for (int32_t d = 0; d < rank; d++) n *= shape[d];
  return n;
}

/* ---- data ---------------------------------------------------------------------------------------------------- */

const tesela_dtype random_types[RANDOM_TYPES] = {TESELA_F16,  TESELA_F32, TESELA_BF16, TESELA_F64,
                                                 TESELA_S32,  TESELA_S8,  TESELA_U8,   TESELA_S64,
                                                 TESELA_PRED, TESELA_S16, TESELA_U32,  TESELA_U64};

/* Bits of small numbers, sometimes of special ones. */
static uint64_t element(tesela_dtype dtype, int64_t limit, uint64_t *state) {
  static const uint16_t halves[] = {0x0000, 0x8000, 0x7c00, 0xfc00, 0x7e00, 0x0001, 0x7bff, 0x3c00};
  int64_t k = random_below(state, 8), small = random_below(state, 19) - 9;
  if (limit > 0) return (uint64_t)random_below(state, limit);
  bool special = random_below(state, 24) == 0;
  switch (dtype) {
  case TESELA_PRED:
    return (uint64_t)(small > 0);
  case TESELA_F16: /* sign, exponents near that of 1, random bits */
    if (special) return halves[k];
    return (uint64_t)(random_below(state, 2) << 15 | (12 + random_below(state, 6)) << 10 |
                      random_below(state, 1024));
  case TESELA_BF16:
    if (special) return (uint64_t[]){0, 0x8000, 0x7f80, 0xff80, 0x7fc0, 1, 0x7f7f, 0x3f80}[k];
    return (uint64_t)(random_below(state, 2) << 15 | (124 + random_below(state, 6)) << 7 |
                      random_below(state, 128));
  case TESELA_F32:
  case TESELA_F64: {
    float f = (float)small + (float)random_below(state, 1 << 20) / (1 << 20);
    double x = (double)f;
    uint64_t bits = 0;
    if (dtype == TESELA_F64)
      memcpy(&bits, &x, 8);
    else
      memcpy(&bits, &f, 4);
    return bits;
  }
  default:
    return special ? *state : (uint64_t)small;
  }
}

int32_t random_add_input(random_program *p, uint64_t *state, tesela_dtype dtype, int32_t rank,
                         const int64_t *shape, int64_t limit) {
  int64_t strides[RANK], order[RANK], reach = 1, first = 0;
  int32_t node;
  if (p->n_inputs == RANDOM_INPUTS || random_elements(rank, shape) > MOST) return -1;
  for (int32_t d = 0; d < rank; d++) order[d] = d;
  for (int32_t d = rank - 1; d > 0 && random_below(state, 3) == 0; d--) {
    int64_t k = random_below(state, d + 1), swap = order[d];
    order[d] = order[k], order[k] = swap;
  }
  for (int32_t i = rank - 1; i >= 0; i--) { /* some reversed, some with gaps */
    int64_t extent = shape[order[i]] > 0 ? shape[order[i]] : 1;
    if (random_below(state, 8) == 0) reach += random_below(state, 3);
    strides[order[i]] = reach;
    if (random_below(state, 8) == 0) {
      strides[order[i]] = -reach;
      first += (extent - 1) * reach;
    }
    reach *= extent;
  }
  tesela_node_spec spec = {.op = TESELA_OP_INPUT,
                           .dtype = dtype,
                           .rank = rank,
                           .shape = shape,
                           .strides = strides,
                           .stick = TESELA_STICK_FREE};
  if (tesela_graph_add(p->graph, &spec, &node, NULL) != TESELA_OK) return -1;
  size_t width = (size_t)tesela_dtype_bytes(dtype);
  uint8_t *bytes = calloc((size_t)reach + 1, width);
  assert_non_null(bytes);
  for (int64_t e = 0; e < reach; e++) {
    uint64_t bits = element(dtype, limit, state);
    memcpy(bytes + (size_t)e * width, &bits, width);
  }
  p->data[p->n_inputs] = bytes;
  p->inputs[p->n_inputs++] = bytes + (size_t)first * width;
  return node;
}

/* ---- programs ------------------------------------------------------------------------------------------- */

static const tesela_op classes[] = {
    TESELA_OP_POINTWISE, TESELA_OP_REDUCE,  TESELA_OP_MATMUL,   TESELA_OP_CONV2D,    TESELA_OP_GATHER,
    TESELA_OP_SCATTER,   TESELA_OP_CAT,     TESELA_OP_PAD,      TESELA_OP_WRITE,     TESELA_OP_CLONE,
    TESELA_OP_MOVE,      TESELA_OP_SLICE,   TESELA_OP_PERMUTE,  TESELA_OP_RESHAPE,   TESELA_OP_SQUEEZE,
    TESELA_OP_EXPAND,    TESELA_OP_SLICE,   TESELA_OP_PERMUTE,  TESELA_OP_UNSQUEEZE, TESELA_OP_POINTWISE,
    TESELA_OP_POINTWISE, TESELA_OP_RESHAPE, TESELA_OP_CONSTANT, TESELA_OP_POINTWISE, TESELA_OP_ALONG,
    TESELA_OP_POOL};

static void begin(random_program *p, uint64_t *state, tesela_dtype only) {
  memset(p, 0, sizeof *p);
  p->only = only;
  assert_int_equal(tesela_graph_create(&p->graph, NULL, NULL), TESELA_OK);
  assert_int_equal(tesela_target_plain(&p->target, 8 << random_below(state, 3), NULL), TESELA_OK);
  assert_true(random_fresh_input(p, state) >= 0);
}

/* Outputs: the last tensor and some others, in reverse order and the last one perhaps twice, each with memory. */
static void finish(random_program *p, uint64_t *state, bool others) {
  for (int32_t k = tesela_graph_count(p->graph) - 1; k >= 0; k--)
    if (k == tesela_graph_count(p->graph) - 1 || (others && random_below(state, 4) == 0))
      (void)tesela_graph_add_output(p->graph, k, NULL);
  if (others && random_below(state, 4) == 0)
    (void)tesela_graph_add_output(p->graph, tesela_graph_output(p->graph, 0), NULL);
  for (int32_t k = 0; k < tesela_graph_n_outputs(p->graph); k++) {
    const tesela_node *node = random_node(p, tesela_graph_output(p->graph, k));
    assert_true(p->n_outputs < RANDOM_OUTPUTS);
    p->bytes[p->n_outputs] = random_elements(node->rank, node->shape) * tesela_dtype_bytes(node->dtype);
    p->outputs[p->n_outputs] = malloc((size_t)p->bytes[p->n_outputs] + 1);
    assert_non_null(p->outputs[p->n_outputs++]);
  }
}

void random_program_make(random_program *p, uint64_t *state, int32_t ops) {
  begin(p, state, TESELA_DTYPE_NONE);
  for (int32_t k = 0; k < ops; k++)
    if (!random_add_operator(p, state,
                             classes[random_below(state, (int64_t)(sizeof classes / sizeof classes[0]))]) &&
        tesela_graph_count(p->graph) > 40)
      break;
  finish(p, state, true);
}

bool random_program_of(random_program *p, uint64_t *state, tesela_op op, tesela_dtype only) {
  static const tesela_op views[] = {TESELA_OP_SLICE,  TESELA_OP_SLICE,   TESELA_OP_RESHAPE,
                                    TESELA_OP_EXPAND, TESELA_OP_PERMUTE, TESELA_OP_UNSQUEEZE,
                                    TESELA_OP_SQUEEZE};
  begin(p, state, only);
  for (int64_t n = random_below(state, 4); n > 0; n--)
    (void)random_add_operator(p, state, views[random_below(state, 7)]);
  bool ok = random_add_operator(p, state, op);
  if (ok) finish(p, state, false);
  return ok;
}

void random_program_clear(random_program *p, int byte) {
  for (int32_t k = 0; k < p->n_outputs; k++) memset(p->outputs[k], byte, (size_t)p->bytes[k]);
}

void random_program_free(random_program *p) {
  for (int32_t k = 0; k < p->n_inputs; k++) free(p->data[k]);
  for (int32_t k = 0; k < p->n_outputs; k++) free(p->outputs[k]);
  tesela_graph_destroy(p->graph);
}
