/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - shared by the files of relayout: the problem, the pieces of a plan, the plan.
 *
 *   relayout_problem.c   two layouts -> coordinates with the digits of both sides refined to common ones
 *   box.c                partial tiles -> boxes: products of full loops, without tests inside; padding -> boxes to fill
 *   relayout_units.c     one box -> its coarsest form: bytes, wide elements, blocks
 *   relayout_cost.c      what each solver would cost
 *   padding.c            padding after its rows, which it writes, too
 *   relayout_solve.c     its solver; relayout_fit.c its tile (transpose_fit.c: of transposes; tile_grow.c: more loops for its sides);
 *                        piece.c a piece of the plan, with tables; levels.c its loops; prefetch.c what its tiles prefetch
 *   relayout_plan.c      create, destroy, describe; relayout_check.c: what is refused; relayout_names.c: names;
 *                        relayout_pieces.c (pieces.h): all pieces, or the gather
 *   relayout_run.c       all pieces, in chunks on threads
 *   permute.c            blocks of a few lines whose bytes are all moved alike
 *   permute_lines.c      the lines of such blocks, and what each is picked from
 *   permute_bits.c       the rounds of such blocks of elements below 8 bits
 *   bits_tile.c          tiles of elements below 8 bits, or of whole bytes, in buffers; bits_blocks.c: where they stay so; bits_fit.c: which ones;
 *                        bits_passes.c: in how many passes from buffer to buffer; bits_bands.c: partial tiles together with the others;
 *                        bits_run.c: one such tile
 *   tile.c               one tile of a piece, directly or through a buffer for rows that are not line-aligned
 *   window_edges.c       dst in windows: window.c for files, each copied in a buffer of its own;
 *                        window_stage.c in a run, where pieces would write parts of the same lines; window_try.c: is it run so?
 *   part.c               parts of both sides in buffers of their own (part.h); part_side.c: one side
 *   gather.c             copies that regular loops cannot express: by a walk, or
 *   gather_stretches.c   by groups of stretches of dst (stretches.c) in a buffer, in one to three passes (passes.c, gather_passes.c);
 *                        gather_sums.c by blocks in place; both with the tables of gather_block.c
 */
#ifndef TESELA_SRC_PLAN_H
#define TESELA_SRC_PLAN_H

#include <stdatomic.h>

#include <tesela/relayout.h>

#include "base/os.h"
#include "kernels/kernels.h"
#include "layout/layout.h"

enum {
  TESELA__LINE = 64,          /* bytes of a cache line */
  TESELA__MAX_LOOPS = 48,     /* of one box, after refinement */
  TESELA__MAX_PIECES = 512,   /* of one plan; with more, the gather copies */
  TESELA__MAX_TILE = 1024,    /* entries of a tile on each side */
  TESELA__STAGE = 72 << 10,   /* bytes of the buffer of tile.c in which rows of dst are staged */
  TESELA__PACK = 40 << 10,    /* and of that in which rows are packed */
  TESELA__CARRIED = 512,      /* lines that a tile begins and the next one ends, most */
  TESELA__CARRIED_FAR = 4096, /* those of all tiles up to the one that ends them, most */
};

#define TESELA__PADDING INT64_MIN /* in a table of src offsets: no src, the fill value */

/* ---- a layout as words (cache.c) --------------------------------------------------------------------------- */

enum {
  TESELA__LAYOUT_WORDS = 5 + TESELA_MAX_RANK + 2 * TESELA_MAX_JOINS + 4 * TESELA_MAX_AXES +
                         TESELA_MAX_AXES / 8 + 64 + 4 * TESELA_MAX_DIGITS
};
/* Write up to TESELA__LAYOUT_WORDS words, equal for equal layouts; returns their end. */
uint64_t *tesela__layout_words(uint64_t *to, const tesela_layout *layout);

/* ---- loops and boxes -------------------------------------------------------------------------------------- */

/* `n` steps of `ss` on the source and `ds` on the destination; in bits until a piece is made, then in bytes. */
typedef struct tesela__loop {
  int64_t n, ss, ds;
} tesela__loop;

/* All combinations of the loops' values, from a base on each side. */
typedef struct tesela__box {
  int64_t src, dst;
  int32_t n_loops;
  tesela__loop loop[TESELA__MAX_LOOPS];
} tesela__box;

