#!/usr/bin/env bash
# Shows raw Ethernet at work, as root: two network namespaces joined by a veth, which are removed
# again.
#
#   +-- strata-demo-PID-plant --+          +-- strata-demo-PID-desk --+
#   |        vethA =============|==========|============= vethB       |
#   +---------------------------+          +--------------------------+
#
# Usage: tools/demo_l2.sh STRATA_BINARY
set -euo pipefail
strata=$(realpath "$1")
home=$(mktemp -d)
plant=strata-demo-$$-plant
desk=strata-demo-$$-desk
jobs=()

leave() {
  for job in "${jobs[@]}"; do kill "$job" 2> /dev/null || true; done
  wait
  ip netns del "$plant" 2> /dev/null || true
  ip netns del "$desk" 2> /dev/null || true
  rm -rf "$home"
}
trap leave EXIT

say() { printf '\n== %s\n' "$1"; }
in_plant() { ip netns exec "$plant" "$@"; }
in_desk() { ip netns exec "$desk" "$@"; }
control() { "$strata" "$@" --socket "$home/strata.sock"; }

# until_true COMMAND...
until_true() {
  for _ in $(seq 200); do
    if "$@" > /dev/null 2>&1; then return 0; fi
    sleep 0.05
  done
  echo "demo: never true: $*" >&2
  exit 1
}
# A heading, and a line for each packet socket.
listens() { [ "$(ip netns exec "$1" cat /proc/net/packet | wc -l)" -gt 1 ]; }

say "Two namespaces and a cable between them"
ip netns add "$plant"
ip netns add "$desk"
ip link add vethA netns "$plant" type veth peer name vethB netns "$desk"
in_plant ip link set vethA up
in_desk ip link set vethB up
in_desk "$strata" l2 ifaces

say "The plant listens to VLAN 10; the desk sends a frame with priority 7, and one of VLAN 11"
ip netns exec "$plant" "$strata" l2 dump vethA -e 0x88b5 --vlan 10 -c 1 > "$home/dump" &
dump=$!
jobs+=("$dump")
until_true listens "$plant"
in_desk "$strata" l2 send vethB "not for you" --vlan 11
in_desk "$strata" l2 send vethB "start the pump" --vlan 10 --prio 7
wait "$dump"
cat "$home/dump"

say "A server on raw Ethernet: --listen l2://vethA/0x88b5?vlan=10&prio=7"
ip netns exec "$plant" "$strata" daemon --state-dir "$home/state" --socket "$home/strata.sock" \
  2> "$home/log" &
jobs+=($!)
until_true control version
until_true test -S "$home/strata.sock"
control create server plc --listen "l2://vethA/0x88b5?vlan=10&prio=7" -s
ip netns exec "$desk" "$strata" l2 recv vethB --vlan 10 -c 1 > "$home/recv" &
recv=$!
jobs+=("$recv")
until_true listens "$desk"
in_desk "$strata" l2 send vethB "I am the desk" --vlan 10 --prio 7
has_a_peer() { control stats plc --format json | jq -e '.[0].connections.now == 1'; }
until_true has_a_peer
control send plc "pump is running"
wait "$recv"
echo "desk heard: $(cat "$home/recv")"
control stats plc
