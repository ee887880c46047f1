/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_code.c - a layout as C or CUDA: a function per axis, from the index of an element to its place.
 *
 *   static inline int64_t place(int64_t d0, int64_t d1)                 one axis
 *   static inline int64_t place_thread(int64_t d0, int64_t copy)        one of several axes; copies of an element
 *
 * Numbers are unsigned, of 32 bits if all fit, since GPUs divide those faster; sums may wrap on the way to a place.
 */
#include "layout/layout.h"
#include "notation/index/index.h"

static const tesela__spelling code_spelling = {.divide = " / ",
                                               .modulo = " % ",
                                               .times = " * ",
                                               .suffix = "u",
                                               .dim = 'x',
                                               .number_first = true,
                                               .tight_sign = true,
                                               .exclusive = true,
                                               .places = TESELA__PLACES_BY_NUMBER};

typedef struct code {
  tesela__sink sink;
  const char *function, *type;
  tesela_layout form;
  bool axis[TESELA_MAX_AXES], coordinate[TESELA__MAX_COORDINATES]; /* used by the function */
} code;

static bool code_is_narrow(const tesela_layout *form) {
  bool narrow = true;
  for (int32_t d = 0; d < form->rank; d++) narrow = narrow && form->shape[d] <= UINT32_MAX;
  for (int32_t j = 0; j < form->n_joins; j++) narrow = narrow && form->join[j].extent <= UINT32_MAX;
  for (int32_t a = 0; a < form->n_axes; a++) narrow = narrow && form->axis[a].extent <= UINT32_MAX;
  for (int32_t i = 0; i < form->n_active; i++)
    narrow = narrow && form->digit[i].stride <= UINT32_MAX && form->digit[i].stride >= -(int64_t)UINT32_MAX &&
             form->digit[i].extent <= UINT32_MAX;
  return narrow;
}

/* Mark what the place on an axis depends on. Sums depend on those before them. */
static void code_mark(code *c, int32_t axis) {
  const tesela_layout *form = &c->form;
  bool flips = tesela__axis_flips(form, axis);
  memset(c->coordinate, 0, sizeof c->coordinate);
  for (int32_t a = 0; a < form->n_axes; a++)
    c->axis[a] = a == axis || (flips && tesela__axis_flips_axis(form, a, axis));
  for (int32_t j = form->n_joins; j >= 0; j--) /* at first the axes, then the sums, the last one first */
    for (int32_t i = 0; i < form->n_active; i++) {
      const tesela_digit *digit = &form->digit[i];
      bool used = digit->axis >= 0 ? c->axis[digit->axis] : digit->join == j && c->coordinate[form->rank + j];
      if (used && digit->source >= 0 && digit->stride != 0) c->coordinate[digit->source] = true;
    }
}

static void code_parameters(code *c, int64_t copies) {
  const char *lead = "";
  for (int32_t d = 0; d < c->form.rank; d++, lead = ", ")
    tesela__putf(&c->sink, "%sint64_t d%" PRId32, lead, d);
  if (copies > 1) tesela__putf(&c->sink, "%sint64_t copy", lead);
  if (copies <= 1 && c->form.rank == 0) tesela__puts(&c->sink, "void");
}

/* Replicas are numbered over all axes; the copy counts them row-major. */
static void code_copies(code *c, int64_t copies) {
  int64_t left = tesela_layout_copies(&c->form);
  int32_t number = 0;
  bool used = false;
  for (int32_t i = 0; i < c->form.n_active; i++) {
    const tesela_digit *digit = &c->form.digit[i];
    if (digit->source != TESELA_REPLICA) continue;
    left /= digit->extent;
    if (c->axis[digit->axis]) {
      tesela__putf(&c->sink, "  const %s r%" PRId32 " = (%s)(copy / %" PRId64 " %% %" PRId64 ");\n", c->type,
                   number, c->type, left, digit->extent);
      used = true;
    }
    number++;
  }
  if (!used && copies > 1) tesela__puts(&c->sink, "  (void)copy;\n");
}

static void code_function(code *c, int32_t axis, int64_t copies) {
  const tesela_layout *form = &c->form;
  code_mark(c, axis);
  tesela__putf(&c->sink, "\n/* The place on %s[%" PRId64 "]", form->axis[axis].name, form->axis[axis].extent);
  if (copies > 1) tesela__putf(&c->sink, "; copy is 0 to %" PRId64, copies - 1);
  tesela__putf(&c->sink, ". */\n%s int64_t place", c->function);
  if (form->n_axes > 1) tesela__putf(&c->sink, "_%s", form->axis[axis].name);
  tesela__putc(&c->sink, '(');
  code_parameters(c, copies);
  tesela__puts(&c->sink, ") {\n");
  for (int32_t d = 0; d < form->rank; d++)
    if (c->coordinate[d])
      tesela__putf(&c->sink, "  const %s x%" PRId32 " = (%s)d%" PRId32 ";\n", c->type, d, c->type, d);
    else
      tesela__putf(&c->sink, "  (void)d%" PRId32 ";\n", d);
  code_copies(c, copies);
  for (int32_t j = 0; j < form->n_joins; j++) {
    if (!c->coordinate[form->rank + j]) continue;
    tesela__putf(&c->sink, "  const %s s%" PRId32 " = ", c->type, j);
    tesela__put_sum(&c->sink, &code_spelling, form, form->n_axes + j, form->join[j].offset);
    tesela__puts(&c->sink, ";\n");
  }
  bool flips = tesela__axis_flips(form, axis);
  for (int32_t a = 0; a < form->n_axes && flips; a++) {
    if (!c->axis[a]) continue;
    tesela__putf(&c->sink, "  const %s p%" PRId32 " = ", c->type, a);
    tesela__put_sum(&c->sink, &code_spelling, form, a, form->axis[a].offset);
    tesela__puts(&c->sink, ";\n");
  }
  tesela__puts(&c->sink, "  return (int64_t)(");
  if (flips)
    tesela__put_place_on(&c->sink, &code_spelling, form, axis);
  else
    tesela__put_sum(&c->sink, &code_spelling, form, axis, form->axis[axis].offset);
  tesela__puts(&c->sink, ");\n}\n");
}

static tesela_status code_write(const tesela_layout *layout, const char *function, const tesela_writer *to,
                                tesela_translation *answer, tesela_error *err) {
  code c;
  tesela_status status = tesela_layout_canonical(layout, &c.form, err);
  if (status == TESELA_OK) status = tesela__check_axis_names(&c.form, err);
  if (status != TESELA_OK) return status;
  if (layout->n_axes == 0) return tesela__impossible(answer, "the layout has no axis");
  int64_t copies = tesela_layout_copies(layout); /* the canonical form of no elements has no copies */
  tesela__sink_init(&c.sink, to);
  c.function = function;
  c.type = code_is_narrow(&c.form) ? "uint32_t" : "uint64_t";
  tesela__puts(&c.sink, "#include <stdint.h>\n");
  for (int32_t a = 0; a < layout->n_axes; a++) code_function(&c, a, copies);
  return tesela__sink_finish(&c.sink, err);
}

tesela_status tesela__c_write(const tesela_layout *layout, const tesela_writer *to,
                              tesela_translation *answer, tesela_error *err) {
  return code_write(layout, "static inline", to, answer, err);
}

tesela_status tesela__cuda_write(const tesela_layout *layout, const tesela_writer *to,
                                 tesela_translation *answer, tesela_error *err) {
  return code_write(layout, "static __host__ __device__ __forceinline__", to, answer, err);
}
