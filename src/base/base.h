/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base.h - shared by all modules of the library: errors, checked arithmetic, text, memory.
 */
#ifndef TESELA_SRC_BASE_H
#define TESELA_SRC_BASE_H

#include <inttypes.h>
#include <limits.h>
#include <stdalign.h>
#include <string.h>

#include <tesela/base.h>

/* ---- errors ----------------------------------------------------------------------------------------------- */

/* Fill err (may be NULL) and return status: `return tesela__fail(err, TESELA_E_RANGE, at, "...")`. */
tesela_status tesela__fail(tesela_error *err, tesela_status status, int64_t at, const char *format, ...)
    TESELA_PRINTF(4, 5);

/* The same with the finer reason. */
tesela_status tesela__refuse(tesela_error *err, tesela_status status, tesela_reason reason,
                             const char *format, ...) TESELA_PRINTF(4, 5);

/* A tesela_progress asked to stop: TESELA_E_STOPPED. */
tesela_status tesela__fail_stopped(tesela_error *err);

/* "expected 0 to 4", or another text if no number is valid. */
void tesela__range_text(int64_t least, int64_t most, char *text, size_t room);

/* The first of the names that `name` gives, "a, b, c, ...", each cut after 20 bytes; "" is a gap. Returns `list`. */
enum { TESELA__NAMES = 160 };
const char *tesela__names_text(const char *(*name)(const void *user, int32_t i), const void *user,
                               char list[TESELA__NAMES]);

/* The first lines of a public function: `TESELA__NEED(err, layout, sizes);` returns TESELA_E_INVALID, "argument sizes is NULL",
 * if one of up to 6 pointers is NULL; TESELA__NEED_LIST(err, dims, n) if a list of n > 0 items is. */
