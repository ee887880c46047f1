#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tests beside the owners of other notations (tests/peers): in a virtual environment of their own, build/peers. The last lines say
# which peers ran, with how many cases and differences, and which did not; the status is that of the tests.
#
#   tools/peers.sh [PYTEST ARGUMENT...]
set -eu
cd "$(dirname "$0")/.."

venv=build/peers
if ! cat tests/requirements.txt tests/peers.txt | cmp -s - $venv/requirements.txt; then
  echo "making $venv"
  rm -rf $venv
  "${PYTHON:-python3}" -m venv $venv
  $venv/bin/python -m pip install -q --disable-pip-version-check -r tests/requirements.txt
  : >$venv/failed.txt
  grep -v '^#' tests/peers.txt | while read -r package option; do
    case $option in
      '>='*) package="$package$option" option= ;;
    esac
    echo "installing $package"
    # shellcheck disable=SC2086
    $venv/bin/python -m pip install -q --disable-pip-version-check $option "$(echo "$package" | tr -d ' ')" ||
      echo "$package" >>$venv/failed.txt
  done
  cat tests/requirements.txt tests/peers.txt >$venv/requirements.txt
fi

sed 's/^/cannot install /' $venv/failed.txt
PYTHONPATH=python TESELA_LIBRARY=$PWD/build/release/python/libtesela.so TESELA_COMMAND=$PWD/build/release/tesela \
  PYTHONDONTWRITEBYTECODE=1 exec $venv/bin/python tests/peers/run.py "$@"
