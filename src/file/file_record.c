/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_record.c - record the progress of an unfinished output, for another process to continue. file_writing.h: the
 * format.
 *
 * The input and the description of the output determine its bytes; both are compared by digests of content, never by
 * times or names. So an input that was downloaded again still matches, and one that changed in place does not.
 */
#include <stdio.h>

#include "file/file_writing.h"
#include "relayout/plan.h"

enum { RECORD_STEP = 64 << 20 /* bytes between two syncs */ };

/* The digest of `bytes` bytes. */
static tesela_status record_digest(const void *data, int64_t bytes, uint8_t digest[16],
                                   const tesela_run_options *run, tesela_error *err) {
  static const uint8_t nothing[1];
  tesela_layout list;
  tesela_status status = tesela_layout_strided(&list, TESELA_U8, 8, 1, &bytes, NULL, 0, err);
  if (status == TESELA_OK) status = tesela_values_digest(&list, bytes > 0 ? data : nothing, digest, run, err);
  return status;
}

static void record_print(const uint8_t digest[16], char line[TESELA__RECORD_LINE + 1]) {
  for (int i = 0; i < 16; i++) snprintf(line + 2 * i, 3, "%02x", digest[i]);
  memcpy(line + TESELA__RECORD_LINE - 1, "\n", 2);
}

/* ---- the first line ---------------------------------------------------------------------------------------- */

enum { RECORD_HEAD = 10, RECORD_WORDS = RECORD_HEAD + 2 * TESELA__LAYOUT_WORDS };

/* Continue the digest in word[0] and word[1] with an item: digest both together with the words of the item. */
static tesela_status record_item(const tesela__file_writing *w, int64_t i, uint64_t word[RECORD_WORDS]) {
  const tesela_file_item *item = &w->item[i];
  const tesela_plan_options *plan = &w->options->plan;
  uint64_t *end = word + RECORD_HEAD;
  memset(word + 2, 0, (RECORD_HEAD - 2) * sizeof *word);
  word[2] = (uint64_t)w->out[i].begin;
  word[3] = (uint64_t)w->out[i].bytes;
  word[4] = (uint64_t)item->tensor->bytes;
  word[5] = (uint64_t)item->tensor->swapped << 1 | (item->from != NULL);
  word[6] = (uint64_t)plan->fill;
  word[7] = (uint64_t)plan->transform;
  if (item->from) {
    if (plan->fill == TESELA_FILL_VALUE) memcpy(word + 8, item->fill_value, sizeof item->fill_value);
    end = tesela__layout_words(end, item->to);
    end = tesela__layout_words(end, item->from);
  }
  return record_digest(word, (end - word) * (int64_t)sizeof *word, (uint8_t *)word, NULL, w->err);
}

tesela_status tesela__record_first(const tesela__file_writing *w, char first[TESELA__RECORD_FIRST + 1]) {
  uint64_t word[RECORD_WORDS] = {0};
  char version[64];
  const int n =
      snprintf(version, sizeof version, "%s %d %" PRId64, tesela_version(), (int)w->format, w->bytes);
  tesela_status status = record_digest(version, n, (uint8_t *)(word + 2), NULL, w->err);
  if (status == TESELA_OK)
    status = record_digest(w->header, w->header_bytes, (uint8_t *)(word + 4), NULL, w->err);
  if (status == TESELA_OK)
    status = record_digest(word, 6 * (int64_t)sizeof *word, (uint8_t *)word, NULL, w->err);
  for (int64_t i = 0; i < w->n && status == TESELA_OK; i++) status = record_item(w, i, word);
  memcpy(first, "tesela 1 ", 9);
  record_print((const uint8_t *)word, first + 9);
  return status;
}

/* ---- lines ------------------------------------------------------------------------------------------------- */

static int64_t record_at(int64_t n) { return TESELA__RECORD_FIRST + n * TESELA__RECORD_LINE; }

tesela_status tesela__record_line(tesela__file_record *record, const tesela__file_writing *w, int64_t i,
                                  const tesela_run_options *run, char line[TESELA__RECORD_LINE + 1],
                                  bool *done) {
  const tesela_file_tensor *tensor = w->item[i].tensor;
  char found[TESELA__RECORD_LINE];
  uint8_t digest[16];
  *done = false;
  tesela_status status = record_digest(tensor->data, tensor->bytes, digest, run, w->err);
  if (status != TESELA_OK) return status;
  record_print(digest, line);
  if (!record->recalls) return TESELA_OK;
  *done = tesela__partial_recall(record->output, record_at(record->n), found, sizeof found) == sizeof found &&
          memcmp(found, line, sizeof found) == 0;
  record->recalls = *done;
  record->n += *done;
  if (*done) return TESELA_OK;
  return tesela__partial_note(record->output, record_at(record->n), "", 0, w->err); /* remove the rest */
}

tesela_status tesela__record_flush(tesela__file_record *record, tesela_error *err) {
  if (record->n_pending == 0) return TESELA_OK;
  tesela_status status = tesela__partial_note(record->output, record_at(record->n), record->pending,
                                              record->n_pending * TESELA__RECORD_LINE, err);
  record->n += record->n_pending;
  record->n_pending = record->unsynced = 0;
  return status;
}

tesela_status tesela__record_add(tesela__file_record *record, const char *line, int64_t bytes,
                                 tesela_error *err) {
  memcpy(record->pending + record->n_pending++ * TESELA__RECORD_LINE, line, TESELA__RECORD_LINE);
  record->unsynced += bytes;
  if (record->unsynced < RECORD_STEP && record->n_pending < TESELA__RECORD_PENDING) return TESELA_OK;
  return tesela__record_flush(record, err);
}
