#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The shared library and the command of an optimized build are hardened: all symbols bound at start and read-only after
# that, no executable stack, stack protector and checked libc calls in use, a position-independent command, and on x86
# branch targets marked (CET).
set -eu

# has FILE TOOL OPTION PATTERN: what the tool prints of the file matches the pattern.
has() {
  "$2" $3 "$1" | grep -Eq "$4" || {
    echo "$1: expected /$4/ in the output of $2 $3"
    exit 1
  }
}

for file in "$TESELA_BUILD/libtesela.so" "$TESELA_BUILD/libtesela_ops.so" "$TESELA"; do
  [ -e "$file" ] || continue
  has "$file" readelf -dW 'BIND_NOW|FLAGS_1.*NOW'
  has "$file" readelf -lW 'GNU_RELRO'
  has "$file" readelf -lW 'GNU_STACK.* RW '
  has "$file" nm -D '__stack_chk_fail'
  has "$file" nm -D '__(memcpy|vsnprintf|snprintf)_chk'
done
has "$TESELA" readelf -hW 'Type: +DYN'
case $(uname -m) in
  x86_64) has "$TESELA_BUILD/libtesela.so" objdump -d 'endbr64' ;;
esac
