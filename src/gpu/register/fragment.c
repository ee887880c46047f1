/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fragment.c - the catalogue of fragments: list, find by name, recognize in a layout.
 *
 * tools/fragments.py writes fragments.inc: a row per entry, which becomes the public fields and the layout, and a row per
 * name. A name is a pattern, compared part by part, with dots between the parts, and then the operand:
 *
 *   mma.m16n8k16.f16|bf16               "mma.m16n8k16.bf16.d": one of the words of each part; "d" is accepted for "C"
 *   wgmma.m64nNk16.f16|bf16             "wgmma.m64n128k16.f16.D": N = 128
 *   ldmatrix...x4.|shared|shared::cta.b16   an empty first word: the part may be missing
 *
 * The catalogue has a few hundred short names, so each search visits all of them.
 */
#include <tesela/register.h>

#include "gpu/register/register.h"

/* The layout of an entry; lists as in register.h, with 0 for n in `shape` and for n / n_step in `mode_shape`. */
typedef struct frag_plan {
  int32_t first; /* the first entry with the same layout */
  int32_t rank, n_modes, n_spatial, n_local;
  int16_t shape[3], mode_shape[8], spatial_modes[8], local_modes[8];
} frag_plan;

/* A name: word k of `operands`, which are separated by commas, is entry[k]; without operands the pattern is entry[0]. */
typedef struct frag_name {
  int32_t naming; /* tesela_fragment_naming */
  const char *pattern, *operands;
  int16_t entry[8];
} frag_name;

#define FRAG_ROW(...) \
  { __VA_ARGS__ }
#define TESELA__FRAGMENT_NAME(...)
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
#undef TESELA__FRAGMENT_NAME
static const frag_name frag_names[] = {
#define TESELA__FRAGMENT(entry, plan)
#define TESELA__FRAGMENT_NAME(...) FRAG_ROW(__VA_ARGS__),
#include "gpu/register/fragments.inc"
#undef TESELA__FRAGMENT
#undef TESELA__FRAGMENT_NAME
};
#undef FRAG_ROW

enum {
  FRAG_COUNT = (int)(sizeof frag_rows / sizeof frag_rows[0]),
  FRAG_NAMES = (int)(sizeof frag_names / sizeof frag_names[0])
};

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

/* Does `text` match a word of a name's pattern? Sets *n if it contains the n of a family. */
static bool frag_word(const frag_name *row, frag_text word, frag_text text, int32_t *n) {
  const tesela_fragment *entry = &frag_rows[row->entry[0]];
  int32_t found;
  if (!entry->n_step) return frag_same(word, text);
  if (!frag_number(word, text, &found))
    return frag_same(word, text) && !memchr(word.at, 'N', word.length); /* N requires a number */
  if (!frag_allows(entry, found)) return false;
  *n = found;
  return true;
}

/* The number of the operand that matches, C for D and D for C if no other does; or -1. */
static int32_t frag_operand(const frag_name *row, frag_text text) {
  const frag_text operands = frag_string(row->operands);
  frag_text word;
  for (int32_t k = 0; frag_piece(operands, ',', k, &word); k++)
    if (frag_same(word, text)) return k;
  if (text.length == 0) return -1;
  const char said = frag_lower(text.at[0]);
  for (int32_t k = 0; frag_piece(operands, ',', k, &word); k++) {
    if (((word.at[0] == 'C' && said == 'd') || (word.at[0] == 'D' && said == 'c')) &&
        frag_same((frag_text){word.at + 1, word.length - 1}, (frag_text){text.at + 1, text.length - 1}))
      return k;
  }
  return -1;
}

/* How far a text agrees with a name. */
typedef struct frag_match {
  int32_t agrees; /* leading parts of the text that match */
  int32_t entry;  /* of the whole name; -1: only a part agrees */
  int32_t n;      /* of a family */
  int32_t
      from; /* the first part of the pattern that may come next; those after it as long as they may be missing */
} frag_match;

static frag_match frag_compare(const frag_name *row, frag_text name) {
  frag_match m = {.entry = -1};
  frag_text part, text, word;
  if (name.length == 0 || frag_lower(name.at[0]) != frag_lower(row->pattern[0])) return m; /* most of them */
  bool more = frag_piece(name, '.', 0, &text);
  for (int32_t p = 0; frag_piece(frag_string(row->pattern), '.', p, &part); p++) {
    bool found = false, optional = false;
    for (int32_t i = 0; !found && frag_piece(part, '|', i, &word); i++) {
      if (word.length == 0) optional = true;
      found = word.length > 0 && more && frag_word(row, word, text, &m.n);
    }
    if (!found && !optional) return m;
    if (!found) continue;
    more = frag_piece(name, '.', ++m.agrees, &text);
    m.from = p + 1;
  }
  int32_t operand = 0;
  if (row->operands[0]) {
    operand = more ? frag_operand(row, text) : -1;
    if (operand < 0) return m;
    more = frag_piece(name, '.', ++m.agrees, &text);
    m.from = INT32_MAX;
  }
  if (!more) m.entry = row->entry[operand];
  return m;
}

/* ---- errors in a name ------------------------------------------------------------------------------------------ */

/* The words allowed for one part, as one line, and the one nearest to the text. */
typedef struct frag_words {
  char line[128];
  size_t used;
  bool cut;
  frag_text nearest, last;
  int32_t edits; /* of the nearest; a suggestion has at most 3 */
} frag_words;

