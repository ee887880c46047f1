/* SPDX-License-Identifier: Apache-2.0 */
/* ops.c - a program that asks an operation by name: its request is made of C's values, its answer comes as events. */
#include <stdio.h>
#include <string.h>

#include <tesela/tesela.h>

static int take(tesela_sink *sink, const tesela_event *event) {
  if (event->kind == TESELA_EVENT_INT) *(int64_t *)sink->user = event->integer;
  return 0;
}

int main(void) {
  const int64_t index[] = {2, 3};
  int64_t place = -1;
  tesela_value numbers[2], list = tesela_value_of_ints(NULL, 2, numbers, index);
  tesela_value fields[] = {tesela_value_of_text("op", "where"),
                           tesela_value_of_text("layout", "f32[3,5]{1,0:T(2,2)}"),
                           tesela_value_of_list("indices", 1, &list)};
  tesela_value request = tesela_value_of_object(NULL, 3, fields);
  tesela_sink sink = {take, &place, false};
  tesela_error err;
  tesela_request r = {.value = &request, .out = &sink, .err = &err};
  tesela_put_object(&sink);
  if (tesela_request_answer(&r) != TESELA_OK) {
    fprintf(stderr, "%s\n", err.message);
    return 1;
  }
  tesela_put_end(&sink);
  tesela_request_free(&r);
  if (place != 17) { /* tiles of 2x2, three in a row: (2,3) is in tile 1,1, its element 0,1: 4*4 + 1 */
    fprintf(stderr, "element (2,3) is at %lld, not at 17\n", (long long)place);
    return 1;
  }
  printf("tesela %s\n", tesela_version());
  return 0;
}
