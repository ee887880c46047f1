/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_access.c - the verb access: what moving a register tile to or from memory costs a GPU.
 */
#include <inttypes.h>
#include <string.h>

#include "main/say.h"
#include "tile_input.h"
#include "tile_json.h"

typedef struct access_answer {
  tesela_vector_width width;
  tesela_access_cost cost;
  tesela_ldmatrix ldmatrix;
  int64_t registers; /* of a thread */
  bool shared;
} access_answer;

static int access_json(const access_answer *a) {
  tesela_json_out j = TESELA_JSON_OUT;
  tesela_put_object(&j.sink);
  tile_json_width(&j.sink, &a->width);
  tile_json_cost(&j.sink, &a->cost);
  if (a->shared) {
    tesela_put_key(&j.sink, "ldmatrix");
    tesela_put_object(&j.sink);
    tile_json_ldmatrix(&j.sink, &a->ldmatrix);
    tesela_put_end(&j.sink);
  }
  return tile_print_json(&j);
}

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

static void access_text(const access_answer *a) {
  const tesela_access_cost *c = &a->cost;
  printf("vector        %" PRId64 " element%s, %" PRId32 " byte%s", c->vector_elements,
         plural(c->vector_elements), c->vector_bytes, plural(c->vector_bytes));
  if (a->width.elements != c->vector_elements) printf("; %" PRId64 " would do", a->width.elements);
  if (a->width.renamed_elements > a->width.elements)
    printf("; %" PRId64 " if registers are renamed", a->width.renamed_elements);
  printf("\ninstructions  %" PRId64 " of all warps, %" PRId64 " of a thread\n", c->instructions,
         a->registers / c->vector_elements);
  if (!a->shared) {
    printf("sectors       %" PRId64 " moved, %" PRId64 " if they were packed\n", c->sectors,
           c->least_sectors);
    printf("lines         %" PRId64 " touched\n", c->lines);
    return;
  }
  printf("wavefronts    %" PRId64 " for %" PRId64 " phase%s: ", c->wavefronts, c->phases, plural(c->phases));
  if (c->conflicts == 0)
    puts("free of conflicts");
  else
    printf("%" PRId64 " conflict%s, up to %" PRId64 "-way (warp %" PRId64 ", instruction %" PRId64
           ", phase %" PRId64 ")\n",
           c->conflicts, plural(c->conflicts), c->worst, c->worst_warp, c->worst_instruction, c->worst_phase);
  if (!a->ldmatrix.applies)
    printf("ldmatrix      no: %s\n", a->ldmatrix.why_not);
  else
    printf("ldmatrix      x%" PRId32 "%s, %" PRId32 " of each warp, %" PRId64 " wavefronts, %" PRId64
           " conflict%s\n",
           a->ldmatrix.tiles, a->ldmatrix.transposed ? ".trans" : "", a->ldmatrix.instructions,
           a->ldmatrix.cost.wavefronts, a->ldmatrix.cost.conflicts, plural(a->ldmatrix.cost.conflicts));
}

/* Of shared memory: does ldmatrix move it? It is an instruction of NVIDIA's machines. */
static tesela_status access_ldmatrix(access_answer *a, const tesela_register *registers,
                                     const tesela_tile_memory *memory, int32_t bits,
                                     const tesela_access_machine *machine, tesela_error *err) {
  if ((machine->warp == 0 || machine->warp == 32) && (machine->banks == 0 || machine->banks == 32) &&
      (machine->bank_bytes == 0 || machine->bank_bytes == 4))
    return tesela_ldmatrix_of(registers, memory, bits, &a->ldmatrix, err);
  a->ldmatrix = (tesela_ldmatrix){.applies = false};
  snprintf(a->ldmatrix.why_not, sizeof a->ldmatrix.why_not, "it needs warps of 32 and 32 banks of 4 bytes");
  return TESELA_OK;
}

int cmd_access(const cli_context *cli) {
  tesela_register registers;
  tesela_tile_memory memory;
  tesela_dtype dtype;
  tesela_error err = {.at = -1};
  tesela_access_machine machine;
  access_answer a;
  int32_t bits;
  int64_t vector;
  int status;
  if (!tile_input_register(cli, cli->arg[0], &registers, &status)) return status;
  if (!tile_input_memory(cli, cli->arg[1], &memory, &status)) return status;
  if (!tile_input_dtype(cli, &dtype, &bits) || !cli_integer(cli, "vector", 1, 1024, 0, &vector) ||
      !tile_input_machine(cli, &machine))
    return CLI_BAD;
  a.registers = registers.local_size;
  a.shared = memory.space == TESELA_TILE_SHARED;
  if (tesela_vector_width_of(&registers, &memory, bits, &machine, &a.width, &err) != TESELA_OK ||
      tesela_access_cost_of(&registers, &memory, bits, vector, &machine, &a.cost, &err) != TESELA_OK ||
      (a.shared && access_ldmatrix(&a, &registers, &memory, bits, &machine, &err) != TESELA_OK))
    return say_failure(cli, &err);
  if (cli->json) return access_json(&a);
  access_text(&a);
  return CLI_YES;
}