/* Add a word if it is new; when the line is full, only update the nearest. */
static void frag_add(frag_words *words, frag_text word, frag_text said) {
  const size_t longer = word.length > said.length ? word.length - said.length : said.length - word.length;
  if (frag_same(words->last, word)) return;
  words->last = word;
  if (longer < (size_t)words->edits) { /* no fewer edits than that */
    const int32_t edits = (int32_t)tesela__edits(word.at, word.length, said.at, said.length);
    if (edits < words->edits) {
      words->edits = edits;
      words->nearest = word;
    }
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

/* Add the words that may follow the matched parts of a name. Returns 1 if the name may end there, -1 if `said` has a
 * number n that the family does not have. */
static int32_t frag_add_next(const frag_name *row, int32_t from, frag_text said, frag_words *words) {
  const tesela_fragment *entry = &frag_rows[row->entry[0]];
  frag_text part, word;
  int32_t n;
  for (int32_t p = from; from != INT32_MAX && frag_piece(frag_string(row->pattern), '.', p, &part); p++) {
    bool optional = false;
    for (int32_t i = 0; frag_piece(part, '|', i, &word); i++) {
      if (entry->n_step && memchr(word.at, 'N', word.length) &&
          (frag_number(word, said, &n) || frag_same(word, said)))
        return -1;
      if (word.length > 0)
        frag_add(words, word, said);
      else
        optional = true;
    }
    if (!optional) return 0;
  }
  if (from == INT32_MAX || !row->operands[0]) return 1;
  for (int32_t i = 0; frag_piece(frag_string(row->operands), ',', i, &word); i++) frag_add(words, word, said);
  return 0;
}

/* Refuse a name whose first `known` parts are the most that match any name. */
static tesela_status frag_refuse(frag_text name, int32_t known, tesela_error *err) {
  if (!err) return TESELA_E_SYNTAX;
  frag_text said = {name.at + name.length, 0};
  const bool ended = !frag_piece(name, '.', known, &said);
  const int64_t at = (int64_t)(said.at - name.at);
  char quoted[33];
  frag_quote(said, quoted);
  frag_words words = {.edits = 4};
  bool may_end = false;
  for (int32_t k = 0; k < FRAG_NAMES; k++) {
    const frag_match m = frag_compare(&frag_names[k], name);
    if (m.agrees < known) continue;
    const int32_t next = frag_add_next(&frag_names[k], m.from, said, &words);
    if (next < 0) return frag_refuse_n(&frag_rows[frag_names[k].entry[0]], quoted, at, err);
    if (next > 0) may_end = true;
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
  int32_t known = 0;
  for (int32_t k = 0; k < FRAG_NAMES; k++) {
    const frag_match m = frag_compare(&frag_names[k], name);
    if (m.agrees > known) known = m.agrees;
    if (m.entry < 0) continue;
    if (layout) {
      tesela_status status = frag_layout(m.entry, m.n, layout, err);
      if (status != TESELA_OK) return status;
    }
    if (entry) *entry = &frag_rows[m.entry];
    return TESELA_OK;
  }
  return frag_refuse(name, known, err);
}

bool tesela__fragment_begins(const char *word, size_t length) {
  const frag_text said = {word, length};
  frag_text part;
  int32_t n;
  for (int32_t k = 0; k < FRAG_NAMES; k++)
    if (frag_piece(frag_string(frag_names[k].pattern), '.', 0, &part) &&
        (frag_same(part, said) || (memchr(part.at, 'N', part.length) && frag_number(part, said, &n))))
      return true;
  return false;
}

const char *tesela__fragment_pattern(int32_t i) { return i < FRAG_NAMES ? frag_names[i].pattern : NULL; }

/* ---- all names of an entry ------------------------------------------------------------------------------------- */

/* Append a dot, unless it is the first part, and a word. */
static void frag_append(char text[TESELA_FRAGMENT_NAME], size_t *used, frag_text word) {
  if (*used + word.length + 2 > TESELA_FRAGMENT_NAME) return; /* fragments.py writes no longer ones */
  if (*used > 0) text[(*used)++] = '.';
  memcpy(text + *used, word.at, word.length);
  *used += word.length;
  text[*used] = '\0';
}

/* The first word of each part that must be there, and the operand. */
static void frag_write(const frag_name *row, frag_text operand, char text[TESELA_FRAGMENT_NAME]) {
  size_t used = 0;
  frag_text part, word = {NULL, 0};
  for (int32_t p = 0; frag_piece(frag_string(row->pattern), '.', p, &part); p++) {
    frag_piece(part, '|', 0, &word);
    if (word.length > 0) frag_append(text, &used, word);
  }
  if (operand.length > 0) frag_append(text, &used, operand);
}

bool tesela_fragment_name(int32_t entry, int32_t number, char text[TESELA_FRAGMENT_NAME],
                          tesela_fragment_naming *naming) {
  if (entry < 0 || entry >= FRAG_COUNT || number < 0 || !text) return false;
  for (int32_t k = 0; k < FRAG_NAMES; k++) {
    const frag_name *row = &frag_names[k];
    frag_text operand;
    for (int32_t i = 0; frag_piece(frag_string(row->operands), ',', i, &operand); i++) {
      if (row->entry[i] != entry || number-- > 0) continue;
      frag_write(row, operand, text);
      if (naming) *naming = (tesela_fragment_naming)row->naming;
      return true;
    }
  }
  return false;
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
