"""A file system that fails on request. It passes all calls on to a folder, except as its state
says: `good`; `write`, `sync` (those calls fail with EIO), `full` (writes fail with ENOSPC),
`readonly` (all changes fail with EROFS, as after ext4's errors=remount-ro), `stuck` (writes and
syncs wait for another state).

It runs as a separate program: failing_disk.py FOLDER MOUNT STATE."""

import errno
import os
import subprocess
import sys
import time
from pathlib import Path


class FailingDisk:
    """The file system, mounted at `mount`."""

    def __init__(self, place):
        folder, self.mount, self.state = place / "behind", place / "disk", place / "state"
        folder.mkdir()
        self.mount.mkdir()
        self.become("good")
        # Debian's package; another Python may come first in PATH.
        self.process = subprocess.Popen(["/usr/bin/python3", __file__, folder, self.mount,
                                         self.state])
        while not os.path.ismount(self.mount):
            assert self.process.poll() is None, "the file system could not be mounted"
            time.sleep(0.02)

    def become(self, state):
        new = self.state.with_suffix(".new")
        new.write_text(state)
        new.replace(self.state)

    def close(self):
        self.become("good")
        subprocess.run(["umount", "-l", self.mount], check=True)
        self.process.kill()
        self.process.wait()


def serve(folder, mount, state):
    import fusepy  # the tests' own Python may lack it

    class Served(Calls, fusepy.Operations):
        pass

    # Without the kernel's page cache, each write reaches this file system at once.
    fusepy.FUSE(Served(folder, state), mount, foreground=True, direct_io=True)


class Calls:
    """The calls that the kernel makes to the file system."""

    def __init__(self, folder, state):
        self.folder, self.state = folder, Path(state)

    def place(self, path):
        return os.path.join(self.folder, path.lstrip("/"))

    def check(self, *kinds):
        """Fails or waits if the state demands it for one of these kinds of calls."""
        while (word := self.state.read_text()) == "stuck" and {"write", "sync"} & set(kinds):
            time.sleep(0.02)
        if word == "readonly" and "change" in kinds:
            raise OSError(errno.EROFS, "as the state says")
        elif word == "full" and "write" in kinds:
            raise OSError(errno.ENOSPC, "as the state says")
        elif word in ("write", "sync") and word in kinds:
            raise OSError(errno.EIO, "as the state says")

    def getattr(self, path, fh=None):
        entry = os.lstat(self.place(path))
        return {name: getattr(entry, name) for name in (
            "st_atime", "st_ctime", "st_gid", "st_mode", "st_mtime", "st_nlink", "st_size",
            "st_uid")}

    def readdir(self, path, fh):
        return [".", "..", *os.listdir(self.place(path))]

    def statfs(self, path):
        room = os.statvfs(self.place(path))
        return {name: getattr(room, name) for name in (
            "f_bavail", "f_bfree", "f_blocks", "f_bsize", "f_favail", "f_ffree", "f_files",
            "f_flag", "f_frsize", "f_namemax")}

    def open(self, path, flags):
        if flags & os.O_ACCMODE != os.O_RDONLY:
            self.check("change")
        return os.open(self.place(path), flags & ~os.O_APPEND)

    def create(self, path, mode, fi=None):
        self.check("change")
        return os.open(self.place(path), os.O_RDWR | os.O_CREAT, mode)

    def read(self, path, size, offset, fh):
        return os.pread(fh, size, offset)

    def write(self, path, data, offset, fh):
        self.check("change", "write")
        return os.pwrite(fh, data, offset)

    def fsync(self, path, datasync, fh):
        self.check("change", "sync")
        os.fsync(fh)

    def fsyncdir(self, path, datasync, fh):
        self.check("change", "sync")

    def truncate(self, path, length, fh=None):
        self.check("change")
        os.truncate(self.place(path), length)

    def release(self, path, fh):
        os.close(fh)

    def unlink(self, path):
        self.check("change")
        os.unlink(self.place(path))

    def rename(self, old, new):
        self.check("change")
        os.rename(self.place(old), self.place(new))

    def mkdir(self, path, mode):
        self.check("change")
        os.mkdir(self.place(path), mode)

    def rmdir(self, path):
        self.check("change")
        os.rmdir(self.place(path))

    def chmod(self, path, mode):
        self.check("change")
        os.chmod(self.place(path), mode)

    def utimens(self, path, times=None):
        self.check("change")
        os.utime(self.place(path), times)


if __name__ == "__main__":
    serve(*sys.argv[1:])
