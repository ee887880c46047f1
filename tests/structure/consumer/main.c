/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - a program that uses tesela as anyone would: one answer from the library, then its version. */
#include <stdio.h>

#include <tesela/tesela.h>

int main(void) {
  tesela_layout layout;
  tesela_error err;
  const int64_t shape[] = {3, 5}, strides[] = {8, 1}, index[] = {2, 3};
  int64_t place = 0;
  if (tesela_layout_strided(&layout, TESELA_F32, 32, 2, shape, strides, 2, &err) != TESELA_OK ||
      tesela_layout_place_of(&layout, index, &place, &err) != TESELA_OK) {
    fprintf(stderr, "%s\n", err.message);
    return 1;
  }
  if (place != 21) {
    fprintf(stderr, "element (2,3) is at %lld, not at 2 + 2*8 + 3*1 = 21\n", (long long)place);
    return 1;
  }
  printf("tesela %s\n", tesela_version());
  return 0;
}
