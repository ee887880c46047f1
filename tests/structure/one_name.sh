#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No name is defined twice in the libraries and in what the unit tests share: linkers differ in which one they take.
set -eu
cd "${TESELA_BUILD:-build/dev}"

twice=$(for library in libtesela.a libtesela_ops.a tests/libtest_support.a; do
  nm -g --defined-only "$library" 2>/dev/null | awk 'NF == 3 && $2 ~ /[TDBRC]/ {print $3}' | sort -u
done | sort | uniq -d | grep -v '^__' || true)
[ -z "$twice" ] || {
  echo "defined twice:" $twice >&2
  exit 1
}
