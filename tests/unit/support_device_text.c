/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_device_text.c - see support_device_text.h.
 */
#include "support_device_text.h"

bool is_device(const char *text, size_t length) {
  const tesela_notation *notation;
  return tesela_notation_find(text, length, &notation, NULL, NULL) == TESELA_OK &&
         strcmp(notation->name, "device") == 0;
}

tesela_device_layout device_text_read(const char *text, const tesela_device_text_options *options) {
  tesela_device_layout layout;
  tesela_error err = {.message = ""};
  if (tesela_device_parse(&layout, text, strlen(text), options, &err) != TESELA_OK)
    fail_msg("%s: %s", text, err.message);
  assert_true(is_device(text, strlen(text)));
  return layout;
}

tesela_status device_text_print(const tesela_device_layout *layout, tesela_device_notation notation,
                                char text[TEXT]) {
  tesela_buffer buffer = {text, TEXT, 0};
  tesela_writer to = tesela_buffer_writer(&buffer);
  tesela_status status = tesela_device_print(layout, notation, &to, NULL);
  assert_true(buffer.length < TEXT);
  return status;
}
