/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_words.c - a device layout in words: host and device side, a table of the device dims, sizes, padding, notations.
 *
 *   device dim  host dim  step  extent  stride  host stride
 *            0         1    64       4   64000           64  blocks of 64; the last has 8
 *            1         0     1    1000      64          200  all of dim 0
 *            2         1     1      64       1            1  lanes
 */
#include "main/device.h"

#include <inttypes.h>
#include <string.h>

#include "main/say.h"

/* ---- what each device dim is ---------------------------------------------------------------------------- */

/* Elements of the host dim that one digit of the next larger step of it covers; the whole dim for the largest. */
static int64_t span_of(const tesela_device_layout *layout, int32_t j) {
  const tesela_device_dim *dim = &layout->dim[j];
  int64_t span = layout->host.shape[dim->dim];
  for (int32_t k = 0; k < layout->n_dims; k++) {
    const tesela_device_dim *other = &layout->dim[k];
    bool before = other->dim == dim->dim && (other->step > dim->step || (other->step == dim->step && k < j));
    if (before && other->step < span) span = other->step;
  }
  return span;
}

static bool is_outermost(const tesela_device_layout *layout, int32_t j) {
  return span_of(layout, j) == layout->host.shape[layout->dim[j].dim];
}

static bool is_lane(const tesela_device_layout *layout, int32_t j) {
  return j >= layout->n_dims - layout->stick_dims;
}

static void say_host_dim(const tesela_device_layout *layout, int32_t j, show_text *out) {
  const tesela_device_dim *dim = &layout->dim[j];
  int64_t shape = layout->host.shape[dim->dim], span = span_of(layout, j);
  int64_t used = span / dim->step + (span % dim->step != 0);
  bool outermost = is_outermost(layout, j);
  if (is_lane(layout, j))
    show_add(out, "lanes");
  else if (dim->step > 1)
    show_add(out, "blocks of %" PRId64, dim->step);
  else if (outermost)
    show_add(out, "all of dim %" PRId32, dim->dim);
  else
    show_add(out, "single elements in blocks of %" PRId64, span);
  if (dim->step > 1 && !outermost) show_add(out, " within blocks of %" PRId64, span);
  if (dim->step > 1 && outermost && shape % dim->step != 0)
    show_add(out, used == 1 ? "; the one has %" PRId64 : "; the last has %" PRId64, shape % dim->step);
  if (used < dim->extent) show_add(out, "; %" PRId64 " of %" PRId64 " used", used, dim->extent);
}

static void say_dim(const tesela_device_layout *layout, int32_t j, show_text *out) {
  const tesela_device_dim *dim = &layout->dim[j];
  if (dim->dim >= 0)
    say_host_dim(layout, j, out);
  else if (dim->dim == TESELA_DIM_REPLICATED)
    show_add(out, "replicated: each of %" PRId64 " holds all elements", dim->extent);
  else if (dim->extent <= 1)
    show_add(out, "synthetic: has no host dim");
  else
    show_add(out, "synthetic%s: only index 0 of 0 to %" PRId64 " holds an element",
             is_lane(layout, j) ? " lanes" : "", dim->extent - 1);
}

/* ---- the table ------------------------------------------------------------------------------------------ */

enum { COLUMNS = 6, CELL = 24, GAP = 2, INDENT = 2, WORDS = 30 /* columns of a row's description */ };

/* `map` NULL: the host strides overflow. */
static void put_cell(const tesela_device_layout *layout, const int64_t *map, int32_t j, int column,
                     char cell[CELL]) {
  const tesela_device_dim *dim = &layout->dim[j];
  const int64_t numbers[COLUMNS] = {j, dim->dim, dim->step, dim->extent, dim->stride, map ? map[j] : 0};
  bool none = (dim->dim < 0 && (column == 1 || column == 2)) || (column == 5 && !map);
  if (none)
    snprintf(cell, CELL, "-");
  else
    snprintf(cell, CELL, "%" PRId64, numbers[column]);
}

/* The description of a row: after the numbers, or on a line of its own if the terminal is too narrow. */
static void put_words(const cli_context *cli, int used, int room, const char *text) {
  int indent = INDENT + GAP;
  if (room >= WORDS) {
    printf("  ");
    indent = used + GAP;
  } else {
    printf("\n%*s", indent, "");
    room = cli->out.width - indent;
  }
  for (;;) {
    int length = (int)strlen(text);
    if (length > room) {
      length = room;
      while (length > 0 && text[length] != ' ') length--;
      if (length == 0) length = room;
    }
    printf("%.*s\n", length, text);
    text += length;
    while (*text == ' ') text++;
    if (*text == '\0') return;
    printf("%*s", indent, "");
  }
}

