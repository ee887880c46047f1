/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.c - parts of emitted source code: names, numbers and variables that depend on the lane, sums of digits.
 */
#include "gpu/emit/emit.h"

#include "gpu/exchange/exchange.h"

/* ---- names and templates -------------------------------------------------------------------------------------- */

/* Keywords of C11 and C++20, between blanks. */
static const char emit_keywords[] =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t "
    "class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue "
    "decltype default delete do double dynamic_cast else enum explicit export extern false float for friend "
    "goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private "
    "protected public register reinterpret_cast requires restrict return short signed sizeof static "
    "static_assert static_cast struct switch template this thread_local throw true try typedef typeid "
    "typename "
    "union unsigned using virtual void volatile wchar_t while xor xor_eq ";

static bool emit_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

tesela_status tesela__emit_check_name(const char *name, tesela_error *err) {
  enum { MOST = 100 };
  size_t n = 0;
  while (n <= MOST && (emit_letter(name[n]) || (n > 0 && name[n] >= '0' && name[n] <= '9'))) n++;
  if (n == 0 || n > MOST || name[n] != '\0')
    return tesela__fail(err, TESELA_E_INVALID, (int64_t)n,
                        "the name must be a C identifier of at most %d characters; see character %zu", MOST,
                        n);
  char word[MOST + 3];
  word[0] = ' ';
  memcpy(word + 1, name, n);
  memcpy(word + 1 + n, " ", 2);
  if (strstr(emit_keywords, word))
    return tesela__fail(err, TESELA_E_INVALID, 0, "the name %s is a keyword of C or C++", name);
  return TESELA_OK;
}

void tesela__emit_text(tesela__emit *e, const char *text, const int64_t *numbers) {
  for (; *text; text++) {
    if (text[0] == '%' && text[1] == 'N') {
      tesela__puts(&e->sink, e->name);
      text++;
    } else if (text[0] == '%' && text[1] == 'T') {
      tesela__puts(&e->sink, e->element);
      text++;
    } else if (text[0] == '%' && text[1] == 'D') {
      tesela__put_int(&e->sink, *numbers++);
      text++;
    } else {
      tesela__putc(&e->sink, *text);
    }
  }
}

/* ---- a number per lane ------------------------------------------------------------------------------------------ */

/* a ^ shifted bits of the lane; bits with the same shift are one term. */
static void emit_linear(tesela__emit *e, const tesela__lane_pattern *p) {
  const char *sign = "";
  if (p->a) {
    tesela__putf(&e->sink, "%" PRId32 "u", p->a);
    sign = " ^ ";
  }
  for (int move = -5; move <= 5; move++) {
    unsigned mask = 0;
    for (int b = 0; b < p->bits; b++)
      if (b + move >= 0 && b + move < 6) mask |= (unsigned)p->m[b] & 1u << (b + move);
    if (mask == 0) continue;
    if (move == 0)
      tesela__putf(&e->sink, "%s(lane & %uu)", sign, mask);
    else
      tesela__putf(&e->sink, "%s(lane %s %d & %uu)", sign, move < 0 ? ">>" : "<<", move < 0 ? -move : move,
                   mask);
    sign = " ^ ";
  }
}

void tesela__emit_lane_number(tesela__emit *e, const int32_t *value, int32_t warp) {
  tesela__lane_pattern p = tesela__lane_pattern_of(value, warp);
  switch (p.form) {
  case TESELA__LANE_ANY:
    tesela__puts(&e->sink, "lane");
    break;
  case TESELA__LANE_SAME:
    tesela__putf(&e->sink, "%" PRId32 "u", p.a);
    break;
  case TESELA__LANE_XOR:
    tesela__putf(&e->sink, p.a ? "lane ^ %" PRId32 "u" : "lane", p.a);
    break;
  case TESELA__LANE_ADD:
    tesela__putf(&e->sink, "(lane + %" PRId32 "u) %% %" PRId32 "u", p.a, warp);
    break;
  case TESELA__LANE_LINEAR:
    emit_linear(e, &p);
    break;
  case TESELA__LANE_TABLE: /* bit by bit, each from a mask of lanes */
    for (int b = 0; b < 5; b++) {
      uint32_t word = 0;
      for (int32_t lane = 0; lane < warp; lane++)
        if (value[lane] >= 0 && value[lane] >> b & 1) word |= UINT32_C(1) << lane;
      tesela__putf(&e->sink, b ? " | (0x%" PRIx32 "u >> lane & 1u) << %d" : "(0x%" PRIx32 "u >> lane & 1u)",
                   word, b);
    }
  }
}

/* ---- a variable per lane ----------------------------------------------------------------------------------------- */

/* Those of `lanes` whose bit b is `set`. */
static uint32_t emit_half(uint32_t lanes, int b, bool set) {
  static const uint32_t with_bit[5] = {0xaaaaaaaau, 0xccccccccu, 0xf0f0f0f0u, 0xff00ff00u, 0xffff0000u};
  return lanes & (set ? with_bit[b] : ~with_bit[b]);
}

