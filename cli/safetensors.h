/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safetensors.h - the header of .safetensors files: 8 bytes with the length of a JSON object, little end first, the
 * object, then the data of all tensors without gaps.
 *
 * A tensor that `tesela pack` rewrote stands there as a list of its physical places, and the metadata says what they
 * mean: "tesela.layout.<tensor>" is its layout, the logical shape included.
 */
#ifndef TESELA_CLI_SAFETENSORS_H
#define TESELA_CLI_SAFETENSORS_H

#include "tensor_file.h"

#define SAFETENSORS_LAYOUT_KEY "tesela.layout."

/* Do these bytes begin as a .safetensors file does? */
bool safetensors_begins(const uint8_t *data, int64_t size);

/* Read the header of file->map into file->entry and file->metadata. Returns an exit status after saying why. */
int safetensors_read(const cli_context *cli, tensor_file *file);

/* The name of a type, "F32"; NULL if the format has none for it. */
const char *safetensors_type(tesela_dtype dtype);

/* A tensor to be written. */
typedef struct safetensors_item {
  const char *name, *type;
  int32_t rank;
  const int64_t *shape;
  int64_t begin, end; /* of its data, from the end of the header on */
  const char *layout; /* recorded in the metadata; NULL: none */
} safetensors_item;

/* The header, length included, a multiple of 8 bytes; to be freed. The texts of `metadata` (may be NULL) stay, but for the
 * layouts of these tensors. NULL without memory. */
char *safetensors_header(int64_t n, const safetensors_item *items, const tesela_value *metadata,
                         int64_t *length);

#endif
