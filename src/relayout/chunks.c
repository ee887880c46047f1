/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunks.c - run the chunks of a copy on threads.
 */
#include "relayout/plan.h"

void tesela__run_chunks(const tesela_executor *executor, int32_t n, void (*chunk)(void *data, int32_t i),
                        void *data) {
  if (n > 1 && executor)
    executor->run(executor->user, n, chunk, data);
  else
    tesela__run_on_threads(n, n, chunk, data);
}
