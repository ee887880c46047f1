/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_spend.c - memory of a run, in lists of blocks, and its steps, which are reported to the caller.
 */
#include "graph/run/run.h"

enum {
  RUN_HEAD = 64,           /* bytes before a block's contents: they are aligned to that */
  RUN_CALL_EVERY = 1 << 20 /* results and products: some ms */
};

void *tesela__run_take(tesela__run *run, tesela__run_block **list, int64_t count, size_t size) {
  int64_t bytes;
  if (!tesela__mul(count, (int64_t)size, &bytes) || !tesela__add(bytes, RUN_HEAD, &bytes) ||
      (uint64_t)bytes > SIZE_MAX)
    return NULL;
  tesela__run_block *block = tesela__alloc(&run->allocator, (uint64_t)bytes, RUN_HEAD);
  if (!block) return NULL;
  block->next = *list;
  *list = block;
  return (uint8_t *)block + RUN_HEAD;
}

void tesela__run_drop(tesela__run *run, tesela__run_block **list) {
  while (*list) {
    tesela__run_block *next = (*list)->next;
    tesela__release(&run->allocator, *list);
    *list = next;
  }
}

static int run_call(tesela__run *run) {
  run->next_call = run->worked + RUN_CALL_EVERY;
  return run->progress ? run->progress(run->progress_user, run->worked, run->work) : 0;
}

tesela_status tesela__run_worked(tesela__run *run, int64_t n, tesela_error *err) {
  run->worked = tesela__min(run->work, run->worked + n);
  if (run->worked < run->next_call || run_call(run) == 0) return TESELA_OK;
  return tesela__fail_stopped(err);
}
