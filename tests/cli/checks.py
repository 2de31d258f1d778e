"""Checks for every run of the CLI: its exit code, and which output goes where."""

DONE, FAILED, MISUSED, NOT_FOUND, UNREACHABLE = range(5)


def check(result, code=DONE):
    assert result.returncode == code, result
    assert (code == DONE) == (result.stderr == ""), result.stderr
    for line in result.stdout.splitlines():
        assert line == line.rstrip(), f"trailing space in {line!r}"
    for line in result.stderr.splitlines():
        assert line.startswith("strata: "), line
    return result.stdout


def refusal(result, code):
    check(result, code)
    return result.stderr
