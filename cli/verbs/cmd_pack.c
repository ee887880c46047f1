/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_pack.c - the verb pack: tensors in the layouts of a device, with those layouts recorded in the file.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include <tesela/report.h>

#include "main/say.h"
#include "verbs/tensor_verb.h"

enum { N_TENSORS, N_PACKED, N_RESUMED, N_BYTES };

/* "12 of 16 tensors packed, 1.84 GiB in 5.8 s". */
static void tell(const cli_context *cli, const json_request *ask, double seconds) {
  const bool dry = cli_has(cli, "dry-run"), verify = cli_has(cli, "verify");
  const int64_t resumed = ask->number[N_RESUMED].value;
  char bytes[TESELA_UNITS_TEXT];
  cli_flush();
  fprintf(stderr, "%" PRId64 " of %" PRId64 " tensors ", ask->number[N_PACKED].value,
          ask->number[N_TENSORS].value);
  fputs(dry && verify ? (ask->flag ? "verified" : "compared; the output differs")
        : dry         ? "would be packed"
        : verify      ? "packed and verified"
                      : "packed",
        stderr);
  if (resumed > 0) fprintf(stderr, " (%" PRId64 " tensors by an earlier run)", resumed);
  tesela_units_print(ask->number[N_BYTES].value, TESELA_UNITS_IEC, bytes);
  fprintf(stderr, ", %s", bytes);
  if (!dry || verify) fprintf(stderr, " in %.1f s", seconds);
  fputc('\n', stderr);
}

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int cmd_pack(const cli_context *cli) {
  const size_t n = (size_t)cli->n_args - 1;
  const double start = now();
  json_request ask = {
      .member = "verified",
      .number = {{.name = "n_tensors"}, {.name = "n_packed"}, {.name = "n_resumed"}, {.name = "bytes"}}};
  tesela_value *rule = calloc(n + 1, sizeof *rule), rules = tesela_value_of_list("rules", n, rule);
  if (!rule) {
    say_error(cli, "no memory");
    return CLI_FAILED;
  }
  for (size_t i = 0; i < n; i++) rule[i] = tesela_value_of_text(NULL, cli->arg[i + 1]);
  int status = tensor_verb(cli, 1, &rules, &ask);
  free(rule);
  if (status != CLI_YES) return status;
  if (!cli->json) tell(cli, &ask, now() - start);
  return cli_has(cli, "verify") && !ask.flag ? CLI_NO : CLI_YES;
}
