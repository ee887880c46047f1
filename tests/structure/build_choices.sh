#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a person who configures the build by hand gets: an optimized build without asking for it, and the one library that
# BUILD_SHARED_LIBS names, with a package and a pkg-config file that say so.
set -eu
cd "${TESELA_SOURCE:-.}"
source=$PWD

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "$1" >&2
  exit 1
}

# configure FOLDER OPTION...
configure() {
  cmake -S "$source" -DCMAKE_C_COMPILER="${CC:-cc}" -DTESELA_BUILD_TESTS=OFF -DTESELA_BUILD_BENCH=OFF -DTESELA_BUILD_PYTHON=OFF \
    -DTESELA_BUILD_CLI=OFF -B "$@" >log || fail "$(cat log)"
}

configure plain
grep -qx 'CMAKE_BUILD_TYPE:STRING=Release' plain/CMakeCache.txt || fail "a plain cmake -B is not a Release build"

# check ON|OFF HAS LACKS: the library files of an installation, and a program linked in both ways.
check() {
  configure build -DCMAKE_BUILD_TYPE=Debug -DBUILD_SHARED_LIBS="$1" -DCMAKE_INSTALL_LIBDIR=lib
  cmake --build build -j 2 >log || fail "$(cat log)"
  rm -rf prefix consumer
  cmake --install build --prefix "$work/prefix" >log
  [ -e "prefix/lib/$2" ] || fail "BUILD_SHARED_LIBS=$1 installs no $2"
  [ ! -e "prefix/lib/$3" ] || fail "BUILD_SHARED_LIBS=$1 installs $3"
  PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig
  LD_LIBRARY_PATH=$work/prefix/lib
  export PKG_CONFIG_PATH LD_LIBRARY_PATH
  "${CC:-cc}" "$source/tests/structure/consumer/main.c" $(pkg-config --cflags --libs tesela) -o with_pkg_config
  ./with_pkg_config
  cmake -S "$source/tests/structure/consumer" -B consumer -DCMAKE_PREFIX_PATH="$work/prefix" \
    -DCMAKE_C_COMPILER="${CC:-cc}" >log || fail "$(cat log)"
  cmake --build consumer >log || fail "$(cat log)"
  consumer/with_package
}
check ON libtesela.so libtesela.a
check OFF libtesela.a libtesela.so
