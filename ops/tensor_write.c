/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_write.c - see tensor_write.h. */
#include "tensor_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "problem_side.h"
#include "quote.h"

enum { LEAST_MEMORY = 1 << 20 };

/* By tesela_file_format, as the field format has it. */
static const char *const formats[] = {"raw", "npy", "safetensors"};

static const char *text_of(tesela_request *q, const char *field) {
  return tesela_value_text(tesela_request_get(q, field));
}

static tesela_status no_memory(tesela_request *q) {
  return tesela_request_fail(q, TESELA_E_MEMORY, -1, "no memory");
}

/* ---- the output -------------------------------------------------------------------------------------------- */

const char *const tensor_foreign_names[] = {".npz", ".pt",   ".pth",  ".ckpt", ".pkl",
                                            ".h5",  ".hdf5", ".gguf", ".onnx", NULL};

bool tensor_name_ends(const char *name, const char *const *endings) {
  const size_t length = strlen(name);
  for (; *endings; endings++) {
    const size_t n = strlen(*endings);
    if (length >= n && strcmp(name + length - n, *endings) == 0) return true;
  }
  return false;
}

/* By the name of the output, and by the field format. */
static tesela_status find_format(tensor_job *job, const char *path) {
  const char *said = text_of(job->q, "format");
  char quote[SAY_QUOTE];
  for (int i = TESELA_FILE_NPY; i <= TESELA_FILE_SAFETENSORS; i++) {
    const char *dot = strrchr(path, '.');
    if (dot && strcmp(dot + 1, formats[i]) == 0) job->format = (tesela_file_format)i;
  }
  if (!said && tensor_name_ends(path, tensor_foreign_names))
    return tensor_usage(&job->r, "cannot write the format of %s; %sformat=raw writes the bytes alone",
                        say_quote(path, quote), job->r.dash);
  if (!said) return TESELA_OK;
  if (job->format != TESELA_FILE_RAW && strcmp(said, formats[job->format]) != 0)
    return tensor_usage(&job->r, "%sformat is %s, but the name %s ends in another format", job->r.dash, said,
                        say_quote(path, quote));
  while (strcmp(said, formats[job->format]) != 0) job->format++;
  return TESELA_OK;
}

/* ---- begin ------------------------------------------------------------------------------------------------- */

/* The fields threads, isa and memory. */
static tesela_status read_options(tensor_job *job) {
  const problem none = {.transform = TESELA_TRANSFORM_NONE};
  tesela_plan_options *plan = &job->options.plan;
  tesela_status status = problem_options(job->q, &none, plan);
  if (status != TESELA_OK) return status;
  const tesela_value *memory = tesela_request_get(job->q, "memory");
  if (!memory) return TESELA_OK;
  plan->memory_bytes = tesela_value_int(memory);
  if (plan->memory_bytes >= LEAST_MEMORY) return TESELA_OK;
  return tensor_usage(&job->r, "%smemory is %" PRId64 " bytes; expected 1MiB or more", job->r.dash,
                      plan->memory_bytes);
}

tesela_status tensor_job_begin(tesela_request *q, const tesela_file_format *only, tensor_job *job) {
  return tensor_job_begin_at(q, tesela_request_get(q, "file"), tesela_request_get(q, "output"), only, job);
}

tesela_status tensor_job_begin_at(tesela_request *q, const tesela_value *file, const tesela_value *output,
                                  const tesela_file_format *only, tensor_job *job) {
  const char *path = tesela_value_text(output);
  *job = (tensor_job){.q = q, .r = tensor_request_reading(q), .path = REQUEST_NO_PATH};
  job->says = (tensor_says){text_of(q, "from"), text_of(q, "dtype"), text_of(q, "tensor"), "from"};
  job->name = q->files_anywhere && strcmp(path, "-") == 0 ? "standard output" : path;
  job->options = (tesela_file_write_options){.unfinished = q->unfinished,
                                             .only_files = !q->files_anywhere,
                                             .progress = tesela_request_progress,
                                             .progress_user = q};
  tesela_status status = read_options(job);
  if (only) job->format = *only;
  if (status == TESELA_OK && !only) status = find_format(job, path);
  if (status == TESELA_OK) {
    q->field = "output";
    status = request_path_open(q, output, true, &job->path);
  }
  if (status == TESELA_OK) {
    q->field = "file";
    status = tensor_request_open_at(q, file, &job->in);
    job->no_input = status != TESELA_OK;
  }
  if (status != TESELA_OK) return status;
  const size_t n = (size_t)job->in.info.n_tensors + 1;
  job->options.source = job->in.file;
  job->made = calloc(n, sizeof *job->made);
  job->item = calloc(n, sizeof *job->item);
  job->written = calloc(n, sizeof *job->written);
  q->field = NULL;
  return job->made && job->item && job->written ? TESELA_OK : no_memory(q);
}

/* ---- tensors ----------------------------------------------------------------------------------------------- */

