"""systemd's manager of a user's services, for one test."""

import os
import signal
import subprocess

from strata_daemon import PATIENCE, eventually

# systemctl and the manager ask whether systemd has booted the machine: sd_booted(3).
BOOTED = "mount -t tmpfs none /run && mkdir -p /run/systemd/system && exec /lib/systemd/systemd"


class UserSystemd:
    """Runs in a mount namespace of its own, in which systemd seems to have booted the machine."""

    def __init__(self, folder):
        self.folder = folder
        self.units = folder / "config/systemd/user"
        self.units.mkdir(parents=True)
        (folder / "run").mkdir(mode=0o700)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder),
                            "XDG_RUNTIME_DIR": str(folder / "run"),
                            "XDG_CONFIG_HOME": str(folder / "config")}
        self.process = None

    def __enter__(self):
        with open(self.folder / "manager.log", "wb") as log:
            self.process = subprocess.Popen(
                ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                 f"{BOOTED} --user --log-target=console"],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        eventually(lambda: self.ask("is-system-running").stdout == "running\n", "systemd runs")
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)

    def ask(self, *words):
        return subprocess.run(
            ["nsenter", "--mount", "--target", str(self.process.pid),
             "systemctl", "--user", *words],
            env=self.environment, capture_output=True, text=True, check=False, timeout=PATIENCE)

    def do(self, *words):
        done = self.ask(*words)
        assert done.returncode == 0, done.stderr + (self.folder / "manager.log").read_text()

    def value(self, unit, name):
        return self.ask("show", "--value", f"--property={name}", unit).stdout.strip()

    def add(self, name, text):
        (self.units / name).write_text(text)
        self.do("daemon-reload")