/* Boxes are large, and most have few loops. */
static inline void tesela__box_copy(tesela__box *to, const tesela__box *from) {
  to->src = from->src;
  to->dst = from->dst;
  to->n_loops = from->n_loops;
  memcpy(to->loop, from->loop, (size_t)from->n_loops * sizeof from->loop[0]);
}

/* Merge loops that are one loop on both sides; then sort, largest |ds| first. */
void tesela__box_simplify(tesela__box *box);

/* The loop of a box with these steps, of several the longest; or -1. A step of -1 means any step. */
int32_t tesela__find_loop(const tesela__box *box, int64_t ss, int64_t ds);
void tesela__drop_loop(tesela__box *box, int32_t i);

/* Keep every `phases`-th value of loop i, from value k on. */
void tesela__box_phase(tesela__box *box, int32_t i, int64_t k, int64_t phases);

/* The elements of a box. */
int64_t tesela__box_elements(const tesela__box *box);

/* From bytes to bits: places and steps are multiplied by 8. */
void tesela__box_count_bits(tesela__box *box);

/* Add a loop, unless n is 1; false if the box is full. */
bool tesela__box_add(tesela__box *box, int64_t n, int64_t ss, int64_t ds);

/* ---- the problem ------------------------------------------------------------------------------------------ */

/* One coordinate that is whole on both sides: 0 <= x < extent, x = sum of digit * step, the digits of both sides
 * refined to common ones. Strides in bits. */
typedef struct tesela__coordinate {
  int64_t extent;
  int32_t first, n; /* its digits, by decreasing step */
} tesela__coordinate;

typedef struct tesela__digit {
  int64_t step, ss, ds;
} tesela__digit;

/* Each side is an offset plus a function of each coordinate: of digits by decreasing step, the last of step 1, as in layout.h.
 * They are not refined, so they need not nest with those of the other side. Strides in bits. */
typedef struct tesela__sums {
  int32_t n, n_digits;
  int64_t extent[TESELA_MAX_RANK];
  struct tesela__sum_digits {
    int32_t first, n;
  } dst[TESELA_MAX_RANK], src[TESELA_MAX_RANK];
  struct tesela__sum_digit {
    int64_t step, stride;
  } digit[2 * TESELA_MAX_DIGITS];
} tesela__sums;

/* The digits of src of all coordinates, by decreasing stride. gather_ahead.c */
typedef struct tesela__src_order {
  int32_t n;
  struct tesela__src_digit {
    int32_t c, before;          /* coordinate; its digit before this one, or -1 */
    int64_t step, span, stride; /* span: the step before, or the extent; stride: bytes */
    int64_t inner;              /* bytes of all values of the digits after it, if they are dense; else 0 */
    bool near;                  /* its values are in the same lines, or in lines next to each other */
  } digit[TESELA_MAX_DIGITS];
} tesela__src_order;

/* Set it; false: some coordinate has digits of smaller steps before those of larger ones. */
bool tesela__src_order_set(tesela__src_order *order, const tesela__sums *sums, int32_t bits);

/* A pass of a group: from src, or the buffer of the pass before, to a buffer of its own or the group. A buffer has the values of a group
 * densely, those of coordinate `minor` next to each other, and then those of `second`. passes.c */
enum { TESELA__MAX_PASSES = 3 };
typedef struct tesela__stretch_pass {
  int32_t p, q;          /* of the gather */
  int32_t wide;          /* `unit` neighbours of this coordinate move as one element, */
  int64_t unit;          /* if it is more than 1 */
  int32_t minor, second; /* of the buffer that it writes */
} tesela__stretch_pass;

/* dst in stretches of bytes that follow each other, each with all its elements and padding: the digits of dst with the smallest strides,
 * as far as they are dense, of the last of them some values; the other digits are loops. stretches.c */
