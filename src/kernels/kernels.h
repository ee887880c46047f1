/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - the copy kernels, which are the inner loops of relayout, and their table.
 *
 * Kernels move bits; only conversions depend on types. All kernels have base addresses and tables of byte offsets, so
 * that any nest of loops can call them. A kernel accesses only the bytes that its contract names, and needs no
 * alignment unless stated. PAST_CACHE allows stores past the cache (non-temporal): the kernel uses them for whole aligned
 * 64-byte lines of dst, and ordinary stores for the rest; at the end the caller calls tesela__fence. Conversions of
 * rows stream whole steps of 16 bytes or more, at addresses that are a multiple of the bytes of a step.
 */
#ifndef TESELA_SRC_KERNELS_H
#define TESELA_SRC_KERNELS_H

#include <tesela/base.h>

#include "base/base.h"

/* Kinds of kernels, with the meaning of `width` and `k` in their rows of the table. */
typedef enum tesela__kernel_kind {
  /* rows: copy row i of `count` from src + src_off[i] to dst + dst_off[i] (offsets in bytes, any int64) */
  TESELA__K_COPY,       /* n bytes per row; width 0 */
  TESELA__K_INTERLEAVE, /* k streams of n elements of `width` bytes, stream s at src + src_pitch*s, become n*k
                             neighbours: element e of stream s becomes number e*k + s. k 0 in the table: any k */
  TESELA__K_DEINTERLEAVE, /* the reverse: number e*k + s of src becomes element e of stream s at dst + dst_pitch*s */
  TESELA__K_STRIDED, /* n elements of `width` bytes, src_pitch and dst_pitch bytes apart (0 and negative allowed). May read
                        bytes of src between two elements of the row */
  TESELA__K_STRIDED_BITS, /* n elements of `width` BITS (1, 2, 4), pitches and all offsets in bits; width 1, 2, 4. Other
                             bits of a byte of dst are kept */
  TESELA__K_COPY_BITS, /* n bits per row, offsets in bits from the base addresses; width 0; other bits are kept */
  TESELA__K_SLICE, /* k rows, 1 to 8 / width, of n elements of `width` BITS (1, 2, 4) become one of n bytes: element e of row t is bits t*width
                      and more of byte e, where bits of other rows are 0. Row t of those of dst_off[i] (bytes) is at src_off[i*k + t] (bits) */
  TESELA__K_UNSLICE, /* the reverse, from src_off[i] in bytes to dst_off[i*k + t] in bits; other bits of dst are kept, of src
                        ignored */
  TESELA__K_PERMUTE,      /* blocks that are all moved alike, see tesela__permute; width 0 */
  TESELA__K_PERMUTE_BITS, /* the same for blocks whose bits change places; width 0 */
  /* blocks */
  TESELA__K_TRANSPOSE, /* elements of `width` bytes; see tesela__transpose_fn */
  /* one row, contiguous */
  TESELA__K_CONVERT,       /* `width` is a tesela__conversion; see tesela__convert_fn */
  TESELA__K_BIT_BLOCK,     /* `width` is 1, 2 or 4 bits; see tesela__bit_block_fn */
  TESELA__K_BIT_TRANSPOSE, /* the same, where there is one; see tesela__bit_transpose_fn */
  TESELA__K_STREAM,        /* see tesela__stream_fn; width 0 */
  TESELA__K_STREAM_ROWS,   /* see tesela__stream_rows_fn; width 0 */
} tesela__kernel_kind;

/* How a block is moved: a line of 64 bytes of dst at a time, its bytes picked from stretches of src. These have up to 64 bytes, or as many as
 * the kernel's row of the table says. */
typedef struct tesela__line_pick {
  int64_t from;         /* the stretch, from the block's src */
  uint64_t read, write; /* bit i: byte i of the stretch is read; byte i of the line is picked here */
  uint8_t index[64];    /* of the byte of the stretch that is byte i of the line; or NO_BYTE */
} tesela__line_pick;

/* Bits of a line: picks make 64 bytes, others 0; then byte i of the line has, under mask[i], bits shift[i] to shift[i] + 7 of the 64 bits
 * that are its 8 of these bytes (0 to 7, 8 to 15, ...); after bit 63 comes bit 0. */
typedef struct tesela__bit_round {
  int32_t first, n; /* its picks */
  uint8_t shift[64], mask[64];
} tesela__bit_round;

