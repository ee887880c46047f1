/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_swizzle.c - the verb swizzle: the shared-memory layout with the fewest bank conflicts for the register layouts that
 * write and read a tile.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "main/say.h"
#include "main/tile_input.h"
#include "tile_json.h" /* tile_cute */

/* Pass all layouts as reads: with --ldmatrix, ldmatrix may perform them. */
static int swizzle_json(const cli_context *cli, const tile_type *type) {
  size_t n = (size_t)cli->n_args;
  tesela_value *texts = malloc(n * sizeof *texts);
  if (!texts) return CLI_FAILED;
  for (size_t i = 0; i < n; i++) texts[i] = tesela_value_of_text(NULL, cli->arg[i]);
  const tesela_value reads = tesela_value_of_list("reads", n, texts);
  int status = tile_answer(cli, type, 1, &reads);
  free(texts);
  return status;
}

int cmd_swizzle(const cli_context *cli) {
  tile_type type = {.bits = 0};
  tesela_synthesis found;
  char room[2048];
  tesela_buffer cute = {room, sizeof room, 0};
  tesela_access_machine machine;
  tesela_synthesis_options options = {0};
  tesela_error err = {.at = -1};
  int32_t bits = 0;
  int64_t vector;
  int status = CLI_YES;
  if (!tile_input_machine(cli, &machine) || !cli_integer(cli, "vector", 1, 1024, 0, &vector) ||
      !cli_integer(cli, "max-steps", 1, INT64_MAX, 0, &options.max_steps))
    return CLI_BAD;
  size_t n = (size_t)cli->n_args;
  tesela_register *layouts = malloc(n * sizeof *layouts);
  tesela_access_use *uses = calloc(n, sizeof *uses);
  bool read = layouts && uses;
  if (!read) {
    say_error(cli, "no memory for %zu layouts", n);
    status = CLI_FAILED;
  }
  for (size_t i = 0; read && i < n; i++) {
    read = tile_input_register(cli, cli->arg[i], "a layout", &layouts[i], &type, &status);
    uses[i] =
        (tesela_access_use){.registers = &layouts[i], .vector = vector, .ldmatrix = cli_has(cli, "ldmatrix")};
  }
  if (read && !tile_input_dtype(cli, &type, &bits)) {
    read = false;
    status = CLI_BAD;
  }
  if (read && cli->json) {
    read = false;
    status = swizzle_json(cli, &type);
  }
  if (read && tesela_synthesize((int32_t)n, uses, bits, &options, &machine, &found, &err) != TESELA_OK) {
    read = false;
    status = say_failure(cli, &err);
  }
  free(layouts);
  free(uses);
  if (!read) return status;
  tesela_tile_memory_print(&found.memory, &cli_stdout, NULL);
  putchar('\n');
  if (tile_cute(&found.memory, &cute)) printf("CuTe          %s\n", room);
  printf("wavefronts    %" PRId64 "; lower bound %" PRId64 ", row-major %" PRId64 "\n", found.wavefronts,
         found.least, found.plain);
  printf("compared      %" PRId64 " layouts\n", found.candidates);
  return CLI_YES;
}