/* Width of each column under these headings; returns the width of the whole row. */
static int measure(const tesela_device_layout *layout, const int64_t *map, const char *const *head,
                   int columns, int width[COLUMNS]) {
  char cell[CELL];
  int used = INDENT - GAP;
  for (int c = 0; c < columns; c++) {
    width[c] = (int)strlen(head[c]);
    for (int32_t j = 0; j < layout->n_dims; j++) {
      put_cell(layout, map, j, c, cell);
      if ((int)strlen(cell) > width[c]) width[c] = (int)strlen(cell);
    }
    used += GAP + width[c];
  }
  return used;
}

static void put_table(const cli_context *cli, const tesela_device_layout *layout) {
  static const char *const heads[COLUMNS] = {"device dim", "host dim", "step",
                                             "extent",     "stride",   "host stride"};
  static const char *const narrow[COLUMNS] = {"dev", "host", "step", "extent", "stride", "host stride"};
  int64_t strides[TESELA_DEVICE_DIMS]; /* of a row-major host tensor */
  const int64_t *map = tesela_device_stride_map(layout, NULL, strides, NULL) == TESELA_OK ? strides : NULL;
  const char *const *head = heads;
  char cell[CELL];
  int columns = COLUMNS, width[COLUMNS], used = measure(layout, map, head, columns, width);
  if (used + GAP + WORDS > cli->out.width) {
    head = narrow;
    used = measure(layout, map, head, columns, width);
  }
  if (used > cli->out.width) used = measure(layout, map, head, --columns, width);
  for (int c = 0; c < columns; c++) {
    printf("%*s%*s", c > 0 ? GAP : INDENT, "", width[c] - (int)strlen(head[c]), "");
    cli_styled(&cli->out, "1", head[c]);
  }
  putchar('\n');
  for (int32_t j = 0; j < layout->n_dims; j++) {
    show_text words = {.length = 0};
    for (int c = 0; c < columns; c++) {
      put_cell(layout, map, j, c, cell);
      printf("%*s%*s", c > 0 ? GAP : INDENT, "", width[c], cell);
    }
    say_dim(layout, j, &words);
    put_words(cli, used, cli->out.width - used - GAP, words.text);
  }
}

/* ---- sentences ------------------------------------------------------------------------------------------ */

static void add_shape(show_text *to, int32_t n, const int64_t *extents) {
  for (int32_t d = 0; d < n; d++) show_add(to, "%s%" PRId64, d > 0 ? " x " : "", extents[d]);
}

static const char *type_name(tesela_dtype dtype) {
  const char *name = tesela_dtype_name(dtype);
  return name ? name : "elements of unknown type";
}

static void put_sides(const cli_context *cli, const tesela_device_layout *layout,
                      const tesela_device_sizes *sizes, const char *target) {
  const tesela_device_host *host = &layout->host;
  show_text text = {.length = 0};
  if (host->rank > 1) {
    add_shape(&text, host->rank, host->shape);
    show_add(&text, " of ");
  }
  show_add(&text, "%s: %" PRId64 " element%s of ", type_name(host->dtype), sizes->elements,
           sizes->elements == 1 ? "" : "s");
  show_add_width(&text, host->bits);
  show_wrapped(cli, "host", text.text);
  text.length = 0;
  show_add(&text, "%s in sticks of %" PRId64 " bytes", type_name(host->device_dtype), host->stick_bytes);
  if (target) show_add(&text, " (target %s)", target);
  show_add(&text, ": %" PRId64 " lane%s of ", layout->lanes, layout->lanes == 1 ? "" : "s");
  show_add_width(&text, host->device_bits);
  if (layout->format == TESELA_STICKS_SPARSE) show_add(&text, "; one element per stick, in lane 0");
  if (layout->format == TESELA_STICKS_PAIR) show_add(&text, "; two elements per stick, in lanes 0 and 1");
  show_wrapped(cli, "device", text.text);
}

static void put_sizes(const cli_context *cli, const tesela_device_layout *layout,
                      const tesela_device_sizes *sizes, const tesela_target *target) {
  int64_t extents[TESELA_DEVICE_DIMS], product = 1;
  bool fits = true;
  show_text text = {.length = 0};
  for (int32_t j = 0; j < layout->n_dims; j++) {
    extents[j] = layout->dim[j].extent;
    fits = fits && !__builtin_mul_overflow(product, extents[j], &product);
  }
  add_shape(&text, layout->n_dims, extents);
  show_add(&text, ": %" PRId64 " place%s in %" PRId64 " stick%s", sizes->places,
           sizes->places == 1 ? "" : "s", sizes->sticks, sizes->sticks == 1 ? "" : "s");
  if (fits && product < sizes->places)
    show_add(&text, "; %" PRId64 " of them are gaps", sizes->places - product);
  show_wrapped(cli, "memory", text.text);
  text.length = 0;
  show_add_bytes(&text, sizes->host_bytes);
  show_add(&text, " on the host take ");
  show_add_bytes(&text, sizes->device_bytes);
  if (sizes->host_bytes > 0)
    show_add(&text, ": %.2f times", (double)sizes->device_bytes / (double)sizes->host_bytes);
  show_wrapped(cli, "size", text.text);
  if (!target || sizes->allocation_bytes == sizes->device_bytes) return;
  text.length = 0;
  show_add(&text, "the target %s allocates ", target->name);
  show_add_bytes(&text, sizes->allocation_bytes);
  show_wrapped(cli, "", text.text);
}

