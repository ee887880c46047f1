/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dma_search.c - the fewest boxes, by trying all tilings.
 *
 * For few boxes, if they are more than the bound. It finds boxes around a corner (a pinwheel), which dma_cut.c does
 * not:
 *
 *   [8,16) in steps 7, 4, 2, 1     2 00{0,1}     1 0{0,1}1     1 {0,1}10     1 10{0,1}     instead of five
 *
 * The ends of the given boxes cut each digit into intervals, and all digits into a grid of cells. Some tiling with the
 * fewest boxes is on this grid: the space does not change between two grid lines, so an end there can move to one of
 * them. The first free cell must be the start of a box, so boxes from it are tried, while one box per free tuple of the
 * bound's set would still give fewer than the best. A search that ends proves its count; one that runs out of steps
 * proves nothing.
 */
#include "device/dma.h"

enum { DMA_CELLS = 512, DMA_SEARCH_BOXES = 40, DMA_SEARCH_STEPS = 1 << 16 };

typedef struct dma_cells {
  uint64_t word[DMA_CELLS / 64];
} dma_cells;

typedef struct dma_grid {
  const tesela__dma_space *space;
  int64_t steps; /* remaining */
  int32_t n_cells, n, best;
  int32_t lines[TESELA__DMA_DIGITS];                      /* of each digit: intervals + 1 */
  int32_t pitch[TESELA__DMA_DIGITS];                      /* cells per interval */
  int64_t line[TESELA__DMA_DIGITS][2 * DMA_SEARCH_BOXES]; /* increasing */
  dma_cells own;                                          /* cells with a tuple of the bound's set */
  int16_t from[DMA_SEARCH_BOXES], to[DMA_SEARCH_BOXES]; /* current tiling: first and last cell of each box */
  int16_t from_best[DMA_SEARCH_BOXES], to_best[DMA_SEARCH_BOXES];
} dma_grid;

static bool dma_cell_in(const dma_cells *set, int32_t cell) {
  return set->word[cell / 64] >> (cell % 64) & 1u;
}
static void dma_cell_flip(dma_cells *set, int32_t cell) {
  set->word[cell / 64] ^= (uint64_t)1 << (cell % 64);
}

static void dma_add_line(dma_grid *grid, int32_t k, int64_t at) {
  int64_t *line = grid->line[k];
  int32_t i = 0, n = grid->lines[k];
  while (i < n && line[i] < at) i++;
  if (i < n && line[i] == at) return;
  for (int32_t j = n; j > i; j--) line[j] = line[j - 1];
  line[i] = at;
  grid->lines[k]++;
}

/* The interval of digit k that contains a cell. */
static int32_t dma_interval(const dma_grid *grid, int32_t cell, int32_t k) {
  return cell / grid->pitch[k] % (grid->lines[k] - 1);
}

/* The cells of the space; false if the grid is too large. */
static bool dma_grid_of(dma_grid *grid, dma_cells *free, const tesela__dma_boxes *boxes) {
  const tesela__dma_space *space = grid->space;
  for (size_t i = 0; i < boxes->n; i++) {
    const int64_t *box = tesela__dma_box(boxes, i);
    for (int32_t k = 0; k < grid->n; k++) {
      dma_add_line(grid, k, box[k]);
      dma_add_line(grid, k, box[k] + box[grid->n + k]);
    }
  }
  grid->n_cells = 1;
  for (int32_t k = grid->n - 1; k >= 0; k--) {
    grid->pitch[k] = grid->n_cells;
    grid->n_cells *= grid->lines[k] - 1;
    if (grid->n_cells > DMA_CELLS) return false;
  }
  for (int32_t cell = 0; cell < grid->n_cells; cell++) {
    int64_t first[TESELA__DMA_DIGITS], last[TESELA__DMA_DIGITS];
    for (int32_t k = 0; k < grid->n; k++) {
      int32_t i = dma_interval(grid, cell, k);
      first[k] = grid->line[k][i], last[k] = grid->line[k][i + 1] - 1;
    }
    if (tesela__dma_inside(space, first, last)) dma_cell_flip(free, cell);
  }
  return true;
}

/* Mark the cell of a tuple of the bound's set. */
static void dma_own(dma_grid *grid, const int64_t *tuple) {
  int32_t cell = 0;
  for (int32_t k = 0; k < grid->n; k++) {
    int32_t i = 0;
    while (grid->line[k][i + 1] <= tuple[k]) i++;
    cell += i * grid->pitch[k];
  }
  grid->own.word[cell / 64] |= (uint64_t)1 << (cell % 64);
}