typedef struct tesela__picked_line {
  int64_t to;       /* from the block's dst */
  uint64_t write;   /* bit i: byte i is written */
  int32_t first, n; /* its picks; of bits its rounds */
  bool
      keeps; /* of bits: written bytes have bits that are kept: those that the mask of one more round does not have */
} tesela__picked_line;

enum {
  TESELA__NO_BYTE = 128,
  TESELA__PERMUTE_BLOCKS = 8 /* of bits, that kernels move at a time, line by line; of bytes half as many */
};

typedef struct tesela__permute {
  const tesela__picked_line *line;
  const tesela__line_pick *pick;
  const tesela__bit_round *round; /* of PERMUTE_BITS */
  int32_t n_lines;
  const uint8_t *fill; /* 64 bytes, for bytes that are written and not picked; or NULL if all are picked */
} tesela__permute;

/* How a kernel stores. AHEAD: it may fetch the lines of dst that it will store to, which are not in the first cache. */
typedef enum tesela__stores {
  TESELA__TO_CACHE,
  TESELA__PAST_CACHE,
  TESELA__TO_CACHE_AHEAD,
} tesela__stores;

typedef struct tesela__rows {
  int64_t n;         /* bytes, elements or bits of a row, >= 1 */
  int64_t k;         /* streams */
  int64_t src_pitch; /* between streams or elements, see the kind */
  int64_t dst_pitch;
  tesela__stores stores;
  tesela__permute permute;
} tesela__rows;

static inline bool tesela__past_cache(const tesela__rows *rows) { return rows->stores == TESELA__PAST_CACHE; }

typedef void tesela__rows_fn(const tesela__rows *rows, unsigned char *dst, const int64_t *dst_off,
                             const unsigned char *src, const int64_t *src_off, int64_t count);

/* A tile of `rows` x `cols` elements, 1 <= rows, cols, in blocks of the size in the table row:
     element i of dst row j (at dst + dst_off[j])  =  element j of src row i (at src + src_off[i])
 * Reads `cols` elements of each src row, and perhaps bytes between it and the end of the last one; writes `rows` elements of each dst row.
 * With PAST_CACHE every dst row is aligned to 64 bytes and block*width is a multiple of 64: all stores of blocks with all rows are
 * non-temporal. */
typedef void tesela__transpose_fn(unsigned char *dst, const int64_t *dst_off, const unsigned char *src,
                                  const int64_t *src_off, int32_t rows, int32_t cols, tesela__stores stores);

/* Convert n neighbours from src to dst, which do not overlap. Elements below 8 bits are packed from the low bits of
 * byte 0 on, and the unused high bits of the last byte of dst are kept. */
typedef void tesela__convert_fn(unsigned char *dst, const unsigned char *src, int64_t n);

/* Small transposes inside an element of 4, 8 or 16 bytes. "rows x columns x bits": a row-major matrix of rows x columns
 * numbers with this number of bits becomes its transpose. Symbol, value, name, src bits, dst bits. */
#define TESELA__MIX_MAP(X)                         \
  X(TESELA__MIX_2X2X8, 21, "mix2x2x8", 32, 32)     \
  X(TESELA__MIX_2X4X8, 22, "mix2x4x8", 64, 64)     \
  X(TESELA__MIX_4X2X8, 23, "mix4x2x8", 64, 64)     \
  X(TESELA__MIX_2X8X8, 24, "mix2x8x8", 128, 128)   \
  X(TESELA__MIX_8X2X8, 25, "mix8x2x8", 128, 128)   \
  X(TESELA__MIX_4X4X8, 26, "mix4x4x8", 128, 128)   \
  X(TESELA__MIX_2X2X16, 27, "mix2x2x16", 64, 64)   \
  X(TESELA__MIX_2X4X16, 28, "mix2x4x16", 128, 128) \
  X(TESELA__MIX_4X2X16, 29, "mix4x2x16", 128, 128) \
  X(TESELA__MIX_2X2X32, 30, "mix2x2x32", 128, 128)

/* Between the types of hosts and devices; tesela_transform_check defines them. Narrower integers keep the low bits.
 * Symbol, value, name, src bits, dst bits. */
