/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_pack.c - the op pack: the tensors of a file, or of all shards of a checkpoint, in the layouts of a device. pack_rules.c chooses them.
 *
 * Shards are opened one by one, twice: first all is checked and planned, so that nothing is written if a rule, a shard or a tensor is
 * wrong; then they are written. They get their names together, and the index after them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pack_rules.h"
#include "quote.h"
#include "tensor_write.h"

typedef struct packing {
  tesela_request *q;
  tensor_job job;
  pack_rules rules;
  tensor_tally tally;
  /* Of shards: */
  const char *file, *output; /* paths of the indices */
  tesela_file_index *index;  /* NULL: a single file */
  tesela_file_index_info info;
  int64_t *bytes; /* of each file */
  char **made; /* its path: known before files get their names, so that missing memory cannot come between */
  int64_t n_held;      /* files */
  int64_t done, total; /* bytes, for progress */
} packing;

/* ---- one file ---------------------------------------------------------------------------------------------- */

static const char *name_of(const packing *p, const tesela_file_tensor *entry) {
  return p->job.in.info.format == TESELA_FILE_SAFETENSORS ? entry->name : "tensor";
}

/* Names of tensors: of all shards, or of the file that is open. */
static const char *name_at(const void *user, int32_t i) {
  const packing *p = user;
  if (p->index) return i < p->info.n_tensors ? p->info.tensor[i] : NULL;
  return i < p->job.in.info.n_tensors ? name_of(p, &p->job.in.info.tensor[i]) : NULL;
}

/* Pack or keep one tensor. */
static tesela_status pack_tensor(packing *p, const tesela_file_tensor *entry) {
  tensor_job *job = &p->job;
  const char *name = name_of(p, entry), *layout;
  char quotes[2][SAY_QUOTE];
  problem_side to;
  tensor from;
  tesela_xla_shape array = {.dtype = entry->dtype, .rank = entry->rank};
  tesela_status status = TESELA_OK;
  const bool own_dims =
      entry->rank < 0 ||
      entry->layout; /* a raw or packed tensor is a list of places in the file: its layout has the dims */
  if (own_dims)
    status = tensor_read(&job->r, &job->in, entry, &job->says, &from);
  else
    memcpy(array.dim, entry->shape, sizeof array.dim);
  if (status == TESELA_OK && own_dims) array = problem_array(&from.layout);
  if (status == TESELA_OK) status = pack_rules_find(&p->rules, &job->r, name, &array, &layout);
  if (status != TESELA_OK) return status;
  if (!layout) {
    tensor_job_keep(job, entry);
    return TESELA_OK;
  }
  if (tensor_is_packed(entry))
    return tensor_wrong(&job->r, job->in.name,
                        "tensor %s is already packed, as %s; tesela unpack reverses that",
                        say_quote(name, quotes[0]), say_quote(entry->layout, quotes[1]));
  snprintf(p->q->error_at, sizeof p->q->error_at, "%s", name);
  if (!own_dims) status = tensor_read(&job->r, &job->in, entry, &job->says, &from);
  if (status == TESELA_OK) array = problem_array(&from.layout);
  if (status == TESELA_OK) status = tensor_text(&job->r, layout, &array, &to);
  if (status == TESELA_OK) status = tensor_job_add(job, &from, &to, "the rule");
  if (status == TESELA_OK) p->q->error_at[0] = '\0';
  return status;
}

static tesela_status begin(packing *p, const tesela_value *file, const tesela_value *output) {
  static const tesela_file_format only = TESELA_FILE_SAFETENSORS;
  tensor_job *job = &p->job;
  tesela_status status = tensor_job_begin_at(p->q, file, output, &only, job);
  job->tally = &p->tally;
  job->options.verify = p->tally.verify;
  job->options.resume = p->tally.resume;
  job->options.dry_run = p->tally.dry_run;
  return status;
}

