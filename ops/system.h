/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system.h - what the operations and the command need from the operating system beyond the library: a clock and descriptors.
 * Only os_*.c know the system.
 */
#ifndef TESELA_OPS_SYSTEM_H
#define TESELA_OPS_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

/* A clock that only goes forward, in nanoseconds. */
int64_t system_clock_ns(void);

/* Up to n bytes, 0 at the end; -1: errno says why. */
int64_t system_read(int fd, void *to, size_t n);

/* A file for reading, its bytes as they are; -1: errno says why. */
int system_open(const char *path);
void system_close(int fd);

/* Memory aligned to a power of two; NULL without memory. */
void *system_alloc(size_t size, size_t align);
void system_free(void *memory);

#endif
