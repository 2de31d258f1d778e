"""The client programs' packages from registries: installed once, by lock file, into a build folder.
Downloads are kept outside the clone, for the next clone.

Everything runs with Debian's own tools (tools/deps.txt), whatever PATH says.
"""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
DOWNLOADS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "strata/clients")
FETCHING_S = 300
IVY = "/usr/share/java/ivy.jar"


def environment(**more):
    return {**os.environ, "PATH": "/usr/bin:/bin", **more}


def fetch(what, command, folder, **more):
    """Runs a registry's own client. A failure fails the test, because a skipped test
    would never run."""
    try:
        done = subprocess.run(list(map(str, command)), cwd=folder, env=environment(**more),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=FETCHING_S)
    except FileNotFoundError:
        pytest.fail(f"{command[0]} is not installed, and {what} needs it: run make deps",
                    pytrace=False)
    except subprocess.TimeoutExpired:
        pytest.fail(f"{what}: the registry gave no answer to {command[0]} for {FETCHING_S} s; "
                    "is there a network?", pytrace=False)
    if done.returncode != 0:
        pytest.fail(f"{what}: {command[0]} could not get the packages from their registry; is "
                    f"there a network? It said:\n{done.stdout[-2000:]}", pytrace=False)


def once(folder, locks, make):
    """Calls `make` unless `folder` holds its result for the same lock files."""
    digest = hashlib.sha256(b"".join(lock.read_bytes() for lock in locks)).hexdigest()
    stamp = folder / "fetched"
    if stamp.exists() and stamp.read_text() == digest:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make()
    stamp.write_text(digest)


def node(folder, program, source=HERE / "node"):
    """Returns the command that runs `program` of `source`, which must lie beside its modules."""
    locks = [source / "package.json", source / "package-lock.json"]

    def install():
        for lock in locks:
            shutil.copy(lock, folder)
        fetch(program, ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund",
                        "--prefer-offline", "--cache", DOWNLOADS / "npm"], folder)

    once(folder, locks, install)
    for each in source.glob("*.mjs"):
        shutil.copy(each, folder)
    return ["node", folder / program]


def python(folder, program, source=HERE / "python"):
    locks = [source / "requirements.txt"]

    def install():
        fetch(program, ["python3", "-m", "pip", "install", "--quiet", "--no-deps",
                        "--require-hashes", "--only-binary", ":all:",
                        "--cache-dir", DOWNLOADS / "pip", "--disable-pip-version-check",
                        "--target", folder / "packages", "-r", locks[0]], folder)

    once(folder, locks, install)
    return ["env", f"PYTHONPATH={folder / 'packages'}", "python3", "-B", source / program]


def go(folder, program, source=HERE / "go"):
    where = {"GOMODCACHE": str(DOWNLOADS / "go"), "GOCACHE": str(DOWNLOADS / "go-build"),
             "GOFLAGS": "-mod=readonly -modcacherw", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}

    def download():
        fetch(program, ["go", "mod", "download"], source, **where)

    once(folder, [source / "go.mod", source / "go.sum"], download)
    build = subprocess.run(["go", "build", "-trimpath", "-buildvcs=false", "-o",
                            folder / program, "."], cwd=source, env=environment(**where),
                           capture_output=True, text=True, timeout=FETCHING_S)
    assert build.returncode == 0, f"{program} does not build:\n{build.stderr}"
    return [folder / program]


def rust(folder, program, source=HERE / "rust"):
    # Debian's cargo knows the registry's present index by an unstable flag only. All clones share
    # the compiled crates, which take two minutes of a processor.
    target = DOWNLOADS / "cargo_target"
    more = {"CARGO_HOME": str(DOWNLOADS / "cargo"), "CARGO_TARGET_DIR": str(target),
            "RUSTC_BOOTSTRAP": "1"}

    def download():
        fetch(program, ["cargo", "-Z", "sparse-registry", "fetch", "--locked"], source, **more)

    once(folder, [source / "Cargo.toml", source / "Cargo.lock"], download)
    build = subprocess.run(["cargo", "-Z", "sparse-registry", "build", "--locked", "--offline"],
                           cwd=source, env=environment(**more), capture_output=True, text=True,
                           timeout=FETCHING_S)
    assert build.returncode == 0, f"{program} does not build:\n{build.stderr}"
    return [target / "debug" / program]


def java(folder, program, source=HERE / "java"):
    sums = source / "jars.sha256"

    def download():
        fetch(program, ["java", "-jar", IVY, "-ivy", source / "ivy.xml", "-cache",
                        DOWNLOADS / "ivy", "-retrieve", folder / "jars" / "[artifact].[ext]"],
              folder)
        seen = subprocess.run(["sha256sum", "--check", "--quiet", "--strict", sums],
                              cwd=folder / "jars", capture_output=True, text=True)
        assert seen.returncode == 0, f"not the jars of {sums}: {seen.stdout}{seen.stderr}"

    once(folder, [source / "ivy.xml", sums], download)
    return ["java", "-cp", folder / "jars" / "*", source / program]


def ruby(_folder, program, source):
    """Returns the command that runs `program` with Debian's own packages of Ruby."""
    if not shutil.which("sidekiq", path=environment()["PATH"]):
        pytest.fail(f"sidekiq is not installed, and {program} needs it: run make deps",
                    pytrace=False)
    return ["ruby", source / program]
