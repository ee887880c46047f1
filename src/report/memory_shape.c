/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_shape.c - the shape of an entry of a memory report, and the compiler's own figures against it.
 *
 * An entry may name one shape or a list of them, with or without layouts. One whose bytes, rounded as the
 * compiler rounds, are the size it printed stands for the entry. A shape without tiles gets the tiles that a
 * TPU compiler would choose, in each order of the dims, until one gives that size. If none does, the
 * compiler's size is taken; but a single shape with tiles is believed, and the difference reported with both
 * numbers, whatever the cause: a damaged log, a rule that is not known here, an allocation larger than its
 * array.
 */
#include <stdio.h>

#include "report/scan.h"

/* ---- our figures against the compiler's ---------------------------------------------------------------- */

/* The same number of bytes, rounded as it was printed ("14.00G", "2.63GiB", "0B")? */
static bool prints_as(int64_t bytes, const tesela_report_printed *printed) {
  char ours[TESELA_UNITS_TEXT];
  tesela_units_print(bytes, TESELA_UNITS_XLA, ours);
  size_t n = strlen(ours);
  if (strncmp(ours, printed->text, n - 1) != 0) return false;
  const char *unit = printed->text + n - 1;
  return *unit == ours[n - 1] || (*unit == ' ' && unit[1] == ours[n - 1]);
}

static void compare_figures(tesela_report_array *array, int64_t unpadded) {
  char ratio[32] = "";
  if (array->size.text[0] && !prints_as(array->stored_bytes, &array->size))
    array->disagree |= TESELA_REPORT_SIZE_DIFFERS;
  if (array->unpadded.text[0] && !prints_as(unpadded, &array->unpadded))
    array->disagree |= TESELA_REPORT_UNPADDED_DIFFERS;
  int64_t extra = array->stored_bytes - unpadded;
  if (array->extra.text[0] && (extra < 0 || !prints_as(extra, &array->extra)))
    array->disagree |= TESELA_REPORT_EXTRA_DIFFERS;
  if (unpadded > 0) snprintf(ratio, sizeof ratio, "%.1fx", (double)array->stored_bytes / (double)unpadded);
  if (array->expansion.text[0] && ratio[0] && strcmp(ratio, array->expansion.text) != 0)
    array->disagree |= TESELA_REPORT_EXPANSION_DIFFERS;
}

static void note_differences(tesela_report *report, const tesela__entry *entry,
                             const tesela__entry_facts *facts) {
  const tesela_report_array *array = &facts->array;
  int shape = (int)tesela__min((int64_t)facts->shape.n, 100);
  if (!array->sized) {
    tesela__report_note(report, TESELA_REPORT_DISAGREE, entry->line,
                        "entry %" PRId64 ": no known tile gives %.*s the size %s that the compiler printed",
                        entry->number, shape, facts->shape.text, array->size.text);
    return;
  }
  char stored[TESELA_UNITS_TEXT], unpadded[TESELA_UNITS_TEXT], extra[TESELA_UNITS_TEXT], ratio[32],
      list[200] = "";
  tesela_units_print(array->stored_bytes, TESELA_UNITS_XLA, stored);
  tesela_units_print(facts->unpadded, TESELA_UNITS_XLA, unpadded);
  tesela_units_print(tesela__max(array->stored_bytes - facts->unpadded, 0), TESELA_UNITS_XLA, extra);
  snprintf(ratio, sizeof ratio, "%.1fx",
           (double)array->stored_bytes / (double)tesela__max(facts->unpadded, 1));
  const struct {
    uint32_t bit;
    const char *name, *printed, *ours;
  } rows[] = {{TESELA_REPORT_SIZE_DIFFERS, "size", array->size.text, stored},
              {TESELA_REPORT_UNPADDED_DIFFERS, "unpadded", array->unpadded.text, unpadded},
              {TESELA_REPORT_EXTRA_DIFFERS, "padding", array->extra.text, extra},
              {TESELA_REPORT_EXPANSION_DIFFERS, "expansion", array->expansion.text, ratio}};
  for (size_t i = 0, n = 0; i < sizeof rows / sizeof rows[0] && n < sizeof list; i++)
    if (array->disagree & rows[i].bit)
      n += (size_t)snprintf(list + n, sizeof list - n, "%s%s %s, the shape gives %s", n ? "; " : "",
                            rows[i].name, rows[i].printed, rows[i].ours);
  tesela__report_note(report, TESELA_REPORT_DISAGREE, entry->line,
                      "entry %" PRId64 ", %.*s: the compiler printed %s", entry->number, shape,
                      facts->shape.text, list);
}

