/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kind.h - which notation a LAYOUT text is in: `xla:`, `register:`, `shared:`, `global:` or `device:` in front says so, else its
 * form tells. What begins as a device layout does (notation.h) is one; what begins as a function or a fragment of
 * notation.h does is an expression; all else is an XLA shape.
 */
#ifndef TESELA_CLI_KIND_H
#define TESELA_CLI_KIND_H

#include <tesela/notation.h>
#include <tesela/xla.h>

typedef enum layout_kind {
  KIND_XLA,
  KIND_REGISTER,
  KIND_SHARED,
  KIND_GLOBAL,
  KIND_DEVICE,
  KIND_EXPRESSION, /* a register layout or a tile in memory, once it is read */
} layout_kind;

/* A layout of any kind. */
typedef struct any_layout {
  layout_kind kind;            /* never KIND_EXPRESSION */
  tesela_xla_shape shape;      /* KIND_XLA */
  tesela_register registers;   /* KIND_REGISTER */
  tesela_tile_memory memory;   /* KIND_SHARED, KIND_GLOBAL */
  tesela_device_layout device; /* KIND_DEVICE */
} any_layout;

/* "a register layout": for messages. */
const char *kind_words(layout_kind kind);
/* "register": what may stand in front. */
const char *kind_name(layout_kind kind);
/* The kind with such a name; KIND_EXPRESSION if there is none. */
layout_kind kind_named(const char *name, size_t length);

/* Which kind a text is, and the bytes of a prefix to skip. TESELA_E_UNSUPPORTED for a prefix that is none;
 * TESELA_E_SYNTAX for what can only be the name of a fragment and is none. */
tesela_status kind_of(const char *text, size_t length, layout_kind *kind, size_t *used, tesela_error *err);

/* Read a LAYOUT of any kind; XLA shapes as kind_read does. The relation it means goes to `layout`, unless that is NULL:
 * of a register layout with the axes thread and local, of a tile in memory in elements of 8 bits. */
tesela_status kind_read_any(const char *text, size_t length, int32_t flags, any_layout *any,
                            tesela_layout *layout, tesela_xla_repairs *repairs, tesela_error *err);

/* Read an expression without a prefix that is to be of a kind other than XLA's. TESELA_E_MISMATCH if that is KIND_DEVICE. */
tesela_status kind_read_expression(const char *text, size_t length, layout_kind wanted, any_layout *any,
                                   tesela_error *err);

/* ---- XLA shapes alone ------------------------------------------------------------------------------------- */

/* The bytes of a prefix `xla:` or `device:` to skip, 0 if there is none. TESELA_E_UNSUPPORTED for another kind. */
tesela_status kind_prefix(const char *text, size_t length, size_t *used, tesela_error *err);

/* Move what was found behind a prefix: positions count from the start of the whole text. */
void kind_shift(size_t used, tesela_xla_repairs *repairs, tesela_error *err);

/* Read a LAYOUT as tesela_xla_parse does, a prefix allowed; a device layout as the XLA shape that says the same (of the device's
 * type; TESELA_E_UNSUPPORTED if none does); and the relation it means, unless layout is NULL.
 */
tesela_status kind_read(const char *text, size_t length, int32_t flags, tesela_xla_shape *shape,
                        tesela_layout *layout, tesela_xla_repairs *repairs, tesela_error *err);

#endif
