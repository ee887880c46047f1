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

enum {
  GROUPS = 4,
  NAME = TESELA_FRAGMENT_NAME + 8
};                                       /* groups that are printed; room for a name with a number */
enum { WRITTEN = 16, RANK_WRITTEN = 9 }; /* fragments of a text that are remembered; the rank of theirs */

/* An entry that a layout consists of. */
typedef struct part {
  const tesela_fragment *entry;
  int32_t number;       /* of the entry */
  int32_t n;            /* of a family, the largest that fits; else 0 */
  tesela_register atom; /* with that n */
  char name[NAME];
  int32_t group;    /* number of the first part that is laid out alike */
  int32_t alike;    /* of a first part: how many others there are */
  int32_t named_by; /* of a first part: the part that gives the name */
  int32_t rank;     /* of a name: more is better */
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

/* A name with the number n of a family in place of its N: m64nNk16, 64xNx16. */
static void put_n(const char *name, int32_t n, char text[NAME]) {
  const char *at = n > 0 ? strstr(name, "nN") : NULL;
  if (n > 0 && !at) at = strstr(name, "xN");
  if (at)
    snprintf(text, NAME, "%.*s%" PRId32 "%s", (int)(at + 1 - name), name, n, at + 2);
  else
    snprintf(text, NAME, "%s", name);
}

/* The largest n of a family whose layout divides. */
static bool find_atom(const tesela_register *layout, part *p) {
  const tesela_fragment *entry = p->entry;
  tesela_register quotient;
  for (p->n = entry->n_max; p->n >= 0; p->n -= entry->n_step) {
    put_n(entry->name, p->n, p->name);
    if (tesela_fragment_find(p->name, strlen(p->name), &p->atom, NULL, NULL) == TESELA_OK &&
        (entry->n_max == 0 || tesela_register_divide(&quotient, layout, &p->atom, NULL) == TESELA_OK))
      return true;
    if (p->n <= entry->n_step) break;
  }
  return false;
}

static bool name_byte(const char *text, size_t length, size_t at) {
  if (isalnum((unsigned char)text[at]) || text[at] == '_' || text[at] == '.') return true;
  return text[at] == ':' && ((at > 0 && text[at - 1] == ':') || (at + 1 < length && text[at + 1] == ':'));
}

/* The fragments whose names are in a text; returns how many. */
static int32_t find_written(const char *text, size_t length, const tesela_fragment *written[WRITTEN]) {
  int32_t count = 0;
  for (size_t at = 0, n; at < length && count < WRITTEN; at += n + 1) {
    for (n = 0; at + n < length && name_byte(text, length, at + n);) n++;
    if (n > 0 && tesela_fragment_find(text + at, n, NULL, &written[count], NULL) == TESELA_OK) count++;
  }
  return count;
}

/* The first name of CUTLASS for an entry, if there is one of this naming. */
static bool cutlass_name(int32_t entry, tesela_fragment_naming wanted, char name[TESELA_FRAGMENT_NAME]) {
  tesela_fragment_naming naming;
  for (int32_t k = 0; tesela_fragment_name(entry, k, name, &naming); k++)
    if (naming == wanted) return true;
  return false;
}

/* How good a name is for its group: best one that was written, then accumulators of mma, then mma's others; of equal ones
 * that with a layout that CUTLASS names. */
static int32_t name_rank(const tesela_fragment *const *written, int32_t n_written, int32_t number,
                         const tesela_fragment *entry) {
  char name[TESELA_FRAGMENT_NAME];
  const bool mma = strcmp(entry->family, "mma") == 0 && strncmp(entry->name, "mma.sp.", 7) != 0;
  for (int32_t i = 0; i < n_written; i++)
    if (written[i] == entry) return RANK_WRITTEN;
  return (!mma                                               ? 0
          : *entry->operand == 'C' || *entry->operand == 'D' ? 4
                                                             : 2) +
         cutlass_name(number, TESELA_FRAGMENT_CUTLASS_LAYOUT, name);
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
  const tesela_fragment *written[WRITTEN];
  const int32_t n_written = find_written(text, length, written);
  *all = (parts){0, calloc((size_t)n + 1, sizeof *all->part)};
  bool room = number && all->part;
  if (room) tesela_fragment_recognize(layout, n, number);
  for (int32_t i = 0; room && i < n; i++) {
    part *p = &all->part[all->n];
    *p = (part){.entry = &fragment[number[i]], .number = number[i]};
    if (!find_atom(layout, p)) continue;
    p->rank = name_rank(written, n_written, p->number, p->entry);
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
      if (first->group == *g && (all->part[first->named_by].rank == RANK_WRITTEN) == *named) return true;
    }
    if (!*named) return false;
    *named = false;
    *g = -1;
  }
}

/* The group that is laid out as the whole layout is, or -1. */
static int32_t whole_group(const parts *all, const tesela_register *layout) {
  for (int32_t g = 0; g < all->n; g++)
    if (all->part[g].group == g && tesela_register_same(&all->part[g].atom, layout)) return g;
  return -1;
}

/* A name of CUTLASS for a group: that of a layout, or that of an atom, first of the entry that names the group. */
static bool group_cutlass(const parts *all, int32_t g, char text[NAME]) {
  char name[TESELA_FRAGMENT_NAME];
  const part *by = &all->part[all->part[g].named_by], *found = NULL;
  for (int32_t i = g; i < all->n && !found; i++)
    if (all->part[i].group == g && cutlass_name(all->part[i].number, TESELA_FRAGMENT_CUTLASS_LAYOUT, name))
      found = &all->part[i];
  if (!found && cutlass_name(by->number, TESELA_FRAGMENT_CUTLASS, name)) found = by;
  for (int32_t i = g; i < all->n && !found; i++)
    if (all->part[i].group == g && cutlass_name(all->part[i].number, TESELA_FRAGMENT_CUTLASS, name))
      found = &all->part[i];
  if (found) put_n(name, found->n, text);
  return found != NULL;
}

/* "names": all names of a group, or an empty list for -1. */
static void put_names(tesela_sink *j, const parts *all, int32_t g) {
  char name[TESELA_FRAGMENT_NAME], text[NAME];
  tesela_put_key_list(j, "names");
  for (int32_t i = g; g >= 0 && i < all->n; i++)
    for (int32_t k = 0; all->part[i].group == g && tesela_fragment_name(all->part[i].number, k, name, NULL);
         k++) {
      put_n(name, all->part[i].n, text);
      tesela_put_text(j, text);
    }
  tesela_put_end(j);
}

bool made_of_json(tesela_sink *j, const tesela_register *layout, const char *text, size_t length) {
  parts all;
  bool named = true;
  char cutlass[NAME];
  if (!find_parts(layout, text, length, &all)) return false;
  put_names(j, &all, whole_group(&all, layout));
  tesela_put_key_list(j, "made_of");
  for (int32_t g = -1; next_group(&all, &named, &g);) {
    tesela_put_object(j);
    tesela_put_key_text(j, "name", all.part[all.part[g].named_by].name);
    tesela_put_key_text(j, "cutlass", group_cutlass(&all, g, cutlass) ? cutlass : NULL);
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
  char cutlass[NAME];
  int32_t n = 0;
  if (!find_parts(layout, text, length, &all)) return false;
  const int32_t whole = whole_group(&all, layout);
  if (whole >= 0) {
    const bool known = group_cutlass(&all, whole, cutlass);
    print(to, "  is          %s%s", all.part[all.part[whole].named_by].name, known ? " = " : "\n");
    if (known) print(to, "%s\n", cutlass);
  }
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
