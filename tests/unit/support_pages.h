/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_pages.h - memory between two inaccessible pages: access to a byte outside stops the test. WebAssembly has no
 * such pages; there it is plain memory, and tests detect only writes.
 */
#ifndef TESELA_TESTS_SUPPORT_PAGES_H
#define TESELA_TESTS_SUPPORT_PAGES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pages {
  unsigned char *data; /* zeros at first */
  size_t bytes;        /* of whole pages */
} pages;

/* At least `bytes`, rounded up to whole pages. Exits the program if memory runs out. */
pages pages_new(size_t bytes);
void pages_read_only(pages p, bool on);
void pages_drop(pages p);

#endif
