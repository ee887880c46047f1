/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_write.c - ops that write tensors to files: unpack, and relayout of a file. query_pack.c has pack.
 */
#include <inttypes.h>
#include <string.h>

#include "quote.h"
#include "tensor_write.h"
#include "system.h"

/* ---- relayout ---------------------------------------------------------------------------------------------- */

static tesela_status relayout(tensor_job *job, const char *to_text, tesela_transform transform) {
  tensor from;
  problem_side to;
  job->options.plan.transform = transform;
  if (transform == TESELA_TRANSFORM_SPLIT && job->format != TESELA_FILE_RAW)
    return tensor_usage(&job->r, "cannot write pairs of f32 to a .npy or .safetensors file; write them raw");
  tesela_status status = tensor_read(&job->r, &job->in, NULL, &job->says, &from);
  if (status == TESELA_OK) {
    const tesela_xla_shape array = problem_array(&from.layout);
    status = tensor_text(&job->r, to_text, &array, &to);
  }
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

/* ---- unpack ------------------------------------------------------------------------------------------------ */

/* The same tensor row-major, with elements of the same width. */
static tesela_status unpack_tensor(tensor_job *job, const tesela_file_tensor *entry) {
  const tensor_says nothing = {.option = "from"};
  tensor from;
  problem_side to = {.any = {.kind = TESELA_KIND_XLA}};
  tesela_xla_shape *shape = &to.any.shape;
  tesela_status status = tensor_read(&job->r, &job->in, entry, &nothing, &from);
  const tesela_layout *layout = &from.layout;
  if (status == TESELA_OK)
    status = tesela_xla_shape_make(shape, layout->dtype, layout->rank, layout->shape, NULL, job->q->err);
  if (status != TESELA_OK) return status;
  if (layout->bits != 8 * tesela_dtype_bytes(layout->dtype)) shape->layout.element_bits = layout->bits;
  status = tesela_xla_to_layout(shape, &to.layout, job->q->err);
  return status == TESELA_OK ? tensor_job_add(job, &from, &to, "unpack") : status;
}

/* As tensor_name_at, of those that are packed. */
static const char *packed_name_at(const void *file, int32_t i) {
  const tesela_file_info *info = &((const tensor_file *)file)->info;
  for (int64_t k = 0; k < info->n_tensors; k++)
    if (tensor_is_packed(&info->tensor[k]) && i-- == 0) return info->tensor[k].name;
  return NULL;
}

/* All tensors are written, or the one that is named or the only one that is packed. */
static tesela_status unpack(tensor_job *job) {
  const char *name = job->says.name;
  char quote[SAY_QUOTE], names[TENSOR_NAMES_TEXT];
  int64_t n_packed = 0;
  const bool one = name || job->format != TESELA_FILE_SAFETENSORS;
  tesela_status status = TESELA_OK;
  for (int64_t i = 0; i < job->in.info.n_tensors && status == TESELA_OK; i++) {
    const tesela_file_tensor *entry = &job->in.info.tensor[i];
    const bool packed = tensor_is_packed(entry);
    if (name ? strcmp(entry->name, name) != 0 : one && !packed) continue;
    n_packed += packed;
    if (packed)
      status = unpack_tensor(job, entry);
    else
      tensor_job_keep(job, entry);
  }
  if (status != TESELA_OK) return status;
  if (n_packed == 0 && name && tesela_file_find(job->in.file, name))
    return tensor_wrong(&job->r, job->in.name, "tensor %s is not packed%s", say_quote(name, quote),
                        tensor_names(name, "packed are", packed_name_at, &job->in, names));
  if (n_packed == 0 && name)
    return tensor_wrong(&job->r, job->in.name, "has no tensor %s%s", say_quote(name, quote),
                        tensor_names(name, "packed are", packed_name_at, &job->in, names));
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
