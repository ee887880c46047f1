/* SPDX-License-Identifier: Apache-2.0 */
/*
 * infer_memory.c - layouts for loaded and stored tensors.
 *
 * A load or store without known layouts: dims in the order of the memory's strides, the fastest last; along it vectors
 * of up to 16 bytes, if they are contiguous and aligned and leave elements for every thread; the vectors distributed
 * over the threads in turn, so that neighbouring threads touch neighbouring memory. Surplus threads hold copies. If
 * that cannot be loaded, since elements are less than a byte, more of them stay in one thread.
 */
#include "infer/infer_state.h"

#include "gpu/access/access.h"

enum { INFER_VECTOR_BITS = 128 };

/* ---- the order of a tile in memory --------------------------------------------------------------------- */

/* For each dim the smallest stride of its modes; INT64_MAX for extent 1. Unknown memory is row-major. */
static void infer_memory_dim_strides(const tesela__infer_tensor *tensor, const tesela_tile_memory *memory,
                                     int64_t *strides) {
  int64_t below = 1;
  for (int32_t d = tensor->rank - 1; d >= 0; d--) { /* fits: the product is the number of elements */
    strides[d] = tensor->shape[d] == 1 ? INT64_MAX : below;
    below *= tensor->shape[d];
  }
  for (int32_t d = 0, m = 0; memory && d < tensor->rank; d++) {
    if (tensor->shape[d] == 1) continue;
    strides[d] = INT64_MAX - 1;
    for (int64_t left = tensor->shape[d]; left > 1 && m < memory->n_modes; left /= memory->mode_shape[m++])
      if (memory->mode_shape[m] > 1) strides[d] = tesela__min(strides[d], memory->mode_strides[m]);
  }
}

/* Dims by descending stride, those of extent 1 first. */
static void infer_memory_order(const tesela__infer_tensor *tensor, const tesela_tile_memory *memory,
                               int64_t *order) {
  int64_t strides[TESELA_MAX_RANK];
  infer_memory_dim_strides(tensor, memory, strides);
  for (int32_t d = 0; d < tensor->rank; d++) {
    int32_t at = d;
    for (; at > 0 && strides[order[at - 1]] < strides[d]; at--) order[at] = order[at - 1];
    order[at] = d;
  }
}

/* The gcd of the number of adjacent elements along the fastest dim and the alignment of such runs. */
static int64_t infer_memory_run(const tesela__infer_tensor *tensor, const tesela_tile_memory *memory,
                                int64_t fastest) {
  if (!memory) return tensor->shape[fastest];
  int64_t run = 1, steps = memory->offset;
  for (int32_t m = 0; m < memory->n_modes; m++) {
    if (memory->mode_shape[m] == 1) continue;
    if (memory->mode_strides[m] == 1 && run == 1)
      run = memory->mode_shape[m];
    else
      steps = tesela__gcd(steps, memory->mode_strides[m]);
  }
  if (memory->swizzle.bits > 0) {
    int32_t low = memory->swizzle.base + (memory->swizzle.shift < 0 ? memory->swizzle.shift : 0);
    steps = tesela__gcd(steps, low < 0 ? 1 : low > 62 ? 0 : INT64_C(1) << low);
  }
  return tesela__gcd(run, steps);
}

/* The longest vector: a power of two that divides the run and leaves elements for as many threads as possible. */
static int64_t infer_memory_vector(const tesela_kernel_program *program, const tesela__infer_tensor *tensor,
                                   int64_t run) {
  int64_t vector = 1, busy = tesela__gcd(program->threads, tensor->elements);
  int32_t bits = tesela_dtype_bits(tensor->dtype);
  for (int64_t wider = 2; wider * bits <= INFER_VECTOR_BITS; wider *= 2)
    if (run % wider == 0 && tesela__gcd(program->threads, tensor->elements / wider) == busy) vector = wider;
  return vector;
}

/* Vectors along the fastest dim, distributed over the threads: copies * local(rest).spatial(..).local(vector), dims in
 * the order of the memory. Threads beyond the largest number that divides both hold copies. */
