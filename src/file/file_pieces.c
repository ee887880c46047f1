/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_pieces.c - the progress of copies to a file; and a copy as pieces, each made in a buffer: threads take one after the other.
 */
#include "file/file_copy.h"

#include "relayout/plan.h"

/* ---- progress ---------------------------------------------------------------------------------------------- */

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

/* ---- pieces ------------------------------------------------------------------------------------------------ */

typedef struct file_run {
  const tesela__file_pieces *pieces;
  uint8_t *room; /* of all threads */
  tesela_run_options options;
  atomic_llong next, done;
  atomic_bool stopped, failed;
  tesela_error err; /* of the first that failed */
} file_run;

static void file_run_one(file_run *run, int64_t i, uint8_t *room) {
  tesela_error err;
  if (run->pieces->run(run->pieces->data, i, room, &err) == TESELA_OK) return;
  atomic_store(&run->stopped, true);
  if (!atomic_exchange(&run->failed, true)) run->err = err;
}

/* Chunk t is a thread's, with the room of that number; the first is the caller's. */
static void file_run_thread(void *data, int32_t t) {
  file_run *run = data;
  const tesela__file_pieces *pieces = run->pieces;
  while (!atomic_load(&run->stopped)) {
    const int64_t i = atomic_fetch_add(&run->next, 1);
    if (i >= pieces->n) return;
    file_run_one(run, i, run->room + t * pieces->room);
    const int64_t done = atomic_fetch_add(&run->done, 1) + 1;
    if (t == 0 && run->options.progress &&
        run->options.progress(run->options.progress_user, done, pieces->n) != 0)
      atomic_store(&run->stopped, true);
  }
}

tesela_status tesela__file_run_pieces(tesela__file_copies *copies, const tesela__file_pieces *pieces,
                                      int32_t threads, int64_t bytes, tesela_error *err) {
  file_run run = {.pieces = pieces};
  threads = (int32_t)tesela__min(threads, pieces->n);
  run.room = tesela__alloc(&copies->allocator, (uint64_t)(threads * pieces->room), TESELA__LINE);
  if (!run.room)
    return tesela__fail(err, TESELA_E_MEMORY, -1,
                        "no memory for %" PRId32 " pieces of a copy, of %" PRId64 " bytes", threads,
                        pieces->room);
  run.options = tesela__file_watch(copies, bytes);
  tesela__run_on_threads(threads, threads, file_run_thread, &run);
  tesela__release(&copies->allocator, run.room);
  if (atomic_load(&run.failed)) {
    if (err) *err = run.err;
    return run.err.status;
  }
  return atomic_load(&run.stopped) ? tesela__fail_stopped(err) : TESELA_OK;
}
