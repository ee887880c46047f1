#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The ten tests that took longest in the last run of ctest.
#
#   tools/slowest.sh FOLDER    FOLDER is a build, such as build/release
set -eu
echo "the ten slowest tests:"
sed '/^---/,$d' "$1/Testing/Temporary/CTestCostData.txt" | sort -k3,3nr | head -n 10 | awk '{printf "%8.1f s  %s\n", $3, $1}'
