/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values_digest.c - a digest of the logical values. Its definition, which never changes:
 *
 * The stream. Words are 64-bit, stored in bytes with the least significant byte first, on every machine.
 *   header  the words: number of the type (dtype.h; 0 without one), bits of an element, rank, the extents; then zero
 *           words up to a multiple of four
 *   values  the bytes of a row-major array without padding: elements of whole bytes as in memory; smaller ones packed,
 *           the first one in the low bits of a byte
 *   end     zero bytes up to a multiple of 32
 *
 * The state is four words s[i], at first D71C40603D31DF33, A72059E2683E8565, F5860F4B4A5D30CD, CC348B0ADED44CDD. All
 * arithmetic is modulo 2^64, rotl(x, k) rotates to the left, A = AD15B292E10D296B, B = 951AEF020BC35CAD,
 * C = ED5BEC778AE84E07. For each block of four words w of the stream, for the pairs (i, j) = (0, 1) and (2, 3):
 *
 *   t = w[i] + rotl(w[j] * A, 32)        s[i] = rotl(s[i] + t, 27) * C
 *   u = w[j] + rotl(t * B, 32)           s[j] = rotl(s[j] + u, 27) * C
 *
 * For a given state, different blocks make different new states; for a given block, so do different states. Each word
 * of a block changes two words of the state.
 *
 * The digest is the words lo, hi, with mix(x): x ^= x >> 32; x *= A; x ^= x >> 29; x *= B; x ^= x >> 32:
 *
 *   lo = mix(mix(mix(mix(s[0]) ^ s[1]) ^ s[2]) ^ s[3])
 *   hi = mix(mix(mix(mix(s[3]) + s[2]) + s[1]) + s[0])
 */
#include <tesela/relayout.h>

#include "relayout/values.h"

#define DIGEST_A UINT64_C(0xAD15B292E10D296B)
#define DIGEST_B UINT64_C(0x951AEF020BC35CAD)
#define DIGEST_C UINT64_C(0xED5BEC778AE84E07)

enum { DIGEST_BLOCK = 32, DIGEST_GATHER = 2048 };

typedef struct digest_stream {
  uint64_t s[4];
  size_t used; /* bytes of a block that is not full yet */
  uint8_t block[DIGEST_BLOCK];
  unsigned part;     /* elements below 8 bits that do not fill a byte yet */
  int32_t part_bits; /* number of these bits */
} digest_stream;

/* ---- the hash --------------------------------------------------------------------------------------------- */

