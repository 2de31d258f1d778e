#!/usr/bin/env bash
# strata at work, in a minute: a private daemon in a temporary folder, a server, two clients of
# which one is a plain nc, messages both ways, a restart that forgets nothing. Needs no root and
# leaves nothing behind. Usage: tools/demo.sh STRATA_BINARY
set -euo pipefail

strata=$(realpath "$1")
home=$(mktemp -d)
export STRATA_SOCKET="$home/strata.sock"
daemon=0
nc_pid=0
curl_pid=0
pages=()

say() { printf '\n\033[1m# %s\033[0m\n' "$*"; }
run() {
  printf '$ strata %s\n' "$*"
  "$strata" "$@"
}
finish() {
  [ "$nc_pid" = 0 ] || kill "$nc_pid" 2> /dev/null || true
  [ "$curl_pid" = 0 ] || kill "$curl_pid" 2> /dev/null || true
  [ ${#pages[@]} = 0 ] || kill "${pages[@]}" 2> /dev/null || true
  [ "$daemon" = 0 ] || kill "$daemon" 2> /dev/null || true
  wait 2> /dev/null || true
  rm -rf "$home"
}
trap finish EXIT

start_daemon() {
  "$strata" daemon --state-dir "$home/state" --socket "$STRATA_SOCKET" 2>> "$home/daemon.log" &
  daemon=$!
  for _ in $(seq 100); do
    "$strata" ls > /dev/null 2>&1 && return 0 # `version` needs no daemon
    sleep 0.05
  done
  cat "$home/daemon.log" >&2
  exit 1
}
stop_daemon() {
  kill "$daemon"
  wait "$daemon"
  daemon=0
}
# A port that nobody listens on, from this one on.
free_port() {
  local at=$1
  while nc -z 127.0.0.1 "$at"; do at=$((at + 1)); done
  echo "$at"
}
# Waits until a file has the text: what crosses a network takes a moment.
expect() {
  for _ in $(seq 100); do
    grep -qF -- "$2" "$1" && return 0
    sleep 0.05
  done
  printf 'demo: "%s" did not arrive; %s has:\n' "$2" "$1" >&2
  cat "$1" >&2
  exit 1
}

say "A private daemon, its state in $home"
start_daemon
run version

say "A server; a message of one client goes to all others"
port=$(free_port $((20000 + RANDOM % 10000)))
run create server chat --listen "tcp://127.0.0.1:$port" -s

say "Two clients: a plain nc (not ours), and a strata client that appends what it hears to a file"
mkfifo "$home/keyboard"
nc 127.0.0.1 "$port" < "$home/keyboard" > "$home/nc.out" &
nc_pid=$!
exec 7> "$home/keyboard"
run create client ear -t "127.0.0.1:$port" -w "$home/ear.out" -s
for _ in $(seq 100); do
  [ "$("$strata" stats chat --format json | jq '.[0].connections.now')" = 2 ] && break
  sleep 0.05
done

say "The server sends to all"
run send chat "Hello, world!"
expect "$home/nc.out" "Hello, world!"
expect "$home/ear.out" "Hello, world!"
echo "nc heard:   $(cat "$home/nc.out")"
echo "ear heard:  $(cat "$home/ear.out")"

say "nc types a line: the other client hears it, nc does not hear itself"
echo "typed into nc" >&7
expect "$home/ear.out" "typed into nc"
echo "ear heard:  $(tail -n 1 "$home/ear.out")"

say "The strata client speaks: nc hears it"
run send ear "from the strata client"
expect "$home/nc.out" "from the strata client"
echo "nc heard:   $(tail -n 1 "$home/nc.out")"

say "The same port speaks HTTP: what curl posts is a message, what it hears are events"
run edit chat --http-messages
curl -sN -H "Accept: text/event-stream" "http://127.0.0.1:$port/" > "$home/curl.out" &
curl_pid=$!
expect "$home/curl.out" ": hello"
curl -sf -d "posted by curl" "http://127.0.0.1:$port/"
expect "$home/nc.out" "posted by curl"
echo "typed after that" >&7
expect "$home/curl.out" "data: typed after that"
echo "curl heard: $(tail -n 2 "$home/curl.out" | head -n 1)"

say "And a strata client speaks WebSocket with it"
run create client page -c "ws://127.0.0.1:$port/" -s
run send page "from a WebSocket"
expect "$home/nc.out" "from a WebSocket"
echo "nc heard:   $(tail -n 1 "$home/nc.out")"
run remove page
kill "$curl_pid"
wait "$curl_pid" 2> /dev/null || true
curl_pid=0

say "A gateway for HTTP before two of Python's servers: one dies, and nobody who asks notices"
backends=()
for name in one two; do
  mkdir "$home/$name"
  echo "page of $name" > "$home/$name/page"
  at=$(free_port $((port + 1 + ${#backends[@]})))
  python3 -m http.server -b 127.0.0.1 -d "$home/$name" "$at" > "$home/$name.log" 2>&1 &
  pages+=($!)
  backends+=("$at")
  until nc -z 127.0.0.1 "$at"; do sleep 0.05; done
done
gateway=$(free_port $((port + 10)))
run create proxy site --listen "http://127.0.0.1:$gateway" --backend "127.0.0.1:${backends[0]}" \
  --backend "127.0.0.1:${backends[1]}" -s
for _ in 1 2; do curl -sf "http://127.0.0.1:$gateway/page"; done | sort | tee "$home/both.out"
[ "$(sort -u "$home/both.out" | wc -l)" = 2 ]
kill "${pages[0]}"
wait "${pages[0]}" 2> /dev/null || true
for _ in 1 2 3 4; do
  [ "$(curl -sf "http://127.0.0.1:$gateway/page")" = "page of two" ]
done
run backends site
run remove site
kill "${pages[1]}"
wait "${pages[1]}" 2> /dev/null || true
pages=()

say "What there is, and what was counted"
run ls
run stats chat

say "The daemon is restarted: the runtimes come back by themselves"
stop_daemon
exec 7>&-
start_daemon
run ls
[ "$("$strata" ls --format json | jq 'map(select(.state == "running")) | length')" = 2 ]

say "Everything is removed"
run remove 'chat' 'ear'
run ls
stop_daemon

# A container or a chroot may refuse to make network namespaces, or to run programs in them.
has_namespaces() {
  local probe="strata-probe-$$" works=0
  ip netns add "$probe" 2> /dev/null && ip netns exec "$probe" true 2> /dev/null && works=1
  ip netns del "$probe" 2> /dev/null || true
  [ "$works" = 1 ]
}
if [ "$(id -u)" != 0 ]; then
  say "Raw Ethernet is shown to root only: sudo tools/demo.sh $strata"
elif ! has_namespaces; then
  say "Raw Ethernet is not shown: 'ip netns exec' does not work here, as in some containers"
else
  "$(dirname "$0")/demo_l2.sh" "$strata"
fi
say "Done: nothing is left behind"
