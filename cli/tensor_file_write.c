/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_file_write.c - write tensors of one file in other layouts into another: options, progress on a terminal, and what was
 * done.
 */
#define _POSIX_C_SOURCE 200809L

#include "tensor_file_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tesela/report.h>
#include <time.h>

#include "main/json.h"
#include "main/say.h"
#include "tensor_signals.h"
#include "verbs/problem.h"

enum { RECORD_TEXT = 4096, MAX_THREADS = 1024 };
#define SECOND INT64_C(1000000000)

/* One tensor as the library takes it; NULL and zeros for one that stays as it is. */
typedef struct prepared {
  tesela_layout from, to;
  char *from_text, *to_text;
} prepared;

typedef struct writing {
  const tensor_job *job;
  tesela_file_write_options options;
  prepared *made; /* job->n of each */
  tesela_file_item *item;
  tesela_file_written *written;
  int64_t bytes;
  int64_t start_ns, shown_ns; /* of the first progress, of the last line on the terminal; 0: not yet */
  bool shown;
  tesela_json_out answer;
} writing;

/* Does the path mean standard output? */
static bool is_standard(const char *path) {
  static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(path, names[i]) == 0) return true;
  return false;
}

/* ---- options --------------------------------------------------------------------------------------------- */

static tesela_isa find_isa(const char *name) {
#define TESELA__ROW(symbol, value, text) \
  if (strcmp(name, text) == 0) return symbol;
  TESELA_ISA_MAP(TESELA__ROW)
#undef TESELA__ROW
  return TESELA_ISA_BEST;
}

/* --threads, --memory, --isa and the transform. */
static int read_options(writing *w) {
  const cli_context *cli = w->job->cli;
  tesela_plan_options *plan = &w->options.plan;
  const char *memory = cli_value(cli, "memory"), *isa = cli_value(cli, "isa");
  int64_t threads;
  tesela_error err;
  if (!cli_integer(cli, "threads", 1, MAX_THREADS, 0, &threads)) return CLI_BAD;
  plan->threads = (int32_t)threads;
  plan->transform = w->job->transform;
  if (memory && tesela_units_parse(memory, strlen(memory), &plan->memory_bytes, NULL, &err) != TESELA_OK)
    return say_usage(cli, "--memory: %s", err.message);
  if (memory && plan->memory_bytes < 1 << 20)
    return say_usage(cli, "--memory is %" PRId64 " bytes; it takes 1MiB or more", plan->memory_bytes);
  if (isa) plan->isa = find_isa(isa);
  if (!tesela_isa_available(plan->isa))
    return say_usage(cli, "--isa is %s, which this machine does not have", isa);
  return CLI_YES;
}

/* ---- progress -------------------------------------------------------------------------------------------- */

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * SECOND + now.tv_nsec;
}

static int show_progress(void *user, int64_t done, int64_t bytes_total) {
  writing *w = user;
  int64_t now = now_ns(), total = bytes_total > 0 ? bytes_total : 1;
  char texts[3][TESELA_UNITS_TEXT];
  if (w->start_ns == 0) w->start_ns = now;
  int64_t elapsed = now - w->start_ns;
  if (elapsed < SECOND || now - w->shown_ns < SECOND / 5) return 0;
  tesela_units_print(done, TESELA_UNITS_IEC, texts[0]);
  tesela_units_print(total, TESELA_UNITS_IEC, texts[1]);
  tesela_units_print((int64_t)((double)done / (double)elapsed * (double)SECOND), TESELA_UNITS_IEC, texts[2]);
  fprintf(stderr, "\r%3.0f%%  %s of %s, %s/s \033[K", 100.0 * (double)done / (double)total, texts[0],
          texts[1], texts[2]);
  fflush(stderr);
  w->shown_ns = now;
  w->shown = true;
  return 0;
}

/* ---- tensors --------------------------------------------------------------------------------------------- */

static int no_memory(const tensor_job *job) {
  say_error(job->cli, "no memory");
  return CLI_FAILED;
}

static char *text_of(const tesela_xla_shape *shape) {
  char text[RECORD_TEXT];
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  if (tesela_xla_print(shape, true, &to, NULL) != TESELA_OK || buffer.length >= sizeof text) return NULL;
  return strdup(text);
}

/* NumPy reads bytes where it has no such type. */
static void note_type(const tensor_job *job, tesela_dtype dtype) {
  char type[16];
  if (job->format == TESELA_FILE_NPY && tesela_file_type(TESELA_FILE_NPY, dtype, type) && strchr(type, 'V'))
    say_note(job->cli, "NumPy has no %s; it will read elements of type %s", tesela_dtype_name(dtype), type);
}

