/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records_changes.c - two programs' memory compared: what each memory space needs, its peak, and what grew at the peak.
 */
#include <string.h>

#include "report_ask.h"

static const tesela_record_program *named(const tesela_records *records, const char *name) {
  for (int64_t i = 0; i < tesela_records_n_programs(records); i++) {
    const tesela_record_program *program = tesela_records_program_at(records, i);
    if (program->n_spaces > 0 && strcmp(program->name, name) == 0) return program;
  }
  return NULL;
}

static const tesela_record_space *space_of(const tesela_record_program *program, int32_t space) {
  for (int64_t i = 0; i < program->n_spaces; i++)
    if (program->space[i].space == space) return &program->space[i];
  return NULL;
}

bool report_space_change(const changes_ask *ask, int64_t number, report_memory_change *change) {
  for (int64_t i = 0; i < tesela_records_n_programs(ask->after.records); i++) {
    const tesela_record_program *after = tesela_records_program_at(ask->after.records, i);
    const tesela_record_program *before = named(ask->before.records, after->name);
    for (int64_t k = 0; before && k < after->n_spaces; k++) {
      const tesela_record_space *other = space_of(before, after->space[k].space);
      if (!other || number-- > 0) continue;
      *change = (report_memory_change){before, after, other, &after->space[k]};
      return true;
    }
  }
  return false;
}

int64_t report_growth(const report_memory_change *change, int64_t i) {
  const tesela_record_buffer *buffer = &change->after->buffer[i];
  int64_t before = 0;
  if (buffer->space != change->new_space->space || buffer->at_peak == 0) return 0;
  for (int64_t k = 0; k < change->before->n_buffers; k++) {
    const tesela_record_buffer *other = &change->before->buffer[k];
    if (other->space == change->old_space->space && other->at_peak != 0 &&
        strcmp(other->instruction, buffer->instruction) == 0 && strcmp(other->member, buffer->member) == 0)
      before = other->bytes;
  }
  return buffer->bytes - before;
}

static void put_side(tesela_sink *j, const char *name, const tesela_record_space *space) {
  tesela_put_key_object(j, name);
  tesela_put_key_int(j, "needs_bytes", space->needs_bytes);
  report_put_known(j, "peak_bytes", space->peak_bytes >= 0, space->peak_bytes);
  tesela_put_end(j);
}

void report_put_memory_changes(tesela_sink *j, const changes_ask *ask) {
  report_memory_change change;
  for (int64_t number = 0; report_space_change(ask, number, &change); number++) {
    if (number == 0) tesela_put_key_list(j, "memory");
    tesela_put_object(j);
    tesela_put_key_text(j, "name", change.after->name);
    tesela_put_key_int(j, "space", change.new_space->space);
    put_side(j, "before", change.old_space);
    put_side(j, "after", change.new_space);
    tesela_put_key_list(j, "grew");
    for (int64_t i = 0, n = 0; i < change.after->n_buffers && n < REPORT_GREW; i++) {
      int64_t bytes = report_growth(&change, i);
      if (bytes <= 0) continue;
      n++;
      tesela_put_object(j);
      tesela_put_key_text(j, "instruction", change.after->buffer[i].instruction);
      tesela_put_key_text(j, "shape", change.after->buffer[i].shape);
      tesela_put_key_int(j, "bytes", bytes);
      tesela_put_end(j);
    }
    tesela_put_end(j);
    tesela_put_end(j);
  }
  if (report_space_change(ask, 0, &change)) tesela_put_end(j);
}
