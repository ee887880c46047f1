/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_xla_text.h - XLA text read, printed and refused, for the tests of the notation.
 */
#ifndef TESELA_TESTS_SUPPORT_XLA_TEXT_H
#define TESELA_TESTS_SUPPORT_XLA_TEXT_H

#include "support_xla.h"

enum { LONG = 4096 };

/* The text in memory of exactly its size, so that ASan and valgrind detect a read past its end. */
char *xla_text_exact(const char *text, size_t length);
tesela_status xla_text_read(const char *text, size_t length, int32_t flags, tesela_xla_shape *shape,
                            tesela_xla_repairs *repairs, tesela_error *err);
void xla_text_print(const tesela_xla_shape *shape, bool with_layout, char text[LONG]);
void xla_text_same(const char *name, const char *got, const char *want);
void xla_text_refused(const char *text, tesela_status got, const tesela_error *err, tesela_status want,
                      int64_t at, const char *fragment);

#endif
