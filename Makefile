# Porcelain over CMake. `make demo` shows strata at work, `make test` proves it; both install what
# they miss first.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
PACKAGES := $(shell sed 's/\#.*//' tools/deps.txt)

.PHONY: all deps build demo test test-asan test-tsan test-guest bench bench-cache bench-xdp bench-netlink fuzz \
        check install clean

all: build

# Asks apt only for what is not there, so that it costs nothing the second time. What another
# package provides is there: NodeSource's nodejs brings npm, and conflicts with Debian's.
deps:
	@missing=$$(dpkg-query -W -f '$${db:Status-Status} $${Package} $${Provides}\n' \
	  | sed -n 's/^installed //p' | sed 's/([^)]*)//g' | tr -s ', ' '\n' | sort -u > .deps.have; \
	  printf '%s\n' $(PACKAGES) | sort | comm -23 - .deps.have; rm -f .deps.have); \
	if [ -n "$$missing" ]; then \
	  echo "installing:" $$missing; \
	  $(SUDO) apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -qq -y --no-install-recommends \
	    $$missing > /dev/null; \
	fi

build: deps
	cmake --preset release
	cmake --build --preset release -j $(JOBS)

demo: build
	tools/demo.sh build/release/strata

test: test-asan test-tsan

# Everything under AddressSanitizer and UndefinedBehaviorSanitizer, on io_uring and on epoll.
test-asan: deps
	cmake --preset asan
	cmake --build --preset asan -j $(JOBS)
	ctest --test-dir build/asan -j $(JOBS) --output-on-failure --no-tests=error

# What crosses threads, under ThreadSanitizer.
test-tsan: deps
	cmake --preset tsan
	cmake --build --preset tsan -j $(JOBS) --target strata strata_unit_tests
	ctest --test-dir build/tsan -j $(JOBS) --output-on-failure --no-tests=error -L threads

# AF_XDP and the netlink module on Debian's stock kernels, in an emulated machine. Needs root, and nearly an hour.
test-guest: build
	$(SUDO) env STRATA_BUILD=$(CURDIR)/build/release /usr/bin/python3 -m pytest -v -rs --tb=short \
	  -p no:cacheprovider tests/guest

bench: build
	python3 bench/run.py --build-dir build/release $(BENCH_FLAGS)

# The cache beside Redis and, where it is installed, Valkey.
bench-cache: build
	python3 bench/cache.py --build-dir build/release $(BENCH_FLAGS)

# AF_XDP in each language beside plain C.
bench-xdp: build
	python3 bench/xdp.py --build-dir build/release $(BENCH_FLAGS)

# A netlink exchange in each language and library.
bench-netlink: build
	$(MAKE) -s -C clients OUT=$(CURDIR)/build/release/clients
	build/release/strata bench netlink $(BENCH_FLAGS)

# Each target for FUZZ_SECONDS.
FUZZ_SECONDS ?= 60
fuzz: deps
	cmake --preset fuzz
	cmake --build --preset fuzz -j $(JOBS)
	tools/fuzz.sh build/fuzz/fuzz $(FUZZ_SECONDS)

check: deps
	cmake --preset tidy
	python3 tools/check.py
	python3 tools/check/check_test.py
	python3 tools/tidy.py --jobs $(JOBS) build/tidy

install: build
	DESTDIR=$(DESTDIR) cmake --install build/release --prefix $(PREFIX)

clean:
	rm -rf build
