/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_dma.c - the verb dma: a transfer between a host tensor and a device layout as loop nests.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/notation.h>
#include <tesela/device.h>

#include "main/device.h"
#include "main/input.h"
#include "json_device.h"
#include "main/say.h"
#include "main/tile_input.h"

/* ---- options ---------------------------------------------------------------------------------------------------- */

/* Read a number at *at and move *at past it; false if *at does not start with a number of 64 bits. */
static bool dma_number(const char **at, int64_t *value) {
  char *end;
  if (!strchr("-0123456789", **at) || **at == '\0') return false;
  errno = 0;
  long long read = strtoll(*at, &end, 10);
  if (end == *at || errno == ERANGE) return false;
  *at = end;
  *value = read;
  return true;
}

/* "200,1" in --NAME: one number for each dim. *given: is the option there? */
static bool dma_numbers(const cli_context *cli, const char *name, int32_t rank, int64_t *numbers,
                        bool *given) {
  const char *text = cli_value(cli, name), *at = text;
  char quote[SAY_QUOTE];
  bool right = true;
  *given = text != NULL;
  for (int32_t d = 0; text && right && d < rank; d++)
    right = dma_number(&at, &numbers[d]) && (d + 1 == rank || *at++ == ',');
  if (!text || (right && *at == '\0')) return true;
  say_usage(cli, "--%s is %s; expected %" PRId32 " number%s separated by commas", name,
            say_quote(text, quote), rank, rank == 1 ? "" : "s");
  return false;
}

/* "0:10,64:128" in --box: from and up to, for each dim. */
static bool dma_box(const cli_context *cli, const tesela_device_host *host, int64_t *start, int64_t *size) {
  const char *text = cli_value(cli, "box"), *at = text;
  char quote[SAY_QUOTE];
  bool right = true;
  for (int32_t d = 0; right && d < host->rank; d++) {
    int64_t from = 0, to = host->shape[d];
    right = (*at == ':' || dma_number(&at, &from)) && *at++ == ':';
    right = right && (*at == ',' || *at == '\0' || dma_number(&at, &to)) && from >= 0 && to >= from;
    right = right && (d + 1 == host->rank || *at++ == ',');
    start[d] = from;
    size[d] = right ? to - from : 0;
  }
  if (right && *at == '\0') return true;
  say_usage(cli,
            "--box is %s; expected a range, such as 0:64, for each of the %" PRId32
            " dims, separated by commas",
            say_quote(text, quote), host->rank);
  return false;
}

static bool dma_limits(const cli_context *cli, const tesela_target *target, tesela_dma_limits *limits) {
  int64_t dims = 0;
  *limits = target->dma;
  if (!cli_integer(cli, "max-dims", 1, TESELA_DEVICE_DIMS, limits->max_dims, &dims) ||
      !cli_integer(cli, "max-extent", 1, INT64_MAX, limits->max_extent, &limits->max_extent) ||
      !cli_integer(cli, "max-nests", 1, 1 << 20, limits->max_nests, &limits->max_nests) ||
      !cli_integer(cli, "alignment", 1, INT64_MAX, limits->alignment, &limits->alignment) ||
      !cli_integer(cli, "min-burst", 1, INT64_MAX, limits->min_burst, &limits->min_burst) ||
      !cli_integer(cli, "max-burst", 1, INT64_MAX, limits->max_burst, &limits->max_burst))
    return false;
  limits->max_dims = (int32_t)dims;
  return true;
}

/* ---- output ----------------------------------------------------------------------------------------------------- */

static void dma_list(char *text, size_t room, int32_t n, const int64_t *numbers) {
  size_t used = 0;
  text[0] = '\0';
  if (n == 0) snprintf(text, room, "-");
  for (int32_t k = 0; k < n && used < room; k++)
    used += (size_t)snprintf(text + used, room - used, "%s%" PRId64, k ? ", " : "", numbers[k]);
}

enum { DMA_COLUMN = 256, DMA_ROWS = 40 };

