/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solve.h - a box, prepared for its solver.
 */
#ifndef TESELA_SRC_SOLVE_H
#define TESELA_SRC_SOLVE_H

#include "relayout/plan.h"

/* A block of PERMUTE: of each loop of the box the first `take` values. */
typedef struct tesela__permute_fit {
  int64_t take[TESELA__MAX_LOOPS];
  int64_t elements;
  int64_t bytes;     /* that a block writes */
  int64_t span;      /* bytes of dst from the first to the last, with the padding of the last row */
  int64_t padding;   /* after each row of the job, written with it; in the units of the job */
  bool dense;        /* blocks write all these bytes */
  bool bits;         /* elements have less than 8 bits */
  bool keeps;        /* bits of bytes that a block writes in part */
  int32_t width;     /* of an element; bits or bytes */
  int32_t stretch;   /* bytes of src that the kernel picks from at a time */
  int64_t low, high; /* where src of a block begins and ends, in bytes from that of its first element on */
  int64_t src_phase; /* of bytes: where all blocks begin in a line of src; or -1 */
  int64_t src_bit, dst_bit; /* where blocks of bits begin in a byte */
  int32_t picks, rounds;    /* of the first line */
  int64_t of_line;          /* bytes of the first line that have elements */
} tesela__permute_fit;

/* Are all bytes of a short stretch within src of the block? */
static inline bool tesela__is_read_whole(const tesela__permute_fit *fit, int64_t from) {
  return fit->stretch < TESELA__LINE && from >= fit->low && from + fit->stretch <= fit->high;
}

/* Where a stretch begins that has byte `first` of src, and what follows: there, or earlier if a short one would leave src of the block. */
static inline int64_t tesela__stretch_at(const tesela__permute_fit *fit, int64_t first) {
  const int64_t last = fit->high - fit->stretch;
  return fit->stretch < TESELA__LINE && first > last && last >= fit->low ? last : first;
}

/* Boxes of elements below 8 bits that move together: a band is contiguous on one side, its `long` one, with all that lies between its elements;
 * on the other side they are a grid, each box a rectangle of it. bits_bands.c, bits_grid.c */
enum { TESELA__BITS_AXES = 8 };
typedef struct tesela__bits_axis {
  int64_t n, step; /* bits of the other side */
} tesela__bits_axis;
typedef struct tesela__bits_rectangle {
  int64_t from[TESELA__BITS_AXES], n[TESELA__BITS_AXES];
} tesela__bits_rectangle;
typedef struct tesela__bits_bands {
  bool long_src;      /* the long side is src; else it is dst, where padding lies between elements */
  int32_t bits, n;    /* of an element; boxes */
  int64_t src, dst;   /* of the first band */
  int64_t step, row;  /* bits from a band to the next one on its long side; elements of a band */
  int64_t count;      /* bands of the loop with this step */
  int64_t short_step; /* of this loop on the other side */
  int64_t in;         /* bits of a band on its long side, up to its last element */
  int32_t n_axes;     /* of the grid, by increasing steps */
  tesela__bits_axis axis[TESELA__BITS_AXES];
  tesela__bits_rectangle rectangle[TESELA__BITS_PASSES];
  tesela__box outside;                  /* the loops of bands */
  tesela__box box[TESELA__BITS_PASSES]; /* those within one, from its first bits on */
} tesela__bits_bands;

