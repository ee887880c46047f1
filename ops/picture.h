/* SPDX-License-Identifier: Apache-2.0 */
/*
 * picture.h - a layout as it is drawn: with all its padding, as the layout of a larger array. `tile` receives the first-level
 * tile (blocks) of each dim, as tesela_draw_options takes it.
 */
#ifndef TESELA_OPS_PICTURE_H
#define TESELA_OPS_PICTURE_H

#include <tesela/device.h>
#include <tesela/xla.h>

/* Without its dynamic marks. */
tesela_status picture_of_xla(const tesela_xla_shape *shape, tesela_layout *layout, int64_t *tile,
                             tesela_error *err);
tesela_status picture_of_device(const tesela_device_layout *layout, tesela_layout *drawn, int64_t *tile,
                                tesela_error *err);

#endif
