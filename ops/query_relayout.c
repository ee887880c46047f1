/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_relayout.c - the ops plan and relayout: how a tensor is copied to another layout, and small tensors copied; query_write.c
 * has those of files.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "problem_side.h"
#include "request.h"

enum { MOST_BYTES = 16 << 20 }; /* of either side of relayout */

/* ---- the fields ------------------------------------------------------------------------------------------- */

static tesela_status read_side(tesela_request *q, const char *field, const tesela_xla_shape *of,
                               problem_side *side) {
  const tesela_value *text = tesela_request_get(q, field);
  const tesela_layout_read_options options = request_reading(q, NULL);
  return problem_read_side(tesela_value_text(text), tesela_value_length(text), &options, of, side, NULL,
                           q->err);
}

static tesela_transform read_transform(tesela_request *q, tesela_transform otherwise) {
  static const struct {
    const char *name;
    tesela_transform transform;
  } names[] = {{"none", TESELA_TRANSFORM_NONE},
               {"swap", TESELA_TRANSFORM_SWAP},
               {"convert", TESELA_TRANSFORM_CONVERT},
               {"split", TESELA_TRANSFORM_SPLIT},
               {"merge", TESELA_TRANSFORM_MERGE}};
  const char *text = tesela_value_text(tesela_request_get(q, "transform"));
  for (size_t i = 0; text && i < sizeof names / sizeof names[0]; i++)
    if (strcmp(text, names[i].name) == 0) return names[i].transform;
  return otherwise;
}

static tesela_status read_problem(tesela_request *q, problem *p) {
  tesela_status status = read_side(q, "from", NULL, &p->from);
  if (status != TESELA_OK) return status;
  const tesela_xla_shape array = problem_array(&p->from.layout);
  status = read_side(q, "to", &array, &p->to);
  return status == TESELA_OK ? problem_complete(&p->from, &p->to.layout, q->err) : status;
}

static bool is_hex_digit(char c) { return (uint8_t)(c - '0') < 10 || (uint8_t)((c | 0x20) - 'a') < 6; }

/* The value of a hexadecimal digit. */
static uint8_t nibble(char c) { return (uint8_t)((c & 15) + (c & 0x40 ? 9 : 0)); }

/* The bytes of a text of hexadecimal digits, two for each; it must have exactly `bytes`. */
static tesela_status read_hex(tesela_request *q, const char *field, const char *what, int64_t bytes,
                              uint8_t *out) {
  const tesela_value *text = tesela_request_get(q, field);
  const char *digits = tesela_value_text(text);
  const size_t length = tesela_value_length(text);
  size_t wrong = 0;
  for (size_t i = 0; i < length; i++) wrong += !is_hex_digit(digits[i]);
  for (size_t i = 0; wrong > 0; i++)
    if (!is_hex_digit(digits[i]))
      return tesela_request_fail(q, TESELA_E_SYNTAX, (int64_t)i, "expected a hexadecimal digit");
  if (length != 2 * (size_t)bytes)
    return tesela_request_fail(q, TESELA_E_INVALID, -1,
                               "%s has %zu hexadecimal digits; expected %" PRId64
                               " for %s, two for each byte",
                               field, length, 2 * bytes, what);
  for (int64_t i = 0; i < bytes; i++)
    out[i] = (uint8_t)(nibble(digits[2 * i]) << 4 | nibble(digits[2 * i + 1]));
  return TESELA_OK;
}

/* An element: a number or bits, else its bytes as hexadecimal digits; an error where the two readings differ. */
static tesela_status read_fill(tesela_request *q, const problem *p, tesela_plan_options *options) {
  const char *text = tesela_value_text(tesela_request_get(q, "fill"));
  const int32_t bits = p->to.layout.bits, bytes = (bits + 7) / 8;
  uint8_t hex[16] = {0};
  tesela_error err;
  const tesela_status status = problem_fill(text, &p->to.layout, options, &err);
  if (options->fill != TESELA_FILL_VALUE) return status;
  const bool is_hex = bytes <= 16 && read_hex(q, "fill", "an element", bytes, hex) == TESELA_OK &&
                      (bits >= 8 || hex[0] >> bits == 0);
  if (status == TESELA_OK && is_hex && memcmp(hex, options->fill_value, sizeof hex) != 0)
    return tesela_request_fail(
        q, TESELA_E_INVALID, -1,
        "ambiguous fill '%s': a number or bytes; expected the bits of the element, as in 0x1f", text);
  *q->err = err;
  if (status != TESELA_OK && is_hex) memcpy(options->fill_value, hex, sizeof hex);
  return is_hex ? TESELA_OK : status;
}

/* ---- plan ------------------------------------------------------------------------------------------------- */

static void put_text(tesela_sink *out, const char *name, const tesela_plan *plan,
                     tesela_status (*print)(const tesela_plan *, const tesela_writer *, tesela_error *)) {
  tesela_writer to = tesela_put_key_begin(out, name);
  print(plan, &to, NULL);
  tesela_put_text_end(out);
}

/* The fields of a plan's options, padding included; q->field is NULL then. */
static tesela_status read_options(tesela_request *q, const problem *p, tesela_plan_options *options) {
  tesela_status status = problem_options(q, p, options);
  if (status != TESELA_OK) return status;
  const char *fill = tesela_value_text(tesela_request_get(q, "fill"));
  status = problem_fill(fill, &p->to.layout, options, q->err);
  if (status == TESELA_OK) q->field = NULL;
  return status;
}

