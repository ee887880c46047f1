/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.h - one element of a tensor: read from a text, shown as a number and as bits.
 *
 * An element is what lies in its place: bits/8 bytes, or the low bits of one byte. Numbers have their least significant
 * byte first, as in the files and memories of all machines that tesela knows.
 */
#ifndef TESELA_CLI_VALUE_H
#define TESELA_CLI_VALUE_H

#include <tesela/layout.h>

#define VALUE_BYTES 16
#define VALUE_TEXT 80 /* room for what is shown */

/* Read one element: its bits, 0x7fc0; or by the type a number (3, -1.5, nan, -inf), true or false. A number that the type
 * cannot hold exactly is rounded to the nearest it can, one beyond its range is refused. `value` is written whole, what
 * lies behind the element with zeros. */
tesela_status value_read(const char *text, tesela_dtype dtype, int32_t bits, uint8_t value[VALUE_BYTES],
                         tesela_error *err);

/* As a number: "-1.5", "nan", "true", "1-2j"; "" for a type that has none. Returns `text`. */
const char *value_number(const uint8_t *value, tesela_dtype dtype, int32_t bits, char text[VALUE_TEXT]);

/* As bits, the most significant digit first: "0x3f800000"; "0x5" of 4 bits. Returns `text`. */
const char *value_bits(const uint8_t *value, int32_t bits, char text[VALUE_TEXT]);

/* The element at a place of a buffer, as `value` of the functions above. */
void value_at(const uint8_t *data, int64_t place, int32_t bits, uint8_t value[VALUE_BYTES]);
/* Put one there; of the other bits of a byte none changes. */
void value_put(uint8_t *data, int64_t place, int32_t bits, const uint8_t *value);

#endif