/* A box and its special loops. Units are bytes, or bits if `bitwise`. */
typedef struct tesela__job {
  tesela_plan *plan;
  tesela__box *box;
  bool fill, bitwise;
  bool inner;                      /* from one buffer in the cache to another */
  bool direct;                     /* whole bytes do not go through buffers */
  const tesela__bits_bands *bands; /* of a BITS job: its boxes; or NULL */
  int32_t ws, wd;                  /* width of an element on each side, in these units */
  int32_t group;        /* elements per byte, if several share one and blocks of them can be moved; else 1 */
  int32_t shared, a, b; /* loops that are contiguous on both sides, on src, on dst; or -1 */
  bool apart;           /* loop a is not contiguous on src, but its elements are near each other */
  tesela__conversion conversion; /* the plan's, or a mix inside elements that consist of several */
  int32_t src_bits, dst_bits;    /* of an element for the conversion, or for blocks of bits */
  int64_t behind; /* bytes of padding directly after each dst row of a transpose, which writes them, too */
  int64_t row,
      padding; /* a row of dst that padding follows, and that padding, for BITS (in elements) and PERMUTE; or 0 */
  int64_t gap,
      unread; /* of bands: elements of src after such a row that do not move; of these the last ones, not read after the last row */
  int64_t tail;     /* bytes of padding after each row (each dst row of a transpose), written with it */
  uint64_t *random; /* of options.shuffle; or NULL */
  tesela__permute_fit permute; /* of the piece that is made, if that is a PERMUTE */
} tesela__job;

/* May stores of a piece go past the cache, where lines should be written whole? */
static inline bool tesela__may_stream(const tesela__job *job) { return job->plan->stream || job->random; }

/* Are all steps and bases whole bytes, except the src step of loop i and the dst step of loop j (or -1)? */
bool tesela__is_bytewise(const tesela__box *box, int32_t i, int32_t j);

/* Keep a box of padding (in bits) until the pieces of elements are made. padding.c. TESELA_E_MEMORY. */
tesela_status tesela__keep_fill(tesela_plan *plan, const tesela__box *box, tesela_error *err);

/* Divide boxes that are kept and have a loop of this step in dst into the phases of that. TESELA_E_MEMORY. */
tesela_status tesela__split_fills(tesela_plan *plan, int64_t ds, int64_t phases, tesela_error *err);

/* Split loops of a box of padding, so that it has the loops of `after` where that is possible. */
void tesela__split_as(tesela__box *fill, const tesela__box *after, int32_t bits);

/* Rows of a job consist of the loops in `row_loops` (bit i: loop i of the box) and have `row` bytes (bits, if the job is bitwise). Is there
 * padding directly after each of them? Its bytes (bits), or 0. */
int64_t tesela__padding_behind(const tesela__job *job, uint64_t row_loops, int64_t row);

/* Most bytes of a dst row of a transpose, `row` bytes long, with padding: in the cache those of its lines, as fills are fast there. */
int64_t tesela__most_of_column(const tesela__job *job, int64_t row);
/* Bytes of padding directly after dst rows of a transpose that consist of `row_loops`, if the next row follows them and the transpose will
 * write them; else 0. */
int64_t tesela__padding_of_column(const tesela__job *job, uint64_t row_loops, int64_t row);

/* Take that padding from the boxes that are kept, and add its bytes to job->tail: multiples of `unit`, and so that rows have up to
 * `most` bytes with it. TESELA_E_MEMORY. */
tesela_status tesela__take_padding(tesela__job *job, uint64_t row_loops, int64_t row, int64_t unit,
                                   int64_t most, tesela_error *err);
/* The same for the padding directly after rows of bits, all of it. */
tesela_status tesela__take_bits(const tesela__job *job, uint64_t row_loops, int64_t row, tesela_error *err);

/* Set the units, the element and the special loops of a job whose box counts in bits. relayout_units.c */
void tesela__set_units(tesela__job *job);

/* The same for equal widths below 8 bits, in blocks where that is possible. */
void tesela__set_units_of_bits(tesela__job *job);
/* The same for bytes, whatever the plan's elements are. */
void tesela__set_units_of_bytes(tesela__job *job);

/* The best solver of a job, or the one that is wanted. relayout_cost.c */
tesela_solver tesela__choose_solver(const tesela__job *job, tesela__verdict *verdict);

/* What each solver but ANY says about a job whose units are set. relayout_cost.c */
void tesela__solver_verdicts(const tesela__job *job, tesela__verdict verdict[TESELA__N_SOLVERS]);

