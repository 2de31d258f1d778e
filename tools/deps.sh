#!/usr/bin/env bash
# Installs those packages of deps.txt that are missing. Usage: tools/deps.sh [compile|arm64]
# `compile`: only what compiling and `make check` need. `arm64`: what compiling for ARM needs more.
set -euo pipefail
cd "$(dirname "$0")"
case ${1:-} in
  compile) lines='1,/^# ---/p' ;;
  arm64) lines='/^# --- arm64/,$p' ;;
  *) lines='/^# --- arm64/q;p' ;;
esac
wanted=$(sed -n "$lines" deps.txt |
  sed 's/#.*//' | tr -s ' \n' '\n' | sed '/^$/d' | sort)

# What another package provides is there: NodeSource's nodejs brings npm, and conflicts with
# Debian's.
missing() {
  comm -23 <(echo "$wanted") <(dpkg-query -W -f '${db:Status-Status} ${Package} ${Provides}\n' |
    sed -n 's/^installed //p' | sed 's/([^)]*)//g' | tr -s ', ' '\n' | sort -u)
}

# Asks apt only for what is not there, so that it costs nothing the second time.
[ -n "$(missing)" ] || exit 0
sudo=$([ "$(id -u)" = 0 ] || echo sudo)
exec 9> "${TMPDIR:-/tmp}/strata-deps-$(id -u).lock"
flock 9 # the other may be installing them right now
packages=$(missing)
[ -n "$packages" ] || exit 0
echo "installing:" $packages
$sudo apt-get update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -qq -y --no-install-recommends $packages \
  > /dev/null 9>&-
