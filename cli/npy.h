/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npy.h - the header of NumPy's .npy files: a magic, a version, and a Python dict of three keys.
 */
#ifndef TESELA_CLI_NPY_H
#define TESELA_CLI_NPY_H

#include "tensor_file.h"

/* Do these bytes begin as a .npy file does? */
bool npy_begins(const uint8_t *data, int64_t size);

/* Read the header of a file of `size` bytes and find its data. Versions 1 to 3, either order of bytes and of dims.
 * Returns an exit status after saying what is wrong. */
int npy_read(const cli_context *cli, const char *file_name, const uint8_t *data, int64_t size,
             tensor_entry *entry);

/* The descr of a type in this machine's order of bytes, "<f4"; those that NumPy lacks are bytes of their width, "<V2".
 * NULL for a type that takes no whole bytes. */
const char *npy_type(tesela_dtype dtype);

#define NPY_HEADER 1024 /* bytes of the largest header that is written */
/* Write the header of an array; returns its bytes, a multiple of 64. */
int64_t npy_header(const char *type, bool fortran, int32_t rank, const int64_t *shape,
                   char header[NPY_HEADER]);

#endif
