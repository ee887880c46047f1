# A thin front of CMake; `make help` names the targets. Each kind of build lies in build/KIND, see CMakePresets.json.

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 30
SOAK_MINUTES ?= 10
SOAK_KIND ?= dev
SOAK_TESTS ?= .
BENCH_ARGS ?=
PARTS ?=
TARGETS ?=
PYTHON ?= python3
MAKEFLAGS += --no-print-directory

# $(call build,KIND,OPTION...) configures and builds; $(call test,KIND) runs the tests of that build.
build = cmake --preset $(1) $(2) && cmake --build build/$(1) -j $(JOBS)
test = ctest --test-dir build/$(1) -j $(JOBS) --output-on-failure --no-tests=error

.PHONY: all help test check strict strict-clang dev clang asan asan-clang corpora tsan sweep valgrind coverage fuzz soak nvcc gpu bench \
  bench-sweep bench-peers portable dist demo wheels frameworks peers tpu install format format-check abi clean

all: ## build the library and the command (build/release)
	$(call build,release,-DTESELA_BUILD_TESTS=OFF)

help: ## list the targets
	@sed -n 's/^\([a-z -]*\):.*## /\1\t/p' Makefile | expand -t 14

test: ## run the tests
	$(call build,release,-DTESELA_BUILD_TESTS=ON)
	$(call test,release)
	@echo "not run here: make nvcc (needs nvcc), make gpu (nvcc and a GPU), make frameworks (torch, JAX, Dask), make peers (Triton, CuTe, TVM, oneDNN, IREE), make tpu (libtpu), make bench-peers (oneDNN, HPTT, numpy, torch)"

check: ## everything a change must pass, by parts; goes on where it was cut off (PARTS='asan tsan': only these)
	@tools/check.sh $(PARTS)

strict: ## the release build with warnings as errors (some come with optimization only)
	$(call build,strict)

strict-clang: ## the same with clang
	$(call build,strict-clang)

dev: ## tests with asserts on and warnings as errors
	$(call build,dev)
	$(call test,dev)

clang: ## dev with clang: unit tests
	$(call build,clang)
	$(call test,clang) -R '^(unit|fuzz)[.]'

asan: ## tests under AddressSanitizer and UndefinedBehaviorSanitizer
	$(call build,asan)
	$(call test,asan)

asan-clang: ## unit tests and fuzz corpora under clang's
	$(call build,asan-clang)
	$(call test,asan-clang) -R '^(unit|fuzz)[.]'

corpora: ## fuzz corpora under AddressSanitizer and UndefinedBehaviorSanitizer
	cmake --preset asan && cmake --build build/asan -j $(JOBS) --target fuzz_targets
	$(call test,asan) -R '^fuzz[.]'

tsan: ## unit tests under ThreadSanitizer
	$(call build,tsan)
	$(call test,tsan) -R '^unit[.]'

sweep: ## fail each allocation of each command (make test fails a sample of them)
	$(call build,release,-DTESELA_BUILD_TESTS=ON)
	TESELA_SWEEP=full $(call test,release) -L alloc

valgrind: ## unit tests under valgrind
	$(call build,valgrind)
	$(call test,valgrind) -C Valgrind -L valgrind

coverage: ## run the tests and require 90 % of the lines of src/
	$(call build,coverage)
	find build/coverage -name '*.gcda' -delete
	$(call test,coverage)
	gcovr --root . --filter src/ --object-directory build/coverage --print-summary --fail-under-line 90

fuzz: ## replay the corpora and look for new failing inputs, FUZZ_SECONDS for each target
	$(call build,fuzz)
	@ls build/fuzz/fuzz/fuzz_* | xargs -P $(JOBS) -n 1 tools/fuzz.sh $(FUZZ_SECONDS)

soak: ## run the random tests (SOAK_TESTS: a regex) with ever new seeds, SOAK_MINUTES long, in the build SOAK_KIND (dev, asan, ...)
	$(call build,$(SOAK_KIND))
	@end=$$(($$(date +%s) + 60 * $(SOAK_MINUTES))); log=build/$(SOAK_KIND)/soak.log; : > $$log; \
	while now=$$(date +%s); [ $$now -lt $$end ]; do \
	  seed=$$((now * 1000003)); \
	  echo "== TESELA_SEED=$$seed"; \
	  TESELA_SEED=$$seed $(call test,$(SOAK_KIND)) -L random -R '$(SOAK_TESTS)' || { echo "TESELA_SEED=$$seed fails"; exit 1; }; \
	  grep '^cases: ' build/$(SOAK_KIND)/Testing/Temporary/LastTest.log >> $$log; \
	done; tools/count_cases.sh < $$log

bench: all ## measure what bench/claims.tsv claims, three runs each: claim, measured, verdict (BENCH_ARGS: bench names)
	$(PYTHON) bench/claims.py $(BENCH_ARGS)

bench-sweep: all ## relayout over random pairs of layouts against NT copy and memcpy (BENCH_ARGS: its options, as --seed=1 --minutes=2)
	build/release/bench/bench_sweep $(BENCH_ARGS)

bench-peers: all ## relayout against oneDNN, HPTT, numpy and torch, those that are there (see bench/RESULTS.md)
	@set -e; for program in build/release/bench/peer_*; do \
	  if [ -x "$$program" ]; then echo "== $$program"; $$program; fi; \
	done
	$(PYTHON) bench/bench_peers.py

portable: ## build for other machines (TARGETS='wasm32-wasi ...': only these) and run the unit tests there
	$(PYTHON) tools/portable/portable.py --jobs=$(JOBS) $(TARGETS)

dist: ## static binaries, their checksums and SBOM, a source tarball and a .deb, in build/dist
	$(PYTHON) tools/portable/dist.py

nvcc gpu: ## the generated CUDA compiled by nvcc; run on a GPU (no other target needs either)
	$(call build,release,-DTESELA_BUILD_TESTS=ON)
	ctest --test-dir build/release -C $@ -R '^$@[.]' --output-on-failure --no-tests=error

demo: all ## a memory report explained by the command, a layout from Python
	build/release/tesela report examples/oom_report.txt
	$(in_python) examples/layout.py

frameworks: all ## tests of the Python package with torch, jax and dask, which go into build/frameworks
	PYTHON=$(PYTHON) tools/frameworks.sh

peers: all ## tests beside the owners of other notations, which go into build/peers
	PYTHON=$(PYTHON) tools/peers.sh

tpu: all ## tests beside the compiler of TPUs (libtpu; no TPU needed), which goes into build/tpu
	PYTHON=$(PYTHON) tools/tpu.sh

wheels: ## the Python package as wheels for every machine (build/wheels) and as a source distribution
	$(PYTHON) tools/portable/wheels.py

install: all ## install under PREFIX (and DESTDIR)
	cmake --install build/release --prefix $(PREFIX)

format: ## format the C files
	$(c_files) | xargs clang-format -i

format-check: ## exit 1 if `make format` would change a file
	$(c_files) | xargs clang-format --dry-run --Werror

# Runs a program of Python with the package of this tree.
in_python = PYTHONPATH=python TESELA_LIBRARY=build/release/python/libtesela.so $(firstword $(wildcard build/venv/bin/python) $(PYTHON))

c_files = find include src cli tests fuzz bench -name '*.[ch]'

abi: all ## rewrite abi/tesela.symbols from the library
	tools/update-abi.sh build/release/libtesela.so

clean: ## remove build/
	rm -rf build
