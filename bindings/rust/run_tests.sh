#!/bin/sh
# Builds strata's crates against a strata that is installed at PREFIX, and runs all their tests,
# which make network namespaces of their own: as root. Downloads nothing. The exit code says how it
# went.
#
#   run_tests.sh PREFIX      CARGO=/usr/bin/cargo  CARGO_TARGET_DIR=target  TEST_TIMEOUT_S=600
set -eu

if [ $# -ne 1 ] || [ ! -d "$1" ]; then
  echo "usage: $0 PREFIX (where strata is installed)" >&2
  exit 2
fi
prefix=$(cd "$1" && pwd)
cd "$(dirname "$0")"

description=$(find "$prefix" -name strata-c.pc | head -n 1)
if [ -z "$description" ]; then
  echo "$0: there is no strata-c.pc in $prefix; install strata there" >&2
  exit 2
fi
if [ "$(id -u)" -ne 0 ]; then
  echo "$0: the tests make network namespaces; run it as root" >&2
  exit 2
fi
PKG_CONFIG_PATH=$(dirname "$description")
LD_LIBRARY_PATH=$(pkg-config --variable=libdir "$description")
export PKG_CONFIG_PATH LD_LIBRARY_PATH
unset STRATA_STATIC
export RUSTFLAGS="-D warnings" RUSTDOCFLAGS="-D warnings"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
# Some tests panic on purpose.
export RUST_BACKTRACE="${TEST_BACKTRACE:-0}"
cargo=${CARGO:-cargo}

if command -v rustfmt >/dev/null; then
  rustfmt --edition 2021 --check base/build.rs ./*/src/*.rs ./*/tests/*.rs ./*/examples/*.rs
fi
# One test at a time: each loads both ends of a link, and measures what it lost.
timeout "${TEST_TIMEOUT_S:-600}" \
  "$cargo" test --offline --workspace --no-fail-fast -- --test-threads=1 --nocapture
"$cargo" doc --offline --workspace --no-deps --quiet
echo "strata-base, strata-l2, strata-xdp, strata-netlink: all tests passed"
