/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_cuda_memory.c - a plan through shared memory as CUDA C++.
 *
 * The place of a register before the swizzle is a sum over the dims of the tile. The term of a dim is usually the sum
 * of a part of the thread and a part of the local id: then each thread computes its part once, and each vector adds a
 * constant. It is not a sum if digits of the thread cross the blocks of a dim: then each thread computes its coordinate
 * in the dim, and each vector calls a function for the place of that coordinate plus its own.
 */
#include "gpu/emit/emit.h"

#include "gpu/exchange/exchange.h"

typedef struct memory_side {
  const tesela_register *layout;
  const tesela_tile_memory *memory;
  int64_t vector;            /* elements */
  bool sum[TESELA_MAX_RANK]; /* is the term of the dim a sum of parts of thread and local id? */
} memory_side;

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* The modes of a dim as digits of its coordinate; returns their number. */
static int32_t memory_dim_digits(const tesela_tile_memory *m, int32_t dim, tesela__emit_digit *digit) {
  int32_t mode = 0, n = 0;
  for (int32_t d = 0; d <= dim; d++) {
    int64_t left = m->shape[d];
    for (n = 0; left > 1; n++, mode++) {
      left /= m->mode_shape[mode];
      digit[n] = (tesela__emit_digit){left, m->mode_shape[mode], m->mode_strides[mode]};
    }
  }
  return n;
}

/* The part of a place that a dim contributes. */
static int64_t memory_dim_place(const tesela_tile_memory *m, int32_t dim, int64_t coordinate) {
  tesela__emit_digit digit[TESELA_REGISTER_MODES];
  int32_t n = memory_dim_digits(m, dim, digit);
  int64_t place = 0;
  for (int32_t i = 0; i < n; i++) place += coordinate / digit[i].step % digit[i].extent * digit[i].weight;
  return place;
}

static int64_t memory_coordinate(const memory_side *s, int64_t thread, int64_t local, int32_t dim) {
  int64_t index[TESELA_MAX_RANK];
  tesela_register_get_global(s->layout, thread, local, index, NULL);
  return index[dim];
}

/* The digits of the thread, slowest first, with weight 0. */
static void memory_thread_digits(const memory_side *s, tesela__emit_digit *digit) {
  int64_t step = 1;
  for (int32_t i = s->layout->n_spatial - 1; i >= 0; i--) {
    int64_t m = s->layout->spatial_modes[i], extent = m < 0 ? -m : s->layout->mode_shape[m];
    digit[i] = (tesela__emit_digit){step, extent, 0};
    step *= extent;
  }
}

/* Add to each weight what the digit's step adds to the coordinate of a dim, or to the place through that dim. */
static void memory_add_weights(const memory_side *s, int32_t dim, bool place, tesela__emit_digit *digit) {
  for (int32_t i = 0; i < s->layout->n_spatial; i++) {
    int64_t step = digit[i].extent > 1 ? memory_coordinate(s, digit[i].step, 0, dim) : 0;
    digit[i].weight += place ? memory_dim_place(s->memory, dim, step) : step;
  }
}

static bool memory_dim_is_a_sum(const memory_side *s, int32_t dim) {
  tesela__emit_digit digit[TESELA_REGISTER_MODES];
  memory_thread_digits(s, digit);
  memory_add_weights(s, dim, true, digit);
  for (int64_t t = 0; t < s->layout->spatial_size; t++) {
    int64_t sum = 0;
    for (int32_t i = 0; i < s->layout->n_spatial; i++)
      sum += t / digit[i].step % digit[i].extent * digit[i].weight;
    for (int64_t l = 0; l < s->layout->local_size; l++)
      if (memory_dim_place(s->memory, dim, memory_coordinate(s, t, l, dim)) !=
          sum + memory_dim_place(s->memory, dim, memory_coordinate(s, 0, l, dim)))
        return false;
  }
  return true;
}

