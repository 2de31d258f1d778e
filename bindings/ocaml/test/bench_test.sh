#!/bin/sh
# udp_pkt_gen and rxdrop as their users see them: bench_test.sh FOLDER, within topology.sh:
#
#   udp_pkt_gen -> vethA <=======> vethB -> rxdrop, or tshark
set -eu
programs=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

passed() { echo "ok      $1"; }
fail() {
  echo "FAILED  $1"
  sed 's/^/        /' "$work"/*.txt 2>/dev/null || true
  failed=1
}

# The preload is for what uses the library, not for all else.
bench() {
  program=$1
  shift
  exec timeout 60 env LD_PRELOAD="${XSK_TEST_PRELOAD:-}" "$programs/$program.exe" "$@"
}

generate() {  # COUNT [OPTION...]
  count=$1
  shift
  (bench udp_pkt_gen -d vethA -q 0 -c "$count" -dmac 02:00:00:00:00:02 -smac 02:00:00:00:00:01 \
    -dip 192.0.2.9:40000 -sip 192.0.2.8:40001 "$@") > "$work/sent.txt" 2>&1
}

wait_for() {  # TEXT FILE
  tries=0
  until grep -q "$1" "$2" 2>/dev/null; do
    tries=$((tries + 1))
    [ "$tries" -lt 400 ] || return 1
    sleep 0.05
  done
}

receive() {  # OPTION...: in the background, as $receiver
  rm -f "$work"/*.txt
  (bench rxdrop -d vethB -q 0 "$@") > "$work/received.txt" 2> "$work/heard.txt" &
  receiver=$!
  wait_for listening "$work/heard.txt" || fail "rxdrop $*: it does not listen"
}

total() { sed -n 's/^\[rxdrop\] total: \([0-9]*\) .*/\1/p' "$work/received.txt"; }
dropped() { sed -n 's/.* dropped: \([0-9]*\) .*/\1/p' "$work/received.txt"; }

outputs_are_right() {
  grep -Eq '^\[udp_pkt_gen\] [0-9]+ \(pkts\) [0-9.]+ \(s\) [0-9]+ \(pps\)$' "$work/sent.txt" &&
    grep -Eq '^\[rxdrop\] max: [0-9]+ \(pps\) min: [0-9]+ \(pps\)$' "$work/received.txt"
}

for options in "" "-w"; do
  receive -c 1000 -p 40000 $options
  if generate 1000 $options && wait "$receiver" && [ "$(total)" = 1000 ] && outputs_are_right
  then passed "1000 packets sent, 1000 received ($options)"
  else fail "1000 packets sent, 1000 received ($options)"; fi
done

receive -c 200000 -p 40000 -w
if generate 200000 -w && wait "$receiver" && [ $(($(total) + $(dropped))) = 200000 ] &&
  grep -q 'minor words: 0.0000' "$work/received.txt" &&
  grep -q 'minor words: 0.0000' "$work/sent.txt"
then passed "200000 packets sent, $(total) received, $(dropped) dropped; no minor word"
else fail "200000 packets sent, all received or counted as dropped; no minor word"; fi

receive -c 5000
if generate 100 && wait "$receiver" && [ "$(total)" = 100 ]
then passed "rxdrop ends when no more come"
else fail "rxdrop ends when no more come"; fi

receive -c 5000 -p 39999 -t 1
if generate 100 && wait "$receiver" && [ "$(total)" = 0 ]
then passed "-p leaves others out, -t ends it"
else fail "-p leaves others out, -t ends it"; fi

for signal in INT TERM; do
  receive -c 5000 -p 40000
  child=$(cat "/proc/$receiver/task/$receiver/children")
  generate 100 || true
  sleep 1  # less than the 2 s after which it ends by itself
  kill "-$signal" "${child:-$receiver}" || true
  if wait "$receiver" && [ "$(total)" = 100 ]
  then passed "SIG$signal ends rxdrop, which says its totals"
  else fail "SIG$signal ends rxdrop, which says its totals"; fi
done

if ip link show vethB | grep -q prog/xdp
then fail "no program stays on the interface"
else passed "no program stays on the interface"; fi

rm -f "$work"/*.txt
if (bench rxdrop -d none0) > "$work/received.txt" 2>&1
then fail "an error is said"
elif grep -q "rxdrop.exe: Socket.create: .*'none0'" "$work/received.txt"
then passed "an error is said"
else fail "an error is said"; fi

number=0
while [ "$number" -lt 200 ]; do
  printf '02:00:00:00:00:02\t192.0.2.8\t1\t40000\t1\t60\t%016x%020x\n' "$number" 0
  number=$((number + 1))
done > "$work/wanted"

captured() {
  rm -f "$work"/*.txt
  timeout 15 tshark -q -i vethB -f 'udp port 40000' -c 200 -w "$work/frames.pcapng" \
    > "$work/capture.txt" 2>&1 &
  capture=$!
  wait_for vethB "$work/capture.txt" || true
  sleep "$1"  # until it hears
  generate 200
  wait "$capture" || true
  tshark -r "$work/frames.pcapng" -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -T fields \
    -e eth.dst -e ip.src -e ip.checksum.status -e udp.dstport -e udp.checksum.status \
    -e frame.len -e data.data > "$work/decoded" 2> "$work/decoding.txt" || true
  [ "$(wc -l < "$work/decoded")" = 200 ]
}

# On a busy machine tshark may hear late.
captured 1 || captured 3 || captured 6 || true
if cmp -s "$work/wanted" "$work/decoded"
then passed "tshark decodes 200 packets, numbers and checksums right"
else
  diff "$work/wanted" "$work/decoded" | head -5 > "$work/difference.txt" || true
  fail "tshark decodes 200 packets, numbers and checksums right"
fi
exit "$failed"
