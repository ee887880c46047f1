#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The NEON kernels do what their tests say: the library as one file and tests of the kernels and of the relayout engine,
# built for aarch64 and run by qemu.
#
#   neon.sh build FOLDER         the library and what the tests share, compiled into FOLDER
#   neon.sh run FOLDER NAME      the test tests/unit/NAME.c, compiled and run
set -eu
cd "${TESELA_SOURCE:-.}"
folder=$2

# compile OUTPUT ARGUMENT...: cmocka.h is the small one of tests/shim.
compile() {
  output=$1
  shift
  aarch64-linux-gnu-gcc -std=c11 -O2 -D_POSIX_C_SOURCE=200809L \
    -Itests/shim -Iinclude -Isrc -Itests/unit -Itests/oracle "$@" -o "$output"
}

case $1 in
  build)
    rm -rf "$folder"
    mkdir -p "$folder"
    aarch64-linux-gnu-gcc -std=c11 -O2 -Wall -Wextra -Werror -Iinclude -Isrc -c src/tesela.c -o "$folder/tesela.o" &
    library=$!
    for source in tests/unit/support_seed.c tests/unit/support_pages.c tests/unit/support_kernels*.c tests/unit/support_relayout*.c \
      tests/unit/support_in_place.c tests/unit/support_xla.c tests/oracle/relayout_*.c tests/oracle/xla_oracle.c; do
      compile "$folder/$(basename "$source" .c).o" -c "$source"
    done
    wait "$library"
    ;;
  run)
    TESELA_SLOW=1 # shorter sweeps
    export TESELA_SLOW
    compile "$folder/$3" "tests/unit/$3.c" "$folder"/*.o -static -pthread -lm
    qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static)
    "$qemu" "$folder/$3"
    ;;
esac
