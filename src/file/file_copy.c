/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_copy.c - copy tensors from mapped file to mapped file within a memory limit.
 */
#include "file/file_copy.h"

#include "relayout/plan.h"

enum {
  FILE_LOOK_NS = 500000,
  FILE_MOST_CHUNKS = 1024,
  FILE_WINDOW = 1 << 20,
  FILE_LEAST_WINDOW = 1 << 16,
  FILE_MOST_WINDOW = 16 << 20
};

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

/* In chunks, to the mapped file. */
static tesela_status file_copy_chunks(tesela__file_copies *copies, const tesela_plan *plan, uint8_t *dst,
                                      const uint8_t *src, tesela_error *err) {
  tesela_executor executor = {file_run_chunks, copies};
  tesela_plan_info info;
  tesela_plan_describe(plan, &info);
  tesela_run_options options = tesela__file_watch(copies, info.dst_bytes);
  options.executor = copies->keeps ? &executor : NULL;
  return tesela_plan_run(plan, dst, src, &options, err);
}

/* ---- windows ----------------------------------------------------------------------------------------------- */

/* A copy in windows of dst: each is made in a buffer and written to the file. */
typedef struct file_windows {
  const tesela__file_copies *copies;
  tesela_plan *plan;
  const uint8_t *src;
  uint8_t *dst;
  tesela__windows windows;
} file_windows;

static tesela_status file_run_window(void *data, int64_t i, uint8_t *room, tesela_error *err) {
  const file_windows *run = data;
  const int64_t begin = run->windows.edge[i], bytes = run->windows.edge[i + 1] - begin;
  memset(room, 0, (size_t)bytes); /* for places that the plan leaves alone */
  tesela__window_run(&run->windows, run->plan, i, room, run->src);
  const tesela_status status = tesela__output_write(run->copies->output, run->dst + begin, room, bytes, err);
  if (run->copies->keeps) file_look(run->copies);
  return status;
}

/* Windows of a plan: those that threads have at a time are a small part of the memory that may be used. None: it cannot be run so. */
static tesela_status file_find_windows(file_windows *run, int32_t threads, tesela_error *err) {
  const int64_t bound = run->copies->options->plan.memory_bytes;
  int64_t most = FILE_MOST_WINDOW;
  if (bound > 0) most = tesela__max(FILE_LEAST_WINDOW, tesela__min(most, bound / 8 / threads));
  return tesela__windows_find(&run->windows, run->plan, tesela__min(FILE_WINDOW, most), most,
                              &run->copies->allocator, err);
}

/* *done: the plan was run, or failed. */
static tesela_status file_copy_windows(tesela__file_copies *copies, tesela_plan *plan, uint8_t *dst,
                                       const uint8_t *src, bool *done, tesela_error *err) {
  file_windows run = {.copies = copies, .plan = plan, .dst = dst, .src = src};
  tesela_plan_info info;
  tesela_plan_describe(plan, &info);
  tesela_status status = file_find_windows(&run, info.threads, err);
  *done = status != TESELA_OK || run.windows.n > 0;
  if (status == TESELA_OK && run.windows.n > 0) {
    const tesela__file_pieces pieces = {run.windows.n, run.windows.most, file_run_window, &run};
    status = tesela__file_run_pieces(copies, &pieces, info.threads, info.dst_bytes, err);
  }
  tesela__windows_free(&run.windows);
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
  bool done = !dst;
  tesela_plan_describe(plan, &info);
  if (dst && own.memory_bytes > 0)
    status = tesela__file_copy_parts(copies, dst, to, src, from, options, &info, &done, err);
  if (!done && info.dst_bytes > FILE_LEAST_WINDOW)
    status = file_copy_windows(copies, plan, dst, src, &done, err);
  if (!done && copies->keeps) { /* plan again with the most chunks, for the same number of threads */
    tesela_plan_destroy(plan);
    copies->threads = info.threads;
    own.threads = FILE_MOST_CHUNKS;
    status = tesela_plan_create(&plan, to, from, &own, err);
    if (status != TESELA_OK) return status;
  }
  if (!done) status = file_copy_chunks(copies, plan, dst, src, err);
  tesela_plan_destroy(plan);
  if (!dst) return status;
  tesela__file_count(copies); /* many small tensors are never asked about in the middle of one */
  const tesela_run_options watch = tesela__file_watch(copies, 0);
  if (status == TESELA_OK && watch.progress && watch.progress(watch.progress_user, 0, 0) != 0)
    status = tesela__fail_stopped(err);
  return status;
}
