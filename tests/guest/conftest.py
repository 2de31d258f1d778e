"""Prints, at the end of the run, which features were available and which were not."""

import subprocess

import pytest

import guest

COLUMNS = ["kernel", "interface", "driver", "queues", "with XDP", "native", "generic",
           "zero-copy in", "zero-copy out", "multi-buffer native", "multi-buffer generic"]


class Findings:
    def __init__(self):
        self.rows = []  # from ask.py
        self.ran = []  # the tests, and pytest's results inside the guest

    def reason(self, text, reasons):
        if text not in reasons:
            reasons.append(text)
        return f"no [{reasons.index(text) + 1}]"

    def table(self):
        """Returns the table's lines; a "no" has the number of its reason, as strata reported it."""
        reasons = []
        cells = [COLUMNS]
        for row in self.rows:
            # The same reason has the same number on all interfaces.
            cells.append(["yes" if row[column] is True
                          else self.reason(row[column], reasons)
                          if column in COLUMNS[5:] else row[column] for column in COLUMNS])
        widths = [max(map(len, column)) for column in zip(*cells)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
                 for line in cells]
        lines += [f"[{number}] {text}" for number, text in enumerate(reasons, 1)]
        for row in self.rows:
            lines += [f"{row['kernel']} says: {text}" for text in row["kernel said"]]
        return lines


FINDINGS = pytest.StashKey[Findings]()


def pytest_configure(config):
    config.stash[FINDINGS] = Findings()


@pytest.fixture(scope="session")
def findings(request):
    return request.config.stash[FINDINGS]


def pytest_generate_tests(metafunc):
    """Runs each test with each kernel that its file names."""
    if "kernel" in metafunc.fixturenames:
        metafunc.parametrize("kernel", metafunc.module.KERNELS, indirect=True, scope="session")


@pytest.fixture(scope="session")
def kernel(request):
    if missing := guest.missing():
        pytest.skip(f"THERE IS NO GUEST: install {' '.join(missing)}")
    try:
        return guest.Kernel(request.param)
    except (LookupError, subprocess.CalledProcessError) as failed:
        pytest.skip(f"THERE IS NO KERNEL {request.param}: {getattr(failed, 'stderr', failed)}")


def pytest_terminal_summary(terminalreporter, config):
    found = config.stash[FINDINGS]
    if found.ran:
        terminalreporter.section("what ran in the guest")
        for line in found.ran:
            terminalreporter.write_line(line)
    if found.rows:
        terminalreporter.section("what AF_XDP could do there")
        for line in found.table():
            terminalreporter.write_line(line)
