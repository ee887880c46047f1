/* SPDX-License-Identifier: Apache-2.0 */
/* problem_side.c - see problem_side.h. */
#include "problem_side.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "request.h"

/* ---- the two sides ---------------------------------------------------------------------------------------- */

bool problem_lacks_type(const tesela_layout *layout) {
  return layout->dtype == TESELA_DTYPE_NONE && layout->bits == 8;
}

tesela_status problem_complete(problem_side *side, const tesela_layout *other, tesela_error *err) {
  tesela_sizes sizes;
  if (!problem_lacks_type(&side->layout) || other->dtype == TESELA_DTYPE_NONE) return TESELA_OK;
  side->layout.dtype = other->dtype;
  side->layout.bits = other->bits;
  if (side->any.kind == TESELA_KIND_RELATION) side->any.relation = side->layout;
  const tesela_status status = tesela_layout_sizes(&side->layout, &sizes, err);
  if (status == TESELA_OK) side->bytes = sizes.bytes;
  return status;
}

/* "expected a layout in memory, found a register layout", "..., found one with the axes register, lane, warp". */
static tesela_status fail_axes(const problem_side *side, tesela_error *err) {
  char names[TESELA_MAX_AXES * (TESELA_AXIS_NAME + 2) + 1] = "";
  size_t n = 0;
  if (side->any.kind != TESELA_KIND_RELATION)
    return ops_fail(err, TESELA_E_MISMATCH, 0, "expected a layout in memory, found %s",
                    tesela_kind_words(side->any.kind));
  for (int32_t a = 0; a < side->layout.n_axes && n < sizeof names; a++)
    n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", a ? ", " : "", side->layout.axis[a].name);
  return ops_fail(err, TESELA_E_MISMATCH, 0, "expected a layout in memory, found one with the axes %s",
                  names);
}

tesela_status problem_read_side(const char *text, size_t length, const tesela_layout_read_options *options,
                                const tesela_xla_shape *of, problem_side *side, tesela_xla_repairs *repairs,
                                tesela_error *err) {
  tesela_sizes sizes;
  tesela_xla_shape shape;
  tesela_layout_read_options given = *options;
  if (of) given.array = of;
  tesela_status status = tesela_layout_read(text, length, &given, &side->any, err);
  if (status == TESELA_OK && side->any.kind == TESELA_KIND_DEVICE &&
      tesela_any_to_xla(&side->any, &shape, NULL) == TESELA_OK) {
    given.notation = "xla";
    status = tesela_layout_read(text, length, &given, &side->any, err);
  }
  if (status == TESELA_OK) status = tesela_any_to_layout(&side->any, &side->layout, err);
  if (status == TESELA_OK && side->layout.n_axes != 1) status = fail_axes(side, err);
  if (status == TESELA_OK) status = tesela_layout_sizes(&side->layout, &sizes, err);
  if (status != TESELA_OK) return status;
  side->bytes = sizes.bytes;
  if (repairs) *repairs = side->any.repairs;
  tesela_layout typed = {.dtype = of && of->dtype != TESELA_DTYPE_NONE ? of->dtype : options->dtype};
  typed.bits = 8 * tesela_dtype_bytes(typed.dtype);
  return problem_complete(side, &typed, err);
}

tesela_xla_shape problem_array(const tesela_layout *layout) {
  tesela_xla_shape array = {.dtype = layout->dtype, .rank = layout->rank};
  for (int32_t d = 0; d < layout->rank; d++) array.dim[d] = layout->shape[d];
  return array;
}

tesela_transform problem_transform(const problem *p) {
  bool same = p->from.layout.dtype == p->to.layout.dtype && p->from.layout.bits == p->to.layout.bits;
  return same ? TESELA_TRANSFORM_NONE : TESELA_TRANSFORM_CONVERT;
}

/* ---- the line --------------------------------------------------------------------------------------------- */

/* Where the extent of a dim is on the right side of the arrow; its beginning, if that lists no extents. */
static int64_t extent_at(const char *line, const char *right, const char *end, int32_t dim) {
  while (right < end && *right == ' ') right++;
  const char *at = memchr(right, '[', (size_t)(end - right));
  if (memchr(right, '(', at ? (size_t)(at - right) : 0)) at = NULL;
  for (; at && dim > 0; dim--) at = memchr(at + 1, ',', (size_t)(end - at - 1));
  return (at ? at + 1 : right) - line;
}

/* Do both sides have the same dims? */
static tesela_status check_dims(const char *line, const char *right, const char *end, const problem *p,
                                tesela_error *err) {
  const tesela_layout *from = &p->from.layout, *to = &p->to.layout;
  int32_t d = 0;
  if (from->rank != to->rank)
    return ops_fail(err, TESELA_E_SYNTAX, extent_at(line, right, end, 0),
                    "the array has %" PRId32 " dim%s on the right and %" PRId32 " on the left", to->rank,
                    to->rank == 1 ? "" : "s", from->rank);
  while (d < to->rank && to->shape[d] == from->shape[d]) d++;
  if (d == to->rank) return TESELA_OK;
  return ops_fail(err, TESELA_E_SYNTAX, extent_at(line, right, end, d),
                  "dim %" PRId32 " has extent %" PRId64 " on the right and %" PRId64 " on the left", d,
                  to->shape[d], from->shape[d]);
}

static const char *find(const char *at, const char *end, const char *sign) {
  for (; end - at >= 2; at++)
    if (memcmp(at, sign, 2) == 0) return at;
  return NULL;
}

static bool is_blank(const char *text, const char *end) {
  while (text < end && *text && strchr(" \t\r\n", *text)) text++;
  return text == end;
}

