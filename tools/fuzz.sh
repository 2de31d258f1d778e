#!/usr/bin/env bash
# Runs each fuzz target for some seconds, with a corpus that grows under build/.
# Usage: tools/fuzz.sh TARGET_DIR SECONDS
set -euo pipefail
folder=$1
seconds=$2
for target in "$folder"/*_fuzz; do
  name=$(basename "$target")
  corpus="$folder/corpus/$name"
  mkdir -p "$corpus"
  log="$folder/$name.log"
  if "$target" -max_total_time="$seconds" -max_len=4096 -rss_limit_mb=2048 \
    -artifact_prefix="$folder/$name." "$corpus" > "$log" 2>&1; then
    printf '%-20s ok: %s\n' "$name" "$(grep -m1 -E '^Done' "$log" || tail -n 1 "$log")"
  else
    printf '%-20s FAILED; see %s\n' "$name" "$log"
    tail -n 30 "$log"
    exit 1
  fi
done
