/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_infer.c - kernel programs run by the definition, on small integers, with registers for each thread.
 *
 * Each tensor exists twice: as a plain row-major array, computed in loops, and where its layout puts it, in registers
 * of threads or at places of memory. An operation on registers reads the registers of the same thread (matrix
 * instructions: of the warp, lane by lane and register by register as the PTX manual draws them), and then both copies
 * must agree. Layouts are used as their four lists, by definition; no library function locates elements. The text is
 * parsed again here, as far as these programs need.
 */
#include "support_infer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TENSORS = 40, MAX_NAMES = 8, UNSET = INT32_MIN };

typedef struct tensor {
  tesela_tensor t;
  int64_t elements, threads, registers;
  int64_t *plain;   /* by element number */
  int64_t *value;   /* by thread * registers + local id, or by place */
  int64_t *element; /* of each register of each thread */
  int32_t *local;   /* by thread * elements + element number: the local id, or -1 */
} tensor;

typedef struct machine {
  const tesela_kernel_program *program;
  tensor tensors[MAX_TENSORS];
  int32_t n;
  infer_run run;
} machine;

typedef struct operation {
  char name[16];
  tensor *arg[MAX_NAMES];
  int32_t n, n_dims;
  int64_t dims[8];
} operation;

static void *room(int64_t count, size_t size) {
  void *memory = calloc((size_t)(count > 0 ? count : 1), size);
  if (!memory) abort();
  return memory;
}

static bool wrong(machine *m, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(m->run.what, sizeof m->run.what, format, args);
  va_end(args);
  return false;
}

/* ---- layouts by definition --------------------------------------------------------------------------------------- */

static void index_of(int32_t rank, const int64_t *shape, int64_t number, int64_t *index) {
  for (int32_t d = rank - 1; d >= 0; d--) {
    index[d] = number % shape[d];
    number /= shape[d];
  }
}

static int64_t number_of(int32_t rank, const int64_t *shape, const int64_t *index) {
  int64_t number = 0;
  for (int32_t d = 0; d < rank; d++) number = number * shape[d] + index[d];
  return number;
}

/* The row-major number of mode digits is the element number, since modes are in the order of the dims. */
static int64_t element_in(const tesela_register *layout, int64_t thread, int64_t local) {
  int64_t digit[TESELA_REGISTER_MODES] = {0};
  for (int32_t i = layout->n_spatial - 1; i >= 0; i--) {
    int64_t mode = layout->spatial_modes[i], size = mode < 0 ? -mode : layout->mode_shape[mode];
    if (mode >= 0) digit[mode] = thread % size;
    thread /= size;
  }
  for (int32_t i = layout->n_local - 1; i >= 0; i--) {
    int32_t mode = layout->local_modes[i];
    digit[mode] = local % layout->mode_shape[mode];
    local /= layout->mode_shape[mode];
  }
  return number_of(layout->n_modes, layout->mode_shape, digit);
}

bool infer_holds(const tesela_register *layout, int64_t thread, int64_t element) {
  for (int64_t l = 0; l < layout->local_size; l++)
    if (element_in(layout, thread, l) == element) return true;
  return false;
}

static int64_t place_in(const tesela_tile_memory *memory, int64_t element) {
  int64_t digit[TESELA_REGISTER_MODES], place = memory->offset;
  index_of(memory->n_modes, memory->mode_shape, element, digit);
  for (int32_t m = 0; m < memory->n_modes; m++) place += digit[m] * memory->mode_strides[m];
  int64_t bits =
      place >> (memory->swizzle.base + memory->swizzle.shift) & ((INT64_C(1) << memory->swizzle.bits) - 1);
  return memory->swizzle.bits > 0 ? place ^ bits << memory->swizzle.base : place;
}

/* ---- the moves of a thread --------------------------------------------------------------------------------------- */

int32_t infer_bits(tesela_dtype dtype) { /* the first number in the name: u4, bf16, f4e2m1fn */
  const char *name = tesela_dtype_name(dtype);
  return strcmp(name, "pred") == 0 ? 8 : atoi(name + strcspn(name, "0123456789"));
}

