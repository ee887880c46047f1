/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_line.c - one whole line to who knows it: HLO text, a memory report, or a text on one line, which becomes its lines first.
 */
#include "report/report_state.h"

/* ---- a text on one line -------------------------------------------------------------------------------- */

/* Quotes that were opened since the first word of HLO text: inside them \n is part of an attribute. */
typedef struct quote_scan {
  const char *at;
  bool started, quoted;
} quote_scan;

static void scan_to(quote_scan *scan, const char *p) {
  while (scan->at < p) {
    char c = *scan->at;
    if (!scan->started)
      scan->started = c == '%' || tesela__looking_at(scan->at, p, "HloModule ") ||
                      tesela__looking_at(scan->at, p, "ENTRY ") || tesela__looking_at(scan->at, p, " = ");
    else if (c == '"')
      scan->quoted = !scan->quoted;
    scan->at += scan->started && c == '\\' ? 2 : 1;
  }
}

/* Do lines of a report stand here as one, with \n between them? `instruction`: it starts with a plain one. */
static bool is_escaped(tesela__span line, bool instruction) {
  const char *end = line.text + line.n;
  quote_scan scan = {.at = line.text, .started = instruction};
  for (const char *p = line.text; p < end && (p = memchr(p, '\\', (size_t)(end - p))) != NULL;) {
    const char *run = p;
    if (!instruction && (tesela__looking_at(p, end, "\\x1b[") || tesela__looking_at(p, end, "\\u001b[")))
      return true;
    while (p < end && *p == '\\') p++;
    if (p == end || *p != 'n') continue;
    for (p++; p < end && (tesela__is_blank(*p) || tesela__looking_at(p, end, "\\t"));)
      p += tesela__is_blank(*p) ? 1 : 2;
    tesela__span text = tesela__from(line, p);
    if (!instruction && tesela__memory_starts_word(text)) return true;
    if (!tesela__hlo_starts(text)) continue;
    scan_to(&scan, run);
    if (!scan.quoted) return true;
  }
  return false;
}

static bool read_escaped(tesela_report *report, tesela__span line, int depth) {
  tesela__bytes *room = &report->unescaped[depth];
  if (!tesela__clean_room(report, room, line.n)) return false;
  for (const char *p = line.text, *end = line.text + line.n; p < end;) {
    tesela__span one = {room->text, tesela__clean_unescape(&p, end, room->text)};
    if (!tesela__read_line(report, one, depth + 1)) return false;
  }
  return true;
}

/* ---- a line -------------------------------------------------------------------------------------------- */

bool tesela__read_line(tesela_report *report, tesela__span line, int depth) {
  tesela__instruction instruction;
  bool is_one = tesela__hlo_plain(line, &instruction);
  if (depth < TESELA__CLEAN_DEPTH && line.n > 0 && memchr(line.text, '\\', line.n) &&
      is_escaped(line, is_one))
    return read_escaped(report, line, depth);
  if (is_one && !tesela__hlo_count(report, &instruction)) return false;
  if (!is_one && !tesela__memory_line(report, line, &is_one)) return false;
  if (!is_one && !tesela__hlo_line(report, line, &is_one)) return false;
  if (is_one) report->owner = report->current;
  return true;
}
