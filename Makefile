# Two commands matter: `make bench` measures, `make test` checks everything.
# Both set up what they need first, in .tools and target, and say what is missing.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

CARGO ?= cargo
PYTHON ?= python3
FATHOM := $(CARGO) run --release --locked --quiet --
# Passed on by `make bench ARGS='…'`.
ARGS ?=
# Of the runner of functions in SQL: none, or datafusion.
FEATURES ?=
# Those that `make check-all` compiles, all of them where none is named; or `--changed`.
PARTS ?=
# Runs two commands at once: $(call at_once,ONE,OTHER).
# Where one fails the other is ended, and both are by an interrupt: each is a group of processes.
at_once = set -m; trap 'kill -- $$(jobs -p | sed s/^/-/) 2>/dev/null || true' EXIT; \
  { $(1); } & { $(2); } & set +m; wait -n; wait -n
# How `make test` installs what its tests need, while lints are checked: much of it is waiting
# for a network.
PREPARED := $(MAKE) --no-print-directory prepared
PREPARED_LOG := target/prepared.log
# How `make test` checks what is outside the workspace while the tests of the workspace run:
# with the processor time that those leave. What is said goes to a file until they have ended.
BESIDE := nice -n 19 $(MAKE) --no-print-directory beside
BESIDE_LOG := target/beside.log
# What the tests of the workspace say, of which `make test` ends with what failed.
TESTS_LOG := target/tests.log
# Modules of the two checks that are asked for by name.
SEEDS ?= 20000
MUTANTS ?= 100000
# What --quick measures, as the experiments have it (crates/bench/src/experiment).
QUICK := gemm,atax,lu,floyd-warshall,jacobi-2d,deriche,durbin,trisolv
QUICK_POINTERS := graph,quicksort,kmeans
# The builds that `fathom bench` measures.
DEFAULT := --suite polybench --variant wasm-simd,native,native-tuned
# Time of each target of `make fuzz`, and how many run at a time.
MINUTES ?= 1
JOBS ?= 1

##@ Every day

.PHONY: help
help: ## Say what there is
	@awk -F ':.*## ' '/^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  %-16s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: quick
quick: style ## Check what the daily round needs: formatting, lints, the project's rules, unit tests
	$(CARGO) test --locked --workspace --lib --test tidy

.PHONY: test
test: packages ## Check everything: style, sources, unit tests, the official suite, the command line
	@mkdir -p target
	@$(call at_once,$(MAKE) --no-print-directory style docs,$(PREPARED) >$(PREPARED_LOG) 2>&1 || { \
	  cat $(PREPARED_LOG); exit 1; })
	@cat $(PREPARED_LOG)
	$(CARGO) test --locked --workspace --no-run
	$(BESIDE) >$(BESIDE_LOG) 2>&1 & beside=$$!; failed=; \
	  trap 'kill $$beside 2>/dev/null || true; pkill -P $$$$ || true' EXIT; \
	  $(CARGO) test --locked --workspace --no-fail-fast 2>&1 | tee $(TESTS_LOG) || failed=yes; \
	  wait $$beside || failed=yes; cat $(BESIDE_LOG); [ -z "$$failed" ] || { \
	    grep -hE -A 3 '^test .* FAILED|, [1-9][0-9]* failed|panicked at|^error|  FAILED|^(FAIL|ERROR): ' \
	      $(TESTS_LOG) $(BESIDE_LOG) | tail -n 40; exit 1; }
	$(MAKE) --no-print-directory test-llvm

.PHONY: bench
bench: $(if $(filter-out --quick,$(ARGS)),setup,setup-default) ## Measure PolyBench on our engine under every strategy, on outside engines and natively
	$(FATHOM) bench $(ARGS)

# A third of what `setup` builds of the workloads: what is measured where ARGS says nothing, and
# its first impression.
.PHONY: setup-default
setup-default: packages-bench
	@$(call at_once,$(CARGO) build --release --locked,$(MAKE) --no-print-directory tools workloads-default)

.PHONY: workloads-default
workloads-default:
	$(PYTHON) workloads/build.py $(DEFAULT)
	$(PYTHON) workloads/build.py $(DEFAULT) --size small --kernel $(QUICK)

##@ Parts of `make test`

.PHONY: prepared
prepared: ## Install what tests need, check dependencies, make the manual
	$(MAKE) --no-print-directory tools
	$(MAKE) --no-print-directory deny
	$(MAKE) --no-print-directory book
	$(PYTHON) workloads/build.py --suite programs
	$(PYTHON) workloads/build.py --suite libsodium --variant wasm

