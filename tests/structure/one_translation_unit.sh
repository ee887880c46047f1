#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The whole library compiles as one file with one plain command, and a program runs with it.
set -eu
cd "${TESELA_SOURCE:-.}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${CC:-cc}" -std=c11 -Werror -Iinclude -Isrc -c src/tesela.c -o "$work/tesela.o"
"${CC:-cc}" -std=c11 -Iinclude tests/structure/consumer/main.c "$work/tesela.o" -pthread -lm -o "$work/consumer"
"$work/consumer"
