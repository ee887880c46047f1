/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_what.c - the verb what: the element at a place.
 *
 * A line for each place: an index, or the word padding. With --bytes a line has every element with a bit in
 * the byte. Places on several axes are written thread:local, in the order of the axes.
 */
#include <inttypes.h>
#include <string.h>

#include "main/input.h"
#include "main/json.h"
#include "place.h"
#include "main/say.h"

typedef struct what {
  const cli_context *cli;
  const tesela_any_layout *any;
  const tesela_layout *layout;
  int64_t bytes; /* of all places; 0: arguments are places, not bytes */
  bool words;
} what;

static void print_words(const what *w, int64_t place, bool padding) {
  cli_flush();
  fprintf(stderr, "%s at ", padding ? "padding" : "an element");
  input_say_place(w->any, w->layout, place);
}

/* Places first .. last, on one line. */
static int print_places(const what *w, int64_t first, int64_t last) {
  for (int64_t place = first; place <= last; place++) {
    tesela_error err = {.at = -1};
    int64_t index[TESELA_MAX_RANK];
    bool padding;
    if (tesela_layout_element_at(w->layout, &place, index, &padding, &err) != TESELA_OK)
      return say_failure(w->cli, &err);
    if (place > first) putchar(' ');
    if (padding)
      fputs("padding", stdout);
    else
      input_print_index(w->layout->rank, index);
    if (place == last) putchar('\n');
    if (w->words) print_words(w, place, padding);
  }
  return CLI_YES;
}

/* All elements in a byte. */
static int what_byte(const what *w, int64_t byte) {
  int64_t first, last, places = w->layout->axis[0].extent;
  places_in_byte(byte, w->layout->bits, &first, &last);
  if (last >= places) last = places - 1; /* the last byte may have unused bits */
  return print_places(w, first, last);
}

static int answer(const what *w, tesela_value where) {
  const tesela_value fields[] = {tesela_value_of_text("op", "what"),
                                 tesela_value_of_text("layout", w->cli->arg[0]), where};
  return json_answer(w->cli, sizeof fields / sizeof fields[0], fields);
}

/* A place on several axes: "5:3", thread 5 and local id 3. */
static int what_on_axes(const what *w, const char *text, size_t length) {
  const tesela_layout *layout = w->layout;
  tesela_error err = {.at = -1};
  const char *names[TESELA_MAX_AXES];
  int64_t counts[TESELA_MAX_AXES], place[TESELA_MAX_AXES], index[TESELA_MAX_RANK];
  bool padding;
  for (int32_t a = 0; a < layout->n_axes; a++) {
    names[a] = strcmp(layout->axis[a].name, "local") == 0 ? "local id" : layout->axis[a].name;
    counts[a] = layout->axis[a].extent;
  }
  if (tesela_numbers_parse(text, length, layout->n_axes, names, counts, ':', place, &err) != TESELA_OK)
    return say_failure_in(w->cli, text, length, &err);
  if (w->cli->json) {
    tesela_value numbers[TESELA_MAX_AXES];
    return answer(w, tesela_value_of_ints("place", (size_t)layout->n_axes, numbers, place));
  }
  if (tesela_layout_element_at(layout, place, index, &padding, &err) != TESELA_OK)
    return say_failure(w->cli, &err);
  if (padding)
    fputs("padding", stdout);
  else
    input_print_index(layout->rank, index);
  putchar('\n');
  if (w->words) {
    cli_flush();
    fprintf(stderr, "%s in ", padding ? "padding" : "an element");
    for (int32_t a = 0; a < layout->n_axes; a++)
      fprintf(stderr, "%s%s %" PRId64 " of %" PRId64, a ? ", " : "", layout->axis[a].name, place[a],
              counts[a]);
    fputc('\n', stderr);
  }
  return CLI_YES;
}

static int what_one(void *user, const char *text, size_t length) {
  const what *w = user;
  if (w->layout->n_axes > 1) return what_on_axes(w, text, length);
  tesela_error err = {.at = -1};
  const char *name = w->bytes ? "byte" : "place";
  int64_t number, count = w->bytes ? w->bytes : w->layout->axis[0].extent;
  if (tesela_numbers_parse(text, length, 1, &name, &count, '\0', &number, &err) != TESELA_OK)
    return say_failure_in(w->cli, text, length, &err);
  if (w->cli->json) return answer(w, tesela_value_of_int(w->bytes ? "byte" : "place", number));
  return w->bytes ? what_byte(w, number) : print_places(w, number, number);
}

int cmd_what(const cli_context *cli) {
  tesela_any_layout any;
  tesela_layout layout;
  tesela_sizes sizes;
  tesela_error err = {.at = -1};
  int status;
  if (!input_any(cli, cli->arg[0], strlen(cli->arg[0]), NULL, &any, &layout, &status)) return status;
  bool bytes = cli_has(cli, "bytes");
  if (bytes && (any.kind == TESELA_KIND_REGISTER || !any_has_bytes(&any)))
    return say_usage(cli, "--bytes needs elements of a known width; the elements of %s have none",
                     tesela_kind_words(any.kind));
  if (bytes && tesela_layout_sizes(&layout, &sizes, &err) != TESELA_OK) return say_failure(cli, &err);
  bool one = cli->n_args == 2 && strcmp(cli->arg[1], "-") != 0;
  what w = {cli, &any, &layout, 0, cli_has(cli, "words") || (one && cli->out.terminal && !cli->json)};
  if (bytes && sizes.bytes > 0) w.bytes = sizes.bytes;
  return input_each(cli, 1, what_one, &w);
}
