#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Replays the corpus of one fuzz target, then looks for new failing inputs.
#
#   tools/fuzz.sh SECONDS build/fuzz/fuzz/fuzz_NAME
#
# Inputs that reach new code go to build/fuzz/corpus/NAME, inputs that fail to build/fuzz/NAME-*, the log to
# build/fuzz/NAME.log.
set -eu
name=${2##*/fuzz_}
found=build/fuzz/corpus/$name
log=build/fuzz/$name.log
mkdir -p "$found"
if "$2" -runs=0 -artifact_prefix="build/fuzz/$name-" "fuzz/corpus/$name" >"$log" 2>&1 &&
  "$2" -max_total_time="$1" -print_final_stats=1 -artifact_prefix="build/fuzz/$name-" "$found" "fuzz/corpus/$name" >>"$log" 2>&1; then
  awk -v name="$name" '/number_of_executed_units/ {printf "%-16s %10d inputs, no failure\n", name, $2}' "$log"
else
  tail -n 40 "$log"
  echo "$name: FAILED, see $log"
  exit 1
fi
