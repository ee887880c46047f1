/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_device.c - device layouts in the verb show: words, picture, JSON.
 */
#include <string.h>

#include "main/device.h"
#include "main/input.h"
#include "main/say.h"
#include "main/json.h"
#include "picture.h"
#include "show/show.h"

/* ---- the verb --------------------------------------------------------------------------------------------- */

static int draw(const cli_context *cli, const tesela_device_layout *layout, tesela_draw_options *options,
                bool check) {
  int64_t tile[TESELA_MAX_RANK];
  tesela_layout drawn;
  tesela_error err = {.at = -1};
  if (picture_of_device(layout, &drawn, tile, &err) != TESELA_OK) return say_failure(cli, &err);
  options->shape = layout->host.shape;
  options->tile = tile;
  if (check) return show_picture_check_layout(cli, &drawn, options) ? CLI_YES : CLI_BAD;
  return show_picture_layout(cli, &drawn, options);
}

int show_device(const cli_context *cli, const tesela_any_layout *given) {
  const tesela_device_layout *layout = &given->device;
  tesela_target own;
  const tesela_target *target;
  tesela_draw_options options;
  int status;
  if (!show_no_table_options(cli) || !show_picture_options(cli, &options)) return CLI_BAD;
  if (!device_target(cli, &own, &target, &status)) return status;
  bool words = show_wants(cli, "words"), picture = show_wants(cli, "picture"), any = true;
  for (int32_t d = 0; d < layout->host.rank; d++) any = any && layout->host.shape[d] > 0;
  if (picture && any && draw(cli, layout, &options, true) != CLI_YES) return CLI_BAD;
  if (words && (status = device_words(cli, layout, target)) != CLI_YES) return status;
  if (words && (status = show_also(cli, given)) != CLI_YES) return status;
  if (!picture) return CLI_YES;
  if (words) putchar('\n');
  if (any) return draw(cli, layout, &options, false);
  printf("Nothing to draw: no elements.\n");
  return CLI_YES;
}
