/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kind.h - which notation a LAYOUT text is in: `xla:` in front says so, else its form tells.
 */
#ifndef TESELA_CLI_KIND_H
#define TESELA_CLI_KIND_H

#include <tesela/xla.h>

/* The bytes of a prefix like `xla:` to skip, 0 if there is none. TESELA_E_UNSUPPORTED for a kind that this
 * version does not read. */
tesela_status kind_prefix(const char *text, size_t length, size_t *used, tesela_error *err);

/* Move what was found behind a prefix: positions count from the start of the whole text. */
void kind_shift(size_t used, tesela_xla_repairs *repairs, tesela_error *err);

/* Read a LAYOUT as tesela_xla_parse does, a prefix allowed; and the relation it means, unless layout is NULL.
 */
tesela_status kind_read(const char *text, size_t length, int32_t flags, tesela_xla_shape *shape,
                        tesela_layout *layout, tesela_xla_repairs *repairs, tesela_error *err);

#endif
