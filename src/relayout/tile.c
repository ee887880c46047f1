/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile.c - run one tile: calls of the kernel over its entries, with a share of a later tile's prefetch at each call.
 *
 * A tile is stored in one of three ways: directly to dst; directly past the cache; or through the staging buffer. There
 * its dst rows (one for each entry of A, dense over B) are assembled, and written as whole lines. A line that the tile
 * does not finish is carried to the next tile of the same rows; parts of lines are written only at the start and the end
 * of a row.
 */
#include "relayout/tile.h"

/* ---- filling ----------------------------------------------------------------------------------------------- */

/* Fill n bytes, whole elements: moves of a power of two, the last of which may overlap the one before it. */
static void fill_short(unsigned char *dst, int64_t n, const unsigned char *pattern) {
  if (n >= 16) {
    for (int64_t at = 0; at + 16 < n; at += 16) memcpy(dst + at, pattern, 16);
    memcpy(dst + n - 16, pattern, 16);
  } else if (n >= 8) {
    memcpy(dst, pattern, 8), memcpy(dst + n - 8, pattern, 8);
  } else if (n >= 4) {
    memcpy(dst, pattern, 4), memcpy(dst + n - 4, pattern, 4);
  } else {
    for (int64_t i = 0; i < n; i++) dst[i] = pattern[i];
  }
}

void tesela__fill_row(unsigned char *dst, int64_t n, const unsigned char *pattern) {
  enum { SHORT = 512 };
  if (n > TESELA__LINE && memcmp(pattern, pattern + 1, 15) == 0) {
    memset(dst, pattern[0], (size_t)n);
    return;
  }
  fill_short(dst, tesela__min(n, SHORT), pattern);
  for (int64_t done = SHORT; done < n; done += tesela__min(done, n - done))
    memcpy(dst + done, dst, (size_t)tesela__min(done, n - done));
}

/* Fill rows of n bytes, a line or more: their whole lines past the cache. */
static void fill_past_cache(const tesela__worker *w, unsigned char *dst, const int64_t *off, int64_t rows,
                            int64_t n) {
  enum { LINES = 16 };
  unsigned char values[(LINES + 1) * TESELA__LINE];
  for (int64_t i = 0; i < (int64_t)sizeof values; i += TESELA__LINE)
    memcpy(values + i, w->plan->fill_pattern, TESELA__LINE);
  for (int64_t r = 0; r < rows; r++) {
    unsigned char *to = dst + off[r];
    const int64_t head = (int64_t)(-(uintptr_t)to % TESELA__LINE);
    int64_t left = n - head;
    memcpy(to, values, (size_t)head);
    for (to += head; left >= TESELA__LINE;) {
      const int64_t lines = tesela__min(LINES, left / TESELA__LINE);
      w->piece->stream_fn(to, values + head, lines);
      to += lines * TESELA__LINE;
      left -= lines * TESELA__LINE;
    }
    memcpy(to, values + head, (size_t)left);
  }
}

static void tile_fill(const tesela__worker *w, const tesela__tile *tile) {
  enum { LONG = 1024 }; /* shorter ones that share lines with others are slower past the cache */
  const int64_t *db = &w->plan->table[w->piece->db];
  if (w->store == TESELA__STORE_STREAM && tile->run >= (w->piece->lines ? TESELA__LINE : LONG))
    fill_past_cache(w, tile->dst, db, tile->nb, tile->run);
  else
    for (int64_t b = 0; b < tile->nb; b++)
      tesela__fill_row(tile->dst + db[b], tile->run, w->plan->fill_pattern);
}

/* ---- bits -------------------------------------------------------------------------------------------------- */