typedef struct tesela__stretches {
  int64_t n_groups, n;       /* groups of stretches; stretches of one. n_groups 0: dst cannot be cut so */
  int64_t bytes, part_bytes; /* of a stretch; of the last one of the loop `part` */
  int32_t n_passes;
  tesela__stretch_pass pass[TESELA__MAX_PASSES];
  int32_t aligned; /* of this coordinate the first pass reads whole multiples of `align` values, */
  int64_t align;   /* if it is more than 1 */
  bool staged; /* groups are assembled in a buffer and written past the cache; else dst is written directly */
  int32_t n_loops, part; /* part: -1, or the loop of the digit that is cut */
  struct tesela__stretch_loop {
    int32_t c;               /* coordinate; of one coordinate those of larger steps first */
    int64_t n, step, stride; /* step: values; stride: bytes of dst */
    int64_t group,
        pitch; /* steps of a group, within all loops, of which the last may have less; bytes between them in its buffer */
  } loop[TESELA_MAX_DIGITS + 1];
  int32_t order[TESELA_MAX_DIGITS + 1];     /* of the loops, outermost first, by their strides in dst */
  int32_t src_order[TESELA_MAX_DIGITS + 1]; /* of groups by those in src */
  int64_t block[TESELA_MAX_RANK];           /* values of a coordinate in a stretch */
  int64_t most[TESELA_MAX_RANK];            /* in a group */
  tesela__src_order src;
  tesela__sums stage; /* dst: the buffer of a group */
} tesela__stretches;

typedef struct tesela__problem {
  const tesela_layout *dst, *src; /* canonical */
  int32_t dst_bits;               /* of an element of dst */
  int64_t dst_offset, src_offset; /* bits */
  int32_t n_coordinates, n_digits;
  tesela__coordinate coordinate[TESELA_MAX_RANK];
  tesela__digit digit[2 * TESELA_MAX_DIGITS];
  int32_t n_replicas; /* of dst */
  tesela__loop replica[TESELA_MAX_DIGITS];
  tesela__sums sums;
  const char *irregular; /* why only the gather can copy; or NULL */
  const char *no_sums;   /* why sums do not describe the sides (then irregular, too); or NULL */
} tesela__problem;

/* Make the problem of canonical layouts of one shape. Always succeeds, with `irregular` set if loops cannot copy, and `no_sums`
 * if not even sums of functions describe the sides. */
void tesela__problem_set(tesela__problem *problem, const tesela_layout *dst, const tesela_layout *src);

/* Call take(data, box) for each box of the elements. False if take returns false, or for too many boxes. */
bool tesela__problem_boxes(const tesela__problem *problem, bool (*take)(void *data, tesela__box *box),
                           void *data);

/* Call take for each box of dst's padding (in bits; ss is 0), and for the places after all digits. With `everything`,
 * or if boxes cannot separate padding from elements, take one box of all places that the digits reach: then *all is
 * set, and the box must be filled before elements are copied. */
bool tesela__padding_boxes(const tesela_layout *dst, bool everything, bool *all,
                           bool (*take)(void *data, tesela__box *box), void *data);

/* Call take for the box of the places after the last one that dst's digits reach, if there are any. */
bool tesela__tail_box(const tesela_layout *dst, bool (*take)(void *data, tesela__box *box), void *data);

/* Pitch of rows of `bytes` bytes in the staging buffer, with a line before each: an odd number of lines, so that rows do not meet in one set
 * of the caches. */
static inline int64_t tesela__stage_pitch(int64_t bytes) {
  return (tesela__ceil_div(bytes + TESELA__LINE, TESELA__LINE) | 1) * TESELA__LINE;
}

/* ---- pieces ----------------------------------------------------------------------------------------------- */

typedef enum tesela__level_kind {
  TESELA__PLAIN,    /* a loop */
  TESELA__TILE_A,   /* tiles along the source-contiguous side of the tile */
  TESELA__TILE_B,   /* along the destination-contiguous side */
  TESELA__TILE_RUN, /* along the run that row kernels move */
} tesela__level_kind;

typedef struct tesela__level {
  int64_t n, ss, ds; /* steps; bytes per step (bits in bitwise pieces) */
  int64_t last;      /* entries (units of the run) of the last step of a tile level; the others are full */
  tesela__level_kind kind;
} tesela__level;

/* Copies a box, or fills one. Offsets are in bytes, or in bits if `bitwise`.
 * A tile is na entries on side A times nb on side B, each a run: (a, b) is at src + sa[a] + sb[b], dst + da[a] + db[b].
 * In a transpose an entry is one element, side A the src-contiguous one, side B the dst-contiguous one. */