/* ---- the shapes an entry names ------------------------------------------------------------------------- */

/* The next array of "2×s32[3,4], (f32[2], u32[]), f32[3]{0}"; n = 0 at the end. Tuples are passed over: a
 * report gives the size of their table of pointers. */
static tesela__span next_shape(tesela__span *list) {
  const char *p = list->text, *end = p + list->n;
  while (p < end) {
    while (p < end && (*p == ',' || tesela__is_blank(*p))) p++;
    const char *digits = p;
    while (p < end && tesela__is_digit(*p)) p++;
    if (p > digits && tesela__looking_at(p, end, "\xc3\x97"))
      p += 2; /* the multiplication sign */
    else
      p = digits;
    const char *close = tesela__skip_shape(p, end);
    if (!close || close == p) break;
    *list = tesela__between(close, end);
    if (*p != '(') return tesela__between(p, close);
    p = close;
  }
  *list = tesela__between(end, end);
  return *list;
}

/* The result of a label, if it is one array, alone or as the only member of a tuple. */
static tesela__span label_shape(tesela__span shape) {
  const char *p = shape.text, *end = p + shape.n;
  if (shape.n == 0 || *p != '(') return shape;
  const char *close = tesela__skip_array(p + 1, end);
  return close && tesela__looking_at(close, end, ")") ? tesela__between(p + 1, close) : (tesela__span){"", 0};
}

/* ---- a shape without a tile ---------------------------------------------------------------------------- */

static bool fits_with(tesela_xla_shape *shape, uint32_t options, const tesela_report_printed *size,
                      tesela__entry_facts *facts, tesela__shape *fitted) {
  tesela_buffer buffer = {facts->fitted_text, sizeof facts->fitted_text, 0};
  tesela_writer writer = tesela_buffer_writer(&buffer);
  if (tesela_xla_choose(shape, options, NULL) != TESELA_OK) return false;
  if (tesela_xla_print(shape, true, &writer, NULL) != TESELA_OK || buffer.length >= buffer.capacity)
    return false;
  tesela__report_measure((tesela__span){buffer.text, buffer.length}, fitted);
  return fitted->state == TESELA__SHAPE_SIZED && prints_as(fitted->stored, size);
}

/* A choice of minor and second-minor dim, and the compiler's tiles for it, that give the printed size:
 * later TPUs first, the default order first. A layout that stands in the text keeps its order. */
static bool fit_tile(const tesela__shape *bare, const tesela_report_printed *size, tesela__entry_facts *facts,
                     tesela__shape *fitted) {
  static const uint32_t generations[] = {0, TESELA_XLA_CHOOSE_EARLY_TPU};
  tesela_xla_shape shape;
  if (tesela_xla_parse(bare->text, bare->length, TESELA_XLA_STRICT, &shape, NULL, NULL) != TESELA_OK)
    return false;
  for (size_t g = 0; g < sizeof generations / sizeof generations[0]; g++) {
    tesela_xla_shape tried = shape;
    if (fits_with(&tried, generations[g], size, facts, fitted)) return true;
    if (bare->ordered) continue;
    for (int32_t minor = shape.rank - 1; minor >= 0; minor--)
      for (int32_t second = shape.rank - 1; second >= 0; second--) {
        if (minor == second) continue;
        tried = shape;
        tesela__report_set_order(&tried.layout, minor, second);
        if (fits_with(&tried, generations[g], size, facts, fitted)) return true;
      }
  }
  return false;
}

/* ---- the decision -------------------------------------------------------------------------------------- */

