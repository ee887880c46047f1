/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_facts.h - the facts about one XLA array, and sentences about them: for the words of show and for the op info.
 *
 *   show_facts.c    the facts, sentences
 *   show_levels.c   what one tile level does, in a sentence
 *   show_json.c     the same facts as members of an answer
 */
#ifndef TESELA_OPS_SHOW_FACTS_H
#define TESELA_OPS_SHOW_FACTS_H

#include <tesela/ops.h>
#include <tesela/xla.h>

/* A piece of text, cut to what fits. */
#define SHOW_TEXT 600
typedef struct show_text {
  char text[SHOW_TEXT];
  size_t length;
} show_text;
void show_add(show_text *to, const char *format, ...) TESELA_PRINTF(2, 3);
void show_add_dims(show_text *to, int32_t n, const int32_t *dims); /* "dim 1", "dims 2*0" */
/* The same for bits of dims, as they are joined: the most major of the layout first. */
void show_add_joined(show_text *to, const tesela_xla_layout *layout, uint32_t dims);
void show_add_bytes(show_text *to, int64_t bytes); /* "96 B", "24.00 KiB (24576 B)" */
void show_add_width(show_text *to, int64_t bits);  /* "4 bytes", "1 byte", "4 bits" */
/* "24.00 KiB (24576 B) of data take 32.00 KiB (32768 B): 1.33 times", or the data alone if nothing is added. */
void show_add_size(show_text *to, int64_t data_bytes, int64_t bytes);

/* How much of `whole` is not `part`: "22%", never 0 or 100 by rounding. */
void show_add_percent(show_text *to, double part, double whole);
#define SHOW_MAX_PADS 96

/* All facts about one array, computed once. */
typedef struct show_facts {
  const tesela_xla_shape *shape;
  tesela_xla_sizes sizes;
  int32_t n_pads;
  tesela_xla_pad pad[SHOW_MAX_PADS];
  int32_t n_bounds; /* of memory, row-major */
  int64_t bound[TESELA_MAX_DIGITS];
} show_facts;

/* TESELA_E_UNSUPPORTED for what has no size: token, opaque, `?`. */
tesela_status show_facts_of(const tesela_xla_shape *shape, show_facts *facts, tesela_error *err);

/* What tile level `level` does, a sentence without its full stop. */
void show_level(const tesela_xla_shape *shape, int32_t level, show_text *out);
/* What one cause of padding costs: "dim 1: 200 of 256 used (22% padding)". */
void show_pad(const tesela_xla_layout *layout, const tesela_xla_pad *pad, show_text *out);
void show_order(const tesela_xla_shape *shape, show_text *out);
/* One line: how much is padding and what causes most of it. */
void show_verdict(const show_facts *facts, show_text *out);

/* The dims that are dynamic and have a bound. */
uint32_t show_bounded(const tesela_xla_shape *shape);
/* Why there is no size. */
void show_no_size(const tesela_xla_shape *shape, show_text *out);

/* Into the object that is open: all facts or, with `more`, those that the op info has beside sizes and padding. */
void show_json(tesela_sink *j, const show_facts *facts, bool more);
/* The same for what has no size: null for each fact that is missing. */
void show_json_no_size(tesela_sink *j, const tesela_xla_shape *shape);

#endif