typedef struct tesela__piece {
  tesela_solver solver;
  bool fill;    /* write the fill value, without a src */
  bool bitwise; /* STRIDED_BITS or COPY_BITS: offsets in bits */
  bool stream;  /* stores past the cache, prefetch of a later tile */
  bool lines;   /* all writes start and end at lines if the base does; contiguous converted rows need only
                   start at one */
  bool stage;   /* the dst rows of a tile are dense: it can go through the staging buffer */
  bool ahead;   /* kernels fetch lines of dst before they store to them */
  bool fine;    /* calls of the kernel have few rows, with prefetches evenly between them; always staged */
  /* The level that continues staged rows, or -1: an unfinished line is carried to its next tile, which is `carry_step` tiles later. */
  int32_t carry_level;
  int64_t carry_step;
  int32_t staged_a;    /* entries of A whose dst rows together are one staged row; divides na */
  int32_t staged_step; /* entries from one of these to the next; more than 1: so many staged rows */
  int32_t
      dense_b; /* entries of B that follow each other in dst; a block of a transpose has these rows only */
  int32_t n_levels, width, block;
  int32_t na, nb;           /* entries of a full tile */
  int64_t run;              /* units of a full run: bytes, elements or bits, as the kernel counts */
  int64_t run_src, run_dst; /* bytes per unit of the run on each side (weaves: of all streams) */
  int64_t entry_dst;        /* bytes of a full run in dst, with its tail; in a transpose, of an element */
  int64_t tail;             /* bytes of padding after each run, filled with it */
  bool padded;              /* entries of B with TESELA__PADDING in table sb are padding (transposes) */
  int64_t src, dst;         /* base offsets */
  int64_t n_tiles, bytes;   /* bytes: written, without tails */
  int64_t row;              /* of dst that are written together; 0: not known */
  bool jumps;   /* rows of dst are short and apart, so that those of the next tile are prefetched */
  bool repeats; /* src is small and read again and again, so that only stores take time */
  tesela__rows rows;
  tesela__rows_fn *rows_fn;
  tesela__transpose_fn *transpose_fn;
  tesela__convert_fn *convert_fn;
  tesela__rows_fn *convert_rows_fn;       /* the same for rows, or NULL */
  tesela__stream_fn *stream_fn;           /* of fills */
  tesela__stream_rows_fn *stream_rows_fn; /* of staged rows */
  int32_t src_bits, dst_bits;             /* of an element for convert_fn */
  tesela__bit_block_fn *bit_block_fn;     /* BITS */
  int32_t group;                          /* BITS: elements per byte; else 1 */
  tesela__rows_fn *weave_fn;          /* BITS, few rows or columns: (de)interleaves packed rows; or NULL */
  bool weaves_out;                    /* true: interleaves into dst; false: deinterleaves src */
  const char *kernel;                 /* name of the main kernel */
  unsigned isa;                       /* TESELA__CPU_* bits of the kernels */
  int64_t pack_pitch;                 /* of rows that are converted or regrouped before the transpose */
  int32_t n_prefetch, prefetch_lines; /* stretches of src in a tile, lines of each; 0: no prefetch */
  int32_t near_rows; /* of src, that are prefetched at a time, before they are copied; 0: all of a tile */
  int32_t n_ahead;   /* tiles from the work to the prefetch */
  int64_t sa, da, sb, db, prefetch; /* start of each table in plan->table */
  int64_t pack_src, pack_dst;       /* tables of the transpose of packed rows */
  int32_t first_line, n_lines;      /* PERMUTE: lines of a block in plan->picked_line */
  int32_t first_pick, n_picks;      /* PERMUTE: and all its picks in plan->pick */
  bool whole_lines;                 /* PERMUTE: they are whole lines if the block begins at one */
  bool picks_padding;               /* PERMUTE: bytes of a line that are not picked are padding */
  bool keeps_bits;                  /* PERMUTE: bytes have bits that other blocks or pieces write */
  int64_t span;                     /* PERMUTE: bytes of dst from the first to the last of a block */
  int32_t
      bits_tile; /* BITS that begin at any bit: one more than the number of the tile, whose cut loops are A, B, the run; or 0 */
  tesela__level level[TESELA__MAX_LOOPS + 3];
} tesela__piece;

