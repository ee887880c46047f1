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
/* A tile in shared memory as a CuTe layout; false if no text is the same relation, or the buffer is too small. */
bool tile_cute(const tesela_tile_memory *memory, tesela_buffer *text);
/* With the CUDA source under that name, NULL: without. */
tesela_status tile_json_exchange(tesela_sink *j, const tesela_exchange *plan, const char *cuda,
                                 tesela_error *err);
/* "consistent", "tensors", if known, and "conflict", which the message is about, if the last infer ended in one. */
void tile_json_program(tesela_sink *j, const tesela_kernel_program *program, const char *message);

/* The element type that a misspelt word may mean, or NULL. */
const char *tile_near_dtype(const char *name);

/* The type of a layout's elements. */
typedef struct tile_type {
  tesela_dtype dtype; /* TESELA_DTYPE_NONE: only the width is known */
  int32_t bits;       /* 0: nothing is known */
  const char *source; /* of the layout, for messages: "memory" */
} tile_type;

/* Set *type to the text's own type, if it has one and no text before had. TESELA_E_MISMATCH for two types. The options' types do not
 * count. */
tesela_status tile_read_type(const char *text, size_t length, const tesela_layout_read_options *options,
                             const char *source, tile_type *type, tesela_error *err);

/* The width of elements of that dtype, which `name` gave, in layouts of that type. TESELA_E_MISMATCH if they contradict. */
tesela_status tile_type_bits(const tile_type *type, tesela_dtype dtype, const char *name, int32_t *bits,
                             tesela_error *err);

/* Read a tile in memory, or a layout in memory that is one. options->as is about registers and does not count. */
tesela_status tile_read_memory(const char *text, size_t length, const tesela_layout_read_options *options,
                               tesela_tile_memory *out, tesela_error *err);

#endif
