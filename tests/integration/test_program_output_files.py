"""The file that keeps a program's output, and its rotation."""

import os

import pytest

from programs import instances_of, lines_of
from strata_daemon import PATIENCE, Refused, eventually

pytestmark = pytest.mark.once

MIB = 1 << 20


def kept(path):
    """The output in the files, from the oldest on."""
    older = sorted((each for each in path.parent.glob(path.name + ".*")),
                   key=lambda each: -int(each.suffix[1:]))
    return b"".join(each.read_bytes() for each in [*older, path])


def sizes(path):
    return [each.stat().st_size for each in path.parent.glob(path.name + "*")]


def test_lines_are_in_the_file_too(daemon, program, tmp_path):
    path = tmp_path / "out.log"
    path.write_text("before\n")
    program("import sys, time\nprint('one', flush=True)\n"
            "print('two', file=sys.stderr, flush=True)\n"
            "sys.stdout.write('\\x1b[1mbold')\nsys.stdout.flush()\ntime.sleep(1000)",
            output_file=str(path))
    eventually(lambda: "two" in path.read_text(), "it is in the file")
    daemon.act("p", "stop")
    assert path.read_text() == "before\none\ntwo\n\x1b[1mbold\n"
    assert {"one", "two"} <= set(lines_of(daemon, "p"))


def test_each_instance_has_its_file(daemon, program, tmp_path):
    program("import os, time\nprint('I am', os.environ['STRATA_INSTANCE'], flush=True)\n"
            "time.sleep(1000)", instances=3, output_file=f"{tmp_path}/{{name}}.{{instance}}.log")
    for number in (1, 2, 3):
        path = tmp_path / f"p.{number}.log"
        eventually(lambda path=path: path.exists() and path.read_text(), "it has written")
        assert path.read_text() == f"I am {number}\n"
    with pytest.raises(Refused, match="2 instances would write to"):
        program("", name="q", instances=2, output_file=f"{tmp_path}/q.log")
    with pytest.raises(Refused, match="nobody"):
        program("", name="r", output_file=f"{tmp_path}/{{nobody}}.log")


def test_much_output_is_rotated_and_nothing_is_lost_in_what_is_kept(daemon, program, tmp_path):
    path = tmp_path / "out.log"
    program("import sys\nfor block in range(64):\n"
            "    sys.stdout.write(''.join(f'{block:06} {line:06} ' + 'x' * 113 + '\\n'\n"
            "                             for line in range(8192)))\n",
            output_file=str(path), output_size=10 * MIB, output_keep=3, restart="no")
    eventually(lambda: daemon.show("p")["state"] == "failed", "it has written all", 300)
    assert daemon.resident_mib() < 400
    assert len(sizes(path)) == 4 and max(sizes(path)) <= 10 * MIB
    lines = kept(path).split(b"\n")
    assert lines.pop() == b"" and len(lines) * 128 > 30 * MIB
    last = 64 * 8192
    expected = [b"%06d %06d %s" % (number // 8192, number % 8192, b"x" * 113)
                for number in range(last - len(lines), last)]
    assert lines == expected


def test_a_line_without_an_end_is_bounded_in_memory_and_in_the_files(daemon, program, tmp_path):
    path = tmp_path / "out.log"
    program("import sys\nfor _ in range(200): sys.stdout.write('x' * (1 << 20))\n",
            output_file=str(path), output_size=MIB, output_keep=2, restart="no")
    eventually(lambda: daemon.show("p")["state"] == "failed", "it has written all", 300)
    assert daemon.resident_mib() < 400
    assert len(sizes(path)) == 3 and max(sizes(path)) <= MIB
    assert set(kept(path)) == set(b"x\n")


def test_output_goes_on_in_the_file_after_a_takeover_and_a_crash(daemon, program, tmp_path):
    path = tmp_path / "out.log"
    program("import time\nfor number in range(10**6):\n    print(number, flush=True)\n"
            "    time.sleep(0.01)", output_file=str(path))
    [before] = instances_of(daemon, "p")

    def grows():
        count = path.read_bytes().count(b"\n")
        eventually(lambda: path.read_bytes().count(b"\n") > count + 20, "it goes on")

    grows()
    daemon.take_over()
    grows()
    assert instances_of(daemon, "p")[0]["pid"] == before["pid"]
    daemon.act("p", "stop")
    lines = path.read_text().split()
    assert lines == [str(number) for number in range(len(lines))]


@pytest.mark.parametrize("option, why", [
    ({"output_size": 1000}, "65536"), ({"output_file": "/nowhere/out.log"}, "/nowhere/out.log")])
def test_what_cannot_be_is_refused(daemon, program, tmp_path, option, why):
    with pytest.raises(Refused, match=why):
        program("import time; time.sleep(1000)",
                **{"output_file": str(tmp_path / "o.log"), **option})


def test_a_full_disk_holds_up_nothing(daemon, program, small_disk):
    path = small_disk / "out.log"
    program("import time\nfor _ in range(64): print('x' * (1 << 20))\n"
            "print('the end', flush=True)\ntime.sleep(1000)",
            output_file=str(path), output_keep=0, output_size=1 << 30,
            ready="line:the end", ready_timeout=PATIENCE)
    assert f"write to '{path}'" in daemon.log() and "lines are missing" in daemon.log()
    assert daemon.resident_mib() < 400
    os.truncate(path, 0)
    daemon.act("p", "stop")
