#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# src/tesela.c lists every source file of the library, each once. Shows what it lacks (+) and has too much (-).
set -eu
cd "${TESELA_SOURCE:-.}/src"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n 's/^#include "\(.*\)"$/\1/p' tesela.c | sort >"$work/listed"
find . -mindepth 2 -name '*.c' | sed 's|^\./||' | sort >"$work/there"
diff -u "$work/listed" "$work/there"

