/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_where.c - the verb where: the place of an element.
 *
 * A line for each index. An element with several copies has its places on one line, with blanks between; the
 * layouts of this version have one axis, the memory, and one copy.
 */
#include <inttypes.h>
#include <string.h>

#include "input.h"
#include "json.h"
#include "place.h"
#include "say.h"

typedef struct where {
  const cli_context *cli;
  const tesela_xla_shape *shape;
  const tesela_layout *layout;
  bool words;
  json_writer json;
} where;

/* {"index":[2,3],"place":17,"byte":68,"bit":0} */
static void print_json(where *w, const int64_t *index, int64_t place) {
  int64_t byte;
  int bit;
  bool fits = place_to_byte(place, w->layout->bits, &byte, &bit);
  json_writer *j = &w->json;
  jw_object(j);
  jw_key(j, "index");
  jw_ints(j, w->layout->rank, index);
  jw_put_int(j, "place", place);
  jw_key(j, "byte");
  fits ? jw_int(j, byte) : jw_null(j);
  jw_key(j, "bit");
  fits ? jw_int(j, bit) : jw_null(j);
  jw_end(j);
  jw_line(j, stdout);
}

static void print_words(const where *w, int64_t place) {
  int64_t byte;
  int bit;
  fprintf(stderr, "place %" PRId64, place);
  if (place_to_byte(place, w->layout->bits, &byte, &bit)) {
    fprintf(stderr, ", byte %" PRId64, byte);
    if (w->layout->bits % 8) fprintf(stderr, ", bit %d", bit);
  }
  fprintf(stderr, " (of %" PRId64 " places)\n", w->layout->axis[0].extent);
  if (w->shape->layout.metadata_bytes > 0)
    fprintf(stderr, "bytes count from the data, behind %" PRId64 " bytes of metadata\n",
            w->shape->layout.metadata_bytes);
}

static int where_one(void *user, const char *text, size_t length) {
  where *w = user;
  tesela_error err = {.at = -1};
  int64_t index[TESELA_MAX_RANK], place[TESELA_MAX_AXES], copies = tesela_layout_copies(w->layout);
  if (input_index(text, length, w->layout, index, &err) != TESELA_OK)
    return say_failure_in(w->cli, text, length, &err);
  for (int64_t k = 0; k < copies; k++) {
    if (tesela_layout_copy_of(w->layout, index, k, place, &err) != TESELA_OK)
      return say_failure(w->cli, &err);
    if (w->cli->json)
      print_json(w, index, place[0]);
    else
      printf("%s%" PRId64, k ? " " : "", place[0]);
  }
  if (w->json.failed) return CLI_FAILED;
  if (!w->cli->json) putchar('\n');
  if (w->words) {
    cli_flush();
    print_words(w, place[0]);
  }
  return CLI_YES;
}

int cmd_where(const cli_context *cli) {
  tesela_xla_shape shape;
  tesela_layout layout;
  int status;
  if (!input_layout(cli, cli->arg[0], strlen(cli->arg[0]), &shape, &layout, &status)) return status;
  bool one = cli->n_args == 2 && strcmp(cli->arg[1], "-") != 0;
  where w = {cli, &shape, &layout, cli_has(cli, "words") || (one && cli->out.terminal && !cli->json), {0}};
  status = input_each(cli, 1, where_one, &w);
  jw_free(&w.json);
  return status;
}
