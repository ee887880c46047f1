/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remedy_code.c - a remedy as lines of code in the user's framework, with what to mind.
 */
#include "report/report_state.h"

/* ---- words ------------------------------------------------------------------------------------------------ */

static const char *const remedy_caveats[TESELA_REMEDY_N_KINDS] = {
    [TESELA_REMEDY_ORDER] = "state that goes round needs it as argument and as result",
    [TESELA_REMEDY_TAKE] = "its gradient is a scatter",
    [TESELA_REMEDY_PRODUCTS] = "sums of products are not rounded to bf16 as matrix units do",
    [TESELA_REMEDY_CHANNELS] = "its weights are spread over blocks of pixels, most of them zeros",
    [TESELA_REMEDY_INDICES] = "make them apart: a stack of them is padded again",
    [TESELA_REMEDY_COMPONENTS] = "make and use them apart: a stack of them is padded again",
    [TESELA_REMEDY_PACK] = "its maker and all readers use the packed array",
    [TESELA_REMEDY_MERGE] = "made and used so: a reshape between two tilings is a copy",
    [TESELA_REMEDY_CONSTRAIN] = "the compiler may copy before and after it: compare the times, too",
};

/* The name of an argument, as JAX notes it, "params['w']"; "x" for others. */
static void code_put_name(tesela__sink *sink, const tesela_report_culprit *culprit) {
  static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_",
                    more[] = "0123456789.'[]";
  const char *p = culprit->op_name;
  bool named = culprit->role != TESELA_REPORT_BUFFER_TEMPORARY && *p && strchr(first, *p);
  for (; named && *p; p++) named = strchr(first, *p) || strchr(more, *p);
  tesela__puts(sink, named ? culprit->op_name : "x");
}

static void code_put_dims(tesela__sink *sink, const tesela_xla_shape *shape) {
  for (int32_t d = 0; d < shape->rank; d++) tesela__putf(sink, d ? ", %" PRId64 : "%" PRId64, shape->dim[d]);
}

/* "1, 0": major to minor. */
static void code_put_order(tesela__sink *sink, const tesela_xla_layout *layout) {
  for (int32_t i = layout->rank - 1; i >= 0; i--)
    tesela__putf(sink, i < layout->rank - 1 ? ", %" PRId32 : "%" PRId32, layout->minor_to_major[i]);
}

/* ---- components ------------------------------------------------------------------------------------------- */

/* "x[:, i]", with i, j, k for the few. */
static void code_put_part(tesela__sink *sink, const tesela_report_culprit *culprit,
                          const tesela_report_remedy *remedy, uint64_t few) {
  char letter = 'i';
  code_put_name(sink, culprit);
  for (int32_t d = 0; d < remedy->from.rank; d++) {
    tesela__puts(sink, d ? ", " : "[");
    if (few >> d & 1)
      tesela__putc(sink, letter++);
    else
      tesela__putc(sink, ':');
  }
  tesela__putc(sink, ']');
}

/* An argument or a result is as it is passed: the decorator leaves it. */
static void code_put_decorator(tesela__sink *sink, const tesela_report_culprit *culprit,
                               const tesela_report_remedy *remedy, uint64_t few) {
  int64_t most = culprit->role == TESELA_REPORT_BUFFER_TEMPORARY ? remedy->few : 0;
  for (int32_t d = 0; d < remedy->from.rank; d++)
    if (few >> d & 1) most = tesela__max(most, remedy->from.dim[d]);
  tesela__puts(sink, "@tesela.tune.components(");
  if (most > 4) tesela__putf(sink, "limit=%" PRId64, most);
  tesela__puts(sink, ")  # on the function that is compiled; ");
  tesela__puts(sink, culprit->role == TESELA_REPORT_BUFFER_TEMPORARY ? "or by hand:\n"
                                                                     : "it takes or returns the parts:\n");
}

static void code_put_components(tesela__sink *sink, const tesela_report_culprit *culprit,
                                const tesela_report_remedy *remedy, bool torch) {
  int64_t arrays;
  uint64_t few = tesela__remedy_few(&remedy->from, TESELA__REMEDY_SMALL, &arrays);
  if (arrays != remedy->arrays) few = tesela__remedy_few(&remedy->from, TESELA__REMEDY_WIDE, &arrays);
  const bool listed = arrays <= 4 && remedy->from.rank == remedy->to.rank + 1;
  char letter = 'i';
  if (!torch) code_put_decorator(sink, culprit, remedy, few);
  if (listed) {
    for (int64_t i = 0; i < arrays; i++) tesela__putf(sink, i ? ", x%" PRId64 : "x%" PRId64, i);
    tesela__puts(sink, " = (");
  } else {
    tesela__puts(sink, "parts = [");
  }
  code_put_part(sink, culprit, remedy, few);
  for (int32_t d = 0; d < remedy->from.rank; d++)
    if (few >> d & 1) tesela__putf(sink, " for %c in range(%" PRId64 ")", letter++, remedy->from.dim[d]);
  tesela__puts(sink, listed ? ")\n" : "]\n");
  if (remedy->few > 0)
    tesela__putf(
        sink, "# rows at ids[:, k], for each of %" PRId64 " k: the columns of the numbers are apart, too\n",
        remedy->few);
}

