/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_pages.h - memory between two pages that cannot be touched: a byte too far stops the test. WebAssembly has no such
 * pages; there it is plain memory, and tests see only what was written.
 */
#ifndef TESELA_TESTS_SUPPORT_PAGES_H
#define TESELA_TESTS_SUPPORT_PAGES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pages {
  unsigned char *data; /* zeros at first */
  size_t bytes;        /* whole pages */
} pages;

/* `bytes` or more: the next number of whole pages. Ends the program without memory. */
pages pages_new(size_t bytes);
void pages_read_only(pages p, bool on);
void pages_drop(pages p);

#endif