/* The nests as a table; a long list is cut. */
static void dma_table(const tesela_dma *dma, bool padding) {
  static const char *const heads[] = {"ranges", "device strides", "host strides"};
  char text[DMA_COLUMN];
  int width[3];
  const tesela_nest *nest;
  int32_t n = tesela_dma_facts_of(dma).n_nests, shown = n > DMA_ROWS ? DMA_ROWS : n;
  for (int c = 0; c < 3; c++) width[c] = (int)strlen(heads[c]);
  for (int32_t k = 0; k < shown && (nest = tesela_dma_nest(dma, k)); k++) {
    const int64_t *columns[] = {nest->range, nest->device_stride, nest->host_stride};
    for (int c = 0; c < 3; c++) {
      dma_list(text, sizeof text, nest->n, columns[c]);
      if ((int)strlen(text) > width[c]) width[c] = (int)strlen(text);
    }
  }
  printf("\n%4s  %-*s  %-*s  %s%-*s%s%14s%s\n", "nest", width[0], heads[0], width[1], heads[1], "",
         padding ? 0 : width[2], padding ? "" : heads[2], padding ? "" : "  ", "device offset",
         padding ? "" : "   host offset");
  for (int32_t k = 0; k < shown && (nest = tesela_dma_nest(dma, k)); k++) {
    dma_list(text, sizeof text, nest->n, nest->range);
    printf("%4" PRId32 "  %-*s", k, width[0], text);
    dma_list(text, sizeof text, nest->n, nest->device_stride);
    printf("  %-*s", width[1], text);
    dma_list(text, sizeof text, nest->n, nest->host_stride);
    if (!padding) printf("  %-*s", width[2], text);
    printf("  %14" PRId64, nest->device_offset);
    if (!padding) printf("  %12" PRId64, nest->host_offset);
    putchar('\n');
  }
  if (shown < n) printf("   .. %" PRId32 " more; --json lists all\n", n - shown);
}

/* What is proven about the number of nests, and for which lists. */
static void dma_claim(const tesela_dma_facts *facts, const tesela_dma_limits *limits) {
  bool limited = limits->max_dims || limits->max_extent || limits->alignment > 1 || limits->min_burst > 1 ||
                 limits->max_burst;
  if (facts->bound == facts->n_nests)
    printf(" (minimal%s)", limited ? " within the limits" : "");
  else if (facts->digit_bound == facts->n_nests)
    printf(" (minimal for lists of digit ranges; lower bound %" PRId32 ")", facts->bound);
  else
    printf(" (lower bound %" PRId32 ")", facts->bound);
}

static void dma_words(const tesela_dma *dma, const json_device *device, const tesela_dma_options *options) {
  tesela_dma_facts facts = tesela_dma_facts_of(dma);
  char headline[DEVICE_TEXT];
  device_headline(&device->layout, headline);
  printf("%s, %s\n", headline,
         options->padding                           ? "its padding"
         : options->direction == TESELA_DMA_TO_HOST ? "to the host"
                                                    : "to the device");
  printf("%" PRId32 " loop nest%s", facts.n_nests, facts.n_nests == 1 ? "" : "s");
  dma_claim(&facts, options->limits);
  printf(", %" PRId64 " %s", facts.elements, options->padding ? "places" : "elements");
  if (facts.bursts > 0)
    printf(", %" PRId64 " burst%s of %" PRId64 " bytes%s", facts.bursts, facts.bursts == 1 ? "" : "s",
           facts.burst_bytes, facts.least_burst_bytes == facts.most_burst_bytes ? "" : " on average");
  if (facts.bursts > 0 && facts.least_burst_bytes != facts.most_burst_bytes)
    printf(" (%" PRId64 " to %" PRId64 ")", facts.least_burst_bytes, facts.most_burst_bytes);
  putchar('\n');
}

