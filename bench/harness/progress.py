"""A progress bar on stderr, for people; silent when stderr is not a terminal."""

import sys
import time

WIDTH = 30


class Progress:
    def __init__(self, total):
        self._total = total
        self._done = 0
        self._started = time.monotonic()
        self._shown = sys.stderr.isatty()

    def step(self, what):
        """Shows the current step; the previous steps are finished."""
        if self._shown:
            filled = WIDTH * self._done // max(1, self._total)
            bar = "#" * filled + "-" * (WIDTH - filled)
            self._write(f"[{bar}] {self._done}/{self._total}{self._rest()}  {what}")
        self._done += 1

    def close(self):
        if self._shown:
            self._write("")

    def _rest(self):
        if self._done == 0:
            return ""
        elapsed = time.monotonic() - self._started
        seconds = elapsed / self._done * (self._total - self._done)
        return f", {seconds / 60:.1f} min left"

    def _write(self, text):
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
