/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_fault.c - see support_fault.h.
 *
 * A piece has exactly the requested length and no header, unless bytes are counted: the sanitizers and valgrind see
 * each byte before or after it.
 */
#include "support_fault.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/os.h"

/* Before each piece if bytes are counted. */
typedef union header {
  size_t bytes;
  max_align_t align;
} header;

static void *fault_weigh(fault *f, header *piece, size_t size) {
  piece->bytes = size;
  f->bytes += size;
  if (f->bytes > f->most) f->most = f->bytes;
  return piece + 1;
}

static void *fault_alloc(void *user, size_t size, size_t align) {
  fault *f = user;
  if (f->weigh && align > alignof(max_align_t)) fail_msg("alignment %zu", align);
  if (f->limit && size > f->limit) return NULL;
  if (f->countdown == 0) {
    if (f->once) f->countdown = -1;
    return NULL;
  }
  if (f->countdown > 0) f->countdown--;
  void *memory = tesela__os_alloc(size + (f->weigh ? sizeof(header) : 0), align);
  if (!memory) fail_msg("no memory for %zu bytes, aligned to %zu", size, align);
  f->live++;
  if (f->weigh) memory = fault_weigh(f, memory, size);
  if (f->dirty) memset(memory, 0xa5, size);
  return memory;
}

static void fault_release(void *user, void *memory) {
  fault *f = user;
  if (!memory) fail_msg("what was never allocated is released");
  f->live--;
  if (f->weigh) {
    header *piece = (header *)memory - 1;
    f->bytes -= piece->bytes;
    memory = piece;
  }
  tesela__os_release(memory);
}

tesela_allocator fault_allocator(fault *f) { return (tesela_allocator){f, fault_alloc, fault_release}; }
