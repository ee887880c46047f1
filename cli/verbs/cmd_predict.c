/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_predict.c - the verb predict: what the arguments and results of a program take on a TPU, before it is compiled.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <tesela/report.h>

#include "main/json.h"
#include "main/say.h"
#include "main/text_file.h"

enum { TEXT_LIMIT = 1 << 30 }; /* bytes of a program */

static void print_array(const tesela_predicted *array) {
  char bytes[TESELA_UNITS_TEXT];
  tesela_units_print(array->bytes, TESELA_UNITS_IEC, bytes);
  printf("%-8s %5" PRId32 "  %12s  ", array->result ? "result" : "argument", array->number,
         array->unknown ? "?" : bytes);
  tesela_xla_print(array->unknown ? &array->whole : &array->shape, !array->unknown, &cli_stdout, NULL);
  if (array->bytes > array->unpadded_bytes && array->unpadded_bytes > 0)
    printf("  %.1fx", (double)array->bytes / (double)array->unpadded_bytes);
  if (array->host) fputs("  host", stdout);
  if (!array->used) fputs("  unused", stdout);
  if (array->alias >= 0)
    printf("  becomes result %" PRId32, array->alias);
  else if (array->donated)
    fputs("  donated", stdout);
  if (array->unknown) printf("  %s", array->unknown);
  putchar('\n');
}

static void print_sum(const char *what, int64_t bytes) {
  char text[TESELA_UNITS_TEXT];
  tesela_units_print(bytes, TESELA_UNITS_IEC, text);
  if (bytes > 0) printf("%-14s  %12s\n", what, text);
}

static void print_sums(const tesela_prediction_totals *t) {
  if (t->devices > 1) printf("on each of %" PRId64 " devices\n", t->devices);
  print_sum("arguments", t->argument_bytes);
  print_sum("arguments, host", t->host_argument_bytes);
  print_sum(t->n_unknown ? "known results" : "results", t->output_bytes);
  print_sum("results, host", t->host_output_bytes);
  print_sum("of these table", t->table_bytes);
  print_sum("aliased", t->aliased_bytes);
}

int cmd_predict(const cli_context *cli) {
  size_t length;
  int status = CLI_YES;
  const char *target = cli_value(cli, "target");
  tesela_prediction *prediction = NULL;
  const tesela_predicted *array;
  tesela_error err = {.at = -1};
  if (!target) target = "v5e";
  char *text = text_file_read(cli, cli->arg[0], TEXT_LIMIT, &length, &status);
  if (!text) return status;
  if (cli->json) {
    const tesela_value fields[] = {{.name = "text", .kind = TESELA_VALUE_TEXT, .n = length, .as.text = text},
                                   tesela_value_of_text("target", target)};
    status = json_verb(cli, 2, fields, NULL);
  } else if (tesela_predict_create(&prediction, text, length, target, NULL, &err) != TESELA_OK) {
    status = text_file_fail(cli, cli->arg[0], text, length, &err);
  } else {
    const tesela_prediction_totals totals = tesela_predict_totals(prediction);
    for (int32_t i = 0; (array = tesela_predict_at(prediction, i)) != NULL && !ferror(stdout); i++)
      print_array(array);
    print_sums(&totals);
  }
  tesela_predict_destroy(prediction);
  free(text);
  return status;
}