static tesela_file_item *next_item(tensor_job *job, const tesela_file_tensor *entry) {
  tesela_file_item *item = &job->item[job->n++];
  item->name = job->in.info.format == TESELA_FILE_SAFETENSORS ? entry->name : "tensor";
  item->tensor = entry;
  return item;
}

void tensor_job_keep(tensor_job *job, const tesela_file_tensor *entry) { next_item(job, entry); }

/* Does a text say, alone, which layout it is? */
static bool is_record(const char *text, const tesela_layout *layout) {
  tesela_any_layout any, said = {.kind = TESELA_KIND_RELATION};
  tesela_layout found;
  tesela_difference d;
  said.relation = *layout;
  return tensor_read_record(text, &any, &found, NULL) == TESELA_OK && found.dtype == layout->dtype &&
         found.bits == layout->bits && tesela_any_compare(&any, &said, &d, NULL) == TESELA_OK && d.same &&
         d.same_extent;
}

/* The text of a layout for the metadata, to be freed: in its own notation if that says all of it, else as index arithmetic. NULL: no
 * memory; "": no text. */
static char *record_of(const problem_side *side) {
  tesela_any_layout relation = {.kind = TESELA_KIND_RELATION};
  char *text = tensor_text_of(&side->any);
  if (!text || side->any.kind == TESELA_KIND_XLA || is_record(text, &side->layout)) return text;
  free(text);
  relation.relation = side->layout;
  text = tensor_text_of(&relation);
  if (text && !is_record(text, &side->layout)) text[0] = '\0';
  return text;
}

/* Can one be copied or converted to the other? */
static tesela_status check_pair(tensor_job *job, const tensor *from, const problem_side *to,
                                const char *what) {
  const tesela_layout *a = &from->layout, *b = &to->layout;
  const tesela_transform transform = job->options.plan.transform;
  char texts[2][TENSOR_LAYOUT_TEXT];
  tesela_error err;
  bool same_dims = a->rank == b->rank;
  for (int32_t d = 0; d < b->rank && same_dims; d++) same_dims = a->shape[d] == b->shape[d];
  tensor_layout_text(&from->any, texts[0]);
  tensor_layout_text(&to->any, texts[1]);
  if (!same_dims)
    return tensor_usage(&job->r, "the tensor is %s; %s has other dims: %s", texts[0], what, texts[1]);
  if (tesela_transform_check(transform, b->dtype, b->bits, a->dtype, a->bits, &err) == TESELA_OK)
    return TESELA_OK;
  if (transform != TESELA_TRANSFORM_NONE)
    return tensor_usage(&job->r, "the tensor is %s, %s %s: %s", texts[0], what, texts[1], err.message);
  const bool converts = tesela_transform_check(TESELA_TRANSFORM_CONVERT, b->dtype, b->bits, a->dtype, a->bits,
                                               NULL) == TESELA_OK;
  return tensor_usage(&job->r, "the tensor is %s; %s has elements of another type or width: %s%s%s%s",
                      texts[0], what, texts[1], converts ? "; relayout with " : "",
                      converts ? job->r.dash : "", converts ? "transform=convert changes them" : "");
}

/* NumPy reads bytes where it has no such type. */
static void note_type(const tensor_job *job, tesela_dtype dtype) {
  char type[16];
  if (job->format == TESELA_FILE_NPY && tesela_file_type(TESELA_FILE_NPY, dtype, type) && strchr(type, 'V'))
    request_note(job->q, "NumPy has no type %s; it reads the elements as type %s", tesela_dtype_name(dtype),
                 type);
}

tesela_status tensor_job_add(tensor_job *job, const tensor *from, const problem_side *to, const char *what) {
  tensor_made *made = &job->made[job->n];
  tesela_file_item *item = next_item(job, from->entry);
  tesela_plan_options fill;
  tesela_error err;
  char quote[SAY_QUOTE];
  const char *fill_text = text_of(job->q, "fill");
  const bool records = job->format == TESELA_FILE_SAFETENSORS;
  made->from = from->layout;
  made->to = to->layout;
  job->q->field = job->r.text = NULL;
  tesela_status status = check_pair(job, from, to, what);
  if (status == TESELA_OK && made->to.dtype == TESELA_DTYPE_NONE && job->format != TESELA_FILE_RAW)
    status = tensor_usage(&job->r, "the elements have %" PRId32 " bits and no type; give it with %sdtype=T",
                          made->to.bits, job->r.dash);
  if (status != TESELA_OK) return status;
  job->q->field = problem_fill(fill_text, &made->to, &fill, &err) == TESELA_OK ? NULL : "fill";
  if (job->q->field)
    return tensor_usage(&job->r, "%sfill is %s; expected zero, leave or an element: %s", job->r.dash,
                        say_quote(fill_text, quote), err.message);
  job->options.plan.fill = fill.fill;
  memcpy(item->fill_value, fill.fill_value, sizeof fill.fill_value);
  job->n_made++;
  made->from_text = tensor_text_of(&from->any);
  made->to_text = records ? record_of(to) : tensor_text_of(&to->any);
  if (!made->from_text || !made->to_text) return no_memory(job->q);
  if (records && !made->to_text[0])
    return tensor_usage(&job->r, "cannot record %s in a .safetensors; write it raw", what);
  item->from = &made->from;
  item->to = &made->to;
  item->layout = made->to_text;
  note_type(job, made->to.dtype);
  return TESELA_OK;
}

