/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fragment.c - the catalogue of fragments: list, find by name, recognize in a layout.
 *
 * tools/fragments.py writes fragments.inc, a row per entry. Each row becomes two: the public fields, and the rest, for
 * the layout and the name. Names are compared part by part, with dots between the parts:
 *
 *   mma.m16n8k16.bf16.d    "bf16" is one of the entry's words for part 2, "f16,bf16"; "d" is accepted for "C"
 *   wgmma.m64n128k16.f16.D "m64nNk16" with N = 128
 *
 * The catalogue has a few hundred short entries, so each search visits all of them.
 */
#include <tesela/register.h>

#include "base/base.h"

/* The other fields of an entry; lists as in register.h, with 0 for n in `shape` and for n / n_step in `mode_shape`. */
typedef struct frag_plan {
  const char *words; /* the words allowed for part `part` of the name, separated by commas */
  int32_t part;      /* -1: all parts are as in the name */
  int32_t first;     /* the first entry with the same layout */
  int32_t rank, n_modes, n_spatial, n_local;
  int16_t shape[3], mode_shape[8], spatial_modes[8], local_modes[8];
} frag_plan;

#define FRAG_ROW(...) \
  { __VA_ARGS__ }
static const tesela_fragment frag_rows[] = {
#define TESELA__FRAGMENT(entry, plan) FRAG_ROW entry,
#include "gpu/register/fragments.inc"
#undef TESELA__FRAGMENT
};
static const frag_plan frag_plans[] = {
#define TESELA__FRAGMENT(entry, plan) FRAG_ROW plan,
#include "gpu/register/fragments.inc"
#undef TESELA__FRAGMENT
};
#undef FRAG_ROW

enum { FRAG_COUNT = (int)(sizeof frag_rows / sizeof frag_rows[0]) };

const tesela_fragment *tesela_fragments(int32_t *n) {
  if (n) *n = FRAG_COUNT;
  return frag_rows;
}

/* The layout of an entry; n is 0 except for a family. Fails only on a fault in fragments.inc. */
static tesela_status frag_layout(int32_t entry, int32_t n, tesela_register *out, tesela_error *err) {
  const frag_plan *plan = &frag_plans[entry];
  const int64_t tiles = n ? n / frag_rows[entry].n_step : 0;
  int64_t shape[3], mode_shape[8], spatial_modes[8], local_modes[8];
  for (int32_t d = 0; d < plan->rank; d++) shape[d] = plan->shape[d] ? plan->shape[d] : n;
  for (int32_t m = 0; m < plan->n_modes; m++)
    mode_shape[m] = plan->mode_shape[m] ? plan->mode_shape[m] : tiles;
  for (int32_t k = 0; k < plan->n_spatial; k++) spatial_modes[k] = plan->spatial_modes[k];
  for (int32_t k = 0; k < plan->n_local; k++) local_modes[k] = plan->local_modes[k];
  return tesela_register_make(out, plan->rank, shape, plan->n_modes, mode_shape, plan->n_spatial,
                              spatial_modes, plan->n_local, local_modes, err);
}

/* ---- names ---------------------------------------------------------------------------------------------------- */

/* A part of a text. A caller's text may contain byte 0, names do not. */
typedef struct frag_text {
  const char *at;
  size_t length;
} frag_text;

static char frag_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool frag_same(frag_text a, frag_text b) {
  if (a.length != b.length) return false;
  for (size_t i = 0; i < a.length; i++)
    if (frag_lower(a.at[i]) != frag_lower(b.at[i])) return false;
  return true;
}

/* Piece k of a text that `mark` separates; false after the last. An empty text has one piece. */
static bool frag_piece(frag_text text, char mark, int32_t k, frag_text *piece) {
  size_t from = 0;
  for (;; k--) {
    size_t to = from;
    while (to < text.length && text.at[to] != mark) to++;
    if (k == 0) {
      *piece = (frag_text){text.at + from, to - from};
      return true;
    }
    if (to == text.length) return false;
    from = to + 1;
  }
}

static frag_text frag_string(const char *text) { return (frag_text){text, strlen(text)}; }

/* Does `text` match a word with "nN" ("m64nNk16")? *n receives the number, up to 99999, valid or not. */
static bool frag_number(frag_text word, frag_text text, int32_t *n) {
  size_t hole = 0, end;
  while (hole < word.length && word.at[hole] != 'N') hole++;
  if (hole == word.length || text.length < word.length) return false;
  end = hole + 1 + (text.length - word.length);
  if (end - hole > 5 || !frag_same((frag_text){word.at, hole}, (frag_text){text.at, hole}) ||
      !frag_same((frag_text){word.at + hole + 1, word.length - hole - 1},
                 (frag_text){text.at + end, text.length - end}))
    return false;
  int32_t value = 0;
  for (size_t i = hole; i < end; i++) {
    if (text.at[i] < '0' || text.at[i] > '9') return false;
    value = value * 10 + (text.at[i] - '0');
  }
  *n = value;
  return true;
}

