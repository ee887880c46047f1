/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows_interleave_avx512.c - interleave and deinterleave 2, 3, 4 or 8 streams, with permutes of bytes (VBMI).
 *
 * A step turns 64 bytes of each of k streams into k vectors of neighbours. Two streams need one permute of two vectors
 * per result (weave, unweave); 4 and 8 streams are rounds of that; three streams need two permutes per result. Only the
 * tables of byte numbers depend on the width of an element. The rest of a row is the same step with masks. Past the cache streams that begin
 * within lines are shifted to lines by one more permute.
 */
#include "kernels/rows.h"

#if TESELA__X86
#include <immintrin.h>

#define VBMI TESELA__TARGET("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")

/* ---- tables: byte p of a result is this byte of the concatenated vectors ----------------------------------- */

/* Two streams. WEAVE: the first result; add 32 for the second. UNWEAVE: the even elements; add w for the odd ones. */
#define WEAVE(p, w, unused) ((p) / (w) % 2 * 64 + (p) / (w) / 2 * (w) + (p) % (w))
#define UNWEAVE(p, w, unused) ((p) / (w)*2 * (w) + (p) % (w))
/* Three streams. WEAVE3: result v. UNWEAVE3: stream s. */
#define WEAVE3(p, w, v) \
  ((64 * (v) + (p)) / (w) % 3 * 64 + (64 * (v) + (p)) / (w) / 3 * (w) + (64 * (v) + (p)) % (w))
#define UNWEAVE3(p, w, s) (((p) / (w)*3 + (s)) * (w) + (p) % (w))

typedef struct permutes_avx512 {
  uint8_t weave[64], unweave[64], weave3[3][64], unweave3[3][64];
} permutes_avx512;

#define PERMUTES(w)                                                                                          \
  {                                                                                                          \
    {TESELA__EACH64(WEAVE, w, 0)}, {TESELA__EACH64(UNWEAVE, w, 0)},                                          \
        {{TESELA__EACH64(WEAVE3, w, 0)}, {TESELA__EACH64(WEAVE3, w, 1)}, {TESELA__EACH64(WEAVE3, w, 2)}}, {  \
      {TESELA__EACH64(UNWEAVE3, w, 0)}, {TESELA__EACH64(UNWEAVE3, w, 1)}, { TESELA__EACH64(UNWEAVE3, w, 2) } \
    }                                                                                                        \
  }

static const permutes_avx512 permute_tables_avx512[] = {PERMUTES(1), PERMUTES(2), PERMUTES(4), PERMUTES(8),
                                                        PERMUTES(16)};

#define COUNT(p, unused, unused_too) (p)
static const uint8_t count_avx512[64] = {TESELA__EACH64(COUNT, 0, 0)};

static inline const permutes_avx512 *permutes_of_avx512(int64_t width) {
  return &permute_tables_avx512[__builtin_ctz((unsigned)width)];
}

/* The tables of a step: two for 2^i streams, three for three streams. */
typedef struct weaver_avx512 {
  __m512i table[3];
  __mmask64 third[3]; /* bytes from the third vector */
} weaver_avx512;

VBMI static inline weaver_avx512 weaver_of_avx512(int64_t width, int64_t k, bool back) {
  const permutes_avx512 *tables = permutes_of_avx512(width);
  weaver_avx512 weaver;
  if (k == 3) {
    TESELA__UNROLL_GCC
    for (int i = 0; i < 3; i++) {
      weaver.table[i] = _mm512_loadu_si512(back ? tables->unweave3[i] : tables->weave3[i]);
      weaver.third[i] = _mm512_movepi8_mask(weaver.table[i]); /* bytes 128 and up */
    }
  } else {
    weaver.table[0] = _mm512_loadu_si512(back ? tables->unweave : tables->weave);
    weaver.table[1] = _mm512_add_epi8(weaver.table[0], _mm512_set1_epi8((char)(back ? width : 32)));
  }
  return weaver;
}

/* ---- steps -------------------------------------------------------------------------------------------------- */

