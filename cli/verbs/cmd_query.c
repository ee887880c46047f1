/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_query.c - the verb query: JSON requests from standard input, one per line, each answered with one line.
 *
 * A request that fails is answered too, and the next one follows; the exit status is still 0. Blank lines are ignored. Each answer
 * is written before the verb waits for the next request.
 */
#include <errno.h>
#include <string.h>

#include "main/device.h"
#include "main/lines.h"
#include "main/options.h"
#include "main/process.h"
#include "main/say.h"
#include "main/json.h"
#include "verbs/tensor_signals.h"

static bool is_blank(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (!strchr(" \t\r", text[i]) || text[i] == '\0') return false;
  return true;
}

static void print_answer(tesela_json_out *out) {
  if (out->sink.stopped) { /* if the answer did not fit in memory; this text is static */
    tesela_json_out_free(out);
    fputs("{\"id\":null,\"ok\":false,\"error\":{\"code\":\"MEMORY\",\"message\":\"no memory for the "
          "response\"}}\n",
          stdout);
    return;
  }
  json_line(out, stdout);
}

enum { QUERY_PLANS = 64 /* kept from request to request */ };

#define QUERY_LINE_LIMIT ((size_t)16 << 20) /* bytes of a request */

int cmd_query(const cli_context *cli) {
  tesela_json_out out = TESELA_JSON_OUT;
  const char *text;
  size_t length;
  int status = CLI_YES;
  tesela_target own;
  tesela_request how = {.files = cli_value(cli, "files"), .unfinished = tensor_unfinished};
  if (!device_target(cli, &own, &how.target, &status)) return status;
  status = CLI_YES;
  if (how.files) {
    tensor_catch_shrinking();
    tensor_catch_stops();
  }
  (void)tesela_plan_cache_create(&how.plans, QUERY_PLANS, NULL, NULL); /* without memory: no plans are kept */
  line_reader lines = lines_begin(PROCESS_STDIN, QUERY_LINE_LIMIT);
  while (!ferror(stdout)) {
    line_result got = lines_next(&lines, &text, &length);
    if (got == LINE_END) break;
    if (got == LINE_FAILED) {
      status = errno == ENOMEM ? CLI_FAILED : CLI_BAD;
      say_error(cli, "standard input: %s", strerror(errno));
      break;
    }
    if (got == LINE_READ && is_blank(text, length)) continue;
    if (got == LINE_READ)
      tesela_json_answer(text, length, &how, &out);
    else
      tesela_json_refuse(TESELA_E_LIMIT, "the line is longer than 16 MiB; the rest of it is ignored", &out);
    print_answer(&out);
  }
  tesela_json_out_free(&out);
  lines_end(&lines);
  tesela_plan_cache_destroy(how.plans);
  return status;
}
