/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_parts.c - copy a tensor from file to file in parts, within a limit on memory: each part is read into a buffer, copied to another,
 * and written. No page of either file is mapped for it, so the buffers are all the memory that a copy has.
 */
#include "file/file_copy.h"

#include "relayout/part.h"

enum {
  FILE_PART = 128 << 20,     /* bytes of both buffers of a part, if there is memory for it */
  FILE_LEAST_PART = 1 << 17, /* fewer threads before smaller parts */
  FILE_PART_SPARE = 4 << 10  /* for alignment */
};

/* A copy in parts: each thread has room for one, reads it from the source, and writes it to the output when it is done. */
typedef struct file_parts {
  tesela__file_copies *copies;
  tesela__copy_parts parts;
  const uint8_t *src;
  uint8_t *dst, *room; /* room: of all threads */
  int64_t room_bytes;  /* of each */
  tesela_run_options options;
  atomic_llong next, done; /* parts */
  atomic_bool stopped, failed;
  tesela_error err; /* of the first that failed */
} file_parts;

static int64_t file_lines(int64_t bytes) { return tesela__ceil_div(bytes, TESELA__LINE) * TESELA__LINE; }

/* One part in the room of its thread. */
typedef struct file_part {
  const file_parts *run;
  uint8_t *buffer;
  tesela_error err;
} file_part;

static tesela_status file_read_stretch(void *data, int64_t file, int64_t buffer, int64_t bytes) {
  file_part *part = data;
  const tesela__file_copies *copies = part->run->copies;
  const uint8_t *from = part->run->src + file, *in = copies->in;
  if (copies->source && from >= in && from + bytes <= in + copies->in_bytes)
    return tesela__mapping_read(copies->source, from - in, part->buffer + buffer, bytes, &part->err);
  memcpy(part->buffer + buffer, from, (size_t)bytes);
  return TESELA_OK;
}

static tesela_status file_write_stretch(void *data, int64_t file, int64_t buffer, int64_t bytes) {
  file_part *part = data;
  return tesela__output_write(part->run->copies->output, part->run->dst + file, part->buffer + buffer, bytes,
                              &part->err);
}

static tesela_status file_run_part(file_parts *run, int64_t i, uint8_t *room, tesela_error *err) {
  int64_t to, from;
  const tesela__part_kind *kind = tesela__part_at(&run->parts, i, &to, &from);
  file_part part = {.run = run, .buffer = room + file_lines(run->parts.dst_bytes)};
  tesela_plan_info info;
  tesela_plan_describe(kind->plan, &info);
  tesela_status status = tesela__part_stretches(&kind->src, from, file_read_stretch, &part);
  if (info.bytes_written < kind->dst.bytes) memset(room, 0, (size_t)kind->dst.bytes);
  if (status == TESELA_OK) status = tesela_plan_run(kind->plan, room, part.buffer, NULL, &part.err);
  part.buffer = room;
  if (status == TESELA_OK) status = tesela__part_stretches(&kind->dst, to, file_write_stretch, &part);
  if (status != TESELA_OK) *err = part.err;
  return status;
}

/* Chunk t is a thread's, with the room of that number; the first is the caller's. */
static void file_run_parts(void *data, int32_t t) {
  file_parts *run = data;
  while (!atomic_load(&run->stopped)) {
    tesela_error err;
    const int64_t i = atomic_fetch_add(&run->next, 1);
    if (i >= run->parts.n) return;
    if (file_run_part(run, i, run->room + t * run->room_bytes, &err) != TESELA_OK) {
      atomic_store(&run->stopped, true);
      if (!atomic_exchange(&run->failed, true)) run->err = err;
    }
    const int64_t done = atomic_fetch_add(&run->done, 1) + 1;
    if (t == 0 && run->options.progress &&
        run->options.progress(run->options.progress_user, done, run->parts.n) != 0)
      atomic_store(&run->stopped, true);
  }
}

tesela_status tesela__file_copy_parts(tesela__file_copies *copies, uint8_t *dst, const tesela_layout *to,
                                      const uint8_t *src, const tesela_layout *from,
                                      const tesela_plan_options *options, const tesela_plan_info *info,
                                      bool *done, tesela_error *err) {
  file_parts run = {.copies = copies, .dst = dst, .src = src};
  const int64_t bound = options->memory_bytes;
  const int32_t most = (int32_t)tesela__min(info->threads, bound / FILE_LEAST_PART);
  const int64_t bytes = tesela__min(FILE_PART, bound / most) - FILE_PART_SPARE;
  tesela_status status =
      tesela__copy_parts_find(&run.parts, to, from, bytes, options, &copies->allocator, err);
  const int32_t threads = (int32_t)tesela__min(most, run.parts.n);
  *done = status != TESELA_OK || threads > 0;
  if (status == TESELA_OK && threads > 0) {
    run.room_bytes = file_lines(run.parts.dst_bytes) + file_lines(run.parts.src_bytes);
    run.room = tesela__alloc(&copies->allocator, (uint64_t)(threads * run.room_bytes), TESELA__LINE);
    if (!run.room)
      status = tesela__fail(err, TESELA_E_MEMORY, -1,
                            "no memory for %" PRId32 " parts of a copy, of %" PRId64 " bytes", threads,
                            run.room_bytes);
  }
  if (run.room) {
    run.options = tesela__file_watch(copies, info->dst_bytes);
    tesela__run_on_threads(threads, threads, file_run_parts, &run);
    if (atomic_load(&run.failed)) {
      status = run.err.status;
      if (err) *err = run.err;
    } else if (atomic_load(&run.stopped)) {
      status = tesela__fail_stopped(err);
    }
  }
  tesela__release(&copies->allocator, run.room);
  tesela__copy_parts_free(&run.parts);
  return status;
}