VBMI TESELA__INLINE void pair_avx512(const weaver_avx512 *weaver, __m512i *a, __m512i *b) {
  __m512i x = *a, y = *b;
  *a = _mm512_permutex2var_epi8(x, weaver->table[0], y);
  *b = _mm512_permutex2var_epi8(x, weaver->table[1], y);
}

VBMI TESELA__INLINE void three_avx512(const weaver_avx512 *weaver, __m512i *v) {
  __m512i x = v[0], y = v[1], z = v[2];
  TESELA__UNROLL_GCC
  for (int i = 0; i < 3; i++)
    v[i] = _mm512_mask_permutexvar_epi8(_mm512_permutex2var_epi8(x, weaver->table[i], y), weaver->third[i],
                                        weaver->table[i], z);
}

/* v[0..k-1]: one vector of each stream -> neighbours in order. The first round pairs streams that are k/2 apart. */
VBMI TESELA__INLINE void weave_avx512(const weaver_avx512 *weaver, __m512i *v, int k) {
  if (k == 3) {
    three_avx512(weaver, v);
  } else if (k == 2) {
    pair_avx512(weaver, &v[0], &v[1]);
  } else if (k == 4) { /* v[s] and v[s+2] become parts 0 and 1 of the streams s, s+2 */
    pair_avx512(weaver, &v[0], &v[2]), pair_avx512(weaver, &v[1], &v[3]);
    pair_avx512(weaver, &v[0], &v[1]), pair_avx512(weaver, &v[2], &v[3]);
  } else {
    TESELA__UNROLL_GCC
    for (int s = 0; s < 4; s++) pair_avx512(weaver, &v[s], &v[s + 4]);
    TESELA__UNROLL_GCC
    for (int i = 0; i < 8; i += 4)
      pair_avx512(weaver, &v[i], &v[i + 2]), pair_avx512(weaver, &v[i + 1], &v[i + 3]);
    TESELA__UNROLL_GCC
    for (int i = 0; i < 8; i += 2) pair_avx512(weaver, &v[i], &v[i + 1]);
  }
}

/* The reverse: the same rounds from the last to the first. */
VBMI TESELA__INLINE void unweave_avx512(const weaver_avx512 *weaver, __m512i *v, int k) {
  if (k == 3) {
    three_avx512(weaver, v);
  } else if (k == 2) {
    pair_avx512(weaver, &v[0], &v[1]);
  } else if (k == 4) {
    pair_avx512(weaver, &v[0], &v[1]), pair_avx512(weaver, &v[2], &v[3]);
    pair_avx512(weaver, &v[0], &v[2]), pair_avx512(weaver, &v[1], &v[3]);
  } else {
    TESELA__UNROLL_GCC
    for (int i = 0; i < 8; i += 2) pair_avx512(weaver, &v[i], &v[i + 1]);
    TESELA__UNROLL_GCC
    for (int i = 0; i < 8; i += 4)
      pair_avx512(weaver, &v[i], &v[i + 2]), pair_avx512(weaver, &v[i + 1], &v[i + 3]);
    TESELA__UNROLL_GCC
    for (int s = 0; s < 4; s++) pair_avx512(weaver, &v[s], &v[s + 4]);
  }
}

/* ---- rows --------------------------------------------------------------------------------------------------- */

/* Mask of the low n bytes of a vector: all for n >= 64, 0 for n <= 0. */
static inline __mmask64 mask_of_avx512(int64_t n) {
  return n >= 64 ? ~UINT64_C(0) : n > 0 ? ~UINT64_C(0) >> (64 - n) : 0;
}

VBMI TESELA__INLINE void put_avx512(unsigned char *dst, __m512i v, bool stream) {
  if (stream)
    _mm512_stream_si512((void *)dst, v);
  else
    _mm512_storeu_si512(dst, v);
}

/* Only the two ends of a row are masked. Their vectors go through memory, in functions that are not inlined, because
 * sanitizers add a check for each byte of a masked move. */
#define APART VBMI static __attribute__((noinline)) void