#define TESELA__NUMBERS_MAP(X)                       \
  X(TESELA__BF16_TO_F16, 31, "bf16->f16", 16, 16)    \
  X(TESELA__F16_TO_BF16, 32, "f16->bf16", 16, 16)    \
  X(TESELA__PRED8_TO_F16, 33, "pred8->f16", 8, 16)   \
  X(TESELA__F16_TO_PRED8, 34, "f16->pred8", 16, 8)   \
  X(TESELA__PRED8_TO_BF16, 35, "pred8->bf16", 8, 16) \
  X(TESELA__BF16_TO_PRED8, 36, "bf16->pred8", 16, 8) \
  X(TESELA__PRED8_TO_F32, 37, "pred8->f32", 8, 32)   \
  X(TESELA__F32_TO_PRED8, 38, "f32->pred8", 32, 8)   \
  X(TESELA__S64_TO_S32, 39, "s64->s32", 64, 32)      \
  X(TESELA__S32_TO_S64, 40, "s32->s64", 32, 64)      \
  X(TESELA__S32_TO_S8, 41, "s32->s8", 32, 8)         \
  X(TESELA__S8_TO_S32, 42, "s8->s32", 8, 32)         \
  X(TESELA__S32_TO_S16, 43, "s32->s16", 32, 16)      \
  X(TESELA__S16_TO_S32, 44, "s16->s32", 16, 32)      \
  X(TESELA__U64_TO_U32, 45, "u64->u32", 64, 32)      \
  X(TESELA__U32_TO_U64, 46, "u32->u64", 32, 64)      \
  X(TESELA__U32_TO_U8, 47, "u32->u8", 32, 8)         \
  X(TESELA__U8_TO_U32, 48, "u8->u32", 8, 32)         \
  X(TESELA__U32_TO_U16, 49, "u32->u16", 32, 16)      \
  X(TESELA__U16_TO_U32, 50, "u16->u32", 16, 32)      \
  X(TESELA__F64_TO_F32, 51, "f64->f32", 64, 32)      \
  X(TESELA__F32_TO_F64, 52, "f32->f64", 32, 64)

/* One type of 4, 2 or 1 bits, in bytes of its own and packed: the low bits; back, with the sign or with zeros (s4 and
   pred have these above). Symbol, value, name, src bits, dst bits. */
#define TESELA__NARROW_MAP(X)                \
  X(TESELA__LOW_8_TO_4, 53, "low8->4", 8, 4) \
  X(TESELA__LOW_8_TO_2, 54, "low8->2", 8, 2) \
  X(TESELA__LOW_8_TO_1, 55, "low8->1", 8, 1) \
  X(TESELA__U4_TO_8, 56, "u4->8", 4, 8)      \
  X(TESELA__U2_TO_8, 57, "u2->8", 2, 8)      \
  X(TESELA__S2_TO_8, 58, "s2->8", 2, 8)      \
  X(TESELA__S1_TO_8, 59, "s1->8", 1, 8)

/* symbol, value, name, src bits, dst bits */
#define TESELA__CONVERSION_MAP(X)                \
  X(TESELA__F32_TO_BF16, 1, "f32->bf16", 32, 16) \
  X(TESELA__BF16_TO_F32, 2, "bf16->f32", 16, 32) \
  X(TESELA__F32_TO_F16, 3, "f32->f16", 32, 16)   \
  X(TESELA__F16_TO_F32, 4, "f16->f32", 16, 32)   \
  X(TESELA__S8_TO_S4, 5, "s8->s4", 8, 4)         \
  X(TESELA__S4_TO_S8, 6, "s4->s8", 4, 8)         \
  X(TESELA__PRED8_TO_1, 7, "pred8->1", 8, 1)     \
  X(TESELA__PRED1_TO_8, 8, "pred1->8", 1, 8)     \
  X(TESELA__PRED8_TO_32, 9, "pred8->32", 8, 32)  \
  X(TESELA__PRED32_TO_8, 10, "pred32->8", 32, 8) \
  X(TESELA__PRED1_TO_32, 11, "pred1->32", 1, 32) \
  X(TESELA__PRED32_TO_1, 12, "pred32->1", 32, 1) \
  X(TESELA__SPLIT_F64, 13, "f64->2xf32", 64, 64) \
  X(TESELA__MERGE_F64, 14, "2xf32->f64", 64, 64) \
  X(TESELA__SWAP16, 15, "swap16", 16, 16)        \
  X(TESELA__SWAP32, 16, "swap32", 32, 32)        \
  X(TESELA__SWAP64, 17, "swap64", 64, 64)        \
  X(TESELA__SWAP128, 18, "swap128", 128, 128)    \
  X(TESELA__SWAP_C64, 19, "swap2x32", 64, 64)    \
  X(TESELA__SWAP_C128, 20, "swap2x64", 128, 128) \
  TESELA__NUMBERS_MAP(X)                         \
  TESELA__NARROW_MAP(X)                          \
  TESELA__MIX_MAP(X)