static void tile_bits(const tesela__worker *w, const tesela__tile *tile) {
  const tesela__piece *piece = w->piece;
  const int64_t *table = w->plan->table;
  unsigned char pattern[80];
  tesela__rows rows = piece->rows;
  rows.n = tile->run;
  rows.stores = TESELA__TO_CACHE;
  for (size_t i = 0; i < sizeof pattern && piece->fill; i += 16)
    memcpy(pattern + i, w->plan->fill_pattern, 16);
  const unsigned char *src = piece->fill ? pattern : tile->src;
  int64_t to[TESELA__LINE], from[TESELA__LINE] = {0}, k = 0;
  for (int64_t a = 0; a < tile->na; a++)
    for (int64_t b = 0; b < tile->nb; b++) {
      to[k] = tile->dst_bit + table[piece->da + a] + table[piece->db + b];
      if (!piece->fill) from[k] = tile->src_bit + table[piece->sa + a] + table[piece->sb + b];
      if (++k < TESELA__LINE) continue;
      piece->rows_fn(&rows, tile->dst, to, src, from, k);
      k = 0;
    }
  if (k > 0) piece->rows_fn(&rows, tile->dst, to, src, from, k);
}

/* Convert strided elements. */
static void tile_strided_convert(const tesela__worker *w, const tesela__tile *tile) {
  const tesela__piece *piece = w->piece;
  const int64_t *table = w->plan->table;
  tesela__mover mover = tesela__mover_of(w->plan);
  int64_t unit = piece->bitwise ? 1 : 8;
  for (int64_t a = 0; a < tile->na; a++)
    for (int64_t b = 0; b < tile->nb; b++) {
      int64_t from = tile->src_bit + (table[piece->sa + a] + table[piece->sb + b]) * unit;
      int64_t to = tile->dst_bit + (table[piece->da + a] + table[piece->db + b]) * unit;
      tesela__move(&mover, tile->run, tile->dst, to, piece->run_dst * unit, tile->src, from,
                   piece->run_src * unit);
    }
}

/* ---- rows -------------------------------------------------------------------------------------------------- */

static void convert_rows(const tesela__piece *piece, const tesela__rows *rows, unsigned char *dst,
                         const int64_t *db, const unsigned char *src, const int64_t *sb, int64_t nb) {
  if (piece->convert_rows_fn)
    piece->convert_rows_fn(rows, dst, db, src, sb, nb);
  else
    for (int64_t b = 0; b < nb; b++) piece->convert_fn(dst + db[b], src + sb[b], rows->n);
}

/* Convert one row, some whole lines of dst at a time. */
static void convert_long_row(tesela__worker *w, const tesela__rows *rows, unsigned char *dst,
                             const unsigned char *src) {
  const tesela__piece *piece = w->piece;
  const int64_t step = tesela__long_row_step(piece);
  tesela__rows part = *rows;
  for (int64_t at = 0; at < rows->n; at += step) {
    int64_t to = at * piece->dst_bits / 8, from = at * piece->src_bits / 8;
    part.n = tesela__min(step, rows->n - at);
    convert_rows(piece, &part, dst, &to, src, &from, 1);
    tesela__prefetch_some(&w->prefetch);
  }
}

/* Fill the padding after each of n rows. */
static void fill_tails(const tesela__worker *w, unsigned char *dst, const int64_t *off, int64_t n) {
  enum { SHORT = TESELA__LINE }; /* as a call costs more */
  const int64_t bytes = w->piece->tail;
  for (int64_t i = 0; i < n; i++)
    if (bytes <= SHORT)
      fill_short(dst + off[i], bytes, w->plan->fill_pattern);
    else
      tesela__fill_row(dst + off[i], bytes, w->plan->fill_pattern);
}

/* Prefetch n rows of dst, to be written. Inlined: gcc removes calls of a function that does no more. */
TESELA__INLINE void prefetch_rows(unsigned char *dst, const int64_t *off, int64_t n, int64_t bytes) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t at = 0; at < bytes + TESELA__LINE - 1; at += TESELA__LINE)
      __builtin_prefetch(dst + off[i] + at, 1, 2);
}

/* Copy the rows of one entry of A, about 4 KiB at a time, each with a share of the prefetch. `next`: dst of the next tile, or NULL. */
static void some_rows(tesela__worker *w, const tesela__rows *rows, unsigned char *dst,
                      const unsigned char *src, int64_t nb, int64_t group, unsigned char *next) {
  const tesela__piece *piece = w->piece;
  const int64_t *db = &w->plan->table[piece->db], *sb = &w->plan->table[piece->sb];
  if (piece->convert_fn && nb == 1) {
    convert_long_row(w, rows, dst + db[0], src + sb[0]);
    return;
  }
  for (int64_t b = 0; b < nb; b += group) {
    int64_t n = tesela__min(group, nb - b);
    if (piece->convert_fn)
      convert_rows(piece, rows, dst, db + b, src, sb + b, n);
    else
      piece->rows_fn(rows, dst, db + b, src, sb + b, n);
    if (piece->tail) fill_tails(w, dst + piece->entry_dst - piece->tail, db + b, n);
    if (next) prefetch_rows(next, db + b, n, piece->entry_dst);
    tesela__prefetch_some(&w->prefetch);
  }
}