/* The low `bytes` of k vectors that are `pitch` apart. */
APART load_streams_avx512(__m512i *v, const unsigned char *src, int64_t pitch, int64_t bytes, int k) {
  for (int s = 0; s < k; s++) v[s] = _mm512_maskz_loadu_epi8(mask_of_avx512(bytes), src + s * pitch);
}
APART store_streams_avx512(unsigned char *dst, int64_t pitch, const __m512i *v, int64_t bytes, int k) {
  for (int s = 0; s < k; s++) _mm512_mask_storeu_epi8(dst + s * pitch, mask_of_avx512(bytes), v[s]);
}

APART store_line_avx512(unsigned char *line, const __m512i *v, __mmask64 mask) {
  _mm512_mask_storeu_epi8(line, mask, *v);
}

/* A run of `bytes` bytes: those after it are loaded as 0, and not stored. */
APART load_run_avx512(__m512i *v, const unsigned char *src, int64_t bytes, int k) {
  for (int i = 0; i < k; i++, bytes -= 64)
    v[i] = bytes > 0 ? _mm512_maskz_loadu_epi8(mask_of_avx512(bytes), src + 64 * i) : _mm512_setzero_si512();
}
APART store_run_avx512(unsigned char *dst, const __m512i *v, int64_t bytes, bool stream) {
  for (; bytes >= 64; dst += 64, v++, bytes -= 64) put_avx512(dst, *v, stream);
  if (bytes > 0) _mm512_mask_storeu_epi8(dst, mask_of_avx512(bytes), *v);
}

/* Interleave `bytes` < 64 of each stream. `stream`: dst begins with a line. */
VBMI TESELA__INLINE void weave_part_avx512(const weaver_avx512 *weaver, unsigned char *dst,
                                           const unsigned char *src, int64_t pitch, int64_t bytes, int k,
                                           bool stream) {
  __m512i v[8];
  load_streams_avx512(v, src, pitch, bytes, k);
  weave_avx512(weaver, v, k);
  store_run_avx512(dst, v, bytes * k, stream);
}

VBMI TESELA__INLINE void unweave_part_avx512(const weaver_avx512 *weaver, unsigned char *dst, int64_t pitch,
                                             const unsigned char *src, int64_t bytes, int k) {
  __m512i v[8];
  load_run_avx512(v, src, bytes * k, k);
  unweave_avx512(weaver, v, k);
  store_streams_avx512(dst, pitch, v, bytes, k);
}

/* Whole vectors of the streams from byte `at` on; returns the byte after them. `ahead`: lines of dst are fetched. */
VBMI TESELA__INLINE int64_t weave_vectors_avx512(const weaver_avx512 *weaver, unsigned char *dst,
                                                 const unsigned char *src, int64_t pitch, int64_t at,
                                                 int64_t bytes, int k, bool stream, bool ahead) {
  for (; at + 64 <= bytes; at += 64) {
    __m512i v[8];
    TESELA__UNROLL_GCC
    for (int s = 0; s < k; s++) v[s] = _mm512_loadu_si512(src + s * pitch + at);
    weave_avx512(weaver, v, k);
    TESELA__UNROLL_GCC
    for (int i = 0; i < k; i++) {
      if (ahead) __builtin_prefetch(dst + k * at + 64 * (i + k), 1, 3);
      put_avx512(dst + k * at + 64 * i, v[i], stream);
    }
  }
  return at;
}

VBMI TESELA__INLINE void weave_row_avx512(const weaver_avx512 *weaver, const tesela__rows *rows,
                                          unsigned char *dst, const unsigned char *src, int64_t width,
                                          int k) {
  int64_t bytes = rows->n * width, pitch = rows->src_pitch;
  int64_t at = tesela__past_cache(rows) ? tesela__peel(dst, width, k) : -1;
  bool stream = at >= 0 && at <= bytes;
  if (!stream) at = 0;
  if (at) weave_part_avx512(weaver, dst, src, pitch, at, k, false);
  if (rows->stores == TESELA__TO_CACHE_AHEAD && (uintptr_t)dst % 64 != 0)
    at = weave_vectors_avx512(weaver, dst, src, pitch, at, bytes, k, false, true);
  else
    at = weave_vectors_avx512(weaver, dst, src, pitch, at, bytes, k, stream, false);
  if (at < bytes && !stream && bytes >= 64) /* a vector that overlaps those before it is faster than a part */
    weave_vectors_avx512(weaver, dst, src, pitch, bytes - 64, bytes, k, false, false);
  else if (at < bytes)
    weave_part_avx512(weaver, dst + k * at, src + at, pitch, bytes - at, k, stream);
}

