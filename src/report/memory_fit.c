/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_fit.c - which of the shapes that an entry of a memory report lists can have the size that it prints.
 *
 *   16.00GiB   bf16[3,32,4096,8,64], 2×f32[32,8,4096,4096]
 *      f32[32,8,4096,4096]                                   without padding
 *      bf16[3,32,4096,8,64]{0,4,3,2,1:T(8,128)(2,1)}         384 MiB of data in 128 lanes of which 3 are filled
 *
 * A shape fits if its bytes, rounded as the compiler rounds, are those that were printed: as it stands, or, where the
 * text has no tiles, with the tiles that TPU compilers use in some order of the dims. Tiles pad the two most minor dims,
 * so an order is a choice of these two. A scalar and the table of a tuple also fit the least pieces of allocators.
 *
 * Everything that fits is kept, most likely first: the default order before others, then the least padding, then the
 * usual tiles. Work: at most MOST_SHAPES shapes, for each rank^2 orders times N_CHOICES tiles.
 */
#include <stdlib.h>

#include "report/report_state.h"

enum { MOST_SHAPES = 4096 };

/* How TPU compilers choose tiles, the usual way first. */
static const uint32_t choices[] = {0, TESELA_XLA_CHOOSE_ARGUMENT, TESELA_XLA_CHOOSE_LARGE_TILE,
                                   TESELA_XLA_CHOOSE_ALTERNATIVE_16BIT, TESELA_XLA_CHOOSE_EARLY_TPU};
enum { N_CHOICES = sizeof choices / sizeof choices[0] };

bool tesela__prints_as(int64_t bytes, const tesela_report_printed *printed) {
  char ours[TESELA_UNITS_TEXT];
  tesela_units_print(bytes, TESELA_UNITS_XLA, ours);
  size_t n = strlen(ours);
  if (strncmp(ours, printed->text, n - 1) != 0) return false;
  const char *unit = printed->text + n - 1;
  return *unit == ours[n - 1] || (*unit == ' ' && unit[1] == ours[n - 1]);
}

/* ---- the shapes of a list ------------------------------------------------------------------------------ */

/* A multiplication sign as logs write it, and its length; 0 if none starts here. */
static size_t times_sign(const char *p, const char *end) {
  static const char *const signs[] = {"\xc3\x97", "\\xc3\\x97", "\\xd7", "\\u00d7"};
  for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
    if (tesela__looking_at(p, end, signs[i])) return strlen(signs[i]);
  return 0;
}

tesela__span tesela__next_listed(tesela__span *list, int64_t *count) {
  const char *p = list->text, *end = p + list->n;
  while (p < end && (*p == ',' || tesela__is_blank(*p))) p++;
  const char *digits = p;
  int64_t times = 0;
  for (; p < end && tesela__is_digit(*p) && p - digits < 9; p++) times = times * 10 + (*p - '0');
  size_t sign = p > digits ? times_sign(p, end) : 0;
  p = sign > 0 ? p + sign : digits;
  *count = sign > 0 ? times : 1;
  const char *close = tesela__skip_shape(p, end);
  if (!close) close = p;
  *list = tesela__between(close, end);
  return tesela__between(p, close);
}

/* ---- one shape ----------------------------------------------------------------------------------------- */

typedef struct fit_search {
  const tesela_report_printed *size;
  tesela__fit *fit;
  uint64_t reasons; /* hash of those of the first layout that fits */
} fit_search;

static int hash_reason(void *user, const char *text, size_t length) {
  uint64_t *hash = user;
  *hash = (*hash ^ tesela__text_hash(text, length)) * UINT64_C(0x9e3779b97f4a7c15) + 1;
  return 0;
}

/* Less than 0 if a is more likely than b, 0 if neither is. */
static int compare_likelihood(const tesela__fit *a, const tesela__fit *b) {
  int64_t a_padding = a->stored - a->data, b_padding = b->stored - b->data;
  if (a->by_default != b->by_default) return a->by_default ? -1 : 1;
  if (a_padding != b_padding) return a_padding < b_padding ? -1 : 1;
  return (a->choice.tiles > b->choice.tiles) - (a->choice.tiles < b->choice.tiles);
}

/* Take a layout if its bytes are those that were printed. */
static bool try_layout(fit_search *search, const tesela_xla_shape *shape, const tesela__layout_choice *choice,
                       bool by_default) {
  tesela_xla_sizes sizes;
  tesela__fit *fit = search->fit;
  uint64_t reasons = 0;
  if (tesela_xla_size(shape, &sizes, NULL) != TESELA_OK) return false;
  int64_t stored = sizes.allocated_bytes, data = tesela__min(sizes.logical_bytes, stored),
          padding = stored - data;
  if (!tesela__prints_as(stored, search->size)) return false;
  tesela_report_reasons(shape, &(tesela_writer){hash_reason, &reasons}, NULL);
  bool first = fit->layouts++ == 0;
  if (first) {
    search->reasons = reasons;
    fit->explained = true;
    fit->least_padding = fit->most_padding = padding;
    fit->least_data = fit->most_data = data;
    fit->one_size = true;
  }
  fit->explained = fit->explained && reasons == search->reasons;
  fit->least_padding = tesela__min(fit->least_padding, padding);
  fit->most_padding = tesela__max(fit->most_padding, padding);
  fit->least_data = tesela__min(fit->least_data, data);
  fit->most_data = tesela__max(fit->most_data, data);
  fit->one_size = fit->one_size && (first || stored == fit->stored);
  tesela__fit tried = {.stored = stored, .data = data, .by_default = by_default, .choice = *choice};
  if (!first && compare_likelihood(&tried, fit) >= 0) return true;
  fit->choice = *choice;
  fit->stored = stored;
  fit->data = data;
  fit->by_default = by_default;
  return true;
}

