"""`strata pipe` as a process: its input, its output, and where it listens."""

import hashlib
import os
import random
import re
import subprocess
import threading

from strata_daemon import BINARY, PATIENCE

LISTENING = re.compile(rb"strata: listening on (\S+)\n")


def noise(size):
    seed = random.randrange(1 << 32)
    print("seed", seed)
    return random.Random(seed).randbytes(size)


def digest(data):
    return hashlib.sha256(data).hexdigest()


def in_background(work, *arguments):
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    return thread


class Pipe:
    """A running `strata pipe`, killed after a while whatever happens to the test."""

    def __init__(self, loop, *words, before=(), stdin=subprocess.PIPE, stdout=subprocess.PIPE):
        self.process = subprocess.Popen(
            [*before, BINARY, "pipe", *map(str, words), "--loop", loop],
            env={"PATH": os.environ["PATH"]}, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE)
        self.said = b""  # from standard error
        self.killer = threading.Timer(2 * PATIENCE, self.process.kill)
        self.killer.daemon = True
        self.killer.start()

    def url(self):
        """Returns the next endpoint that it listens on, as standard error reports it."""
        line = self.process.stderr.readline()
        self.said += line
        match = LISTENING.fullmatch(line)
        assert match, self.said + self.process.stderr.read()
        return match[1].decode()

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def end_input(self):
        self.process.stdin.close()
        self.process.stdin = None

    def hear(self):
        """Returns the next line of standard output, without its LF."""
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), line
        return line[:-1]

    def finish(self, given=None):
        """Returns its output, its exit code, and its messages."""
        out, said = self.process.communicate(given, timeout=PATIENCE)
        self.said += said
        for line in self.said.splitlines():
            assert line.startswith(b"strata: "), self.said
        return out, self.process.returncode, self.said.decode()

    def done(self, given=None):
        """Returns its output, once it has ended successfully."""
        out, code, said = self.finish(given)
        assert code == 0, said
        assert not LISTENING.sub(b"", self.said), said
        return out

    def failed(self, code=1):
        """Returns its messages after a failure."""
        _, ended, said = self.finish()
        assert ended == code, (ended, said)
        return said

    def resident(self):
        """Returns its resident memory in bytes."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+) kB", status.read())[1]) * 1024

    def close(self):
        self.killer.cancel()
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