static tesela_status pack_tensors(packing *p) {
  const int64_t n = p->job.in.info.n_tensors;
  tesela_status status = TESELA_OK;
  for (int64_t i = 0; i < n && status == TESELA_OK; i++) status = pack_tensor(p, &p->job.in.info.tensor[i]);
  return status;
}

static tesela_status pack_file(packing *p) {
  static const char *const npy[] = {".npy", NULL};
  tensor_job *job = &p->job;
  tesela_status status = begin(p, tesela_request_get(p->q, "file"), tesela_request_get(p->q, "output"));
  const int64_t n = job->in.info.n_tensors;
  if (status == TESELA_OK &&
      (tensor_name_ends(p->output, npy) || tensor_name_ends(p->output, tensor_foreign_names)))
    status = tensor_usage(
        &job->r, "expected an output that ends in .safetensors; tesela relayout writes other formats");
  if (status == TESELA_OK) status = pack_rules_read(&p->rules, &job->r);
  if (status == TESELA_OK && (job->says.layout || job->says.dtype) && n != 1)
    status = tensor_usage(&job->r,
                          "%sfrom and %sdtype: expected a file with one tensor, found %" PRId64 " tensors",
                          job->r.dash, job->r.dash, n);
  if (status == TESELA_OK) status = pack_tensors(p);
  if (status == TESELA_OK) status = pack_rules_check(&p->rules, &job->r, job->in.name, name_at, p);
  return status == TESELA_OK ? tensor_job_write(job) : status;
}

/* ---- shards ------------------------------------------------------------------------------------------------ */

static tesela_status no_memory(tesela_request *q) {
  return tesela_request_fail(q, TESELA_E_MEMORY, -1, "no memory");
}

/* The path of a file in the folder of another, to be freed. */
static char *path_beside(const char *path, const char *name) {
  const char *slash = strrchr(path, '/');
  const size_t folder = slash ? (size_t)(slash + 1 - path) : 0, length = strlen(name);
  char *text = malloc(folder + length + 1);
  if (!text) return NULL;
  memcpy(text, path, folder);
  memcpy(text + folder, name, length + 1);
  return text;
}

static int shard_progress(void *user, int64_t done, int64_t total) {
  const packing *p = user;
  (void)total;
  return tesela_request_progress(p->q, p->done + done, p->total);
}

/* A failure of the job becomes one about shard k of the index. */
static tesela_status blame_shard(packing *p, tesela_status status) {
  const tesela_error err = *p->q->err;
  if (status != TESELA_E_INVALID && status != TESELA_E_IO) return status;
  tensor_wrong(&p->job.r, p->file, "a shard that it lists cannot be read: %s", err.message);
  p->q->err->reason = err.reason;
  return p->q->err->status = status;
}

static tesela_status shard_tensors(packing *p, int64_t k, bool check) {
  tensor_job *job = &p->job;
  tesela_error err;
  if (job->in.info.format != TESELA_FILE_SAFETENSORS)
    return tensor_wrong(&job->r, job->in.name, "is not a .safetensors");
  if (tesela_file_index_check(p->index, k, job->in.file, &err) != TESELA_OK)
    return tensor_wrong(&job->r, job->in.name, "%s", err.message);
  tesela_status status = pack_tensors(p);
  if (status != TESELA_OK) return status;
  job->options.hold = true;
  job->options.progress = shard_progress;
  job->options.progress_user = p;
  job->silent = check;
  if (check) {
    job->options.dry_run = true;
    job->options.verify = false;
  }
  status = tensor_job_write(job);
  p->bytes[k] = job->bytes;
  return status;
}

/* Check a shard, or pack it. */
static tesela_status pack_shard(packing *p, int64_t k, bool check) {
  char *in = path_beside(p->file, p->info.shard[k].name);
  const tesela_value file = tesela_value_of_text(NULL, in), output = tesela_value_of_text(NULL, p->made[k]);
  tesela_status status = in ? begin(p, &file, &output) : no_memory(p->q);
  if (in) {
    if (p->job.no_input) status = blame_shard(p, status);
    if (status == TESELA_OK) status = shard_tensors(p, k, check);
    if (status == TESELA_OK) status = tensor_job_end(&p->job, status); /* else op_pack, after the failure */
  }
  free(in);
  return status;
}

