/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_draw.h - pictures of layouts as text.
 */
#ifndef TESELA_TESTS_SUPPORT_DRAW_H
#define TESELA_TESTS_SUPPORT_DRAW_H

#include "support_xla.h"

#include <tesela/draw.h>

enum { PICTURE = 1 << 14 };

typedef tesela_status (*draw_function)(const tesela_layout *, const tesela_draw_options *,
                                       const tesela_writer *, tesela_error *);

tesela_layout draw_layout(const char *text);
const char *draw_text(draw_function function, const tesela_layout *layout,
                      const tesela_draw_options *options);

#endif
