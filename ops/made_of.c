/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made_of.c - the fragments a register layout consists of, in groups that are laid out alike.
 */
#include "made_of.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 4, NAME = 96 }; /* groups that are printed; room for a name */

/* An entry that a layout consists of. */
typedef struct part {
  const tesela_fragment *entry;
  tesela_register atom; /* of a family of n, that of the largest n that fits */
  char name[NAME];      /* with that n */
  int32_t group;        /* number of the first part that is laid out alike */
  int32_t alike;        /* of a first part: how many others there are */
  int32_t named_by;     /* of a first part: the part that gives the name */
  int32_t rank;         /* of a name: more is better */
} part;

typedef struct parts {
  int32_t n;
  part *part;
} parts;

bool made_of_registers(const tesela_any_layout *any, tesela_register *out) {
  char text[4096];
  tesela_buffer buffer = {text, sizeof text, 0};
  const tesela_writer to = tesela_buffer_writer(&buffer);
  const tesela_layout_read_options options = {.notation = "register"};
  tesela_translation t;
  tesela_any_layout found;
  if (any->kind != TESELA_KIND_RELATION || tesela_translate(any, "register", &to, &t, NULL) != TESELA_OK ||
      t.verdict != TESELA_EXACT || buffer.length >= sizeof text ||
      tesela_layout_read(text, buffer.length, &options, &found, NULL) != TESELA_OK)
    return false;
  *out = found.registers;
  return true;
}

/* The largest n of a family whose layout divides. */
static bool find_atom(const tesela_register *layout, part *p) {
  const tesela_fragment *entry = p->entry;
  const char *at = entry->n_max ? strstr(entry->name, "nN") : NULL;
  tesela_register quotient;
  if (!at) {
    snprintf(p->name, NAME, "%s", entry->name);
    return tesela_fragment_find(entry->name, strlen(entry->name), &p->atom, NULL, NULL) == TESELA_OK;
  }
  for (int32_t n = entry->n_max; n > 0; n -= entry->n_step) {
    snprintf(p->name, NAME, "%.*s%" PRId32 "%s", (int)(at + 1 - entry->name), entry->name, n, at + 2);
    if (tesela_fragment_find(p->name, strlen(p->name), &p->atom, NULL, NULL) == TESELA_OK &&
        tesela_register_divide(&quotient, layout, &p->atom, NULL) == TESELA_OK)
      return true;
  }
  return false;
}

static bool name_byte(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

/* Does a text name this entry? */
static bool names(const char *text, size_t length, const tesela_fragment *entry) {
  for (size_t at = 0, n; at < length; at += n + 1) {
    const tesela_fragment *found = NULL;
    for (n = 0; at + n < length && name_byte(text[at + n]);) n++;
    if (memchr(text + at, '.', n) && tesela_fragment_find(text + at, n, NULL, &found, NULL) == TESELA_OK &&
        found == entry)
      return true;
  }
  return false;
}

/* How good a name is for its group: best one that was written, then accumulators of mma, then mma's others. */
static int32_t name_rank(const char *text, size_t length, const tesela_fragment *entry) {
  bool mma = strcmp(entry->family, "mma") == 0;
  if (names(text, length, entry)) return 3;
  return mma && (*entry->operand == 'C' || *entry->operand == 'D') ? 2 : mma ? 1 : 0;
}

/* Put part i into the group of the first that is laid out as it is. */
static void join(parts *all, int32_t i) {
  part *p = &all->part[i];
  int32_t g = 0;
  while (g < i && !(all->part[g].group == g && tesela_register_same(&all->part[g].atom, &p->atom))) g++;
  p->group = g;
  p->named_by = i;
  part *first = &all->part[g];
  if (g == i) return;
  first->alike++;
  if (p->rank > all->part[first->named_by].rank) first->named_by = i;
}

/* All parts of a layout; the caller frees all->part. */
static bool find_parts(const tesela_register *layout, const char *text, size_t length, parts *all) {
  int32_t n_entries, n = tesela_fragment_recognize(layout, 0, NULL);
  const tesela_fragment *fragment = tesela_fragments(&n_entries);
  int32_t *number = calloc((size_t)n + 1, sizeof *number);
  *all = (parts){0, calloc((size_t)n + 1, sizeof *all->part)};
  bool room = number && all->part;
  if (room) tesela_fragment_recognize(layout, n, number);
  for (int32_t i = 0; room && i < n; i++) {
    part *p = &all->part[all->n];
    *p = (part){.entry = &fragment[number[i]]};
    if (!find_atom(layout, p)) continue;
    p->rank = name_rank(text, length, p->entry);
    join(all, all->n++);
  }
  free(number);
  if (!room) free(all->part);
  return room;
}

/* Advance to the next group: those that were named in the text first, then the others. *g is -1 at the start. */
static bool next_group(const parts *all, bool *named, int32_t *g) {
  for (;;) {
    for (++*g; *g < all->n; ++*g) {
      const part *first = &all->part[*g];
      if (first->group == *g && (all->part[first->named_by].rank == 3) == *named) return true;
    }
    if (!*named) return false;
    *named = false;
    *g = -1;
  }
}

bool made_of_json(tesela_sink *j, const tesela_register *layout, const char *text, size_t length) {
  parts all;
  bool named = true;
  if (!find_parts(layout, text, length, &all)) return false;
  tesela_put_key_list(j, "made_of");
  for (int32_t g = -1; next_group(&all, &named, &g);) {
    tesela_put_object(j);
    tesela_put_key_text(j, "name", all.part[all.part[g].named_by].name);
    tesela_put_key_list(j, "alike");
    for (int32_t i = g; i < all.n; i++)
      if (all.part[i].group == g && i != all.part[g].named_by) tesela_put_text(j, all.part[i].name);
    tesela_put_end(j);
    tesela_put_end(j);
  }
  tesela_put_end(j);
  free(all.part);
  return true;
}

static void print(const tesela_writer *to, const char *format, ...) TESELA_PRINTF(2, 3);

static void print(const tesela_writer *to, const char *format, ...) {
  char text[NAME + 32];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  to->write(to->user, text, (size_t)n);
}

bool made_of_print(const tesela_register *layout, const char *text, size_t length, const tesela_writer *to) {
  parts all;
  bool named = true;
  int32_t n = 0;
  if (!find_parts(layout, text, length, &all)) return false;
  for (int32_t g = -1; next_group(&all, &named, &g) && n <= GROUPS; n++) {
    const part *first = &all.part[g];
    if (n == GROUPS) {
      print(to, ", ...");
      continue;
    }
    print(to, "%s%s", n > 0 ? ", " : "  made of     ", all.part[first->named_by].name);
    if (first->alike > 0) print(to, " and %" PRId32 " alike", first->alike);
  }
  if (n > 0) print(to, "\n");
  free(all.part);
  return true;
}