/* Of what goes straight to dst. */
static tesela__stores direct_stores(const tesela__worker *w) {
  return w->store == TESELA__STORE_STREAM ? TESELA__PAST_CACHE
         : w->piece->ahead                ? TESELA__TO_CACHE_AHEAD
                                          : TESELA__TO_CACHE;
}

static tesela__rows rows_of(const tesela__worker *w, const tesela__tile *tile, tesela__stores stores) {
  const tesela__piece *piece = w->piece;
  tesela__rows rows = piece->rows;
  rows.n = tile->run;
  rows.stores = stores;
  if (piece->n_lines)
    rows.permute =
        (tesela__permute){&w->plan->picked_line[piece->first_line], w->plan->pick, w->plan->bit_round,
                          piece->n_lines, piece->picks_padding ? w->plan->fill_pattern : NULL};
  return rows;
}

static int64_t rows_at_a_time(const tesela__worker *w) {
  const tesela__piece *piece = w->piece;
  if (!w->prefetch.n_rows && !piece->tail && !piece->jumps) return piece->nb;
  const int64_t n = tesela__max(1, 4096 / tesela__max(1, piece->entry_dst));
  return piece->n_lines ? tesela__ceil_div(n, TESELA__PERMUTE_BLOCKS) * TESELA__PERMUTE_BLOCKS : n;
}

static void tile_rows(tesela__worker *w, const tesela__tile *tile) {
  const tesela__piece *piece = w->piece;
  const int64_t *da = &w->plan->table[piece->da], *sa = &w->plan->table[piece->sa];
  tesela__rows rows = rows_of(w, tile, direct_stores(w));
  int64_t group = rows_at_a_time(w);
  for (int64_t a = 0; a < tile->na; a++)
    some_rows(w, &rows, tile->dst + da[a], tile->src + sa[a], tile->nb, group,
              tile->next_dst ? tile->next_dst + da[a] : NULL);
}

/* ---- blocks ------------------------------------------------------------------------------------------------ */

/* The source of a transpose: the tile, or its packed rows. */
typedef struct block_source {
  const unsigned char *src;
  const int64_t *src_off, *dst_off; /* of rows (side B), of columns (side A) */
  int64_t rows, cols, dense;        /* dense: rows that follow each other in dst */
  bool padded;                      /* rows without a src are padding */
} block_source;

/* Offsets of rows from `src`, with the fill value as the src of those that are padding. */
static const int64_t *with_padding(const tesela__worker *w, const unsigned char *src, const int64_t *off,
                                   int32_t rows, int64_t *to) {
  int64_t fill = (int64_t)((uintptr_t)w->plan->fill_pattern - (uintptr_t)src);
  for (int32_t i = 0; i < rows; i++) to[i] = off[i] == TESELA__PADDING ? fill : off[i];
  return to;
}

/* Transpose all blocks of columns a .. a+n-1, n at most a block; some rows are padding or do not follow each other in dst. */
static void blocks_apart(tesela__worker *w, const block_source *s, int64_t a, int32_t n, unsigned char *dst,
                         const int64_t *dst_off, tesela__stores stores) {
  const tesela__piece *piece = w->piece;
  const int64_t *db = &w->plan->table[piece->db];
  const int32_t most = tesela__rows_of_call(piece);
  const unsigned char *src = s->src + a * piece->width;
  int64_t padded[TESELA__LINE];
  for (int64_t first = 0; first < s->rows; first += s->dense)
    for (int64_t b = first, end = tesela__min(first + s->dense, s->rows); b < end; b += most) {
      int32_t rows = (int32_t)tesela__min(most, end - b);
      const int64_t *src_off = s->src_off + b;
      if (s->padded) src_off = with_padding(w, src, src_off, rows, padded);
      piece->transpose_fn(dst + db[first] + (b - first) * piece->width, dst_off, src, src_off, rows, n,
                          stores);
      tesela__prefetch_some(&w->prefetch);
    }
}

