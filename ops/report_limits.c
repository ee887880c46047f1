/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_limits.c - does a report stay within limits on padding and bytes?
 */
#include <string.h>

#include "report_ask.h"

/* The compiler's own total of a memory report, NULL if it printed none. */
static const tesela_report_printed *compiler_total(const tesela_report_section *section) {
  static const tesela_report_figure from[] = {TESELA_REPORT_USED, TESELA_REPORT_REQUIREMENT,
                                              TESELA_REPORT_TEMP, TESELA_REPORT_USAGE};
  for (size_t i = 0; i < sizeof from / sizeof from[0]; i++)
    if (section->figure[from[i]].bytes >= 0) return &section->figure[from[i]];
  return NULL;
}

/* Is the question about the memory that a report is about? A list of one other space does not decide it. */
static bool is_in_view(const report_ask *ask, const tesela_report_section *section) {
  return ask->space == TESELA_REPORT_ANY || (ask->space == 0 && strcmp(section->name, "vmem") != 0);
}

/* The largest total a compiler printed that is more than its report lists, in its rounding; -1 without.
 * *unlisted: memory reports that give neither a list nor a total. */
static int64_t largest_compiler_total(const report_ask *ask, int64_t *unlisted) {
  int64_t largest = -1;
  *unlisted = 0;
  for (int64_t i = 0; i < tesela_report_n_sections(ask->report); i++) {
    const tesela_report_section *section = tesela_report_section_at(ask->report, i);
    char listed[TESELA_UNITS_TEXT], printed[TESELA_UNITS_TEXT];
    if (section->source != TESELA_REPORT_MEMORY) continue;
    const tesela_report_printed *total = is_in_view(ask, section) ? compiler_total(section) : NULL;
    *unlisted += !total && section->arrays == 0;
    if (!total || total->bytes <= section->stored_bytes) continue;
    tesela_units_print(section->stored_bytes, TESELA_UNITS_XLA, listed);
    tesela_units_print(total->bytes, TESELA_UNITS_XLA, printed);
    if (strcmp(listed, printed) != 0 && total->bytes > largest) largest = total->bytes;
  }
  return largest;
}

/* The largest share of padding that a compiler printed for its HLO temporaries; -1 without. */
static double compiler_waste(const report_ask *ask) {
  double waste = -1;
  for (int64_t i = 0; i < tesela_report_n_sections(ask->report); i++) {
    const tesela_report_section *section = tesela_report_section_at(ask->report, i);
    const tesela_report_printed *unpadded = &section->figure[TESELA_REPORT_TEMP_UNPADDED],
                                *padded = &section->figure[TESELA_REPORT_TEMP_PADDED];
    if (!is_in_view(ask, section) || unpadded->bytes < 0 || padded->bytes <= 0) continue;
    double share = unpadded->bytes < padded->bytes ? 1 - (double)unpadded->bytes / (double)padded->bytes : 0;
    if (share > waste) waste = share;
  }
  return waste;
}

/* The padding lies between two shares; the report does not decide a limit between them. */
static void check_waste(const report_ask *ask, const tesela_report_totals *totals, report_limit *limit) {
  limit->least = report_share(totals->padding_bytes, totals->stored_bytes);
  limit->most = report_share(totals->most_padding_bytes, totals->stored_bytes);
  limit->why = totals->arrays > 0 ? REPORT_LIMIT_STORED : REPORT_LIMIT_UNREADABLE;
  bool no_list = totals->arrays == totals->unknown_arrays;
  double compilers = no_list && limit->source == TESELA_REPORT_MEMORY ? compiler_waste(ask) : -1;
  if (compilers >= 0 &&
      (totals->arrays == 0 || (limit->least <= ask->max_waste && limit->most > ask->max_waste))) {
    limit->least = limit->most = compilers;
    limit->why = REPORT_LIMIT_COMPILER;
  }
  if (limit->why == REPORT_LIMIT_UNREADABLE) return;
  limit->holds = limit->most <= ask->max_waste;
  limit->known = limit->holds || limit->least > ask->max_waste;
  if (!limit->known) limit->why = REPORT_LIMIT_UNCERTAIN;
}

static void check_bytes(const report_ask *ask, const tesela_report_totals *totals, report_limit *limit) {
  int64_t total = -1, unlisted = 0;
  if (limit->source == TESELA_REPORT_MEMORY) total = largest_compiler_total(ask, &unlisted);
  bool compilers = totals->stored_bytes <= ask->max_bytes && total > totals->stored_bytes;
  limit->bytes = compilers ? total : totals->stored_bytes;
  limit->why = compilers ? REPORT_LIMIT_COMPILER : REPORT_LIMIT_STORED;
  limit->holds = limit->bytes <= ask->max_bytes;
  limit->known = true;
  if (!limit->holds) return;
  tesela_report_filter anywhere = {(int32_t)limit->source, TESELA_REPORT_ANY, TESELA_REPORT_ANY};
  bool measured =
      limit->source == TESELA_REPORT_MEMORY || tesela_report_total(ask->report, &anywhere).arrays > 0;
  if (unlisted == 0 && measured) return;
  limit->known = false;
  limit->why = measured ? REPORT_LIMIT_UNLISTED : REPORT_LIMIT_UNREADABLE;
}