tesela_status op_plan(tesela_request *q) {
  problem p;
  tesela_plan *plan;
  tesela_plan_options options;
  tesela_plan_info info;
  const bool line = tesela_request_get(q, "problem");
  if (!line && (!tesela_request_get(q, "from") || !tesela_request_get(q, "to")))
    return tesela_request_fail(q, TESELA_E_INVALID, -1, "op plan: missing field problem, or from and to");
  tesela_status status = line ? problem_read_field(q, &p) : read_problem(q, &p);
  if (status == TESELA_OK) p.transform = read_transform(q, problem_transform(&p));
  if (status == TESELA_OK) status = read_options(q, &p, &options);
  if (status != TESELA_OK) return status;
  status = tesela_plan_create(&plan, &p.to.layout, &p.from.layout, &options, q->err);
  if (status != TESELA_OK) return status;
  tesela_plan_describe(plan, &info);
  problem_put(&p, q->out);
  put_text(q->out, "plan", plan, tesela_plan_print);
  put_text(q->out, "explain", plan, tesela_plan_explain);
  tesela_put_key_int(q->out, "bytes_read", info.bytes_read);
  tesela_put_key_int(q->out, "bytes_written", info.bytes_written);
  tesela_put_key_int(q->out, "scratch_bytes", info.scratch_bytes);
  tesela_put_key_int(q->out, "src_bytes", info.src_bytes);
  tesela_put_key_int(q->out, "dst_bytes", info.dst_bytes);
  tesela_put_key_bool(q->out, "in_place", info.in_place);
  tesela_put_key_int(q->out, "in_place_scratch_bytes", info.in_place_scratch_bytes);
  tesela_put_key_int(q->out, "threads", info.threads);
  tesela_put_key_int(q->out, "pieces", info.n_pieces);
  tesela_put_key_int(q->out, "fills", info.n_fills);
  tesela_put_key_text(q->out, "solver", tesela_solver_name(info.solver));
  tesela_put_key_text(q->out, "isa", tesela_isa_name(info.isa));
  tesela_plan_destroy(plan);
  return TESELA_OK;
}

/* ---- relayout --------------------------------------------------------------------------------------------- */

static char hex_digit(int value) { return (char)(value + (value < 10 ? '0' : 'a' - 10)); }

static void put_hex(tesela_sink *out, const char *name, const uint8_t *data, int64_t bytes) {
  enum { PIECE = 1024 };
  char text[2 * PIECE];
  tesela_writer to = tesela_put_key_begin(out, name);
  for (int64_t begin = 0; begin < bytes; begin += PIECE) {
    const int64_t n = bytes - begin < PIECE ? bytes - begin : PIECE;
    for (int64_t i = 0; i < n; i++) {
      text[2 * i] = hex_digit(data[begin + i] >> 4);
      text[2 * i + 1] = hex_digit(data[begin + i] & 15);
    }
    to.write(to.user, text, 2 * (size_t)n);
  }
  tesela_put_text_end(out);
}

static tesela_status copy(tesela_request *q, const problem *p, uint8_t *dst, uint8_t *src) {
  tesela_plan *plan = NULL;
  tesela_plan_options options = {.transform = p->transform};
  tesela_status status = read_hex(q, "data_hex", "the layout of from", p->from.bytes, src);
  if (status == TESELA_OK) status = read_fill(q, p, &options);
  if (status != TESELA_OK) return status;
  q->field = NULL;
  status = q->plans ? tesela_plan_cache_get(q->plans, &plan, &p->to.layout, &p->from.layout, &options, q->err)
                    : tesela_plan_create(&plan, &p->to.layout, &p->from.layout, &options, q->err);
  const tesela_run_options run = {.progress = tesela_request_progress, .progress_user = q};
  if (status == TESELA_OK) status = tesela_plan_run(plan, dst, src, &run, q->err);
  tesela_plan_destroy(plan);
  if (status == TESELA_OK) put_hex(q->out, "data_hex", dst, p->to.bytes);
  return status;
}

tesela_status op_relayout(tesela_request *q) {
  problem p;
  const bool data = tesela_request_get(q, "data_hex"), file = tesela_request_get(q, "file");
  const bool whole = data ? !file && tesela_request_get(q, "from") : file && tesela_request_get(q, "output");
  q->field = NULL;
  if (!whole)
    return tesela_request_fail(q, TESELA_E_INVALID, -1,
                               "op relayout: missing fields: expected from and data_hex, or file and output");
  if (file) return request_relayout_file(q, read_transform(q, TESELA_TRANSFORM_NONE));
  tesela_status status = read_problem(q, &p);
  if (status != TESELA_OK) return status;
  p.transform = read_transform(q, problem_transform(&p));
  if (p.from.bytes > MOST_BYTES || p.to.bytes > MOST_BYTES) {
    q->field = p.from.bytes > MOST_BYTES ? "from" : "to";
    return tesela_request_fail(q, TESELA_E_LIMIT, -1, "%s has %" PRId64 " bytes; expected %d or fewer",
                               q->field, p.from.bytes > MOST_BYTES ? p.from.bytes : p.to.bytes, MOST_BYTES);
  }
  uint8_t *src = malloc((size_t)p.from.bytes + 1), *dst = calloc((size_t)p.to.bytes + 1, 1);
  if (src && dst)
    status = copy(q, &p, dst, src);
  else
    status = tesela_request_fail(q, TESELA_E_MEMORY, -1, "no memory for %" PRId64 " bytes",
                                 p.from.bytes + p.to.bytes);
  free(src);
  free(dst);
  return status;
}
