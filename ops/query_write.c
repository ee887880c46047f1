/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_write.c - the ops that write tensors to files: pack, unpack, and relayout of a file.
 *
 * A rule of pack is PATTERN={...}. It applies to a tensor whose name matches and that has as many dims as the braces list; the first that applies wins. The field to is one more rule, for all names.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quote.h"
#include "tensor_write.h"
#include "system.h"

/* ---- relayout ---------------------------------------------------------------------------------------------- */

static tesela_status relayout(tensor_job *job, const char *to_text, tesela_transform transform) {
  tensor from;
  tesela_xla_shape to;
  job->options.plan.transform = transform;
  if (transform == TESELA_TRANSFORM_SPLIT && job->format != TESELA_FILE_RAW)
    return tensor_usage(&job->r, "cannot write pairs of f32 to a .npy or .safetensors file; write them raw");
  tesela_status status = tensor_read(&job->r, &job->in, NULL, &job->says, &from);
  if (status == TESELA_OK) status = tensor_text(&job->r, to_text, &from.shape, &to, NULL);
  if (status == TESELA_OK) status = tensor_job_add(job, &from, &to, job->r.dash[0] ? "--to" : "to");
  return status == TESELA_OK ? tensor_job_write(job) : status;
}

tesela_status request_relayout_file(tesela_request *q, tesela_transform transform) {
  tensor_job job;
  const char *to = tesela_value_text(tesela_request_get(q, "to"));
  tesela_status status = tensor_job_begin(q, NULL, &job);
  if (status == TESELA_OK) status = relayout(&job, to, transform);
  return tensor_job_end(&job, status);
}

/* ---- packed? ----------------------------------------------------------------------------------------------- */

/* Is a tensor recorded in another layout than unpack gives it? One that is row-major stays recorded where the file has
 * no type for it. */
static bool is_packed(const tesela_file_tensor *entry) {
  const char *text = entry->layout;
  tesela_xla_shape shape;
  tesela_layout layout, dense;
  tesela_difference difference;
  tesela_error err;
  char type[16];
  if (!text) return false;
  if (tesela_xla_parse(text, strlen(text), TESELA_XLA_STRICT, &shape, NULL, &err) != TESELA_OK ||
      tesela_xla_to_layout(&shape, &layout, &err) != TESELA_OK)
    return true; /* the reader reports the error */
  if (layout.bits == 8 * tesela_dtype_bytes(shape.dtype) &&
      tesela_file_type(TESELA_FILE_SAFETENSORS, shape.dtype, type))
    return true;
  tesela_file_tensor plain = {.dtype = layout.dtype, .bits = layout.bits, .rank = layout.rank};
  memcpy(plain.shape, layout.shape, sizeof plain.shape);
  return tesela_file_layout(&plain, TESELA_DTYPE_NONE, &dense, &err) != TESELA_OK ||
         tesela_layout_compare(&layout, &dense, &difference, NULL) != TESELA_OK || !difference.same ||
         !difference.same_extent;
}

/* ---- pack -------------------------------------------------------------------------------------------------- */

typedef struct rule {
  char *pattern;
  const char *layout;
  int64_t n_names, n_taken; /* tensors whose name matches; that have the right number of dims, too */
} rule;

typedef struct packing {
  tensor_job job;
  rule *rule;
  size_t n_rules;
  bool has_to; /* the last rule is that of the field to */
} packing;

static tesela_status add_rule(packing *p, const char *pattern, size_t length, const char *layout) {
  rule *r = &p->rule[p->n_rules++];
  *r = (rule){.pattern = calloc(length + 1, 1), .layout = layout};
  if (!r->pattern) return tesela_request_fail(p->job.q, TESELA_E_MEMORY, -1, "no memory");
  memcpy(r->pattern, pattern, length);
  return TESELA_OK;
}

