/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_graph_hlo.c - any bytes as HLO text.
 *
 * Reading never crashes and never takes more than a limit of memory in vain; an error names a byte of the text and is one line;
 * views stay inside their buffers; what is read prints, and the print reads back to as many nodes of the same kind and shape.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tesela/tesela.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 256 << 20, LONGEST = 1 << 20 };

static void require(bool condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz_graph_hlo: %s\n", what);
  abort();
}

static void *limited_alloc(void *user, size_t size, size_t align) {
  size_t *used = user;
  if (size > MOST_BYTES || *used + size > MOST_BYTES || align > 16) return NULL;
  *used += size;
  return malloc(size);
}

static void limited_release(void *user, void *memory) {
  (void)user;
  free(memory);
}

/* Every element of a node is an element of its buffer. */
static void check_node(const tesela_graph *graph, int32_t k) {
  const tesela_node *node = tesela_graph_node(graph, k), *buffer = tesela_graph_node(graph, node->buffer);
  require(buffer && node->buffer <= k && buffer->buffer == node->buffer, "a buffer that is none");
  require(tesela_graph_find(graph, node->name) == k, "a name that is not found");
  int64_t elements = 1, low = node->offset, high = node->offset;
  for (int32_t d = 0; d < buffer->rank; d++) elements *= buffer->shape[d];
  for (int32_t d = 0; d < node->rank; d++) {
    if (node->shape[d] == 0) return;
    int64_t reach = (node->shape[d] - 1) * node->stride[d];
    if (node->shape[d] == 1) continue;
    *(reach < 0 ? &low : &high) += reach;
  }
  require(low >= 0 && high < elements, "a view outside its buffer");
  for (int32_t i = 0; i < node->n_operands; i++) {
    tesela_index index[TESELA_GRAPH_RANK];
    tesela_iteration iteration;
    require(node->operand[i] >= 0 && node->operand[i] < k, "an operand that comes later");
    require(tesela_graph_iteration(graph, k, &iteration, NULL) == TESELA_OK, "no iteration space");
    if (tesela_graph_operand_index(graph, k, i, index, NULL) != TESELA_OK) continue;
    for (int32_t d = 0; d < tesela_graph_node(graph, node->operand[i])->rank; d++)
      require(index[d].dim[0] < iteration.n && index[d].dim[1] < iteration.n,
              "an index by a dim that is none");
  }
}

static void check_print(const tesela_graph *graph) {
  static char text[LONGEST];
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_graph *back = NULL;
  tesela_error err;
  require(tesela_graph_print_hlo(graph, "fuzz", &to, &err) == TESELA_OK, "what was read does not print");
  if (buffer.length >= sizeof text) return;
  if (tesela_graph_read_hlo(&back, text, buffer.length, NULL, NULL, NULL, &err) != TESELA_OK) {
    fprintf(stderr, "%s\n%s\n", err.message, text);
    require(false, "a print is refused");
  }
  require(tesela_graph_count(back) == tesela_graph_count(graph), "a print has another number of nodes");
  for (int32_t k = 0; k < tesela_graph_count(graph); k++) {
    const tesela_node *a = tesela_graph_node(graph, k), *b = tesela_graph_node(back, k);
    require(a->op == b->op && a->fn == b->fn && a->dtype == b->dtype && a->rank == b->rank &&
                a->output == b->output && memcmp(a->shape, b->shape, sizeof a->shape) == 0 &&
                memcmp(a->stride, b->stride, sizeof a->stride) == 0 && a->offset == b->offset &&
                strcmp(a->name, b->name) == 0,
            "a print reads as another program");
  }
  tesela_graph_destroy(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size ? size : 1); /* of just its size: ASan sees a read past the end */
  if (!text) return 0;
  if (size) memcpy(text, data, size);
  size_t used = 0;
  tesela_allocator allocator = {&used, limited_alloc, limited_release};
  tesela_graph *graph = NULL;
  tesela_error err = {.message = ""};
  tesela_status status =
      tesela_graph_read_hlo(&graph, text, size, tesela_target_find("spyre"), &allocator, NULL, &err);
  if (status == TESELA_OK) {
    for (int32_t k = 0; k < tesela_graph_count(graph); k++) check_node(graph, k);
    check_print(graph);
    tesela_graph_destroy(graph);
  } else {
    require(graph == NULL, "a refused text made a graph");
    require(err.status == status, "the error has another status than the call");
    require(err.message[0] != '\0' && !strchr(err.message, '\n'), "the message is not one line");
    require(status == TESELA_E_MEMORY || (err.at >= 0 && err.at <= (int64_t)size),
            "the error is outside the text");
  }
  free(text);
  return 0;
}
