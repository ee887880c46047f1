/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records_put.c - the compiler's records of each program as an answer: spaces, buffers, stays, differences.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report_ask.h"

enum { PERCENT = 3, SLACK = 256 << 10 }; /* two peaks that differ by no more agree */

bool report_has_records(const tesela_record_program *program) {
  return program->n_spaces > 0 || program->n_stays > 0 || program->n_differences > 0 ||
         program->total_bytes >= 0;
}

bool report_any_records(const tesela_records *records) {
  for (int64_t i = 0; i < tesela_records_n_programs(records); i++)
    if (report_has_records(tesela_records_program_at(records, i))) return true;
  return false;
}

bool report_same_name(const report_ask *ask, const tesela_record_program *program) {
  for (int64_t i = 0; i < tesela_records_n_programs(ask->records); i++) {
    const tesela_record_program *other = tesela_records_program_at(ask->records, i);
    if (other != program && report_has_records(other) && strcmp(other->name, program->name) == 0) return true;
  }
  return false;
}

/* The first peak of a section or of one after it. */
static int64_t first_peak(const tesela_report *report, int64_t section) {
  int64_t low = 0, high = tesela_report_n_peaks(report);
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (tesela_report_peak_at(report, middle)->section < section)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The known peak of a section in a memory space, or -1. */
static int64_t peak_of(const tesela_report *report, int64_t section, int32_t space) {
  const tesela_report_peak *peak;
  for (int64_t i = first_peak(report, section); (peak = tesela_report_peak_at(report, i)); i++) {
    if (peak->section != section) break;
    if (peak->space == space && peak->at >= 0) return peak->least_bytes;
  }
  return -1;
}

/* The text of a program is the file whose name starts as those of its records; else a module with its name that no other program has. */
int64_t report_own_peak(const report_ask *ask, const tesela_record_program *program, int32_t space) {
  size_t n = strlen(program->source);
  bool files = n > 0 && program->source[n - 1] == '.';
  int64_t other = -1, section = -1;
  while ((section = tesela_report_find_section(ask->report, program->name, section + 1)) >= 0) {
    const int64_t bytes = peak_of(ask->report, section, space);
    const int32_t input = tesela_report_section_at(ask->report, section)->input;
    if (bytes >= 0 && files && strncmp(report_input_name(ask, input), program->source, n) == 0) return bytes;
    if (other < 0) other = bytes;
  }
  return other >= 0 && report_same_name(ask, program) ? -1 : other;
}

/* An upper bound differs only from a larger peak. */
static bool peaks_differ(const tesela_record_space *space, int64_t own) {
  int64_t slack = own / 100 * PERCENT > SLACK ? own / 100 * PERCENT : SLACK;
  if (own < 0 || space->peak_bytes < 0) return false;
  return own - space->peak_bytes > slack || (space->followed && space->peak_bytes - own > slack);
}

bool report_peak_difference(const report_ask *ask, const tesela_record_program *program,
                            tesela_record_difference *difference) {
  *difference = (tesela_record_difference){.kind = TESELA_RECORD_PEAK, .code = "peak"};
  for (int64_t i = 0; i < program->n_spaces; i++) {
    const tesela_record_space *space = &program->space[i];
    int64_t own = report_own_peak(ask, program, space->space);
    if (peaks_differ(space, own) && difference->count++ == 0)
      snprintf(difference->text, sizeof difference->text,
               "memory space %" PRId32 ": the peak is %" PRId64
               " bytes from the buffer assignment and its live ranges, %" PRId64 " from the HLO text",
               space->space, space->peak_bytes, own);
  }
  return difference->count > 0;
}

int64_t report_fragmentation(const report_ask *ask, const tesela_record_program *program,
                             const tesela_record_space *space) {
  if (space->peak_bytes < 0 || !space->followed) return -1;
  if (peaks_differ(space, report_own_peak(ask, program, space->space))) return -1;
  return space->needs_bytes - space->peak_bytes;
}

static const char *or_null(const char *text) { return text[0] ? text : NULL; }

static void put_space(tesela_sink *j, const report_ask *ask, const tesela_record_program *program,
                      const tesela_record_space *space) {
  int64_t own = report_own_peak(ask, program, space->space);
  int64_t lost = report_fragmentation(ask, program, space);
  tesela_put_object(j);
  tesela_put_key_int(j, "space", space->space);
  tesela_put_key_int(j, "needs_bytes", space->needs_bytes);
  report_put_known(j, "printed_bytes", space->printed_bytes >= 0, space->printed_bytes);
  report_put_known(j, "peak_bytes", space->peak_bytes >= 0, space->peak_bytes);
  report_put_known(j, "fragmentation_bytes", lost >= 0, lost);
  report_put_known(j, "at", space->at >= 0, space->at);
  tesela_put_key_text(j, "instruction", or_null(space->instruction));
  report_put_known(j, "own_peak_bytes", own >= 0, own);
  bool planned = space->planned_bytes >= 0;
  report_put_known(j, "planned_bytes", planned, space->planned_bytes);
  report_put_known(j, "bound_bytes", planned, space->bound_bytes);
  report_put_known(j, "alignment_bytes", planned, space->alignment_bytes);
  tesela_put_key_object(j, "lost");
  report_put_known(j, "by_offsets", planned, space->needs_bytes - space->planned_bytes);
  report_put_known(j, "by_alignment", planned, space->aligned_bytes);
  report_put_known(j, "by_lives", planned, space->planned_bytes - space->peak_bytes - space->aligned_bytes);
  tesela_put_end(j);
  tesela_put_end(j);
}

static void put_buffer(tesela_sink *j, const tesela_record_program *program,
                       const tesela_record_buffer *buffer) {
  const tesela_record_allocation *in = &program->allocation[buffer->allocation];
  tesela_put_object(j);
  tesela_put_key_text(j, "instruction", buffer->instruction);
  tesela_put_key_text(j, "member", or_null(buffer->member));
  tesela_put_key_text(j, "shape", or_null(buffer->shape));
  tesela_put_key_int(j, "space", buffer->space);
  tesela_put_key_int(j, "allocation", in->number);
  tesela_put_key_text(j, "use", tesela_record_use_name(in->use));
  tesela_put_key_int(j, "offset", buffer->offset);
  tesela_put_key_int(j, "bytes", buffer->bytes);
  report_put_known(j, "stored_bytes", buffer->stored_bytes >= 0, buffer->stored_bytes);
  report_put_known(j, "from", buffer->from >= 0, buffer->from);
  report_put_known(j, "to", buffer->from >= 0, buffer->to);
  report_put_known(j, "planned_offset", buffer->planned_offset >= 0, buffer->planned_offset);
  tesela_put_key(j, "at_peak");
  if (buffer->at_peak < 0)
    tesela_put_null(j);
  else
    tesela_put_bool(j, buffer->at_peak);
  tesela_put_key_text(j, "op_name", or_null(buffer->op_name));
  tesela_put_key_text(j, "location", or_null(buffer->location));
  tesela_put_end(j);
}

static void put_stay(tesela_sink *j, const tesela_record_stay *stay) {
  tesela_put_object(j);
  tesela_put_key_text(j, "instruction", or_null(stay->buffer));
  tesela_put_key_int(j, "offset", stay->offset);
  tesela_put_key_int(j, "bytes", stay->bytes);
  tesela_put_key_int(j, "from", stay->from);
  tesela_put_key_int(j, "to", stay->to);
  tesela_put_key_text(j, "first", or_null(stay->first));
  tesela_put_key_text(j, "last", or_null(stay->last));
  tesela_put_end(j);
}

static void put_difference(tesela_sink *j, const tesela_record_difference *difference) {
  tesela_put_object(j);
  tesela_put_key_text(j, "code", difference->code);
  tesela_put_key_int(j, "count", difference->count);
  tesela_put_key_text(j, "text", difference->text);
  tesela_put_end(j);
}

static void put_program(tesela_sink *j, const report_ask *ask, const tesela_record_program *program) {
  tesela_put_object(j);
  tesela_put_key_text(j, "name", or_null(program->name));
  tesela_put_key_text(j, "source", program->source);
  tesela_put_key_list(j, "records");
  for (int k = 1; k < TESELA_RECORD_N_KINDS; k++)
    if (program->kinds & 1u << k) tesela_put_text(j, tesela_record_kind_name((tesela_record_kind)k));
  tesela_put_end(j);
  report_put_known(j, "total_bytes", program->total_bytes >= 0, program->total_bytes);
  tesela_put_key_int(j, "sum_bytes", program->sum_bytes);
  tesela_put_key_list(j, "spaces");
  for (int64_t i = 0; i < program->n_spaces; i++) put_space(j, ask, program, &program->space[i]);
  tesela_put_end(j);
  tesela_put_key_list(j, "buffers");
  for (int64_t i = 0, n = 0; i < program->n_buffers && n < ask->top && !j->stopped; i++) {
    if (ask->space != TESELA_REPORT_ANY && program->buffer[i].space != ask->space) continue;
    put_buffer(j, program, &program->buffer[i]);
    n++;
  }
  tesela_put_end(j);
  tesela_put_key_int(j, "n_buffers", program->n_buffers);
  tesela_put_key_list(j, "stays");
  for (int64_t i = 0; i < program->n_stays && !j->stopped; i++) put_stay(j, &program->stay[i]);
  tesela_put_end(j);
  tesela_put_key_int(j, "checked", program->checked);
  tesela_put_key_list(j, "differences");
  for (int64_t i = 0; i < program->n_differences; i++) put_difference(j, &program->difference[i]);
  tesela_record_difference peak;
  if (report_peak_difference(ask, program, &peak)) put_difference(j, &peak);
  tesela_put_end(j);
  tesela_put_end(j);
}

void report_put_records(tesela_sink *j, const report_ask *ask) {
  int64_t n = tesela_records_n_programs(ask->records);
  bool open = false;
  for (int64_t i = 0; i < n && !j->stopped; i++) {
    const tesela_record_program *program = tesela_records_program_at(ask->records, i);
    if (!report_has_records(program)) continue;
    if (!open) tesela_put_key_list(j, "programs");
    open = true;
    put_program(j, ask, program);
  }
  if (open) tesela_put_end(j);
}