static bool frag_allows(const tesela_fragment *row, int32_t n) {
  return n >= row->n_step && n <= row->n_max && n % row->n_step == 0;
}

/* Does `text` match part k of an entry's name? Sets *n if it contains the n of a family. */
static bool frag_part(int32_t entry, int32_t k, frag_text text, int32_t *n) {
  const tesela_fragment *row = &frag_rows[entry];
  frag_text word, after;
  if (!frag_piece(frag_string(row->name), '.', k, &word)) return false;
  if (frag_plans[entry].part == k) {
    for (int32_t i = 0; frag_piece(frag_string(frag_plans[entry].words), ',', i, &word); i++)
      if (frag_same(word, text)) return true;
    return false;
  }
  int32_t found;
  if (row->n_step && frag_number(word, text, &found)) {
    if (!frag_allows(row, found)) return false;
    *n = found;
    return true;
  }
  if (frag_same(word, text))
    return !memchr(word.at, 'N', word.length) || !row->n_step; /* N requires a number */
  if (frag_piece(frag_string(row->name), '.', k + 1, &after) || text.length == 0) return false;
  const char operand = row->operand[0], said = frag_lower(text.at[0]);
  return ((operand == 'C' && said == 'd') || (operand == 'D' && said == 'c')) &&
         frag_same((frag_text){word.at + 1, word.length - 1}, (frag_text){text.at + 1, text.length - 1});
}

/* The number of leading parts that match; *whole: all parts of both. */
static int32_t frag_agrees(int32_t entry, frag_text name, int32_t *n, bool *whole) {
  frag_text part;
  int32_t k = 0;
  *n = 0;
  while (frag_piece(name, '.', k, &part) && frag_part(entry, k, part, n)) k++;
  *whole = !frag_piece(name, '.', k, &part) && !frag_piece(frag_string(frag_rows[entry].name), '.', k, &part);
  return k;
}

/* ---- errors in a name ------------------------------------------------------------------------------------------ */

/* The words allowed for one part, as one line, and the one nearest to the text. */
typedef struct frag_words {
  char line[128];
  size_t used;
  bool cut;
  frag_text nearest;
  int32_t edits;
} frag_words;

/* Add a word if it is new; when the line is full, only update the nearest. */
static void frag_add(frag_words *words, frag_text word, frag_text said) {
  const int32_t edits = (int32_t)tesela__edits(word.at, word.length, said.at, said.length);
  if (edits < words->edits) {
    words->edits = edits;
    words->nearest = word;
  }
  frag_text old;
  for (int32_t i = 0; words->used && frag_piece((frag_text){words->line, words->used}, ' ', i, &old); i++)
    if (frag_same(word, old)) return;
  if (words->cut || words->used + word.length + 6 > sizeof words->line) {
    words->cut = true;
    return;
  }
  if (words->used) words->line[words->used++] = ' ';
  memcpy(words->line + words->used, word.at, word.length);
  words->used += word.length;
  words->line[words->used] = '\0';
}

/* Text for a message: at most 32 bytes, unprintable ones as '?'. */
static void frag_quote(frag_text said, char quoted[33]) {
  size_t n = said.length < 32 ? said.length : 32;
  for (size_t i = 0; i < n; i++) quoted[i] = said.at[i] >= ' ' && said.at[i] <= '~' ? said.at[i] : '?';
  quoted[n] = '\0';
}

/* Refuse the part with n: its number is missing or not in the family. */
static tesela_status frag_refuse_n(const tesela_fragment *row, const char *quoted, int64_t at,
                                   tesela_error *err) {
  return tesela__fail(err, TESELA_E_SYNTAX, at, "n in '%s' must be %d, %d, ... %d", quoted, (int)row->n_step,
                      (int)(2 * row->n_step), (int)row->n_max);
}

