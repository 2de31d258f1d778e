#!/usr/bin/env bash
# The control API without the CLI: everything by curl and jq. Starts a daemon of its own in a
# temporary folder and leaves nothing behind. Usage: examples/control_api.sh STRATA_BINARY
set -euo pipefail

strata=$(realpath "$1")
home=$(mktemp -d)
"$strata" daemon --state-dir "$home/state" --socket "$home/strata.sock" 2> "$home/log" &
daemon=$!
trap 'kill $daemon 2> /dev/null || true; wait; rm -rf "$home"' EXIT

api() {  # api METHOD PATH [BODY]
  curl --silent --show-error --fail-with-body --retry 50 --retry-delay 0 --retry-all-errors \
    --retry-max-time 10 --unix-socket "$home/strata.sock" -X "$1" "http://strata$2" \
    ${3:+--data-binary "$3"}
}

echo "daemon:   $(api GET /v1/version | jq -r '.version + " on " + .loop')"

# A server on a Unix socket, started at once.
api POST /v1/runtimes "$(jq -n --arg url "unix://$home/chat.sock" \
  '{type: "server", name: "chat", options: {listen: [$url]}, start: true}')" |
  jq -r '"created:  \(.name), \(.state), at \(.endpoints[0])"'

# Somebody listens ...
nc -U "$home/chat.sock" > "$home/heard" < /dev/null &
listener=$!
until [ "$(api GET /v1/runtimes/chat/stats | jq .connections.now)" = 1 ]; do sleep 0.05; done

# ... and hears what is sent.
echo "sent:     $(api POST /v1/runtimes/chat/send 'hello from curl')"
until grep -q . "$home/heard"; do sleep 0.05; done
echo "heard:    $(cat "$home/heard")"

# Options change while it runs; errors say what is wrong.
echo "edited:   $(api PATCH /v1/runtimes/chat '{"options": {"max_connections": 10}}')"
curl --silent --unix-socket "$home/strata.sock" -X PATCH http://strata/v1/runtimes/chat \
  --data '{"options": {"max_connections": -1}}' | jq -r '"refused:  " + .error.message'

echo "metrics:  $(api GET /metrics | grep '^strata_messages_out_total')"
api DELETE /v1/runtimes/chat
wait $listener
echo "left:     $(api GET /v1/runtimes)"
