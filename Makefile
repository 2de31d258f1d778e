# Porcelain over CMake. `make demo` shows strata at work, `make test` proves it; both install what
# they miss first.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
TIMED := tools/timed.sh
REVISION = $(shell git describe --always --dirty 2> /dev/null || echo unknown)

.PHONY: all deps deps-compile build build-all program static test-static arm64 test-arm64 demo test test-asan test-tsan simulations test-frameworks test-redis test-guest test-pages faults bench bench-cache bench-web bench-proxy bench-lua bench-codecs bench-paths bench-xdp bench-l2 bench-netlink bench-cluster fuzz \
        check reference install clean

all: build

deps:
	@$(TIMED) 'packages' tools/deps.sh

# What compiling and `make check` need. .ci/run installs the rest meanwhile.
deps-compile:
	@$(TIMED) 'packages to compile' tools/deps.sh compile

# What `make install` installs. Files of a folder are compiled together.
build: deps
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target installed

# Tests and benches too.
build-all: build
	cmake --build --preset release -j $(JOBS)

program: deps
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target strata

demo: program
	tools/demo.sh build/release/strata

test: test-asan test-tsan

# One program that needs nothing but the kernel, in build/static; and for ARM's 64-bit machines, in
# build/arm64, whose unit tests QEMU runs here.
static: deps
	tools/archives.sh amd64 build/archives/amd64
	cmake --preset static
	cmake --build --preset static -j $(JOBS) --target strata strata_library strata_c_static

test-static: static
	cmake --build --preset static -j $(JOBS) --target strata_unit_tests
	STRATA_BIN=$(CURDIR)/build/static/strata /usr/bin/python3 -m pytest -q -rs -p no:cacheprovider tests/static

arm64: deps
	tools/deps.sh arm64
	tools/archives.sh arm64 build/archives/arm64
	cmake --preset arm64
	cmake --build --preset arm64 -j $(JOBS) --target strata strata_library strata_c_static strata_unit_tests

# Unit tests of what speaks to a kernel are left out where QEMU emulates none of it.
test-arm64: arm64
	STRATA_BIN=$(CURDIR)/build/arm64/strata STRATA_EMULATOR=qemu-aarch64-static \
	  /usr/bin/python3 -m pytest -q -rs -p no:cacheprovider tests/static

# Everything under AddressSanitizer and UndefinedBehaviorSanitizer, on io_uring and on epoll.
test-asan: deps-compile
	@$(TIMED) 'ASan: configure' cmake --preset asan
	@$(TIMED) 'ASan: compile' cmake --build --preset asan -j $(JOBS)
	@$(MAKE) -s deps
	@$(TIMED) 'ASan: tests' ctest --test-dir build/asan -j $(JOBS) --output-on-failure --no-tests=error

# What crosses threads, under ThreadSanitizer.
test-tsan: deps-compile
	@$(TIMED) 'TSan: configure' cmake --preset tsan
	@$(TIMED) 'TSan: compile' cmake --build --preset tsan -j $(JOBS)
	@$(MAKE) -s deps
	@$(TIMED) 'TSan: tests' ctest --test-dir build/tsan -j $(JOBS) --output-on-failure --no-tests=error

# SEEDS seeds of each simulation, under AddressSanitizer.
SEEDS ?= 10000
simulations: deps-compile
	cmake --preset asan
	cmake --build --preset asan -j $(JOBS) --target strata_unit_tests
	STRATA_SEEDS=$(SEEDS) build/asan/tests/strata_unit_tests --gtest_brief=1 --gtest_filter='*simulation.*'

# Redis's clients and the frameworks that use them, fetched from their registries, on the cache.
test-frameworks: program
	cd $(CURDIR)/tests && STRATA_BIN=$(CURDIR)/build/release/strata \
	  STRATA_CLIENT_PACKAGES=$(CURDIR)/build/release/redis_clients \
	  /usr/bin/python3 -m pytest -v -rs --tb=short -p no:cacheprovider redis_clients

# Redis's own tests of its commands, from Debian's source package, on the cache.
test-redis: program
	mkdir -p build/redis
	STRATA_BIN=$(CURDIR)/build/release/strata /usr/bin/python3 tests/redis_suite build/redis $(UNITS)

# AF_XDP and the netlink module on Debian's stock kernels, in an emulated machine. Needs root, and nearly an hour.
test-guest: build-all
	$(SUDO) env STRATA_BUILD=$(CURDIR)/build/release /usr/bin/python3 -m pytest -v -rs --tb=short \
	  -p no:cacheprovider tests/guest