/* The same for rows without padding that follow each other. */
static void blocks_along(tesela__worker *w, const block_source *s, int64_t a, int32_t n, unsigned char *dst,
                         const int64_t *dst_off, tesela__stores stores) {
  const tesela__piece *piece = w->piece;
  const int32_t most = tesela__rows_of_call(piece);
  const unsigned char *src = s->src + a * piece->width;
  for (int64_t b = 0; b < s->rows; b += most) {
    int32_t rows = (int32_t)tesela__min(most, s->rows - b);
    piece->transpose_fn(dst + b * piece->width, dst_off, src, s->src_off + b, rows, n, stores);
    tesela__prefetch_some(&w->prefetch);
  }
}

static bool are_apart(const block_source *s) { return s->padded || s->dense < s->rows; }

static void blocks_direct(tesela__worker *w, const block_source *s, unsigned char *dst) {
  const tesela__stores stores = direct_stores(w);
  const bool apart = are_apart(s);
  int32_t block = w->piece->block;
  if (!apart && !w->prefetch.n_rows) {
    w->piece->transpose_fn(dst, s->dst_off, s->src, s->src_off, (int32_t)s->rows, (int32_t)s->cols, stores);
    return;
  }
  for (int64_t a = 0; a < s->cols; a += block) {
    int32_t n = (int32_t)tesela__min(block, s->cols - a);
    if (apart)
      blocks_apart(w, s, a, n, dst, s->dst_off + a, stores);
    else
      blocks_along(w, s, a, n, dst, s->dst_off + a, stores);
  }
}

/* ---- staging ----------------------------------------------------------------------------------------------- */

/* Staged together: n entries of side A, from a on; each `row` of them is one row of dst. */
typedef struct staged_rows {
  int64_t a, n, row, pitch;
} staged_rows;

static void stage_blocks(tesela__worker *w, const block_source *s, const staged_rows *r,
                         const int64_t *stage_off) {
  int32_t block = w->piece->block;
  bool apart = are_apart(s);
  for (int64_t i = 0; i < r->n; i += block) {
    int32_t n = (int32_t)tesela__min(block, r->n - i);
    if (apart)
      blocks_apart(w, s, r->a + i, n, w->stage, stage_off + i, TESELA__TO_CACHE);
    else
      blocks_along(w, s, r->a + i, n, w->stage, stage_off + i, TESELA__TO_CACHE);
  }
}

static void stage_rows(tesela__worker *w, const tesela__tile *tile, const staged_rows *r,
                       const int64_t *stage_off) {
  tesela__rows rows = rows_of(w, tile, TESELA__TO_CACHE);
  int64_t group = rows_at_a_time(w);
  for (int64_t i = 0; i < r->n; i++)
    some_rows(w, &rows, w->stage + stage_off[i], tile->src + w->plan->table[w->piece->sa + r->a + i],
              tile->nb, group, NULL);
}

/* Bytes of a staged row of a tile. */
static int64_t staged_bytes(const tesela__piece *piece, const tesela__tile *tile, const block_source *s,
                            int64_t row) {
  if (s) return row * s->rows * piece->width;
  int64_t last = piece->convert_fn ? tesela__ceil_div(tile->run * piece->dst_bits, 8)
                                   : tile->run * piece->run_dst + piece->tail;
  return (row * tile->nb - 1) * piece->entry_dst + last;
}

/* Run a tile through the staging buffer; s is NULL for row kernels. If the entries of a staged row are `step` apart, all rows are staged at
 * once, and begin at the first `step` entries. Before each row there is the line that was carried. */
