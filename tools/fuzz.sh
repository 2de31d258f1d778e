#!/usr/bin/env bash
# Runs fuzz targets for some seconds each, beginning with what fuzz/corpus keeps; what they find new
# goes to a corpus below the folder. Exits 1 if a target fails, after all have run.
# Usage: tools/fuzz.sh FOLDER SECONDS JOBS TARGET ...
set -euo pipefail
export folder=$1 seconds=$2
jobs=$3
shift 3

run() {
  name=$1_fuzz
  corpus="$folder/corpus/$name"
  log="$folder/$name.log"
  mkdir -p "$corpus"
  if "$folder/$name" -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=2048 \
    -artifact_prefix="$folder/$name." "$corpus" "fuzz/corpus/$name" > "$log" 2>&1; then
    printf '%-22s passed: %s\n' "$1" "$(grep -E '^Done' "$log" | tail -n 1)"
  else
    printf '%-22s FAILED; see %s\n%s\n' "$1" "$log" "$(tail -n 30 "$log")"
    exit 1
  fi
}
export -f run

printf '%s\n' "$@" | xargs -P "$jobs" -I '{}' bash -c 'run {}' || exit 1
