"""A program on a terminal of its own."""

import contextlib
import fcntl
import os
import pty
import signal
import struct
import termios
import time

from strata_daemon import BINARY, eventually


class Terminal:
    def __init__(self, daemon, *arguments, columns=0, **variables):
        self.run([BINARY, *arguments], daemon.environment | variables, ".", columns)

    @classmethod
    def of(cls, command, environment, folder, columns=0):
        """Starts any program on a terminal."""
        made = cls.__new__(cls)
        made.run(command, environment, folder, columns)
        return made

    def run(self, command, environment, folder, columns):
        self.screen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            size = struct.pack("HHHH", 24, columns, 0, 0)
            fcntl.ioctl(0, termios.TIOCSWINSZ, size)
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        os.set_blocking(self.fd, False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ChildProcessError, ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    def type(self, text):
        os.write(self.fd, text)

    def paste(self, text):
        """Types a text. What the terminal does not accept at once waits until it does."""
        while text:
            with contextlib.suppress(BlockingIOError):
                text = text[os.write(self.fd, text[:256]):]
            self.read()
            time.sleep(0.01)

    def read(self):
        with contextlib.suppress(BlockingIOError, OSError):
            self.screen += os.read(self.fd, 65536)

    def text(self):
        """Returns what the terminal has shown."""
        return self.screen

    def shows(self, text):
        def seen():
            self.read()
            return text in self.text()

        eventually(seen, f"{text!r} on the screen, which shows {self.screen!r}")

    def follows(self, talker):
        """Reports whether it shows a line that the talker sends; the program may not listen yet."""
        talker.say(b"are you there?")
        time.sleep(0.05)
        self.read()
        return b"are you there?" in self.screen

    def exit_code(self):
        def ended():
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            return pid and (os.waitstatus_to_exitcode(status),)

        code = eventually(ended, "the program ends")[0]
        with contextlib.suppress(BlockingIOError, OSError):
            while piece := os.read(self.fd, 65536):
                self.screen += piece
        return code


def screen_of(daemon, *arguments, **how):
    """Returns what a program that ends shows, and its exit code."""
    with Terminal(daemon, *arguments, **how) as terminal:
        code = terminal.exit_code()
        return terminal.screen.decode().replace("\r\n", "\n"), code
