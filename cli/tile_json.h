/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile_json.h - answers about tiles as fields of a JSON object: for the verbs with --json and for the ops of query.
 */
#ifndef TESELA_CLI_TILE_JSON_H
#define TESELA_CLI_TILE_JSON_H

#include <tesela/access.h>
#include <tesela/notation.h>

#include "json.h"

/* Each writes fields into the object that is open. */
void tile_json_width(json_writer *j, const tesela_vector_width *width);
void tile_json_cost(json_writer *j, const tesela_access_cost *cost);
void tile_json_ldmatrix(json_writer *j, const tesela_ldmatrix *plan);
void tile_json_synthesis(json_writer *j, const tesela_synthesis *found);
/* With the CUDA source under that name, NULL: without. */
tesela_status tile_json_exchange(json_writer *j, const tesela_exchange *plan, const char *cuda,
                                 tesela_error *err);
/* "tensors", as far as they are known, and "conflict" if the last infer ended in one. */
void tile_json_program(json_writer *j, const tesela_kernel_program *program);

#endif