/* Take whole vectors apart to streams that begin within lines: each line of dst is of two vectors, the one before and this one. The parts of
 * lines at both ends are stored through the cache. */
VBMI TESELA__INLINE void unweave_shifted_avx512(const weaver_avx512 *weaver, unsigned char *dst,
                                                int64_t pitch, const unsigned char *src, int64_t bytes,
                                                int k) {
  __m512i last[8], from[8]; /* from: of each byte of a line, in the vector before or (64 and more) this one */
  unsigned char *line[8];
  __mmask64 before[8];
  for (int s = 0; s < k; s++) {
    const int64_t phase = (int64_t)((uintptr_t)(dst + s * pitch) & 63);
    line[s] = dst + s * pitch - phase;
    from[s] = _mm512_add_epi8(_mm512_loadu_si512(count_avx512), _mm512_set1_epi8((char)(64 - phase)));
    last[s] = _mm512_setzero_si512();
    before[s] = mask_of_avx512(phase);
  }
  for (int64_t at = 0; at < bytes; at += 64) {
    __m512i v[8];
    TESELA__UNROLL_GCC
    for (int i = 0; i < k; i++) v[i] = _mm512_loadu_si512(src + k * at + 64 * i);
    unweave_avx512(weaver, v, k);
    TESELA__UNROLL_GCC
    for (int s = 0; s < k; s++) {
      const __m512i whole = _mm512_permutex2var_epi8(last[s], from[s], v[s]);
      last[s] = v[s];
      if (at > 0)
        _mm512_stream_si512((void *)(line[s] + at), whole);
      else
        store_line_avx512(line[s], &whole, ~before[s]);
    }
  }
  for (int s = 0; s < k; s++) {
    const __m512i rest = _mm512_permutex2var_epi8(last[s], from[s], _mm512_setzero_si512());
    store_line_avx512(line[s] + bytes, &rest, before[s]);
  }
}

/* Streams that lines do not begin at together are shifted, if they have so many bytes. */
enum { SHIFTED_LEAST = 256 };

/* 64 bytes of each stream from byte `at` on. */
VBMI TESELA__INLINE void unweave_step_avx512(const weaver_avx512 *weaver, unsigned char *dst, int64_t pitch,
                                             const unsigned char *src, int64_t at, int k, bool stream) {
  __m512i v[8];
  TESELA__UNROLL_GCC
  for (int i = 0; i < k; i++) v[i] = _mm512_loadu_si512(src + k * at + 64 * i);
  unweave_avx512(weaver, v, k);
  TESELA__UNROLL_GCC
  for (int s = 0; s < k; s++) put_avx512(dst + s * pitch + at, v[s], stream);
}

/* Some vectors of each stream from byte `at` on, which are stored together; returns the byte after them. In turn with those of the other
 * streams each store to two lines would wait for both. `ahead`: lines of dst are fetched. */
VBMI TESELA__INLINE int64_t unweave_vectors_avx512(const weaver_avx512 *weaver, unsigned char *dst,
                                                   int64_t pitch, const unsigned char *src, int64_t at,
                                                   int64_t bytes, int k, bool ahead) {
  const int steps = k == 2 ? 4 : k == 3 ? 3 : 2;
  for (; at + 64 * steps <= bytes; at += 64 * steps) {
    __m512i v[16];
    TESELA__UNROLL_GCC
    for (int i = 0; i < k * steps; i++) v[i] = _mm512_loadu_si512(src + k * at + 64 * i);
    TESELA__UNROLL_GCC
    for (int i = 0; i < steps; i++) unweave_avx512(weaver, v + k * i, k);
    TESELA__UNROLL_GCC
    for (int s = 0; s < k; s++) {
      TESELA__UNROLL_GCC
      for (int i = 0; i < steps; i++) {
        if (ahead) __builtin_prefetch(dst + s * pitch + at + 64 * (i + steps), 1, 3);
        _mm512_storeu_si512(dst + s * pitch + at + 64 * i, v[k * i + s]);
      }
    }
  }
  return at;
}

