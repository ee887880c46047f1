/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_relation.c - a layout of which only the places are known: CuTe, Triton, oneDNN, ... in words and as a picture.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "also.h"
#include "made_of.h"
#include "main/input.h"
#include "main/say.h"
#include "show/show.h"

int show_also(const cli_context *cli, const tesela_any_layout *any) {
  show_text text = {.length = 0};
  tesela_error err = {.at = -1};
  int in = 0;
  for (int32_t i = 0; in >= 0; i++) {
    if (also_in(any, i, &in, &err) != TESELA_OK) return say_failure(cli, &err);
    if (in > 0) show_add(&text, "%s%s", text.length ? ", " : "", tesela_notation_at(i)->name);
  }
  if (text.length) show_wrapped(cli, "also in", text.text);
  return CLI_YES;
}

/* "3 x 5 of f32: 15 elements of 4 bytes" */
static void say_array(const cli_context *cli, const tesela_layout *layout, const tesela_sizes *sizes) {
  show_text text = {.length = 0};
  for (int32_t d = 0; d < layout->rank; d++) show_add(&text, "%s%" PRId64, d ? " x " : "", layout->shape[d]);
  if (layout->rank == 0) show_add(&text, "one element");
  if (layout->dtype != TESELA_DTYPE_NONE) show_add(&text, " of %s", tesela_dtype_name(layout->dtype));
  if (layout->rank > 0)
    show_add(&text, ": %" PRId64 " element%s", sizes->logical_elements,
             sizes->logical_elements == 1 ? "" : "s");
  if (layout->dtype != TESELA_DTYPE_NONE || layout->bits != 8) {
    show_add(&text, " of ");
    show_add_width(&text, layout->bits);
  }
  show_wrapped(cli, "array", text.text);
}

/* "60 B of data take 96 B: 1.60 times", of elements with a type in memory. */
static void say_size(const cli_context *cli, const tesela_layout *layout, const tesela_sizes *sizes) {
  show_text text = {.length = 0};
  if (layout->dtype == TESELA_DTYPE_NONE || layout->n_axes != 1 ||
      strcmp(layout->axis[0].name, "memory") != 0)
    return;
  show_add_size(&text, sizes->logical_bytes, sizes->bytes);
  show_wrapped(cli, "size", text.text);
}

/* "memory 24"; "register 4, lane 32, warp 2; every element in 2 of them" */
static void say_places(const cli_context *cli, const tesela_layout *layout, const tesela_sizes *sizes) {
  show_text text = {.length = 0};
  const int64_t copies = tesela_layout_copies(layout);
  for (int32_t a = 0; a < layout->n_axes; a++)
    show_add(&text, "%s%s %" PRId64, a ? ", " : "", layout->axis[a].name, layout->axis[a].extent);
  if (copies > 1) show_add(&text, "; every element at %" PRId64 " places", copies);
  show_wrapped(cli, "places", text.text);
  const int64_t used = sizes->logical_elements * copies, all = sizes->elements;
  bool overlap = false;
  for (int32_t a = 0; a < layout->n_axes; a++) overlap = overlap || layout->axis[a].overlap;
  text.length = 0;
  if (overlap)
    show_add(&text, "several elements at one place");
  else if (used < all)
    show_add(&text, "%" PRId64 " of %" PRId64 " used (%.0f%% padding)", used, all,
             100.0 * (double)(all - used) / (double)all);
  if (text.length) show_wrapped(cli, overlap ? "overlap" : "padding", text.text);
}

int show_relation(const cli_context *cli, const tesela_any_layout *any) {
  const tesela_layout *layout = &any->relation;
  tesela_error err = {.at = -1};
  tesela_sizes sizes;
  tesela_draw_options options;
  tesela_register registers;
  if (!show_no_table_options(cli) || !show_picture_options(cli, &options)) return CLI_BAD;
  if (tesela_layout_sizes(layout, &sizes, &err) != TESELA_OK) return say_failure(cli, &err);
  bool words = show_wants(cli, "words"), picture = show_wants(cli, "picture") && sizes.logical_elements > 0;
  if (picture && !show_picture_check_layout(cli, layout, &options)) return CLI_BAD;
  if (words) {
    cli_styled_begin(&cli->out, "1");
    if (tesela_any_print(any, &cli_stdout, &err) != TESELA_OK) return say_failure(cli, &err);
    cli_styled_end(&cli->out);
    putchar('\n');
    say_array(cli, layout, &sizes);
    say_places(cli, layout, &sizes);
    say_size(cli, layout, &sizes);
    if (made_of_registers(any, &registers) && !made_of_print(&registers, "", 0, &cli_stdout))
      return CLI_FAILED;
    const int status = show_also(cli, any);
    if (status != CLI_YES) return status;
  }
  if (picture && words) putchar('\n');
  return picture ? show_picture_layout(cli, layout, &options) : CLI_YES;
}
