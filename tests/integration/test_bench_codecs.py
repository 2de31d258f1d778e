"""The codecs' micro-benchmarks run and report no error."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from strata_daemon import BINARY

pytestmark = [pytest.mark.once]

PROGRAM = Path(os.environ.get("STRATA_BUILD", Path(BINARY).parent)) / "bench/bench_codecs"


def test_every_codec_is_measured():
    if not PROGRAM.exists():
        pytest.skip(f"THERE IS NO {PROGRAM}: install libbenchmark-dev and configure again")
    done = subprocess.run([PROGRAM, "--benchmark_min_time=0.001", "--benchmark_format=json"],
                          capture_output=True, text=True, timeout=120, check=True)
    found = json.loads(done.stdout)["benchmarks"]
    assert [each for each in found if each.get("error_occurred")] == []
    assert {each["name"].split("/")[0] for each in found} >= {
        "build_frame", "build_vlan_frame", "parse_frame", "parse_vlan_frame", "build_udp_packet",
        "parse_udp_packet", "build_genl_request", "parse_genl_message", "read_packed_messages",
        "read_redis_requests", "check_http_head", "read_websocket_message"}
    assert all(each["cpu_time"] > 0 for each in found)
