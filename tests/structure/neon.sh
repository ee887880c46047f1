#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The NEON kernels do what their tests say: the library as one file and the tests of the kernels and of the relayout
# engine, built for aarch64 and run by qemu. Skipped without the cross compiler or qemu.
set -eu
cd "${TESELA_SOURCE:-.}"

skip() {
  echo "skipped: no $1"
  exit 77
}
cc=$(command -v aarch64-linux-gnu-gcc) || skip aarch64-linux-gnu-gcc
qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) || skip qemu-aarch64

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cc" -std=c11 -O2 -Wall -Wextra -Werror -Iinclude -Isrc -c src/tesela.c -o "$work/tesela.o"

# compile OUTPUT ARGUMENT...: cmocka.h is the small one beside this script.
compile() {
  output=$1
  shift
  "$cc" -std=c11 -O2 -D_POSIX_C_SOURCE=200809L \
    -Itests/structure/neon -Iinclude -Isrc -Itests/unit -Itests/oracle "$@" -o "$output"
}

# What the tests share.
objects=$work/tesela.o
for source in tests/unit/support_seed.c tests/unit/support_kernels*.c tests/unit/support_relayout*.c \
  tests/oracle/relayout_*.c; do
  [ -e "$source" ] || continue
  object=$work/$(basename "$source" .c).o
  compile "$object" -c "$source"
  objects="$objects $object"
done

TESELA_SLOW=1 # shorter sweeps
export TESELA_SLOW
ran=0
for source in tests/unit/test_kernels_*.c tests/unit/test_relayout.c tests/unit/test_relayout_rows.c; do
  [ -e "$source" ] || continue
  echo "== $source"
  compile "$work/test" "$source" $objects -static -pthread -lm
  "$qemu" "$work/test"
  ran=$((ran + 1))
done
[ "$ran" -gt 0 ] || {
  echo "no test ran" >&2
  exit 1
}
