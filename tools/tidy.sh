#!/usr/bin/env bash
# clang-format and clang-tidy over all C++ of the tree. Usage: tools/tidy.sh BUILD_DIR [JOBS]
set -euo pipefail
build=$1
jobs=${2:-2}

# PyPI's wheel, beside the build.
tidy=$PWD/$build/clang-tidy
if [ ! -x "$tidy/clang_tidy/data/bin/clang-tidy" ]; then
  python3 -m pip install --quiet --root-user-action ignore --target "$tidy" --no-deps \
    --require-hashes --only-binary :all: -r tools/tidy_requirements.txt
fi
tidy=$tidy/clang_tidy/data/bin/clang-tidy

mapfile -t all < <(git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp')
mapfile -t units < <(git ls-files --cached --others --exclude-standard 'src/*.cpp' 'lib/*.cpp' \
  ':!:*_test.cpp')

clang-format-19 --dry-run --Werror "${all[@]}"
echo "format: ok (${#all[@]} files)"

# A bar on a terminal, nothing when piped.
done_count=0
show() {
  done_count=$((done_count + 1))
  [ -t 2 ] && printf '\rclang-tidy %d/%d' "$done_count" "${#units[@]}" >&2
  return 0
}
status=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
printf '%s\n' "${units[@]}" |
  xargs -P "$jobs" -n 1 sh -c \
    '"$0" --quiet -p "$1" "$2" 2> /dev/null || echo "FAILED $2"; echo DONE' "$tidy" "$build" |
  while IFS= read -r line; do
    if [ "$line" = DONE ]; then show; else echo "$line" >> "$log"; fi
  done
[ -t 2 ] && printf '\n' >&2
if [ -s "$log" ]; then
  cat "$log"
  status=1
else
  echo "clang-tidy: ok (${#units[@]} files)"
fi
exit $status
