/* SPDX-License-Identifier: Apache-2.0 */
/*
 * os_posix.h - what the files of os_posix share.
 */
#ifndef TESELA_SRC_OS_POSIX_H
#define TESELA_SRC_OS_POSIX_H

#include "base/os.h"

/* Fail with `what` and the text of errno; errno is kept. TESELA_E_IO, or TESELA_E_MEMORY if memory is missing. */
tesela_status tesela__os_fail(tesela_error *err, tesela_reason reason, const char *what);

/* An empty file without a name, open for reading and writing, in TMPDIR or /var/tmp. -1: errno says why. */
int tesela__os_unnamed(void);

#endif