#define TESELA__NEED(err, ...)                                                                     \
  do {                                                                                             \
    if (TESELA__PICK(TESELA__NULL_, __VA_ARGS__)(__VA_ARGS__)) {                                   \
      tesela__say_null(err, #__VA_ARGS__, TESELA__PICK(TESELA__FIRST_, __VA_ARGS__)(__VA_ARGS__)); \
      return TESELA_E_INVALID; /* a constant: the compiler sees that it is not TESELA_OK */        \
    }                                                                                              \
  } while (0)
#define TESELA__NEED_LIST(err, list, n) \
  do {                                  \
    if (!(list) && (n) > 0) {           \
      tesela__say_null(err, #list, 0);  \
      return TESELA_E_INVALID;          \
    }                                   \
  } while (0)
/* TESELA_E_LIMIT for a buffer of more bytes than a pointer can address: a size_t may have only 32 bits. */
#define TESELA__NEED_ROOM(err, bytes)      \
  do {                                     \
    if ((uint64_t)(bytes) > PTRDIFF_MAX) { \
      tesela__say_too_large(err);          \
      return TESELA_E_LIMIT;               \
    }                                      \
  } while (0)
/* Next: the room to grow of an options struct, which may be NULL, must be 0. */
#define TESELA__NEED_CLEAR(err, options)                                                                 \
  do {                                                                                                   \
    if ((options) && tesela__is_filled((options)->reserved)) {                                           \
      tesela__fail(err, TESELA_E_INVALID, -1, "%s.reserved is not 0: clear the struct first", #options); \
      return TESELA_E_INVALID;                                                                           \
    }                                                                                                    \
  } while (0)
static inline bool tesela__is_filled(const int64_t reserved[4]) {
  return (reserved[0] | reserved[1] | reserved[2] | reserved[3]) != 0;
}
#define TESELA__PICK(prefix, ...) TESELA__PICKED(prefix, __VA_ARGS__, 6, 5, 4, 3, 2, 1, 0)
#define TESELA__PICKED(prefix, a, b, c, d, e, f, n, ...) prefix##n
#define TESELA__NULL_1(a) (!(a))
#define TESELA__NULL_2(a, ...) (!(a) || TESELA__NULL_1(__VA_ARGS__))
#define TESELA__NULL_3(a, ...) (!(a) || TESELA__NULL_2(__VA_ARGS__))
#define TESELA__NULL_4(a, ...) (!(a) || TESELA__NULL_3(__VA_ARGS__))
#define TESELA__NULL_5(a, ...) (!(a) || TESELA__NULL_4(__VA_ARGS__))
#define TESELA__NULL_6(a, ...) (!(a) || TESELA__NULL_5(__VA_ARGS__))
/* The number of the first NULL, without an array on the stack of functions that take nanoseconds. */
#define TESELA__FIRST_1(a) 0
#define TESELA__FIRST_2(a, ...) (!(a) ? 0 : 1 + TESELA__FIRST_1(__VA_ARGS__))
#define TESELA__FIRST_3(a, ...) (!(a) ? 0 : 1 + TESELA__FIRST_2(__VA_ARGS__))
#define TESELA__FIRST_4(a, ...) (!(a) ? 0 : 1 + TESELA__FIRST_3(__VA_ARGS__))
#define TESELA__FIRST_5(a, ...) (!(a) ? 0 : 1 + TESELA__FIRST_4(__VA_ARGS__))
#define TESELA__FIRST_6(a, ...) (!(a) ? 0 : 1 + TESELA__FIRST_5(__VA_ARGS__))
/* Fill err: name number `which` of "layout, sizes" is NULL. */
void tesela__say_null(tesela_error *err, const char *names, int which);
void tesela__say_too_large(tesela_error *err);

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

/* The tile that pads n to `padded`: the smallest power of two of 8 or more that rounds n up to it, or `padded`. 130 to 144: 16. */
static inline int64_t tesela__usual_tile(int64_t n, int64_t padded) {
  for (int64_t t = 8; n < padded && t <= padded / 2; t *= 2)
    if (padded % t == 0 && padded - n < t) return t;
  return padded;
}

static inline int64_t tesela__min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t tesela__max(int64_t a, int64_t b) { return a > b ? a : b; }

/* Shorten a text that was cut to room - 1 bytes to whole words and "..."; room is 8 or more. */
void tesela__end_cut(char *text, size_t room);

int64_t tesela__gcd(int64_t a, int64_t b); /* a, b >= 0; gcd(0, b) = b */

/* ---- text ------------------------------------------------------------------------------------------------- */

/* A sink collects small pieces in a block and passes them on; after the first refusal it drops the rest. */
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
/* Pass on the rest. TESELA_E_STOPPED if the writer refused. */
tesela_status tesela__sink_finish(tesela__sink *sink, tesela_error *err);

/* The length of the UTF-8 character at the beginning of a text, 1 to 4; 0 for an empty or invalid text. */
size_t tesela__utf8(const char *text, size_t length);

/* A text from outside, escaped and shortened, for "%s" in a message: control characters and bytes that are not UTF-8 as \x1b.
 * Returns `quoted`. */
enum { TESELA__QUOTE = 96 };
const char *tesela__quote(const char *text, size_t length, char quoted[TESELA__QUOTE]);

/* The decimal point of strtod and printf follows the locale; that of tesela's texts does not. */
char tesela__decimal_point(void);

/* Edits between two words: letters to insert, delete, change, or swap with a neighbour, ignoring case. For a word of
 * more than TESELA__EDITS_WORD bytes, the length of the longer one. */
enum { TESELA__EDITS_WORD = 48 };
size_t tesela__edits(const char *a, size_t n, const char *b, size_t m);

/* tesela_nearest over names that end at any of these: "dims=None", "mma.m16n8k16". */
#define TESELA__NAME_ENDS ",= ."
const char *tesela__nearest(const char *word, size_t length,
                            const char *(*candidate)(const void *user, int32_t i), const void *user);

/* ---- CPU features ---------------------------------------------------------------------------------- */

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
  TESELA__CPU_GFNI = 16,  /* with AVX512: matrices of bits */
};
unsigned tesela__cpu(void); /* the TESELA__CPU_* bits of this CPU */

/* ---- memory ----------------------------------------------------------------------------------------------- */

/* The caller's allocator, or malloc and free for NULL. */
tesela_allocator tesela__allocator(const tesela_allocator *allocator);
/* NULL also for more bytes than the machine can address: sizes are summed in 64 bits, even if size_t has fewer. */
void *tesela__alloc(const tesela_allocator *allocator, uint64_t size, size_t align);
void tesela__release(const tesela_allocator *allocator, void *memory); /* NULL is allowed */
/* Grow an array of `*capacity` items of `size` bytes to at least `need`; contents are kept. False: no memory. */
bool tesela__grow(const tesela_allocator *allocator, void **items, size_t size, size_t *capacity,
                  uint64_t need);

#endif