/* The solver to use where it applies: the requested one, or the one that measuring tries. */
static inline tesela_solver tesela__wanted(const tesela_plan *plan) {
  return plan->options.solver != TESELA_SOLVER_ANY ? plan->options.solver : plan->tuning.solver;
}

/* Set the job of a pass from one buffer in the cache to another, of a box in bits; *copy becomes the job's box. The plan and `random` are set.
 * The solver, and its cost. relayout_units.c */
tesela_solver tesela__pass_solve(const tesela__box *box, tesela__box *copy, tesela__job *job, float *cost);

/* What a line has beside so many bytes, as times of these; 0 from a line on. */
static inline double tesela__part_of_line(double bytes) {
  return bytes < TESELA__LINE ? TESELA__LINE / bytes - 1 : 0;
}
/* Bytes of the lines of dst that a box has parts of only, about: where others have the rest, they are fetched to be written. gather_cost.c */
double tesela__parts_of_lines(const tesela__job *job);
/* What the cheapest of rows, transposes and weaves costs. */
float tesela__quick_cost(const tesela__job *job);

/* What BITS says. */
tesela__verdict tesela__bits_verdict(const tesela__job *job);
/* Does PERMUTE apply and cost less? */
bool tesela__permutes_bits(const tesela__job *job, float cost);

/* Make a piece with a solver that applies. piece.c. TESELA_E_MEMORY. */
tesela_status tesela__piece_build(const tesela__job *job, tesela_solver solver, tesela_error *err);

/* One side of the tile: loops, the one with the shortest steps first; of the last only `chunk` steps. */
typedef struct tesela__tile_side {
  int32_t n;
  tesela__loop loop[TESELA__MAX_LOOPS];
  int64_t chunk;
  int64_t entries; /* of a full tile, at most `most` */
  int64_t most;
  int64_t extent; /* bytes it covers on its own side, without a gap */
  bool dense;     /* all loops continue each other there; if not, the first `dense_entries` entries do */
  int64_t dense_entries;
} tesela__tile_side;

/* Wanted bytes of the stretches that a tile reads and writes, and of the whole tile. */
typedef struct tesela__tile_target {
  int64_t in, out, total;
} tesela__tile_target;

/* A tile of elements below 8 bits: of each loop of the box the first `chunk` values. */
typedef struct tesela__bits_fit {
  const tesela__box *box;
  int32_t bits;                         /* of an element, or of several that stay together */
  uint64_t one;                         /* of blocks: the loops of these (bit i: loop i) */
  int64_t most, elements;               /* elements: of the tile, at most `most` */
  int64_t in, out;                      /* elements of its runs on both sides */
  int64_t step;                         /* of blocks: bytes that a call of their first kernel moves */
  int64_t row, padding, gap, unread;    /* of the job */
  bool near;                            /* runs of src have elements that are not in the tile */
  const tesela__bits_bands *bands;      /* of the job: rows are bands, whose boxes are passes; or NULL */
  int64_t axis_step[TESELA__BITS_AXES]; /* of bands: of the grid in its buffer, elements */
  int64_t chunk[TESELA__MAX_LOOPS];
  int32_t n_cuts, cut[3]; /* loops of which the tile has a part */
  bool blocks;            /* elements stay bits */
  uint64_t of[2];         /* of blocks: the loops of the run of src, of that of dst */
  bool direct; /* of blocks: rows of src are transposed straight to the second buffer, tiles go along src */
  bool random; /* the job's choices are: so are tiles that would be faster otherwise */
} tesela__bits_fit;

/* The run of a side: its loops in order, all but the last one whole. */
typedef struct tesela__bits_run {
  int32_t n, loop[TESELA__MAX_LOOPS];
  int64_t unit
      [TESELA__MAX_LOOPS]; /* elements from one value of a loop to the next, with those between near elements and padding */
  int32_t next; /* the loop that lengthens it: its last one, if that is cut, or another; or -1 */
  int64_t elements;
} tesela__bits_run;