/* Refuse a name whose first `known` parts are the most that match any entry. */
static tesela_status frag_refuse(frag_text name, int32_t known, tesela_error *err) {
  frag_text said = {name.at + name.length, 0}, word;
  const bool ended = !frag_piece(name, '.', known, &said);
  const int64_t at = (int64_t)(said.at - name.at);
  char quoted[33];
  frag_quote(said, quoted);
  frag_words words = {.edits = 32};
  bool may_end = false;
  for (int32_t e = 0; e < FRAG_COUNT; e++) {
    int32_t n;
    bool whole;
    if (frag_agrees(e, name, &n, &whole) < known) continue;
    if (!frag_piece(frag_string(frag_rows[e].name), '.', known, &word)) {
      may_end = true;
      continue;
    }
    if (frag_rows[e].n_step && (frag_number(word, said, &n) || frag_same(word, said)))
      return frag_refuse_n(&frag_rows[e], quoted, at, err);
    const bool several = frag_plans[e].part == known;
    for (int32_t i = 0; !several || frag_piece(frag_string(frag_plans[e].words), ',', i, &word); i++) {
      frag_add(&words, word, said);
      if (!several) break;
    }
  }
  if (!words.used)
    return tesela__fail(err, TESELA_E_SYNTAX, at, "the name of the fragment ends before '%s'", quoted);
  const char *more = words.cut ? " ..." : "";
  if (ended)
    return tesela__fail(err, TESELA_E_SYNTAX, at, "the name continues with a dot and one of: %s%s",
                        words.line, more);
  if (said.length > 0 && words.edits <= (said.length < 4 ? 1 : 3))
    return tesela__fail(err, TESELA_E_SYNTAX, at,
                        "unknown part '%s'; expected one of: %s%s; did you mean %.*s?", quoted, words.line,
                        more, (int)words.nearest.length, words.nearest.at);
  return tesela__fail(err, TESELA_E_SYNTAX, at, "unknown part '%s'; expected one of: %s%s%s", quoted,
                      words.line, more, may_end ? "; or nothing" : "");
}

tesela_status tesela_fragment_find(const char *text, size_t length, tesela_register *layout,
                                   const tesela_fragment **entry, tesela_error *err) {
  const frag_text name = {text ? text : "", text ? length : 0};
  const char *family = "";
  frag_text first;
  int32_t known = 0;
  bool mine = false;
  frag_piece(name, '.', 0, &first);
  for (int32_t e = 0; e < FRAG_COUNT; e++) {
    int32_t n;
    bool whole;
    if (frag_rows[e].family != family) { /* entries of a family are adjacent */
      family = frag_rows[e].family;
      mine = frag_same(frag_string(family), first);
    }
    if (!mine) continue;
    const int32_t agrees = frag_agrees(e, name, &n, &whole);
    if (agrees > known) known = agrees;
    if (!whole) continue;
    if (layout) {
      tesela_status status = frag_layout(e, n, layout, err);
      if (status != TESELA_OK) return status;
    }
    if (entry) *entry = &frag_rows[e];
    return TESELA_OK;
  }
  return frag_refuse(name, known, err);
}

/* ---- recognition ------------------------------------------------------------------------------------------------ */

/* Is the layout q * entry for some q? A family tries n from n_max down. Returns its registers per thread, or 0. */
static int64_t frag_divides(const tesela_register *layout, int32_t entry) {
  const tesela_fragment *row = &frag_rows[entry];
  tesela_register fragment, quotient;
  if (layout->spatial_size % row->threads != 0) return 0;
  for (int32_t n = row->n_max;; n -= row->n_step) {
    if (frag_layout(entry, n, &fragment, NULL) == TESELA_OK &&
        layout->local_size % fragment.local_size == 0 &&
        tesela_register_divide(&quotient, layout, &fragment, NULL) == TESELA_OK)
      return fragment.local_size;
    if (n <= row->n_step || frag_plans[entry].shape[1] != 0)
      return 0; /* not a family, the last n, or the same layout for all n */
  }
}

int32_t tesela_fragment_recognize(const tesela_register *layout, int32_t capacity, int32_t *entries) {
  if (!layout || (capacity > 0 && !entries)) return 0;
  int32_t found[FRAG_COUNT], n = 0;
  int64_t registers[FRAG_COUNT], sizes[FRAG_COUNT];
  for (int32_t e = 0; e < FRAG_COUNT; e++) {
    const int64_t size = frag_plans[e].first < e ? sizes[frag_plans[e].first] : frag_divides(layout, e);
    sizes[e] = size;
    if (size == 0) continue;
    int32_t place = n++; /* after those with the same number of registers */
    for (; place > 0 && registers[place - 1] < size; place--) {
      registers[place] = registers[place - 1];
      found[place] = found[place - 1];
    }
    registers[place] = size;
    found[place] = e;
  }
  for (int32_t i = 0; i < n && i < capacity; i++) entries[i] = found[i];
  return n;
}
