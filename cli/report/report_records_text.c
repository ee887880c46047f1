/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_records_text.c - the compiler's records of a dump folder for people: what each memory space needs and why, the largest
 * buffers with their place and life, and where the records disagree.
 */
#include <inttypes.h>
#include <string.h>

#include "report/report_print.h"

enum { SMALL = 100 }; /* fragmentation below 1/100 of the memory is not named */

static void print_space(const report_view *view, const tesela_record_program *program,
                        const tesela_record_space *space) {
  char bytes[TESELA_UNITS_TEXT];
  printf("  S(%" PRId32 ")  needs %s", space->space, report_bytes(view, space->needs_bytes, bytes));
  if (space->peak_bytes >= 0) printf(", peak %s", report_bytes(view, space->peak_bytes, bytes));
  if (space->instruction[0]) {
    fputs(" at ", stdout);
    report_put(&view->cli->out, space->instruction, 60);
  }
  int64_t own = report_own_peak(&view->ask, program, space->space);
  if (own >= 0) printf(", from the HLO text %s", report_bytes(view, own, bytes));
  puts("");
  int64_t lost = report_fragmentation(&view->ask, program, space);
  if (lost <= space->needs_bytes / SMALL) return;
  char peak[TESELA_UNITS_TEXT], needs[TESELA_UNITS_TEXT];
  cli_styled(&view->cli->out, "1", "        fragmentation: ");
  printf("%s; peak %s, needs %s\n", report_bytes(view, lost, bytes),
         report_bytes(view, space->peak_bytes, peak), report_bytes(view, space->needs_bytes, needs));
  if (space->planned_bytes < 0) return;
  int64_t avoided = space->needs_bytes - space->planned_bytes;
  if (avoided <= space->needs_bytes / SMALL)
    puts(space->bound_bytes == space->planned_bytes ? "        no other offsets need less"
                                                    : "        no other offsets were found that need less");
  else
    printf("        other offsets need %s%s\n", report_bytes(view, space->planned_bytes, bytes),
           space->bound_bytes == space->planned_bytes ? ", the least" : "");
}

static void print_buffer(const report_view *view, const tesela_record_buffer *buffer) {
  char bytes[TESELA_UNITS_TEXT], life[48] = "?";
  if (buffer->from >= 0) snprintf(life, sizeof life, "%" PRId64 "-%" PRId64, buffer->from, buffer->to);
  printf("%10s  %12" PRId64 "  S(%" PRId32 ")  %11s  ", report_bytes(view, buffer->bytes, bytes),
         buffer->offset, buffer->space, life);
  report_put(&view->cli->out, buffer->instruction, 60);
  printf("%s  ", buffer->member);
  report_put(&view->cli->out, buffer->shape, 90);
  if (buffer->location[0]) {
    fputs("  ", stdout);
    report_put(&view->cli->out, buffer->location, 60);
  }
  puts("");
}

static void print_buffers(const report_view *view, const tesela_record_program *program) {
  int64_t n = 0, left = 0;
  for (int64_t i = 0; i < program->n_buffers; i++) {
    const tesela_record_buffer *buffer = &program->buffer[i];
    if (view->ask.space != TESELA_REPORT_ANY && buffer->space != view->ask.space) continue;
    if (n >= view->ask.top) {
      left++;
      continue;
    }
    if (n++ == 0) puts("\n     bytes        offset  space      alive  buffer");
    print_buffer(view, buffer);
  }
  if (left > 0) printf("  ... and %" PRId64 " more; --top 0 shows all\n", left);
}

static void print_difference(const report_view *view, const tesela_record_difference *difference) {
  cli_styled(&view->cli->out, "1;31", "  disagree: ");
  report_put(&view->cli->out, difference->text, -1);
  if (difference->count > 1) printf(" (and %" PRId64 " more)", difference->count - 1);
  puts("");
}

static void print_program(const report_view *view, const tesela_record_program *program) {
  char bytes[TESELA_UNITS_TEXT], sum[TESELA_UNITS_TEXT];
  puts("");
  cli_styled(&view->cli->out, "1", "memory of ");
  report_put(&view->cli->out, program->name[0] ? program->name : program->source, 80);
  if (program->total_bytes >= 0)
    printf(": the compiler's total %s", report_bytes(view, program->total_bytes, bytes));
  if (program->sum_bytes > 0)
    printf("%s sum of its allocations %s", program->total_bytes >= 0 ? "," : ":",
           report_bytes(view, program->sum_bytes, sum));
  puts("");
  for (int64_t i = 0; i < program->n_spaces; i++)
    if (view->ask.space == TESELA_REPORT_ANY || view->ask.space == program->space[i].space)
      print_space(view, program, &program->space[i]);
  if (program->n_stays > 0)
    printf("  %" PRId64 " stays in faster memory by memory space assignment\n", program->n_stays);
  for (int64_t i = 0; i < program->n_differences; i++) print_difference(view, &program->difference[i]);
  tesela_record_difference peak;
  if (report_peak_difference(&view->ask, program, &peak)) print_difference(view, &peak);
  print_buffers(view, program);
}

void report_print_records(const report_view *view) {
  for (int64_t i = 0; i < tesela_records_n_programs(view->ask.records) && !ferror(stdout); i++) {
    const tesela_record_program *program = tesela_records_program_at(view->ask.records, i);
    if (report_has_records(program)) print_program(view, program);
  }
}