/* Near: from a few elements of less than FEW bits together to the next ones at most NEAR bits, from others at most TIMES as many. */
enum { TESELA__BITS_FEW = 32, TESELA__BITS_NEAR = 128, TESELA__BITS_TIMES = 4 };
int32_t tesela__bits_continuing(const tesela__box *box, bool src, uint64_t seen, int64_t step);
int32_t tesela__bits_near(const tesela__box *box, uint64_t seen, int64_t step, int32_t bits);
void tesela__bits_find_run(const tesela__bits_fit *fit, bool src, tesela__bits_run *run);

/* n elements and those that fill the last byte. */
static inline int64_t tesela__bits_whole(const tesela__bits_fit *fit, int64_t n) {
  return tesela__ceil_div(n * fit->bits, 8) * 8 / fit->bits;
}

/* Choose the tile. bits_fit.c */
void tesela__bits_fit_tile(tesela__bits_fit *fit, const tesela__job *job, int64_t most);
/* The bits of a side that an element's loops cover without a gap, and these loops (bit i: loop i). */
int64_t tesela__bits_row(const tesela__box *box, int32_t bits, bool src, uint64_t *loops);
/* Set the sides of a tile and the box that moves it from one buffer to the other, in bits. bits_tile.c */
void tesela__bits_set_tile(tesela__bits_fit *fit, tesela__bits_tile *tile, tesela__box *inner);

/* The passes from one buffer to the other: boxes of bits, and what they cost. */
typedef struct tesela__bits_passes {
  int32_t n;
  float cost;
  tesela__box box[2];
} tesela__bits_passes;
typedef float tesela__pass_cost(tesela_plan *plan, const tesela__box *box);
/* Divide the one pass into two where that costs less. bits_passes.c */
void tesela__bits_divide_pass(const tesela__job *job, tesela__pass_cost *pass_cost,
                              tesela__bits_passes *passes);
/* Choose one pass or two for the box of a tile that is not of blocks of bits. relayout_units.c */
void tesela__bits_find_passes(const tesela__job *job, const tesela__box *box, tesela__bits_passes *passes);

/* Find bands, and take their padding from the boxes that are kept. bits_bands.c */
bool tesela__bits_bands_find(tesela__bits_bands *bands, tesela_plan *plan, const tesela__problem *problem,
                             uint64_t *random);
/* Is this box in bands? */
bool tesela__bits_bands_have(const tesela__bits_bands *bands, const tesela__box *box);
/* Find the grid of the boxes of a band. False: a box is not a rectangle of it, or they are not all of it. */
bool tesela__bits_grid_set(tesela__bits_bands *bands);
/* Do its elements follow each other? */
bool tesela__bits_grid_is_dense(const tesela__bits_bands *bands);
/* The bands as one box of rows, which padding follows in dst, or other elements in src. */
void tesela__bits_bands_box(const tesela__bits_bands *bands, tesela__box *box);
/* The axis of the grid that a loop of this box is; or -1. */
int32_t tesela__bits_axis_of(const tesela__bits_bands *bands, const tesela__loop *l);
/* The box of a pass, from one buffer to the other: box k in each band of a tile, whose loops are `tile`; the steps of the axes in the buffer of
 * the grid. */
void tesela__bits_bands_pass(const tesela__bits_bands *bands, int32_t k, const int64_t *axis_step,
                             const tesela__box *tile, tesela__box *pass);
/* Make the piece that moves bands. relayout_solve.c. TESELA_E_MEMORY. */
tesela_status tesela__add_bands(tesela_plan *plan, const tesela__bits_bands *bands, uint64_t *random,
                                tesela_error *err);
/* Elements of the shorter run of a tile of bands. relayout_solve.c */
int64_t tesela__run_of_bands(tesela_plan *plan, const tesela__bits_bands *bands);
/* What the best solver of a box of bits costs. *run, unless it is NULL: the elements of the shorter run of its tile, or many if it has no
 * such tile. relayout_solve.c */
float tesela__cost_of_bits(tesela_plan *plan, const tesela__box *box, int64_t *run);

