/* SPDX-License-Identifier: Apache-2.0 */
/*
 * register_c.c - a register layout as C code: the thread and local id of an element, and back.
 *
 * Divisions are in 32 bits if all numbers fit, since GPUs do those faster.
 */
#include "gpu/emit/emit.h"

#include <stdio.h>

#include "gpu/register/register.h"

typedef struct layout_code {
  const tesela_register *layout;
  int32_t first[TESELA_MAX_RANK + 1];    /* modes of dim d: first[d] .. first[d + 1] - 1 */
  int64_t within[TESELA_REGISTER_MODES]; /* of a mode: its step in the index of its dim */
  const char *type, *suffix;
  int64_t copies;
} layout_code;

static layout_code code_of(const tesela_register *layout) {
  layout_code c = {.layout = layout, .type = "uint32_t", .suffix = "u", .copies = 1};
  int64_t most = tesela__max(layout->spatial_size, layout->local_size);
  tesela__register_dims(layout, c.first);
  for (int32_t d = 0; d < layout->rank; d++) {
    int64_t step = 1;
    for (int32_t m = c.first[d + 1] - 1; m >= c.first[d]; m--) {
      c.within[m] = step;
      step *= layout->mode_shape[m];
    }
    most = tesela__max(most, layout->shape[d]);
  }
  for (int32_t i = 0; i < layout->n_spatial; i++)
    if (layout->spatial_modes[i] < 0) c.copies *= -layout->spatial_modes[i];
  if (most > UINT32_MAX) {
    c.type = "uint64_t";
    c.suffix = "";
  }
  return c;
}

/* Declare i0, i1, ...: the index, in the type of the divisions. */
static void code_index(tesela__emit *e, const layout_code *c) {
  for (int32_t d = 0; d < c->layout->rank; d++) TESELA__EMIT(e, "  const %T i%D = (%T)index[%D];\n", d, d);
  for (int32_t d = 0; d < c->layout->rank; d++) TESELA__EMIT(e, "  (void)i%D;\n", d);
  tesela__puts(&e->sink, "  (void)index;\n");
}

/* Reverse digits, which were collected fastest first. */
static void code_reverse(tesela__emit_digit *digit, int32_t n) {
  for (int32_t i = 0; i < n / 2; i++) {
    tesela__emit_digit keep = digit[i];
    digit[i] = digit[n - 1 - i];
    digit[n - 1 - i] = keep;
  }
}

/* The thread or local id: the contributions of the indices i0, i1, ... and of the copy. */
static void code_id(tesela__emit *e, const layout_code *c, bool threads) {
  const tesela_register *r = c->layout;
  tesela__emit_digit digit[TESELA_REGISTER_MODES], copies[TESELA_REGISTER_MODES];
  int64_t weight = 1, copy = 1, of_mode[TESELA_REGISTER_MODES] = {0};
  int32_t n_copies = 0;
  const char *lead = "";
  for (int32_t i = (threads ? r->n_spatial : r->n_local) - 1; i >= 0; i--) {
    int64_t m = threads ? r->spatial_modes[i] : r->local_modes[i], extent = m < 0 ? -m : r->mode_shape[m];
    if (m < 0) {
      copies[n_copies++] = (tesela__emit_digit){copy, extent, weight};
      copy *= extent;
    } else {
      of_mode[m] = weight;
    }
    weight *= extent;
  }
  for (int32_t d = 0; d < r->rank; d++) {
    int32_t n = 0;
    char name[16];
    for (int32_t m = c->first[d + 1] - 1; m >= c->first[d]; m--)
      digit[n++] = (tesela__emit_digit){c->within[m], r->mode_shape[m], of_mode[m]};
    code_reverse(digit, n);
    snprintf(name, sizeof name, "i%" PRId32, d);
    if (tesela__emit_digit_sum(e, lead, name, r->shape[d], n, digit, c->suffix)) lead = " + ";
  }
  code_reverse(copies, n_copies);
  if (tesela__emit_digit_sum(e, lead, "k", copy, n_copies, copies, c->suffix)) lead = " + ";
  if (!*lead) tesela__puts(&e->sink, "0");
}

/* index[d]: the digits of dim d in the thread id and in the local id. */
static void code_element(tesela__emit *e, const layout_code *c, int32_t d) {
  const tesela_register *r = c->layout;
  const char *lead = "";
  for (int threads = 1; threads >= 0; threads--) {
    tesela__emit_digit digit[TESELA_REGISTER_MODES];
    int64_t step = 1;
    int32_t n = threads ? r->n_spatial : r->n_local;
    for (int32_t i = n - 1; i >= 0; i--) {
      int64_t m = threads ? r->spatial_modes[i] : r->local_modes[i], extent = m < 0 ? -m : r->mode_shape[m];
      bool here = m >= c->first[d] && m < c->first[d + 1];
      digit[i] = (tesela__emit_digit){step, extent, here ? c->within[m] : 0};
      step *= extent;
    }
    if (tesela__emit_digit_sum(e, lead, threads ? "t" : "l", step, n, digit, c->suffix)) lead = " + ";
  }
  if (!*lead) tesela__puts(&e->sink, "0");
}

tesela_status tesela_codegen_register_c(const tesela_register *layout, const char *name,
                                        const tesela_writer *to, tesela_error *err) {
  TESELA__NEED(err, layout, name, to);
  tesela_status status = tesela__emit_check_name(name, err);
  if (status != TESELA_OK) return status;
  layout_code c = code_of(layout);
  tesela__emit e = {.name = name, .element = c.type};
  tesela__sink_init(&e.sink, to);
  TESELA__EMIT(
      &e,
      "/* %N: a register layout of %D threads with %D registers each, every element in %D of them. */\n"
      "#include <stdint.h>\n"
      "#ifdef __CUDACC__\n"
      "#define %N_FUNCTION static __host__ __device__ inline\n"
      "#else\n"
      "#define %N_FUNCTION static inline\n"
      "#endif\n\n"
      "/* The thread that holds an element; copy is 0 to %D. */\n"
      "%N_FUNCTION int64_t %N_thread(const int64_t *index, int64_t copy) {\n"
      "  const %T k = (%T)copy;\n  (void)k;\n",
      layout->spatial_size, layout->local_size, c.copies, c.copies - 1);
  code_index(&e, &c);
  tesela__puts(&e.sink, "  return (int64_t)(");
  code_id(&e, &c, true);
  TESELA__EMIT(&e,
               ");\n}\n\n/* Its local id. */\n"
               "%N_FUNCTION int64_t %N_local(const int64_t *index) {\n",
               0);
  code_index(&e, &c);
  tesela__puts(&e.sink, "  return (int64_t)(");
  code_id(&e, &c, false);
  TESELA__EMIT(&e,
               ");\n}\n\n/* The element that a thread holds at a local id. */\n"
               "%N_FUNCTION void %N_index(int64_t thread, int64_t local, int64_t *index) {\n"
               "  const %T t = (%T)thread, l = (%T)local;\n  (void)t, (void)l, (void)index;\n",
               0);
  for (int32_t d = 0; d < layout->rank; d++) {
    TESELA__EMIT(&e, "  index[%D] = (int64_t)(", d);
    code_element(&e, &c, d);
    tesela__puts(&e.sink, ");\n");
  }
  tesela__puts(&e.sink, "}\n");
  return tesela__sink_finish(&e.sink, err);
}
