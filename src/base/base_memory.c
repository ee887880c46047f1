/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base_memory.c - the caller's allocator, or the C library's.
 */
#include "base/os.h"

static void *libc_alloc(void *user, size_t size, size_t align) {
  (void)user;
  return tesela__os_alloc(size, align);
}

static void libc_release(void *user, void *memory) {
  (void)user;
  tesela__os_release(memory);
}

tesela_allocator tesela__allocator(const tesela_allocator *allocator) {
  if (allocator) return *allocator;
  return (tesela_allocator){NULL, libc_alloc, libc_release};
}

void *tesela__alloc(const tesela_allocator *allocator, uint64_t size, size_t align) {
  if (size > PTRDIFF_MAX) return NULL;
  return allocator->alloc(allocator->user, size ? (size_t)size : 1, align);
}

void tesela__release(const tesela_allocator *allocator, void *memory) {
  if (memory) allocator->release(allocator->user, memory);
}

bool tesela__grow(const tesela_allocator *allocator, void **items, size_t size, size_t *capacity,
                  uint64_t need) {
  if (need <= *capacity) return true;
  uint64_t more = *capacity < 8 ? 16 : (uint64_t)*capacity * 2;
  if (more < need) more = need;
  if (more > PTRDIFF_MAX / size) return false;
  void *grown = tesela__alloc(allocator, more * size, alignof(max_align_t));
  if (!grown) return false;
  if (*capacity) memcpy(grown, *items, *capacity * size);
  tesela__release(allocator, *items);
  *items = grown;
  *capacity = (size_t)more;
  return true;
}
