/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base.h - what every module shares inside the library: failing, checked arithmetic, text, memory.
 */
#ifndef TESELA_SRC_BASE_H
#define TESELA_SRC_BASE_H

#include <inttypes.h>
#include <limits.h>
#include <stdalign.h>
#include <string.h>

#include <tesela/base.h>

/* ---- failing ---------------------------------------------------------------------------------------------- */

/* Fill err (may be NULL) and return status: `return tesela__fail(err, TESELA_E_RANGE, at, "...")`. */
tesela_status tesela__fail(tesela_error *err, tesela_status status, int64_t at, const char *format, ...)
    TESELA_PRINTF(4, 5);

/* The same with the finer reason. */
tesela_status tesela__refuse(tesela_error *err, tesela_status status, tesela_reason reason,
                             const char *format, ...) TESELA_PRINTF(4, 5);

/* "expected 0 to 4", or what to say where no number is allowed. */
void tesela__range_text(int64_t least, int64_t most, char *text, size_t room);

/* ---- checked int64: false when the result does not fit; *out is then unspecified -------------------------- */

static inline bool tesela__add(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_add_overflow(a, b, out);
}
static inline bool tesela__sub(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_sub_overflow(a, b, out);
}
static inline bool tesela__mul(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_mul_overflow(a, b, out);
}

/* n >= 0, t >= 1. */
static inline int64_t tesela__ceil_div(int64_t n, int64_t t) { return n / t + (n % t != 0); }

/* n >= 0, t >= 1: the next multiple of t. */
static inline bool tesela__round_up(int64_t n, int64_t t, int64_t *out) {
  return tesela__mul(tesela__ceil_div(n, t), t, out);
}

static inline int64_t tesela__min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t tesela__max(int64_t a, int64_t b) { return a > b ? a : b; }

/* End a text that was cut to room - 1 bytes at a word, with "..." after it; room is 8 or more. */
void tesela__end_cut(char *text, size_t room);

int64_t tesela__gcd(int64_t a, int64_t b); /* a, b >= 0; gcd(0, b) = b */

/* ---- text ------------------------------------------------------------------------------------------------- */

/* A sink collects small pieces in a block and passes them on; after the first refusal it swallows the rest. */
typedef struct tesela__sink {
  const tesela_writer *to;
  bool stopped;
  size_t used;
  char block[256];
} tesela__sink;

static inline void tesela__sink_init(tesela__sink *sink, const tesela_writer *to) {
  sink->to = to;
  sink->stopped = false;
  sink->used = 0;
}
void tesela__put(tesela__sink *sink, const char *text, size_t length);
void tesela__puts(tesela__sink *sink, const char *text);
void tesela__putc(tesela__sink *sink, char c);
void tesela__put_int(tesela__sink *sink, int64_t value);
void tesela__putf(tesela__sink *sink, const char *format, ...) TESELA_PRINTF(2, 3); /* up to 255 bytes */
/* Pass on what is left. TESELA_E_STOPPED if the writer refused. */
tesela_status tesela__sink_finish(tesela__sink *sink, tesela_error *err);

/* Edits between two words: letters to insert, drop, change, or swap with a neighbour, whatever their case. Of a word beyond
 * TESELA__EDITS_WORD bytes the length of the longer one. */
enum { TESELA__EDITS_WORD = 48 };
size_t tesela__edits(const char *a, size_t n, const char *b, size_t m);

/* tesela_nearest over names that end at any of these: "dims=None", "mma.m16n8k16". */
#define TESELA__NAME_ENDS ",= ."
const char *tesela__nearest(const char *word, size_t length,
                            const char *(*candidate)(const void *user, int32_t i), const void *user);

/* ---- what the CPU can do ---------------------------------------------------------------------------------- */

#if (defined(__x86_64__) || defined(__i386__)) && (defined(__GNUC__) || defined(__clang__))
#define TESELA__X86 1
#define TESELA__TARGET(isa) __attribute__((target(isa)))
#else
#define TESELA__X86 0
#define TESELA__TARGET(isa)
#endif
#if defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__)
#define TESELA__NEON 1
#else
#define TESELA__NEON 0
#endif

enum {
  TESELA__CPU_NEON = 1,
  TESELA__CPU_AVX2 = 2,
  TESELA__CPU_AVX512 = 4, /* F, BW, VL and DQ */
  TESELA__CPU_VBMI = 8,   /* with AVX512: byte permutes */
};
unsigned tesela__cpu(void); /* the TESELA__CPU_* bits of the CPU that runs */

/* ---- memory ----------------------------------------------------------------------------------------------- */

/* The caller's allocator, or malloc and free for NULL. */
tesela_allocator tesela__allocator(const tesela_allocator *allocator);
void *tesela__alloc(const tesela_allocator *allocator, size_t size, size_t align);
void tesela__release(const tesela_allocator *allocator, void *memory); /* NULL is fine */
/* Grow an array of `*capacity` items of `size` bytes to hold at least `need`; contents kept. false: no memory. */
bool tesela__grow(const tesela_allocator *allocator, void **items, size_t size, size_t *capacity,
                  size_t need);

#endif