static memory_side memory_side_of(const tesela_exchange *plan, bool store) {
  memory_side s = {.layout = store ? &plan->src : &plan->dst, .memory = &plan->memory};
  s.vector = store ? plan->write_vector : plan->read_vector;
  for (int32_t d = 0; d < s.memory->rank; d++) s.sum[d] = memory_dim_is_a_sum(&s, d);
  return s;
}

void tesela__emit_memory_helpers(tesela__emit *e, const tesela_exchange *plan) {
  const tesela_tile_swizzle *swizzle = &plan->memory.swizzle;
  memory_side store = memory_side_of(plan, true), load = memory_side_of(plan, false);
  for (int32_t d = 0; d < plan->memory.rank; d++) {
    tesela__emit_digit digit[TESELA_REGISTER_MODES];
    if (store.sum[d] && load.sum[d]) continue;
    int32_t n = memory_dim_digits(&plan->memory, d, digit);
    TESELA__EMIT(e, "static __device__ __forceinline__ uint32_t %N_dim%D(uint32_t i) {\n  return ", d);
    tesela__emit_digit_sum(e, "", "i", plan->memory.shape[d], n, digit, "u");
    tesela__puts(&e->sink, ";\n}\n\n");
  }
  if (swizzle->bits > 0)
    TESELA__EMIT(e,
                 "static __device__ __forceinline__ uint32_t %N_swizzle(uint32_t x) {\n"
                 "  return x ^ (x >> %D & %Du) << %D;\n}\n\n",
                 swizzle->base + swizzle->shift, (INT64_C(1) << swizzle->bits) - 1, swizzle->base);
}

/* ---- one side ---------------------------------------------------------------------------------------------------- */

/* The place of the vector at a local id. */
static void memory_vector_place(tesela__emit *e, const memory_side *s, int64_t local) {
  int64_t constant = s->memory->offset;
  for (int32_t d = 0; d < s->memory->rank; d++)
    if (s->sum[d]) constant += memory_dim_place(s->memory, d, memory_coordinate(s, 0, local, d));
  if (s->memory->swizzle.bits > 0) TESELA__EMIT(e, "%N_swizzle(", 0);
  TESELA__EMIT(e, "base + %Du", constant);
  for (int32_t d = 0; d < s->memory->rank; d++)
    if (!s->sum[d]) TESELA__EMIT(e, " + %N_dim%D(i%D + %Du)", d, d, memory_coordinate(s, 0, local, d));
  if (s->memory->swizzle.bits > 0) tesela__puts(&e->sink, ")");
}

/* The type of a vector of this size. */
static const char *memory_type(int64_t bytes) {
  return bytes == 1   ? "uint8_t"
         : bytes == 2 ? "uint16_t"
         : bytes == 4 ? "uint32_t"
         : bytes == 8 ? "uint2"
                      : "uint4";
}

/* 32 bits of a vector, from elements of src. */
static void memory_word(tesela__emit *e, int64_t local, int64_t vector, int64_t word) {
  if (e->bits == 64) {
    TESELA__EMIT(e, "(uint32_t)(src[%D] >> %D)", local + word / 2, word % 2 * 32);
    return;
  }
  int64_t each = 32 / e->bits < vector ? 32 / e->bits : vector;
  for (int64_t i = 0; i < each; i++) {
    TESELA__EMIT(e, i ? " | (uint32_t)src[%D]" : "(uint32_t)src[%D]", local + word * each + i);
    if (i) TESELA__EMIT(e, " << %D", i * e->bits);
  }
}

static void memory_store(tesela__emit *e, const memory_side *s, int64_t local) {
  int64_t bytes = s->vector * e->bits / 8;
  tesela__putf(&e->sink, "    *(%s *)(memory + ", memory_type(bytes));
  memory_vector_place(e, s, local);
  tesela__puts(&e->sink, ") = ");
  if (bytes >= 8) {
    tesela__putf(&e->sink, "make_%s(", memory_type(bytes));
    for (int64_t word = 0; word < bytes / 4; word++) {
      if (word) tesela__puts(&e->sink, ", ");
      memory_word(e, local, s->vector, word);
    }
    tesela__puts(&e->sink, ");\n");
    return;
  }
  tesela__putf(&e->sink, "(%s)(", memory_type(bytes));
  memory_word(e, local, s->vector, 0);
  tesela__puts(&e->sink, ");\n");
}

