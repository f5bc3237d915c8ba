# Tare's commands. `make help` lists them.
#
# One target folder, each profile built once: `make test` uses dev (and clippy's metadata),
# `make build`, `make bench` and `make demo` use release.

SHELL = bash
.SHELLFLAGS = -o pipefail -c
CARGO ?= cargo
# The output of the tests: the last lines of `make test` list those that were left out.
UNIT_LOG = target/unit.log
# What of the servers this machine cannot have: one line, or none.
LEFT_OUT_SERVERS = target/left-out-servers
# Crates whose behaviour changes with the feature `instrument`. The others are left out of the
# runs without it, because tare-abi would switch the feature back on for all of them.
SWITCHED = -p tare -p tare-server -p tare-cli
# Crates for authors of servers and tools.
PUBLISHED = tare tare-layout tare-reader tare-tower tare-tracing
SHELL_SCRIPTS = $(shell grep -lE '^\#!/usr/bin/env bash' scripts/* packaging/check .ci/run) $(wildcard packaging/debian/*)

.DEFAULT_GOAL := help
.PHONY: help deps deps-demo deps-weigh build check style test unit lint arrows modules words docs licences loom bench bench-server door-bench demo headline package weigh-quick test-long fuzz install-c

help: ## list these commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

# Each command installs only what it uses, and says what before it does. `scripts/deps GROUP` alone
# does the same.
deps: ## install what `make test` uses on Debian 12: servers, clients, compilers, valgrind, a browser
	@scripts/deps test

deps-demo deps-weigh:
	@scripts/deps $(@:deps-%=%)

# The libraries that programs preload or link, as they are packaged, as one unit: what a statement executes of
# them takes fewer lines and pages.
as_packaged = CARGO_PROFILE_$(1)_LTO=fat CARGO_PROFILE_$(1)_CODEGEN_UNITS=1
build: ## build target/release/tare, libtare_psi.so for MySQL and MariaDB servers, and libtare_any.so for other programs
	$(CARGO) build --release -p tare-cli
	$(call as_packaged,RELEASE) $(CARGO) build --release -p tare-psi -p tare-any

# Lint is part of the tests: what CI refuses, `make test` refuses.
test: style deps lint unit loom ## everything that must pass, with all that `check` and `lint` do (under 30 minutes on 2 cores)
	@scripts/left-out $(UNIT_LOG)
	@cat $(LEFT_OUT_SERVERS)

# Unit tests only: no servers, no installs.
check: style ## format, clippy and unit tests, for work between commits (two minutes once built)
	$(CARGO) test --workspace --lib --bins --quiet

unit: deps ## all tests, with and without instrumentation, without the checks of `lint`
	@mkdir -p target
	@scripts/servers-left-out $(LEFT_OUT_SERVERS)
	$(CARGO) build -p tare-psi -p tare-any
	TARE_LEFT_OUT="$$(scripts/servers-left-out --names $(LEFT_OUT_SERVERS))" \
		CARGO=$(CARGO) scripts/unit-tests 2>&1 | tee $(UNIT_LOG)
	$(CARGO) test -p tare --no-default-features --no-fail-fast 2>&1 | tee -a $(UNIT_LOG)
	$(CARGO) test -p tare --features os-locks,tokio --test locks --test counts --test asynchronous 2>&1 | tee -a $(UNIT_LOG)
	$(CARGO) bench -p tare --bench instructions
	$(CARGO) bench -p tare --bench instructions --no-default-features

# Its own target folder: the flag would have cargo build everything anew, twice. The locks' models
# take minutes at three preemptions; `make test-long` does that.
LOOM = RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=$(CURDIR)/target/loom
loom: ## model-check records, locks and free lists in every interleaving of up to two or three preemptions
	$(LOOM) LOOM_MAX_PREEMPTIONS=3 $(CARGO) test --release -p tare-layout --test loom
	cd loom && $(LOOM) LOOM_MAX_PREEMPTIONS=2 $(CARGO) test --release

# What needs no install, and is seconds once it is built.
style: arrows modules words docs
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings

lint: style licences ## format, clippy with and without instrumentation, rustdoc, shellcheck, arrows, sizes, words, documents, licences
	$(CARGO) clippy $(SWITCHED) --no-default-features --all-targets -- -D warnings
	$(CARGO) clippy -p tare --features tokio --all-targets -- -D warnings
	$(CARGO) clippy -p tare-tracing -p tare-tower --no-default-features -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps --quiet $(PUBLISHED:%=-p %) --features tare/tokio,tare-tower/axum
	shellcheck $(SHELL_SCRIPTS)

arrows: ## which crate may use which
	@scripts/check-arrows

modules: ## sizes of files and functions, and cycles of files, within their limits (scripts/modules CRATE explains)
	@scripts/modules

docs: ## links, paths and modules that documents name, documents that the source names, and the tests of adding.md and security.md, exist
	@scripts/check-docs

words: ## no identifier has a retired word (CONTRIBUTING.md; scripts/words PATH prints where)
	@scripts/words

licences: ## every dependency's licence is on the allowed list
	@scripts/check-licences

bench: ## measure the engine's events against one rdtsc, and how long reading takes; writes target/bench/{engine,reader,tables}.json
	@mkdir -p target/bench
	$(CARGO) bench -p tare --bench engine
	$(CARGO) run --release -p tare-reader --example top25
	$(CARGO) bench -p tare-server --bench every_table

# Each is a recipe; WEIGH="--quick" makes it short, WEIGH="--repetitions 20" long. Results are in target/weigh.
WEIGHED = target/weigh
WEIGH =
weigh = rm -rf $(WEIGHED)/$(1) && $(or $(3),target/release/tare) weigh $(1) --output $(WEIGHED)/$(1) $(2) $(WEIGH)

bench-server: deps-demo build ## measure what instrumentation costs tare serve, in CPU and memory (about 10 minutes)
	CARGO_TARGET_DIR=target/plain $(CARGO) build --release -p tare-cli --no-default-features
	@$(call weigh,server)
	@$(call weigh,memory,--server tare)

door-bench: deps-weigh build ## measure what Tare costs in unmodified MySQL and MariaDB servers, in CPU and memory (some three hours)
	@$(call weigh,door)
	@$(call weigh,memory,--server 'mysql 5.7' --server mariadb --server 'mysql 8.0' --server 'mysql 5.6')

# Only what it runs: no tare top, no history.
demo: deps-demo ## run a load on tare serve with everything instrumented; print the top events and what it costs
	$(CARGO) build --profile demo -p tare-cli --no-default-features --features instrument
	@$(call weigh,demo,,target/demo/tare)

# Two more builds: the door, and tare serve without instrumentation.
headline: demo ## measure README's kind of figures: tare serve against a build without instrumentation, MariaDB with its own and Tare's engine
	$(call as_packaged,DEMO) $(CARGO) build --profile demo -p tare-psi
	@cp target/demo/tare target/demo/tare-instrumented
	$(CARGO) build --profile demo -p tare-cli --no-default-features
	@$(call weigh,headline,--plain target/demo/tare,target/demo/tare-instrumented)

# Recipe own takes a server and a load of the user's: here tare serve, and sysbench.
RECIPES = configs versions instruments connect schedulers allocators locks generator own demo headline server door any postgres nginx memory events explain late watch scrape
weigh-quick: deps-weigh build ## run every recipe of tare weigh in its quick form; reports in target/weigh (some two hours; RECIPES="configs connect" runs those)
	CARGO_TARGET_DIR=target/plain $(CARGO) build --release -p tare-cli --no-default-features
	@scripts/weigh-quick $(WEIGHED) $(RECIPES)

test-long: deps ## the same tests with their long settings (fuzz cases, stress); says when it last ran
	@scripts/test-long

fuzz: ## fuzz with libFuzzer for bytes that break segments, packets, statements or digests, 60 s each (needs cargo +nightly and cargo-fuzz)
	@scripts/fuzz

package: ## build .deb packages in target/packages: tools, door, C library
	@scripts/deps package
	$(CARGO) build --profile dist -p tare-cli -p tare-psi -p tare-any -p tare-abi
	@scripts/package

PREFIX ?= /usr/local
install-c: ## build the C library and install tare.h, tare.hpp, libtare.so and libtare.a (PREFIX=/usr/local)
	$(call as_packaged,RELEASE) $(CARGO) build --release -p tare-abi
	@scripts/install-c $(PREFIX)
