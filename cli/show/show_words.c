/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_words.c - one array in words: what it is, what each tile level does, its sizes, what pads, a verdict.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "show/show.h"

/* ---- text -------------------------------------------------------------------------------------------- */

void show_add(show_text *to, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(to->text + to->length, SHOW_TEXT - to->length, format, args);
  va_end(args);
  size_t room = SHOW_TEXT - 1 - to->length;
  if (n > 0) to->length += (size_t)n < room ? (size_t)n : room;
}

void show_add_dims(show_text *to, int32_t n, const int32_t *dims) {
  for (int32_t k = 0; k < n; k++) show_add(to, "%s%" PRId32, k > 0 ? "*" : n > 1 ? "dims " : "dim ", dims[k]);
}

void show_add_joined(show_text *to, const tesela_xla_layout *layout, uint32_t dims) {
  int32_t list[TESELA_MAX_RANK], n = 0;
  for (int32_t p = 0; p < layout->rank; p++) {
    int32_t dim = tesela_xla_major(layout, p);
    if (dims >> dim & 1) list[n++] = dim;
  }
  show_add_dims(to, n, list);
}

void show_add_bytes(show_text *to, int64_t bytes) {
  char text[TESELA_UNITS_TEXT];
  tesela_units_print(bytes, TESELA_UNITS_IEC, text);
  show_add(to, "%s", text);
  if (bytes >= 1024) show_add(to, " (%" PRId64 " B)", bytes);
}

void show_add_percent(show_text *to, double part, double whole) {
  double percent = 100 * (1 - part / whole);
  if (percent > 0 && percent < 1)
    show_add(to, "under 1%%");
  else if (percent < 100 && percent > 99)
    show_add(to, "over 99%%");
  else
    show_add(to, "%.0f%%", percent);
}

/* ---- facts and sentences ----------------------------------------------------------------------------- */

tesela_status show_facts_of(const tesela_xla_shape *shape, show_facts *facts, tesela_error *err) {
  facts->shape = shape;
  tesela_status status = tesela_xla_size(shape, &facts->sizes, err);
  if (status == TESELA_OK) status = tesela_xla_padding(shape, SHOW_MAX_PADS, facts->pad, &facts->n_pads, err);
  if (status == TESELA_OK)
    status = tesela_xla_bounds(shape, shape->layout.n_tiles, facts->bound, &facts->n_bounds, err);
  if (facts->n_pads > SHOW_MAX_PADS) facts->n_pads = SHOW_MAX_PADS;
  return status;
}

void show_order(const tesela_xla_shape *shape, show_text *out) {
  const tesela_xla_layout *layout = &shape->layout;
  if (shape->rank == 0) {
    show_add(out, "a scalar");
    return;
  }
  if (shape->rank > 1 && tesela_xla_is_descending(layout)) show_add(out, "row-major: ");
  if (shape->rank > 1 && tesela_xla_is_ascending(layout)) show_add(out, "column-major: ");
  show_add(out, "dim %" PRId32 " varies fastest", layout->minor_to_major[0]);
  for (int32_t i = 1; i < layout->rank; i++)
    show_add(out, "%s%" PRId32, i == 1 ? ", then " : ", ", layout->minor_to_major[i]);
}

/* What was padded: "dim 1", "dim 1 in level 2", "a leading one", "the number of elements". */
static void add_cause(show_text *out, const tesela_xla_layout *layout, const tesela_xla_pad *pad) {
  if (pad->kind == TESELA_XLA_PAD_TAIL)
    show_add(out, "L(%" PRId64 ")", pad->tile);
  else if (pad->kind == TESELA_XLA_PAD_WIDTH)
    show_add(out, "each element");
  else if (pad->dims)
    show_add_joined(out, layout, pad->dims);
  else
    show_add(out, "a leading one");
  if (pad->kind == TESELA_XLA_PAD_TILE && pad->level > 0) show_add(out, " in level %" PRId32, pad->level + 1);
}

