#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tests beside the TPU's compiler (tests/tpu), which needs no TPU: in a virtual environment of their own, build/tpu.
#
#   tools/tpu.sh [PYTEST ARGUMENT...]     TESELA_SEED chooses other programs (default: the clock)
#   tools/tpu.sh --write                  writes tests/data/tpu_orders.tsv, tests/data/predict and tests/data/peak again
set -eu
cd "$(dirname "$0")/.."

venv=build/tpu
if ! cat tests/requirements.txt tests/tpu.txt | cmp -s - $venv/requirements.txt; then
  echo "making $venv"
  rm -rf $venv
  "${PYTHON:-python3}" -m venv $venv
  $venv/bin/python -m pip install -q --disable-pip-version-check -r tests/requirements.txt -r tests/tpu.txt
  cat tests/requirements.txt tests/tpu.txt >$venv/requirements.txt
fi
export PYTHONPATH=python:tests/tpu TESELA_LIBRARY=$PWD/build/release/python/libtesela.so TESELA_COMMAND=$PWD/build/release/tesela \
  TESELA_SEED="${TESELA_SEED:-$(date +%s)}" PYTHONDONTWRITEBYTECODE=1
if [ "${1:-}" = --write ]; then
  exec $venv/bin/python tests/tpu/write_data.py
fi
exec $venv/bin/python -m pytest -q -p no:cacheprovider tests/tpu "$@"
