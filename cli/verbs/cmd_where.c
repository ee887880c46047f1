/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_where.c - the verb where: the place of an element.
 *
 * A line for each index. An element with several copies has its places on one line, separated by blanks; those of a register
 * layout are written thread: local; those on other axes with their names: lane 5 warp 0 register 3.
 */
#include <inttypes.h>
#include <string.h>

#include "expression.h"
#include "main/input.h"
#include "place.h"
#include "main/say.h"
#include "main/json.h"
#include "main/tile_input.h"

typedef struct where {
  const cli_context *cli;
  const tesela_any_layout *any;
  const tesela_layout *layout;
  bool words;
  int64_t warp; /* threads per warp */
} where;

/* ---- places in memory ------------------------------------------------------------------------------------- */

static void print_words(const where *w, int64_t place) {
  input_say_place(w->any, w->layout, place);
  if (w->any->kind == TESELA_KIND_XLA && w->any->shape.layout.metadata_bytes > 0)
    fprintf(stderr, "bytes count from the start of the data, after %" PRId64 " bytes of metadata\n",
            w->any->shape.layout.metadata_bytes);
}

static int where_in_memory(const where *w, const int64_t *index) {
  tesela_error err = {.at = -1};
  int64_t place[TESELA_MAX_AXES], copies = tesela_layout_copies(w->layout);
  for (int64_t k = 0; k < copies; k++) {
    if (tesela_layout_copy_of(w->layout, index, k, place, &err) != TESELA_OK)
      return say_failure(w->cli, &err);
    if (k) fputs(w->layout->n_axes == 1 ? " " : "  ", stdout);
    input_print_place(w->layout, place);
  }
  putchar('\n');
  if (w->words && w->layout->n_axes == 1) {
    cli_flush();
    print_words(w, place[0]);
  }
  return CLI_YES;
}

/* ---- threads and registers -------------------------------------------------------------------------------- */

static int where_in_registers(const where *w, const int64_t *index) {
  const tesela_register *layout = &w->any->registers;
  tesela_error err = {.at = -1};
  int64_t thread = 0, local, copies = tesela_register_copies(layout);
  if (expression_check_copies(layout, &err) != TESELA_OK ||
      tesela_register_get_local(layout, index, &local, &err) != TESELA_OK)
    return say_failure(w->cli, &err);
  for (int64_t k = 0; k < copies && !ferror(stdout); k++) {
    if (tesela_register_get_spatial(layout, index, k, &thread, &err) != TESELA_OK)
      return say_failure(w->cli, &err);
    printf("%s%" PRId64 ": %" PRId64, k > 0 ? "  " : "", thread, local);
  }
  putchar('\n');
  if (!w->words) return CLI_YES;
  cli_flush();
  fprintf(stderr, "register %" PRId64 " of %" PRId64, local, layout->local_size);
  if (copies == 1)
    fprintf(stderr, " in thread %" PRId64, thread);
  else
    fprintf(stderr, " in %" PRId64 " threads", copies);
  fprintf(stderr, " of %" PRId64, layout->spatial_size);
  if (copies == 1)
    fprintf(stderr, ": warp %" PRId64 ", lane %" PRId64 " of %" PRId64, thread / w->warp, thread % w->warp,
            w->warp);
  fprintf(stderr, "\n");
  return CLI_YES;
}

/* ---- the verb --------------------------------------------------------------------------------------------- */

static int answer(const where *w, const int64_t *index) {
  tesela_value numbers[TESELA_MAX_RANK];
  const tesela_value fields[] = {
      tesela_value_of_text("op", "where"),
      tesela_value_of_text("layout", w->cli->arg[0]),
      tesela_value_of_ints("index", (size_t)w->layout->rank, numbers, index),
  };
  return json_answer(w->cli, sizeof fields / sizeof fields[0], fields);
}

static int where_one(void *user, const char *text, size_t length) {
  const where *w = user;
  tesela_error err = {.at = -1};
  int64_t index[TESELA_MAX_RANK];
  if (tesela_index_parse(text, length, w->layout->rank, w->layout->shape, index, &err) != TESELA_OK)
    return say_failure_in(w->cli, text, length, &err);
  if (w->cli->json) return answer(w, index);
  return w->any->kind == TESELA_KIND_REGISTER ? where_in_registers(w, index) : where_in_memory(w, index);
}

int cmd_where(const cli_context *cli) {
  tesela_any_layout any;
  tesela_layout layout;
  int status;
  if (!input_any(cli, cli->arg[0], strlen(cli->arg[0]), NULL, &any, &layout, &status)) return status;
  int64_t warp;
  if (!expression_warp(cli, cli->arg[0], strlen(cli->arg[0]), &warp)) return CLI_BAD;
  if (cli_has(cli, "warp") && any.kind != TESELA_KIND_REGISTER)
    return say_usage(cli, "--warp applies to register layouts only");
  bool one = cli->n_args == 2 && strcmp(cli->arg[1], "-") != 0;
  where w = {cli, &any, &layout, cli_has(cli, "words") || (one && cli->out.terminal && !cli->json), warp};
  return input_each(cli, 1, where_one, &w);
}