/* Is a run of `elements` of `bits` a vector? 1, 2, 4, 8 or 16 bytes; one element alone can be any number of bytes. */
static bool is_vector(int64_t elements, int64_t bits) {
  int64_t all = elements * bits;
  if (elements == 1) return all % 8 == 0;
  return all == 8 || all == 16 || all == 32 || all == 64 || all == 128;
}

/* In bits: are all vectors of v registers contiguous, and at multiples of their size? */
static bool moves_by(const tesela_register *layout, const tesela_tile_memory *memory, int64_t bits,
                     int64_t v) {
  for (int64_t t = 0; t < layout->spatial_size; t++)
    for (int64_t l = 0; l < layout->local_size; l += v) {
      int64_t start = place_in(memory, element_in(layout, t, l)) * bits;
      if (start % (v * bits) != 0) return false;
      for (int64_t j = 1; j < v; j++)
        if (place_in(memory, element_in(layout, t, l + j)) * bits != start + j * bits) return false;
    }
  return true;
}

bool infer_can_move(const tesela_register *layout, const tesela_tile_memory *memory, int32_t bits) {
  for (int64_t v = 1; v <= layout->local_size; v++)
    if (layout->local_size % v == 0 && is_vector(v, bits) && moves_by(layout, memory, bits, v)) return true;
  return false;
}

/* Smaller elements move through a register together: the fewest that make bytes must be adjacent and aligned in the
 * result and in the source. */
bool infer_can_copy(const tesela_tile_memory *to, const tesela_tile_memory *from, int32_t bits) {
  int64_t v = 1, elements = 1;
  while (v <= 8 && !is_vector(v, bits)) v++;
  for (int32_t d = 0; d < to->rank; d++) elements *= to->shape[d];
  if (v > 8) return false;
  for (int64_t e = 0; v > 1 && e < elements; e++) {
    int64_t place = place_in(to, e), first = place - place % v;
    for (int64_t j = 0; j < v; j++) {
      int64_t k = 0;
      while (k < elements && place_in(to, k) != first + j) k++;
      if (k == elements) return false; /* a place of the byte has no element */
      int64_t source = place_in(from, k), start = place_in(from, e) - place % v;
      if (start % v != 0 || source != start + j) return false;
    }
  }
  return true;
}

static void open_tensor(machine *m, int32_t i) {
  tensor *x = &m->tensors[i];
  x->t = tesela_kernel_program_tensor(m->program, i);
  x->elements = 1;
  for (int32_t d = 0; d < x->t.rank; d++) x->elements *= x->t.shape[d];
  x->plain = room(x->elements, sizeof *x->plain);
  for (int64_t e = 0; e < x->elements; e++) x->plain[e] = (e * 37 + i * 11 + e / 7) % 19 - 9;
  if (x->t.memory) {
    x->value = room(x->t.memory->size, sizeof *x->value);
    for (int64_t e = 0; e < x->elements; e++) x->value[place_in(x->t.memory, e)] = x->plain[e];
    return;
  }
  const tesela_register *layout = x->t.registers;
  x->threads = tesela_kernel_program_threads(m->program);
  x->registers = layout->local_size;
  x->value = room(x->threads * x->registers, sizeof *x->value);
  x->element = room(x->threads * x->registers, sizeof *x->element);
  x->local = room(x->threads * x->elements, sizeof *x->local);
  for (int64_t k = 0; k < x->threads * x->elements; k++) x->local[k] = -1;
  for (int64_t t = 0; t < x->threads; t++)
    for (int64_t l = 0; l < x->registers; l++) {
      int64_t k = t * x->registers + l;
      x->element[k] = element_in(layout, t, l);
      x->local[t * x->elements + x->element[k]] = (int32_t)l;
      x->value[k] = x->plain[x->element[k]];
    }
}

