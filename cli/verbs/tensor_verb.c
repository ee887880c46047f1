/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_verb.c - see tensor_verb.h. */
#include "verbs/tensor_verb.h"

#include <inttypes.h>
#include <string.h>
#include <tesela/report.h>

#include "main/say.h"
#include "system.h"
#include "verbs/tensor_signals.h"

#define SECOND INT64_C(1000000000)

/* Does the path mean standard output? */
static bool is_standard(const char *path) {
  static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(path, names[i]) == 0) return true;
  return false;
}

/* ---- progress -------------------------------------------------------------------------------------------- */

typedef struct writing {
  int64_t start_ns, shown_ns; /* time of the first progress, of the last line printed; 0: not yet */
} writing;

/* "3 min 20 s". */
static const char *duration(double seconds, char text[32]) {
  const int64_t s = seconds < 1e9 ? (int64_t)seconds + 1 : 1000000000;
  if (s < 60)
    snprintf(text, 32, "%d s", (int)s);
  else if (s < 3600)
    snprintf(text, 32, "%d min %d s", (int)(s / 60), (int)(s % 60));
  else
    snprintf(text, 32, "%" PRId64 " h %d min", s / 3600, (int)(s / 60 % 60));
  return text;
}

static int show_progress(void *user, int64_t done, int64_t bytes_total) {
  writing *w = user;
  int64_t now = system_clock_ns(), total = bytes_total > 0 ? bytes_total : 1;
  char texts[3][TESELA_UNITS_TEXT], left[32];
  if (w->start_ns == 0) w->start_ns = now;
  int64_t elapsed = now - w->start_ns;
  if (elapsed < SECOND || now - w->shown_ns < SECOND / 5) return 0;
  const double per_second = (double)done / (double)elapsed * (double)SECOND;
  tesela_units_print(done, TESELA_UNITS_IEC, texts[0]);
  tesela_units_print(total, TESELA_UNITS_IEC, texts[1]);
  tesela_units_print((int64_t)per_second, TESELA_UNITS_IEC, texts[2]);
  fprintf(stderr, "\r%3.0f%%  %s of %s, %s/s", 100.0 * (double)done / (double)total, texts[0], texts[1],
          texts[2]);
  if (done > 0) fprintf(stderr, ", %s left", duration((double)(total - done) / per_second, left));
  fputs(" \033[K", stderr);
  fflush(stderr);
  w->shown_ns = now;
  return 0;
}

/* ---- the request ------------------------------------------------------------------------------------------ */

int tensor_verb(const cli_context *cli, size_t n, const tesela_value *field, json_request *ask) {
  const char *path = cli_value(cli, "output") ? cli_value(cli, "output") : "-";
  tesela_value all[JSON_FIELDS + 4] = {tesela_value_of_text("op", cli->verb->name),
                                       tesela_value_of_text("file", cli->arg[0]),
                                       tesela_value_of_text("output", path)};
  size_t n_all = 3 + n;
  writing w = {.start_ns = 0};
  json_request own = {.member = NULL};
  if (!ask) ask = &own;
  ask->r = (tesela_request){.unfinished = tensor_unfinished, .progress_user = &w};
  if (cli->json && is_standard(path))
    return say_usage(cli, "standard output can receive the data or JSON, not both; give --output=FILE");
  if (n > 0) memcpy(all + 3, field, n * sizeof *field);
  if (!json_fields(cli, cli->verb->name, all, &n_all)) return CLI_BAD;
  if (cli->err.terminal) ask->r.progress = show_progress;
  tensor_catch_shrinking();
  tensor_catch_stops();
  int status = json_ask(cli, n_all, all, ask);
  if (w.shown_ns) fputs("\r\033[K", stderr);
  return status == CLI_YES ? json_tell(cli, ask) : status;
}
