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

bool tile_input_register(const cli_context *cli, const char *text, tesela_register *out, int *status) {
  tesela_any_layout any;
  if (!input_any(cli, text, strlen(text), "register", &any, NULL, status)) return false;
  *out = any.registers;
  return true;
}

bool tile_input_memory(const cli_context *cli, const char *text, tesela_tile_memory *out, int *status) {
  tesela_any_layout any;
  if (!input_any(cli, text, strlen(text), NULL, &any, NULL, status)) return false;
  if (any.kind == TESELA_KIND_RELATION && !input_any(cli, text, strlen(text), "shared", &any, NULL, status))
    return false;
  if (any.kind == TESELA_KIND_SHARED || any.kind == TESELA_KIND_GLOBAL) {
    *out = any.memory;
    return true;
  }
  tesela_error err = {.status = TESELA_E_MISMATCH};
  snprintf(err.message, sizeof err.message, "expected a tile in memory, found %s",
           tesela_kind_words(any.kind));
  *status = say_failure_in(cli, text, strlen(text), &err);
  return false;
}

bool tile_input_dtype(const cli_context *cli, tesela_dtype *dtype, int32_t *bits) {
  const char *name = cli_value(cli, "dtype");
  char quote[SAY_QUOTE];
  *dtype = name ? tesela_dtype_find(name, strlen(name)) : TESELA_F16;
  *bits = tesela_dtype_bits(*dtype);
  if (*bits > 0) return true;
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
  const tesela_fragment *entry = expression_fragment(text, length);
  return cli_integer(cli, "warp", 1, TESELA_ACCESS_WARP, entry && entry->threads == 64 ? 64 : 32, warp);
}

int tile_answer(const cli_context *cli, size_t n, const tesela_value *fields) {
  tesela_value all[JSON_FIELDS];
  memcpy(all, fields, n * sizeof *fields);
  if (!cli_has(cli, "dtype")) all[n++] = tesela_value_of_text("dtype", "f16");
  return json_fields(cli, cli->verb->name, all, &n) ? json_verb(cli, n, all, NULL) : CLI_BAD;
}

int tile_print_json(tesela_json_out *j) {
  tesela_put_end(&j->sink);
  bool done = json_line(j, stdout) || ferror(stdout);
  tesela_json_out_free(j);
  return done ? CLI_YES : CLI_FAILED;
}