VBMI TESELA__INLINE void unweave_row_avx512(const weaver_avx512 *weaver, const tesela__rows *rows,
                                            unsigned char *dst, const unsigned char *src, int64_t width,
                                            int k) {
  const int64_t bytes = rows->n * width, pitch = rows->dst_pitch;
  const bool past = tesela__past_cache(rows);
  int64_t at = past && pitch % 64 == 0 ? tesela__peel(dst, width, 1) : -1;
  bool stream = at >= 0 && at <= bytes;
  if (!stream) at = 0;
  if (at) unweave_part_avx512(weaver, dst, pitch, src, at, k);
  if (past && !stream && bytes >= SHIFTED_LEAST) {
    at = bytes / 64 * 64;
    unweave_shifted_avx512(weaver, dst, pitch, src, at, k);
  } else if (rows->stores == TESELA__TO_CACHE_AHEAD) {
    at = unweave_vectors_avx512(weaver, dst, pitch, src, at, bytes, k, true);
  } else if (!past) {
    at = unweave_vectors_avx512(weaver, dst, pitch, src, at, bytes, k, false);
  }
  for (; at + 64 <= bytes; at += 64) unweave_step_avx512(weaver, dst, pitch, src, at, k, stream);
  if (at < bytes && !past && bytes >= 64)
    unweave_step_avx512(weaver, dst, pitch, src, bytes - 64, k, false);
  else if (at < bytes)
    unweave_part_avx512(weaver, dst + at, pitch, src + k * at, bytes - at, k);
}

/* ---- kernels: one body for each k, shared by the widths ------------------------------------------------------ */

#define BODY(name, row, k, back)                                                                          \
  VBMI static void name(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,             \
                        const unsigned char *src, const int64_t *src_off, int64_t count, int64_t width) { \
    weaver_avx512 weaver = weaver_of_avx512(width, k, back);                                              \
    for (int64_t i = 0; i < count; i++) row(&weaver, rows, dst + dst_off[i], src + src_off[i], width, k); \
  }
#define KERNEL(name, body, width)                                                                           \
  void name(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off, const unsigned char *src, \
            const int64_t *src_off, int64_t count) {                                                        \
    body(rows, dst, dst_off, src, src_off, count, width);                                                   \
  }
#define KERNELS(k)                                                        \
  BODY(weave_x##k##_avx512, weave_row_avx512, k, false)                   \
  BODY(unweave_x##k##_avx512, unweave_row_avx512, k, true)                \
  KERNEL(tesela__k_interleave1_x##k##_avx512, weave_x##k##_avx512, 1)     \
  KERNEL(tesela__k_interleave2_x##k##_avx512, weave_x##k##_avx512, 2)     \
  KERNEL(tesela__k_interleave4_x##k##_avx512, weave_x##k##_avx512, 4)     \
  KERNEL(tesela__k_interleave8_x##k##_avx512, weave_x##k##_avx512, 8)     \
  KERNEL(tesela__k_interleave16_x##k##_avx512, weave_x##k##_avx512, 16)   \
  KERNEL(tesela__k_deinterleave1_x##k##_avx512, unweave_x##k##_avx512, 1) \
  KERNEL(tesela__k_deinterleave2_x##k##_avx512, unweave_x##k##_avx512, 2) \
  KERNEL(tesela__k_deinterleave4_x##k##_avx512, unweave_x##k##_avx512, 4) \
  KERNEL(tesela__k_deinterleave8_x##k##_avx512, unweave_x##k##_avx512, 8) \
  KERNEL(tesela__k_deinterleave16_x##k##_avx512, unweave_x##k##_avx512, 16)
KERNELS(2)
KERNELS(3)
KERNELS(4)
KERNELS(8)

#undef KERNELS
#undef KERNEL
#undef BODY
#undef PERMUTES
#undef COUNT
#undef UNWEAVE3
#undef WEAVE3
#undef UNWEAVE
#undef WEAVE
#undef APART
#undef VBMI
#endif
