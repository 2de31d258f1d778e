#!/bin/sh
# Builds all of this folder, boots an emulated machine with Debian's kernel, and shows it there:
# loads the modules, talks to them, unloads them. Needs no root, but strata built by `make build`.
#
#   run.sh           shows all of it, and ends
#   run.sh shell     a shell there, as root, in the folder with what was built; `exit` ends it
set -eu
cd "$(dirname "$0")"
guest=../../tests/guest/shell.py
out=$(pwd)/../../build/netlink_tutorial
build=${STRATA_BUILD:-$(pwd)/../../build/release}

if [ ! -f "$guest" ] || [ ! -x "$build/strata" ]; then
  echo "run.sh: there is no $guest or no $build/strata; take a clone of strata, and make build" >&2
  exit 2
fi
kernel=$(python3 "$guest" --version)
headers=/lib/modules/$kernel/build
if [ ! -d "$headers" ]; then
  echo "run.sh: there is no $headers; install linux-headers-$kernel, or delete" \
    "~/.cache/strata-guest, so that the newest kernel is fetched" >&2
  exit 2
fi
make -s OUT="$out" KDIR="$headers" STRATA_BUILD="$build"

taken=$out/guest
mkdir -p "$taken/bin"
cp "$out"/*.ko "$out/client" "$out/board" "$out/noticeboard.yaml" show.sh "$build/strata" \
  "$taken/bin"
case ${1:-} in
  shell) python3 "$guest" "$taken" ;;
  "") python3 "$guest" "$taken" "sh show.sh" ;;
  *) echo "usage: run.sh [shell]" >&2; exit 2 ;;
esac