/* ---- packed? ---------------------------------------------------------------------------------------------- */

bool tensor_is_packed(const tesela_file_tensor *entry) {
  tesela_any_layout any, dense = {.kind = TESELA_KIND_RELATION};
  tesela_layout layout;
  tesela_difference difference;
  tesela_error err;
  char type[16];
  if (!entry->layout) return false;
  if (tensor_read_record(entry->layout, &any, &layout, &err) != TESELA_OK)
    return true; /* the reader reports the error */
  if (layout.bits == 8 * tesela_dtype_bytes(layout.dtype) &&
      tesela_file_type(TESELA_FILE_SAFETENSORS, layout.dtype, type))
    return true;
  tesela_file_tensor plain = {.dtype = layout.dtype, .bits = layout.bits, .rank = layout.rank};
  memcpy(plain.shape, layout.shape, sizeof plain.shape);
  return tesela_file_layout(&plain, TESELA_DTYPE_NONE, &dense.relation, &err) != TESELA_OK ||
         tesela_any_compare(&any, &dense, &difference, NULL) != TESELA_OK || !difference.same ||
         !difference.same_extent;
}

/* ---- write ------------------------------------------------------------------------------------------------- */

void tensor_put_tally(tesela_sink *out, const tensor_tally *tally) {
  tesela_put_key_int(out, "n_tensors", tally->n);
  tesela_put_key_int(out, "n_packed", tally->n_made);
  if (tally->resume) tesela_put_key_int(out, "n_resumed", tally->n_resumed);
  if (tally->dry_run) tesela_put_key_bool(out, "dry_run", true);
  if (tally->verify) tesela_put_key_bool(out, "verified", !tally->differs);
}

static void put_tensor(const tensor_job *job, int64_t i) {
  tesela_sink *j = job->q->out;
  const tesela_file_written *out = &job->written[i];
  tesela_put_object(j);
  if (job->format == TESELA_FILE_SAFETENSORS) tesela_put_key_text(j, "name", job->item[i].name);
  tesela_put_key_text(j, "from", job->made[i].from_text);
  tesela_put_key_text(j, "to", job->made[i].to_text);
  tesela_put_key_int(j, "offset", out->offset);
  tesela_put_key_int(j, "bytes", out->bytes);
  tesela_put_key_text(j, "plan", out->plan);
  tesela_put_end(j);
}

static int put_answer(void *user) {
  const tensor_job *job = user;
  tesela_sink *j = job->q->out;
  tensor_tally *tally = job->tally;
  for (int64_t i = 0; tally && i < job->n; i++) {
    tally->n_resumed += job->written[i].resumed;
    tally->data_bytes += job->written[i].bytes;
  }
  if (tally) tally->n += job->n;
  if (tally) tally->n_made += job->n_made;
  if (job->silent) return 0;
  tesela_put_key_text(j, "output", job->path.name);
  tesela_put_key_text(j, "format", formats[job->format]);
  tesela_put_key_int(j, "bytes", job->bytes);
  tesela_put_key(j, "tensors");
  tesela_put_list(j);
  for (int64_t i = 0; i < job->n; i++)
    if (job->item[i].from) put_tensor(job, i);
  tesela_put_end(j);
  if (tally && !job->options.hold) tensor_put_tally(j, tally);
  return j->stopped;
}

tesela_status tensor_job_write(tensor_job *job) {
  tesela_error err;
  bool differs = false;
  job->r.text = NULL;
  job->options.differs = &differs;
  job->options.ready = put_answer;
  job->options.ready_user = job;
  tesela_status status = tesela_file_write(request_path_text(&job->path), job->format, job->n, job->item,
                                           &job->options, job->written, &job->bytes, &err);
  if (status == TESELA_OK) return status;
  if (differs && job->options.dry_run) {
    request_note(job->q, "%s: %s", job->name, err.message);
    job->tally->differs = true;
    return put_answer(job) ? TESELA_E_STOPPED : TESELA_OK;
  }
  tensor_wrong(&job->r, job->name, "%s", err.message);
  job->q->err->reason = err.reason;
  return job->q->err->status = differs ? TESELA_E_IO : status;
}

tesela_status tensor_job_end(tensor_job *job, tesela_status status) {
  tesela_request *q = job->q;
  const char *field = q->field;
  status = tensor_request_failed(q, &job->r, status);
  if (status != TESELA_OK && !job->r.text) q->field = field; /* that is not a layout */
  request_path_close(&job->path);
  for (int64_t i = 0; i < job->n; i++) {
    free(job->made[i].from_text);
    free(job->made[i].to_text);
  }
  free(job->made);
  free(job->item);
  free(job->written);
  job->n = 0;
  job->made = NULL;
  job->item = NULL;
  job->written = NULL;
  tensor_request_close(&job->in);
  return status;
}