static void tile_staged(tesela__worker *w, const tesela__tile *tile, const block_source *s,
                        unsigned char (*carry)[TESELA__LINE]) {
  const tesela__piece *piece = w->piece;
  int64_t stage_off[TESELA__MAX_TILE];
  const int64_t *da = s ? s->dst_off : &w->plan->table[piece->da];
  const int64_t na = s ? s->cols : tile->na, step = piece->staged_step;
  const bool begins = !carry || tile->begins, ends = !carry || tile->ends;
  staged_rows r = {.row = step > 1 ? na / step : tesela__min(piece->staged_a, na)};
  int64_t bytes = staged_bytes(piece, tile, s, r.row);
  r.pitch = tesela__stage_pitch(bytes);
  int64_t most = s ? tesela__max(1, piece->block / r.row) : tesela__max(1, TESELA__LINE / r.row);
  most = step > 1 ? na : tesela__min(most, TESELA__STAGE / r.pitch) * r.row;
  for (r.a = 0; r.a < na; r.a += r.n) {
    r.n = tesela__min(most, na - r.a);
    if (r.n < r.row) { /* the last part of a loop */
      r.row = r.n;
      bytes = staged_bytes(piece, tile, s, r.row);
    } else {
      r.n -= step > 1 ? 0 : r.n % r.row;
    }
    const int64_t rows = step > 1 ? step : r.n / r.row, next = step > 1 ? 1 : r.row;
    for (int64_t i = 0; i < rows; i++) {
      const int64_t at = i * next, *row = da + r.a + at, move = i * r.pitch + TESELA__LINE - row[0];
      if (step == 1) /* a loop of its own, which is fast */
        for (int64_t k = 0; k < r.row; k++) stage_off[at + k] = move + row[k];
      else
        for (int64_t k = 0; k < r.row; k++) stage_off[at + k * step] = move + row[k * step];
      if (!begins) memcpy(w->stage + i * r.pitch, carry[i], TESELA__LINE);
    }
    s ? stage_blocks(w, s, &r, stage_off) : stage_rows(w, tile, &r, stage_off);
    piece->stream_rows_fn(&(tesela__stream_rows){.dst = tile->dst,
                                                 .dst_off = da + r.a,
                                                 .src = w->stage + TESELA__LINE,
                                                 .step = next,
                                                 .pitch = r.pitch,
                                                 .count = rows,
                                                 .n = bytes,
                                                 .begins = begins,
                                                 .ends = ends,
                                                 .keep = carry});
    if (carry) carry += rows;
  }
}

/* ---- packing before a transpose ---------------------------------------------------------------------------- */

/* Pack, convert, regroup or copy the rows of the tile into the pack buffer. */
static void pack_rows(tesela__worker *w, const tesela__tile *tile) {
  const tesela__piece *piece = w->piece;
  const int64_t *sb = &w->plan->table[piece->sb], zero = 0;
  int64_t m = piece->group;
  for (int64_t b = 0; b < tile->nb; b += m) {
    unsigned char *row = w->pack + b * piece->pack_pitch;
    if (sb[b] == TESELA__PADDING)
      tesela__fill_row(row, m * piece->pack_pitch, w->plan->fill_pattern);
    else if (piece->rows_fn)
      piece->rows_fn(
          &(tesela__rows){
              .n = tile->na, .k = 1, .src_pitch = piece->rows.src_pitch, .dst_pitch = piece->width},
          row, &zero, tile->src, sb + b, 1);
    else if (piece->bit_block_fn) {
      piece->bit_block_fn(row, piece->pack_pitch, tile->src, sb + b, NULL, tile->na / m);
      tesela__prefetch_some(&w->prefetch);
    } else if (piece->convert_fn)
      piece->convert_fn(row, tile->src + sb[b], tile->na);
    else {
      int64_t bytes = tile->na * piece->width;
      if (piece->near_rows && b + piece->near_rows < tile->nb)
        for (int64_t at = 0; at < bytes; at += TESELA__LINE)
          __builtin_prefetch(tile->src + sb[b + piece->near_rows] + at, 0, 3);
      memcpy(row, tile->src + sb[b], (size_t)bytes);
    }
  }
}

/* The m rows of a group: offsets from src, those of padding `fill` bytes. */
static const int64_t *rows_of_group(const tesela__piece *piece, const int64_t *off, int64_t fill,
                                    int64_t *padded) {
  if (!piece->padded) return off;
  for (int32_t j = 0; j < piece->group; j++) padded[j] = off[j] == TESELA__PADDING ? fill : off[j];
  return padded;
}

/* The m byte rows of each group g of packed rows are streams: byte c of stream j*groups + g has elements c*m + j.
 * Interleaved, they are dst; or they are src, deinterleaved. */
