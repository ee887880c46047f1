#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tests of the Python package that need torch, jax or dask: in a virtual environment of their own, build/frameworks.
#
#   tools/frameworks.sh [PYTEST ARGUMENT...]
set -eu
cd "$(dirname "$0")/.."

venv=build/frameworks
if ! cat tests/requirements.txt tests/frameworks.txt | cmp -s - $venv/requirements.txt; then
  echo "making $venv"
  rm -rf $venv
  "${PYTHON:-python3}" -m venv $venv
  $venv/bin/python -m pip install -q --disable-pip-version-check -r tests/requirements.txt -r tests/frameworks.txt
  cat tests/requirements.txt tests/frameworks.txt >$venv/requirements.txt
fi
PYTHONPATH=python TESELA_LIBRARY=$PWD/build/release/python/libtesela.so TESELA_COMMAND=$PWD/build/release/tesela \
  PYTHONDONTWRITEBYTECODE=1 exec $venv/bin/python -m pytest -q -p no:cacheprovider -m frameworks tests/python "$@"