static tesela_status each_shard(packing *p, bool check) {
  const tensor_tally flags = p->tally;
  tesela_status status = TESELA_OK;
  tesela_sink *const out = p->q->out;
  for (int64_t k = 0; k < p->info.n_shards && status == TESELA_OK; k++) {
    if (!check) tesela_put_object(out);
    const int64_t before = p->tally.data_bytes;
    status = pack_shard(p, k, check);
    if (!check) tesela_put_end(out);
    if (!check && status == TESELA_OK) p->n_held++;
    if (!check) p->done += (p->tally.data_bytes - before) * (!flags.dry_run + flags.verify);
  }
  if (!check) return status;
  p->total = p->tally.data_bytes * (!flags.dry_run + flags.verify);
  p->tally = flags;
  return status;
}

/* Give a held file its name, or remove it. */
static tesela_status settle_one(packing *p, const char *name, int64_t bytes, bool publish) {
  const tesela_value value = tesela_value_of_text(NULL, name);
  request_path path = REQUEST_NO_PATH;
  tesela_error err;
  tesela_status status = request_path_open(p->q, &value, true, &path);
  if (status == TESELA_OK && publish) {
    status = tesela_file_publish(request_path_text(&path), bytes, !p->q->files_anywhere, &err);
    if (status != TESELA_OK) tensor_wrong(&p->job.r, name, "%s", err.message);
    if (status != TESELA_OK) p->q->err->status = status;
  } else if (status == TESELA_OK) {
    (void)tesela_file_discard(request_path_text(&path), !p->q->files_anywhere, NULL);
  }
  request_path_close(&path);
  return status;
}

/* The same for all shards that are held, and then the index, if it is. */
static tesela_status settle(packing *p, int64_t index_bytes, bool publish) {
  tesela_status status = TESELA_OK;
  for (int64_t k = 0; k < p->n_held && status == TESELA_OK; k++)
    status = settle_one(p, p->made[k], p->bytes[k], publish);
  return status == TESELA_OK && index_bytes > 0 ? settle_one(p, p->output, index_bytes, publish) : status;
}

/* Write the index, and hold it. */
static tesela_status write_index(packing *p, int64_t *bytes) {
  const tesela_file_write_options options = {.hold = true, .only_files = !p->q->files_anywhere};
  request_path path;
  tesela_error err;
  tesela_status status = request_path_open(p->q, tesela_request_get(p->q, "output"), true, &path);
  if (status != TESELA_OK) return status;
  p->q->field = NULL;
  status =
      tesela_file_index_write(p->index, request_path_text(&path), p->tally.data_bytes, &options, bytes, &err);
  request_path_close(&path);
  if (status == TESELA_OK) return status;
  tensor_wrong(&p->job.r, p->output, "%s", err.message);
  p->q->err->reason = err.reason;
  return p->q->err->status = status;
}

static tesela_status write_shards(packing *p) {
  tesela_sink *const out = p->q->out;
  int64_t bytes = 0, index_bytes = 0;
  tesela_put_key_text(out, "output", p->output);
  tesela_put_key_text(out, "format", "safetensors");
  tesela_put_key_list(out, "shards");
  tesela_status status = each_shard(p, false);
  tesela_put_end(out);
  for (int64_t k = 0; k < p->info.n_shards; k++) bytes += p->bytes[k];
  tesela_put_key_int(out, "bytes", bytes);
  tensor_put_tally(out, &p->tally);
  if (p->tally.dry_run) return status;
  if (status == TESELA_OK && out->stopped) status = TESELA_E_STOPPED;
  if (status == TESELA_OK) status = write_index(p, &index_bytes);
  if (status == TESELA_OK) status = settle(p, index_bytes, true);
  if (status != TESELA_OK && !p->tally.resume) { /* that of the failure stays what is reported */
    const tesela_error err = *p->q->err;
    const tensor_reading reading = p->job.r;
    (void)settle(p, index_bytes, false);
    *p->q->err = err;
    p->job.r = reading;
  }
  return status;
}

