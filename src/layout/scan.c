/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.c - all places in physical order.
 *
 * If the digits are dense on the axis, they count like an odometer, the smallest stride fastest. Each moves one dim by
 * its step; a place is padding if any dim is beyond its extent (n_bad counts them). A run is one turn of the fastest
 * digit, its padded end a separate one. With joins, uneven steps or gaps each run starts with a full inverse.
 */
#include <tesela/layout.h>

#include "layout/layout.h"

static bool is_dense(const tesela_layout *layout) {
  int64_t stride = 1;
  if (layout->axis[0].offset != 0 || layout->n_joins > 0) return false;
  for (int32_t i = layout->n_active - 1; i >= 0; i--) {
    const tesela_digit *digit = &layout->digit[layout->by_place[i]];
    if (digit->stride != stride) return false;
    stride *= digit->extent;
  }
  for (int32_t d = 0; d < layout->rank; d++)
    if (!tesela__chain_is_even(layout, tesela__chain_of(layout, d))) return false;
  return true;
}

/* Start a run: all values of the fastest digit, the ones that are elements first. */
static inline void scan_run(tesela_scan *scan) {
  int64_t room = scan->room - *scan->moving, valid = scan->length;
  scan->start = *scan->moving;
  if (scan->n_bad > 0 || room <= 0)
    valid = 0;
  else if (room <= (scan->length - 1) * scan->step)
    valid = tesela__ceil_div(room, scan->step);
  scan->padding = valid == 0;
  scan->pending = valid == 0 ? 0 : scan->length - valid;
  scan->left = (valid == 0 ? scan->length : valid) - 1;
}

static void scan_next_run(tesela_scan *scan) {
  *scan->moving = scan->start;
  for (int32_t k = 0; k < scan->n_levels; k++) {
    int64_t *at = scan->level[k].at, before = *at, room = scan->level[k].room;
    if (++scan->level[k].count < scan->level[k].extent) {
      *at = before + scan->level[k].step;
      scan->n_bad += (*at >= room) - (before >= room);
      scan_run(scan);
      return;
    }
    *at = before - (scan->level[k].extent - 1) * scan->level[k].step;
    scan->level[k].count = 0;
    scan->n_bad += (*at >= room) - (before >= room);
  }
  scan->padding = true; /* the tail */
  scan->pending = 0;
  scan->left = scan->layout->axis[0].extent - scan->place - 1;
}

static void scan_run_general(tesela_scan *scan) {
  int64_t q[TESELA_MAX_DIGITS], value[TESELA__MAX_COORDINATES];
  scan->padding = !tesela__locate(scan->layout, &scan->place, q, value);
  scan->left = 0;
  if (scan->padding) return;
  for (int32_t d = 0; d < scan->layout->rank; d++) scan->index[d] = value[d];
  int32_t dim;
  scan->left = tesela__places_without_carry(scan->layout, q, value, &dim, &scan->step) - 1;
  scan->moving = dim >= 0 ? &scan->index[dim] : &scan->none;
}

void tesela_scan_carry(tesela_scan *scan) {
  if (++scan->place >= scan->layout->axis[0].extent) {
    scan->more = false;
  } else if (scan->general) {
    scan_run_general(scan);
  } else if (scan->pending > 0) {
    scan->padding = true;
    scan->left = scan->pending - 1;
    scan->pending = 0;
  } else {
    scan_next_run(scan);
  }
}

/* How many levels, from the fastest on, begin a turn here and are elements all through it, as the run is; *places: of the run and
 * these turns. */
static int32_t scan_whole_levels(const tesela_scan *scan, int64_t *places) {
  int32_t n = 0;
  *places = scan->length;
  for (; n < scan->n_levels && scan->level[n].count == 0; n++) {
    const int64_t *at = scan->level[n].at;
    int64_t most = *at + (scan->level[n].extent - 1) * scan->level[n].step;
    if (at == scan->moving) most += (scan->length - 1) * scan->step;
    for (int32_t i = 0; i < n; i++)
      if (scan->level[i].at == at) most += (scan->level[i].extent - 1) * scan->level[i].step;
    if (most >= scan->level[n].room) break;
    *places *= scan->level[n].extent;
  }
  return n;
}

void tesela__scan_pass_elements(tesela_scan *scan) {
  int64_t places;
  if (!scan->general && scan->pending == 0 && scan->left == scan->length - 1) {
    const int32_t n = scan_whole_levels(scan, &places);
    for (int32_t i = 0; i < n; i++) { /* to the last run of them */
      const int64_t more = (scan->level[i].extent - 1) * scan->level[i].step;
      *scan->level[i].at += more;
      if (scan->level[i].at == scan->moving) scan->start += more;
      scan->level[i].count = scan->level[i].extent - 1;
    }
    scan->place += places - 1;
  } else {
    scan->place += scan->left;
  }
  scan->left = 0;
  tesela_scan_carry(scan);
}

/* Set the levels of the odometer. A digit without a source is a hole: all its values except 0 are padding. */
static void scan_set_levels(tesela_scan *scan) {
  const tesela_layout *layout = scan->layout;
  scan->n_levels = -1; /* the fastest digit makes the run */
  for (int32_t i = layout->n_active - 1; i >= 0; i--) {
    const tesela_digit *digit = &layout->digit[layout->by_place[i]];
    bool hole = digit->source < 0;
    int64_t *at = hole ? &scan->hole[i] : &scan->index[digit->source];
    int64_t step = hole ? 1 : digit->step, room = hole ? 1 : layout->shape[digit->source];
    scan->hole[i] = 0;
    if (++scan->n_levels == 0) {
      scan->moving = at;
      scan->step = step;
      scan->room = room;
      scan->length = digit->extent;
    } else {
      int32_t k = scan->n_levels - 1;
      scan->level[k].at = at;
      scan->level[k].count = 0;
      scan->level[k].extent = digit->extent;
      scan->level[k].step = step;
      scan->level[k].room = room;
    }
  }
  if (scan->n_levels < 0) scan->n_levels = 0;
}

tesela_status tesela_scan_begin(tesela_scan *scan, const tesela_layout *layout, tesela_error *err) {
  TESELA__NEED(err, scan, layout);
  tesela_status status = tesela__check_plain(layout, true, "scanning the places", err);
  if (status != TESELA_OK) return status;
  scan->layout = layout;
  scan->place = scan->left = scan->pending = scan->start = scan->none = 0;
  scan->n_bad = scan->n_levels = 0;
  scan->step = scan->room = scan->length = 1;
  scan->moving = &scan->none;
  scan->more = layout->axis[0].extent > 0;
  scan->general = tesela__is_empty(layout) || !is_dense(layout);
  for (int32_t d = 0; d < layout->rank; d++) scan->index[d] = 0;
  if (tesela__is_empty(layout)) {
    scan->padding = true;
    scan->left = layout->axis[0].extent - 1;
  } else if (scan->general) {
    scan_run_general(scan);
  } else {
    scan_set_levels(scan);
    scan_run(scan);
  }
  return TESELA_OK;
}