static void tile_woven_bits(tesela__worker *w, const tesela__tile *tile) {
  const tesela__piece *piece = w->piece;
  const int64_t *table = w->plan->table, zero = 0;
  int64_t m = piece->group, pitch = piece->pack_pitch, k = piece->weaves_out ? tile->nb : tile->na,
          groups = k / m;
  int64_t bytes = (piece->weaves_out ? tile->na : tile->nb) / m, off[8];
  unsigned char fill[TESELA__WOVEN_BITS / 2];
  const int64_t to_fill = (int64_t)((uintptr_t)fill - (uintptr_t)tile->src);
  if (piece->padded) memset(fill, w->plan->fill_pattern[0], (size_t)bytes);
  tesela__rows rows = {.n = bytes, .k = k, .src_pitch = pitch, .dst_pitch = pitch};
  if (!piece->weaves_out) piece->weave_fn(&rows, w->pack, &zero, tile->src, &zero, 1);
  for (int64_t g = 0; g < groups; g++) {
    for (int64_t j = 0; j < m; j++) off[j] = (j * groups + g) * pitch;
    const int64_t *da = &table[piece->da + g * m];
    if (piece->weaves_out)
      piece->bit_block_fn(w->pack + g * pitch, groups * pitch, tile->src,
                          rows_of_group(piece, &table[piece->sb + g * m], to_fill, off), NULL, bytes);
    else
      piece->bit_block_fn(tile->dst + da[0], da[1] - da[0], w->pack, off, NULL, bytes);
  }
  rows.stores = piece->stream ? TESELA__PAST_CACHE : TESELA__TO_CACHE;
  if (piece->weaves_out) piece->weave_fn(&rows, tile->dst, &zero, w->pack, &zero, 1);
}

static void tile_packed(tesela__worker *w, const tesela__tile *tile) {
  const tesela__piece *piece = w->piece;
  const int64_t *table = w->plan->table;
  int64_t m = piece->group, full_a = piece->na / m, full_b = piece->nb / m;
  pack_rows(w, tile);
  for (int64_t j = 0; j < m; j++) {
    block_source s = {w->pack,
                      &table[piece->pack_src + j * full_b],
                      &table[piece->pack_dst + j * full_a],
                      tile->nb / m,
                      tile->na / m,
                      piece->dense_b / m,
                      false};
    unsigned char(*carry)[TESELA__LINE] = tile->carry ? tile->carry + j * full_a : NULL;
    if (w->store == TESELA__STORE_STAGED)
      tile_staged(w, tile, &s, carry);
    else
      blocks_direct(w, &s, tile->dst);
    if (tile->next_dst && w->store == TESELA__STORE_CACHED)
      prefetch_rows(tile->next_dst, s.dst_off, full_a, full_b * piece->width);
  }
}

/* ---- the tile ---------------------------------------------------------------------------------------------- */

void tesela__tile_run(tesela__worker *w, const tesela__tile *tile) {
  const tesela__piece *piece = w->piece;
  const int64_t *table = w->plan->table;
  bool staged = w->store == TESELA__STORE_STAGED;
  if (piece->bits_tile) {
    tesela__bits_tile_run(w, tile);
  } else if (piece->bitwise && !piece->convert_fn) {
    tile_bits(w, tile);
  } else if (piece->fill) {
    tile_fill(w, tile);
  } else if (piece->solver == TESELA_SOLVER_STRIDED && piece->convert_fn) {
    tile_strided_convert(w, tile);
  } else if (piece->weave_fn) {
    tile_woven_bits(w, tile);
  } else if (piece->pack_pitch) {
    tile_packed(w, tile);
  } else if (piece->transpose_fn) {
    block_source s = {tile->src, &table[piece->sb], &table[piece->da], tile->nb,
                      tile->na,  piece->dense_b,    piece->padded};
    staged ? tile_staged(w, tile, &s, tile->carry) : blocks_direct(w, &s, tile->dst);
  } else {
    staged ? tile_staged(w, tile, NULL, tile->carry) : tile_rows(w, tile);
  }
  while (!w->inner && w->prefetch.at_row < w->prefetch.n_rows) tesela__prefetch_some(&w->prefetch);
}