int32_t report_peak_space(const report_ask *ask) { return ask->space == TESELA_REPORT_ANY ? 0 : ask->space; }

/* The compiler's total of everything: exact, or at least so much. */
static int64_t exact_total(const tesela_report_section *section, bool *exact) {
  const tesela_report_printed *total = compiler_total(section);
  *exact =
      total == &section->figure[TESELA_REPORT_USED] || total == &section->figure[TESELA_REPORT_REQUIREMENT];
  return total ? total->bytes : 0;
}

bool report_peak(const report_ask *ask, tesela_report_source source, int32_t space,
                 tesela_report_peak *peak) {
  bool found = tesela_report_highest_peak(ask->report, source, space, peak), all = true, exact;
  int64_t most = 0;
  if (source == TESELA_REPORT_HLO) return found;
  if (!found) *peak = (tesela_report_peak){.section = -1, .space = space, .at = -1, .instruction = ""};
  for (int64_t i = 0; i < tesela_report_n_sections(ask->report); i++) {
    const tesela_report_section *section = tesela_report_section_at(ask->report, i);
    if (section->source != source || space != (strcmp(section->name, "vmem") == 0)) continue;
    int64_t total = exact_total(section, &exact);
    all = all && exact;
    if (total > most) most = total;
  }
  if (most == 0) return found;
  if (most > peak->least_bytes) peak->least_bytes = most;
  if (all)
    peak->most_bytes = peak->least_bytes;
  else if (!found)
    peak->most_bytes = INT64_MAX;
  if (peak->most_bytes < peak->least_bytes) peak->most_bytes = INT64_MAX;
  return true;
}

static void check_peak(const report_ask *ask, report_limit *limit) {
  tesela_report_peak peak;
  limit->is_peak = true;
  limit->why = REPORT_LIMIT_UNREADABLE;
  if (!report_peak(ask, limit->source, report_peak_space(ask), &peak)) return;
  limit->least_bytes = peak.least_bytes;
  limit->most_bytes = peak.most_bytes;
  limit->holds = peak.most_bytes <= ask->max_peak;
  limit->known = limit->holds || peak.least_bytes > ask->max_peak;
  limit->why = limit->known ? REPORT_LIMIT_STORED : REPORT_LIMIT_UNCERTAIN;
}

/* The first note that arrays are missing or have wrong figures: then "within the limit" is not certain. */
static const tesela_report_note *what_is_missing(const report_ask *ask) {
  for (int64_t i = 0; i < tesela_report_n_notes(ask->report); i++) {
    const tesela_report_note *note = tesela_report_note_at(ask->report, i);
    if (note->kind == TESELA_REPORT_MIXED || note->kind == TESELA_REPORT_BROKEN ||
        note->kind == TESELA_REPORT_CUT_MODULE || note->kind == TESELA_REPORT_NO_ENTRY ||
        note->kind == TESELA_REPORT_NO_LAYOUTS)
      return note;
  }
  return NULL;
}

int report_limits(const report_ask *ask, report_limit limit[REPORT_LIMITS],
                  const tesela_report_note **missing) {
  int n = 0;
  *missing = what_is_missing(ask);
  for (int i = 0; i < TESELA_REPORT_N_SOURCES; i++) {
    const report_limit fresh = {.source = (tesela_report_source)i};
    tesela_report_filter filter = report_filter(ask, fresh.source);
    tesela_report_totals totals = tesela_report_total(ask->report, &filter);
    if (report_n_sections(ask, fresh.source) == 0) continue;
    if (ask->max_waste >= 0) {
      limit[n] = fresh;
      limit[n].is_waste = true;
      check_waste(ask, &totals, &limit[n++]);
    }
    if (ask->max_bytes >= 0) {
      limit[n] = fresh;
      check_bytes(ask, &totals, &limit[n++]);
    }
    if (ask->max_peak >= 0) {
      limit[n] = fresh;
      check_peak(ask, &limit[n++]);
    }
  }
  for (int i = 0; i < n && *missing; i++) {
    const bool padding_alone = (*missing)->kind == TESELA_REPORT_NO_LAYOUTS;
    if (!limit[i].known || !limit[i].holds || (padding_alone && !limit[i].is_waste)) continue;
    limit[i].known = false;
    limit[i].why = REPORT_LIMIT_MISSING;
  }
  return n;
}
