/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_draw.c - see support_draw.h.
 */
#include "support_draw.h"

tesela_layout draw_layout(const char *text) {
  tesela_xla_shape shape = shape_of(text);
  tesela_layout layout;
  OK(tesela_xla_to_layout(&shape, &layout, &e_));
  return layout;
}

const char *draw_text(draw_function function, const tesela_layout *layout,
                      const tesela_draw_options *options) {
  static char text[PICTURE];
  tesela_buffer buffer = {text, sizeof text, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  OK(function(layout, options, &to, &e_));
  assert_true(buffer.length < sizeof text);
  return text;
}
