/* SPDX-License-Identifier: Apache-2.0 */
/* graph_padding_put.c - what padding lanes hold, which operators would read it, and fills that help, as members of an answer. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph_work.h"

const char *padding_text(const tesela_padding_state *state, char text[PADDING_TEXT]) {
  static const char *const words[] = {[TESELA_PADDING_NONE] = "-",
                                      [TESELA_PADDING_GARBAGE] = "garbage",
                                      [TESELA_PADDING_ELEMENTS] = "elements",
                                      [TESELA_PADDING_OUTSIDE] = "no places"};
  if (state->kind != TESELA_PADDING_VALUE)
    snprintf(text, PADDING_TEXT, "%s", words[state->kind]);
  else if (state->integer)
    snprintf(text, PADDING_TEXT, "%" PRId64, state->whole);
  else
    snprintf(text, PADDING_TEXT, "%.9g", state->value);
  return text;
}

const tesela_node *padding_row(const graph_work *work, int32_t k, int64_t *places) {
  const tesela_node *node = tesela_graph_node(work->placed, k);
  tesela_device_sizes sizes = {.padding = 0};
  if (!node->layout || tesela_device_sizes_of(node->layout, NULL, &sizes, NULL) != TESELA_OK) return NULL;
  *places = sizes.padding;
  return sizes.padding > 0 ? node : NULL;
}

const char *const padding_fills[] = {[TESELA_PAD_LEAVE] = "leave",
                                     [TESELA_PAD_ZERO] = "0",
                                     [TESELA_PAD_MINUS_INF] = "-inf",
                                     [TESELA_PAD_PLUS_INF] = "inf",
                                     [TESELA_PAD_VALUE] = "value"};

tesela_padding_fill *padding_suggested(const graph_work *work, const tesela_padding *padding, int32_t *fine,
                                       tesela_error *err) {
  int32_t n = tesela_graph_count(work->placed);
  tesela_padding_fill *fill = calloc((size_t)n + 1, sizeof *fill);
  if (!fill) {
    err->status = TESELA_E_MEMORY;
    snprintf(err->message, sizeof err->message, "no memory for the fills of %" PRId32 " buffers", n);
  }
  if (fill && tesela_padding_suggest(padding, fill, fine, err) == TESELA_OK) return fill;
  free(fill);
  return NULL;
}

static void padding_put_state(tesela_sink *j, const char *key, const tesela_padding_state *state) {
  char text[PADDING_TEXT];
  tesela_put_key(j, key);
  if (state->kind != TESELA_PADDING_VALUE || (!state->integer && !isfinite(state->value)))
    tesela_put_text(j, padding_text(state, text));
  else if (state->integer)
    tesela_put_int(j, state->whole);
  else
    tesela_put_real(j, state->value);
}

static void padding_put_reads(tesela_sink *j, const graph_work *work, const tesela_padding *padding) {
  static const char *const verdicts[] = {"fine", "fill", "mask"};
  const tesela_padding_read *read;
  tesela_put_key_list(j, "padding_reads");
  for (int32_t k = 0; (read = tesela_padding_read_at(padding, k)); k++) {
    const tesela_node *node = tesela_graph_node(work->placed, read->node);
    tesela_put_object(j);
    tesela_put_key_text(j, "at", node->name);
    tesela_put_key_int(j, "operand", read->operand);
    tesela_put_key_int(j, "dim", read->dim);
    tesela_put_key_ints(j, "reads", 2, (const int64_t[]){read->from, read->to});
    padding_put_state(j, "needs", &read->needed);
    padding_put_state(j, "finds", &read->found);
    tesela_put_key_text(j, "verdict", verdicts[read->verdict]);
    tesela_put_end(j);
  }
  tesela_put_end(j);
}

static void padding_put_fills(tesela_sink *j, const graph_work *work, const tesela_padding_fill *fill,
                              int32_t best) {
  int32_t input = 0;
  tesela_put_key_object(j, "fills");
  for (int32_t k = 0; k < tesela_graph_count(work->placed); k++) {
    const tesela_node *node = tesela_graph_node(work->placed, k);
    if (node->op == TESELA_OP_INPUT && fill[input++].pad != TESELA_PAD_LEAVE)
      tesela_put_key_text(j, node->name, padding_fills[fill[input - 1].pad]);
  }
  tesela_put_end(j);
  tesela_put_key_int(j, "fine_with_fills", best);
}

tesela_status graph_padding_put(tesela_sink *j, const graph_work *work, tesela_error *err) {
  tesela_padding *padding;
  int32_t best = 0;
  int64_t places;
  if (tesela_graph_padding(&padding, work->placed, NULL, err) != TESELA_OK) return err->status;
  tesela_padding_fill *fill = padding_suggested(work, padding, &best, err);
  if (fill) {
    tesela_put_key_list(j, "padding");
    for (int32_t k = 0; k < tesela_graph_count(work->placed); k++) {
      const tesela_node *node = padding_row(work, k, &places);
      if (!node) continue;
      tesela_padding_state state = tesela_padding_state_of(padding, k);
      tesela_put_object(j);
      tesela_put_key_text(j, "buffer", node->name);
      tesela_put_key_int(j, "places", places);
      padding_put_state(j, "holds", &state);
      tesela_put_end(j);
    }
    tesela_put_end(j);
    padding_put_reads(j, work, padding);
    padding_put_fills(j, work, fill, best);
  }
  tesela_padding_destroy(padding);
  bool ok = fill != NULL;
  free(fill);
  return ok ? TESELA_OK : err->status;
}
