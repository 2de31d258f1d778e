"""A QEMU guest with one of Debian's stock kernels, under software emulation (TCG).

    host  /            --9p, read-only-->  lower \\
                                                  overlay = the guest's /
    guest tmpfs        ------------------  upper /
    host  <folder>     --9p------------->  /run/out     the guest's script, and its output

So the same strata, python3 and tshark run in the guest and on the host; only /tmp, /run and /dev
are the guest's own. The kernel is downloaded and unpacked in CACHE, never installed; delete it
there to get a newer one. Packages that Debian 12 lacks come from Debian 13's backports, which are
not added to this machine's apt. The guest writes nothing of the host's except that folder.
"""

import lzma
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

CACHE = Path(os.environ.get("STRATA_GUEST_CACHE", Path.home() / ".cache/strata-guest"))
QEMU = "qemu-system-x86_64"
NEEDED = {QEMU: "qemu-system-x86", "busybox": "busybox-static", "cpio": "cpio", "depmod": "kmod",
          "ethtool": "ethtool"}
BACKPORTS = ("deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
             "http://deb.debian.org/debian trixie-backports main\n")
# The modules that the guest needs before it has its root; it loads all others itself.
FIRST_MODULES = ["virtio_pci", "9pnet_virtio", "9p", "overlay"]
# Emulated on several threads, a booting kernel may fail on code that it has just patched ("Oops:
# int3"), or lose the interrupts of its timer and stand still ("Possible timer handling issue"). It
# is then booted again, at most BOOTS times. A script that has begun is never run again.
BOOTS = 3
BOOT_SECONDS = 90  # it takes 4 alone, and 30 on a busy machine
HERE = Path(__file__).resolve().parent


def missing():
    """Returns the packages that must be installed first."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    return sorted(package for program, package in NEEDED.items()
                  if not shutil.which(program, path=path))


def run(*command, **how):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=600,
                          **how).stdout


def of_backports(folder):
    """Returns options for an apt that knows only the backports and has all its files in
    `folder`."""
    (folder / "lists/partial").mkdir(parents=True)
    (folder / "archives/partial").mkdir(parents=True)
    (folder / "sources").write_text(BACKPORTS)
    options = []
    for name, place in {"Etc::SourceList": folder / "sources", "Etc::SourceParts": "-",
                        "State::Lists": folder / "lists", "Cache": folder}.items():
        options += ["-o", f"Dir::{name}={place}"]
    run("apt-get", "-qq", "update", *options)
    return options


def known(options):
    """Returns the packages that an apt with these options could download."""
    return set(run("apt-cache", "pkgnames", "linux-", *options).split())


def modules_in(package):
    """Returns the modules' folder in an unpacked kernel: since Debian 13 it is below usr."""
    [found] = [*package.glob("lib/modules/*"), *package.glob("usr/lib/modules/*")]
    return found


class Kernel:
    """Debian's newest kernel of a series, such as "6.1", or "7" for all that begin with 7."""

    def __init__(self, series):
        self.series = series
        self.folder = self.unpacked() or self.fetch()
        self.modules = modules_in(self.folder)
        self.version = self.modules.name
        self.number = tuple(map(int, re.findall(r"\d+", self.version)[:2]))
        self.image = next(self.folder.rglob("vmlinuz*"))

    def newest(self, names):
        """Returns the newest of the plain kernels among `names`, by the numbers in them."""
        plain = re.compile(rf"linux-image-{re.escape(self.series)}\.[\d.]+([-+]\w+)?-amd64")
        fitting = [name for name in names if plain.fullmatch(name)]
        return max(fitting, key=lambda name: [int(part) for part in re.findall(r"\d+", name)],
                   default=None)

    def unpacked(self):
        found = self.newest(each.name for each in CACHE.glob("linux-image-*"))
        return found and CACHE / found

    def fetch(self):
        # Only a complete kernel gets its final name.
        making = CACHE / f"making-{os.getpid()}"
        making.mkdir(parents=True)
        try:
            name = self.download(making)
            for package in making.glob("*.deb"):
                run("dpkg-deb", "-x", package, making / "made")
            modules = modules_in(making / "made")
            run("depmod", "-b", modules.parents[2], modules.name,
                env={**os.environ, "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin"})
            (making / "made").rename(CACHE / name)
        finally:
            shutil.rmtree(making)
        return CACHE / name

    def download(self, folder):
        """Downloads the kernel's package and its parts into `folder`, and returns the
        package's name."""
        options = []
        name = self.newest(known(options))
        if not name:
            options = of_backports(folder / "apt")
            name = self.newest(known(options))
        if not name:
            raise LookupError(f"neither apt nor Debian 13's backports have a kernel {self.series}; "
                              "try `apt-get update`")
        # Recent kernels have an empty image package and further parts.
        parts = {name.replace("image", part, 1)
                 for part in ["image", "base", "binary", "modules"]}
        run("apt-get", "download", *parts & known(options), *options, cwd=folder)
        return name

    def with_dependencies(self, names):
        """Returns the files of these modules, each after those that it needs. Names without a
        module are built into the kernel, and left out."""
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
        """Makes an initramfs with busybox, the modules that the root needs, and init.sh."""
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
    """The results of a guest: the script's exit code (or None), its output, and the
    kernel's messages."""

    def __init__(self, folder):
        self.folder = folder
        code = folder / "exit_code"
        self.exit_code = int(code.read_text()) if code.exists() else None
        self.output = self.text("output")
        self.console = self.text("console")

    def text(self, name):
        path = self.folder / name
        return path.read_text(errors="replace") if path.exists() else ""


def boot(kernel, script, folder, nics=(), seconds=600, prefix=(), terminal=False):
    """Runs a shell script, as root, in a guest with these NICs (arguments of QEMU's); `prefix` runs
    QEMU where those NICs are. `folder` is /run/out in the guest. `seconds` after the script began
    the guest is ended, and its exit code is None. With `terminal`, its console /dev/ttyS0 is this
    terminal."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in ["exit_code", "output", "console"]:
        (folder / old).unlink(missing_ok=True)
    (folder / "script").write_text(script)
    arguments = [
        "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "2G", "-nodefaults",
        "-no-reboot", "-display", "none", "-monitor", "none",
        "-serial", "mon:stdio" if terminal else f"file:{folder}/console",
        "-kernel", kernel.image, "-initrd", kernel.initramfs(folder),
        "-append", f"console=ttyS0 quiet panic=-1 mitigations=off modules={kernel.modules.parent}",
        "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap",
        "-virtfs", f"local,path={folder},mount_tag=out,security_model=none", *nics]
    for _ in range(BOOTS):
        emulate([*prefix, QEMU, *map(str, arguments)], folder, seconds, terminal)
        if (folder / "output").exists():
            break
    (folder / "initramfs.cpio").unlink()
    return Outcome(folder)


def emulate(command, folder, seconds, terminal):
    """Runs QEMU until the guest ends, or has not begun its script after BOOT_SECONDS, or has run
    it for `seconds`."""
    with open(folder / "qemu", "wb") as said:
        process = subprocess.Popen(command, stdin=None if terminal else subprocess.DEVNULL,
                                   stdout=None if terminal else said, stderr=said)
        try:
            if begins(process, folder / "output"):
                process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            process.kill()
            process.wait()


def begins(process, output):
    """Waits for the script's output; returns false if the guest ended or stands still before."""
    latest = time.monotonic() + BOOT_SECONDS
    while not output.exists():
        if process.poll() is not None or time.monotonic() > latest:
            return False
        time.sleep(0.1)
    return True
