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

/* A copy in parts: each is read from the source, copied from buffer to buffer, and written to the output. */
typedef struct file_parts {
  tesela__file_copies *copies;
  tesela__copy_parts parts;
  const uint8_t *src;
  uint8_t *dst;
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

static tesela_status file_run_part(void *data, int64_t i, uint8_t *room, tesela_error *err) {
  const file_parts *run = data;
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
  *done = status != TESELA_OK || run.parts.n > 0;
  if (status == TESELA_OK && run.parts.n > 0) {
    const int64_t room = file_lines(run.parts.dst_bytes) + file_lines(run.parts.src_bytes);
    const tesela__file_pieces pieces = {run.parts.n, room, file_run_part, &run};
    status = tesela__file_run_pieces(copies, &pieces, most, info->dst_bytes, err);
  }
  tesela__copy_parts_free(&run.parts);
  return status;
}