/* One side of a tile of elements below 8 bits: loops with their steps in memory, in bits, and in the buffer: in
 * bytes, one for each element; or in bits, if the tile is of blocks. */
enum {
  TESELA__BITS_LOOPS = 20,
  TESELA__BITS_ELEMENTS = 64 << 10, /* of a tile, most, if each is in a byte */
  TESELA__BITS_BYTES = 128 << 10,   /* of a tile of blocks, most */
  TESELA__WOVEN_BITS = 1024,        /* of a tile of blocks that are woven, elements of a row */
  TESELA__BITS_STAGE = TESELA__BITS_BYTES + (8 << 10), /* bytes of each of the two buffers of such tiles */
};
typedef struct tesela__bits_loop {
  int64_t n, memory, buffer;
  int32_t cut; /* the number of the cut loop that it is: its last tile is shorter; or -1 */
} tesela__bits_loop;

typedef struct tesela__bits_side {
  int64_t unit,
      less; /* elements (of blocks: bits) of a step of the run; it ends so many before its last step */
  tesela__bits_loop run; /* elements that are contiguous in memory and in the buffer */
  int32_t n_loops;
  tesela__bits_loop loop[TESELA__BITS_LOOPS];
} tesela__bits_side;

/* Are the runs of a side in few sets of L2? Then each is prefetched shortly before it is moved. */
static inline bool tesela__bits_runs_meet(const tesela__bits_side *side) {
  enum { WAY = 128 << 10, FEW = 4 }; /* bytes of one way; of eight */
  int64_t apart = WAY;
  if (side->n_loops == 0) return false;
  while (apart > 1 && side->loop[0].memory % (8 * apart)) apart /= 2;
  return side->loop[0].n * apart > FEW * WAY;
}

enum { TESELA__BITS_PASSES = 4 };

typedef struct tesela__bits_tile {
  int64_t in_run, out_run; /* elements of full runs */
  int64_t padded;          /* elements of the buffer of dst, if it has padding; or 0 */
  tesela__bits_side in, out;
  tesela__rows_fn *take,
      *put;         /* from memory to a buffer, and back: they slice and unslice; of blocks both copy bits */
  int32_t slices;   /* so many tiles are moved at a time, each in bits of its own of all bytes; of blocks 1 */
  bool blocks;      /* elements stay as they are, bits or whole bytes: sides and runs count bits */
  bool whole_bytes; /* of these: runs on both sides are whole bytes, of which both are copies */
  tesela__bit_block_fn
      *bit_block; /* of blocks of elements below a byte: `kinds` rows become rows of as many kinds */
  tesela__bit_transpose_fn *transpose; /* of these: many rows go straight to the second buffer; or NULL */
  int64_t column;   /* bytes there from one column to the next; 0: they are not at equal distances, or few */
  int32_t n_planes; /* the loops of `in` but its rows, with their places there */
  tesela__bits_loop plane[TESELA__BITS_LOOPS];
  int32_t kinds,
      row_loops;      /* the first loops of `in` are these rows, `rows` with those that fill the last byte */
  int64_t rows, line; /* line: bytes from one row of a kind to the next */
  int64_t kind_bytes; /* not 0: they become kinds at last, `kinds` rows of so many bytes */
  int32_t n_passes;
  bool of_bands; /* all passes go from the first buffer to the second one; else the next one back */
  tesela__piece pass[TESELA__BITS_PASSES];
} tesela__bits_tile;

/* Ways to move a box, which costs.inc prices: those of one solver differ in kernels or in where elements lie. */
typedef enum tesela__cost_way {
#define TESELA__COST(way, ...) TESELA__COST_##way,
#include "relayout/costs.inc"
#undef TESELA__COST
  TESELA__N_COST_WAYS
} tesela__cost_way;

/* Sets of weights: for stores through the cache, past it, and through the cache with AVX2 but without AVX-512. */
enum { TESELA__COST_TERMS = 6, TESELA__COST_SETS = 3 };

