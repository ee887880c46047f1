/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_change_text.c - what to change, for people: the arrays with most padding, and what can be done about each, as code.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/report_print.h"

enum { CHANGE_CULPRITS = 3 /* arrays; of each the best change of each class */ };

/* The memory that there is: the limit that was asked for, else what a log says. -1: unknown. */
static int64_t change_capacity(const report_view *view) {
  if (view->ask.max_peak >= 0) return view->ask.max_peak;
  for (int64_t i = 0; i < tesela_report_n_sections(view->ask.report); i++) {
    const int64_t bytes = tesela_report_section_at(view->ask.report, i)->figure[TESELA_REPORT_CAPACITY].bytes;
    if (bytes > 0) return bytes;
  }
  return -1;
}

static void put_culprit(const report_view *view, int64_t number, const tesela_report_culprit *culprit) {
  char bytes[TESELA_UNITS_TEXT], ratio[REPORT_RATIO], shape[200];
  snprintf(shape, sizeof shape, "%.*s", (int)(culprit->shape_bytes < 199 ? culprit->shape_bytes : 199),
           culprit->shape);
  const char *first = culprit->location[0]  ? culprit->location
                      : culprit->op_name[0] ? culprit->op_name /* of an argument */
                                            : culprit->name,
             *second = culprit->location[0] ? culprit->op_name : culprit->name;
  printf(" %" PRId64 ". ", number);
  if (report_put(&view->cli->out, first, 60) > 0) fputs(": ", stdout);
  if (culprit->count > 1) printf("%" PRId64 " x ", culprit->count);
  report_put(&view->cli->out, shape, 80);
  printf(" %s, %s, %s the data\n", report_buffer_role(culprit->role),
         report_bytes(view, culprit->bytes, bytes), report_ratio(culprit->bytes, culprit->data_bytes, ratio));
  if (!second[0] || strcmp(first, second) == 0) return;
  fputs("    ", stdout);
  report_put(&view->cli->out, second, 94);
  puts("");
}

/* The lines of code, indented. */
static int write_code(void *user, const char *text, size_t length) {
  bool *begun = user;
  for (size_t i = 0; i < length; i++) {
    if (!*begun) fputs("         ", stdout);
    *begun = text[i] != '\n';
    putchar(text[i]);
  }
  return 0;
}

static int write_plain(void *user, const char *text, size_t length) {
  (void)user;
  return fwrite(text, 1, length, stdout) < length;
}

static void put_remedy(const report_view *view, const tesela_report_culprit *culprit,
                       const tesela_report_remedy *remedy, int64_t peak) {
  const bool main = culprit->space == 0;
  char bytes[TESELA_UNITS_TEXT], of[TESELA_UNITS_TEXT];
  const int64_t capacity = change_capacity(view);
  bool begun = false;
  printf("    (%c) %s", tesela_remedy_class(remedy->kind), tesela_remedy_words(remedy->kind));
  if (remedy->arrays > 0) {
    fputs(": ", stdout);
    if (remedy->arrays > 1) printf("%" PRId64 " x ", remedy->arrays);
    tesela_xla_print(&remedy->to, true, &(tesela_writer){write_plain, NULL}, NULL);
    printf(", %s", report_bytes(view, remedy->bytes, bytes));
  }
  if (remedy->peak_bytes >= 0) {
    printf("; %s %s", main ? "peak" : "VMEM", report_bytes(view, peak, bytes));
    printf(" -> %s", report_bytes(view, remedy->peak_bytes, bytes));
    if (capacity >= 0 && main)
      printf(" of %s: %s", report_bytes(view, capacity, of),
             remedy->peak_bytes <= capacity ? "fits" : "does not fit");
  } else {
    printf("; saves %s at best", report_bytes(view, culprit->bytes - remedy->bytes, bytes));
  }
  puts("");
  tesela_report_remedy_code(culprit, remedy, &(tesela_writer){write_code, &begun}, NULL);
}

/* Nothing helps: how much the data alone is. */
static void put_nothing(const report_view *view, const tesela_report_culprit *culprit, int64_t n) {
  char bytes[TESELA_UNITS_TEXT], of[TESELA_UNITS_TEXT];
  const int64_t capacity = change_capacity(view);
  int64_t data = 0;
  for (int64_t i = 0; i < n; i++) data += culprit[i].data_bytes;
  cli_styled(&view->cli->out, "1", "What to change");
  printf(": no other layout helps; the data of the largest arrays alone is %s",
         report_bytes(view, data, bytes));
  if (capacity > 0)
    printf(", %.1fx the memory of %s", (double)data / (double)capacity, report_bytes(view, capacity, of));
  puts("\n   shard them, take smaller batches, or compute parts again (jax.checkpoint)");
}

static void put_heading(const report_view *view, const tesela_report_culprit *culprit) {
  puts("");
  cli_styled(&view->cli->out, "1", "What to change");
  puts(culprit->space != 0 ? ", each alone: padding in VMEM costs time; the peak of the main memory stays"
       : culprit->lives    ? ", each alone, with the peak that follows from the schedule"
                           : ", each alone; savings do not add, and arrays that share memory save less");
}

/* *shown: how many of the arrays something can be done about. */
static bool put_changes(const report_view *view, int32_t space, const tesela_report_culprit *culprit,
                        int64_t n, int64_t *shown) {
  tesela_report_peak peak = {.at = -1};
  (void)tesela_report_highest_peak(view->ask.report, TESELA_REPORT_HLO, space, &peak);
  for (int64_t i = 0; i < n && *shown < CHANGE_CULPRITS; i++) {
    tesela_report_remedy remedy[TESELA_REPORT_MAX_REMEDIES];
    int32_t found = 0;
    if (tesela_report_remedies(view->ask.report, &culprit[i], remedy, &found, NULL) != TESELA_OK)
      return false;
    if (found == 0 || remedy[0].kind == TESELA_REMEDY_NONE) continue;
    if ((*shown)++ == 0) put_heading(view, &culprit[i]);
    put_culprit(view, *shown, &culprit[i]);
    for (char class = 'a'; class <= 'c'; class ++) {
      int32_t k = 0;
      while (k < found && tesela_remedy_class(remedy[k].kind) != class) k++;
      if (k < found) put_remedy(view, &culprit[i], &remedy[k], peak.least_bytes);
    }
  }
  return true;
}

/* About the main memory; if nothing helps there, about the vector memory. */
bool report_print_changes(const report_view *view) {
  tesela_report_culprit culprit[2][REPORT_CULPRITS];
  int64_t n[2] = {0, 0}, shown = 0;
  for (int32_t space = 0; space <= 1 && shown == 0; space++) {
    (void)tesela_report_culprits(view->ask.report, space, REPORT_CULPRITS, culprit[space], &n[space], NULL);
    if (!put_changes(view, space, culprit[space], n[space], &shown)) return false;
    if (space == 0 && shown == 0 && n[0] > 0 && change_capacity(view) >= 0) {
      puts("");
      put_nothing(view, culprit[0], n[0]);
    }
  }
  return true;
}