/* ---- padding -------------------------------------------------------------------------------------------- */

/* Allocated places per used place, for a host dim or (-1) for all synthetic dims together. */
static double waste_of(const tesela_device_layout *layout, int32_t dim) {
  int64_t room = device_room(layout, dim), used = dim < 0 ? 1 : layout->host.shape[dim];
  return used > 0 ? (double)room / (double)used : 1;
}

static void say_waste(const tesela_device_layout *layout, int32_t dim, show_text *out) {
  if (dim < 0)
    show_add(out, layout->format == TESELA_STICKS_SPARSE ? "one element per stick" : "synthetic dims");
  else
    show_add(out, "dim %" PRId32, dim);
}

static int32_t put_waste(const cli_context *cli, const tesela_device_layout *layout, int32_t *n) {
  const char *label = "padding";
  int32_t worst = TESELA_DIM_REPLICATED;
  *n = 0;
  for (int32_t d = layout->host.rank - 1; d >= TESELA_DIM_SYNTHETIC; d--) {
    if (waste_of(layout, d) <= 1) continue;
    show_text text = {.length = 0};
    int64_t used = d < 0 ? 1 : layout->host.shape[d], room = device_room(layout, d);
    say_waste(layout, d, &text);
    show_add(&text, ": %" PRId64 " of %" PRId64 " used (", used, room);
    show_add_percent(&text, (double)used, (double)room);
    show_add(&text, " padding)");
    show_wrapped(cli, label, text.text);
    label = "";
    if (worst == TESELA_DIM_REPLICATED || waste_of(layout, d) > waste_of(layout, worst)) worst = d;
    ++*n;
  }
  return worst;
}

static void put_verdict(const cli_context *cli, const tesela_device_layout *layout,
                        const tesela_device_sizes *sizes, int32_t worst, int32_t n) {
  show_text text = {.length = 0};
  if (sizes->elements == 0) {
    show_add(&text, "no elements");
  } else if (sizes->padding == 0) {
    show_add(&text, "no padding");
  } else {
    show_add_percent(&text, (double)(sizes->places - sizes->padding), (double)sizes->places);
    show_add(&text, " of the memory is padding");
    if (worst > TESELA_DIM_REPLICATED) {
      show_add(&text, ", %s from ", n == 1 ? "all" : "most");
      say_waste(layout, worst, &text);
    }
  }
  show_wrapped(cli, "verdict", text.text);
}

/* ---- notations ------------------------------------------------------------------------------------------ */

static void put_notations(const cli_context *cli, const tesela_device_layout *layout) {
  static const struct {
    tesela_device_notation notation;
    const char *label;
  } rows[] = {{TESELA_DEVICE_TUPLES, "tuples"},
              {TESELA_DEVICE_PRINTED, "printed"},
              {TESELA_DEVICE_DIM_MAP, "printed"},
              {TESELA_DEVICE_STRIDE_MAP, "printed"}};
  char text[DEVICE_TEXT], headline[DEVICE_TEXT];
  device_print_xla(layout, text);
  if (text[0]) show_wrapped(cli, "XLA", text);
  device_headline(layout, headline);
  const char *last = "";
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (device_print(layout, rows[i].notation, text, NULL) != TESELA_OK || strcmp(text, headline) == 0)
      continue;
    show_wrapped(cli, strcmp(last, rows[i].label) == 0 ? "" : rows[i].label, text);
    last = rows[i].label;
  }
}

int device_words(const cli_context *cli, const tesela_device_layout *layout, const tesela_target *target) {
  tesela_device_sizes sizes;
  tesela_error err = {.at = -1};
  char text[DEVICE_TEXT];
  int32_t n = 0;
  const tesela_target *given = target;
  target = device_target_of(&layout->host, given);
  if (tesela_device_sizes_of(layout, target, &sizes, &err) != TESELA_OK) return say_failure(cli, &err);
  device_headline(layout, text);
  cli_styled(&cli->out, "1", text);
  putchar('\n');
  put_sides(cli, layout, &sizes, given && target == given ? given->name : NULL);
  put_table(cli, layout);
  put_sizes(cli, layout, &sizes, target);
  int32_t worst = sizes.elements > 0 ? put_waste(cli, layout, &n) : TESELA_DIM_REPLICATED;
  put_verdict(cli, layout, &sizes, worst, n);
  put_notations(cli, layout);
  return CLI_YES;
}
