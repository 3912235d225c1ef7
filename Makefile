# make demo       build mover and run it on three examples
# make build      mover, and mover-bench and mover-fuzz beside it
# make test       run all tests (within some 20 minutes on 2 cores)
# make test-long  the same tests, then fuzzing: an hour on 2 cores
# make mutations  break mover on purpose and see that the fuzzer notices
# make bench      measure everything and make BENCHMARKS.md of it (40 minutes at most on 2 idle cores)
# make bench-page make BENCHMARKS.md of the results that are there
# make lint       formatting, lints, documentation, licences of dependencies

MOVER = target/release/mover

.PHONY: demo build build-mover test test-long mutations bench bench-page lint build-packages test-packages

demo: build-mover
	@echo
	@echo '$$ mover check examples/promela/lost_update.pml'
	@$(MOVER) check examples/promela/lost_update.pml; test $$? -eq 10
	@echo
	@echo '$$ mover check examples/promela/peterson2.pml'
	@$(MOVER) check examples/promela/peterson2.pml
	@echo
	@echo '$$ mover check examples/c/bluetooth_driver.c'
	@$(MOVER) check examples/c/bluetooth_driver.c; test $$? -eq 10

build: build-packages
	cargo build --release --locked --package mover --package mover-bench --package mover-campaign

# The product alone.
build-mover: build-packages
	cargo build --release --locked --package mover

test: test-packages
	cargo test --workspace --locked --no-fail-fast

# What is not spent on the tests is for fuzzing. MOVER_LONG=1 make test tries six times as many random programs in the tests.
test-long: test build
	$(MOVER) fuzz --generator all --for 40m --jobs 2

mutations: test-packages
	scripts/check-mutations

# Each point is given up after BENCH_SECONDS; the rows are in bench/results as soon as they are measured.
BENCH_SECONDS = 10
BENCH_RUNS = 3
RESULTS = bench/results

bench: build test-packages
	@mkdir -p $(RESULTS)
	$(MOVER) bench spin --runs $(BENCH_RUNS) --csv $(RESULTS)/spin.csv
	$(MOVER) bench reduced --limit $(BENCH_SECONDS) --csv $(RESULTS)/reduced.csv
	$(MOVER) bench threads --limit $(BENCH_SECONDS) --csv $(RESULTS)/threads.csv
	$(MOVER) bench bounds --limit $(BENCH_SECONDS) --csv $(RESULTS)/bounds.csv
	$(MOVER) bench cores --runs $(BENCH_RUNS) --limit $(BENCH_SECONDS) --csv $(RESULTS)/cores.csv
	$(MOVER) bench cpc --limit $(BENCH_SECONDS) --csv $(RESULTS)/cpc.csv
	$(MOVER) bench dynamic --limit $(BENCH_SECONDS) --csv $(RESULTS)/dynamic.csv
	$(MOVER) bench mat --limit $(BENCH_SECONDS) --csv $(RESULTS)/mat.csv
	$(MOVER) bench tm --large --csv $(RESULTS)/tm.csv
	$(MOVER) bench page

bench-page: build
	$(MOVER) bench page

lint:
	cargo fmt --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS='-D warnings -A rustdoc::private-intra-doc-links' cargo doc --workspace --no-deps --document-private-items --locked
	@scripts/install-packages python3=python3
	scripts/check-dependencies

# What building and running needs besides Rust; the sanitizers are for native replay.
SANITIZERS = /usr/lib/llvm-19/lib/clang/19/lib/linux
build-packages:
	@scripts/install-packages cc=gcc cpp=cpp clang-19=clang-19 llvm-config-19=llvm-19-dev $(SANITIZERS)=libclang-rt-19-dev

# What the tests need besides: the peers that mover is compared with, readers of what it writes, a browser for reports.
test-packages: build-packages
	@scripts/install-packages gcc=gcc spin=spin z3=z3 python3=python3 dot=graphviz flock=util-linux gdb=gdb zsh=zsh fish=fish groff=groff-base chromium=chromium chromedriver=chromium-driver
	@scripts/test-venv target/test-venv >/dev/null
