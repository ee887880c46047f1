/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_access.c - the verb access: the cost of moving a register tile to or from GPU memory.
 */
#include <inttypes.h>

#include "main/say.h"
#include "main/tile_input.h"
#include "tile_json.h" /* tile_ldmatrix */

typedef struct access_answer {
  tesela_vector_width width;
  tesela_access_cost cost;
  tesela_ldmatrix ldmatrix;
  int64_t registers; /* per thread */
  bool shared;
} access_answer;

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

static void access_text(const access_answer *a) {
  const tesela_access_cost *c = &a->cost;
  printf("vector        %" PRId64 " element%s, %" PRId32 " byte%s", c->vector_elements,
         plural(c->vector_elements), c->vector_bytes, plural(c->vector_bytes));
  if (a->width.elements != c->vector_elements) printf("; %" PRId64 " possible", a->width.elements);
  if (a->width.renamed_elements > a->width.elements)
    printf("; %" PRId64 " with renamed registers", a->width.renamed_elements);
  printf("\ninstructions  %" PRId64 " for all warps, %" PRId64 " per thread\n", c->instructions,
         a->registers / c->vector_elements);
  if (!a->shared) {
    printf("sectors       %" PRId64 " moved, %" PRId64 " for packed data\n", c->sectors, c->least_sectors);
    printf("lines         %" PRId64 " touched\n", c->lines);
    return;
  }
  printf("wavefronts    %" PRId64 " for %" PRId64 " phase%s: ", c->wavefronts, c->phases, plural(c->phases));
  if (c->conflicts == 0)
    puts("no conflicts");
  else
    printf("%" PRId64 " conflict%s, up to %" PRId64 "-way (warp %" PRId64 ", instruction %" PRId64
           ", phase %" PRId64 ")\n",
           c->conflicts, plural(c->conflicts), c->worst, c->worst_warp, c->worst_instruction, c->worst_phase);
  if (!a->ldmatrix.applies)
    printf("ldmatrix      no: %s\n", a->ldmatrix.why_not);
  else
    printf("ldmatrix      x%" PRId32 "%s, %" PRId32 " per warp, %" PRId64 " wavefronts, %" PRId64
           " conflict%s\n",
           a->ldmatrix.tiles, a->ldmatrix.transposed ? ".trans" : "", a->ldmatrix.instructions,
           a->ldmatrix.cost.wavefronts, a->ldmatrix.cost.conflicts, plural(a->ldmatrix.cost.conflicts));
}

int cmd_access(const cli_context *cli) {
  tesela_register registers;
  tesela_tile_memory memory;
  tile_type type = {.bits = 0};
  tesela_error err = {.at = -1};
  tesela_access_machine machine;
  access_answer a;
  int32_t bits;
  int64_t vector;
  int status;
  if (!tile_input_register(cli, cli->arg[0], "register", &registers, &type, &status)) return status;
  if (!tile_input_memory(cli, cli->arg[1], &memory, &type, &status)) return status;
  if (!tile_input_dtype(cli, &type, &bits) || !cli_integer(cli, "vector", 1, 1024, 0, &vector) ||
      !tile_input_machine(cli, &machine))
    return CLI_BAD;
  if (cli->json) {
    const tesela_value fields[] = {tesela_value_of_text("register", cli->arg[0]),
                                   tesela_value_of_text("memory", cli->arg[1])};
    return tile_answer(cli, &type, sizeof fields / sizeof fields[0], fields);
  }
  a.registers = registers.local_size;
  a.shared = memory.space == TESELA_TILE_SHARED;
  if (tesela_vector_width_of(&registers, &memory, bits, &machine, &a.width, &err) != TESELA_OK ||
      tesela_access_cost_of(&registers, &memory, bits, vector, &machine, &a.cost, &err) != TESELA_OK ||
      (a.shared && tile_ldmatrix(&registers, &memory, bits, &machine, &a.ldmatrix, &err) != TESELA_OK))
    return say_failure(cli, &err);
  access_text(&a);
  return CLI_YES;
}