# Two pages of docs/, followed word for word: raw Ethernet in C, and the netlink tutorial. Needs root.
test-pages: build-all
	$(SUDO) env STRATA_BUILD=$(CURDIR)/build/release STRATA_BIN=$(CURDIR)/build/release/strata \
	  /usr/bin/python3 -m pytest -v -rs --tb=short -p no:cacheprovider \
	  tests/integration/test_pages.py tests/guest/test_tutorial.py

# Each system call of a daemon is made to fail once, on each backend of the loop: a table of what
# comes of it. FAULTS_FLAGS='--sample 200' tries fewer, '--only openat' some of them.
faults: program
	for loop in epoll io_uring; do cd $(CURDIR)/tests && echo "$$loop:" && STRATA_LOOP=$$loop \
	  STRATA_BIN=$(CURDIR)/build/release/strata /usr/bin/python3 -m faults $(FAULTS_FLAGS) || exit 1; done

bench: build-all
	python3 bench/run.py --build-dir build/release $(BENCH_FLAGS)

# The cache beside Redis and, where it is installed, Valkey.
bench-cache: build-all
	python3 bench/cache.py --build-dir build/release $(BENCH_FLAGS)

# HTTP, WebSocket and TLS beside µWebSockets, nginx and h2o.
bench-web: build-all
	python3 bench/web.py --build-dir build/release $(BENCH_FLAGS)

# The proxy beside HAProxy and nginx.
bench-proxy: build-all
	python3 bench/proxy.py --build-dir build/release $(BENCH_FLAGS)

# Scripts beside what is built in, and node.
bench-lua: build-all
	python3 bench/lua.py --build-dir build/release $(BENCH_FLAGS)

# What building and parsing of each codec costs, by google-benchmark: seven times in random order, and
# their median and spread. BENCH_FLAGS='--benchmark_filter=frame' runs some.
bench-codecs: deps
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target bench_codecs
	build/release/bench/bench_codecs --benchmark_enable_random_interleaving \
	  --benchmark_repetitions=7 --benchmark_report_aggregates_only $(BENCH_FLAGS)

# What TCP, UDP, raw Ethernet and AF_XDP cost here. BENCH_FLAGS='-o results' writes a report.
bench-paths: build-all
	$(SUDO) build/release/strata bench paths --revision $(REVISION) $(BENCH_FLAGS)

# AF_XDP in each language beside plain C.
bench-xdp: build-all
	python3 bench/xdp.py --build-dir build/release $(BENCH_FLAGS)

# Servers and pipes on l2:// and xdp:// beside plain C.
bench-l2: build-all
	python3 bench/l2_endpoints.py --build-dir build/release $(BENCH_FLAGS)

# A netlink exchange in each language and library.
bench-netlink: build-all
	$(MAKE) -s -C examples/netlink_exchange OUT=$(CURDIR)/build/release/clients
	build/release/strata bench netlink $(BENCH_FLAGS)

# What a cluster costs as it grows, in a simulation and with a real etcd.
bench-cluster: build-all
	python3 bench/cluster_scale.py --build-dir build/release $(BENCH_FLAGS)

# Each target for FUZZ_SECONDS, JOBS of them at once. FUZZ_TARGETS='rdb stream' makes and runs these.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= $(patsubst fuzz/%_fuzz.cpp,%,$(wildcard fuzz/*_fuzz.cpp))
fuzz: deps
	cmake --preset fuzz
	cmake --build --preset fuzz -j $(JOBS) --target $(FUZZ_TARGETS:%=%_fuzz)
	tools/fuzz.sh build/fuzz/fuzz $(FUZZ_SECONDS) $(JOBS) $(FUZZ_TARGETS)

check: deps-compile
	@$(TIMED) 'check: configure' cmake --preset tidy
	@$(TIMED) 'check: rules' python3 tools/check.py
	@$(TIMED) 'check: rules fail' python3 -m unittest discover -q -s tools/check -p '*_test.py'
	@$(TIMED) 'check: clang-tidy' python3 tools/tidy.py --jobs $(JOBS) build/tidy

# The reference of C++, C, OCaml and Rust: build/reference/index.html.
reference: deps
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target strata_c strata_c_static
	cmake --install build/release --prefix build/reference_library --component c > build/reference.log
	tools/reference/reference.py build/reference_library build/reference

# The netlink clients go with it that need no registry: `strata bench netlink` measures them.
install: build
	$(MAKE) -s -C examples/netlink_exchange OUT=$(CURDIR)/build/release/redis_clients pure libnl cpp rust
	DESTDIR=$(DESTDIR) cmake --install build/release --prefix $(PREFIX)

clean:
	rm -rf build
