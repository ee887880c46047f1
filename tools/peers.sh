#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tests beside the owners of other notations (tests/peers): in a virtual environment of their own, build/peers.
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
  grep -v '^#' tests/peers.txt | while read -r package; do
    $venv/bin/python -m pip install -q --disable-pip-version-check "$package" || echo "cannot install $package"
  done
  cat tests/requirements.txt tests/peers.txt >$venv/requirements.txt
fi
PYTHONPATH=python TESELA_LIBRARY=$PWD/build/release/python/libtesela.so TESELA_COMMAND=$PWD/build/release/tesela \
  PYTHONDONTWRITEBYTECODE=1 exec $venv/bin/python -m pytest -q -p no:cacheprovider tests/peers "$@"
