/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_memory_shape.c - the shape of an entry of a memory report, and the compiler's own figures against it.
 *
 * An entry may name one shape or a list of them, with or without layouts. If exactly one can have the size that
 * the compiler printed (memory_fit.c), it stands for the entry; if several can, the entry has candidates, and its
 * padding lies between theirs. If none can, the compiler's size is used; but a single shape with tiles is trusted, and
 * the difference reported with both numbers, whatever the cause: a damaged log, a rule that is not known here, an
 * allocation larger than its array.
 */
#include <stdio.h>

#include "report/report_state.h"

/* ---- our figures against the compiler's ---------------------------------------------------------------- */

static void compare_figures(tesela_report_array *array, int64_t unpadded) {
  char ratio[32] = "";
  if (array->size.text[0] && !tesela__prints_as(array->stored_bytes, &array->size))
    array->disagree |= TESELA_REPORT_SIZE_DIFFERS;
  if (array->unpadded.text[0] && !tesela__prints_as(unpadded, &array->unpadded))
    array->disagree |= TESELA_REPORT_UNPADDED_DIFFERS;
  int64_t extra = array->stored_bytes - unpadded;
  if (array->extra.text[0] && (extra < 0 || !tesela__prints_as(extra, &array->extra)))
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
                        "entry %" PRId64 ": no known tile gives %.*s the printed size %s", entry->number,
                        shape, facts->shape.text, array->size.text);
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

/* The result of a label, if it is one array, alone or as the only member of a tuple. */
static tesela__span label_shape(tesela__span shape) {
  const char *p = shape.text, *end = p + shape.n;
  if (shape.n == 0 || *p != '(') return shape;
  const char *close = tesela__skip_array(p + 1, end);
  return close && tesela__looking_at(close, end, ")") ? tesela__between(p + 1, close) : (tesela__span){"", 0};
}

/* ---- the decision -------------------------------------------------------------------------------------- */

static void take_padding(tesela_report_array *array, int64_t least, int64_t most) {
  array->least_padding_bytes = tesela__max(least, 0);
  array->most_padding_bytes = tesela__max(most, array->least_padding_bytes);
}

/* The compiler's rounded figures; how much is data lies between two numbers, unless it printed that too. */
static void take_printed_bytes(tesela_report_array *array, int64_t least_data, int64_t most_data) {
  array->sized = false;
  array->stored_bytes = tesela__max(array->size.bytes, 0);
  if (array->unpadded.bytes >= 0) least_data = most_data = array->unpadded.bytes;
  array->data_bytes = tesela__min(most_data, array->stored_bytes);
  least_data = tesela__min(least_data, array->data_bytes);
  array->data_known = least_data == array->data_bytes;
  take_padding(array, array->stored_bytes - array->data_bytes, array->stored_bytes - least_data);
}

/* The shape as written is trusted. */
static void take_shape(tesela__entry_facts *facts, const tesela__shape *shape) {
  tesela_report_array *array = &facts->array;
  facts->shape = (tesela__span){shape->text, shape->length};
  array->sized = true;
  array->stored_bytes = shape->stored;
  array->data_bytes = shape->data;
  array->memory_space = shape->space;
  array->layouts = 1;
  array->explained = true;
  take_padding(array, shape->stored - shape->data, shape->stored - shape->data);
  facts->unpadded = shape->unpadded;
  compare_figures(array, shape->unpadded);
}

/* The only shape that has the size. */
static void take_fit(tesela__entry_facts *facts, const tesela__fit *fit) {
  tesela_report_array *array = &facts->array;
  facts->shape = fit->shape;
  facts->fitted = tesela__fit_text(fit, facts->fitted_text, sizeof facts->fitted_text);
  array->sized = fit->one_size && !fit->granule;
  array->stored_bytes = fit->stored;
  array->data_bytes = fit->data;
  array->data_known = fit->least_data == fit->most_data;
  array->memory_space = fit->space;
  array->layouts = fit->layouts;
  array->explained = fit->explained;
  array->granule = fit->granule;
  take_padding(array, fit->least_padding, fit->most_padding);
  facts->unpadded = fit->unpadded;
  if (!fit->granule) compare_figures(array, fit->unpadded);
}

/* Several shapes can have the size, or one that could not be read. */
static void take_candidates(tesela__entry_facts *facts, const tesela__fit *fit, const tesela__fits *fits) {
  tesela_report_array *array = &facts->array;
  int64_t least_data = fit->least_data, most_data = fit->most_data;
  int64_t least = fit->least_padding, most = fit->most_padding;
  array->sized = !fits->unread;
  array->stored_bytes = fit->stored;
  for (size_t i = 0; i < fits->n; i++) {
    array->sized = array->sized && fit[i].one_size && fit[i].stored == fit->stored;
    least_data = tesela__min(least_data, fit[i].least_data);
    most_data = tesela__max(most_data, fit[i].most_data);
    least = tesela__min(least, fit[i].least_padding);
    most = tesela__max(most, fit[i].most_padding);
  }
  if (fits->unread) {
    least_data = least = 0;
    most_data = most = array->stored_bytes;
  }
  array->data_bytes = tesela__min(most_data, array->stored_bytes);
  array->data_known = least_data == most_data;
  take_padding(array, least, most);
  facts->n_candidates = fits->n;
}