static void memory_load(tesela__emit *e, const memory_side *s, int64_t local) {
  static const char fields[] = "xyzw";
  int64_t bytes = s->vector * e->bits / 8;
  tesela__putf(&e->sink, "    const %s v%" PRId64 " = *(const %s *)(memory + ", memory_type(bytes), local,
               memory_type(bytes));
  memory_vector_place(e, s, local);
  tesela__puts(&e->sink, ");\n");
  for (int64_t i = 0; i < s->vector; i++) {
    int64_t bit = i * e->bits;
    TESELA__EMIT(e, "    dst[%D] = (%T)", local + i);
    if (e->bits == 64) {
      tesela__putf(&e->sink, "(v%" PRId64 ".%c | (uint64_t)v%" PRId64 ".%c << 32);\n", local, fields[2 * i],
                   local, fields[2 * i + 1]);
      continue;
    }
    tesela__putf(&e->sink, "(v%" PRId64, local);
    if (bytes >= 8) tesela__putf(&e->sink, ".%c", fields[bit / 32]);
    if (bit % 32) tesela__putf(&e->sink, " >> %" PRId64, bit % 32);
    tesela__puts(&e->sink, ");\n");
  }
}

/* The condition for threads that take part: those of the layout; for stores only the first of copies. */
static void memory_threads(tesela__emit *e, const memory_side *s, bool store) {
  const tesela_register *r = s->layout;
  int64_t step = 1;
  TESELA__EMIT(e, "  if (thread < %Du", r->spatial_size);
  for (int32_t i = r->n_spatial - 1; i >= 0; i--) {
    int64_t m = r->spatial_modes[i], extent = m < 0 ? -m : r->mode_shape[m];
    if (store && m < -1) TESELA__EMIT(e, " && thread / %Du % %Du == 0", step, extent);
    step *= extent;
  }
  tesela__puts(&e->sink, ") {\n");
}

/* Finish a declaration with the sum of digits of the thread. */
static void memory_thread_number(tesela__emit *e, const memory_side *s, tesela__emit_digit *digit) {
  if (!tesela__emit_digit_sum(e, "", "thread", s->layout->spatial_size, s->layout->n_spatial, digit, "u"))
    tesela__puts(&e->sink, "0");
  tesela__puts(&e->sink, ";\n");
}

/* The constants of a thread: its part of the place, and its coordinates in other dims. */
static void memory_base(tesela__emit *e, const memory_side *s) {
  tesela__emit_digit digit[TESELA_REGISTER_MODES];
  memory_thread_digits(s, digit);
  for (int32_t d = 0; d < s->memory->rank; d++)
    if (s->sum[d]) memory_add_weights(s, d, true, digit);
  tesela__puts(&e->sink, "    const uint32_t base = ");
  memory_thread_number(e, s, digit);
  for (int32_t d = 0; d < s->memory->rank; d++) {
    if (s->sum[d]) continue;
    memory_thread_digits(s, digit);
    memory_add_weights(s, d, false, digit);
    TESELA__EMIT(e, "    const uint32_t i%D = ", d);
    memory_thread_number(e, s, digit);
  }
}

void tesela__emit_through_memory(tesela__emit *e, const tesela_exchange *plan) {
  TESELA__EMIT(e,
               "  const uint32_t thread = threadIdx.x;\n"
               "  %T *const memory = (%T *)shared;\n",
               0);
  for (int store = 1; store >= 0; store--) {
    memory_side s = memory_side_of(plan, store);
    memory_threads(e, &s, store);
    memory_base(e, &s);
    for (int64_t l = 0; l < s.layout->local_size; l += s.vector)
      if (store)
        memory_store(e, &s, l);
      else
        memory_load(e, &s, l);
    tesela__puts(&e->sink, store ? "  }\n  __syncthreads();\n" : "  }\n");
  }
}
