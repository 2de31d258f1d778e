"""How guest.py starts a guest. A shell script takes QEMU's place, for only that stands still at
will."""

import pytest

import guest

KERNELS = ["6.1"]
# Appends a line to `boots`, and runs the case of that boot.
BOOT = """cd "$0" && echo >> boots
case $(wc -l < boots) in
%s
esac"""


@pytest.fixture
def boot(kernel, tmp_path, monkeypatch):
    """Boots with these cases; returns the outcome and the number of boots."""
    monkeypatch.setattr(guest, "BOOT_SECONDS", 2)

    def run(*cases, seconds=60):
        numbered = "\n".join(f"{number}) {case} ;;" for number, case in enumerate(cases, 1))
        done = guest.boot(kernel, "true", tmp_path, seconds=seconds,
                          prefix=["sh", "-c", BOOT % numbered, tmp_path])
        return done, len((tmp_path / "boots").read_text().splitlines())
    return run


def test_a_guest_that_stands_still_is_booted_again(boot):
    done, boots = boot("exec sleep 1000", "echo works > output; echo 0 > exit_code")
    assert (done.exit_code, done.output, boots) == (0, "works\n", 2)


def test_a_guest_that_ends_while_it_boots_is_booted_again(boot):
    done, boots = boot("exit 1", "exit 1", "echo works > output; echo 0 > exit_code")
    assert (done.exit_code, done.output, boots) == (0, "works\n", 3)


def test_a_guest_that_never_boots_is_given_up(boot):
    done, boots = boot("exit 1", "exit 1", "exit 1", "echo works > output; echo 0 > exit_code")
    assert (done.exit_code, done.output, boots) == (None, "", 3)


def test_a_script_that_has_begun_is_not_run_again(boot):
    done, boots = boot("echo half > output; exec sleep 1000", seconds=1)
    assert (done.exit_code, done.output, boots) == (None, "half\n", 1)


def test_a_script_may_take_longer_than_a_boot(boot):
    done, boots = boot("echo slow > output; sleep 3; echo 0 > exit_code")
    assert (done.exit_code, done.output, boots) == (0, "slow\n", 1)