void show_pad(const tesela_xla_layout *layout, const tesela_xla_pad *pad, show_text *out) {
  add_cause(out, layout, pad);
  const char *unit = pad->kind == TESELA_XLA_PAD_TAIL    ? " elements"
                     : pad->kind == TESELA_XLA_PAD_WIDTH ? " bits"
                                                         : "";
  show_add(out, ": %" PRId64 " of %" PRId64 "%s used (", pad->extent, pad->padded, unit);
  show_add_percent(out, (double)pad->extent, (double)pad->padded);
  show_add(out, " padding)");
}

static const tesela_xla_pad *largest_pad(const show_facts *facts) {
  const tesela_xla_pad *largest = NULL;
  for (int32_t i = 0; i < facts->n_pads; i++) {
    const tesela_xla_pad *pad = &facts->pad[i];
    if (!largest ||
        (double)pad->padded / (double)pad->extent > (double)largest->padded / (double)largest->extent)
      largest = pad;
  }
  return largest;
}

void show_verdict(const show_facts *facts, show_text *out) {
  const tesela_xla_sizes *sizes = &facts->sizes;
  const tesela_xla_pad *largest = largest_pad(facts);
  if (sizes->logical_elements == 0) {
    show_add(out, "no elements and no memory");
  } else if (sizes->bytes < sizes->logical_bytes) {
    show_add(out, "smaller than the ordinary width of the type");
  } else if (sizes->bytes == sizes->logical_bytes || !largest) {
    show_add(out, "no padding");
  } else {
    show_add_percent(out, (double)sizes->logical_bytes, (double)sizes->bytes);
    show_add(out, " of the memory is padding, %s ", facts->n_pads == 1 ? "all from" : "most from");
    add_cause(out, &facts->shape->layout, largest);
  }
}

/* ---- print ------------------------------------------------------------------------------------------- */

enum { LABEL = 10 };

/* May a line end at this blank? "dim 0: 3 -> 4" and "(8000 B)" stay together. */
static bool may_end(const char *text, const char *blank) {
  return blank > text && *blank == ' ' && blank[-1] != ':' && blank[-1] != '>' && blank[1] != '-' &&
         blank[1] != 'B';
}

/* Where a line of `room` columns ends: behind a semicolon or a comma if one is not far, else at a blank. */
static size_t line_end(const char *text, size_t room) {
  size_t last = 0;
  if (strlen(text) <= room) return strlen(text);
  for (size_t i = room; i > room / 2; i--) {
    if (!may_end(text, text + i)) continue;
    if (last == 0) last = i;
    if (text[i - 1] == ';' || (text[i - 1] == ',' && i > room * 3 / 4)) return i;
  }
  return last > 0 ? last : room;
}

void show_wrapped(const cli_context *cli, const char *label, const char *text) {
  size_t room = (size_t)(cli->out.width - LABEL - 2);
  printf("  ");
  cli_styled(&cli->out, "1", label);
  printf("%*s", LABEL - (int)strlen(label), "");
  for (;;) {
    size_t cut = line_end(text, room);
    printf("%.*s\n", (int)cut, text);
    text += cut;
    while (*text == ' ') text++;
    if (*text == '\0') return;
    printf("%*s", LABEL + 2, "");
  }
}

/* "3 x up to 5 x ? of " */
static void add_dims(show_text *to, const tesela_xla_shape *shape) {
  bool unbounded = shape->rank == 1 && shape->dim[0] == TESELA_XLA_UNBOUNDED;
  if (shape->rank < 2 && !unbounded) return;
  for (int32_t d = 0; d < shape->rank; d++) {
    if (d > 0) show_add(to, " x ");
    if (shape->dim[d] == TESELA_XLA_UNBOUNDED)
      show_add(to, "?");
    else
      show_add(to, "%s%" PRId64, shape->dynamic >> d & 1 ? "up to " : "", shape->dim[d]);
  }
  show_add(to, " of ");
}

