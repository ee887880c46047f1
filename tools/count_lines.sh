#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The lines of C, comments and blank lines included, in the folders that are built into the libraries and the command.
set -eu
cd "$(dirname "$0")/.."
for folder in src include ops cli; do
  find "$folder" -name '*.[ch]' -exec cat {} + | awk -v folder="$folder" 'END { printf "%8d  %s\n", NR, folder }'
done | awk '{ print; sum += $1 } END { printf "%8d  in all\n", sum }'
