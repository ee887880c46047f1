/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signs.c - a quick look at a line: can anything start on it?
 *
 * Most lines of a log say nothing to a report. Each sign is known by one character that logs and HLO text seldom have;
 * eight places at once are looked at for one of them.
 */
#include "report/report_state.h"

/* What no line is without that starts a memory report, or HLO text other than an instruction; `rare` is the place of
 * the rare character. */
typedef struct sign {
  const char *word;
  int rare;
} sign;

static const sign memory_signs[] = {
    {"Used ", 0},
    {"Total ", 0},
    {"Program ", 0},
    {"Output size ", 0},
    {"Peak buffers:", 0},
    {"Memory Sp", 0},
    {"HLO temporarie", 0},
    {"Largest program ", 0},
    {"Size:", 0},
    {"XLA label:", 0},
    {"XLA Label:", 0},
    {"Scoped allocation", 0},
    {"_size;", 3},
    {"The window", 4},
    {") would exceed", 2},
    {"Allocator (", 0},
    {"Allocator dump", 0},
    {"InUse at ", 2},
    {"MaxAllocSize:", 3},
    {"PyTorch ", 2},
    {"Attempting to", 0},
    {"reduce memory use below ", 12},
    {"Tried to allocate ", 0},
    {"Allocated memory ", 15},
    {"GPU reserved memory ", 18},
    {"BufferAssignment stats:", 0},
};

static const sign other_signs[] = {
    {"Allocation (size=", 0}, {" memory", 6}, {"HloModule ", 0}, {"ENTRY ", 0}, {"BufferAssignment:", 0}};

/* Of each rare character, which ones may come next; both are 0 for others. */
static const char follows[256][2] = {
    ['A'] = {'l', 't'}, ['U'] = {'s', 's'}, ['T'] = {'o', 'r'}, ['P'] = {'r', 'e'}, ['O'] = {'u', 'u'},
    ['L'] = {'a', 'a'}, ['M'] = {'e', 'e'}, ['H'] = {'L', 'l'}, ['E'] = {'N', 'N'}, ['B'] = {'u', 'u'},
    ['y'] = {' ', ' '}, ['S'] = {'c', 'i'}, ['X'] = {'L', 'L'}, ['w'] = {'o', 'i'}, ['z'] = {'e', 'e'},
};

static bool is_listed(const sign *signs, size_t n, tesela__span line, const char *p) {
  for (size_t i = 0; i < n; i++) {
    const sign *one = &signs[i];
    if (one->word[one->rare] == *p && p - line.text >= one->rare &&
        tesela__looking_at(p - one->rare, line.text + line.n, one->word))
      return true;
  }
  return false;
}

/* Does the line have a sign with its rare character at p? */
static bool is_sign(tesela__span line, const char *p, bool other) {
  const char *next = follows[(unsigned char)*p];
  if (p + 1 < line.text + line.n && next[0] != p[1] && next[1] != p[1]) return false;
  if (is_listed(memory_signs, sizeof memory_signs / sizeof memory_signs[0], line, p)) return true;
  return other && is_listed(other_signs, sizeof other_signs / sizeof other_signs[0], line, p);
}

static bool has_sign(tesela__span line, bool other) {
  enum { AT_ONCE = 8 };
  const char *p = line.text, *end = line.text + line.n;
#define TESELA__RARE(k) follows[(unsigned char)p[k]][0]
  for (; end - p >= AT_ONCE; p += AT_ONCE) {
    if (!(TESELA__RARE(0) | TESELA__RARE(1) | TESELA__RARE(2) | TESELA__RARE(3) | TESELA__RARE(4) |
          TESELA__RARE(5) | TESELA__RARE(6) | TESELA__RARE(7)))
      continue;
    for (int k = 0; k < AT_ONCE; k++)
      if (TESELA__RARE(k) && is_sign(line, p + k, other)) return true;
  }
  for (; p < end; p++)
    if (TESELA__RARE(0) && is_sign(line, p, other)) return true;
#undef TESELA__RARE
  return false;
}

bool tesela__memory_may_start(tesela__span line) { return has_sign(line, false); }

bool tesela__may_start(tesela__span line) { return has_sign(line, true); }

bool tesela__starts_something(tesela__span line) {
  return tesela__may_start(line) || tesela__hlo_starts(line);
}
