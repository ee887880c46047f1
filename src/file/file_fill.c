/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_fill.c - write the data of an output, or continue where an earlier process ended; then verify it, then name it.
 */
#include <stdio.h>

#include "file/file_writing.h"

enum { FILL_SYNC = 8 << 20 /* bytes that are worth a request to the disk */ };

static tesela_status fill_one(tesela__file_writing *w, tesela__file_copies *copies, int64_t i, uint8_t *dst) {
  static const uint8_t nothing[1];
  const tesela_file_item *item = &w->item[i];
  tesela_plan_options options = w->options->plan;
  const uint8_t *src = item->tensor->bytes > 0 ? item->tensor->data : nothing;
  char *line = w->written ? w->written[i].plan : NULL;
  tesela_layout bytes;
  if (!item->from) {
    options.transform = TESELA_TRANSFORM_NONE;
    options.fill = TESELA_FILL_ZERO;
    if (item->tensor->bytes == 0) return TESELA_OK;
    tesela_status status =
        tesela_layout_strided(&bytes, TESELA_U8, 8, 1, &item->tensor->bytes, NULL, 0, w->err);
    return status == TESELA_OK ? tesela__file_copy(copies, dst, &bytes, src, &bytes, &options, NULL, w->err)
                               : status;
  }
  if (item->tensor->swapped) options.transform = TESELA_TRANSFORM_SWAP;
  memcpy(options.fill_value, item->fill_value, sizeof options.fill_value);
  return tesela__file_copy(copies, dst, item->to, src, item->from, &options, line, w->err);
}

/* Copy tensor i, unless the record has it as done. */
static tesela_status fill_recorded(tesela__file_writing *w, tesela__file_copies *copies,
                                   tesela__file_record *record, int64_t i, uint8_t *dst) {
  char line[TESELA__RECORD_LINE + 1];
  bool done;
  tesela_run_options run = tesela__file_watch(copies, 0);
  tesela_status status = tesela__record_line(record, w, i, &run, line, &done);
  if (status != TESELA_OK) return status;
  if (done) {
    (void)tesela__file_watch(copies, w->out[i].bytes);
    tesela__file_count(copies);
    if (w->written) w->written[i].resumed = true;
    return fill_one(w, copies, i, NULL); /* only plan it */
  }
  status = fill_one(w, copies, i, dst);
  return status == TESELA_OK ? tesela__record_add(record, line, w->out[i].bytes, w->err) : status;
}

/* Tensors that are copied, of neighbouring bytes of the output, go to the disk while others are copied. */
typedef struct fill_copied {
  int64_t begin, end;
} fill_copied;

static void fill_begin_sync(tesela__output *output, fill_copied *copied, const tesela__file_writing *w,
                            int64_t i) {
  const int64_t begin = w->header_bytes + w->out[i].begin, end = begin + w->out[i].bytes;
  if (begin != copied->end) *copied = (fill_copied){begin, begin};
  copied->end = end;
  if (copied->end - copied->begin < FILL_SYNC) return;
  tesela__output_begin_sync(output, copied->begin, copied->end - copied->begin);
  copied->begin = end;
}

/* Copy all tensors; `data` NULL: only plan them. */
static tesela_status fill_all(tesela__file_writing *w, tesela__file_copies *copies,
                              tesela__file_record *record, uint8_t *data) {
  const bool recorded = w->options->resume;
  fill_copied copied = {0, 0};
  tesela_status status = TESELA_OK;
  if (data) status = tesela__output_write(record->output, data, w->header, w->header_bytes, w->err);
  for (int64_t i = 0; i < w->n && status == TESELA_OK; i++) {
    uint8_t *dst = data ? data + w->header_bytes + w->out[i].begin : NULL;
    status = recorded && data ? fill_recorded(w, copies, record, i, dst) : fill_one(w, copies, i, dst);
    if (data) fill_begin_sync(record->output, &copied, w, i);
  }
  return status == TESELA_OK && recorded && data ? tesela__record_flush(record, w->err) : status;
}