/* The verdict of a solver on a box; a plan keeps those on its largest piece. */
typedef struct tesela__verdict {
  bool applies;
  tesela__cost_way way;
  float cost; /* relative to memcpy, lower is better: the sum of the terms, each with its weight */
  float term[TESELA__COST_TERMS];
  const char *why; /* reason if it does not apply; static */
} tesela__verdict;

/* The set of weights that a plan uses. relayout_cost.c */
int32_t tesela__cost_set(const tesela_plan *plan);

/* The sum of the verdict's terms, each with its weight. relayout_cost.c */
float tesela__cost_of(const tesela_plan *plan, const tesela__verdict *verdict);

enum { TESELA__N_SOLVERS = 10 };

/* Parameters that measuring varies; 0: by estimate. */
typedef struct tesela__tuning {
  int64_t in, out, total; /* bytes of the stretches that a tile reads and writes, and of a tile of rows */
  int8_t stream;          /* 1: yes, -1: no */
  tesela_solver solver;   /* where it applies; ANY: by estimate */
} tesela__tuning;

/* ---- the plan --------------------------------------------------------------------------------------------- */

struct tesela_plan {
  atomic_int references;
  tesela_allocator allocator;
  tesela_layout dst, src;
  tesela_fill fill;
  uint8_t fill_pattern[TESELA__LINE]; /* the fill value, repeated; below 8 bits also within each byte */
  tesela__conversion conversion;
  tesela_plan_options options; /* as given, without the allocator */
  tesela_plan_info info;
  unsigned isa; /* TESELA__CPU_* bits that may be used */
  tesela__tuning tuning;
  int64_t reach; /* most bytes of dst from the first to the last row of a tile whose rows are apart; 0: any */
  int64_t
      window; /* bytes of dst that are assembled at a time, by all pieces; 0: pieces write dst one after the other */
  bool window_filled;    /* padding is in a window before pieces write to it */
  bool stream;           /* the buffers are larger than the cache */
  const char *irregular; /* why the gather copies everything; NULL: pieces do */
  bool by_sums;          /* the gather uses the sums, which are set; else it walks through both layouts */
  tesela__sums sums;
  int64_t sums_dst, sums_src;  /* offsets in bits */
  tesela__stretches stretches; /* n_groups 0: the gather does not use them */
  int32_t n_replicas;
  tesela__loop replica[TESELA_MAX_DIGITS];
  bool fill_first; /* the fills cover elements too, so they precede all copies */
  bool bitwise;    /* tiles of some piece share bytes: one thread */
  int32_t n_pieces,
      n_fills;     /* n_fills pieces fill padding: the first ones if fill_first, else the last ones */
  int32_t largest; /* piece of the most bytes, or -1 */
  tesela__verdict verdict[TESELA__N_SOLVERS];
  tesela__box shape;  /* loops of the largest piece; steps in bytes, or in bits if unit_bytes is 0 */
  int32_t unit_bytes; /* bytes in dst of an element of shape; 0: an element of dst */
  tesela__piece *piece;
  tesela__bits_tile *bits_tile;
  int32_t n_bits_tiles;
  size_t bits_tile_capacity;
  tesela__picked_line *picked_line;
  tesela__line_pick *pick;
  tesela__bit_round *bit_round;
  int32_t n_picked_lines, n_picks, n_bit_rounds;
  size_t picked_line_capacity, pick_capacity, bit_round_capacity;
  tesela__box *fill_box; /* padding that no piece writes yet, in bits, while pieces are made */
  int32_t n_fill_boxes;
  size_t fill_box_capacity;
  int64_t *table;
  size_t n_table, table_capacity, piece_capacity;
  int64_t total_bytes; /* of all pieces */
  double cost, shared; /* of all pieces: bytes of dst times memcpy; bytes of lines that several write */
};

/* The conversion of a transform between two types. transform.c; statuses as tesela_transform_check. */
tesela_status tesela__conversion_find(tesela_transform transform, tesela_dtype dst, int32_t dst_bits,
                                      tesela_dtype src, int32_t src_bits, tesela__conversion *conversion,
                                      tesela_error *err);

/* Name of a conversion, "f32->bf16". */
const char *tesela__conversion_name(tesela__conversion conversion);

/* Make all pieces of a plan whose options and layouts are set; drops earlier ones. relayout_plan.c */
tesela_status tesela__plan_pieces(tesela_plan *plan, tesela_error *err);