.PHONY: beside
beside: ## Check what is outside the workspace: that it compiles, what CONTRIBUTING.md says, Python
	@failed=; \
	  CARGO=$(CARGO) $(PYTHON) tests/compiles/run.py --changed || failed=yes; \
	  for part in walks python-tests; do \
	    $(MAKE) --no-print-directory $$part || failed=yes; \
	  done; [ -z "$$failed" ]

.PHONY: style
style: ## Check formatting and lints
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- --deny warnings

.PHONY: docs
docs: ## Make the documentation of the libraries in target/doc, with warnings denied
	RUSTDOCFLAGS='--deny warnings' $(CARGO) doc --locked --workspace --lib --no-deps

.PHONY: book
book: ## Make a manual with search of the pages of docs in target/book (installs a pinned mdBook)
	$(PYTHON) tests/book/run.py

.PHONY: deny
deny: ## Check licences, bans, sources and advisories of dependencies (installs a pinned cargo-deny)
	$(PYTHON) tests/deny/run.py

.PHONY: test-llvm
test-llvm: ## Run the official suite and tests of stacks on code by LLVM, where there is a second code generator
	@case "$$(uname -sm)" in \
	  'Linux x86_64') set -e; \
	    for codegen in 'llvm --bounds guard,trap --opt speed' 'tiered:llvm --bounds guard --group stack-switching,own'; do \
	      FATHOM_SPEC="--codegen $$codegen" FATHOM_TEST_CODEGEN="$${codegen%% *}" $(CARGO) test --locked --workspace \
	        --exclude fathom-cross --test spec --test continuations --test segments; \
	    done ;; \
	  *) echo 'SKIPPED: code by LLVM is for x86-64 Linux' ;; \
	esac

.PHONY: walks
walks: ## Do what CONTRIBUTING.md says in a copy of the checkout: add one of each thing that grows
	$(PYTHON) tests/walks/run.py $(ARGS)

.PHONY: python-tests
python-tests: ## Run the unit tests of workloads/, engines/, tests/, fuzz/ and python/
	@for folder in workloads engines tests fuzz python; do \
	  find $$folder -name 'test_*.py' -not -path '*/build/*' -not -path '*/target/*' -printf '%h\n' | sort -u | while read -r tests; do \
	    echo "$$tests"; (cd $$tests && $(PYTHON) -W error::SyntaxWarning -m unittest discover --start-directory . --pattern 'test_*.py'); \
	  done; done

##@ Checks that take longer, or need more

.PHONY: check-all
check-all: packages ## Compile what is outside the workspace: fuzz, sql, runners in every language; PARTS names some
	CARGO=$(CARGO) $(PYTHON) tests/compiles/run.py $(PARTS)

.PHONY: test-readme
test-readme: setup ## Run every command of README and guide with the release binary, also those that measure for minutes
	$(PYTHON) workloads/build.py --suite libsodium
	$(PYTHON) workloads/build.py --suite fibers,http
	FATHOM_README=all $(CARGO) test --release --locked --test readme -- --nocapture

.PHONY: test-install
test-install: packages ## Run `cargo install` into a folder beside and use what it installed, outside the checkout
	CARGO=$(CARGO) tests/install/run

.PHONY: test-wheel
test-wheel: wheel ## Install the wheel into a fresh environment without cargo, and run the example notebook in it
	tests/wheel/run

.PHONY: test-engines
test-engines: packages ## Install every outside engine, which takes a while, and test them all
	$(PYTHON) workloads/setup.py
	$(PYTHON) engines/install.py all
	cd engines/tests && $(PYTHON) -m unittest discover --start-directory . --pattern 'test_*.py'

.PHONY: test-programs
test-programs: packages programs ## Run real programs on our engine and natively, and compare
	$(CARGO) test --locked --test programs

.PHONY: test-libsodium
test-libsodium: packages ## Run libsodium's programs on our engine under every strategy, with and without vectors
	$(PYTHON) workloads/setup.py
	$(PYTHON) workloads/build.py --suite libsodium --variant wasm,wasm-simd
	$(CARGO) test --locked --test libsodium -- every

.PHONY: test-sql
test-sql: packages ## Build DataFusion and test functions in SQL, which takes a while
	$(PYTHON) workloads/setup.py
	$(PYTHON) sql/operators/build.py
	$(CARGO) fmt --all --check --manifest-path sql/Cargo.toml
	$(CARGO) clippy --locked --workspace --all-features --manifest-path sql/Cargo.toml --all-targets -- --deny warnings
	$(CARGO) test --locked --workspace --all-features --manifest-path sql/Cargo.toml