static tesela__file_copies fill_copies(const tesela__file_writing *w, tesela__output *output,
                                       const uint8_t *out) {
  const tesela_file *source = w->options->source;
  const bool writes = !w->options->dry_run;
  tesela__file_copies copies = {.options = w->options,
                                .output = output,
                                .allocator = w->allocator,
                                .bytes_total = (w->bytes - w->header_bytes) * (writes + w->options->verify),
                                .out = out,
                                .out_bytes = w->bytes,
                                .out_written = writes};
  if (source) { /* pages of the caller's memory are never dropped */
    copies.source = source->mapping.data ? &source->mapping : NULL;
    copies.in = source->mapping.data;
    copies.in_bytes = source->mapping.bytes;
  }
  return copies;
}

static void fill_tell(const tesela__file_writing *w) {
  for (int64_t i = 0; i < w->n && w->written; i++) {
    w->written[i] =
        (tesela_file_written){.offset = w->header_bytes + w->out[i].begin, .bytes = w->out[i].bytes};
    if (w->format == TESELA_FILE_RAW) continue;
    snprintf(w->written[i].type, sizeof w->written[i].type, "%s", w->out[i].type);
  }
}

static tesela_status fill_ready(const tesela__file_writing *w) {
  if (!w->options->ready || w->options->ready(w->options->ready_user) == 0) return TESELA_OK;
  return tesela__fail(w->err, TESELA_E_STOPPED, -1, "the caller asked to stop");
}

/* ---- dry run ----------------------------------------------------------------------------------------------- */

static tesela_status fill_verify_file(const tesela__file_writing *w, const char *path) {
  tesela__mapping mapping;
  tesela_status status = tesela__mapping_open(&mapping, path, &w->allocator, w->err);
  if (status != TESELA_OK) return status;
  tesela__file_copies copies = fill_copies(w, NULL, mapping.data);
  status = tesela__file_copies_begin(&copies, w->err);
  if (status == TESELA_OK) status = tesela__file_verify(w, &copies, mapping.data, mapping.bytes);
  tesela__file_copies_end(&copies);
  tesela__mapping_close(&mapping);
  return status;
}

static tesela_status fill_dry(tesela__file_writing *w, const char *path) {
  tesela__file_copies copies = fill_copies(w, NULL, NULL);
  fill_tell(w);
  tesela_status status = fill_all(w, &copies, NULL, NULL);
  if (status == TESELA_OK && w->options->verify) status = fill_verify_file(w, path);
  return status == TESELA_OK ? fill_ready(w) : status;
}

/* ---- write ------------------------------------------------------------------------------------------------- */

static tesela_status fill_create(tesela__file_writing *w, const char *path, tesela__file_record *record,
                                 uint8_t **data) {
  const tesela_file_write_options *options = w->options;
  char first[TESELA__RECORD_FIRST + 1];
  if (!options->resume && !options->hold)
    return tesela__output_create(&record->output, path, w->bytes, options->unfinished, options->only_files,
                                 &w->allocator, data, w->err);
  tesela_status status = tesela__record_first(w, first);
  if (status != TESELA_OK) return status;
  return tesela__partial_create(&record->output, path, w->bytes, options->resume ? first : NULL,
                                options->only_files, &w->allocator, data, &record->recalls, w->err);
}

tesela_status tesela__file_fill(tesela__file_writing *w, const char *path) {
  const tesela_file_write_options *options = w->options;
  tesela__file_record record = {.n = 0};
  uint8_t *data;
  if (options->dry_run) return fill_dry(w, path);
  tesela_status status = fill_create(w, path, &record, &data);
  if (status != TESELA_OK) return status;
  tesela__file_copies copies = fill_copies(w, record.output, data);
  fill_tell(w);
  status = tesela__file_copies_begin(&copies, w->err);
  if (status == TESELA_OK) status = fill_all(w, &copies, &record, data);
  if (status == TESELA_OK && options->verify) {
    status = tesela__output_reread(record.output, w->err);
    if (status == TESELA_OK) status = tesela__file_verify(w, &copies, data, w->bytes);
    if (status == TESELA_E_MISMATCH && options->resume) /* the record cannot be trusted: clear it */
      (void)tesela__partial_note(record.output, 0, "", 0, NULL);
  }
  tesela__file_copies_end(&copies);
  if (status == TESELA_OK) status = fill_ready(w);
  if (status == TESELA_OK)
    status = options->hold ? tesela__partial_hold(record.output, w->err)
                           : tesela__output_finish(record.output, w->err);
  tesela__output_close(record.output);
  return status;
}