/* Threads that are worth it for a copy of so many bytes, of those that the plan may use. */
static inline int32_t tesela__threads_for_bytes(const tesela_plan *plan, int64_t bytes) {
  enum { BYTES_A_THREAD = 2 << 20 };
  const int32_t most = plan->options.threads ? plan->options.threads : tesela__cpu_count();
  if (plan->options.shuffle) return most;
  return (int32_t)tesela__max(1, tesela__min(most, bytes / BYTES_A_THREAD));
}

/* Run variants on temporary buffers and keep the fastest tuning. measure.c */
tesela_status tesela__plan_measure(tesela_plan *plan, tesela_error *err);

/* Make a piece of a box (in bits) and add it to the plan. relayout_solve.c */
tesela_status tesela__add_piece(tesela_plan *plan, tesela__box *box, bool fill, uint64_t *random,
                                tesela_error *err);

/* Copy everything; padding is filled already, unless dst is swizzled. `done`: bytes reported so far. gather.c: by walks through
 * both layouts; gather_sums.c: by tables, if plan->by_sums. */
tesela_status tesela__gather_sums(const tesela_plan *plan, unsigned char *dst, const unsigned char *src,
                                  const tesela_run_options *options, int64_t done, tesela_error *err);
tesela_status tesela__gather(const tesela_plan *plan, unsigned char *dst, const unsigned char *src,
                             const tesela_run_options *options, int64_t done, tesela_error *err);

/* ---- threads (chunks.c, relayout_run.c) ------------------------------------------------------------------------------ */

/* Run chunk(data, i) for 0 <= i < n: through the executor, or if n is 1 directly, or on this thread and up to n-1 new
 * ones. This thread runs chunk 0 and then, like the others, any free chunk; so a thread may run several, and new
 * threads are optional. Returns when all chunks have returned. */
void tesela__run_chunks(const tesela_executor *executor, int32_t n, void (*chunk)(void *data, int32_t i),
                        void *data);

/* Tiles first to end - 1 of a piece, in this thread, with stores through the cache. `dst` and `src` as of tesela_plan_run. `goes_on`: the
 * next tiles will follow, so src is prefetched for them. */
void tesela__run_tiles(const tesela_plan *plan, const tesela__piece *piece, void *dst, const void *src,
                       int64_t first, int64_t end, bool goes_on);

/* ---- windows of dst (window.c) ---------------------------------------------------------------------------- */

/* Bytes edge[i] to edge[i + 1] - 1 of dst are written by tiles that write nothing else. */
typedef struct tesela__windows {
  tesela_allocator allocator;
  int64_t n;     /* 0: dst cannot be cut so */
  int64_t most;  /* bytes of the longest */
  int64_t *edge; /* n + 1: from 0 to info.dst_bytes */
} tesela__windows;

/* Cut into windows of up to `wanted` bytes where that is possible, else up to `most`; the plan gets other pieces. To be freed, after a
 * failure too. */
tesela_status tesela__windows_find(tesela__windows *windows, tesela_plan *plan, int64_t wanted, int64_t most,
                                   const tesela_allocator *allocator, tesela_error *err);
void tesela__windows_free(tesela__windows *windows);

/* Write window i to `window`, which has room for it. Places that the plan leaves alone are left. In this thread; any threads may do
 * other windows at the same time. */
void tesela__window_run(const tesela__windows *windows, const tesela_plan *plan, int64_t i, void *window,
                        const void *src);

/* ---- sharing a plan (cache.c) ----------------------------------------------------------------------------- */

/* One more owner: tesela_plan_destroy must be called once more. Any thread. */
void tesela__plan_retain(tesela_plan *plan);

/* ---- within one buffer (in_place.h) ----------------------------------------------------------------------- */

/* Can a plan run within one buffer? The canonical forms of its layouts, of one shape and with one axis each. */
bool tesela__in_place_possible(const tesela_layout *dst, const tesela_layout *src);

/* The scratch that such a run uses; it takes microseconds to know. */
int64_t tesela__in_place_scratch_bytes(const tesela_plan *plan);

/* Words for --explain. */
void tesela__in_place_explain(const tesela_plan *plan, tesela__sink *sink);

#endif
