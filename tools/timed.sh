#!/usr/bin/env bash
# Runs a command and says how long it took. Usage: tools/timed.sh NAME COMMAND [ARGUMENT ...]
# With STRATA_TIMES=FILE, a row of it is added to that file.
name=$1
shift
begun=$(date +%s)
"$@"
code=$?
took=$(($(date +%s) - begun))
[ "$code" = 0 ] && state=passed || state=FAILED
printf '== %s: %s, %d s\n' "$name" "$state" "$took"
if [ -n "${STRATA_TIMES:-}" ]; then
  printf '%-24s %2d min %02d s  %s\n' "$name" $((took / 60)) $((took % 60)) "$state" \
    >> "$STRATA_TIMES"
fi
exit $code
