/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_input.h - words of the verbs about tiles: a register layout, a tile in memory, the type of its elements.
 */
#ifndef TESELA_CLI_TILE_INPUT_H
#define TESELA_CLI_TILE_INPUT_H

#include <tesela/access.h>
#include <tesela/notation.h>

#include "main/json.h"
#include "main/options.h"

/* Read an expression that is a register layout, or a tile in memory. false: said, with the exit status in *status. */
bool tile_input_register(const cli_context *cli, const char *text, tesela_register *out, int *status);
bool tile_input_memory(const cli_context *cli, const char *text, tesela_tile_memory *out, int *status);

/* The type --dtype names, f16 unless told, and its width. */
bool tile_input_dtype(const cli_context *cli, tesela_dtype *dtype, int32_t *bits);

/* Threads of a warp: what --warp says, else 64 of a fragment of so many lanes, else 32. false: said. */
bool expression_warp(const cli_context *cli, const char *text, size_t length, int64_t *warp);

/* The machine that --warp, --banks and --bank-bytes tell, NVIDIA's unless told. */
bool tile_input_machine(const cli_context *cli, tesela_access_machine *machine);

/* What --json prints: the answer of the verb's operation to n fields and to the options given: --bank-bytes=4 is "bank_bytes": 4. */
int tile_answer(const cli_context *cli, size_t n, const tesela_value *fields);

/* Close the object that is open, write the line, free the writer; an exit status. */
int tile_print_json(tesela_json_out *j);

#endif
