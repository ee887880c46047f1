/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hlo_instruction.c - the parts of a line of HLO text, as spans: an instruction, its metadata.
 */
#include <stdio.h>

#include "report/report_state.h"

const char *tesela__skip_shape(const char *p, const char *end) {
  bool buffer = tesela__looking_at(p, end, "b(");
  if (p == end || (*p != '(' && !buffer)) return tesela__skip_array(p, end);
  for (int64_t depth = 0; p < end; p++) {
    if (*p == '(') depth++;
    if (*p == ')' && --depth == 0) return p + 1;
  }
  return NULL;
}

/* The instruction whose name starts at p: `name = shape opcode(`. */
static bool read_instruction(const char *p, const char *end, tesela__instruction *out) {
  const char *name = p;
  p = tesela__skip_name(p, end);
  out->root = false;
  out->name = tesela__between(name, p);
  if (p == name || !tesela__looking_at(p, end, " = ")) return false;
  const char *shape = p + 3;
  p = tesela__skip_shape(shape, end);
  if (!p) return false;
  out->shape = tesela__between(shape, p);
  if (tesela__looking_at(p, end, "{}")) p += 2; /* an old way to write a scalar's layout */
  const char *opcode = p = tesela__skip_blanks(p, end);
  p = tesela__skip_name(p, end);
  if (p == opcode || p == end || *p != '(') return false;
  out->opcode = tesela__between(opcode, p);
  out->rest = tesela__between(p, end);
  return true;
}

bool tesela__hlo_plain(tesela__span line, tesela__instruction *out) {
  const char *end = line.text + line.n, *p = tesela__skip_blanks(line.text, end);
  bool root = tesela__looking_at(p, end, "ROOT ");
  if (root) p += 5;
  if (p < end && *p == '%') p++;
  bool is_one = read_instruction(p, end, out);
  out->root = root;
  return is_one;
}

bool tesela__hlo_instruction_starts(const char *p, const char *end) {
  if (tesela__looking_at(p, end, "ROOT ")) p += 5;
  if (p < end && *p == '%') p++;
  const char *name = p;
  p = tesela__skip_name(p, end);
  if (p == name || !tesela__looking_at(p, end, " = ")) return false;
  for (p += 3; p < end && *p == '(';) p++;
  const char *type = p;
  while (p < end && ((*p >= 'a' && *p <= 'z') || tesela__is_digit(*p))) p++;
  return p < end && *p == '[' && tesela_dtype_find(type, (size_t)(p - type)) != TESELA_DTYPE_NONE;
}

bool tesela__hlo_starts(tesela__span text) {
  const char *end = text.text + text.n, *p = tesela__skip_blanks(text.text, end);
  if (tesela__looking_at(p, end, "HloModule ") || tesela__looking_at(p, end, "ENTRY ")) return true;
  if (tesela__hlo_instruction_starts(p, end)) return true;
  if (p == end || *p != '%') return false;
  const char *name = ++p;
  p = tesela__skip_name(p, end);
  return p > name && (tesela__looking_at(p, end, " (") || tesela__looking_at(p, end, " {"));
}

bool tesela__hlo_prefixed(tesela__span line, tesela__instruction *out) {
  tesela__span rest = line;
  for (const char *equal; (equal = tesela__find(rest, " =")); rest = tesela__from(line, equal + 2)) {
    const char *name = equal;
    while (name > line.text && tesela__is_name(name[-1])) name--;
    if (!read_instruction(name, line.text + line.n, out)) continue;
    const char *before = name > line.text && name[-1] == '%' ? name - 1 : name;
    out->root = before - line.text >= 5 && memcmp(before - 5, "ROOT ", 5) == 0;
    return true;
  }
  return false;
}

void tesela__hlo_label(tesela__span text, tesela__instruction *out) {
  const char *end = text.text + text.n, *p = tesela__skip_blanks(text.text, end);
  if (p < end && *p == '%') p++;
  if (read_instruction(p, end, out)) return;
  /* "broadcast.6 = broadcast(bitcast.2)", a name alone, or an opcode alone */
  const char *name = p;
  p = tesela__skip_name(p, end);
  *out = (tesela__instruction){
      .name = tesela__between(name, p), .shape = {"", 0}, .opcode = {"", 0}, .rest = text};
  if (!tesela__looking_at(p, end, " = ")) return;
  const char *opcode = p + 3;
  p = tesela__skip_name(opcode, end);
  if (p < end && *p == '(') out->opcode = tesela__between(opcode, p);
}

/* ---- metadata ------------------------------------------------------------------------------------------ */

/* After `key=`, or NULL; `key` starts a word. */
static const char *find_key(tesela__span text, const char *key) {
  char word[40];
  size_t n = strlen(key);
  memcpy(word, key, n);
  memcpy(word + n, "=", 2);
  for (const char *p; (p = tesela__find(text, word)); text = tesela__from(text, p + 1))
    if (p == text.text || p[-1] == ' ' || p[-1] == '{' || p[-1] == ',') return p + n + 1;
  return NULL;
}

tesela__span tesela__hlo_metadata(tesela__span text, const char *key) {
  static const tesela__span none = {"", 0};
  const char *p = find_key(text, key), *end = text.text + text.n;
  if (!p) return none;
  size_t slashes = 0; /* \" in a text that was printed with escapes */
  while (p < end && *p == '\\') p++, slashes++;
  if (p == end || *p++ != '"') return none;
  const char *value = p;
  for (; (p = memchr(p, '"', (size_t)(end - p))) != NULL; p++) {
    size_t before = 0;
    while (p - before > value && p[-1 - (ptrdiff_t)before] == '\\') before++;
    if (before <= slashes) return tesela__between(value, p - before);
  }
  return tesela__between(value, end); /* cut */
}

tesela__span tesela__hlo_location(const tesela__frames *frames, tesela__span text, char *room, size_t size) {
  tesela__span file = tesela__hlo_metadata(text, "source_file");
  const char *p = find_key(text, file.n > 0 ? "source_line" : "stack_frame_id"), *end = text.text + text.n;
  int32_t number = 0;
  if (!p) return file;
  for (; p < end && tesela__is_digit(*p) && number < INT32_MAX / 16; p++) number = number * 10 + (*p - '0');
  if (file.n == 0 && !tesela__frames_find(frames, number, &file, &number)) return file;
  int n = snprintf(room, size, "%.*s:%" PRId32, (int)tesela__min((int64_t)file.n, 400), file.text, number);
  return (tesela__span){room, n > 0 && (size_t)n < size ? (size_t)n : 0};
}
