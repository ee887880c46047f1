#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The library without an operating system (-DTESELA_OS_NONE, as for WebAssembly), compiled as one file, passes test_os here;
# with the instrumentation of this build, so that a sanitizer sees what it leaks.
set -eu
cd "${TESELA_SOURCE:-.}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${CC:-cc}" -std=c11 -Wall -Wextra -Werror ${CFLAGS:-} -DTESELA_OS_NONE -D_POSIX_C_SOURCE=200809L -Itests/shim -Iinclude -Isrc -Itests/unit \
  -Itests/oracle tests/unit/test_os.c tests/unit/support_xla.c tests/oracle/xla_oracle.c src/tesela.c -lm -o "$work/test_os"
cd "$work"
./test_os
