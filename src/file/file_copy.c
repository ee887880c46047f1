/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_copy.c - copy tensors from mapped file to mapped file within a memory limit.
 */
#include "file/file_copy.h"

enum { FILE_LOOK_NS = 500000, FILE_MOST_CHUNKS = 1024 };

/* ---- the limit --------------------------------------------------------------------------------------------- */

static void file_look(const tesela__file_copies *copies) {
  int64_t now = tesela__resident_bytes(), bound = copies->options->plan.memory_bytes;
  if (now >= 0 && now - copies->resident_before <= bound / 2) return;
  tesela__drop_pages(copies->in, copies->in_bytes, false);
  tesela__drop_pages(copies->out, copies->out_bytes, copies->out_written);
}

static void *file_keep(void *data) {
  tesela__file_copies *copies = data;
  while (!atomic_load(&copies->ended)) {
    file_look(copies);
    tesela__sleep_ns(FILE_LOOK_NS);
  }
  return NULL;
}

typedef struct file_chunks {
  const tesela__file_copies *copies;
  void (*chunk)(void *data, int32_t i);
  void *data;
} file_chunks;

static void file_run_chunk(void *data, int32_t i) {
  const file_chunks *run = data;
  run->chunk(run->data, i);
  file_look(run->copies);
}

/* The `run` of an executor: checks the limit after each chunk. */
static void file_run_chunks(void *user, int32_t n, void (*chunk)(void *data, int32_t i), void *data) {
  const tesela__file_copies *copies = user;
  file_chunks run = {copies, chunk, data};
  tesela__run_on_threads(copies->threads, n, file_run_chunk, &run);
}

tesela_status tesela__file_copies_begin(tesela__file_copies *copies, tesela_error *err) {
  copies->keeps = false;
  if (copies->options->plan.memory_bytes == 0) return TESELA_OK;
  copies->resident_before = tesela__resident_bytes();
  atomic_init(&copies->ended, false);
  copies->keeps = tesela__thread_start(&copies->keeper, file_keep, copies);
  return copies->keeps
             ? TESELA_OK
             : tesela__fail(err, TESELA_E_MEMORY, -1, "cannot start the thread that limits memory use");
}

void tesela__file_copies_end(tesela__file_copies *copies) {
  if (!copies->keeps) return;
  atomic_store(&copies->ended, true);
  tesela__thread_join(copies->keeper);
  copies->keeps = false;
}

/* ---- copy -------------------------------------------------------------------------------------------------- */

/* The progress of one copy, scaled to its bytes in the output. */
static int file_progress(void *user, int64_t bytes_done, int64_t bytes_total) {
  const tesela__file_copies *copies = user;
  double part = bytes_total > 0 ? (double)bytes_done / (double)bytes_total : 0;
  return copies->options->progress(copies->options->progress_user,
                                   copies->bytes_before + (int64_t)(part * (double)copies->bytes_now),
                                   copies->bytes_total);
}

tesela_run_options tesela__file_watch(tesela__file_copies *copies, int64_t bytes) {
  copies->bytes_now = bytes;
  return (tesela_run_options){.progress = copies->options->progress ? file_progress : NULL,
                              .progress_user = copies};
}

void tesela__file_count(tesela__file_copies *copies) {
  copies->bytes_before += copies->bytes_now;
  copies->bytes_now = 0;
}

static tesela_status file_run(tesela__file_copies *copies, const tesela_plan *plan, uint8_t *dst,
                              const uint8_t *src, tesela_error *err) {
  tesela_executor executor = {file_run_chunks, copies};
  tesela_plan_info info;
  tesela_plan_describe(plan, &info);
  tesela_run_options options = tesela__file_watch(copies, info.dst_bytes);
  options.executor = copies->keeps ? &executor : NULL;
  tesela_status status = tesela_plan_run(plan, dst, src, &options, err);
  tesela__file_count(copies); /* a small copy may end without a call of progress */
  if (status == TESELA_OK && options.progress && file_progress(copies, 0, 0) != 0)
    status = tesela__fail_stopped(err);
  return status;
}

tesela_status tesela__file_copy(tesela__file_copies *copies, uint8_t *dst, const tesela_layout *to,
                                const uint8_t *src, const tesela_layout *from,
                                const tesela_plan_options *options, char line[TESELA_FILE_PLAN],
                                tesela_error *err) {
  tesela_plan_options own = *options;
  tesela_plan_info info;
  tesela_plan *plan;
  own.allocator = &copies->allocator;
  tesela_status status = tesela_plan_create(&plan, to, from, &own, err);
  if (status != TESELA_OK) return status;
  if (line) {
    tesela_buffer buffer = {line, TESELA_FILE_PLAN, 0};
    tesela_writer writer = tesela_buffer_writer(&buffer);
    (void)tesela_plan_print(plan, &writer, NULL); /* a buffer never refuses */
  }
  tesela_plan_describe(plan, &info);
  if (dst && copies->keeps) { /* plan again with the most chunks, for the same number of threads */
    tesela_plan_destroy(plan);
    copies->threads = info.threads;
    own.threads = FILE_MOST_CHUNKS;
    status = tesela_plan_create(&plan, to, from, &own, err);
    if (status != TESELA_OK) return status;
  }
  if (dst) status = file_run(copies, plan, dst, src, err);
  tesela_plan_destroy(plan);
  return status;
}
