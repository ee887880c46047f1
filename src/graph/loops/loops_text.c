/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops_text.c - layouts of counters as sums with quotients and remainders, and their text.
 */
#include "graph/loops/loops_text.h"

#include <stdio.h>

int32_t tesela__terms_counter(tesela__terms *text, char letter, int32_t number, int64_t extent) {
  if (text->n == TESELA__TERMS_ATOMS) {
    text->full = true;
    return 0;
  }
  tesela__terms_atom *atom = &text->atom[text->n];
  *atom = (tesela__terms_atom){.kind = 'c', .most = tesela__max(extent - 1, 0)};
  if (number >= 0)
    snprintf(atom->name, sizeof atom->name, "%c%" PRId32, letter, number % 1000);
  else
    snprintf(atom->name, sizeof atom->name, "%c", letter);
  return text->n++;
}

void tesela__terms_add(tesela__terms *text, tesela__terms_sum *sum, int32_t atom, int64_t by) {
  int32_t k = 0;
  while (k < sum->n && sum->atom[k] != atom) k++;
  if (k == TESELA__TERMS_TERMS) {
    text->full = true;
    return;
  }
  if (k == sum->n) {
    sum->atom[sum->n] = atom;
    sum->by[sum->n++] = 0;
  }
  sum->by[k] += by; /* places of counters: the layout's finish checked the sums */
  if (sum->by[k] != 0) return;
  sum->n--;
  for (; k < sum->n; k++) {
    sum->atom[k] = sum->atom[k + 1];
    sum->by[k] = sum->by[k + 1];
  }
}

void tesela__terms_range(const tesela__terms *text, const tesela__terms_sum *sum, int64_t *low,
                         int64_t *high) {
  *low = *high = sum->constant;
  for (int32_t k = 0; k < sum->n; k++) {
    int64_t span;
    if (!tesela__mul(sum->by[k], text->atom[sum->atom[k]].most, &span) ||
        !tesela__add(span < 0 ? *low : *high, span, span < 0 ? low : high)) {
      *low = INT64_MIN;
      *high = INT64_MAX;
      return;
    }
  }
}

static bool terms_same(const tesela__terms_sum *a, const tesela__terms_sum *b) {
  if (a->constant != b->constant || a->n != b->n) return false;
  for (int32_t k = 0; k < a->n; k++)
    if (a->atom[k] != b->atom[k] || a->by[k] != b->by[k]) return false;
  return true;
}

/* The atom for a sum's quotient or remainder. */
static int32_t terms_atom(tesela__terms *text, char kind, const tesela__terms_sum *of, int64_t by,
                          int64_t most) {
  for (int32_t k = 0; k < text->n; k++)
    if (text->atom[k].kind == kind && text->atom[k].by == by && terms_same(&text->atom[k].of, of)) return k;
  int32_t k = tesela__terms_counter(text, kind, -1, most + 1);
  if (text->full) return k;
  text->atom[k].kind = kind;
  text->atom[k].by = by;
  text->atom[k].of = *of;
  return k;
}

/* *sum by s: the quotient in *quotient, the remainder left in *sum. */
static void terms_divide(tesela__terms *text, tesela__terms_sum *sum, int64_t s,
                         tesela__terms_sum *quotient) {
  tesela__terms_sum rest = {.constant = 0};
  int64_t low, high;
  *quotient = (tesela__terms_sum){.constant = 0};
  for (int32_t k = 0; k < sum->n; k++) {
    if (sum->by[k] % s == 0)
      tesela__terms_add(text, quotient, sum->atom[k], sum->by[k] / s);
    else
      tesela__terms_add(text, &rest, sum->atom[k], sum->by[k]);
  }
  tesela__terms_range(text, &rest, &low, &high);
  rest.constant = sum->constant % s;
  if (rest.constant < 0) rest.constant += s;
  if (rest.constant + low < 0) rest.constant += tesela__ceil_div(-low - rest.constant, s) * s;
  quotient->constant = (sum->constant - rest.constant) / s;
  high += rest.constant;
  *sum = rest;
  if (high < s) return;
  tesela__terms_add(text, quotient, terms_atom(text, '/', &rest, s, high / s), 1);
  *sum = (tesela__terms_sum){.constant = 0};
  tesela__terms_add(text, sum, terms_atom(text, '%', &rest, s, s - 1), 1);
}

static void terms_add_all(tesela__terms *text, tesela__terms_sum *to, const tesela__terms_sum *from,
                          int64_t by) {
  to->constant += from->constant * by;
  for (int32_t k = 0; k < from->n; k++) tesela__terms_add(text, to, from->atom[k], from->by[k] * by);
}

void tesela__terms_place(tesela__terms *text, const tesela_layout *place, const int32_t *counter,
                         tesela__terms_sum *sum) {
  tesela__terms_sum join[TESELA_MAX_JOINS], rest = {.constant = 0}, quotient;
  int32_t source = -1;
  for (int32_t j = 0; j < place->n_joins; j++)
    join[j] = (tesela__terms_sum){.constant = place->join[j].offset};
  *sum = (tesela__terms_sum){.constant = place->axis[0].offset};
  for (int32_t i = 0; i < place->n_mapped; i++) {
    const tesela_digit *digit = &place->digit[i];
    if (digit->source != source) {
      source = digit->source;
      rest = (tesela__terms_sum){.constant = 0};
      if (source < place->rank)
        tesela__terms_add(text, &rest, counter[source], 1);
      else
        rest = join[source - place->rank];
    }
    if (digit->step > 1) {
      terms_divide(text, &rest, digit->step, &quotient);
    } else {
      quotient = rest;
      rest = (tesela__terms_sum){.constant = 0};
    }
    terms_add_all(text, digit->axis >= 0 ? sum : &join[digit->join], &quotient, digit->stride);
  }
}

/* ---- text --------------------------------------------------------------------------------------------------- */

static void terms_put_atom(const tesela__terms *text, const tesela__terms_atom *atom, tesela__sink *sink) {
  if (atom->kind == 'c') {
    tesela__puts(sink, atom->name);
    return;
  }
  bool single = atom->of.n == 1 && atom->of.constant == 0 && atom->of.by[0] == 1 &&
                text->atom[atom->of.atom[0]].kind == 'c';
  if (!single) tesela__putc(sink, '(');
  tesela__terms_put(text, &atom->of, sink);
  if (!single) tesela__putc(sink, ')');
  tesela__putc(sink, atom->kind);
  tesela__put_int(sink, atom->by);
}

void tesela__terms_put(const tesela__terms *text, const tesela__terms_sum *sum, tesela__sink *sink) {
  bool first = true;
  for (int32_t k = 0; k < sum->n; k++) {
    int64_t by = sum->by[k];
    if (!first) tesela__puts(sink, by < 0 ? " - " : " + ");
    if (first && by < 0) tesela__putc(sink, '-');
    terms_put_atom(text, &text->atom[sum->atom[k]], sink);
    if (by != 1 && by != -1) tesela__putf(sink, "*%" PRId64, by < 0 ? -by : by);
    first = false;
  }
  if (first)
    tesela__put_int(sink, sum->constant);
  else if (sum->constant != 0)
    tesela__putf(sink, " %c %" PRId64, sum->constant < 0 ? '-' : '+',
                 sum->constant < 0 ? -sum->constant : sum->constant);
}