static int prepare(writing *w, int64_t i) {
  const tensor_job *job = w->job;
  const tensor_item *item = &job->item[i];
  prepared *made = &w->made[i];
  tesela_plan_options fill;
  tesela_error err;
  tensor from;
  w->item[i] = (tesela_file_item){.name = item->name, .tensor = item->entry};
  if (item->as_is) return CLI_YES;
  int status = tensor_file_read(job->cli, job->in, item->entry, &job->says, &from);
  if (status != CLI_YES) return status;
  if (tesela_xla_to_layout(&item->to, &made->to, &err) != TESELA_OK) return say_failure(job->cli, &err);
  made->from = from.layout;
  made->from_text = text_of(&from.shape);
  made->to_text = text_of(&item->to);
  if (!made->from_text || !made->to_text) return no_memory(job);
  if (!problem_say_fill(job->cli, &made->to, &fill)) return CLI_BAD;
  w->options.plan.fill = fill.fill;
  memcpy(w->item[i].fill_value, fill.fill_value, sizeof fill.fill_value);
  w->item[i].from = &made->from;
  w->item[i].to = &made->to;
  w->item[i].layout = made->to_text;
  note_type(job, item->to.dtype);
  return CLI_YES;
}

/* ---- say ------------------------------------------------------------------------------------------------- */

static void put_answer(tesela_sink *j, const writing *w) {
  static const char *const formats[] = {"raw", "npy", "safetensors"};
  const tensor_job *job = w->job;
  tesela_put_object(j);
  tesela_put_key_text(j, "output", job->path);
  tesela_put_key_text(j, "format", formats[job->format]);
  tesela_put_key_int(j, "bytes", w->bytes);
  tesela_put_key(j, "tensors");
  tesela_put_list(j);
  for (int64_t i = 0; i < job->n; i++) {
    const tesela_file_written *out = &w->written[i];
    if (job->item[i].as_is) continue;
    tesela_put_object(j);
    if (job->format == TESELA_FILE_SAFETENSORS) tesela_put_key_text(j, "name", job->item[i].name);
    tesela_put_key_text(j, "from", w->made[i].from_text);
    tesela_put_key_text(j, "to", w->made[i].to_text);
    tesela_put_key_int(j, "offset", out->offset);
    tesela_put_key_int(j, "bytes", out->bytes);
    tesela_put_key_text(j, "plan", out->plan);
    tesela_put_end(j);
  }
  tesela_put_end(j);
  tesela_put_end(j);
}

/* The answer is put together before the file is there: without memory there is neither. */
static int make_answer(void *user) {
  writing *w = user;
  put_answer(&w->answer.sink, w);
  return w->answer.sink.stopped;
}

/* ---- all of it ------------------------------------------------------------------------------------------- */

static int write_file(writing *w) {
  const tensor_job *job = w->job;
  tesela_error err;
  tensor_catch_stops();
  tesela_status status =
      tesela_file_write(job->path, job->format, job->n, w->item, &w->options, w->written, &w->bytes, &err);
  if (w->shown) fputs("\r\033[K", stderr);
  if (w->answer.sink.stopped) return no_memory(job);
  if (status == TESELA_E_STOPPED) cli_lose_reader();
  if (status == TESELA_OK || status == TESELA_E_STOPPED) return CLI_YES;
  return say_file(job->cli, is_standard(job->path) ? "standard output" : job->path, &err);
}

int tensor_write(const tensor_job *job) {
  writing w = {.job = job,
               .answer = TESELA_JSON_OUT,
               .options = {.source = job->in->file, .unfinished = tensor_unfinished}};
  size_t n = (size_t)job->n + 1;
  if (job->cli->json && is_standard(job->path))
    return say_usage(job->cli, "standard output takes the data or JSON, not both");
  if (job->cli->err.terminal) w.options.progress = show_progress;
  if (job->cli->json) w.options.ready = make_answer;
  w.options.progress_user = w.options.ready_user = &w;
  int status = read_options(&w);
  if (status != CLI_YES) return status;
  w.made = calloc(n, sizeof *w.made);
  w.item = calloc(n, sizeof *w.item);
  w.written = calloc(n, sizeof *w.written);
  if (!w.made || !w.item || !w.written) status = no_memory(job);
  for (int64_t i = 0; i < job->n && status == CLI_YES; i++) status = prepare(&w, i);
  if (status == CLI_YES) status = write_file(&w);
  if (status == CLI_YES && job->cli->json && !json_line(&w.answer, stdout) && !ferror(stdout))
    status = CLI_FAILED;
  tesela_json_out_free(&w.answer);
  for (int64_t i = 0; i < job->n && w.made; i++) {
    free(w.made[i].from_text);
    free(w.made[i].to_text);
  }
  free(w.made);
  free(w.item);
  free(w.written);
  return status;
}
