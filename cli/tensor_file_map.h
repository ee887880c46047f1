/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_file_map.h - the bytes of a file or a pipe in memory, without reading them; files that have no name.
 */
#ifndef TESELA_CLI_TENSOR_FILE_MAP_H
#define TESELA_CLI_TENSOR_FILE_MAP_H

#include "main/options.h"

/* Map the file `path`, "-" for standard input; what is no regular file is written to an unnamed file first. *map is
 * NULL for an empty one. Returns an exit status after saying why. Release with tensor_unmap. */
int tensor_map(const cli_context *cli, const char *path, int *fd, const uint8_t **map, int64_t *size);
void tensor_unmap(int fd, const uint8_t *map, int64_t size);

/* An empty file without a name, open for reading and writing, in TMPDIR or /var/tmp. -1: errno says why. */
int tensor_unnamed_file(void);

/* Let go of the pages of a mapped file that this process holds in memory: their content stays in the file. Pages that
 * were written are handed to the kernel for writing. */
void tensor_drop_pages(const void *map, int64_t size, bool written);

#endif