/* The free cells of the bound's set; each needs its own box. */
static int32_t dma_still_needed(const dma_grid *grid, const dma_cells *free) {
  int32_t n = 0;
  for (int32_t w = 0; w < DMA_CELLS / 64; w++) n += __builtin_popcountll(free->word[w] & grid->own.word[w]);
  return n;
}

static int32_t dma_first_free(const dma_cells *free) {
  for (int32_t w = 0; w < DMA_CELLS / 64; w++)
    if (free->word[w]) return 64 * w + __builtin_ctzll(free->word[w]);
  return -1;
}

/* Remove the cells of box from..to from `free`; false, without a change, unless all are free. */
static bool dma_take_cells(dma_grid *grid, dma_cells *free, int32_t from, int32_t to) {
  dma_cells rest = *free;
  int32_t at = from;
  for (;;) {
    grid->steps--;
    if (!dma_cell_in(&rest, at)) return false;
    dma_cell_flip(&rest, at);
    int32_t k = grid->n - 1;
    for (; k >= 0; k--) {
      if (dma_interval(grid, at, k) < dma_interval(grid, to, k)) break;
      at -= (dma_interval(grid, at, k) - dma_interval(grid, from, k)) * grid->pitch[k];
    }
    if (k < 0) break;
    at += grid->pitch[k];
  }
  *free = rest;
  return true;
}

/* Tile the free cells with boxes from number `used` on. Recursion depth: the number of boxes. */
static void dma_tile(dma_grid *grid, const dma_cells *free, int32_t used) {
  int32_t from = dma_first_free(free);
  if (from < 0) {
    if (used >= grid->best) return;
    grid->best = used;
    memcpy(grid->from_best, grid->from, sizeof grid->from);
    memcpy(grid->to_best, grid->to, sizeof grid->to);
    return;
  }
  int32_t needed = dma_still_needed(grid, free);
  if (used + (needed > 1 ? needed : 1) >= grid->best || grid->steps < 0) return;
  for (int32_t to = grid->n_cells - 1; to >= from && grid->steps >= 0; to--) {
    bool above = true;
    for (int32_t k = 0; k < grid->n && above; k++)
      above = dma_interval(grid, to, k) >= dma_interval(grid, from, k);
    dma_cells rest = *free;
    grid->steps--;
    if (!above || !dma_take_cells(grid, &rest, from, to)) continue;
    grid->from[used] = (int16_t)from, grid->to[used] = (int16_t)to;
    dma_tile(grid, &rest, used + 1);
  }
}

tesela_status tesela__dma_search(int32_t *least, const tesela__dma_space *space, tesela__dma_boxes *boxes,
                                 int32_t n_own, const int64_t *own, const tesela_allocator *allocator,
                                 tesela_error *err) {
  *least = n_own;
  if (boxes->n > DMA_SEARCH_BOXES || boxes->n <= (size_t)n_own) return TESELA_OK;
  dma_grid *grid = tesela__alloc(allocator, sizeof *grid, alignof(dma_grid));
  if (!grid) return tesela__fail(err, TESELA_E_MEMORY, -1, "no memory for %zu bytes", sizeof *grid);
  memset(grid, 0, sizeof *grid);
  grid->space = space, grid->n = space->n;
  grid->steps = DMA_SEARCH_STEPS;
  dma_cells free = {{0}};
  if (dma_grid_of(grid, &free, boxes)) {
    for (int32_t i = 0; i < n_own; i++) dma_own(grid, own + (size_t)i * (size_t)space->n);
    grid->best = (int32_t)boxes->n;
    dma_tile(grid, &free, 0);
    for (int32_t i = 0; i < grid->best && grid->best < (int32_t)boxes->n; i++) {
      int64_t *box = tesela__dma_box(boxes, (size_t)i);
      for (int32_t k = 0; k < space->n; k++) {
        box[k] = grid->line[k][dma_interval(grid, grid->from_best[i], k)];
        box[space->n + k] = grid->line[k][dma_interval(grid, grid->to_best[i], k) + 1] - box[k];
      }
    }
    boxes->n = (size_t)grid->best;
    if (grid->steps >= 0) *least = grid->best;
  }
  tesela__release(allocator, grid);
  return TESELA_OK;
}
