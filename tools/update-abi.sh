#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# abi/tesela.symbols lists what the shared library exports; so does abi/tesela_ops.symbols of libtesela_ops.so.
#
#   tools/update-abi.sh [LIBRARY]            write the list (default: build/release/libtesela.so)
#   tools/update-abi.sh --check [LIBRARY]    show where the library differs: lacks (-) or exports unlisted (+)
set -eu
check=no
if [ "${1-}" = --check ]; then
  check=yes
  shift
fi
library=${1-$(dirname "$0")/../build/release/libtesela.so}
list=$(dirname "$0")/../abi/$(basename "$library" | sed 's/^lib//; s/\.so.*//').symbols

symbols=$(nm -D --defined-only "$library" | awk '{print $3}' | LC_ALL=C sort)
if echo "$symbols" | grep -v '^tesela_[^_]'; then
  echo "a public symbol starts with tesela_ and one underscore; these do not" >&2
  exit 1
elif [ $check = yes ]; then
  echo "$symbols" | diff -u "$list" - || {
    echo "if this is meant, run tools/update-abi.sh and say so in CHANGELOG.md" >&2
    exit 1
  }
else
  echo "$symbols" >"$list"
fi
