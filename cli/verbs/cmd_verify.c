/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_verify.c - the verb verify: does a dump of device memory hold a tensor in a device layout?
 */
#include <inttypes.h>
#include <stdio.h>

#include <tesela/device.h>

#include "main/device.h"
#include "main/input.h"
#include "main/json.h"
#include "main/say.h"
#include "tensor_native.h"
#include "verbs/tensor_signals.h"

static void verify_value(const char *name, const tesela_device_layout *layout, const uint8_t *value) {
  char bits[TESELA_ELEMENT_TEXT], number[TESELA_ELEMENT_TEXT];
  tesela_element_print(value, layout->host.device_dtype, layout->host.device_bits, number);
  printf("  %-8s %s%s%s\n", name, tesela_element_bits(value, layout->host.device_bits, bits),
         *number ? "  " : "", number);
}

static void verify_print(const tesela_device_layout *layout, const tesela_misplaced *m) {
  int32_t rank = layout->host.rank;
  if (m->same) {
    puts("same");
    return;
  }
  fputs("differ: first at [", stdout);
  if (rank > 0) input_print_index(rank, m->index);
  printf("], place %" PRId64 " (byte %" PRId64 "); %" PRId64 " element%s\n", m->place,
         m->place * (layout->host.device_bits / 8), m->n_different, m->n_different == 1 ? "" : "s");
  verify_value("expected", layout, m->expected);
  verify_value("found", layout, m->found);
  if (!m->have_source) {
    puts("  no element has that value");
    return;
  }
  fputs("  the value of element [", stdout);
  if (rank > 0) input_print_index(rank, m->source);
  puts("]");
}

static int verify(const cli_context *cli, const tesela_device_layout *layout, json_request *ask) {
  tensor_file dump = {.file = NULL}, host = {.file = NULL};
  tesela_misplaced misplaced;
  tensor_reading r = tensor_request_reading(&ask->r);
  tesela_status done = tensor_request_open(&ask->r, "dump", &dump);
  if (done == TESELA_OK) done = tensor_request_open(&ask->r, "file", &host);
  if (done == TESELA_OK)
    done = tensor_request_failed(&ask->r, &r, tensor_verify(&r, layout, &dump, &host, &misplaced));
  tensor_request_close(&dump);
  tensor_request_close(&host);
  if (done != TESELA_OK) return json_say(cli, ask, done);
  verify_print(layout, &misplaced);
  return misplaced.same ? CLI_YES : CLI_NO;
}

int cmd_verify(const cli_context *cli) {
  tesela_target own;
  const tesela_target *target;
  tesela_device_layout layout;
  tesela_value field[JSON_FIELDS] = {tesela_value_of_text("layout", cli->arg[0]),
                                     tesela_value_of_text("dump", cli->arg[1]),
                                     tesela_value_of_text("file", cli->arg[2])};
  size_t n = 3;
  int status;
  if (!input_device(cli, cli->arg[0], &own, &target, &layout, &status)) return status;
  if (!json_fields(cli, "verify", field, &n)) return CLI_BAD;
  tensor_catch_shrinking();
  if (cli->json) return json_verb(cli, n, field, "same");
  json_request ask = {.member = NULL};
  status = json_begin(cli, n, field, &ask);
  if (status == CLI_YES) status = verify(cli, &layout, &ask);
  tesela_request_free(&ask.r);
  return status;
}
