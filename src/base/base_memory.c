/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base_memory.c - the caller's allocator, or the C library's.
 */
#include "base/base.h"

#include <stdlib.h>

static void *libc_alloc(void *user, size_t size, size_t align) {
  (void)user;
  if (align <= alignof(max_align_t)) return malloc(size);
  return aligned_alloc(align, (size + align - 1) / align * align);
}

static void libc_release(void *user, void *memory) {
  (void)user;
  free(memory);
}

tesela_allocator tesela__allocator(const tesela_allocator *allocator) {
  if (allocator) return *allocator;
  return (tesela_allocator){NULL, libc_alloc, libc_release};
}

void *tesela__alloc(const tesela_allocator *allocator, size_t size, size_t align) {
  return allocator->alloc(allocator->user, size ? size : 1, align);
}

void tesela__release(const tesela_allocator *allocator, void *memory) {
  if (memory) allocator->release(allocator->user, memory);
}

bool tesela__grow(const tesela_allocator *allocator, void **items, size_t size, size_t *capacity,
                  size_t need) {
  if (need <= *capacity) return true;
  size_t more = *capacity < 8 ? 16 : *capacity * 2;
  if (more < need) more = need;
  if (more > SIZE_MAX / 2 / size) return false;
  void *grown = tesela__alloc(allocator, more * size, alignof(max_align_t));
  if (!grown) return false;
  if (*capacity) memcpy(grown, *items, *capacity * size);
  tesela__release(allocator, *items);
  *items = grown;
  *capacity = more;
  return true;
}