static int dma_json(const cli_context *cli, const json_device *device, const tesela_dma_options *options) {
  const tesela_dma_limits *l = options->limits;
  size_t rank = (size_t)device->layout.host.rank;
  tesela_value strides[TESELA_MAX_RANK], starts[TESELA_MAX_RANK], sizes[TESELA_MAX_RANK];
  const tesela_value host[] = {tesela_value_of_ints("strides", rank, strides, device->host_strides),
                               tesela_value_of_int("offset", device->host_offset)};
  const tesela_value limits[] = {
      tesela_value_of_int("max_dims", l->max_dims),   tesela_value_of_int("max_extent", l->max_extent),
      tesela_value_of_int("alignment", l->alignment), tesela_value_of_int("min_burst", l->min_burst),
      tesela_value_of_int("max_burst", l->max_burst), tesela_value_of_int("max_nests", l->max_nests)};
  tesela_value box[2],
      fields[] = {tesela_value_of_text("op", "dma"),
                  tesela_value_of_text("layout", cli->arg[0]),
                  tesela_value_of_object("host", sizeof host / sizeof host[0], host),
                  tesela_value_of_text("direction", cli_has(cli, "to-host") ? "to_host" : "to_device"),
                  tesela_value_of_text("form", options->plain ? "plain" : "merged"),
                  tesela_value_of_bool("innermost_first", options->innermost_first),
                  tesela_value_of_bool("padding", options->padding),
                  tesela_value_of_object("limits", sizeof limits / sizeof limits[0], limits),
                  {.name = NULL}};
  size_t n = sizeof fields / sizeof fields[0] - 1;
  if (options->box_start) {
    box[0] = tesela_value_of_ints("start", rank, starts, options->box_start);
    box[1] = tesela_value_of_ints("size", rank, sizes, options->box_size);
    fields[n++] = tesela_value_of_object("box", 2, box);
  }
  return json_answer(cli, n, fields);
}

/* ---- the verb ---------------------------------------------------------------------------------------------------- */

static int dma_run(const cli_context *cli, json_device *device, const tesela_dma_options *options) {
  tesela_dma *dma;
  tesela_error err = {.at = -1};
  if (tesela_dma_create(&dma, &device->layout, device->host_strides, device->host_offset, options, &err) !=
      TESELA_OK)
    return say_failure(cli, &err);
  if (cli_has(cli, "source")) {
    tesela_dma_print(dma, &cli_stdout, NULL);
  } else {
    dma_words(dma, device, options);
    dma_table(dma, options->padding);
  }
  tesela_dma_destroy(dma);
  return CLI_YES;
}

int cmd_dma(const cli_context *cli) {
  json_device device;
  tesela_target own;
  const tesela_target *target;
  tesela_dma_limits limits;
  int64_t start[TESELA_MAX_RANK], size[TESELA_MAX_RANK], stride = 1;
  bool strided;
  int status;
  if (!input_device(cli, cli->arg[0], &own, &target, &device.layout, &status)) return status;
  const tesela_device_host *host = &device.layout.host;
  if (!dma_numbers(cli, "strides", host->rank, device.host_strides, &strided) ||
      !cli_integer(cli, "offset", INT64_MIN, INT64_MAX, 0, &device.host_offset) ||
      !dma_limits(cli, target, &limits) || (cli_has(cli, "box") && !dma_box(cli, host, start, size)))
    return CLI_BAD;
  for (int32_t d = host->rank; !strided && d-- > 0;) {
    device.host_strides[d] = stride;
    if (__builtin_mul_overflow(stride, host->shape[d] > 0 ? host->shape[d] : 1, &stride))
      stride = 0; /* only of a tensor without elements */
  }
  tesela_dma_options options = {
      .direction = cli_has(cli, "to-host") ? TESELA_DMA_TO_HOST : TESELA_DMA_TO_DEVICE,
      .plain = cli_has(cli, "plain"),
      .innermost_first = cli_has(cli, "innermost-first"),
      .padding = cli_has(cli, "padding"),
      .limits = &limits,
      .box_start = cli_has(cli, "box") ? start : NULL,
      .box_size = cli_has(cli, "box") ? size : NULL,
  };
  return cli->json ? dma_json(cli, &device, &options) : dma_run(cli, &device, &options);
}
