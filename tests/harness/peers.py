"""nginx, HAProxy and other programs to compare with strata; the processes end with their
`Peers`."""

import contextlib
import shutil
import socket
import subprocess

from strata_daemon import PATIENCE, eventually


def program(name):
    return shutil.which(name, path="/usr/sbin:/usr/bin:/usr/local/bin")


def is_open(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


class Peers:
    def __init__(self, folder):
        self.folder, self.processes = folder, []
        folder.chmod(0o755)  # nginx's worker runs as nobody

    def run(self, port, *command):
        self.processes.append(subprocess.Popen([str(each) for each in command],
                                               stdout=subprocess.DEVNULL,
                                               stderr=subprocess.DEVNULL))
        eventually(lambda: is_open(port), f"{command[0]} listens")
        return port

    def place(self, name):
        place = self.folder / name
        place.mkdir()
        place.chmod(0o777)
        return place

    def nginx(self, name, text, **values):
        """Runs nginx with this configuration, which contains {port}, and {folder} and {places} for
        the files that nginx writes. Returns the port."""
        place = self.place(name)
        places = "".join(f"{each}_temp_path {place}/{each}; " for each in
                         ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (place / "config").write_text(text.format(folder=place, places=places, **values))
        return self.run(values["port"], program("nginx"), "-c", place / "config", "-p", place)

    def haproxy(self, name, text, **values):
        config = self.place(name) / "config"
        config.write_text(text.format(**values))
        return self.run(values["port"], program("haproxy"), "-db", "-f", config)

    def close(self):
        # SIGKILL would make nginx leave its workers behind.
        for each in self.processes:
            each.terminate()
            try:
                each.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                each.kill()
                each.wait()