/* The value of an element in a thread; false if the thread does not hold it. */
static bool in_thread(const tensor *x, int64_t thread, int64_t element, int64_t *value) {
  int32_t l = x->local[thread * x->elements + element];
  if (l >= 0) *value = x->value[thread * x->registers + l];
  return l >= 0;
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

/* The operand's element that an element of the result is computed from. */
static int64_t source_of(const operation *op, const tensor *result, const tensor *operand, int64_t element) {
  int64_t index[TESELA_MAX_RANK], from[TESELA_MAX_RANK];
  if (strcmp(op->name, "reshape") == 0 || strcmp(op->name, "squeeze") == 0 ||
      strcmp(op->name, "unsqueeze") == 0)
    return element; /* the same row-major number */
  index_of(result->t.rank, result->t.shape, element, index);
  if (strcmp(op->name, "permute") == 0)
    for (int32_t k = 0; k < op->n_dims; k++) from[op->dims[k]] = index[k];
  else if (strcmp(op->name, "transpose") == 0)
    for (int32_t d = 0; d < result->t.rank; d++)
      from[d] = index[d < result->t.rank - 2 ? d : 2 * result->t.rank - 3 - d];
  else
    for (int32_t d = 0; d < operand->t.rank; d++)
      from[d] = operand->t.shape[d] == 1 ? 0 : index[d + result->t.rank - operand->t.rank];
  return number_of(operand->t.rank, operand->t.shape, from);
}

static int64_t mix(int64_t sum, int32_t i, int64_t x) { return (sum * 3 + x * (i + 2) + 7) % 10007; }

static bool run_elementwise(machine *m, const operation *op, bool same) {
  tensor *z = op->arg[0];
  int64_t *values = room(z->threads * z->registers, sizeof *values),
          *plain = room(z->elements, sizeof *plain);
  bool ok = true;
  for (int32_t i = 1; i < op->n; i++)
    for (int64_t e = 0; e < z->elements; e++) {
      int64_t x = op->arg[i]->plain[source_of(op, z, op->arg[i], e)];
      plain[e] = same ? x : mix(plain[e], i, x);
    }
  for (int32_t i = 1; i < op->n && ok; i++)
    for (int64_t k = 0; k < z->threads * z->registers && ok; k++) {
      int64_t x = 0, from = source_of(op, z, op->arg[i], z->element[k]);
      ok = in_thread(op->arg[i], k / z->registers, from, &x) ||
           wrong(m, "thread %" PRId64 " lacks element %" PRId64 " of %s", k / z->registers, from,
                 op->arg[i]->t.name);
      values[k] = same ? x : mix(values[k], i, x);
    }
  memcpy(z->value, values, (size_t)(z->threads * z->registers) * sizeof *values);
  memcpy(z->plain, plain, (size_t)z->elements * sizeof *plain);
  free(values);
  free(plain);
  return ok;
}

/* The element of the result to which an element of the operand contributes. */
static int64_t reduced(const operation *op, const tensor *r, const tensor *x, int64_t element) {
  int64_t index[TESELA_MAX_RANK], to[TESELA_MAX_RANK];
  int32_t n = 0;
  index_of(x->t.rank, x->t.shape, element, index);
  for (int32_t d = 0; d < x->t.rank; d++) {
    bool goes = false;
    for (int32_t i = 0; i < op->n_dims; i++) goes |= op->dims[i] == d || op->dims[i] + x->t.rank == d;
    if (!goes) to[n++] = index[d];
    if (goes && r->t.rank == x->t.rank) to[n++] = 0;
  }
  return number_of(r->t.rank, r->t.shape, to);
}

/* Threads with elements of a row exchange their sums; other threads do not get the sum. */
static bool run_reduce(machine *m, const operation *op) {
  tensor *r = op->arg[0], *x = op->arg[1];
  bool *takes_part = room(r->elements, sizeof *takes_part), ok = true;
  int64_t *sums = room(r->elements, sizeof *sums);
  memset(r->plain, 0, (size_t)r->elements * sizeof *r->plain);
  for (int64_t e = 0; e < x->elements; e++) {
    int64_t value = 0;
    for (int64_t t = 0; t < x->threads && !in_thread(x, t, e, &value); t++) continue;
    sums[reduced(op, r, x, e)] += value;
    r->plain[reduced(op, r, x, e)] += x->plain[e];
  }
  for (int64_t t = 0; t < r->threads && ok; t++) {
    memset(takes_part, 0, (size_t)r->elements * sizeof *takes_part);
    for (int64_t l = 0; l < x->registers; l++)
      takes_part[reduced(op, r, x, x->element[t * x->registers + l])] = true;
    for (int64_t l = 0; l < r->registers && ok; l++) {
      int64_t e = r->element[t * r->registers + l];
      ok = takes_part[e] || wrong(m, "thread %" PRId64 " has nothing of row %" PRId64, t, e);
      r->value[t * r->registers + l] = sums[e];
    }
  }
  free(takes_part);
  free(sums);
  return ok;
}

/* Copy elements place by place; a place that gets two values is a fault. */
static bool run_transfer(machine *m, const operation *op) {
  tensor *dst = op->arg[0], *src = op->arg[1];
  bool ok = true;
  memcpy(dst->plain, src->plain, (size_t)src->elements * sizeof *src->plain);
  if (dst->t.memory)
    for (int64_t p = 0; p < dst->t.memory->size; p++) dst->value[p] = UNSET;
  if (src->t.memory && dst->t.memory) {
    if (!infer_can_copy(dst->t.memory, src->t.memory, infer_bits(dst->t.dtype)))
      return wrong(m, "no bytes of %s are bytes of %s", src->t.name, dst->t.name);
    for (int64_t e = 0; e < src->elements; e++)
      dst->value[place_in(dst->t.memory, e)] = src->value[place_in(src->t.memory, e)];
    return true;
  }
  const tensor *inside = src->t.memory ? dst : src, *outside = src->t.memory ? src : dst;
  if (!infer_can_move(inside->t.registers, outside->t.memory, infer_bits(inside->t.dtype)))
    return wrong(m, "no vectors of %s and %s", inside->t.name, outside->t.name);
  for (int64_t k = 0; k < inside->threads * inside->registers && ok; k++) {
    int64_t *place = &outside->value[place_in(outside->t.memory, inside->element[k])];
    if (inside == dst)
      inside->value[k] = *place;
    else {
      ok = *place == UNSET || *place == inside->value[k] ||
           wrong(m, "two values in one place of %s", dst->t.name);
      *place = inside->value[k];
    }
  }
  return ok;
}

static bool run_convert(const operation *op) {
  tensor *dst = op->arg[0], *src = op->arg[1];
  memcpy(dst->plain, src->plain, (size_t)src->elements * sizeof *src->plain);
  for (int64_t k = 0; k < dst->threads * dst->registers; k++)
    for (int64_t t = 0; t < src->threads && !in_thread(src, t, dst->element[k], &dst->value[k]); t++)
      continue;
  return true;
}

/* ---- matrix instructions ----------------------------------------------------------------------------------------- */

/* mma.m16n8k16 of 16 bits and mma.m16n8k8 of tf32: row and column of element i of a lane (PTX ISA, "Matrix
 * fragments"). */
typedef struct instruction {
  int64_t k;    /* m is 16 and n is 8 */
  int32_t n[3]; /* elements of a lane of A, B, C */
} instruction;

static void fragment(const instruction *in, int32_t operand, int64_t lane, int64_t i, int64_t *row,
                     int64_t *column) {
  int64_t g = lane / 4, t = lane % 4, v = in->k / 8; /* v: elements in a 32-bit register */
  if (operand == 0) {
    *row = g + 8 * (i / v % 2);
    *column = v * t + i % v + 4 * v * (i / (2 * v));
  } else if (operand == 1) {
    *row = v * t + i % v + 4 * v * (i / v);
    *column = g;
  } else {
    *row = g + 8 * (i / 2);
    *column = 2 * t + i % 2;
  }
}

/* The registers of a warp with the fragment at tile (i,j) of x: the same first, first + 1, ... in every lane. */
static bool registers_of(const instruction *in, const tensor *x, int32_t operand, int64_t warp, int64_t i,
                         int64_t j, int64_t *first) {
  int64_t rows = operand == 1 ? in->k : 16, columns = operand == 0 ? in->k : 8;
  for (int64_t lane = 0; lane < 32; lane++)
    for (int32_t e = 0; e < in->n[operand]; e++) {
      int64_t row, column;
      fragment(in, operand, lane, e, &row, &column);
      int64_t element = (i * rows + row) * x->t.shape[1] + j * columns + column;
      int32_t l = x->local[(warp * 32 + lane) * x->elements + element];
      if (l < 0) return false;
      if (lane == 0 && e == 0) *first = l;
      if (l != *first + e) return false;
    }
  return true;
}

/* sum[16][8] += the product of the fragments of a and b that start at these registers; without b, the fragment of c. */
static void multiply(const instruction *in, const tensor *a, int64_t a_first, const tensor *b,
                     int64_t b_first, int64_t warp, int64_t sum[16][8]) {
  int64_t left[16][16] = {{0}}, right[16][8] = {{0}};
  for (int64_t lane = 0; lane < 32; lane++) {
    int64_t row, column, thread = warp * 32 + lane;
    for (int32_t e = 0; e < (b ? in->n[0] : in->n[2]); e++) {
      fragment(in, b ? 0 : 2, lane, e, &row, &column);
      left[row][column] = a->value[thread * a->registers + a_first + e];
    }
    for (int32_t e = 0; b && e < in->n[1]; e++) {
      fragment(in, 1, lane, e, &row, &column);
      right[row][column] = b->value[thread * b->registers + b_first + e];
    }
  }
  for (int32_t r = 0; r < 16; r++)
    for (int32_t c = 0; c < 8; c++) {
      if (!b) sum[r][c] += left[r][c];
      for (int64_t k = 0; b && k < in->k; k++) sum[r][c] += left[r][k] * right[k][c];
    }
}

static bool run_tile(machine *m, const operation *op, const instruction *in, int64_t warp, int64_t i,
                     int64_t j, int64_t *values) {
  tensor *d = op->arg[0], *a = op->arg[1], *b = op->arg[2];
  int64_t d_first, first[2], sum[16][8] = {{0}};
  if (!registers_of(in, d, 2, warp, i, j, &d_first))
    return wrong(m, "warp %" PRId64 " has a part of a tile", warp);
  if (op->n > 3) {
    if (!registers_of(in, op->arg[3], 2, warp, i, j, &first[0])) return wrong(m, "accumulator is elsewhere");
    multiply(in, op->arg[3], first[0], NULL, 0, warp, sum);
  }
  for (int64_t k = 0; k < a->t.shape[1] / in->k; k++) {
    if (!registers_of(in, a, 0, warp, i, k, &first[0])) return wrong(m, "warp %" PRId64 " lacks A", warp);
    if (!registers_of(in, b, 1, warp, k, j, &first[1])) return wrong(m, "warp %" PRId64 " lacks B", warp);
    multiply(in, a, first[0], b, first[1], warp, sum);
  }
  for (int64_t lane = 0; lane < 32; lane++)
    for (int32_t e = 0; e < in->n[2]; e++) {
      int64_t row, column;
      fragment(in, 2, lane, e, &row, &column);
      values[(warp * 32 + lane) * d->registers + d_first + e] = sum[row][column];
    }
  return true;
}

static bool run_dot(machine *m, const operation *op) {
  tensor *d = op->arg[0], *a = op->arg[1], *b = op->arg[2];
  static const instruction of16 = {16, {8, 4, 4}}, of32 = {8, {4, 2, 4}};
  const instruction *in = a->t.dtype == TESELA_F32 ? &of32 : &of16;
  int64_t *values = room(d->threads * d->registers, sizeof *values),
          *plain = room(d->elements, sizeof *plain);
  bool ok = true;
  for (int64_t k = 0; k < d->threads * d->registers; k++) values[k] = UNSET;
  for (int64_t r = 0; r < d->t.shape[0]; r++)
    for (int64_t c = 0; c < d->t.shape[1]; c++) {
      int64_t *sum = &plain[r * d->t.shape[1] + c];
      if (op->n > 3) *sum = op->arg[3]->plain[r * d->t.shape[1] + c];
      for (int64_t k = 0; k < a->t.shape[1]; k++)
        *sum += a->plain[r * a->t.shape[1] + k] * b->plain[k * b->t.shape[1] + c];
    }
  for (int64_t warp = 0; warp < d->threads / 32; warp++)
    for (int64_t i = 0; i < d->t.shape[0] / 16; i++)
      for (int64_t j = 0; j < d->t.shape[1] / 8 && ok; j++)
        if (d->local[warp * 32 * d->elements + i * 16 * d->t.shape[1] + j * 8] >= 0)
          ok = run_tile(m, op, in, warp, i, j, values);
  memcpy(d->value, values, (size_t)(d->threads * d->registers) * sizeof *values);
  memcpy(d->plain, plain, (size_t)d->elements * sizeof *plain);
  free(values);
  free(plain);
  return ok;
}

/* ---- the text ---------------------------------------------------------------------------------------------------- */

static bool agrees(machine *m, const tensor *x) {
  for (int64_t k = 0; x->t.registers && k < x->threads * x->registers; k++)
    if (x->value[k] != x->plain[x->element[k]])
      return wrong(m, "register %" PRId64 " of thread %" PRId64 " of %s is wrong", k % x->registers,
                   k / x->registers, x->t.name);
  for (int64_t e = 0; x->t.memory && e < x->elements; e++)
    if (x->value[place_in(x->t.memory, e)] != x->plain[e])
      return wrong(m, "element %" PRId64 " of %s is wrong", e, x->t.name);
  return true;
}

/* "reduce r, x dims=[0, 1]" */
static bool read_operation(machine *m, const char *line, operation *op) {
  char text[256], *next = text;
  snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "#\r\n"), line);
  char *dims = strstr(text, "dims=[");
  *op = (operation){.n = 0};
  for (char *at = dims ? dims + 6 : NULL; at && *at != ']'; at += *at == ',')
    op->dims[op->n_dims++] = strtol(at, &at, 10);
  if (sscanf(text, "%15s%n", op->name, &(int){0}) != 1) return false;
  next = strstr(text, op->name) + strlen(op->name);
  for (char *name = strtok(next, " ,"); name && !strchr(name, '=') && op->n < MAX_NAMES;
       name = strtok(NULL, " ,"))
    for (int32_t i = 0; i < m->n; i++)
      if (strcmp(m->tensors[i].t.name, name) == 0) op->arg[op->n++] = &m->tensors[i];
  return op->n > 0 && strcmp(op->name, "register") && strcmp(op->name, "shared") &&
         strcmp(op->name, "global");
}

