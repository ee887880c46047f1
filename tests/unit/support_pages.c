/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_pages.c - see support_pages.h.
 */
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS */
#include "support_pages.h"

#include <stdio.h>
#include <stdlib.h>

enum { GUARD = 1 << 16 }; /* a page of every system */

static void need(bool done) {
  if (done) return;
  perror("memory with guard pages");
  abort();
}

static size_t round_up(size_t bytes) { return (bytes + GUARD - 1) / GUARD * GUARD; }

#if defined(_WIN32)
#include <windows.h>

pages pages_new(size_t bytes) {
  pages p = {NULL, round_up(bytes)};
  unsigned char *all = VirtualAlloc(NULL, p.bytes + 2 * GUARD, MEM_RESERVE, PAGE_NOACCESS);
  need(all && (p.bytes == 0 || VirtualAlloc(all + GUARD, p.bytes, MEM_COMMIT, PAGE_READWRITE)));
  p.data = all + GUARD;
  return p;
}

void pages_read_only(pages p, bool on) {
  DWORD before;
  need(VirtualProtect(p.data, p.bytes, on ? PAGE_READONLY : PAGE_READWRITE, &before));
}

void pages_drop(pages p) { need(VirtualFree(p.data - GUARD, 0, MEM_RELEASE)); }

#elif defined(__wasi__)

pages pages_new(size_t bytes) {
  pages p = {NULL, round_up(bytes)};
  unsigned char *all = calloc(1, p.bytes + 2 * GUARD);
  need(all != NULL);
  p.data = all + GUARD;
  return p;
}

void pages_read_only(pages p, bool on) { (void)p, (void)on; }
void pages_drop(pages p) { free(p.data - GUARD); }

#else
#include <sys/mman.h>

pages pages_new(size_t bytes) {
  pages p = {NULL, round_up(bytes)};
  unsigned char *all = mmap(NULL, p.bytes + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  need(all != MAP_FAILED);
  need(p.bytes == 0 || mprotect(all + GUARD, p.bytes, PROT_READ | PROT_WRITE) == 0);
  p.data = all + GUARD;
  return p;
}

void pages_read_only(pages p, bool on) {
  need(mprotect(p.data, p.bytes, on ? PROT_READ : PROT_READ | PROT_WRITE) == 0);
}

void pages_drop(pages p) { need(munmap(p.data - GUARD, p.bytes + 2 * GUARD) == 0); }
#endif
