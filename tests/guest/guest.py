"""A QEMU guest with one of Debian's stock kernels, under software emulation (TCG).

    host  /            --9p, read-only-->  lower \\
                                                  overlay = the guest's /
    guest tmpfs        ------------------  upper /
    host  <folder>     --9p------------->  /run/out     what the guest is to do, and what it says

So the same strata, python3 and tshark run there as here; only /tmp, /run and /dev are its own. The
kernel is downloaded and unpacked in CACHE, never installed; delete it there to have a newer one.
Nothing of the host's is written but that folder.
"""

import lzma
import os
import re
import shutil
import subprocess
from pathlib import Path

CACHE = Path(os.environ.get("STRATA_GUEST_CACHE", Path.home() / ".cache/strata-guest"))
QEMU = "qemu-system-x86_64"
NEEDED = {QEMU: "qemu-system-x86", "busybox": "busybox-static", "cpio": "cpio", "depmod": "kmod",
          "ethtool": "ethtool"}
# What the guest needs before it has its root; all else it loads itself.
FIRST_MODULES = ["virtio_pci", "9pnet_virtio", "9p", "overlay"]
HERE = Path(__file__).resolve().parent


def missing():
    """The packages that are to be installed first."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return sorted(package for program, package in NEEDED.items()
                  if not shutil.which(program, path=path))


def run(*command, **how):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=600,
                          **how).stdout


class Kernel:
    """Debian's newest kernel of a series, as "6.1"."""

    def __init__(self, series):
        self.series = series
        self.folder = self.unpacked() or self.fetch()
        [modules] = (self.folder / "lib/modules").iterdir()
        self.version = modules.name
        self.modules = modules
        self.image = self.folder / f"boot/vmlinuz-{self.version}"

    def newest(self, names):
        """The newest of the plain kernels among `names`, by the numbers in them."""
        plain = re.compile(rf"linux-image-{re.escape(self.series)}\.[\d.]+([-+]\w+)?-amd64")
        fitting = [name for name in names if plain.fullmatch(name)]
        return max(fitting, key=lambda name: [int(part) for part in re.findall(r"\d+", name)],
                   default=None)

    def unpacked(self):
        found = self.newest(each.name for each in CACHE.glob("linux-image-*"))
        return found and CACHE / found

    def fetch(self):
        name = self.newest(run("apt-cache", "pkgnames", f"linux-image-{self.series}.").split())
        if not name:
            raise LookupError(f"apt knows no kernel {self.series}; try `apt-get update`")
        # A name that only a whole one gets.
        making = CACHE / f"making-{os.getpid()}"
        making.mkdir(parents=True)
        try:
            run("apt-get", "download", name, cwd=making)
            [package] = making.glob("*.deb")
            run("dpkg-deb", "-x", package, making / "made")
            [modules] = (making / "made/lib/modules").iterdir()
            run("depmod", "-b", making / "made", modules.name,
                env={**os.environ, "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin"})
            (making / "made").rename(CACHE / name)
        finally:
            shutil.rmtree(making)
        return CACHE / name

    def with_dependencies(self, names):
        """The files of these modules, each behind those that it needs. What is no module is built
        in, and left out."""
        needs = {}
        for line in (self.modules / "modules.dep").read_text().splitlines():
            path, _, others = line.partition(":")
            needs[path] = others.split()
        named = {Path(path).name.split(".")[0].replace("-", "_"): path for path in needs}
        order = []

        def add(path):
            for each in needs[path]:
                add(each)
            if path not in order:
                order.append(path)

        for name in names:
            if name in named:
                add(named[name])
        return [self.modules / path for path in order]

    def initramfs(self, folder):
        """A file with busybox, the modules that its root needs, and init.sh."""
        tree = folder / "initramfs"
        (tree / "modules").mkdir(parents=True)
        shutil.copy(shutil.which("busybox"), tree / "busybox")
        shutil.copy(HERE / "init.sh", tree / "init")
        (tree / "init").chmod(0o755)
        for number, path in enumerate(self.with_dependencies(FIRST_MODULES)):
            data = path.read_bytes()
            if path.suffix == ".xz":
                data = lzma.decompress(data)
            (tree / f"modules/{number:02}-{path.name.removesuffix('.xz')}").write_bytes(data)
        names = "\n".join(str(each.relative_to(tree)) for each in sorted(tree.rglob("*")))
        made = folder / "initramfs.cpio"
        with open(made, "wb") as out:
            subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], cwd=tree, stdout=out,
                           check=True, input=names.encode(), timeout=60)
        shutil.rmtree(tree)
        return made


class Outcome:
    """What a guest left: the script's exit code, or None, its output, and the kernel's words."""

    def __init__(self, folder):
        self.folder = folder
        code = folder / "exit_code"
        self.exit_code = int(code.read_text()) if code.exists() else None
        self.output = self.text("output")
        self.console = self.text("console")

    def text(self, name):
        path = self.folder / name
        return path.read_text(errors="replace") if path.exists() else ""


def boot(kernel, script, folder, nics=(), seconds=600, prefix=()):
    """Runs a shell script, as root, in a guest that has these NICs (arguments of QEMU's); `prefix`
    runs QEMU where those NICs are. `folder` is /run/out there. After `seconds` the guest is ended;
    its exit code is None then."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in ["exit_code", "output", "console"]:
        (folder / old).unlink(missing_ok=True)
    (folder / "script").write_text(script)
    arguments = [
        "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "2G", "-nodefaults",
        "-no-reboot", "-display", "none", "-monitor", "none", "-serial", f"file:{folder}/console",
        "-kernel", kernel.image, "-initrd", kernel.initramfs(folder),
        "-append", f"console=ttyS0 quiet panic=-1 mitigations=off modules={kernel.modules.parent}",
        "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap",
        "-virtfs", f"local,path={folder},mount_tag=out,security_model=none", *nics]
    with open(folder / "qemu", "wb") as said:
        process = subprocess.Popen([*prefix, QEMU, *map(str, arguments)], stdin=subprocess.DEVNULL,
                                   stdout=said, stderr=said)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            process.kill()
            process.wait()
    (folder / "initramfs.cpio").unlink()
    return Outcome(folder)
