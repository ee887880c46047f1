/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_verify.c - the verb verify: does a dump of device memory hold a tensor in a device layout?
 */
#include <inttypes.h>
#include <stdio.h>

#include <tesela/device.h>

#include "device.h"
#include "main/input.h"
#include "main/json.h"
#include "main/say.h"
#include "tensor_file.h"
#include "tensor_native.h"
#include "tensor_signals.h"

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

static int verify(const cli_context *cli, const tesela_device_layout *layout, const tensor_file *dump,
                  const tensor_file *host) {
  tensor t;
  char shape[TENSOR_HOST_TEXT];
  tesela_target own;
  tesela_error err;
  tesela_misplaced misplaced;
  int status;
  tensor_says says = {.layout = cli_value(cli, "from"), .name = cli_value(cli, "tensor"), .option = "from"};
  if (!says.layout && host->info.format == TESELA_FILE_RAW)
    says.layout = tensor_host_text(&layout->host, shape);
  tensor_reading r = tensor_said(cli, &own, &err, &status);
  if (status != CLI_YES) return status;
  tesela_status done = tensor_read(&r, host, NULL, &says, &t);
  if (done == TESELA_OK) done = tensor_verify(&r, layout, dump, &t, &misplaced);
  status = tensor_say(cli, &r, says.layout, done);
  if (status != CLI_YES) return status;
  verify_print(layout, &misplaced);
  return misplaced.same ? CLI_YES : CLI_NO;
}

static int answer(const cli_context *cli) {
  tesela_value field[TESELA_OP_FIELDS] = {tesela_value_of_text("layout", cli->arg[0]),
                                          tesela_value_of_text("dump", cli->arg[1]),
                                          tesela_value_of_text("file", cli->arg[2])};
  size_t n = 3;
  tensor_catch_shrinking();
  return json_fields(cli, "verify", field, &n) ? json_verb(cli, n, field, "same") : CLI_BAD;
}

int cmd_verify(const cli_context *cli) {
  tesela_target own;
  const tesela_target *target;
  tesela_device_layout layout;
  tensor_file *dump = NULL, *host = NULL;
  int status;
  if (!device_read(cli, cli->arg[0], &own, &target, &layout, &status)) return status;
  if (cli->json) return answer(cli);
  status = tensor_file_open(cli, cli->arg[1], &dump);
  if (status == CLI_YES) status = tensor_file_open(cli, cli->arg[2], &host);
  if (status == CLI_YES) status = verify(cli, &layout, dump, host);
  tensor_file_close(dump);
  tensor_file_close(host);
  return status;
}
