#!/bin/sh
# What run.sh does in the guest. Each command is shown before it runs; one that is not refused as it
# should be, or not done, ends it.
set -eu

run() {
  echo "> $*"
  "$@"
}

refused() {
  echo "> $*"
  if "$@"; then
    echo "show.sh: it was to be refused" >&2
    exit 1
  fi
}

run insmod hello.ko
run ./client hello 1
run rmmod hello
refused ./client hello 1

run insmod noticeboard.ko
run ./client -l posted noticeboard 1 1=tea
run ./strata nl policy noticeboard
run ./strata nl call noticeboard post -a text=cake -a level=3 --spec noticeboard.yaml
refused ./strata nl call noticeboard post -a text= --spec noticeboard.yaml
refused ./strata nl call noticeboard post -a text=cake -a level=4 --spec noticeboard.yaml
run ./board "from C++"
run ./strata nl call noticeboard list --dump --spec noticeboard.yaml
run rmmod noticeboard
