/* SPDX-License-Identifier: Apache-2.0 */
/*
 * permute_bits.c - the rounds of a line of elements below 8 bits.
 *
 * The elements of a line are a few parts: bits that follow each other on both sides, within a byte of dst and a stretch of src. In a round
 * each 8 bytes of the line get 8 bytes of src, by a pick for each stretch, and then each byte 8 bits that follow each other in these. A part
 * joins the first round that has room for its bytes, and whose bits for its byte of dst are the same.
 *
 *   4 bits, [n,2] to {0,1}    a byte of dst is the low or high halves of two bytes: 2 rounds, of 2 picks each
 *   1 bit, [5,n] to {0,1}     102 bits from each of 5 rows, one or two of a byte: 10 rounds, of one pick each
 *
 * Rounds of several stretches have more picks; so they are made with such rounds and without, and the fewer steps win.
 */
#include "relayout/solve.h"

enum { EIGHT = 8, MOST_ROUNDS = 64, MOST_PARTS = 8 * TESELA__LINE };

/* Bits that follow each other in src and within a byte of dst. */
typedef struct bit_part {
  int32_t stretch, src, byte, bit, n; /* src: bits from the stretch on; byte, bit: of dst */
} bit_part;

/* What a round has taken. A byte of src: 64 times the number of its stretch, and that of the byte there. */
typedef struct bit_room {
  int32_t slot[TESELA__LINE]; /* the byte of src, or -1 */
  int8_t shift[TESELA__LINE]; /* or -1 */
  uint8_t mask[TESELA__LINE];
} bit_room;

typedef struct bit_line {
  int32_t n_parts, n_stretches, n_rounds;
  int64_t from[MOST_PARTS]; /* of the stretches */
  bit_part part[MOST_PARTS];
  bit_room room[MOST_ROUNDS];
} bit_line;

/* Where the stretch of the elements from number `at` on begins: at a multiple of a line, if it has a line and as many of them. */
static int64_t first_bit_byte(const tesela__permute_fit *fit, const tesela__line_elements *line, int32_t at) {
  const int32_t width = fit->width;
  const int64_t first = line->element[at].src >> 3, whole = first & ~(int64_t)(TESELA__LINE - 1);
  int32_t n = at;
  if (fit->stretch < TESELA__LINE) return tesela__stretch_at(fit, first);
  while (n < line->n && line->element[n].src + width <= (whole + TESELA__LINE) * 8) n++;
  return n == line->n || line->element[n].src >= (first + TESELA__LINE) * 8 ? whole : first;
}

static void find_bit_parts(const tesela__permute_fit *fit, bit_line *bits,
                           const tesela__line_elements *line) {
  const int32_t width = fit->width;
  bits->n_parts = bits->n_stretches = 0;
  for (int32_t at = 0; at < line->n;) {
    const int64_t from = first_bit_byte(fit, line, at);
    const int32_t s = bits->n_stretches++, begin = bits->n_parts;
    bits->from[s] = from;
    for (; at < line->n && line->element[at].src + width <= (from + fit->stretch) * 8; at++) {
      const int32_t src = (int32_t)(line->element[at].src - from * 8), dst = (int32_t)line->element[at].dst;
      bit_part *last = bits->n_parts > begin ? &bits->part[bits->n_parts - 1] : NULL;
      if (last && last->src + last->n == src && last->byte * 8 + last->bit + last->n == dst && dst % 8)
        last->n += width;
      else
        bits->part[bits->n_parts++] = (bit_part){s, src, dst / 8, dst % 8, width};
    }
  }
}

/* Put a part into a round, if that has room for it: its bytes are there, or slots for those that are not. */
static bool take_bit_part(bit_room *room, const bit_part *part) {
  int32_t *slot = &room->slot[part->byte / EIGHT * EIGHT], best = -1, most = -1;
  const int32_t first = part->stretch * TESELA__LINE + (part->src >> 3),
                n = ((part->src + part->n - 1) >> 3) - (part->src >> 3) + 1;
  for (int32_t k = 0; k < EIGHT; k++) {
    int32_t there = 0, i = 0;
    for (; i < n && (slot[(k + i) % EIGHT] < 0 || slot[(k + i) % EIGHT] == first + i); i++)
      there += slot[(k + i) % EIGHT] >= 0;
    const int32_t shift = (k * 8 + part->src % 8 - part->bit) & 63;
    if (i < n || there <= most || (room->shift[part->byte] >= 0 && room->shift[part->byte] != shift))
      continue;
    best = k;
    most = there;
  }
  if (best < 0) return false;
  for (int32_t i = 0; i < n; i++) slot[(best + i) % EIGHT] = first + i;
  room->shift[part->byte] = (int8_t)((best * 8 + part->src % 8 - part->bit) & 63);
  room->mask[part->byte] |= (uint8_t)(((1 << part->n) - 1) << part->bit);
  return true;
}