/* The number of different values in these lanes; *one is one of them, or -1. */
static int emit_distinct(const int32_t *value, uint32_t lanes, int32_t *one) {
  int32_t seen[TESELA__EMIT_LANES];
  int n = 0;
  for (int lane = 0; lane < TESELA__EMIT_LANES; lane++) {
    if (!(lanes >> lane & 1) || value[lane] < 0) continue;
    int i = 0;
    while (i < n && seen[i] != value[lane]) i++;
    if (i == n) seen[n++] = value[lane];
  }
  *one = n ? seen[0] : -1;
  return n;
}

/* The bit of the lane that separates the values best. */
static int emit_best_bit(const int32_t *value, uint32_t lanes) {
  int best = 0, least = 3 * TESELA__EMIT_LANES;
  for (int b = 0; b < 5; b++) {
    int32_t one;
    uint32_t low = emit_half(lanes, b, false), high = emit_half(lanes, b, true);
    int n = emit_distinct(value, low, &one) + emit_distinct(value, high, &one);
    if (low == 0 || high == 0 || n >= least) continue;
    least = n;
    best = b;
  }
  return best;
}

static void emit_name(tesela__emit *e, const tesela__emit_names *names, int32_t value) {
  if (value < 0) value = 0;
  bool low = value < names->split;
  tesela__putf(&e->sink, "%s%" PRId32, low ? names->low : names->high, low ? value : value - names->split);
}

/* A tree of choices by bits of the lane, at most five deep: returns the number of choices, and with `write` emits them.
 * Trees over values that are linear in the lane split by the same bits in the same order, so compilers find many common
 * parts: n choices among n values take n log n selects. */
static int emit_tree(tesela__emit *e, const tesela__emit_names *names, const int32_t *value, uint32_t lanes,
                     bool write) {
  int32_t one;
  if (emit_distinct(value, lanes, &one) <= 1) {
    if (write) emit_name(e, names, one);
    return 0;
  }
  int b = emit_best_bit(value, lanes), n = 1;
  if (write) tesela__putf(&e->sink, "(lane & %uu ? ", 1u << b);
  n += emit_tree(e, names, value, emit_half(lanes, b, true), write);
  if (write) tesela__puts(&e->sink, " : ");
  n += emit_tree(e, names, value, emit_half(lanes, b, false), write);
  if (write) tesela__puts(&e->sink, ")");
  return n;
}

/* One choice for each value but the last, by a mask of its lanes. */
static void emit_chain(tesela__emit *e, const tesela__emit_names *names, const int32_t *value,
                       uint32_t lanes) {
  int32_t one;
  tesela__puts(&e->sink, "(");
  while (emit_distinct(value, lanes, &one) > 1) {
    uint32_t word = 0;
    for (int lane = 0; lane < TESELA__EMIT_LANES; lane++)
      if ((lanes >> lane & 1) && value[lane] == one) word |= UINT32_C(1) << lane;
    tesela__putf(&e->sink, "bit & 0x%" PRIx32 "u ? ", word);
    emit_name(e, names, one);
    tesela__puts(&e->sink, " : ");
    lanes &= ~word;
  }
  emit_name(e, names, one);
  tesela__puts(&e->sink, ")");
}

void tesela__emit_lane_choice(tesela__emit *e, const tesela__emit_names *names, const int32_t *value,
                              int32_t warp) {
  int32_t all[TESELA__EMIT_LANES], one;
  for (int32_t lane = 0; lane < TESELA__EMIT_LANES; lane++) all[lane] = lane < warp ? value[lane] : -1;
  int distinct = emit_distinct(all, ~UINT32_C(0), &one);
  if (emit_tree(e, names, all, ~UINT32_C(0), false) <= 2 * (distinct - 1))
    emit_tree(e, names, all, ~UINT32_C(0), true);
  else
    emit_chain(e, names, all, ~UINT32_C(0));
}

/* ---- sums of digits ---------------------------------------------------------------------------------------------- */

bool tesela__emit_digit_sum(tesela__emit *e, const char *lead, const char *number, int64_t size, int32_t n,
                            tesela__emit_digit *digit, const char *suffix) {
  int32_t kept = 0;
  for (int32_t i = 0; i < n; i++) { /* slowest digit first */
    if (digit[i].extent == 1 || digit[i].weight == 0) continue;
    tesela__emit_digit *last = kept ? &digit[kept - 1] : NULL;
    if (last && last->step == digit[i].step * digit[i].extent &&
        last->weight == digit[i].weight * digit[i].extent)
      *last = (tesela__emit_digit){digit[i].step, last->extent * digit[i].extent, digit[i].weight};
    else
      digit[kept++] = digit[i];
  }
  for (int32_t i = 0; i < kept; i++) {
    tesela__puts(&e->sink, i ? " + " : lead);
    tesela__puts(&e->sink, number);
    if (digit[i].step > 1) tesela__putf(&e->sink, " / %" PRId64 "%s", digit[i].step, suffix);
    if (digit[i].step * digit[i].extent < size)
      tesela__putf(&e->sink, " %% %" PRId64 "%s", digit[i].extent, suffix);
    if (digit[i].weight > 1) tesela__putf(&e->sink, " * %" PRId64 "%s", digit[i].weight, suffix);
  }
  return kept > 0;
}
