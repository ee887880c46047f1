/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_file_copy.h - from mapped file to mapped file: plan, run, progress on a terminal.
 */
#ifndef TESELA_CLI_TENSOR_FILE_COPY_H
#define TESELA_CLI_TENSOR_FILE_COPY_H

#include <tesela/relayout.h>

#include "tensor_file.h"
#include "tensor_file_bound.h"

/* Copies of one run of the command. With --memory each copy goes in small chunks, and `bound` looks after each. */
typedef struct tensor_copies {
  const cli_context *cli;
  tesela_plan_options options; /* `fill_value` belongs to one type: it is set for each copy */
  const char *fill;            /* what --fill says; NULL: nothing */
  int64_t bytes_total;         /* of the output, to be set before the first copy */
  int64_t bytes_before;        /* of it that earlier copies wrote */
  int64_t bytes_now;           /* that the copy which runs writes */
  int64_t start_ns, shown_ns;  /* of the first copy, of the last line on the terminal; 0: not yet */
  bool shown;
  tensor_bound *bound; /* NULL: none */
} tensor_copies;

/* Read --threads, --memory and --isa; `fill` is what --fill says, NULL: zero. Returns an exit status after saying what is wrong. */
int tensor_copies_begin(const cli_context *cli, const char *fill, tensor_copies *copies);

/* Copy one tensor; `dst` is place 0 of `to`. `line`, if not NULL, receives the plan as one line, cut to fit. */
#define TENSOR_PLAN_TEXT 256
int tensor_copy(tensor_copies *copies, const tesela_layout *to, uint8_t *dst, const tensor *from,
                char line[TENSOR_PLAN_TEXT]);
/* Copy bytes. */
int tensor_copy_bytes(tensor_copies *copies, uint8_t *dst, const uint8_t *src, int64_t bytes);

/* Take the progress off the terminal. */
void tensor_copies_end(tensor_copies *copies);

#endif