/* Do two layouts of one order round up to the same first tile, with elements of the same bits? Later tiles take no
 * room. */
static bool same_room(const tesela_xla_layout *a, const tesela_xla_layout *b) {
  return a->element_bits == b->element_bits && a->tile_rank[0] == b->tile_rank[0] &&
         memcmp(a->tile, b->tile, (size_t)a->tile_rank[0] * sizeof a->tile[0]) == 0;
}

/* The tiles that compilers choose in one order; those that take the same room count once. */
static void try_tiles(fit_search *search, const tesela_xla_shape *ordered, int32_t minor, int32_t second,
                      bool by_default) {
  tesela_xla_layout fitting[N_CHOICES];
  int n = 0;
  for (int32_t c = 0; c < N_CHOICES; c++) {
    tesela_xla_shape tried = *ordered;
    tesela__layout_choice choice = {.tiles = c, .minor = minor, .second = second};
    if (tesela_xla_choose(&tried, choices[c], NULL) != TESELA_OK || tried.layout.n_tiles == 0) continue;
    bool seen = false;
    for (int i = 0; i < n && !seen; i++) seen = same_room(&fitting[i], &tried.layout);
    if (!seen && try_layout(search, &tried, &choice, by_default)) fitting[n++] = tried.layout;
  }
}

static bool is_default_order(const tesela_xla_shape *shape) {
  for (int32_t i = 0; i < shape->rank; i++)
    if (shape->layout.minor_to_major[i] != shape->rank - 1 - i) return false;
  return true;
}

/* The tiles of each order; an order given in the text is kept. */
static void try_orders_and_tiles(fit_search *search, const tesela_xla_shape *shape, bool ordered) {
  int32_t last = shape->rank - 1;
  try_tiles(search, shape, -1, -1, is_default_order(shape));
  for (int32_t minor = last; minor >= 0 && !ordered; minor--)
    for (int32_t second = last; second >= 0; second--) {
      tesela_xla_shape tried = *shape;
      if (minor == second || (minor == last && second == last - 1)) continue;
      tried.has_layout = true;
      tesela__report_set_order(&tried.layout, minor, second);
      try_tiles(search, &tried, minor, second, false);
    }
}

/* An array of a TPU that has no tiles in the text has tiles all the same, where some fit; elsewhere only where none
 * are needed. */
static void try_layouts(fit_search *search, const tesela_xla_shape *shape, const tesela__shape *measured,
                        bool tpu) {
  static const tesela__layout_choice as_it_stands = {.tiles = -1, .minor = -1, .second = -1};
  bool by_default = is_default_order(shape);
  if (measured->tiled || !tpu) try_layout(search, shape, &as_it_stands, by_default);
  if (measured->tiled || search->fit->layouts > 0) return;
  try_orders_and_tiles(search, shape, measured->ordered);
  if (tpu && search->fit->layouts == 0) try_layout(search, shape, &as_it_stands, by_default);
}

/* A scalar takes a whole piece of the allocator, its smallest one. */
static bool fits_granule(const tesela__shape *measured, const tesela_xla_shape *shape,
                         const tesela_report_printed *size, tesela__fit *fit) {
  if (shape->rank != 0 || (size->bytes != 1024 && size->bytes != 4096)) return false;
  fit->granule = fit->one_size = true;
  fit->layouts = 1;
  fit->stored = size->bytes;
  fit->data = fit->least_data = fit->most_data = tesela__min(measured->data, size->bytes);
  fit->least_padding = fit->most_padding = fit->stored - fit->data;
  return true;
}

static bool fits_array(tesela__span text, const tesela__shape *measured, bool tpu,
                       const tesela_report_printed *size, tesela__fit *fit) {
  tesela_xla_shape shape;
  fit_search search = {.size = size, .fit = fit};
  *fit = (tesela__fit){.shape = text, .space = measured->space, .unpadded = measured->unpadded};
  if (tesela_xla_parse(text.text, text.n, TESELA_XLA_KEEP_BARE, &shape, NULL, NULL) != TESELA_OK)
    return false;
  try_layouts(&search, &shape, measured, tpu);
  return fit->layouts > 0 || fits_granule(measured, &shape, size, fit);
}

