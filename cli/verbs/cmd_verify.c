/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_verify.c - the verb verify: does a dump of device memory hold a tensor in a device layout?
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/notation.h>
#include <tesela/device.h>

#include "main/input.h"
#include "main/json.h"
#include "device.h"
#include "main/say.h"
#include "tensor_file.h"
#include "tile_input.h"

/* The strides of a tensor that has no tiles, from its order of dims. */
static bool verify_strides(const cli_context *cli, const tensor *t, int64_t *strides) {
  int64_t stride = 1;
  if (t->shape.layout.n_tiles > 0 || t->swapped) {
    say_error(cli, "the tensor on the host has %s; verify takes plain ones: relayout makes one",
              t->swapped ? "the other byte order" : "tiles");
    return false;
  }
  for (int32_t k = 0; k < t->shape.rank; k++) {
    int32_t d = t->shape.has_layout ? (int32_t)t->shape.layout.minor_to_major[k] : t->shape.rank - 1 - k;
    strides[d] = stride;
    if (__builtin_mul_overflow(stride, t->shape.dim[d] > 0 ? t->shape.dim[d] : 1, &stride)) stride = 0;
  }
  return true;
}

enum { VERIFY_SHAPE = 800 }; /* a type and 32 extents of 20 bytes */

/* The host tensor as an XLA shape, f16[3,70]; one whose type is not known as unsigned integers of its width. */
static const char *verify_shape_text(const tesela_device_host *host, char text[VERIFY_SHAPE]) {
  size_t used = host->dtype ? (size_t)snprintf(text, VERIFY_SHAPE, "%s[", tesela_dtype_name(host->dtype))
                            : (size_t)snprintf(text, VERIFY_SHAPE, "u%" PRId32 "[", host->bits);
  for (int32_t d = 0; d < host->rank; d++)
    used += (size_t)snprintf(text + used, VERIFY_SHAPE - used, "%s%" PRId64, d ? "," : "", host->shape[d]);
  snprintf(text + used, VERIFY_SHAPE - used, "]");
  return text;
}

static bool verify_shape(const cli_context *cli, const tesela_device_host *host, const tensor *t) {
  bool same = t->shape.rank == host->rank && t->layout.bits == host->bits;
  for (int32_t d = 0; same && d < host->rank; d++) same = t->shape.dim[d] == host->shape[d];
  if (same && (host->dtype == TESELA_DTYPE_NONE || host->dtype == t->shape.dtype)) return true;
  char text[TENSOR_SHAPE_TEXT], wanted[VERIFY_SHAPE];
  say_error(cli, "the tensor on the host is %s; the device layout is for %s",
            tensor_shape_text(&t->shape, text), verify_shape_text(host, wanted));
  return false;
}

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

static int verify_json(const tesela_device_layout *layout, const tesela_misplaced *m) {
  tesela_json_out j = TESELA_JSON_OUT;
  char text[TESELA_ELEMENT_TEXT];
  tesela_put_object(&j.sink);
  tesela_put_key_bool(&j.sink, "same", m->same);
  tesela_put_key_int(&j.sink, "n_different", m->n_different);
  if (!m->same) {
    tesela_put_key(&j.sink, "index");
    tesela_put_ints(&j.sink, layout->host.rank, m->index);
    tesela_put_key_int(&j.sink, "place", m->place);
    tesela_put_key_text(&j.sink, "expected",
                        tesela_element_bits(m->expected, layout->host.device_bits, text));
    tesela_put_key_text(&j.sink, "found", tesela_element_bits(m->found, layout->host.device_bits, text));
    tesela_put_key(&j.sink, "source");
    if (m->have_source)
      tesela_put_ints(&j.sink, layout->host.rank, m->source);
    else
      tesela_put_null(&j.sink);
  }
  return tile_print_json(&j);
}

static int verify_run(const cli_context *cli, const tesela_device_layout *layout, const tensor_file *dump,
                      const tensor *t) {
  int64_t strides[TESELA_MAX_RANK];
  tesela_misplaced misplaced;
  tesela_error err = {.at = -1};
  if (!verify_shape(cli, &layout->host, t) || !verify_strides(cli, t, strides)) return CLI_BAD;
  if (tesela_transfer_verify(layout, dump->info.data, dump->info.bytes, strides, 0, t->data, &misplaced, NULL,
                             &err) != TESELA_OK)
    return say_failure(cli, &err);
  int status = CLI_YES;
  if (cli->json)
    status = verify_json(layout, &misplaced);
  else
    verify_print(layout, &misplaced);
  return status == CLI_YES && !misplaced.same ? CLI_NO : status;
}

int cmd_verify(const cli_context *cli) {
  tesela_target own;
  const tesela_target *target;
  tesela_device_layout layout;
  tensor_file *dump = NULL, *host = NULL;
  tensor t;
  char shape[VERIFY_SHAPE];
  int status;
  if (!device_read(cli, cli->arg[0], &own, &target, &layout, &status)) return status;
  status = tensor_file_open(cli, cli->arg[1], &dump);
  if (status == CLI_YES) status = tensor_file_open(cli, cli->arg[2], &host);
  if (status == CLI_YES) { /* raw bytes are the tensor row-major unless told */
    tensor_says says = {
        .layout = cli_value(cli, "from"), .name = cli_value(cli, "tensor"), .option = "--from"};
    if (!says.layout && host->info.format == TESELA_FILE_RAW)
      says.layout = verify_shape_text(&layout.host, shape);
    status = tensor_file_pick(cli, host, &says, &t);
  }
  if (status == CLI_YES) status = verify_run(cli, &layout, dump, &t);
  tensor_file_close(dump);
  tensor_file_close(host);
  return status;
}
