/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_device_text.h - texts of device layouts read and printed, for the tests of the notations.
 */
#ifndef TESELA_TESTS_SUPPORT_DEVICE_TEXT_H
#define TESELA_TESTS_SUPPORT_DEVICE_TEXT_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tesela/tesela.h>

enum { TEXT = 4096, NOTATIONS = TESELA_DEVICE_STRIDE_MAP + 1 };

tesela_device_layout device_text_read(const char *text, const tesela_device_text_options *options);
tesela_status device_text_print(const tesela_device_layout *layout, tesela_device_notation notation,
                                char text[TEXT]);

/* Does a text begin like one of a device layout? */
bool is_device(const char *text, size_t length);

#endif
