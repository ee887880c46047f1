/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict.h - a program before it is compiled: what its two readers share.
 */
#ifndef TESELA_SRC_PREDICT_PREDICT_H
#define TESELA_SRC_PREDICT_PREDICT_H

#include <tesela/report.h>

#include "xla/xla.h"

/* A part of the text. */
typedef struct tesela__words {
  const char *at, *end;
} tesela__words;

struct tesela_prediction {
  tesela_allocator allocator;
  tesela_prediction_totals totals;
  tesela_predicted *array; /* arguments, then results */
  size_t n, capacity;
  tesela__words text;
  const tesela__tpu *tpu;
  bool final; /* scheduled: shapes are those of one device, and layouts stay */
};

/* ---- parts of a text ---- */

tesela__words tesela__words_skip(tesela__words p);           /* blanks, newlines and comments */
bool tesela__words_take(tesela__words *p, const char *word); /* after blanks; false: *p stays */
tesela__words tesela__words_name(tesela__words *p);          /* letters, digits and . _ - %; may be empty */
bool tesela__words_int(tesela__words *p, int64_t *number);
/* Up to the first of `stops` or of ) ] } > outside of brackets and strings, which is not taken. */
tesela__words tesela__words_until(tesela__words *p, const char *stops);
bool tesela__words_is(tesela__words p, const char *word);
const char *tesela__words_find(tesela__words p, const char *word); /* the first place, or NULL */

/* ---- arrays ---- */

/* Append an array; NULL: no memory, with err. The next one makes the pointer invalid. */
tesela_predicted *tesela__predict_add(tesela_prediction *p, bool result, tesela_error *err);
/* Fail at a byte, naming the array: "argument 3 (%arg3): ...". */
tesela_status tesela__predict_fail(const tesela_prediction *p, const tesela_predicted *array,
                                   tesela_status status, const char *at, const char *why, tesela_error *err);

/* Fail at a byte: "expected a comma". */
tesela_status tesela__predict_expected(const tesela_prediction *p, const char *at, const char *what,
                                       tesela_error *err);

/* Why an array is unknown, as long as another may divide the program over devices. */
extern const char tesela__no_sharding[];

/* Divide a->shape over devices by "{devices=[2,2]<=[4]}" of HLO, or by "#sdy.sharding<@mesh, [{"x"}, {}]>". *devices receives their
 * number. A sharding that is not decided here is a reason, *why. Returns false with it. */
bool tesela__sharding_hlo(tesela__words text, tesela_xla_shape *shape, int64_t *devices, const char **why);
bool tesela__sharding_sdy(tesela__words program, tesela__words text, tesela_xla_shape *shape,
                          int64_t *devices, const char **why);

/* "default", or a layout that `shape` then has; false for others, with *why. */
bool tesela__predict_mode(tesela__words mode, tesela_xla_shape *shape, const char **why);

tesela_status tesela__predict_stablehlo(tesela_prediction *p, tesela_error *err);
tesela_status tesela__predict_hlo(tesela_prediction *p, tesela_error *err);

#endif
