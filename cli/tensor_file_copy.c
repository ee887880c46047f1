/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_file_copy.c - from mapped file to mapped file.
 */
#include "tensor_file_copy.h"

#include <inttypes.h>
#include <string.h>
#include <tesela/report.h>
#include <time.h>

#include "main/say.h"
#include "verbs/problem.h"

enum { MAX_THREADS = 1024 };
#define SECOND INT64_C(1000000000)

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * SECOND + now.tv_nsec;
}

/* ---- options ------------------------------------------------------------------------------------------- */

static tesela_isa find_isa(const char *name) {
#define TESELA__ROW(symbol, value, text) \
  if (strcmp(name, text) == 0) return symbol;
  TESELA_ISA_MAP(TESELA__ROW)
#undef TESELA__ROW
  return TESELA_ISA_BEST;
}

int tensor_copies_begin(const cli_context *cli, const char *fill, tensor_copies *copies) {
  const char *memory = cli_value(cli, "memory"), *isa = cli_value(cli, "isa");
  int64_t threads;
  tesela_error err;
  *copies = (tensor_copies){.cli = cli, .fill = fill};
  if (!cli_integer(cli, "threads", 1, MAX_THREADS, 0, &threads)) return CLI_BAD;
  copies->options.threads = (int32_t)threads;
  if (memory &&
      tesela_units_parse(memory, strlen(memory), &copies->options.memory_bytes, NULL, &err) != TESELA_OK)
    return say_usage(cli, "--memory: %s", err.message);
  if (memory && copies->options.memory_bytes < 1 << 20)
    return say_usage(cli, "--memory is %" PRId64 " bytes; it takes 1MiB or more",
                     copies->options.memory_bytes);
  if (isa) copies->options.isa = find_isa(isa);
  if (!tesela_isa_available(copies->options.isa))
    return say_usage(cli, "--isa is %s, which this machine does not have", isa);
  return CLI_YES;
}

/* ---- progress ------------------------------------------------------------------------------------------ */

static void show(tensor_copies *copies, int64_t done) {
  int64_t now = now_ns(), elapsed = now - copies->start_ns;
  char texts[3][TESELA_UNITS_TEXT];
  if (!copies->cli->err.terminal || elapsed < SECOND || now - copies->shown_ns < SECOND / 5) return;
  int64_t total = copies->bytes_total > 0 ? copies->bytes_total : 1;
  tesela_units_print(done, TESELA_UNITS_IEC, texts[0]);
  tesela_units_print(total, TESELA_UNITS_IEC, texts[1]);
  tesela_units_print((int64_t)((double)done / (double)elapsed * (double)SECOND), TESELA_UNITS_IEC, texts[2]);
  fprintf(stderr, "\r%3.0f%%  %s of %s, %s/s \033[K", 100.0 * (double)done / (double)total, texts[0],
          texts[1], texts[2]);
  fflush(stderr);
  copies->shown_ns = now;
  copies->shown = true;
}

static int on_progress(void *user, int64_t bytes_done, int64_t bytes_total) {
  tensor_copies *copies = user;
  double part = bytes_total > 0 ? (double)bytes_done / (double)bytes_total : 0;
  show(copies, copies->bytes_before + (int64_t)(part * (double)copies->bytes_now));
  return 0;
}

void tensor_copies_end(tensor_copies *copies) {
  if (copies->shown) fputs("\r\033[K", stderr);
  copies->shown = false;
}

/* ---- copy ---------------------------------------------------------------------------------------------- */

static int run(tensor_copies *copies, const tesela_plan *plan, uint8_t *dst, const uint8_t *src) {
  tesela_executor executor = {tensor_bound_run, copies->bound};
  tesela_run_options options = {.progress = on_progress, .progress_user = copies};
  if (copies->bound) options.executor = &executor;
  tesela_plan_info info;
  tesela_error err;
  tesela_plan_describe(plan, &info);
  copies->bytes_now = info.dst_bytes;
  if (copies->start_ns == 0) copies->start_ns = now_ns();
  if (tesela_plan_run(plan, dst, src, &options, &err) != TESELA_OK) {
    tensor_copies_end(copies);
    return say_failure(copies->cli, &err);
  }
  copies->bytes_before += info.dst_bytes;
  return CLI_YES;
}

/* With a bound the plan is made again for as many chunks as there can be; as many threads as before take them. */
static int plan_and_run(tensor_copies *copies, const tesela_layout *to, uint8_t *dst,
                        const tesela_layout *from, const uint8_t *src, tesela_plan_options *options,
                        char line[TENSOR_PLAN_TEXT]) {
  tesela_plan *plan;
  tesela_plan_info info;
  tesela_error err;
  if (tesela_plan_create(&plan, to, from, options, &err) != TESELA_OK) return say_failure(copies->cli, &err);
  if (line) {
    tesela_buffer buffer = {line, TENSOR_PLAN_TEXT, 0};
    tesela_writer writer = tesela_buffer_writer(&buffer);
    tesela_plan_print(plan, &writer, NULL);
  }
  tesela_plan_describe(plan, &info);
  if (copies->bound) {
    tesela_plan_destroy(plan);
    copies->bound->threads = info.threads;
    options->threads = MAX_THREADS;
    if (tesela_plan_create(&plan, to, from, options, &err) != TESELA_OK)
      return say_failure(copies->cli, &err);
  }
  int status = run(copies, plan, dst, src);
  tesela_plan_destroy(plan);
  return status;
}

int tensor_copy(tensor_copies *copies, const tesela_layout *to, uint8_t *dst, const tensor *from,
                char line[TENSOR_PLAN_TEXT]) {
  tesela_plan_options options = copies->options;
  if (from->swapped && options.transform != TESELA_TRANSFORM_NONE)
    return say_usage(copies->cli,
                     "the file's numbers are in the other order of bytes and are swapped on the way; "
                     "a second --transform needs a second pass");
  if (!problem_fill(copies->cli, copies->fill, to, &options)) return CLI_BAD;
  if (from->swapped) options.transform = TESELA_TRANSFORM_SWAP;
  return plan_and_run(copies, to, dst, &from->layout, from->data, &options, line);
}

int tensor_copy_bytes(tensor_copies *copies, uint8_t *dst, const uint8_t *src, int64_t bytes) {
  tesela_layout layout;
  tesela_plan_options options = copies->options;
  tesela_error err;
  if (bytes == 0) return CLI_YES;
  options.transform = TESELA_TRANSFORM_NONE;
  if (tesela_layout_strided(&layout, TESELA_U8, 8, 1, &bytes, NULL, 0, &err) != TESELA_OK)
    return say_failure(copies->cli, &err);
  return plan_and_run(copies, &layout, dst, &layout, src, &options, NULL);
}
