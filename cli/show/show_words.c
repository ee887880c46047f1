/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_words.c - one array in words: type and dims, the effect of each tile level, sizes, padding by dim, a verdict.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "show/show.h"

bool show_wants(const cli_context *cli, const char *part) {
  const char *only = cli_value(cli, "only");
  return !only || strcmp(only, part) == 0;
}

/* ---- print ------------------------------------------------------------------------------------------- */

enum { LABEL = 10 };

/* May a line end at this blank? "dim 0: 3 -> 4" and "(8000 B)" stay together. */
static bool may_end(const char *text, const char *blank) {
  return blank > text && *blank == ' ' && blank[-1] != ':' && blank[-1] != '>' && blank[1] != '-' &&
         blank[1] != 'B';
}

/* Where to end a line of `room` columns: after a semicolon or a comma near its end, else at a blank. */
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
  show_add_width(&text, sizes->bits_per_element);
  show_wrapped(cli, "array", text.text);
}

/* The tiles that a TPU would choose for an array given without tiles, where they are known. */
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
  show_add_size(&text, sizes->logical_bytes, sizes->bytes);
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

/* A smaller layout, if padding doubles the size or more. */
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
