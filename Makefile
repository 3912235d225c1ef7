# make demo       build mover and run it on three examples
# make build      mover, and mover-bench and mover-fuzz beside it
# make check      the quick tests (aim: 2 minutes after a build)
# make test       all tests (aim: 15 minutes on 2 idle cores after a build)
# make test-long  all tests with six times as many random programs, then 40 minutes of fuzzing
# make mutations  break mover on purpose and see that the fuzzer notices
# make bench      measure everything and make BENCHMARKS.md of it (40 minutes at most on 2 idle cores)
# make bench-page make BENCHMARKS.md of the results that are there
# make book       the guide as a site in target/book/html, with its links checked
# make deb        a package for Debian in target/debian
# make tarball    mover, its man pages and completions in target/mover-VERSION-MACHINE.tar.gz, with a static
#                 executable for machines without LLVM, which reads no C
# make vscode     test and pack the extension for Visual Studio Code into target/mover.vsix
# make lint       formatting, lints, documentation, licences of dependencies
#
# Three tiers of tests. Each contains the one before.
# - check: unit tests, programs with a known verdict (crates/mover/tests/cases), snapshots, small
#   tests of single crates. Needs what building mover needs, nothing else.
# - test: also the command line, the examples, random programs of every kind, and other tools:
#   SPIN, z3, gcc, Graphviz, shells, Python packages, Chromium. They are installed first.
# - test-long: the same, with larger random tests (MOVER_LONG), and fuzzing.
# A new test target is part of `test`. It is part of `check` if it is in CHECK_TESTS below; it
# belongs there if it needs no other tool and takes seconds.

MOVER = target/release/mover

.PHONY: demo build build-mover check test test-long mutations bench bench-page book deb tarball vscode lint build-packages test-packages

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

CHECK_TESTS = \
	bad_inputs builder c cases expectations facts histories ignoring memory \
	plan refusals semantics tm_cli transactions validate

check: build-packages
	cargo test --workspace --locked --no-fail-fast --lib --bins $(CHECK_TESTS:%=--test %)

test: test-packages
	cargo test --workspace --locked --no-fail-fast

test-long: test-packages build
	MOVER_LONG=1 cargo test --workspace --locked --no-fail-fast
	$(MOVER) fuzz --generator all --for 40m --jobs 2

mutations: test-packages
	scripts/check-mutations

# SVCOMP may name directories with tasks of SV-COMP, which are not part of this repository.
# Each point is given up after BENCH_SECONDS; the rows are in bench/results as soon as they are measured.
BENCH_SECONDS = 10
BENCH_RUNS = 3
RESULTS = bench/results

bench: build test-packages
	@mkdir -p $(RESULTS)
	$(MOVER) bench spin --runs $(BENCH_RUNS) --csv $(RESULTS)/spin.csv
	$(MOVER) bench reduced --limit $(BENCH_SECONDS) --csv $(RESULTS)/reduced.csv
	$(MOVER) bench ltl --limit $(BENCH_SECONDS) --csv $(RESULTS)/ltl.csv
	$(MOVER) bench threads --limit $(BENCH_SECONDS) --csv $(RESULTS)/threads.csv
	$(MOVER) bench bounds --limit $(BENCH_SECONDS) --csv $(RESULTS)/bounds.csv
	$(MOVER) bench cores --runs $(BENCH_RUNS) --limit $(BENCH_SECONDS) --csv $(RESULTS)/cores.csv
	$(MOVER) bench cpc --limit $(BENCH_SECONDS) --csv $(RESULTS)/cpc.csv
	$(MOVER) bench dynamic --limit $(BENCH_SECONDS) --csv $(RESULTS)/dynamic.csv
	$(MOVER) bench mat --limit $(BENCH_SECONDS) --csv $(RESULTS)/mat.csv
	$(MOVER) bench tm --large --csv $(RESULTS)/tm.csv
	$(MOVER) bench histories --limit $(BENCH_SECONDS) --csv $(RESULTS)/histories.csv
	$(if $(SVCOMP),$(MOVER) bench svcomp $(SVCOMP) --limit $(BENCH_SECONDS) --csv $(RESULTS)/svcomp.csv)
	$(if $(SVCOMP),$(MOVER) bench reductions $(SVCOMP) --limit $(BENCH_SECONDS) --csv $(RESULTS)/reductions.csv)
	$(MOVER) bench page

