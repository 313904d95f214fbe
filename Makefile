# The front door for developers. `make help` lists what there is.

SEEDS ?= 50
FABRICS ?= $(shell echo $$(( ($(SEEDS) + 4) / 5 )))
ROUNDS ?= 20
EXAMPLES ?= 2
SECONDS := $(if $(filter command line,$(origin SECONDS)),$(SECONDS),60)

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.NOTPARALLEL:
.DELETE_ON_ERROR:

# Of a program that fails, what failed and nothing else: it is looked for in logs that are cut.
CTEST := env GTEST_BRIEF=1 ctest -j2 --output-on-failure --no-tests=error --test-dir

.PHONY: help
help: ## this list
	@echo "usage: make <target>"; echo
	@sed -nE 's/^([a-z]+):[^#]*## (.*)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

.PHONY: setup
setup: ## install the Debian packages that are missing (needs root only then)
	@tools/setup

.PHONY: build
build: build/release/build.ninja ## build everything (release)
	@cmake --build build/release

.PHONY: test
test: ## what must pass before a merge: build, format, layers, all tests, simulation, mutants, API
	@started=$$(date +%s); \
	for step in build format-and-layers ctest sim mutants api; do \
	  $(MAKE) $$step || { echo "make test: FAILED in $$step" >&2; exit 1; }; \
	done; \
	tests=$$(ctest --test-dir build/release -N | sed -n 's/^Total Tests: //p'); \
	echo "make test: ok: $$tests test programs passed, format and layers clean, laws held, mutants caught, API as described," \
	     "$$(( $$(date +%s) - started )) s"

.PHONY: ctest
ctest: build
	@$(CTEST) build/release

.PHONY: format-and-layers
format-and-layers:
	@tools/check

.PHONY: check
check: setup-quietly ## format, layers and clang-tidy (slow; ONLY=<files> for some)
	@tools/check --tidy $(ONLY)

.PHONY: format
format: setup-quietly ## rewrite all C++ files in the house format
	@tools/check --fix-format

.PHONY: demo
demo: build/release/build.ninja ## watch an hour of autoscaling on two markets on this machine
	@cmake --build build/release --target spillway
	@build/release/spillway demo

.PHONY: image
image: build/release/build.ninja ## pack the program into an OCI image archive, build/image/*.tar
	@cmake --build build/release --target spillway
	@version=$$(build/release/spillway --version); \
	tools/image/make_image build/release/spillway --version "$${version#spillway }" --out build/image

.PHONY: bench
bench: build/release/build.ninja ## run the benchmarks (ONLY=<name> for one; ROUNDS= of the fabric's)
	@cmake --build build/release --target spillway_bench
	@[[ "$(ONLY)" = ca.own_ms || "$(ONLY)" = fabric* ]] || \
	  build/release/spillway_bench $(if $(ONLY),--only $(ONLY))
	@if [[ -z "$(ONLY)" || ca.own_ms = "$(ONLY)"* ]]; then \
	  cmake --build build/release --target spillway && tests/bench/ca_own_ms.py; \
	fi
	@if [[ -z "$(ONLY)" || "$(ONLY)" = fabric* ]]; then \
	  cmake --build build/release --target spillway && tests/bench/fabric_bench.py \
	    $(if $(ONLY),--only $(ONLY)) $(if $(filter file,$(origin ROUNDS)),,--rounds $(ROUNDS)); \
	fi

.PHONY: sim
sim: build/release/build.ninja ## simulate federations with faults (SEEDS=<count>, FABRICS= of them with Liqo; or SEED=<one>)
	@cmake --build build/release --target spillway
	@build/release/spillway sim $(if $(SEED),--seed $(SEED),--seeds $(SEEDS))
	@$(if $(SEED),true,build/release/spillway sim --seeds $(FABRICS) --scenario sim/scenarios/fabrics.yaml)

.PHONY: crash
crash: build/release/build.ninja ## kill processes at random moments, look at what is left (ROUNDS=)
	@cmake --build build/release --target spillway_crash
	@build/release/spillway_crash --rounds $(ROUNDS)

.PHONY: fuzz
fuzz: build/fuzz/build.ninja ## fuzz every parser in turn (SECONDS= for each)
	@cmake --build build/fuzz
	@tools/fuzz build/fuzz $(SECONDS)

.PHONY: asan
asan: build/asan/build.ninja ## all tests under the address and undefined behaviour sanitizers
	@cmake --build build/asan
	@$(CTEST) build/asan

# Where the kernel places memory too randomly for this runtime, it starts only without that.
.PHONY: tsan
tsan: build/tsan/build.ninja ## all tests under the thread sanitizer
	@cmake --build build/tsan
	@if setarch -R true 2>/dev/null; then setarch -R $(CTEST) build/tsan; else $(CTEST) build/tsan; fi

.PHONY: e2e
e2e: build/release/build.ninja ## test on real Kubernetes clusters on this machine (needs root; builds them the first time; LIQO=1.1)
	@tools/setup --quiet --e2e
	@cmake --build build/release --target spillway conformance
	@LIQO=$(LIQO) tests/e2e/run

.PHONY: model
model: build/release/build.ninja ## hold the model to real Cluster Autoscalers, CLUSTER_AUTOSCALER_BIN= (needs root, 35 min each)
	@tools/setup --quiet --e2e
	@cmake --build build/release --target spillway unit_sim
	@tests/model/run

.PHONY: mutants
mutants: build/mutants/build.ninja ## plant known bugs one by one; each must be caught
	@cmake --build build/mutants --target spillway
	@tools/run_mutants build/mutants/spillway

.PHONY: api
api: build/release/build.ninja ## hold broker and driver to api/*.yaml (EXAMPLES= for each operation)
	@cmake --build build/release --target spillway
	@tools/api_check --examples $(EXAMPLES)

.PHONY: clean
clean: ## remove everything that was built
	@rm -rf build

.PHONY: setup-quietly
setup-quietly:
	@tools/setup --quiet

# Ninja configures again when a CMakeLists.txt changes, but does not know about the presets.
build/%/build.ninja: CMakePresets.json | setup-quietly
	@cmake --preset $* --log-level=WARNING >/dev/null && touch $@
.PRECIOUS: build/%/build.ninja
