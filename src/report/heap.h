/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.h - sorting pointers in place: no memory, no recursion, O(n log n) whatever comes.
 *
 * `before(a, b, user)` says whether a comes before b. The heap has the item that comes last at the top.
 */
#ifndef TESELA_SRC_REPORT_HEAP_H
#define TESELA_SRC_REPORT_HEAP_H

#include <stdbool.h>
#include <stddef.h>

typedef bool (*tesela__before)(const void *a, const void *b, const void *user);

/* Item `at` may come before those below it: let it sink. */
static inline void tesela__heap_sink(const void **heap, size_t at, size_t n, tesela__before before,
                                     const void *user) {
  for (size_t child; (child = 2 * at + 1) < n; at = child) {
    if (child + 1 < n && before(heap[child], heap[child + 1], user)) child++;
    if (!before(heap[at], heap[child], user)) return;
    const void *item = heap[at];
    heap[at] = heap[child];
    heap[child] = item;
  }
}

static inline void tesela__heap_make(const void **heap, size_t n, tesela__before before, const void *user) {
  for (size_t i = n / 2; i-- > 0;) tesela__heap_sink(heap, i, n, before, user);
}

/* Sort any array of pointers: what comes first is first. */
static inline void tesela__heap_sort(const void **items, size_t n, tesela__before before, const void *user) {
  tesela__heap_make(items, n, before, user);
  for (size_t end = n; end-- > 1;) {
    const void *last = items[0];
    items[0] = items[end];
    items[end] = last;
    tesela__heap_sink(items, 0, end, before, user);
  }
}

#endif
