/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clean.c - a line as the compiler wrote it, before a terminal, a page or a language printed it.
 *
 *   \033[31m            colours and other escape sequences of terminals go
 *   &lt; &#62; &quot;   entities of HTML become their characters
 *   'a\n  b'            a text that stands on one line, as Python's repr or as a JSON string, becomes its lines
 *
 * Memory reports and HLO text pass through this one place. A chunk without one of the three characters that start
 * such a thing costs three walks of memchr, and a line without one is not copied. What is decoded is never longer than it was, so each buffer has room for one
 * line.
 */
#include "report/report_state.h"

enum { ESCAPE = '\033', DEPTH = TESELA__CLEAN_DEPTH, LONGEST_ENTITY = 10 };

bool tesela__clean_room(tesela_report *report, tesela__bytes *bytes, size_t n) {
  void *grown = bytes->text;
  if (!tesela__grow(&report->allocator, &grown, 1, &bytes->capacity, n + 1))
    return tesela__report_no_memory(report);
  bytes->text = grown;
  return true;
}

tesela__width tesela__width_of(tesela__span line) {
  tesela__width width = {line.n, 0};
  for (size_t i = 0; i < line.n; i++) width.columns += ((unsigned char)line.text[i] & 0xc0) != 0x80;
  return width;
}

bool tesela__clean_is_marked(const char *bytes, size_t n) {
  return n > 0 && (memchr(bytes, ESCAPE, n) || memchr(bytes, '&', n) || memchr(bytes, '\\', n));
}

/* ---- colours ------------------------------------------------------------------------------------------- */

/* After the sequence that starts with ESC at p; one that is cut goes to the end. */
static const char *skip_sequence(const char *p, const char *end) {
  if (++p == end) return p;
  char kind = *p++;
  if (kind == '[') { /* parameters, then one letter */
    while (p < end && *p >= 0x20 && *p < 0x40) p++;
    return p < end && *p >= 0x40 ? p + 1 : p;
  }
  if (kind != ']') { /* "(B": intermediate characters, then one character */
    for (; kind >= 0x20 && kind < 0x30 && p < end; kind = *p++) continue;
    return p;
  }
  for (; p < end; p++) { /* a title or a link: to BEL or ESC \ */
    if (*p == '\a') return p + 1;
    if (*p == ESCAPE) return p + 1 < end ? p + 2 : end;
  }
  return p;
}

static size_t drop_sequences(const char *from, size_t n, char *to) {
  const char *end = from + n;
  size_t written = 0;
  while (from < end) {
    if (*from == ESCAPE)
      from = skip_sequence(from, end);
    else
      to[written++] = *from++;
  }
  return written;
}

/* ---- entities ------------------------------------------------------------------------------------------ */

static const struct {
  const char *name, *text;
} entity_rows[] = {
    {"&lt;", "<"},   {"&gt;", ">"},   {"&amp;", "&"},          {"&quot;", "\""},
    {"&apos;", "'"}, {"&nbsp;", " "}, {"&times;", "\xc3\x97"},
};

/* A character as UTF-8, at most 4 bytes. A newline stays one of the line: the two characters \n. */
static size_t put_character(uint32_t c, char *to) {
  if (c == '\n') {
    memcpy(to, "\\n", 2);
    return 2;
  }
  if (c < 0x80) {
    to[0] = (char)c;
    return 1;
  }
  int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
  to[0] = (char)(lead[more] | c >> (6 * more));
  for (int i = 1; i <= more; i++) to[i] = (char)(0x80 | (c >> (6 * (more - i)) & 0x3f));
  return (size_t)more + 1;
}

static int hex_digit(char c) {
  if (tesela__is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* "&#39;" or "&#x27;": after it, or NULL. */
static const char *numeric_entity(const char *p, const char *end, uint32_t *c) {
  if (end - p < 4 || p[1] != '#') return NULL;
  bool hex = p[2] == 'x' || p[2] == 'X';
  const char *digits = p += 2 + hex;
  for (*c = 0; p < end && p - digits < 7 && hex_digit(*p) >= 0 && (hex || tesela__is_digit(*p)); p++)
    *c = *c * (hex ? 16 : 10) + (uint32_t)hex_digit(*p);
  return p > digits && p < end && *p == ';' && *c > 0 && *c < 0x110000 ? p + 1 : NULL;
}

/* The character of the entity at p, and in *used its length, or 0. */
static size_t decode_entity(const char *p, const char *end, char *to, size_t *used) {
  uint32_t c;
  for (size_t i = 0; i < sizeof entity_rows / sizeof entity_rows[0]; i++) {
    if (!tesela__looking_at(p, end, entity_rows[i].name)) continue;
    *used = strlen(entity_rows[i].name);
    size_t n = strlen(entity_rows[i].text);
    memcpy(to, entity_rows[i].text, n);
    return n;
  }
  const char *next = numeric_entity(p, end, &c);
  if (!next) return 0;
  *used = (size_t)(next - p);
  return put_character(c, to);
}

/* In place. A page may have quoted a page: entities that come out of entities are decoded too. */
static size_t decode_entities(char *text, size_t n) {
  for (int again = 0; again < DEPTH && n > 0 && memchr(text, '&', n); again++) {
    const char *from = text, *end = text + n;
    size_t written = 0, used;
    char decoded[4];
    while (from < end) {
      size_t m = *from == '&' ? decode_entity(from, end, decoded, &used) : 0;
      if (m == 0) {
        text[written++] = *from++;
        continue;
      }
      memcpy(text + written, decoded, m);
      written += m;
      from += used;
    }
    if (written == n) break;
    n = written;
  }
  return n;
}

bool tesela__clean_line(tesela_report *report, tesela__bytes *room, tesela__span *line) {
  if (line->n == 0 || (!memchr(line->text, ESCAPE, line->n) && !memchr(line->text, '&', line->n)))
    return true;
  if (!tesela__clean_room(report, room, line->n)) return false;
  size_t n = drop_sequences(line->text, line->n, room->text);
  tesela__width raw = tesela__width_of((tesela__span){room->text, n});
  *line = (tesela__span){room->text, decode_entities(room->text, n)};
  if (line->n != n) report->raw = raw;
  return true;
}

size_t tesela__clean_open_entity(tesela__span line) {
  for (size_t i = 1; i <= LONGEST_ENTITY && i <= line.n; i++) {
    char c = line.text[line.n - i];
    if (c == '&') return line.n - i;
    if (c != '#' && !tesela__is_name(c)) break;
  }
  return line.n;
}

size_t tesela__clean_entities(char *text, size_t n) { return decode_entities(text, n); }

/* ---- a text on one line -------------------------------------------------------------------------------- */

/* \xd7 or \u00d7 at p: after it, or NULL. A half of a pair of UTF-16 becomes '?'. */
static const char *coded_character(const char *p, const char *end, char *to, size_t *written) {
  int digits = p[1] == 'x' ? 2 : p[1] == 'u' ? 4 : 8;
  uint32_t c = 0;
  if (end - p < 2 + digits) return NULL;
  for (int i = 0; i < digits; i++) {
    int digit = hex_digit(p[2 + i]);
    if (digit < 0 || c > 0xfffffff) return NULL;
    c = c << 4 | (uint32_t)digit;
  }
  bool starts = c >= 0xc2 && end - p >= 7 && p[4] == '\\' && p[5] == 'x' && hex_digit(p[6]) >= 8 &&
                hex_digit(p[6]) < 12;
  bool follows = c >= 0x80 && c < 0xc0 && *written > 0 && (unsigned char)to[*written - 1] >= 0x80;
  if (digits == 2 && (c < 0x80 || starts || follows)) /* a byte of several */
    to[(*written)++] = (char)c;
  else
    *written += put_character(c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? '?' : c, to + *written);
  return p + 2 + digits;
}

/* The next line of an escaped text, without its escapes; *from moves after it. */
static size_t unescape_line(const char **from, const char *end, char *to) {
  static const char names[] = "trabfv", values[] = "\t\r\a\b\f\v";
  const char *p = *from;
  size_t written = 0;
  while (p < end) {
    const char *named, *next;
    if (*p != '\\' || p + 1 == end) {
      to[written++] = *p++;
    } else if (p[1] == 'n') {
      *from = p + 2;
      return written;
    } else if ((p[1] == 'x' || p[1] == 'u' || p[1] == 'U') &&
               (next = coded_character(p, end, to, &written)) != NULL) {
      p = next;
    } else if ((named = memchr(names, p[1], sizeof names - 1)) != NULL) {
      to[written++] = values[named - names];
      p += 2;
    } else {
      if (!memchr("\\\"'/", p[1], 4)) to[written++] = '\\';
      to[written++] = p[1];
      p += 2;
    }
  }
  *from = end;
  return written;
}

size_t tesela__clean_unescape(const char **from, const char *end, char *to) {
  size_t n = unescape_line(from, end, to);
  /* the brace that ends a text, and the quote after it */
  if (*from == end && n >= 2 && to[0] == '}' && (to[1] == '"' || to[1] == '\'')) n = 1;
  return decode_entities(to, drop_sequences(to, n, to));
}
