/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_report.h - reports of texts, for the unit tests of tesela_report.
 */
#ifndef UNIT_SUPPORT_REPORT_H
#define UNIT_SUPPORT_REPORT_H

#include "support_xla.h"

/* The finished report of a text, fed in chunks of `chunk` bytes (0: in one chunk). */
tesela_report *report_of(const char *text, size_t length, size_t chunk, const tesela_report_options *options);
/* Of a NUL-terminated text. */
tesela_report *report_text(const char *text);

/* All answers of a report as one text to compare; the caller frees it. */
char *report_dump(const tesela_report *report);

/* The first row by waste; fails the test without one. */
const tesela_report_array *first_row(const tesela_report *report);
/* The note of a kind, or NULL. */
const tesela_report_note *note_of(const tesela_report *report, tesela_report_note_kind kind);

/* A text with many kinds of lines: a memory report, HLO text with loops, a log. */
extern const char mixed_text[];

#endif
