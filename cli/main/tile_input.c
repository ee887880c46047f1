/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_input.c - arguments and options of the verbs about tiles.
 */
#include "main/tile_input.h"

#include <string.h>

#include "expression.h"
#include "main/input.h"
#include "place.h"
#include "main/json.h"
#include "main/say.h"
#include "tile_json.h"

/* The text's own type. */
static bool tile_input_type(const cli_context *cli, const char *text,
                            const tesela_layout_read_options *options, const char *source, tile_type *type,
                            int *status) {
  tesela_error err = {.at = -1};
  if (tile_read_type(text, strlen(text), options, source, type, &err) == TESELA_OK) return true;
  *status = say_failure(cli, &err);
  return false;
}

bool tile_input_register(const cli_context *cli, const char *text, const char *source, tesela_register *out,
                         tile_type *type, int *status) {
  tesela_any_layout any;
  tesela_target own;
  tesela_layout_read_options options;
  if (!input_any(cli, text, strlen(text), "register", &any, NULL, status) ||
      !input_options(cli, &own, &options, status))
    return false;
  *out = any.registers;
  return tile_input_type(cli, text, &options, source, type, status);
}

bool tile_input_memory(const cli_context *cli, const char *text, tesela_tile_memory *out, tile_type *type,
                       int *status) {
  tesela_error err = {.at = -1};
  tesela_target own;
  tesela_layout_read_options options;
  if (!input_options(cli, &own, &options, status)) return false;
  if (tile_read_memory(text, strlen(text), &options, out, &err) == TESELA_OK)
    return tile_input_type(cli, text, &options, "memory", type, status);
  *status = input_refuse(cli, text, strlen(text), &options, &err);
  return false;
}

bool tile_input_dtype(const cli_context *cli, const tile_type *type, int32_t *bits) {
  const char *name = cli_value(cli, "dtype");
  const tesela_dtype dtype = name ? tesela_dtype_find(name, strlen(name)) : TESELA_F16;
  tesela_error err = {.at = -1};
  char quote[SAY_QUOTE];
  *bits = type->bits > 0 ? type->bits : tesela_dtype_bits(dtype);
  if (!name) return true;
  if (tesela_dtype_bits(dtype) > 0) {
    if (tile_type_bits(type, dtype, "--dtype", bits, &err) == TESELA_OK) return true;
    say_failure(cli, &err);
    return false;
  }
  if (*name == '\0') {
    say_usage(cli, "--dtype is empty; expected an element type, such as f16");
    return false;
  }
  const char *near = tile_near_dtype(name);
  say_usage(cli, "--dtype: unknown element type '%s'%s%s%s", say_quote(name, quote),
            near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
  return false;
}

bool tile_input_machine(const cli_context *cli, tesela_access_machine *machine) {
  int64_t warp, banks, bank_bytes;
  if (!cli_integer(cli, "warp", 1, TESELA_ACCESS_WARP, 0, &warp) ||
      !cli_integer(cli, "banks", 1, 128, 0, &banks) ||
      !cli_integer(cli, "bank-bytes", 1, 128, 0, &bank_bytes))
    return false;
  *machine = (tesela_access_machine){
      .warp = (int32_t)warp, .banks = (int32_t)banks, .bank_bytes = (int32_t)bank_bytes};
  return true;
}

bool expression_warp(const cli_context *cli, const char *text, size_t length, int64_t *warp) {
  const tesela_fragment *entry = expression_fragment_entry(text, length);
  return cli_integer(cli, "warp", 1, TESELA_ACCESS_WARP, entry && entry->threads == 64 ? 64 : 32, warp);
}

int tile_answer(const cli_context *cli, const tile_type *type, size_t n, const tesela_value *fields) {
  tesela_value all[JSON_FIELDS];
  memcpy(all, fields, n * sizeof *fields);
  if (!cli_has(cli, "dtype") && type->bits == 0) all[n++] = tesela_value_of_text("dtype", "f16");
  return json_fields(cli, cli->verb->name, all, &n) ? json_verb(cli, n, all, NULL) : CLI_BAD;
}

int tile_print_json(tesela_json_out *j) {
  tesela_put_end(&j->sink);
  bool done = json_line(j, stdout) || ferror(stdout);
  tesela_json_out_free(j);
  return done ? CLI_YES : CLI_FAILED;
}
