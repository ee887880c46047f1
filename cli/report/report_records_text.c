/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_records_text.c - the compiler's records of a dump folder for people: the programs that need most, what each memory space
 * needs and why, the buffers at the peak with their place and life, and where the records disagree.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_print.h"

/* Fragmentation below 1/100 of the memory is not named, nor a program that needs less than 1/100 of the largest. */
enum { SMALL = 100 };

static void print_space(const report_view *view, const tesela_record_program *program,
                        const tesela_record_space *space) {
  char bytes[TESELA_UNITS_TEXT], name[16];
  printf("  %-4s  needs %s", report_space_name(space->space, name),
         report_bytes(view, space->needs_bytes, bytes));
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

static void print_buffer(const report_view *view, const tesela_record_program *program,
                         const tesela_record_buffer *buffer) {
  char bytes[TESELA_UNITS_TEXT], name[16], life[48] = "?";
  if (buffer->from >= 0) snprintf(life, sizeof life, "%" PRId64 "-%" PRId64, buffer->from, buffer->to);
  printf("%10s  %12" PRId64 "  %-5s  %-12s  %11s  ", report_bytes(view, buffer->bytes, bytes), buffer->offset,
         report_space_name(buffer->space, name),
         tesela_record_use_name(program->allocation[buffer->allocation].use), life);
  report_put(&view->cli->out, buffer->instruction, 60);
  printf("%s  ", buffer->member);
  report_put(&view->cli->out, buffer->shape, 90);
  const char *from = buffer->location[0] ? buffer->location : buffer->op_name;
  if (from[0]) {
    fputs("  ", stdout);
    report_put(&view->cli->out, from, 60);
  }
  puts("");
}

/* The buffers at the peak of a space; the largest of all where it is not known, NULL: of all spaces. */
static void print_buffers(const report_view *view, const tesela_record_program *program,
                          const tesela_record_space *space) {
  int64_t n = 0, left = 0;
  char name[16];
  for (int64_t i = 0; i < program->n_buffers; i++) {
    const tesela_record_buffer *buffer = &program->buffer[i];
    if (space && (buffer->space != space->space || buffer->at_peak == 0 || buffer->bytes == 0)) continue;
    if (n >= view->ask.top) {
      left++;
      continue;
    }
    if (n++ == 0) {
      if (space && space->at >= 0)
        printf("\n  %s at its peak, instant %" PRId64 ":\n", report_space_name(space->space, name),
               space->at);
      else if (space)
        printf("\n  %s:\n", report_space_name(space->space, name));
      else
        puts("");
      puts("     bytes        offset  space  use                 alive  buffer");
    }
    print_buffer(view, program, buffer);
  }
  if (left > 0) printf("  ... and %" PRId64 " more; --top 0 shows all\n", left);
}

static void print_difference(const report_view *view, const tesela_record_difference *difference) {
  cli_styled(&view->cli->out, "1;31", "  disagree: ");
  report_put(&view->cli->out, difference->text, -1);
  if (difference->count > 1) printf(" (and %" PRId64 " more)", difference->count - 1);
  puts("");
}

static bool is_asked(const report_view *view, int32_t space) {
  return view->ask.space == TESELA_REPORT_ANY || view->ask.space == space;
}

static void print_all_buffers(const report_view *view, const tesela_record_program *program) {
  bool known = false;
  for (int64_t i = 0; i < program->n_spaces; i++) known = known || program->space[i].peak_bytes >= 0;
  if (!known && view->ask.space == TESELA_REPORT_ANY) print_buffers(view, program, NULL);
  for (int64_t i = 0; i < program->n_spaces; i++) {
    const tesela_record_space *space = &program->space[i];
    bool one = !known || view->ask.space != TESELA_REPORT_ANY;
    bool shown = one ? view->ask.space == space->space
                     : space->space <= 1 ||
                           report_fragmentation(&view->ask, program, space) > space->needs_bytes / SMALL;
    if (shown) print_buffers(view, program, space);
  }
}

static void print_program(const report_view *view, const tesela_record_program *program) {
  char bytes[TESELA_UNITS_TEXT], sum[TESELA_UNITS_TEXT];
  bool named = program->name[0] != '\0';
  puts("");
  cli_styled(&view->cli->out, "1", "memory of ");
  report_put(&view->cli->out, named ? program->name : program->source, 80);
  if (named && report_same_name(&view->ask, program)) {
    fputs(" (", stdout);
    report_put(&view->cli->out, program->source, 120);
    fputs(")", stdout);
  }
  if (program->total_bytes >= 0)
    printf(": the compiler's total %s", report_bytes(view, program->total_bytes, bytes));
  if (program->sum_bytes > 0)
    printf("%s sum of its allocations %s", program->total_bytes >= 0 ? "," : ":",
           report_bytes(view, program->sum_bytes, sum));
  puts("");
  for (int64_t i = 0; i < program->n_spaces; i++)
    if (is_asked(view, program->space[i].space)) print_space(view, program, &program->space[i]);
  if (program->n_stays > 0)
    printf("  %" PRId64 " stays in faster memory by memory space assignment\n", program->n_stays);
  for (int64_t i = 0; i < program->n_differences; i++) print_difference(view, &program->difference[i]);
  tesela_record_difference peak;
  if (report_peak_difference(&view->ask, program, &peak)) print_difference(view, &peak);
  print_all_buffers(view, program);
}

static int64_t bytes_of(const tesela_record_program *program) {
  int64_t bytes = program->sum_bytes > program->total_bytes ? program->sum_bytes : program->total_bytes;
  for (int64_t i = 0; i < program->n_spaces; i++)
    if (program->space[i].needs_bytes > bytes) bytes = program->space[i].needs_bytes;
  return bytes;
}

/* `index` is the place of a program in the list, so that the order of equal ones is that of the files. */
typedef struct sized_program {
  const tesela_record_program *program;
  int64_t bytes, index;
} sized_program;

static int by_bytes(const void *a, const void *b) {
  const sized_program *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  return (x->index > y->index) - (x->index < y->index);
}

bool report_print_records(const report_view *view) {
  int64_t all = tesela_records_n_programs(view->ask.records), n = 0, shown = 0;
  sized_program *list = malloc(((size_t)all + 1) * sizeof *list);
  if (!list) return false;
  for (int64_t i = 0; i < all; i++) {
    const tesela_record_program *program = tesela_records_program_at(view->ask.records, i);
    if (report_has_records(program)) list[n++] = (sized_program){program, bytes_of(program), i};
  }
  qsort(list, (size_t)n, sizeof *list, by_bytes);
  for (; shown < n && shown < view->ask.top && !ferror(stdout); shown++) {
    bool small = list[shown].bytes < list[0].bytes / SMALL;
    if (small && view->ask.top != INT64_MAX && list[shown].program->n_differences == 0) break;
    print_program(view, list[shown].program);
  }
  if (n > shown)
    printf("\n... and %" PRId64 " smaller program%s; --top 0 shows all\n", n - shown,
           n - shown == 1 ? "" : "s");
  free(list);
  return true;
}
