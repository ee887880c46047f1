/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decompress.h - a descriptor read as it is, or decompressed if its first bytes are those of gzip or zstd data.
 *
 * Which of them depends on the libraries of the build: what cannot be decompressed is read as it is.
 */
#ifndef TESELA_OPS_DECOMPRESS_H
#define TESELA_OPS_DECOMPRESS_H

#include <stdbool.h>
#include <tesela/base.h>

/* Memory for one descriptor at a time: 64 KiB, and the window of what is decompressed, 128 MiB at most. */
typedef struct decompress decompress;

/* NULL: no memory. */
decompress *decompress_create(void);
void decompress_destroy(decompress *from);

/* Read fd from where it is; it stays the caller's. What was begun before ends. */
void decompress_begin(decompress *from, int fd);

/*
 * Up to n bytes; 0 at the end; -1 with *err: TESELA_E_IO, errno's text; TESELA_E_INVALID: damaged, cut or with other data at its end,
 * err->at is the byte of the compressed data; TESELA_E_MEMORY. Members of a file follow each other, as `cat a.gz b.gz` makes them;
 * zeros after the last one of gzip are ignored. The first call gives at least 4096 bytes, if n and the file allow. After -1 begin anew.
 */
int64_t decompress_read(decompress *from, void *to, size_t n, tesela_error *err);

/* The length of a file's name without ".gz" or ".zst", if this build reads them. */
size_t decompress_name(const char *name);

#endif