/* The same for a tile of blocks. bits_blocks.c */
void tesela__bits_set_blocks(const tesela__bits_fit *fit, tesela__bits_tile *tile, tesela__box *inner);
/* The loop `i` of a tile on one side. */
tesela__bits_loop tesela__bits_loop_of(const tesela__bits_fit *fit, int32_t i, bool src, int64_t buffer);

/* Of a tile of whole bytes, whose buffers have half as many as those of bits. */
enum { TESELA__BYTES_ELEMENTS = TESELA__BITS_ELEMENTS / 2 };
/* A job of whole bytes as one that counts bits, with `box` as its box. bits_tile.c */
void tesela__bits_of_bytes(const tesela__job *job, tesela__job *bits, tesela__box *box);

/* Do tiles of a piece that counts bits write whole bytes, so that no two of them share one? bits_tile.c */
bool tesela__bits_own_bytes(const tesela_plan *plan, const tesela__piece *piece);

typedef struct tesela__builder {
  const tesela__job *job;
  tesela__piece *piece;
  bool used[TESELA__MAX_LOOPS];
  tesela__loop run; /* the loop that row kernels move along; n is 0 without one */
  int64_t chunk;    /* steps of it in a tile */
  tesela__tile_target target;
  tesela__tile_side a, b;
  tesela__bits_fit bits; /* of a piece with bits_tile */
  bool fine; /* of a transpose: calls of the kernel should have few rows; whole lines are staged, too */
} tesela__builder;

/* Set the levels and the number of tiles of a piece whose tile is chosen. levels.c */
void tesela__add_levels(tesela__builder *b);

static inline const tesela__kernel *tesela__kernel_for(const tesela__job *job, tesela__kernel_kind kind,
                                                       int32_t width, int64_t k) {
  return tesela__kernel_find(kind, width, (int32_t)k, job->plan->isa);
}

/* Is the run of a piece contiguous in dst? */
static inline bool tesela__writes_runs(const tesela__piece *piece) {
  return piece->solver != TESELA_SOLVER_STRIDED ||
         (!piece->convert_fn && piece->rows.dst_pitch == piece->width);
}

/* Bytes of dst that all entries of side B and of the first a_loops loops of side A cover without a gap, in whole tiles and in
 * the last ones of cut loops; 0 if they leave gaps. tile_grow.c */
int64_t tesela__dense_bytes(const tesela__builder *b, int32_t a_first, int32_t a_loops);
/* The bytes of a tile of blocks, or of whole runs, that follow each other on a side, as far as they do; 0: up to a loop that is cut. tile_grow.c */
int64_t tesela__bytes_together(const tesela__builder *b, bool src);

/* Why PERMUTE is of no use, before its block is chosen; or NULL. permute.c */
const char *tesela__permute_refuses(const tesela__job *job);
/* Choose the block of PERMUTE; why it does not apply, or NULL. permute.c */
const char *tesela__permute_fit_block(const tesela__job *job, tesela__permute_fit *fit);
/* Take from the job's box a part, in bits, whose loop is not a multiple of that of the block; false: all loops are multiples. */
bool tesela__permute_rest(tesela__job *job, tesela__box *rest);
/* Divide the loops of the job's box so that blocks have whole ones. */
void tesela__permute_split(tesela__job *job);
/* Of a job of bits: count bytes from here on, except in the loops of the block. */
void tesela__permute_count_bytes(tesela__job *job);

/* The elements of one line of dst, by their places in src; bytes or bits. */
typedef struct tesela__line_elements {
  int32_t n;
  int64_t to; /* the byte of dst where the line begins */
  struct {
    int64_t src, dst; /* dst: from `to` */
  } element[8 * TESELA__LINE];
} tesela__line_elements;