static void print_array(const cli_context *cli, const tesela_xla_shape *shape, const show_facts *facts) {
  show_text text = {.length = 0};
  add_dims(&text, shape);
  const tesela_xla_sizes *sizes = &facts->sizes;
  show_add(&text, "%s: %" PRId64 " element%s of ", tesela_dtype_name(shape->dtype), sizes->logical_elements,
           sizes->logical_elements == 1 ? "" : "s");
  if (sizes->bits_per_element % 8 == 0)
    show_add(&text, "%" PRId64 " byte%s", sizes->bits_per_element / 8,
             sizes->bits_per_element == 8 ? "" : "s");
  else
    show_add(&text, "%" PRId64 " bit%s", sizes->bits_per_element, sizes->bits_per_element == 1 ? "" : "s");
  show_wrapped(cli, "array", text.text);
}

/* The tiles a TPU would give an array that was written without any, where that is known. */
static void print_tpu(const cli_context *cli, const tesela_xla_shape *shape) {
  tesela_xla_shape chosen = *shape;
  tesela_xla_sizes sizes;
  char layout[TESELA_XLA_PHYSICAL_TEXT];
  tesela_buffer buffer = {layout, sizeof layout, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  if (tesela_xla_choose(&chosen, 0, NULL) != TESELA_OK || chosen.layout.n_tiles == 0 ||
      tesela_xla_size(&chosen, &sizes, NULL) != TESELA_OK ||
      tesela_xla_print(&chosen, true, &to, NULL) != TESELA_OK || buffer.length >= sizeof layout)
    return;
  show_text text = {.length = 0};
  show_add(&text, "%s takes ", layout);
  show_add_bytes(&text, sizes.bytes);
  show_add(&text, " (tesela_xla_choose)");
  show_wrapped(cli, "on a TPU", text.text);
}

static void print_levels(const cli_context *cli, const tesela_xla_shape *shape) {
  for (int32_t level = 0; level < shape->layout.n_tiles; level++) {
    show_text label = {.length = 0}, text = {.length = 0};
    show_add(&label, "level %" PRId32, level + 1);
    show_level(shape, level, &text);
    show_wrapped(cli, label.text, text.text);
  }
  if (shape->layout.n_tiles > 0) return;
  show_wrapped(cli, "tiles", "none");
  print_tpu(cli, shape);
}

static void print_memory(const cli_context *cli, const show_facts *facts) {
  show_text text = {.length = 0};
  const tesela_xla_layout *layout = &facts->shape->layout;
  for (int32_t b = 0; b < facts->n_bounds && facts->n_bounds > 1; b++)
    show_add(&text, "%s%" PRId64, b > 0 ? " x " : "", facts->bound[b]);
  if (facts->n_bounds > 1) show_add(&text, " row-major: ");
  if (layout->tail > 1) show_add(&text, "rounded up to a multiple of %" PRId64 ": ", layout->tail);
  show_add(&text, "%" PRId64 " place%s", facts->sizes.elements, facts->sizes.elements == 1 ? "" : "s");
  show_wrapped(cli, "memory", text.text);
}

static void print_sizes(const cli_context *cli, const tesela_xla_sizes *sizes) {
  show_text text = {.length = 0};
  show_add_bytes(&text, sizes->logical_bytes);
  show_add(&text, " of data");
  if (sizes->bytes != sizes->logical_bytes) {
    show_add(&text, " take ");
    show_add_bytes(&text, sizes->bytes);
    show_add(&text, ": %.2f times", sizes->expansion);
  }
  show_wrapped(cli, "size", text.text);
  if (sizes->allocated_bytes == sizes->bytes) return;
  text.length = 0;
  show_add(&text, "XLA's allocator takes ");
  show_add_bytes(&text, sizes->allocated_bytes);
  show_wrapped(cli, "", text.text);
}

static void print_pads(const cli_context *cli, const show_facts *facts) {
  for (int32_t i = 0; i < facts->n_pads; i++) {
    show_text text = {.length = 0};
    show_pad(&facts->shape->layout, &facts->pad[i], &text);
    show_wrapped(cli, i == 0 ? "padding" : "", text.text);
  }
}

static void print_kept(const cli_context *cli, const tesela_xla_shape *shape) {
  uint32_t kept = tesela_xla_kept(shape);
  const char *label = "kept";
  for (uint32_t bit = 1; bit != 0 && bit <= kept; bit <<= 1) {
    if (!(kept & bit)) continue;
    show_text text = {.length = 0};
    show_add(&text, "%s; moves no element", tesela_xla_kept_text(bit));
    show_wrapped(cli, label, text.text);
    label = "";
  }
}

/* A layout that takes less, where padding is worth a thought. */
static void print_advice(const cli_context *cli, const show_facts *facts) {
  tesela_report_advice advice[TESELA_REPORT_MAX_ADVICE];
  int32_t n = 0;
  char words[160], shape[TESELA_XLA_PHYSICAL_TEXT];
  tesela_buffer words_buffer = {words, sizeof words, 0}, shape_buffer = {shape, sizeof shape, 0};
  tesela_writer to_words = tesela_buffer_writer(&words_buffer),
                to_shape = tesela_buffer_writer(&shape_buffer);
  if (facts->sizes.expansion < 2 || tesela_report_advise(facts->shape, advice, &n, NULL) != TESELA_OK ||
      n == 0)
    return;
  if (tesela_report_advice_words(facts->shape, &advice[0], &to_words, NULL) != TESELA_OK ||
      tesela_xla_print(&advice[0].shape, true, &to_shape, NULL) != TESELA_OK)
    return;
  show_text text = {.length = 0};
  show_add(&text, "%s; %s takes ", words, shape);
  show_add_bytes(&text, advice[0].bytes);
  show_wrapped(cli, "advice", text.text);
}

uint32_t show_bounded(const tesela_xla_shape *shape) {
  uint32_t bounded = shape->dynamic;
  for (int32_t d = 0; d < shape->rank; d++)
    if (shape->dim[d] == TESELA_XLA_UNBOUNDED) bounded &= ~((uint32_t)1 << d);
  return bounded;
}

void show_no_size(const tesela_xla_shape *shape, show_text *out) {
  if (shape->kind == TESELA_XLA_TOKEN || shape->kind == TESELA_XLA_OPAQUE) {
    show_add(out, "%s: it has no elements and no size",
             shape->kind == TESELA_XLA_TOKEN ? "a token, which puts operations in order" : "an opaque value");
    return;
  }
  int32_t n = 0;
  for (int32_t d = 0; d < shape->rank; d++)
    if (shape->dim[d] == TESELA_XLA_UNBOUNDED) show_add(out, "%s%" PRId32, n++ > 0 ? ", " : "dim ", d);
  show_add(out, " %s ? (unbounded), so the array has no size; give %s an extent or a bound",
           n == 1 ? "is" : "are", n == 1 ? "it" : "each");
}

void show_words_no_size(const cli_context *cli, const tesela_xla_shape *shape) {
  show_text what = {.length = 0}, order = {.length = 0}, size = {.length = 0};
  show_no_size(shape, &size);
  if (shape->kind == TESELA_XLA_TOKEN || shape->kind == TESELA_XLA_OPAQUE) {
    show_wrapped(cli, "kind", size.text);
    return;
  }
  add_dims(&what, shape);
  show_add(&what, "%s", tesela_dtype_name(shape->dtype));
  show_wrapped(cli, "array", what.text);
  show_order(shape, &order);
  show_wrapped(cli, "order", order.text);
  show_wrapped(cli, "size", size.text);
  tesela_xla_shape bounded = *shape;
  bounded.dynamic = show_bounded(shape);
  print_kept(cli, &bounded);
}

void show_words(const cli_context *cli, const show_facts *facts) {
  show_text verdict = {.length = 0}, order = {.length = 0};
  show_order(facts->shape, &order);
  show_verdict(facts, &verdict);
  print_array(cli, facts->shape, facts);
  if (facts->shape->rank > 0) show_wrapped(cli, "order", order.text);
  print_levels(cli, facts->shape);
  if (facts->sizes.logical_elements > 0) {
    print_memory(cli, facts);
    print_sizes(cli, &facts->sizes);
    print_pads(cli, facts);
  }
  print_kept(cli, facts->shape);
  show_wrapped(cli, "verdict", verdict.text);
  print_advice(cli, facts);
}