/* ---- the others ------------------------------------------------------------------------------------------- */

static void code_put_layout(tesela__sink *sink, const tesela_report_culprit *culprit,
                            const tesela_report_remedy *remedy) {
  if (remedy->kind == TESELA_REMEDY_CONSTRAIN) {
    tesela__puts(sink, "x = with_layout_constraint(x, Layout(major_to_minor=(");
    code_put_order(sink, &remedy->to.layout);
    tesela__puts(sink, ")))\n");
    return;
  }
  const bool in = culprit->role != TESELA_REPORT_BUFFER_OUTPUT,
             out = culprit->role != TESELA_REPORT_BUFFER_ARGUMENT;
  tesela__puts(sink, "form = Format(Layout(major_to_minor=(");
  code_put_order(sink, &remedy->to.layout);
  tesela__puts(sink, ")), sharding)\nstep = jax.jit(step");
  if (in) tesela__puts(sink, ", in_shardings=(..., form, ...)");
  if (out) tesela__puts(sink, ", out_shardings=(..., form, ...)");
  tesela__puts(sink, ")\n");
  if (!in) return;
  code_put_name(sink, culprit);
  tesela__puts(sink, " = jax.device_put(");
  code_put_name(sink, culprit);
  tesela__puts(sink, ", form)\n");
}

/* "x = x.reshape(" */
static void code_put_method(tesela__sink *sink, const tesela_report_culprit *culprit, const char *method) {
  code_put_name(sink, culprit);
  tesela__puts(sink, " = ");
  code_put_name(sink, culprit);
  tesela__putf(sink, ".%s(", method);
}

static void code_put_reshape(tesela__sink *sink, const tesela_report_culprit *culprit,
                             const tesela_report_remedy *remedy) {
  code_put_method(sink, culprit, "reshape");
  code_put_dims(sink, &remedy->to);
  tesela__puts(sink, ")\n");
  if (remedy->kind != TESELA_REMEDY_PACK) return;
  const int64_t n = remedy->from.dim[1], rows = remedy->to.dim[1] / n;
  tesela__puts(sink, "rows = ");
  code_put_name(sink, culprit);
  tesela__putf(sink,
               "[ids // %" PRId64 "].reshape(-1, %" PRId64 ", %" PRId64 ")[range(len(ids)), ids %% %" PRId64
               "]\n",
               rows, rows, n, rows);
}

/* How many pixels of a line become channels. */
static int64_t code_pixels(const tesela_report_remedy *remedy) {
  int64_t pixels = 1;
  for (int32_t d = 1; d < remedy->from.rank; d++)
    if (remedy->to.dim[d] > remedy->from.dim[d]) pixels = remedy->to.dim[d] / remedy->from.dim[d];
  return pixels;
}

static void code_put_permuted(tesela__sink *sink, const tesela_report_culprit *culprit,
                              const tesela_report_remedy *remedy) {
  code_put_method(sink, culprit, "permute");
  code_put_order(sink, &remedy->to.layout);
  tesela__puts(sink, ").contiguous()  # PyTorch/XLA sets no layouts: the dims themselves in that order\n");
}

tesela_status tesela_report_remedy_code(const tesela_report_culprit *culprit,
                                        const tesela_report_remedy *remedy, const tesela_writer *to,
                                        tesela_error *err) {
  TESELA__NEED(err, culprit, remedy, to);
  const bool torch = tesela__culprit_is_torch(culprit);
  tesela__sink sink;
  tesela__sink_init(&sink, to);
  switch (remedy->kind) {
  case TESELA_REMEDY_ORDER:
  case TESELA_REMEDY_CONSTRAIN:
    if (torch)
      code_put_permuted(&sink, culprit, remedy);
    else
      code_put_layout(&sink, culprit, remedy);
    break;
  case TESELA_REMEDY_TAKE:
    tesela__puts(&sink, torch ? "y = torch.nn.functional.embedding(ids, table)" : "y = table[ids]");
    tesela__puts(&sink, "  # for the product of the one-hot array and the table\n");
    break;
  case TESELA_REMEDY_CHANNELS:
    tesela__putf(&sink, "@tesela.tune.pixels_as_channels(%" PRId64 ")  # on the function that is compiled\n",
                 code_pixels(remedy));
    break;
  case TESELA_REMEDY_PRODUCTS:
  case TESELA_REMEDY_INDICES:
  case TESELA_REMEDY_COMPONENTS:
    code_put_components(&sink, culprit, remedy, torch);
    break;
  case TESELA_REMEDY_PACK:
  case TESELA_REMEDY_MERGE:
    code_put_reshape(&sink, culprit, remedy);
    break;
  case TESELA_REMEDY_NONE:
  case TESELA_REMEDY_N_KINDS:
    return tesela__sink_finish(&sink, err);
  }
  tesela__putf(&sink, "# mind: %s\n", remedy_caveats[remedy->kind]);
  return tesela__sink_finish(&sink, err);
}
