/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_arena.c - texts and lists that live as long as their owner: in blocks that are released all at once.
 */
#include "report/report_state.h"

enum { ARENA_BLOCK = 16384 };

struct tesela__arena_block {
  struct tesela__arena_block *next;
  size_t used, size; /* of `text` */
  char text[];
};

/* Room for `n` bytes at a multiple of `align`; NULL: no memory. */
static char *arena_room(tesela__arena *arena, const tesela_allocator *allocator, size_t n, size_t align) {
  struct tesela__arena_block *block = arena->blocks;
  size_t most = n + align - 1; /* wherever the block's free part starts */
  if (!block || block->size - block->used < most) {
    size_t size = most < ARENA_BLOCK ? ARENA_BLOCK : most;
    block = tesela__alloc(allocator, sizeof *block + size, alignof(struct tesela__arena_block));
    if (!block) return NULL;
    *block = (struct tesela__arena_block){.next = arena->blocks, .size = size};
    arena->blocks = block;
  }
  size_t skip = (align - (uintptr_t)(block->text + block->used) % align) % align;
  char *room = block->text + block->used + skip;
  block->used += skip + n;
  arena->bytes += skip + n;
  return room;
}

const char *tesela__arena_copy(tesela__arena *arena, const tesela_allocator *allocator, tesela__span text) {
  if (text.n == 0) return "";
  char *copy = arena_room(arena, allocator, text.n + 1, 1);
  if (!copy) return NULL;
  memcpy(copy, text.text, text.n);
  copy[text.n] = '\0';
  return copy;
}

void *tesela__arena_take(tesela__arena *arena, const tesela_allocator *allocator, size_t bytes) {
  return arena_room(arena, allocator, bytes, alignof(max_align_t));
}

void tesela__arena_clear(tesela__arena *arena, const tesela_allocator *allocator) {
  while (arena->blocks) {
    struct tesela__arena_block *block = arena->blocks;
    arena->blocks = block->next;
    tesela__release(allocator, block);
  }
  arena->bytes = 0;
}
