/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_stage.c - a run by windows of dst: all pieces write their part of a window in a buffer in the cache, padding is there before they
 * do, and whole lines of the window go to dst, past the cache, once.
 *
 *   u4[125,91,80,146]{3,2,1,0:T(64,64)} to {3,2,1,0}   rows of 73 bytes are runs of 32, 32 and 9, which are three pieces
 *   u1[17,1507910,7] to {2,1,0:T(32,8)}                7 bits and one of padding
 *
 * So plans are run whose pieces would else write parts of the same lines, each in a pass of its own. All places of dst must be written, and
 * tiles must not go across many windows; where one does, pieces write to dst directly.
 */
#include "relayout/tile.h"
#include "relayout/window.h"

typedef struct windows_worker {
  const tesela_plan *plan;
  const unsigned char *src;
  tesela__stream_fn *stream;
  tesela__window_steps steps[TESELA__WINDOW_PIECES];
  int64_t done[TESELA__WINDOW_PIECES]; /* steps of each piece before this window */
  bool carries; /* `stage` begins with the part of a line that the window before ends with */
  alignas(TESELA__LINE) unsigned char stage[TESELA__WINDOW_MOST + 2 * TESELA__LINE];
} windows_worker;

/* Where chunk number `chunk` begins: chunks do not overlap, though an edge is searched for each. */
static int64_t chunk_edge(const tesela_plan *plan, const tesela__window_steps *steps, int32_t chunk) {
  const int64_t bytes = plan->info.dst_bytes;
  int64_t edge = 0;
  for (int32_t i = 1; i <= chunk; i++) {
    const int64_t at = bytes / plan->info.threads * i;
    const int64_t next = i == plan->info.threads
                             ? bytes
                             : tesela__window_element_edge(plan, steps, at > 0 ? at - 1 : 0, at, bytes);
    edge = tesela__max(edge, next < 0 ? bytes : next);
  }
  return edge;
}

/* All pieces of the window up to byte `end`, to memory where byte 0 of dst would be at `dst`. */
static void run_window(windows_worker *w, unsigned char *dst, int64_t begin, int64_t end) {
  const tesela_plan *plan = w->plan;
  int64_t last;
  if (plan->window_filled)
    tesela__fill_row((unsigned char *)((uintptr_t)dst + (uintptr_t)begin), end - begin, plan->fill_pattern);
  for (int32_t i = 0; i < plan->n_pieces; i++) {
    const tesela__window_steps *steps = &w->steps[i];
    const int64_t first = w->done[i];
    w->done[i] = tesela__window_before(&plan->piece[i], steps, end, &last);
    if (w->done[i] > first)
      tesela__run_tiles(plan, &plan->piece[i], dst, w->src, first * steps->tiles, w->done[i] * steps->tiles,
                        true);
  }
}

/* Write a window that is in the stage, at the phase of dst in its line; with the part of a line that is carried, and without the one
 * that the next window ends. */
static void write_window(windows_worker *w, unsigned char *dst, int64_t n, bool ends) {
  const int64_t phase = (int64_t)((uintptr_t)dst % TESELA__LINE), end = phase + n;
  const int64_t whole = end / TESELA__LINE * TESELA__LINE;
  unsigned char *line = dst - phase;
  int64_t first = w->carries ? 0 : phase;
  if (first > 0) { /* not from the beginning of a line */
    const int64_t part = tesela__min(TESELA__LINE, end);
    memcpy(dst, w->stage + phase, (size_t)(part - phase));
    first = part;
  }
  if (whole > first) w->stream(line + first, w->stage + first, (whole - first) / TESELA__LINE);
  first = tesela__max(first, whole);
  w->carries = end > first && !ends;
  if (w->carries)
    memmove(w->stage, w->stage + first, (size_t)(end - first));
  else
    memcpy(line + first, w->stage + first, (size_t)(end - first));
}

void tesela__windows_run(const tesela_plan *plan, unsigned char *dst, const unsigned char *src, int32_t chunk,
                         bool (*goes_on)(void *data, int64_t bytes), void *data) {
  windows_worker w;
  int64_t last;
  w.plan = plan;
  w.src = src;
  w.stream = (tesela__stream_fn *)tesela__kernel_find(TESELA__K_STREAM, 0, 0, plan->isa)->fn;
  w.carries = false;
  if (!tesela__windows_steps(plan, w.steps)) return; /* not so: windows fit */
  const int64_t end = chunk_edge(plan, w.steps, chunk + 1);
  int64_t at = chunk_edge(plan, w.steps, chunk);
  for (int32_t i = 0; i < plan->n_pieces; i++)
    w.done[i] = tesela__window_before(&plan->piece[i], &w.steps[i], at, &last);
  for (int64_t next; at < end; at = next) {
    next = end - at <= plan->window ? end
                                    : tesela__window_element_edge(plan, w.steps, at, at + plan->window, end);
    if (next < 0 || next > end) next = end;
    const int64_t phase = (int64_t)((uintptr_t)(dst + at) % TESELA__LINE);
    if (next - at > TESELA__WINDOW_MOST) {
      if (w.carries) memcpy(dst + at - phase, w.stage, (size_t)phase);
      w.carries = false;
      run_window(&w, dst, at, next);
    } else {
      run_window(&w, (unsigned char *)((uintptr_t)w.stage + (uintptr_t)phase - (uintptr_t)at), at, next);
      write_window(&w, dst + at, next - at, next == end);
    }
    if (!goes_on(data, next - at)) break;
  }
}