bench-page: build
	$(MOVER) bench page

# Tools of the Rust world that Debian lacks are built once, in target/tools.
MDBOOK = target/tools/bin/mdbook
$(MDBOOK):
	cargo install --quiet --locked --root target/tools --version 0.5.4 --no-default-features --features search mdbook

book: $(MDBOOK)
	@scripts/install-packages python3=python3
	scripts/book $(MDBOOK) target/book

CARGO_DEB = target/tools/bin/cargo-deb
$(CARGO_DEB):
	cargo install --quiet --locked --root target/tools --version 3.8.0 cargo-deb

deb: build-mover $(CARGO_DEB) shell-files
	PATH="$(CURDIR)/target/tools/bin:$$PATH" cargo deb --no-build --package mover

# What a package has besides the program.
SHELL_FILES = target/shell
.PHONY: shell-files
shell-files: build-mover
	rm -rf $(SHELL_FILES) && mkdir -p $(SHELL_FILES)/man
	$(MOVER) man > $(SHELL_FILES)/man/mover.1
	for command in check batch explain replay simulate explore tm; do $(MOVER) man $$command > $(SHELL_FILES)/man/mover-$$command.1; done
	for shell in bash zsh fish; do $(MOVER) completions $$shell > $(SHELL_FILES)/mover.$$shell; done

VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
TARBALL = mover-$(VERSION)-$(shell uname -m)
STATIC_TARGET = $(shell rustc -vV | sed -n 's/^host: //p')
tarball: build shell-files
	rm -rf target/$(TARBALL) && mkdir -p target/$(TARBALL)
	RUSTFLAGS='-C target-feature=+crt-static' cargo build --release --locked --package mover --no-default-features --target $(STATIC_TARGET)
	cp target/$(STATIC_TARGET)/release/mover target/$(TARBALL)/mover-static
	cp target/release/mover target/release/mover-bench target/release/mover-fuzz README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE target/$(TARBALL)/
	cp -r $(SHELL_FILES) target/$(TARBALL)/shell
	cp -r docs examples target/$(TARBALL)/
	tar -C target -czf target/$(TARBALL).tar.gz $(TARBALL)

# The packer of Microsoft's is a package of npm; nothing of it stays in the repository.
vscode: build-mover
	@scripts/install-packages node=nodejs npm=npm
	MOVER=$(CURDIR)/$(MOVER) node --test contrib/vscode/test/extension.test.js
	rm -rf target/vscode && cp -r contrib/vscode target/vscode && cp LICENSE-MIT target/vscode/LICENSE
	cd target/vscode && npx --yes @vscode/vsce@3 package --no-dependencies --allow-missing-repository \
	    --no-rewrite-relative-links -o ../mover.vsix

lint:
	cargo fmt --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS='-D warnings -A rustdoc::private-intra-doc-links' cargo doc --workspace --no-deps --document-private-items --locked
	@scripts/install-packages python3=python3
	scripts/check-dependencies

# What building and running needs besides Rust; the sanitizers are for native replay.
SANITIZERS = /usr/lib/llvm-19/lib/clang/19/lib/linux
build-packages:
	@scripts/install-packages cc=gcc cpp=cpp c++=g++ clang-19=clang-19 llvm-config-19=llvm-19-dev $(SANITIZERS)=libclang-rt-19-dev

# What the tests need besides: the peers that mover is compared with, readers of what it writes, a browser for reports.
test-packages: build-packages
	@scripts/install-packages gcc=gcc spin=spin z3=z3 python3=python3 dot=graphviz flock=util-linux gdb=gdb zsh=zsh fish=fish groff=groff-base node=nodejs chromium=chromium chromedriver=chromium-driver
	@scripts/test-venv target/test-venv >/dev/null
