#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each public header compiles alone, as C11 and as C++17, without a warning.
set -eu
cd "${TESELA_SOURCE:-.}"
if [ -z "${CXX-c++}" ]; then
  echo "no C++ compiler"
  exit 77
fi

warnings="-Wall -Wextra -Wpedantic -Werror"
for header in include/tesela/*.h; do
  line="#include <tesela/$(basename "$header")>"
  echo "$line" | "${CC:-cc}" -std=c11 $warnings -Iinclude -fsyntax-only -x c -
  echo "$line" | "${CXX:-c++}" -std=c++17 $warnings -Iinclude -fsyntax-only -x c++ -
  echo "ok: $line"
done