/* The rounds and picks of a line of elements below 8 bits. permute_bits.c */
typedef struct tesela__bit_steps {
  int32_t rounds, picks;
  bool keeps; /* some bits of bytes that it writes */
} tesela__bit_steps;
/* False: there are too many. */
bool tesela__count_bit_steps(const tesela__permute_fit *fit, const tesela__line_elements *line,
                             tesela__bit_steps *steps);
/* Set them, if there are not too many; `first_pick`: the number of pick[0]. */
tesela__bit_steps tesela__set_bit_steps(const tesela__permute_fit *fit, const tesela__line_elements *line,
                                        int32_t first_pick, tesela__bit_round *round,
                                        tesela__line_pick *pick);
/* The elements of the first line of a block whose density is set. permute_lines.c */
void tesela__permute_first_line(const tesela__job *job, const tesela__permute_fit *fit,
                                tesela__line_elements *line);
/* The picks of a line of bytes. permute_lines.c */
int32_t tesela__count_picks(const tesela__permute_fit *fit, const tesela__line_elements *line);
/* Make the lines and picks of the piece. permute_lines.c. TESELA_E_MEMORY. */
tesela_status tesela__permute_set(const tesela__builder *b, tesela_error *err);

/* Make a table of n offsets. TESELA_E_MEMORY. */
static inline tesela_status tesela__reserve_table(tesela_plan *plan, int64_t n, int64_t *at,
                                                  tesela_error *err) {
  void *table = plan->table;
  bool grown = tesela__grow(&plan->allocator, &table, sizeof *plan->table, &plan->table_capacity,
                            plan->n_table + (uint64_t)n);
  plan->table = table;
  if (!grown)
    return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for a table of %" PRId64 " offsets", n);
  *at = (int64_t)plan->n_table;
  plan->n_table += (size_t)n;
  return TESELA_OK;
}

/* Do the src rows of a tile meet in few sets of the caches, so that they evict each other? Then they are copied to where they
 * are dense, each soon after it is prefetched. Blocks of wider elements have too few rows for that. prefetch.c */
bool tesela__rows_meet(const tesela__builder *b);
/* Set the stretches of src that tiles prefetch: one for each entry of B (of A, of each stream, each pick of a block); neighbours are
 * joined if all can be. prefetch.c. TESELA_E_MEMORY. */
tesela_status tesela__set_prefetch(tesela__builder *b, tesela_error *err);

/* Are the bytes of blocks of bits woven? transpose_fit.c */
bool tesela__is_woven_bits(const tesela__job *job);

/* Choose kernel, run and tile. relayout_fit.c */
void tesela__fit_tile(tesela__builder *b, tesela_solver solver);
/* Choose kernel and blocks of a transpose, the start of its tile. transpose_fit.c */
void tesela__start_transpose(tesela__builder *b);
/* Do its tiles go along rows of src, and not along rows of dst? */
bool tesela__goes_along_src(const tesela__job *job);
/* Set the kernel of the job's conversion. relayout_fit.c */
void tesela__start_convert(tesela__builder *b);
/* One of the `most` smallest sizes for each side, by chance. relayout_fit.c */
tesela__tile_target tesela__random_target(uint64_t *random, int32_t most);

/* Grow the sides of a tile whose kernel and run are chosen. tile_grow.c */
void tesela__grow_tile(tesela__builder *b);
/* Add a loop to a side, which then has at most `most` entries; a part of it is a multiple of `multiple`. */
void tesela__side_add(tesela__tile_side *s, tesela__loop loop, int64_t most, int64_t multiple);
/* The unused loop that continues where the side's own bytes end, or -1. */
int32_t tesela__next_dense(const tesela__builder *b, const tesela__tile_side *s, bool src);
/* Grow a side until it covers `target` bytes. With a row kernel, a last loop that is cut may grow, too. */
void tesela__grow_side(tesela__builder *b, tesela__tile_side *s, bool src, int64_t target);
/* Rows of src so many bytes apart meet in one set of L2. */
int64_t tesela__l2_set(const tesela_plan *plan);

/* The next pseudo-random number. */
static inline uint64_t tesela__random(uint64_t *state) {
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

#endif