.PHONY: test-slurm
test-slurm: packages-slurm ## Run a campaign on a Slurm cluster on loopback, a node killed in the middle
	CARGO=$(CARGO) tests/slurm/run

.PHONY: test-pkeys
test-pkeys: packages ## Run strategy pkeys in a virtual machine that has protection keys
	CARGO=$(CARGO) tests/pkeys/run

.PHONY: cross
cross: packages ## Run the engine's tests and the official suite on aarch64 and riscv64, emulated
	CARGO=$(CARGO) tests/cross/run

.PHONY: fuzz
fuzz: ## Run every fuzz target for MINUTES each, JOBS at a time, and end with a table
	$(PYTHON) fuzz/run.py --minutes $(MINUTES) --jobs $(JOBS) $(ARGS)

.PHONY: differential
differential: ## Run SEEDS generated modules under every exact strategy and on wasmtime
	$(CARGO) run --release --locked --manifest-path fuzz/Cargo.toml --bin differential -- --count $(SEEDS)

.PHONY: mutate
mutate: ## Offer MUTANTS damaged modules to the engine: errors, never a panic
	$(CARGO) run --release --locked --manifest-path fuzz/Cargo.toml --bin mutate -- --count $$(($(MUTANTS) / 20))

.PHONY: mutations
mutations: ## Make each known mistake in the sources and see its test fail (restores them)
	$(PYTHON) tests/mutations/run.py $(ARGS)

##@ Measure

.PHONY: bounds
bounds: setup ## Measure what bounds checks cost on 32-bit and 64-bit memories
	$(FATHOM) suite bounds $(ARGS)

.PHONY: libsodium
libsodium: setup ## Measure libsodium's programs by group on every engine that is installed
	$(PYTHON) workloads/build.py --suite libsodium
	$(FATHOM) suite libsodium $(ARGS)

.PHONY: web
web: setup ## Measure applications of npm on every engine that is installed (fetches and records them)
	$(PYTHON) engines/install.py node
	$(PYTHON) workloads/build.py --suite web
	$(FATHOM) suite web $(ARGS)

.PHONY: managed
managed: setup ## Measure programs whose objects are collected on every engine that is installed (fetches Kotlin)
	$(PYTHON) workloads/build.py --suite managed
	$(FATHOM) bench managed --bounds auto $(ARGS)

.PHONY: sql-suite
sql-suite: setup sql-runner ## Measure functions in SQL beside native ones
	$(FATHOM) suite sql $(ARGS)

.PHONY: sql-runner
sql-runner: packages ## Build what functions in SQL are measured by; FEATURES=datafusion for whole queries
	$(PYTHON) workloads/setup.py
	$(PYTHON) sql/operators/build.py
	$(CARGO) build --release --locked --manifest-path sql/Cargo.toml -p fathom-sql-suite --features '$(FEATURES)'

##@ Set up

.PHONY: setup
setup: packages-bench ## Install the tools, build the workloads and the release binary
	@$(call at_once,$(CARGO) build --release --locked,$(MAKE) --no-print-directory tools workloads)

.PHONY: packages
packages: ## Install missing Debian packages (as root), or name them
	@.ci/packages

.PHONY: packages-bench
packages-bench: ## Install missing Debian packages that measuring needs (as root), or name them
	@.ci/packages bench

.PHONY: packages-slurm
packages-slurm: ## Install missing Debian packages that a test of Slurm needs (as root), or name them
	@.ci/packages slurm

.PHONY: tools
tools: ## Install the pinned C compiler and the outside engines that install quickly into .tools
	$(PYTHON) workloads/setup.py
	$(PYTHON) engines/install.py

.PHONY: workloads
workloads: ## Compile the workloads, and those of --quick in the size it takes (incremental)
	$(PYTHON) workloads/setup.py
	$(PYTHON) workloads/build.py
	$(PYTHON) workloads/build.py --size small --kernel $(QUICK)
	$(PYTHON) workloads/build.py --suite pointers --size small --kernel $(QUICK_POINTERS)

.PHONY: programs
programs: ## Fetch and compile the real programs that the tests run (incremental)
	$(PYTHON) workloads/setup.py
	$(PYTHON) workloads/build.py --suite programs

.PHONY: wheel
wheel: ## Build the Python package with the program in target/wheels (installs a pinned maturin)
	$(PYTHON) python/wheel.py

##@ Rewrite

.PHONY: bless
bless: ## Rewrite what tests compare with: transcripts, expected failures
	FATHOM_BLESS=1 $(CARGO) test --locked --test spec
	TRYCMD=overwrite $(CARGO) test --locked --test cli