/* No shape has the size that was printed. */
static void take_unequal(tesela__entry_facts *facts, const tesela__fits *fits) {
  tesela_report_array *array = &facts->array;
  bool single = fits->n_arrays == 1 && !fits->unread;
  if (single && fits->first.tiled) {
    take_shape(facts, &fits->first);
    return;
  }
  take_printed_bytes(array, fits->unread ? 0 : fits->least_data,
                     fits->unread ? array->size.bytes : fits->most_data);
  facts->shape = (tesela__span){fits->first.text, fits->first.length};
  if (!fits->unread) array->disagree |= TESELA_REPORT_SIZE_DIFFERS;
}

static void note_without_shape(tesela_report *report, const tesela__entry *entry, tesela__span text,
                               bool unread) {
  if (unread)
    tesela__report_note(report, TESELA_REPORT_UNREADABLE, entry->line,
                        "entry %" PRId64
                        ": %.*s cannot be read as a shape with a size; the compiler's figures are used",
                        entry->number, (int)tesela__min((int64_t)text.n, 120), text.text);
  else
    tesela__report_note(report, TESELA_REPORT_NO_SHAPE, entry->line,
                        "entry %" PRId64 " has no array shape; the compiler's figures are used",
                        entry->number);
}

/* A row with a part that cannot be read, or with fewer values than use it: the one with the size may be missing. */
static void note_incomplete(tesela_report *report, const tesela__entry *entry, const tesela__fits *fits) {
  int shown = (int)tesela__min((int64_t)entry->shapes.n, 120);
  if (fits->values < entry->values)
    tesela__report_note(report, TESELA_REPORT_UNREADABLE, entry->line,
                        "entry %" PRId64 ": the shapes of %" PRId64 " of its %" PRId64
                        " values can be read in %.*s; another one may have its size",
                        entry->number, fits->values, entry->values, shown, entry->shapes.text);
  else
    tesela__report_note(report, TESELA_REPORT_UNREADABLE, entry->line,
                        "entry %" PRId64 ": not all of %.*s can be read; another shape may have its size",
                        entry->number, shown, entry->shapes.text);
}

static void take_what_fits(tesela_report *report, tesela__entry_facts *facts, const tesela__fits *fits) {
  const tesela_report_printed *size = &facts->array.size;
  facts->array.incomplete = fits->unread;
  if (fits->n_arrays > 0 && !size->text[0])
    take_shape(facts, &fits->first);
  else if (fits->n == 1 && !fits->unread)
    take_fit(facts, &report->fit[0]);
  else if (fits->n > 0)
    take_candidates(facts, report->fit, fits);
  else if (fits->n_arrays > 0)
    take_unequal(facts, fits);
  else
    take_printed_bytes(&facts->array, 0, tesela__max(size->bytes, 0));
}

static bool measure_row(tesela_report *report, const tesela__entry *entry, tesela__entry_facts *facts) {
  tesela__fits fits;
  if (!tesela__fit_list(report, entry->shapes, TESELA__FIT_ROW, &facts->array.size, &fits)) return false;
  fits.unread = fits.unread || fits.values < entry->values;
  take_what_fits(report, facts, &fits);
  if (fits.unread)
    note_incomplete(report, entry, &fits);
  else if (fits.n_arrays == 0 && fits.n == 0)
    note_without_shape(report, entry, entry->shapes, false);
  return true;
}

/* An entry of a list: its shape, else the result in its label. */
static bool measure_listed(tesela_report *report, const tesela__entry *entry, tesela__entry_facts *facts) {
  tesela__span text = {entry->text[TESELA__FIELD_SHAPE], entry->length[TESELA__FIELD_SHAPE]};
  tesela__span label = label_shape(facts->label.shape);
  tesela__fit_kind kind = entry->peak ? TESELA__FIT_ANY_DEVICE : TESELA__FIT_TPU;
  const tesela_report_printed *size = &facts->array.size;
  tesela__fits fits, of_label;
  if (!tesela__fit_list(report, text, kind, size, &fits)) return false;
  if (fits.n == 0 && label.n > 0) {
    if (!tesela__fit_list(report, label, kind, size, &of_label)) return false;
    if (of_label.n > 0 || fits.n_arrays == 0) fits = of_label;
  }
  fits.unread = false;
  take_what_fits(report, facts, &fits);
  if (fits.n_arrays == 0) note_without_shape(report, entry, text, text.n > 0 && *text.text != '(');
  return true;
}

bool tesela__memory_measure(tesela_report *report, const tesela__entry *entry, tesela__entry_facts *facts) {
  bool row = entry->shapes.n > 0;
  if (!(row ? measure_row : measure_listed)(report, entry, facts)) return false;
  if (facts->array.disagree) note_differences(report, entry, facts);
  return true;
}