/* A tuple is a table of pointers, of 4 or 8 bytes for each member or leaf, rounded up to a piece of the allocator. */
static bool fits_tuple(tesela__span text, const tesela_report_printed *size, tesela__fit *fit) {
  static const int64_t pieces[] = {1, 32, 512, 1024, 4096};
  int64_t members = 1, leaves = 1, depth = 0;
  for (size_t i = 0; i < text.n; i++) {
    char c = text.text[i];
    depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    members += c == ',' && depth == 1;
    leaves += c == '[';
  }
  const int64_t tables[] = {4 * members, 8 * members, 4 * (leaves - 1), 8 * (leaves - 1)};
  for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
    for (size_t p = 0; p < sizeof pieces / sizeof pieces[0]; p++) {
      int64_t bytes = (tables[t] + pieces[p] - 1) / pieces[p] * pieces[p];
      if (bytes != size->bytes) continue;
      *fit = (tesela__fit){.shape = text,
                           .stored = bytes,
                           .data = bytes,
                           .least_data = bytes,
                           .most_data = bytes,
                           .layouts = 1,
                           .one_size = true,
                           .granule = true};
      return true;
    }
  return false;
}

/* ---- the list ------------------------------------------------------------------------------------------ */

static int compare_fits(const void *a_fit, const void *b_fit) {
  const tesela__fit *a = a_fit, *b = b_fit;
  int likelihood = compare_likelihood(a, b);
  if (likelihood != 0) return likelihood;
  int order = memcmp(a->shape.text, b->shape.text, a->shape.n < b->shape.n ? a->shape.n : b->shape.n);
  if (order != 0) return order;
  return a->shape.n < b->shape.n ? -1 : a->shape.n > b->shape.n;
}

static bool add_fit(tesela_report *report, tesela__fits *fits, const tesela__fit *fit) {
  void *grown = report->fit;
  if (!tesela__grow(&report->allocator, &grown, sizeof *report->fit, &report->cap_fits, fits->n + 1))
    return tesela__report_no_memory(report);
  report->fit = grown;
  report->fit[fits->n++] = *fit;
  return true;
}

/* Best first, and a shape that the list has twice once. */
static void sort_fits(tesela_report *report, tesela__fits *fits) {
  size_t kept = 0;
  if (fits->n == 0) return;
  qsort(report->fit, fits->n, sizeof *report->fit, compare_fits);
  for (size_t i = 0; i < fits->n; i++)
    if (kept == 0 || compare_fits(&report->fit[kept - 1], &report->fit[i]) != 0)
      report->fit[kept++] = report->fit[i];
  fits->n = kept;
}

bool tesela__fit_list(tesela_report *report, tesela__span list, tesela__fit_kind kind,
                      const tesela_report_printed *size, tesela__fits *fits) {
  tesela__shape shape;
  tesela__fit fit;
  *fits = (tesela__fits){.first = {.state = TESELA__SHAPE_FOREIGN}};
  for (int64_t i = 0; (list = tesela__trim(list)).n > 0; i++) {
    int64_t count;
    tesela__span one = tesela__next_listed(&list, &count);
    bool ends = list.n == 0 || *list.text == ',', last = one.n == 0 || i >= MOST_SHAPES;
    fits->unread = fits->unread || last || !ends;
    if (last) break;
    if (!ends) list.n = 0;
    fits->values += count;
    bool fitting;
    if (*one.text == '(') {
      fitting = kind == TESELA__FIT_ROW && fits_tuple(one, size, &fit);
    } else {
      tesela__report_measure(one, &shape);
      if (shape.state == TESELA__SHAPE_NO_ARRAY) continue;
      fits->unread = fits->unread || shape.state != TESELA__SHAPE_SIZED;
      if (shape.state != TESELA__SHAPE_SIZED) continue;
      if (fits->n_arrays++ == 0) fits->first = shape;
      fits->least_data = fits->n_arrays == 1 ? shape.data : tesela__min(fits->least_data, shape.data);
      fits->most_data = tesela__max(fits->most_data, shape.data);
      fitting = size->text[0] && fits_array(one, &shape, kind != TESELA__FIT_ANY_DEVICE, size, &fit);
    }
    if (fitting && !add_fit(report, fits, &fit)) return false;
  }
  sort_fits(report, fits);
  return true;
}

/* ---- as text ------------------------------------------------------------------------------------------- */

tesela__span tesela__fit_text(const tesela__fit *fit, char *room, size_t size) {
  tesela_xla_shape shape;
  tesela_buffer buffer = {room, size, 0};
  tesela_writer writer = tesela_buffer_writer(&buffer);
  if (fit->choice.tiles < 0 || fit->granule) return (tesela__span){"", 0};
  if (tesela_xla_parse(fit->shape.text, fit->shape.n, TESELA_XLA_STRICT, &shape, NULL, NULL) != TESELA_OK)
    return (tesela__span){"", 0};
  if (fit->choice.minor >= 0) tesela__report_set_order(&shape.layout, fit->choice.minor, fit->choice.second);
  if (tesela_xla_choose(&shape, choices[fit->choice.tiles], NULL) != TESELA_OK ||
      tesela_xla_print(&shape, true, &writer, NULL) != TESELA_OK || buffer.length >= buffer.capacity)
    return (tesela__span){"", 0};
  return (tesela__span){buffer.text, buffer.length};
}
