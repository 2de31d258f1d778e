"""Scripts that run strata in the guest by parts: `part NAME COMMAND` runs a command and keeps what
it prints and its exit code, which the tests read."""

import os
import shutil
from pathlib import Path

import guest

ROOT = Path(__file__).resolve().parents[2]
KERNELS = os.environ.get("STRATA_GUEST_KERNELS", "6.1").split(",")
BINARY = Path(os.environ.get("STRATA_BUILD", ROOT / "build/release")) / "strata"

# What such a script begins with.
BEGIN = """
mkdir /tmp/run && cp /run/out/bin/strata /tmp/run && cd /tmp/run
part() { to=/run/out/$1; shift; "$@" > $to 2> $to.errors; echo $? > $to.code; }
"""


def run_parts(kernel, script, name, nics=(), seconds=200):
    """Boots a guest that runs `script`; its results lie in a folder of that name."""
    folder = Path(os.environ.get("STRATA_BUILD", ROOT / "build")) / name / f"out-{kernel.version}"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "bin").mkdir(parents=True)
    shutil.copy(BINARY, folder / "bin")
    done = guest.boot(kernel, BEGIN + script, folder, nics, seconds=seconds)
    assert done.exit_code == 0, f"exit code {done.exit_code}\n{done.output}\n{done.console[-5000:]}"
    return done


def part(outcome, name, code=0):
    """Returns the output of that part of the script, or its error."""
    errors = outcome.text(f"{name}.errors")
    logs = "".join(path.read_text(errors="replace")
                   for path in sorted(outcome.folder.glob("*.log")))
    assert outcome.text(f"{name}.code").strip() == str(code), f"{name}: {errors[-3000:]}\n{logs}"
    return errors if code else outcome.text(name)