static tesela_status check_output(packing *p) {
  static const char *const json[] = {".json", NULL};
  bool same;
  tensor_reading *r = &p->job.r;
  if (tesela_request_get(p->q, "from") || tesela_request_get(p->q, "dtype"))
    return tensor_usage(r, "%sfrom and %sdtype: expected a file with one tensor, found an index of shards",
                        r->dash, r->dash);
  if (!tensor_name_ends(p->output, json))
    return tensor_usage(
        r, "expected %soutput to end in .index.json: the new index, with the shards beside it", r->dash);
  const tesela_status status = request_same_folder(p->q, "file", "output", &same);
  if (status != TESELA_OK) return status;
  p->q->field = NULL;
  if (!same) return TESELA_OK;
  return tensor_usage(
      r,
      "%soutput is in the folder of the input, whose shards it would replace; expected another "
      "folder",
      r->dash);
}

static tesela_status open_index(packing *p) {
  request_path path;
  tesela_error err;
  const tesela_file_options options = {.max_header =
                                           tesela_value_int(tesela_request_get(p->q, "max_header"))};
  tesela_status status = request_path_open(p->q, tesela_request_get(p->q, "file"), false, &path);
  if (status != TESELA_OK) return status;
  p->q->field = NULL;
  status = tesela_file_index_open(&p->index, request_path_text(&path), &options, &err);
  request_path_close(&path);
  if (status == TESELA_OK) {
    tesela_file_index_describe(p->index, &p->info);
    p->bytes = calloc((size_t)p->info.n_shards, sizeof *p->bytes);
    p->made = calloc((size_t)p->info.n_shards, sizeof *p->made);
    for (int64_t k = 0; k < p->info.n_shards && p->made; k++)
      if (!(p->made[k] = path_beside(p->output, p->info.shard[k].name))) return no_memory(p->q);
    return p->bytes && p->made ? TESELA_OK : no_memory(p->q);
  }
  char at[40] = "";
  if (err.at >= 0) snprintf(at, sizeof at, " (byte %" PRId64 ")", err.at);
  tensor_wrong(&p->job.r, p->file, "%s%s", err.message, at);
  p->q->err->reason = err.reason;
  return p->q->err->status = err.reason == TESELA_REASON_PATH ? TESELA_E_INVALID : status;
}

static tesela_status pack_shards(packing *p) {
  tesela_status status = check_output(p);
  if (status == TESELA_OK) status = pack_rules_read(&p->rules, &p->job.r);
  if (status == TESELA_OK) status = open_index(p);
  if (status == TESELA_OK) status = each_shard(p, true);
  if (status == TESELA_OK) status = pack_rules_check(&p->rules, &p->job.r, p->file, name_at, p);
  if (status == TESELA_OK) status = write_shards(p);
  for (int64_t k = 0; k < p->info.n_shards && p->made; k++) free(p->made[k]);
  free(p->made);
  free(p->bytes);
  tesela_file_index_close(p->index);
  return status;
}

/* ---- the op ------------------------------------------------------------------------------------------------ */

tesela_status op_pack(tesela_request *q) {
  static const char *const json[] = {".json", NULL};
  packing p = {.q = q,
               .job = {.q = q, .r = tensor_request_reading(q), .path = REQUEST_NO_PATH},
               .file = tesela_value_text(tesela_request_get(q, "file")),
               .output = tesela_value_text(tesela_request_get(q, "output")),
               .tally = {.verify = tesela_request_flag(q, "verify"),
                         .resume = tesela_request_flag(q, "resume"),
                         .dry_run = tesela_request_flag(q, "dry_run")}};
  q->field = NULL;
  tesela_status status = tensor_name_ends(p.file, json) ? pack_shards(&p) : pack_file(&p);
  status = tensor_job_end(&p.job, status);
  pack_rules_free(&p.rules);
  return status;
}
