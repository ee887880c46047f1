#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs into a folder of its own, moves that folder, and builds a program against it in each way on offer:
# pkg-config, and find_package with the shared and the static library.
set -eu
cd "${TESELA_SOURCE:-.}"
consumer=$PWD/tests/structure/consumer

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$TESELA_BUILD" --prefix "$work/first" >"$work/log"
mv "$work/first" "$work/prefix" # nothing installed may depend on where it was put
cd "$work"

PKG_CONFIG_PATH=$(dirname "$(find prefix -name tesela.pc)")
LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
export PKG_CONFIG_PATH LD_LIBRARY_PATH
version=$(pkg-config --modversion tesela)

# check PROGRAM: it runs, and the library in it has the version that was installed.
check() {
  found=$("$1")
  echo "$1: $found"
  test "$found" = "tesela $version"
}

"${CC:-cc}" "$consumer/main.c" $(pkg-config --cflags --libs tesela) -o with_pkg_config
check ./with_pkg_config

cmake -S "$consumer" -B cmake -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_COMPILER="${CC:-cc}" >>log
cmake --build cmake >>log
check cmake/with_package
check cmake/with_static
if [ -e "$TESELA_BUILD/libtesela_ops.so" ]; then
  "${CC:-cc}" "$consumer/ops.c" $(pkg-config --cflags --libs tesela-ops) -o ops_with_pkg_config
  check ./ops_with_pkg_config
  check cmake/with_ops
  check cmake/with_ops_static
fi

if [ -x "$TESELA" ]; then
  prefix/bin/tesela --version
  for page in man/man1/tesela.1 bash-completion/completions/tesela.bash zsh/site-functions/_tesela \
    fish/vendor_completions.d/tesela.fish; do
    test -s "prefix/share/$page" || {
      echo "share/$page is missing or empty"
      exit 1
    }
  done
fi
