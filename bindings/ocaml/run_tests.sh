#!/bin/sh
# Builds the bindings against the strata installed at PREFIX, and runs all tests, in native code and
# in byte-code: run_tests.sh PREFIX. Needs root. Builds in $STRATA_OCAML_BUILD (_build).
set -eu
prefix=$(cd "${1:?run_tests.sh PREFIX}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
build=${STRATA_OCAML_BUILD:-_build}
cd "$here"
mkdir -p "$build"
build=$(cd "$build" && pwd)

# A sanitizer's runtime is to be in the tests, not in the compiler. OCaml's runtime has a signal
# stack of its own for each thread.
XSK_TEST_PRELOAD=${LD_PRELOAD:-}
ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}use_sigaltstack=0"
LSAN_OPTIONS="suppressions=$here/test/lsan.supp:print_suppressions=0"
export XSK_TEST_PRELOAD ASAN_OPTIONS LSAN_OPTIONS
unset LD_PRELOAD

machine=$(gcc -print-multiarch)
for folder in "$prefix/lib" "$prefix/lib/$machine" "$prefix/lib64"; do
  PKG_CONFIG_PATH="$folder/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
  LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
done
export PKG_CONFIG_PATH LD_LIBRARY_PATH

timeout 600 dune build --root . --build-dir "$build" -j 2 \
  @install ./test/xsk_test.exe ./test/xsk_test.bc ./bench/udp_pkt_gen.exe ./bench/rxdrop.exe
built=$build/default
CAML_LD_LIBRARY_PATH="$built/src:$built/test${CAML_LD_LIBRARY_PATH:+:$CAML_LD_LIBRARY_PATH}"
export CAML_LD_LIBRARY_PATH

# What README.md shows, built as its readers would: with the library installed.
readme=$build/readme
rm -rf "$readme"
mkdir -p "$readme"
dune install --root . --build-dir "$build" --prefix "$readme/installed" > "$readme/log" 2>&1 ||
  { cat "$readme/log"; exit 1; }
awk '/^```ocaml/ { on = 1; next } /^```/ { on = 0 } on' README.md > "$readme/example.ml"
for compiler in ocamlopt ocamlc; do
  (cd "$readme" && OCAMLPATH="$readme/installed/lib" ocamlfind "$compiler" -package xsk \
    -linkpkg -warn-error +a -o "example.$compiler" example.ml)
done

failed=0
run() {  # NAME COMMAND...
  name=$1
  shift
  echo "--- $name"
  if test/topology.sh timeout 300 "$@"; then return; fi
  echo "FAILED: $name"
  failed=1
}

preloaded() { run "$1" env LD_PRELOAD="$XSK_TEST_PRELOAD" "$2" "${3:-}" ; }

preloaded "tests, native code" "$built/test/xsk_test.exe"
preloaded "tests, byte-code" ocamlrun "$built/test/xsk_test.bc"
preloaded "README.md, native code" "$readme/example.ocamlopt"
preloaded "README.md, byte-code" ocamlrun "$readme/example.ocamlc"
run "udp_pkt_gen and rxdrop" test/bench_test.sh "$built/bench"
[ "$failed" = 0 ] && echo "all passed"
exit "$failed"