static void take_printed_bytes(tesela_report_array *array) {
  array->sized = false;
  array->stored_bytes = tesela__max(array->size.bytes, 0);
  array->data_bytes = array->stored_bytes;
  array->data_known = array->unpadded.bytes >= 0;
  if (array->data_known) array->data_bytes = tesela__min(array->unpadded.bytes, array->stored_bytes);
}

static void take_shape(tesela__entry_facts *facts, const tesela__shape *shape, const tesela__shape *sizes) {
  facts->shape = (tesela__span){shape->text, shape->length};
  facts->array.sized = true;
  facts->array.stored_bytes = sizes->stored;
  facts->array.data_bytes = sizes->data;
  facts->array.memory_space = sizes->space;
  facts->unpadded = shape->unpadded;
  compare_figures(&facts->array, shape->unpadded);
}

/* Take a shape if its bytes are those that were printed, with a fitted tile if need be. */
static bool take_if_equal(tesela_report *report, const tesela__entry *entry, tesela__entry_facts *facts,
                          const tesela__shape *shape) {
  const tesela_report_printed *size = &facts->array.size;
  tesela__shape fitted;
  if (!size->text[0] || prints_as(shape->stored, size)) {
    take_shape(facts, shape, shape);
    return true;
  }
  if (shape->tiled || !fit_tile(shape, size, facts, &fitted)) return false;
  take_shape(facts, shape, &fitted);
  facts->fitted = tesela__text(facts->fitted_text);
  tesela__report_note(report, TESELA_REPORT_NO_TILE, entry->line,
                      "entry %" PRId64 ": the shape has no tile; %s fits the compiler's size %s",
                      entry->number, facts->fitted_text, size->text);
  return true;
}

/* No shape gives the size that was printed. */
static void take_unequal(tesela__entry_facts *facts, const tesela__shape *first) {
  tesela_report_array *array = &facts->array;
  if (first->tiled) {
    take_shape(facts, first, first);
    return;
  }
  take_printed_bytes(array);
  facts->shape = (tesela__span){first->text, first->length};
  if (array->unpadded.bytes < 0) array->data_bytes = tesela__min(first->data, array->stored_bytes);
  array->data_known = true;
  array->disagree |= TESELA_REPORT_SIZE_DIFFERS;
}

static void note_without_shape(tesela_report *report, const tesela__entry *entry, tesela__span text) {
  if (text.n > 0 && *text.text != '(')
    tesela__report_note(report, TESELA_REPORT_UNREADABLE, entry->line,
                        "entry %" PRId64
                        ": %.*s cannot be read as a shape with a size; the compiler's figures are "
                        "taken",
                        entry->number, (int)tesela__min((int64_t)text.n, 120), text.text);
  else
    tesela__report_note(report, TESELA_REPORT_NO_SHAPE, entry->line,
                        "entry %" PRId64 " has no array shape; the compiler's figures are taken",
                        entry->number);
}

void tesela__memory_measure(tesela_report *report, const tesela__entry *entry, tesela__entry_facts *facts) {
  tesela__span text = {entry->text[TESELA__FIELD_SHAPE], entry->length[TESELA__FIELD_SHAPE]};
  tesela__span label = label_shape(facts->label.shape), list = text;
  tesela__shape shape, first = {.state = TESELA__SHAPE_FOREIGN};
  for (;;) {
    tesela__span one = next_shape(&list);
    if (one.n == 0) {
      one = label; /* the last resort, once */
      label.n = 0;
    }
    if (one.n == 0) break;
    tesela__report_measure(one, &shape);
    if (shape.state != TESELA__SHAPE_SIZED) continue;
    if (first.state != TESELA__SHAPE_SIZED) first = shape;
    if (take_if_equal(report, entry, facts, &shape)) break;
    facts->shape.n = 0;
  }
  if (first.state != TESELA__SHAPE_SIZED) {
    take_printed_bytes(&facts->array);
    note_without_shape(report, entry, text);
  } else if (facts->shape.n == 0) {
    take_unequal(facts, &first);
  }
  if (facts->array.disagree) note_differences(report, entry, facts);
}