static tesela_status read_rules(packing *p) {
  const tesela_value *rules = tesela_request_get(p->job.q, "rules");
  const size_t n = tesela_value_size(rules);
  const char *to = tesela_value_text(tesela_request_get(p->job.q, "to"));
  char quote[SAY_QUOTE];
  tesela_status status = TESELA_OK;
  p->job.q->field = "rules";
  p->has_to = to != NULL;
  if (n == 0 && !to)
    return tensor_usage(
        &p->job.r, "missing layout; %sto='{1,0:T(8,128)}' gives one for all tensors, PATTERN={...} for some",
        p->job.r.dash);
  p->rule = calloc(n + 1, sizeof *p->rule);
  if (!p->rule) return tesela_request_fail(p->job.q, TESELA_E_MEMORY, -1, "no memory");
  for (size_t i = 0; i < n && status == TESELA_OK; i++) {
    const char *text = tesela_value_text(tesela_value_at(rules, i)), *equals = strstr(text, "={");
    if (!equals || equals == text)
      return tensor_usage(&p->job.r,
                          "invalid rule %s; expected PATTERN={...}, as in '*weight={1,0:T(8,128)}'",
                          say_quote(text, quote));
    status = add_rule(p, text, (size_t)(equals - text), equals + 1);
  }
  if (status == TESELA_OK && to) status = add_rule(p, "*", 1, to);
  if (status == TESELA_OK) p->job.q->field = NULL;
  return status;
}

/* The number of dims that a layout or its braces list, `rank` for one without a list. */
static tesela_status rank_of(packing *p, const char *text, int32_t rank, int32_t *listed) {
  tesela_xla_layout braces;
  tesela_xla_shape shape;
  tesela_status status = TESELA_OK;
  *listed = rank;
  if (strncmp(text, "stick(", 6) == 0) return TESELA_OK;
  if (*text == '{') {
    p->job.r.text = text;
    status = tesela_xla_parse_layout(text, strlen(text), TESELA_XLA_LENIENT, &braces, NULL, p->job.q->err);
    *listed = braces.rank;
  } else {
    status = tensor_text(&p->job.r, text, NULL, &shape, NULL);
    *listed = shape.rank;
  }
  return status;
}

/* The rule that applies to a tensor of a name and rank, or NULL. */
static tesela_status find_rule(packing *p, const char *name, int32_t rank, const rule **found) {
  *found = NULL;
  for (size_t i = 0; i < p->n_rules; i++) {
    rule *r = &p->rule[i];
    int32_t listed;
    if (!system_matches(r->pattern, name)) continue;
    r->n_names++;
    tesela_status status = rank_of(p, r->layout, rank, &listed);
    if (status != TESELA_OK) return status;
    if (listed != rank) continue;
    r->n_taken++;
    *found = r;
    return TESELA_OK;
  }
  return TESELA_OK;
}

/* A rule without any tensor is most likely misspelt; the rule of the field to may find none left. */
static tesela_status check_rules(packing *p) {
  char quotes[2][SAY_QUOTE];
  int64_t n_taken = 0;
  for (size_t i = 0; i < p->n_rules; i++) n_taken += p->rule[i].n_taken;
  for (size_t i = 0; i < p->n_rules; i++) {
    const rule *r = &p->rule[i];
    if (r->n_taken > 0 || (i == p->n_rules - 1 && p->has_to && n_taken > 0)) continue;
    if (r->n_names == 0)
      return tensor_wrong(&p->job.r, p->job.in.name, "no tensor is left for %s",
                          say_quote(r->pattern, quotes[0]));
    return tensor_wrong(&p->job.r, p->job.in.name, "no tensor that %s matches has the dims of %s",
                        say_quote(r->pattern, quotes[0]), say_quote(r->layout, quotes[1]));
  }
  return TESELA_OK;
}

/* Pack or keep one tensor. */
static tesela_status pack_tensor(packing *p, const tesela_file_tensor *entry) {
  tensor_job *job = &p->job;
  const char *name = job->in.info.format == TESELA_FILE_SAFETENSORS ? entry->name : "tensor";
  char quotes[2][SAY_QUOTE];
  tesela_xla_shape to;
  const rule *r;
  tensor from = {.shape = {.rank = entry->rank}};
  tesela_status status = TESELA_OK;
  const bool own_dims =
      entry->rank < 0 ||
      entry->layout; /* a raw or packed tensor is a list of places in the file: its layout has the dims */
  if (own_dims) status = tensor_read(&job->r, &job->in, entry, &job->says, &from);
  if (status == TESELA_OK) status = find_rule(p, name, from.shape.rank, &r);
  if (status != TESELA_OK) return status;
  if (!r) {
    tensor_job_keep(job, entry);
    return TESELA_OK;
  }
  if (is_packed(entry))
    return tensor_wrong(&job->r, job->in.name,
                        "tensor %s is already packed, as %s; tesela unpack reverses that",
                        say_quote(name, quotes[0]), say_quote(entry->layout, quotes[1]));
  snprintf(job->q->error_at, sizeof job->q->error_at, "%s", name);
  if (!own_dims) status = tensor_read(&job->r, &job->in, entry, &job->says, &from);
  if (status == TESELA_OK) status = tensor_text(&job->r, r->layout, &from.shape, &to, NULL);
  if (status == TESELA_OK) status = tensor_job_add(job, &from, &to, "the rule");
  if (status == TESELA_OK) job->q->error_at[0] = '\0';
  return status;
}

