"""The machine and the revision of the figures."""

import os
import platform
import subprocess
import time
from pathlib import Path


def describe_machine():
    return {
        "kernel": platform.release(),
        "cpu_model": _field("/proc/cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "governor": _line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "clock_source": _line(
            "/sys/devices/system/clocksource/clocksource0/current_clocksource"
        ),
        "memory_kib": int((_field("/proc/meminfo", "MemTotal") or "0 kB").split()[0]),
        "load_average": os.getloadavg()[0],
        "time": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "revision": _revision(),
    }


def _line(path):
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None


def _field(path, name):
    for line in (_line(path) or "").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return None


def _revision():
    done = subprocess.run(
        ["git", "-C", Path(__file__).parent, "describe", "--always", "--dirty"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or None