/* Put all parts into rounds; `share`: those of several stretches into one. False: there are too many. */
static bool make_bit_rounds(bit_line *bits, bool share) {
  int32_t first = 0, stretch = 0;
  bits->n_rounds = 0;
  for (int32_t i = 0; i < bits->n_parts; i++) {
    const bit_part *part = &bits->part[i];
    if (!share && part->stretch != stretch) first = bits->n_rounds;
    stretch = part->stretch;
    int32_t r = first;
    while (r < bits->n_rounds && !take_bit_part(&bits->room[r], part)) r++;
    if (r < bits->n_rounds) continue;
    if (r == MOST_ROUNDS) return false;
    bit_room *room = &bits->room[bits->n_rounds++];
    memset(room, -1, sizeof *room);
    memset(room->mask, 0, sizeof room->mask);
    take_bit_part(room, part);
  }
  return true;
}

/* The next stretch after `stretch` that a round has bytes of, or -1. */
static int32_t later_stretch(const bit_room *room, int32_t stretch) {
  int32_t next = -1;
  for (int32_t i = 0; i < TESELA__LINE; i++) {
    const int32_t s = room->slot[i] < 0 ? -1 : room->slot[i] / TESELA__LINE;
    if (s > stretch && (next < 0 || s < next)) next = s;
  }
  return next;
}

/* Does the line have a part of a byte? */
static bool keeps_some(const bit_line *bits) {
  uint8_t own[TESELA__LINE] = {0};
  for (int32_t i = 0; i < bits->n_parts; i++)
    own[bits->part[i].byte] |= (uint8_t)(((1 << bits->part[i].n) - 1) << bits->part[i].bit);
  for (int32_t i = 0; i < TESELA__LINE; i++)
    if (own[i] && own[i] != 0xff) return true;
  return false;
}

static tesela__bit_steps count_bit_steps(const bit_line *bits) {
  tesela__bit_steps steps = {.rounds = bits->n_rounds};
  for (int32_t r = 0; r < bits->n_rounds; r++)
    for (int32_t s = -1; (s = later_stretch(&bits->room[r], s)) >= 0;) steps.picks++;
  return steps;
}

static bool fit_bit_line(const tesela__permute_fit *fit, bit_line *bits, const tesela__line_elements *line,
                         tesela__bit_steps *steps) {
  find_bit_parts(fit, bits, line);
  const bool apart = make_bit_rounds(bits, false);
  *steps = count_bit_steps(bits);
  const bool shared = make_bit_rounds(bits, true);
  const tesela__bit_steps other = count_bit_steps(bits);
  if (apart && (!shared || steps->rounds + steps->picks < other.rounds + other.picks))
    return make_bit_rounds(bits, false);
  *steps = other;
  return shared;
}

bool tesela__count_bit_steps(const tesela__permute_fit *fit, const tesela__line_elements *line,
                             tesela__bit_steps *steps) {
  bit_line bits;
  const bool fits = fit_bit_line(fit, &bits, line, steps);
  steps->keeps = keeps_some(&bits);
  return fits;
}

static void set_bit_pick(const tesela__permute_fit *fit, const bit_line *bits, const bit_room *room,
                         int32_t stretch, tesela__line_pick *pick) {
  *pick = (tesela__line_pick){.from = bits->from[stretch]};
  memset(pick->index, TESELA__NO_BYTE, sizeof pick->index);
  if (tesela__is_read_whole(fit, pick->from)) pick->read = ((uint64_t)1 << fit->stretch) - 1;
  for (int32_t i = 0; i < TESELA__LINE; i++) {
    const int32_t byte = room->slot[i] - stretch * TESELA__LINE;
    if (room->slot[i] < 0 || byte < 0 || byte >= TESELA__LINE) continue;
    pick->read |= (uint64_t)1 << byte;
    pick->write |= (uint64_t)1 << i;
    pick->index[i] = (uint8_t)byte;
  }
}

tesela__bit_steps tesela__set_bit_steps(const tesela__permute_fit *fit, const tesela__line_elements *line,
                                        int32_t first_pick, tesela__bit_round *round,
                                        tesela__line_pick *pick) {
  bit_line bits;
  tesela__bit_steps steps;
  int32_t n = 0;
  fit_bit_line(fit, &bits, line, &steps);
  for (int32_t r = 0; r < bits.n_rounds; r++) {
    const bit_room *room = &bits.room[r];
    round[r] = (tesela__bit_round){.first = first_pick + n};
    for (int32_t i = 0; i < TESELA__LINE; i++) {
      round[r].shift[i] = (uint8_t)tesela__max(0, room->shift[i]);
      round[r].mask[i] = room->mask[i];
    }
    for (int32_t s = -1; (s = later_stretch(room, s)) >= 0; round[r].n++)
      set_bit_pick(fit, &bits, room, s, &pick[n++]);
  }
  return steps;
}