static tesela_status infer_memory_deal(const tesela_kernel_program *program,
                                       const tesela__infer_tensor *tensor, const tesela_tile_memory *memory,
                                       tesela_register *out, int64_t *vector) {
  int64_t order[TESELA_MAX_RANK], back[TESELA_MAX_RANK], outer[TESELA_MAX_RANK], inner[TESELA_MAX_RANK];
  tesela_register run, copies;
  int32_t rank = tensor->rank;
  *vector = 1;
  infer_memory_order(tensor, memory, order);
  if (rank > 0)
    *vector = infer_memory_vector(program, tensor, infer_memory_run(tensor, memory, order[rank - 1]));
  for (int32_t k = 0; k < rank; k++) {
    inner[k] = k == rank - 1 ? *vector : 1;
    outer[k] = tensor->shape[order[k]] / inner[k];
    back[order[k]] = k;
  }
  int64_t busy = tesela__gcd(program->threads, tensor->elements / *vector);
  tesela_status status = tesela_register_auto_local_spatial(out, busy, rank, outer, NULL);
  if (status == TESELA_OK)
    status = tesela_register_replicated(&copies, 0, NULL, program->threads / busy, NULL);
  if (status == TESELA_OK) status = tesela_register_compose(out, &copies, out, NULL);
  if (status == TESELA_OK) status = tesela_register_local(&run, rank, inner, NULL, NULL);
  if (status == TESELA_OK) status = tesela_register_compose(out, out, &run, NULL);
  if (status == TESELA_OK) status = tesela_register_permute(out, out, rank, back, NULL);
  if (status == TESELA_OK) tesela_register_canonical(out, out); /* drops a replica of 1 */
  return status;
}

tesela_status tesela__infer_memory_registers(const tesela_kernel_program *program,
                                             const tesela__infer_tensor *tensor,
                                             const tesela_tile_memory *memory, tesela_register *out,
                                             int64_t *vector) {
  int32_t bits = tesela_dtype_bits(tensor->dtype);
  tesela_tile_memory plain;
  tesela_register blocks;
  int64_t widest;
  tesela_status status = infer_memory_deal(program, tensor, memory, out, vector);
  if (status != TESELA_OK) return status;
  if (tesela_tile_memory_row_major(&plain, TESELA_TILE_SHARED, tensor->rank, tensor->shape, NULL) !=
      TESELA_OK)
    return TESELA_OK;
  if (!memory) memory = &plain;
  if (tesela__access_possible(out, memory, bits, &widest, NULL) == TESELA_E_INVALID &&
      (tesela__infer_memory_blocks(program, memory, bits, &blocks, &widest) ||
       tesela__infer_memory_blocks(program, &plain, bits, &blocks, &widest))) { /* the check then fails */
    *out = blocks;
    *vector = widest;
  }
  return TESELA_OK;
}

/* ---- the rule ------------------------------------------------------------------------------------------ */

tesela_status tesela__infer_rule_memory(tesela_kernel_program *program, tesela__infer_step *step,
                                        tesela__infer_level level, bool *gave, tesela_error *err) {
  tesela__infer_tensor *inside = tesela__infer_arg(program, step, 0),
                       *outside = tesela__infer_arg(program, step, 1);
  tesela_register layout;
  int64_t vector;
  if (inside->space != TESELA_TENSOR_REGISTER) {
    tesela__infer_tensor *swapped = inside;
    inside = outside;
    outside = swapped;
  }
  if (level != TESELA__INFER_MEMORY || inside->registers) return TESELA_OK;
  if (tesela__infer_memory_registers(program, inside, outside->memory, &layout, &vector) != TESELA_OK)
    return TESELA_OK;
  return tesela__infer_give(program, inside, &layout, step, gave, err,
                            "vectors of %" PRId64 " in the order of %s", vector, outside->name);
}

const char *tesela__infer_memory_folds(const tesela_tile_memory *memory) {
  static const char sure[] = "has several elements at one place";
  tesela_layout core;
  int64_t elements = 1; /* fits: the modes are those of a tensor */
  for (int32_t m = 0; m < memory->n_modes; m++) {
    if (memory->mode_shape[m] > 1 && memory->mode_strides[m] == 0) return sure;
    elements *= memory->mode_shape[m];
  }
  if (elements > memory->size) return sure;
  if (tesela_tile_memory_to_layout(memory, TESELA_U8, 8, &core, NULL) == TESELA_OK && !core.axis[0].overlap)
    return NULL;
  return "has strides that overlap, so several elements may be at one place";
}
