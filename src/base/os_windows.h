/* SPDX-License-Identifier: Apache-2.0 */
/*
 * os_windows.h - shared by the files of os_windows.
 */
#ifndef TESELA_SRC_OS_WINDOWS_H
#define TESELA_SRC_OS_WINDOWS_H

#include "base/os.h"

#if TESELA__OS_WINDOWS
#define WIN32_LEAN_AND_MEAN 1
#define NOMINMAX 1
#include <windows.h>
#undef near /* words of 16-bit compilers, names here */
#undef far

enum { TESELA__WIDE_PATH = 4096 };

/* Fail with `what` and the text of an error of GetLastError. TESELA_E_IO, or TESELA_E_MEMORY if memory is missing. */
tesela_status tesela__windows_fail(tesela_error *err, DWORD why, tesela_reason reason, const char *what);

/* Convert a UTF-8 path to the form of Windows; false after SetLastError. */
bool tesela__windows_path(const char *path, wchar_t wide[TESELA__WIDE_PATH]);

/* An empty temporary file that is deleted when it is closed; INVALID_HANDLE_VALUE after SetLastError. */
HANDLE tesela__windows_unnamed(void);

/* Write all bytes to a file or pipe; false after SetLastError. */
bool tesela__windows_write(HANDLE to, const uint8_t *data, int64_t bytes);
#endif

#endif
