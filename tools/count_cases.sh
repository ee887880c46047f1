#!/bin/sh
# Adds up the lines "cases: N what" of the logs of tests, from standard input, and prints one for each `what`.
awk '{ sub(/^[0-9]+: /, "") } /^cases: [0-9]+ / { n = $2; sub(/^cases: [0-9]+ /, ""); sum[$0] += n }
     END { for (what in sum) printf "cases: %d %s\n", sum[what], what }' | sort -k 3
