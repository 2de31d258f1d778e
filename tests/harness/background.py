"""What goes on beside a test."""

import threading


class Background:
    """Calls `run` in a thread of its own, as long as a `with` block lasts; `run` looks at
    `is_over`."""

    def __init__(self):
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()
