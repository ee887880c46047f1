/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_input.h - arguments and options of the verbs about tiles: a register layout, a tile in memory, the element type.
 */
#ifndef TESELA_CLI_TILE_INPUT_H
#define TESELA_CLI_TILE_INPUT_H

#include <tesela/access.h>
#include <tesela/notation.h>

#include "main/json.h"
#include "main/options.h"
#include "tile_json.h"

/* Read a register layout, or a tile in memory, and the type of its text (tile_read_type). Returns false after reporting the error, with
 * *status set. */
bool tile_input_register(const cli_context *cli, const char *text, const char *source, tesela_register *out,
                         tile_type *type, int *status);
bool tile_input_memory(const cli_context *cli, const char *text, tesela_tile_memory *out, tile_type *type,
                       int *status);

/* The width of --dtype (default: the type of the texts, else f16). Returns false after reporting an error. */
bool tile_input_dtype(const cli_context *cli, const tile_type *type, int32_t *bits);

/* Threads of a warp: --warp, else 64 for a fragment of 64 lanes, else 32. Returns false after reporting an error. */
bool expression_warp(const cli_context *cli, const char *text, size_t length, int64_t *warp);

/* The machine of --warp, --banks and --bank-bytes (default: NVIDIA's). */
bool tile_input_machine(const cli_context *cli, tesela_access_machine *machine);

/* Print the --json answer of the verb's operation, given n fields and the options: --bank-bytes=4 is "bank_bytes": 4. */
int tile_answer(const cli_context *cli, const tile_type *type, size_t n, const tesela_value *fields);

/* Close the open object, write the line, free the writer. Returns an exit status. */
int tile_print_json(tesela_json_out *j);

#endif
