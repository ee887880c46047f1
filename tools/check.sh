#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Everything a change must pass, part by part. A part that has passed on this very tree is not run again, so a run that
# was cut off, or found a fault, goes on where it is needed.
#
#   tools/check.sh            all parts
#   tools/check.sh PART...    these
#
# What a part prints goes to build/check/PART.log.
set -u
cd "$(dirname "$0")/.."

# One line a part: its name, and the make targets that it is.
parts='
format      format-check
test        test
strict      strict strict-clang
clang       clang
asan        asan
asan-clang  asan-clang
tsan        tsan
sweep       sweep
valgrind    valgrind
fuzz        fuzz FUZZ_SECONDS=60
coverage    coverage
frameworks  frameworks
'

# Names the tree: all files that git tracks or would track, with their contents.
tree() {
  git ls-files -z -co --exclude-standard | LC_ALL=C sort -z | xargs -0 sha256sum 2>/dev/null | sha256sum | cut -c1-16
}

chosen=$*
for name in $chosen; do
  echo "$parts" | grep -q "^$name " || {
    echo "check: unknown part '$name'; expected one of:$(echo "$parts" | awk 'NF {printf " %s", $1}')" >&2
    exit 2
  }
done

mkdir -p build/check
key=$(tree)
passed=0
failed=0
while read -r name targets; do
  [ -n "$name" ] || continue
  case " $chosen " in "  " | *" $name "*) ;; *) continue ;; esac
  log=build/check/$name.log
  if [ "$(cat "build/check/$name.ok" 2>/dev/null)" = "$key" ]; then
    printf '%-11s passed before, on this tree\n' "$name"
    passed=$((passed + 1))
    continue
  fi
  rm -f "build/check/$name.ok"
  printf '%-11s ' "$name"
  start=$(date +%s)
  if make $targets >"$log" 2>&1 </dev/null; then
    echo "$key" >"build/check/$name.ok"
    result=passed
    passed=$((passed + 1))
  else
    result="FAILED, see $log"
    failed=$((failed + 1))
  fi
  printf '%5d s  %s\n' $(($(date +%s) - start)) "$result"
done <<EOF
$parts
EOF
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