static bool run_operation(machine *m, const operation *op) {
  bool moves = strcmp(op->name, "load") == 0 || strcmp(op->name, "store") == 0 ||
               (strcmp(op->name, "copy") == 0 && op->arg[0]->t.memory);
  if (moves) return run_transfer(m, op);
  if (strcmp(op->name, "reduce") == 0) return run_reduce(m, op);
  if (strcmp(op->name, "convert") == 0) return run_convert(op);
  if (strcmp(op->name, "dot") == 0) return run_dot(m, op);
  return run_elementwise(m, op, strcmp(op->name, "elementwise") != 0);
}

infer_run infer_simulate(const tesela_kernel_program *program, const char *text) {
  machine *m = room(1, sizeof *m);
  m->program = program;
  m->n = tesela_kernel_program_count(program);
  if (m->n > MAX_TENSORS) abort();
  for (int32_t i = 0; i < m->n; i++) open_tensor(m, i);
  int64_t line = 0;
  for (const char *at = text; *at != '\0' && m->run.line == 0; at += strcspn(at, "\n"), at += *at == '\n') {
    operation op;
    line++;
    if (!read_operation(m, at, &op)) continue;
    if (!run_operation(m, &op) || !agrees(m, op.arg[0])) m->run.line = line;
  }
  infer_run run = m->run;
  for (int32_t i = 0; i < m->n; i++) {
    free(m->tensors[i].plain);
    free(m->tensors[i].value);
    free(m->tensors[i].element);
    free(m->tensors[i].local);
  }
  free(m);
  return run;
}
