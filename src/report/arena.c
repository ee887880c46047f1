/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.c - texts that live as long as their owner: copied into blocks, released all at once.
 */
#include "report/state.h"

enum { ARENA_BLOCK = 16384 };

struct tesela__arena_block {
  struct tesela__arena_block *next;
  size_t used, size; /* of `text` */
  char text[];
};

const char *tesela__arena_copy(tesela__arena *arena, const tesela_allocator *allocator, tesela__span text) {
  if (text.n == 0) return "";
  struct tesela__arena_block *block = arena->blocks;
  if (!block || block->size - block->used <= text.n) {
    size_t size = text.n < ARENA_BLOCK ? ARENA_BLOCK : text.n + 1;
    block = tesela__alloc(allocator, sizeof *block + size, alignof(struct tesela__arena_block));
    if (!block) return NULL;
    *block = (struct tesela__arena_block){.next = arena->blocks, .size = size};
    arena->blocks = block;
  }
  char *copy = block->text + block->used;
  memcpy(copy, text.text, text.n);
  copy[text.n] = '\0';
  block->used += text.n + 1;
  arena->bytes += text.n + 1;
  return copy;
}

void tesela__arena_clear(tesela__arena *arena, const tesela_allocator *allocator) {
  while (arena->blocks) {
    struct tesela__arena_block *block = arena->blocks;
    arena->blocks = block->next;
    tesela__release(allocator, block);
  }
  arena->bytes = 0;
}
