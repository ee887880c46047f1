/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame.c - the lines of a picture: box-drawing characters in three weights, or ASCII for plain terminals.
 */
#include "draw/scene.h"

static const char *const uprights[] = {" ", "┆", "│", "┃"};
static const char *const levels[] = {" ", "┄", "─", "━"};
static const char ascii_uprights[] = " ::|";
static const char ascii_levels[] = " .-=";

/* Crossings by row (top, inside, bottom), column (left, inside, right), heavy level, heavy upright. Dashed
 * lines cross as light ones. */
static const char *const crossings[3][3][2][2] = {
    {{{"┌", "┎"}, {"┍", "┏"}}, {{"┬", "┰"}, {"┯", "┳"}}, {{"┐", "┒"}, {"┑", "┓"}}},
    {{{"├", "┠"}, {"┝", "┣"}}, {{"┼", "╂"}, {"┿", "╋"}}, {{"┤", "┨"}, {"┥", "┫"}}},
    {{{"└", "┖"}, {"┕", "┗"}}, {{"┴", "┸"}, {"┷", "┻"}}, {{"┘", "┚"}, {"┙", "┛"}}},
};

void tesela__put_blanks(tesela__sink *sink, int64_t n) {
  while (n-- > 0) tesela__putc(sink, ' ');
}

/* ---- slots along a side ------------------------------------------------------------------------------ */

static void add_slot(tesela__track *track, tesela__slot_kind kind, int weight, int64_t position) {
  track->slot[track->n++] = (tesela__slot){kind, weight, position};
}

static void add_line(tesela__track *track, int weight) {
  if (weight != TESELA__LINE_NONE) add_slot(track, TESELA__SLOT_LINE, weight, 0);
}

/* Weight of the outer line of a window: heavy at an end of the side, dashed inside a block. */
static int outer_weight(const tesela__side *side, int64_t position) {
  if (position == 0 || position == side->extent) return TESELA__LINE_HEAVY;
  int weight = tesela__side_line(side, position);
  return weight == TESELA__LINE_NONE ? TESELA__LINE_DASHED : weight;
}

void tesela__track_make(tesela__track *track, const tesela__side *side, const tesela__pick *pick) {
  track->n = 0;
  add_line(track, outer_weight(side, pick->at[0]));
  for (int32_t i = 0; i < pick->n; i++) {
    int64_t at = pick->at[i];
    bool gap = i > 0 && pick->at[i - 1] + 1 < at;
    if (gap) {
      add_line(track, tesela__side_line(side, pick->at[i - 1] + 1));
      add_slot(track, TESELA__SLOT_GAP, 0, 0);
    }
    if (i > 0) add_line(track, tesela__side_line(side, at));
    add_slot(track, TESELA__SLOT_CELL, 0, at);
  }
  add_line(track, outer_weight(side, pick->at[pick->n - 1] + 1));
}

/* ---- painting ---------------------------------------------------------------------------------------- */

void tesela__brush_upright(const tesela__brush *brush, int weight) {
  if (brush->ascii)
    tesela__putc(brush->to, ascii_uprights[weight]);
  else
    tesela__puts(brush->to, uprights[weight]);
}

static void put_level(const tesela__brush *brush, int weight, int64_t columns) {
  for (int64_t i = 0; i < columns; i++) {
    if (brush->ascii)
      tesela__putc(brush->to, ascii_levels[weight]);
    else
      tesela__puts(brush->to, levels[weight]);
  }
}

void tesela__brush_rule(const tesela__brush *brush, const tesela__track *track, int row, int weight) {
  for (int32_t i = 0; i < track->n; i++) {
    const tesela__slot *slot = &track->slot[i];
    if (slot->kind == TESELA__SLOT_CELL) put_level(brush, weight, brush->cell);
    if (slot->kind == TESELA__SLOT_GAP) put_level(brush, weight, TESELA__GAP);
    if (slot->kind != TESELA__SLOT_LINE) continue;
    int column = i == 0 ? 0 : i + 1 == track->n ? 2 : 1;
    if (column > 0) put_level(brush, weight, 1);
    if (brush->ascii)
      tesela__putc(brush->to, '+');
    else
      tesela__puts(
          brush->to,
          crossings[row + 1][column][weight == TESELA__LINE_HEAVY][slot->weight == TESELA__LINE_HEAVY]);
  }
}

void tesela__brush_divider(const tesela__brush *brush, int64_t left, int64_t right) {
  put_level(brush, TESELA__LINE_LIGHT, left);
  tesela__puts(brush->to, brush->ascii ? "+" : crossings[1][1][0][0]);
  put_level(brush, TESELA__LINE_LIGHT, right);
}

const char *tesela__brush_dot(const tesela__brush *brush) { return brush->ascii ? "~" : "·"; }
const char *tesela__brush_gap(const tesela__brush *brush) { return brush->ascii ? " .." : "  …"; }
