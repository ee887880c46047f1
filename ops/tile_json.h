/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_json.h - answers about tiles as fields of a JSON object: for the verbs with --json and for the ops of query.
 */
#ifndef TESELA_CLI_TILE_JSON_H
#define TESELA_CLI_TILE_JSON_H

#include <tesela/access.h>
#include <tesela/notation.h>

#include <tesela/ops.h>

/* Does ldmatrix, an instruction of NVIDIA's machines, move a tile in shared memory? */
tesela_status tile_ldmatrix(const tesela_register *registers, const tesela_tile_memory *memory, int32_t bits,
                            const tesela_access_machine *machine, tesela_ldmatrix *out, tesela_error *err);

/* Each writes fields into the object that is open. */
void tile_json_width(tesela_sink *j, const tesela_vector_width *width);
void tile_json_cost(tesela_sink *j, const tesela_access_cost *cost);
void tile_json_ldmatrix(tesela_sink *j, const tesela_ldmatrix *plan);
void tile_json_synthesis(tesela_sink *j, const tesela_synthesis *found);
/* With the CUDA source under that name, NULL: without. */
tesela_status tile_json_exchange(tesela_sink *j, const tesela_exchange *plan, const char *cuda,
                                 tesela_error *err);
/* "consistent", "tensors", if known, and "conflict", which the message is about, if the last infer ended in one. */
void tile_json_program(tesela_sink *j, const tesela_kernel_program *program, const char *message);

/* The element type that a misspelt word may mean, or NULL. */
const char *tile_near_dtype(const char *name);

#endif
