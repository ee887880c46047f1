/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_device.c - device layouts in the verb show: words, picture, JSON.
 */
#include <string.h>

#include "device.h"
#include "main/input.h"
#include "main/say.h"

static bool wants(const cli_context *cli, const char *part) {
  const char *only = cli_value(cli, "only");
  return !only || strcmp(only, part) == 0;
}

/* ---- the picture ------------------------------------------------------------------------------------------ */

/* Room for more elements of a dim in its device dims: what its largest step counts. */
static int64_t whole_extent(const tesela_device_layout *layout, int32_t d, int64_t *step) {
  int64_t whole = layout->host.shape[d];
  *step = 1;
  for (int32_t j = 0; j < layout->n_dims; j++) {
    const tesela_device_dim *dim = &layout->dim[j];
    int64_t extent;
    if (dim->dim != d || __builtin_mul_overflow(dim->step, dim->extent, &extent)) continue;
    if (extent > whole) whole = extent;
    if (dim->extent > 1 && dim->step > *step) *step = dim->step;
  }
  return whole;
}

tesela_status device_picture_of(const tesela_device_layout *layout, tesela_layout *drawn, int64_t *tile,
                                tesela_error *err) {
  tesela_device_layout whole = *layout;
  for (int32_t d = 0; d < layout->host.rank; d++) {
    int64_t step;
    whole.host.shape[d] = whole_extent(layout, d, &step);
    tile[d] = step > 1 ? step : 0;
  }
  /* A larger tensor may have elements without a place, where the steps do not divide each other: then the padding that no
     digit reaches is not drawn. */
  if (tesela_device_from_dims(&whole, &whole.host, layout->n_dims, layout->dim, true, layout->stick_dims,
                              NULL) != TESELA_OK ||
      whole.places != layout->places)
    return tesela_device_to_layout(layout, drawn, err);
  return tesela_device_to_layout(&whole, drawn, err);
}

/* ---- the verb --------------------------------------------------------------------------------------------- */

static int print_json(const cli_context *cli, const tesela_device_layout *layout,
                      const tesela_target *target) {
  json_writer j = {0};
  tesela_error err = {.at = -1};
  jw_object(&j);
  jw_put_str(&j, "kind", "device");
  tesela_status status = device_put(&j, layout, target, &err);
  jw_end(&j);
  bool done = status == TESELA_OK && jw_line(&j, stdout);
  jw_free(&j);
  if (status != TESELA_OK) return say_failure(cli, &err);
  return done ? CLI_YES : CLI_FAILED;
}

static int draw(const cli_context *cli, const tesela_device_layout *layout, tesela_draw_options *options,
                bool check) {
  int64_t tile[TESELA_MAX_RANK];
  tesela_layout drawn;
  tesela_error err = {.at = -1};
  if (device_picture_of(layout, &drawn, tile, &err) != TESELA_OK) return say_failure(cli, &err);
  options->shape = layout->host.shape;
  options->tile = tile;
  if (check) return show_picture_check_layout(cli, &drawn, options) ? CLI_YES : CLI_BAD;
  return show_picture_layout(cli, &drawn, options);
}

int show_device(const cli_context *cli, const tesela_device_layout *layout) {
  tesela_target own;
  const tesela_target *target;
  tesela_draw_options options;
  int status;
  if (!show_no_table_options(cli) || !show_picture_options(cli, &options)) return CLI_BAD;
  if (!device_target(cli, &own, &target, &status)) return status;
  if (cli->json) return print_json(cli, layout, target);
  bool words = wants(cli, "words"), picture = wants(cli, "picture"), any = true;
  for (int32_t d = 0; d < layout->host.rank; d++) any = any && layout->host.shape[d] > 0;
  if (picture && any && draw(cli, layout, &options, true) != CLI_YES) return CLI_BAD;
  if (words && (status = device_words(cli, layout, target)) != CLI_YES) return status;
  if (!picture) return CLI_YES;
  if (words) putchar('\n');
  if (any) return draw(cli, layout, &options, false);
  printf("There is nothing to draw: no elements.\n");
  return CLI_YES;
}