/* One side of the line: its bytes at .. at+length-1. */
static tesela_status read_part(const char *line, size_t at, size_t length,
                               const tesela_layout_read_options *options, const tesela_xla_shape *of,
                               problem_side *side, tesela_xla_repairs *repairs, tesela_error *err) {
  tesela_status status = problem_read_side(line + at, length, options, of, side, repairs, err);
  if (status != TESELA_OK && err->at >= 0) err->at += (int64_t)at;
  for (int32_t i = 0; i < repairs->count && i < TESELA_XLA_MAX_REPAIRS; i++)
    repairs->repair[i].at += (int64_t)at;
  return status;
}

/* The arrow between the two sides: the first one before which there is a layout, since some notations have arrows of their own;
 * without one the first. */
static const char *find_arrow(const char *line, const char *end, const tesela_layout_read_options *options) {
  const char *first = find(line, end, "->");
  tesela_any_layout any;
  for (const char *arrow = first; arrow; arrow = find(arrow + 2, end, "->"))
    if (tesela_layout_read(line, (size_t)(arrow - line), options, &any, NULL) == TESELA_OK) return arrow;
  return first;
}

tesela_status problem_read_line(const char *line, size_t length, const tesela_layout_read_options *options,
                                problem *p, problem_notes *notes, tesela_error *err) {
  const char *end = line + length, *arrow = find_arrow(line, end, options), *other = find(line, end, "=>");
  *notes = (problem_notes){.side = NULL};
  if (!arrow && other) return ops_fail(err, TESELA_E_SYNTAX, other - line, "expected ->, found =>");
  if (!arrow)
    return ops_fail(err, TESELA_E_SYNTAX, end - line,
                    "missing ->; expected two sides, as in f32[1024,1024]{1,0} -> {1,0:T(8,128)}");
  if (is_blank(line, arrow))
    return ops_fail(err, TESELA_E_SYNTAX, arrow - line,
                    "missing left side: the layout of the data, as in f32[1024,1024]{1,0}");
  if (is_blank(arrow + 2, end))
    return ops_fail(err, TESELA_E_SYNTAX, end - line,
                    "missing right side: the layout to copy to, as in {1,0:T(8,128)}");
  size_t left = (size_t)(arrow - line), right = left + 2;
  notes->side = "left";
  tesela_status status = read_part(line, 0, left, options, NULL, &p->from, &notes->from, err);
  if (status != TESELA_OK) return status;
  const tesela_xla_shape array = problem_array(&p->from.layout);
  notes->side = "right";
  status = read_part(line, right, length - right, options, &array, &p->to, &notes->to, err);
  if (status == TESELA_OK) status = problem_complete(&p->from, &p->to.layout, err);
  if (status != TESELA_OK) return status;
  notes->side = NULL;
  p->transform = problem_transform(p);
  return check_dims(line, arrow + 2, end, p, err);
}

tesela_status problem_read_field(tesela_request *q, problem *p) {
  const tesela_value *line = tesela_request_get(q, "problem");
  const tesela_layout_read_options options = request_reading(q, NULL);
  problem_notes notes;
  return problem_read_line(tesela_value_text(line), tesela_value_length(line), &options, p, &notes, q->err);
}

void problem_print(const problem *p, const tesela_writer *to) {
  tesela_any_print(&p->from.any, to, NULL);
  to->write(to->user, " -> ", 4);
  tesela_any_print(&p->to.any, to, NULL);
}

void problem_put(const problem *p, tesela_sink *out) {
  tesela_writer to = tesela_put_key_begin(out, "problem");
  problem_print(p, &to);
  tesela_put_text_end(out);
}

/* ---- the options ------------------------------------------------------------------------------------------ */

tesela_status problem_options(tesela_request *q, const problem *p, tesela_plan_options *options) {
  const char *solver = tesela_value_text(tesela_request_get(q, "solver"));
  const char *effort = tesela_value_text(tesela_request_get(q, "effort"));
  const tesela_value *threads = tesela_request_get(q, "threads");
  *options = (tesela_plan_options){.transform = p->transform, .threads = (int32_t)tesela_value_int(threads)};
  if (threads && (tesela_value_int(threads) < 1 || tesela_value_int(threads) > 1024))
    return tesela_request_fail(q, TESELA_E_RANGE, -1, "threads is %" PRId64 "; expected 1 to 1024",
                               tesela_value_int(threads));
  for (int i = 0; solver && tesela_solver_name((tesela_solver)i); i++)
    if (strcmp(solver, tesela_solver_name((tesela_solver)i)) == 0) options->solver = (tesela_solver)i;
  if (effort && strcmp(effort, "measure") == 0) options->effort = TESELA_EFFORT_MEASURE;
  const char *isa = tesela_value_text(tesela_request_get(q, "isa"));
  for (int i = 0; isa && tesela_isa_name((tesela_isa)i); i++)
    if (strcmp(isa, tesela_isa_name((tesela_isa)i)) == 0) options->isa = (tesela_isa)i;
  if (tesela_isa_available(options->isa)) return TESELA_OK;
  return tesela_request_fail(q, TESELA_E_UNSUPPORTED, -1, "%s is not available on this machine", isa);
}

tesela_status problem_fill(const char *text, const tesela_layout *to, tesela_plan_options *options,
                           tesela_error *err) {
  options->fill = TESELA_FILL_ZERO;
  if (!text || strcmp(text, "zero") == 0) return TESELA_OK;
  options->fill = TESELA_FILL_LEAVE;
  if (strcmp(text, "leave") == 0) return TESELA_OK;
  options->fill = TESELA_FILL_VALUE;
  return tesela_element_read(text, strlen(text), to->dtype, to->bits, options->fill_value, err);
}