static uint64_t digest_word(const uint8_t *p) {
  return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
         (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

static void digest_put_word(uint8_t *p, uint64_t word) {
  for (int i = 0; i < 8; i++) p[i] = (uint8_t)(word >> 8 * i);
}

static uint64_t digest_rotate(uint64_t x, int k) { return x << k | x >> (64 - k); }

static void digest_blocks(digest_stream *d, const uint8_t *bytes, size_t n) {
  uint64_t s[4];
  memcpy(s, d->s, sizeof s);
  for (; n > 0; n -= DIGEST_BLOCK, bytes += DIGEST_BLOCK)
    for (int i = 0; i < 4; i += 2) {
      uint64_t high = digest_word(bytes + 8 * i + 8);
      uint64_t t = digest_word(bytes + 8 * i) + digest_rotate(high * DIGEST_A, 32);
      uint64_t u = high + digest_rotate(t * DIGEST_B, 32);
      s[i] = digest_rotate(s[i] + t, 27) * DIGEST_C;
      s[i + 1] = digest_rotate(s[i + 1] + u, 27) * DIGEST_C;
    }
  memcpy(d->s, s, sizeof s);
}

static void digest_bytes(digest_stream *d, const uint8_t *bytes, size_t n) {
  if (d->used > 0) {
    size_t take = n < DIGEST_BLOCK - d->used ? n : DIGEST_BLOCK - d->used;
    memcpy(d->block + d->used, bytes, take);
    d->used += take;
    bytes += take;
    n -= take;
    if (d->used < DIGEST_BLOCK) return;
    digest_blocks(d, d->block, DIGEST_BLOCK);
    d->used = 0;
  }
  digest_blocks(d, bytes, n / DIGEST_BLOCK * DIGEST_BLOCK);
  d->used = n % DIGEST_BLOCK;
  memcpy(d->block, bytes + (n - d->used), d->used);
}

/* Append zeros up to a whole block. */
static void digest_fill(digest_stream *d) {
  static const uint8_t zeros[DIGEST_BLOCK];
  if (d->used > 0) digest_bytes(d, zeros, DIGEST_BLOCK - d->used);
}

static uint64_t digest_mix(uint64_t x) {
  x ^= x >> 32;
  x *= DIGEST_A;
  x ^= x >> 29;
  x *= DIGEST_B;
  return x ^ x >> 32;
}

/* ---- the stream ------------------------------------------------------------------------------------------- */

static void digest_header(digest_stream *d, const tesela_layout *layout) {
  uint8_t word[8];
  *d = (digest_stream){.s = {UINT64_C(0xD71C40603D31DF33), UINT64_C(0xA72059E2683E8565),
                             UINT64_C(0xF5860F4B4A5D30CD), UINT64_C(0xCC348B0ADED44CDD)}};
  for (int32_t i = -3; i < layout->rank; i++) {
    int64_t value = i == -3   ? (int64_t)layout->dtype
                    : i == -2 ? layout->bits
                    : i == -1 ? layout->rank
                              : layout->shape[i];
    digest_put_word(word, (uint64_t)value);
    digest_bytes(d, word, sizeof word);
  }
  digest_fill(d);
}

/* n elements of `width` bytes, each `pitch` bytes after the previous one. */
static void digest_whole_bytes(digest_stream *d, const uint8_t *from, int64_t pitch, size_t width,
                               int64_t n) {
  uint8_t gathered[DIGEST_GATHER];
  if (pitch == (int64_t)width || n == 1) {
    digest_bytes(d, from, (size_t)n * width);
    return;
  }
  for (int64_t i = 0; i < n;) {
    size_t used = 0;
#define TESELA__ROW(bytes)                                     \
  case bytes: /* a copy of known size is a load and a store */ \
    for (; i < n && used < DIGEST_GATHER; i++, used += bytes)  \
      memcpy(gathered + used, from + i * pitch, bytes);        \
    break;
    switch (width) {
      TESELA__ROW(1)
      TESELA__ROW(2)
      TESELA__ROW(4)
      TESELA__ROW(8)
    default:
      TESELA__ROW(16)
    }
#undef TESELA__ROW
    digest_bytes(d, gathered, used);
  }
}

static void digest_part(digest_stream *d, unsigned element, int32_t bits) {
  d->part |= element << d->part_bits;
  d->part_bits += bits;
  if (d->part_bits < 8) return;
  uint8_t byte = (uint8_t)d->part;
  d->part = 0;
  d->part_bits = 0;
  digest_bytes(d, &byte, 1);
}

static void digest_parts_of_bytes(digest_stream *d, const uint8_t *data, const tesela__values *v, int64_t n,
                                  int32_t bits) {
  int64_t per_byte = 8 / bits, i = 0;
  if (v->stride == 1 && d->part_bits == 0 && v->place % per_byte == 0) {
    i = n - n % per_byte;
    digest_bytes(d, data + v->place / per_byte, (size_t)(i / per_byte));
  }
  for (; i < n; i++) digest_part(d, tesela__values_bits(data, v->place + i * v->stride, bits), bits);
}

tesela_status tesela_values_digest(const tesela_layout *layout, const void *data, uint8_t digest[16],
                                   const tesela_run_options *options, tesela_error *err) {
  TESELA__NEED(err, layout, digest);
  TESELA__NEED_CLEAR(err, options);
  digest_stream d;
  tesela__values v;
  int32_t bits = layout->bits, width = bits / 8;
  tesela_status status = tesela__values_begin(&v, layout, err);
  if (status != TESELA_OK) return status;
  TESELA__NEED_LIST(err, data, v.more);
  digest_header(&d, layout);
  tesela__values_watch watch = tesela__values_watch_begin(layout, options);
  for (int64_t n; v.more; tesela__values_skip(&v, n)) {
    n = tesela__min(v.left, TESELA__VALUES_STEP);
    if (tesela__values_stops(&watch, n)) return tesela__fail_stopped(err);
    if (bits < 8)
      digest_parts_of_bytes(&d, data, &v, n, bits);
    else
      digest_whole_bytes(&d, (const uint8_t *)data + v.place * width, v.stride * width, (size_t)width, n);
  }
  while (d.part_bits > 0) digest_part(&d, 0, bits);
  digest_fill(&d);
  uint64_t lo = 0, hi = 0;
  for (int i = 0; i < 4; i++) {
    lo = digest_mix(lo ^ d.s[i]);
    hi = digest_mix(hi + d.s[3 - i]);
  }
  digest_put_word(digest, lo);
  digest_put_word(digest + 8, hi);
  return TESELA_OK;
}
