/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nt_copy.h - the fastest plain copy of memory: whole lines read ahead and written past the caches.
 *
 * This is the ceiling that the relayout benches compare with: memcpy is not, as it reads the lines it is about to
 * overwrite. The lines to come are prefetched into L2 (NT_COPY_AHEAD bytes ahead), four lines are loaded and then
 * stored with non-temporal stores, and one fence ends the call.
 *
 * nt_pass reads and writes as fast, but other numbers of bytes: what a conversion has to move, without converting.
 *
 * Needs x86-64 with AVX2; elsewhere nt_copy_name is NULL, nt_copy is memcpy, and nt_pass does nothing.
 */
#ifndef TESELA_BENCH_NT_COPY_H
#define TESELA_BENCH_NT_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <immintrin.h>

enum { NT_COPY_STEP = 256, NT_COPY_AHEAD = 4096 };

/* Both copy `steps` * NT_COPY_STEP bytes; dst is aligned to 64 bytes. Prefetching after the end is harmless. */
__attribute__((target("avx512f"))) static inline void nt_copy_avx512(unsigned char *dst,
                                                                     const unsigned char *src, size_t steps) {
  for (; steps; steps--, src += NT_COPY_STEP, dst += NT_COPY_STEP) {
    for (int line = 0; line < NT_COPY_STEP; line += 64)
      _mm_prefetch((const char *)src + NT_COPY_AHEAD + line, _MM_HINT_T1);
    __m512i a = _mm512_loadu_si512(src), b = _mm512_loadu_si512(src + 64);
    __m512i c = _mm512_loadu_si512(src + 128), d = _mm512_loadu_si512(src + 192);
    _mm512_stream_si512((__m512i *)(void *)dst, a);
    _mm512_stream_si512((__m512i *)(void *)(dst + 64), b);
    _mm512_stream_si512((__m512i *)(void *)(dst + 128), c);
    _mm512_stream_si512((__m512i *)(void *)(dst + 192), d);
  }
}

__attribute__((target("avx2"))) static inline void nt_copy_avx2(unsigned char *dst, const unsigned char *src,
                                                                size_t steps) {
  for (; steps; steps--, src += NT_COPY_STEP, dst += NT_COPY_STEP) {
    for (int line = 0; line < NT_COPY_STEP; line += 64)
      _mm_prefetch((const char *)src + NT_COPY_AHEAD + line, _MM_HINT_T1);
    for (int half = 0; half < NT_COPY_STEP; half += 32)
      _mm256_stream_si256((__m256i *)(void *)(dst + half),
                          _mm256_loadu_si256((const __m256i *)(const void *)(src + half)));
  }
}

/* In each of `steps` steps read `in` bytes and write `out`, both multiples of 64; dst is aligned to 64 bytes. */
__attribute__((target("avx2"))) static inline void
nt_pass(unsigned char *dst, size_t out, const unsigned char *src, size_t in, size_t steps) {
  __m256i all = _mm256_setzero_si256();
  for (; steps; steps--, src += in, dst += out) {
    for (size_t line = 0; line < in; line += 64)
      _mm_prefetch((const char *)src + NT_COPY_AHEAD + line, _MM_HINT_T1);
    for (size_t half = 0; half < in; half += 32)
      all = _mm256_xor_si256(all, _mm256_loadu_si256((const __m256i *)(const void *)(src + half)));
    for (size_t half = 0; half < out; half += 32) _mm256_stream_si256((__m256i *)(void *)(dst + half), all);
  }
  _mm_sfence();
}

/* Name of the way nt_copy takes on this CPU, NULL if it is only memcpy. */
static inline const char *nt_copy_name(void) {
  return __builtin_cpu_supports("avx512f") ? "avx512" : __builtin_cpu_supports("avx2") ? "avx2" : NULL;
}

/* memcpy(dst, src, bytes). */
static inline void nt_copy(void *dst, const void *src, size_t bytes) {
  unsigned char *to = (unsigned char *)dst;
  const unsigned char *from = (const unsigned char *)src;
  size_t head = (64 - ((uintptr_t)to & 63)) & 63;
  const char *name = nt_copy_name();
  if (!name || bytes < head + NT_COPY_STEP) {
    memcpy(to, from, bytes);
    return;
  }
  memcpy(to, from, head);
  size_t steps = (bytes - head) / NT_COPY_STEP, done = head + steps * NT_COPY_STEP;
  if (name[3] == '5')
    nt_copy_avx512(to + head, from + head, steps);
  else
    nt_copy_avx2(to + head, from + head, steps);
  _mm_sfence();
  memcpy(to + done, from + done, bytes - done);
}

#else

static inline const char *nt_copy_name(void) { return NULL; }
static inline void nt_copy(void *dst, const void *src, size_t bytes) { memcpy(dst, src, bytes); }
static inline void nt_pass(unsigned char *dst, size_t out, const unsigned char *src, size_t in,
                           size_t steps) {
  (void)dst, (void)out, (void)src, (void)in, (void)steps;
}

#endif
#endif