static tesela_status pack(packing *p) {
  tensor_job *job = &p->job;
  const int64_t n = job->in.info.n_tensors;
  tesela_status status = TESELA_OK;
  if ((job->says.layout || job->says.dtype) && n != 1)
    return tensor_usage(&job->r,
                        "%sfrom and %sdtype: expected a file with one tensor, found %" PRId64 " tensors",
                        job->r.dash, job->r.dash, n);
  for (int64_t i = 0; i < n && status == TESELA_OK; i++) status = pack_tensor(p, &job->in.info.tensor[i]);
  if (status == TESELA_OK) status = check_rules(p);
  return status == TESELA_OK ? tensor_job_write(job) : status;
}

tesela_status op_pack(tesela_request *q) {
  static const tesela_file_format only = TESELA_FILE_SAFETENSORS;
  static const char *const npy[] = {".npy", NULL};
  const char *output = tesela_value_text(tesela_request_get(q, "output"));
  packing p = {.n_rules = 0};
  tesela_status status = tensor_job_begin(q, &only, &p.job);
  if (status == TESELA_OK &&
      (tensor_name_ends(output, npy) || tensor_name_ends(output, tensor_foreign_names)))
    status = tensor_usage(
        &p.job.r, "expected an output that ends in .safetensors; tesela relayout writes other formats");
  if (status == TESELA_OK) status = read_rules(&p);
  if (status == TESELA_OK) status = pack(&p);
  status = tensor_job_end(&p.job, status);
  for (size_t i = 0; i < p.n_rules; i++) free(p.rule[i].pattern);
  free(p.rule);
  return status;
}

/* ---- unpack ------------------------------------------------------------------------------------------------ */

/* The same tensor row-major, with elements of the same width. */
static tesela_status unpack_tensor(tensor_job *job, const tesela_file_tensor *entry) {
  const tensor_says nothing = {.option = "from"};
  tensor from;
  tesela_xla_shape to;
  tesela_status status = tensor_read(&job->r, &job->in, entry, &nothing, &from);
  if (status == TESELA_OK)
    status = tesela_xla_shape_make(&to, from.shape.dtype, from.shape.rank, from.shape.dim, NULL, job->q->err);
  if (status != TESELA_OK) return status;
  if (from.layout.bits != 8 * tesela_dtype_bytes(to.dtype)) to.layout.element_bits = from.layout.bits;
  return tensor_job_add(job, &from, &to, "unpack");
}

/* All tensors are written, or the one that is named or the only one that is packed. */
static tesela_status unpack(tensor_job *job) {
  const char *name = job->says.name;
  char quote[SAY_QUOTE];
  int64_t n_packed = 0;
  const bool one = name || job->format != TESELA_FILE_SAFETENSORS;
  tesela_status status = TESELA_OK;
  for (int64_t i = 0; i < job->in.info.n_tensors && status == TESELA_OK; i++) {
    const tesela_file_tensor *entry = &job->in.info.tensor[i];
    const bool packed = is_packed(entry);
    if (name ? strcmp(entry->name, name) != 0 : one && !packed) continue;
    n_packed += packed;
    if (packed)
      status = unpack_tensor(job, entry);
    else
      tensor_job_keep(job, entry);
  }
  if (status != TESELA_OK) return status;
  if (n_packed == 0 && name)
    return tensor_wrong(&job->r, job->in.name, "no packed tensor %s in the file", say_quote(name, quote));
  if (n_packed == 0) return tensor_wrong(&job->r, job->in.name, "no tensor in the file is packed");
  if (one && job->n > 1)
    return tensor_usage(
        &job->r, "%" PRId64 " tensors are packed; %stensor=NAME selects one; a .safetensors output holds all",
        job->n, job->r.dash);
  return tensor_job_write(job);
}

tesela_status op_unpack(tesela_request *q) {
  tensor_job job;
  tesela_status status = tensor_job_begin(q, NULL, &job);
  if (status == TESELA_OK) status = unpack(&job);
  return tensor_job_end(&job, status);
}
