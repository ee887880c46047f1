/* SPDX-License-Identifier: Apache-2.0 */
/*
 * propagate_explain_words.c - the words for sticks and types in both explanations.
 */
#include "graph/propagate/propagate.h"

void tesela__explain_stick(tesela__sink *sink, int32_t stick) {
  if (stick == TESELA_STICK_SPARSE)
    tesela__puts(sink, "one element per stick");
  else if (stick < 0)
    tesela__puts(sink, "several stick dims");
  else
    tesela__putf(sink, "stick %" PRId32, stick);
}

size_t tesela__explain_type(const tesela_node *node, char text[160]) {
  char shape[TESELA__SHAPE_TEXT];
  tesela_buffer buffer = {text, 160, 0};
  tesela_writer writer = tesela_buffer_writer(&buffer);
  tesela__sink sink;
  tesela__sink_init(&sink, &writer);
  if (node->dtype != TESELA_DTYPE_NONE)
    tesela__puts(&sink, tesela_dtype_name(node->dtype));
  else
    tesela__putf(&sink, "%" PRId32 "bit", node->bits);
  tesela__puts(&sink, tesela__shape_text(shape, node->rank, node->shape));
  tesela__sink_finish(&sink, NULL);
  return buffer.length;
}

void tesela__explain_padded(tesela__sink *sink, const char *text, size_t length, size_t width) {
  tesela__put(sink, text, length);
  for (; length < width; length++) tesela__putc(sink, ' ');
}