typedef enum tesela__conversion {
  TESELA__CONVERSION_NONE = 0,
#define TESELA__ROW(symbol, value, name, src_bits, dst_bits) symbol = value,
  TESELA__CONVERSION_MAP(TESELA__ROW)
#undef TESELA__ROW
} tesela__conversion;

/* Sub-byte transposes, first half. m = 8 / width elements share a byte. The m rows of `bytes` bytes at src + src_off[i]
 * become m rows at dst + dst_pitch*j, so that byte c of row j has element c*m + j of each src row: that of row i in
 * bits i*width .. i*width + width-1. Row i begins at bit shift[i] of its first byte, 0 to 7, and then one byte more of it is read; no shift: at
 * bit 0. */
typedef void tesela__bit_block_fn(unsigned char *dst, int64_t dst_pitch, const unsigned char *src,
                                  const int64_t *src_off, const int32_t *shift, int64_t bytes);

/* Sub-byte transposes, whole. Of TESELA__BIT_GROUPS * m rows as above, TESELA__BIT_STEP bytes of each or more, element k of row i becomes
 * bits i % m * width .. of byte i / m at dst + column*k, so that each of the bytes * m columns gets TESELA__BIT_GROUPS bytes. The lines `ahead`
 * bytes after those of the rows are prefetched, each when its row is read, whose page is known then; unless that is 0. */
enum { TESELA__BIT_GROUPS = 16, TESELA__BIT_STEP = 32 };
typedef void tesela__bit_transpose_fn(unsigned char *dst, int64_t column, const unsigned char *src,
                                      const int64_t *src_off, const int32_t *shift, int64_t bytes,
                                      int64_t ahead);

/* Copy lines*64 bytes from src (any alignment) to dst (aligned to 64) with non-temporal stores. */
typedef void tesela__stream_fn(unsigned char *dst, const unsigned char *src, int64_t lines);

/* Copy rows of n bytes, row i from src + pitch*i to dst + dst_off[i*step]: whole lines of dst with non-temporal stores. Rows go on from call
 * to call. Unless they begin here, the 64 bytes before each row in src come before it in dst, and the part of a line that the call before has
 * left out is written with them. Unless they end here, the part of a line at the end of a row is left out, and the last 64 bytes up to its end
 * are copied to keep[i]; then n is 64 or more. */
typedef struct tesela__stream_rows {
  unsigned char *dst;
  const int64_t *dst_off;
  const unsigned char *src;
  int64_t step, pitch, count, n;
  bool begins, ends;
  unsigned char (*keep)[64]; /* not used if rows begin and end here */
} tesela__stream_rows;
typedef void tesela__stream_rows_fn(const tesela__stream_rows *rows);

/* For the steps of kernels: inlined, so that literal arguments become constants. */
#define TESELA__INLINE static inline __attribute__((always_inline))

typedef void tesela__any_fn(void);

typedef struct tesela__kernel {
  const char *name;
  tesela__any_fn *fn; /* cast to the type of its kind */
  unsigned isa;       /* TESELA__CPU_* bits it needs, 0 for C */
  tesela__kernel_kind kind;
  int32_t width;
  int32_t k;             /* streams of (de)interleave, 0 any; else 0 */
  int32_t block;         /* rows and cols of a transpose block; bytes of a stretch of a permute; else 0 */
  tesela__rows_fn *rows; /* of a conversion: fn for each row of n elements, or NULL */
} tesela__kernel;

/* The last row of the table for (kind, width, k) whose instruction set is in `isa` (TESELA__CPU_* bits); rows with k 0
 * match every k. The C kernels cover every width and k, so NULL is only for an invalid kind, width or k. */
const tesela__kernel *tesela__kernel_find(tesela__kernel_kind kind, int32_t width, int32_t k, unsigned isa);

/* The whole table, for tests and benches. */
const tesela__kernel *tesela__kernels(int32_t *n);

/* Order the streamed stores of this thread before all later stores. */
void tesela__fence(void);

#endif
