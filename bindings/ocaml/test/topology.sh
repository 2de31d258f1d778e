#!/bin/sh
# Runs a command where it can test: topology.sh COMMAND...
#
#   namespace of the command                       namespace of the peer
#
#     vethA <================> vethB               (a process that sleeps)
#     vethI <===== MTU 9000 ==> vethJ
#     vethP 192.0.2.1/24 <========================> vethQ 192.0.2.2/24
#     lo
#
# Both namespaces have no name, and go with their last process. Needs root.
set -eu

if [ "${XSK_TEST_INSIDE:-}" != yes ]; then
  XSK_TEST_INSIDE=yes exec unshare --net "$0" "$@"
fi

quiet() {  # no IPv6: its neighbour discovery would be heard in between
  for link in "$@"; do echo 1 > "/proc/sys/net/ipv6/conf/$link/disable_ipv6"; done
  for link in "$@"; do ip link set "$link" up; done
}

own=$(readlink /proc/self/ns/net)
setpriv --pdeathsig KILL unshare --net sleep 1200 &
peer=$!
trap 'kill "$peer" 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM
while [ "$(readlink "/proc/$peer/ns/net")" = "$own" ]; do sleep 0.05; done

ip link set lo up
ip link add vethA type veth peer name vethB
ip link add vethI mtu 9000 type veth peer name vethJ mtu 9000
ip link add vethP type veth peer name vethQ
quiet vethA vethB vethI vethJ vethP
ip link set vethQ netns "$peer"
ip address add 192.0.2.1/24 dev vethP
nsenter -t "$peer" -n ip address add 192.0.2.2/24 dev vethQ
nsenter -t "$peer" -n ip link set vethQ up

unset XSK_TEST_INSIDE
"$@"
