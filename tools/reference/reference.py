#!/usr/bin/env python3
"""Makes the reference of all languages from the sources.

Doxygen makes the pages of C++ and C, odoc those of OCaml, rustdoc those of Rust; a page leads to
each.

    reference.py PREFIX OUT     PREFIX: where the C library is installed, for the bindings

Invalid documentation is an error. So is an undocumented item of the crates or name of the C ABI
(members of structures may lack documentation), and more undocumented names in C++ than
limit.txt allows."""

import argparse
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tools/reference"
PACKAGES = {"doxygen": "doxygen", "dune": "ocaml-dune", "odoc": "ocaml-odoc", "cargo": "cargo"}
UNDOCUMENTED = " is not documented."
# odoc looks for other libraries, which have no pages here; and a type of a module that Xsk does not
# name is shown where it is used.
NO_FAULT = re.compile(r"Couldn't find the following modules|^ *Stdlib Unix$|resolved hidden path|"
                      r'^File "\.\./.*\.odoc":$')
LANGUAGES = {"cpp": ("C++ and C", "the library, and the C ABI (strata.h, strata_l2.h, "
                     "strata_ipc.h, strata_nl.h, strata_xdp.h)", "cpp/index.html"),
             "ocaml": ("OCaml", "the package xsk", "ocaml/xsk/index.html"),
             "rust": ("Rust", "the crates strata-base, strata-l2, strata-xdp and strata-netlink",
                      "rust/strata_l2/index.html")}


def run(*command, **how):
    """Returns the output of both streams; ends this program if the command fails."""
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, timeout=600, **how)
    if done.returncode != 0:
        sys.exit(f"reference.py: {command[0]} failed:\n{done.stdout}")
    return done.stdout


def check_count(count):
    """Checks the count against limit.txt; a smaller count must be written there."""
    limit = int((HERE / "limit.txt").read_text().splitlines()[-1])
    if count > limit:
        return [f"{count} names in C++ have no documentation, over the {limit} of "
                "tools/reference/limit.txt: document what is new"]
    if count < limit:
        print(f"{count} names in C++ have no documentation; write that into "
              "tools/reference/limit.txt")
    return []


def cpp(out):
    """Writes the pages of C++ and C and returns their faults."""
    settings = (HERE / "Doxyfile").read_text() + f"\nOUTPUT_DIRECTORY = {out}\n"
    said = run("doxygen", "-", input=settings, cwd=ROOT).splitlines()
    # A second run replaces those pages: with EXTRACT_ALL they contain all names, and
    # give no warnings.
    shutil.rmtree(out / "cpp")
    run("doxygen", "-", input=f"{settings}EXTRACT_ALL = YES\n", cwd=ROOT)
    warnings = [line for line in said if "warning:" in line]
    bare = [line for line in warnings if line.endswith(UNDOCUMENTED)]
    in_c = [line for line in bare if re.search(r"\.h:\d+: ", line) and "(variable)" not in line]
    found = [line for line in warnings if line not in bare] + in_c
    return found + check_count(len([line for line in bare if ".hpp:" in line]))


def with_library(prefix):
    """Returns the environment in which the bindings find the C library. It lacks CI, with
    which dune names each command that printed something, so that the output would differ
    between machines."""
    folder = next((each.parent for each in prefix.rglob("strata-c.pc")), None)
    if not folder:
        sys.exit(f"reference.py: there is no strata-c.pc in {prefix}; install strata there")
    environment = {**os.environ, "PKG_CONFIG_PATH": str(folder),
                   "LD_LIBRARY_PATH": str(folder.parent)}
    environment.pop("CI", None)
    return environment


def ocaml(out, prefix, scratch):
    said = run("dune", "build", "--root", ".", "--build-dir", scratch / "ocaml", "@doc",
               cwd=ROOT / "bindings/ocaml", env=with_library(prefix))
    shutil.copytree(scratch / "ocaml/default/_doc/_html", out / "ocaml")
    return [line for line in said.splitlines() if not NO_FAULT.search(line)]


def rust(out, prefix, scratch):
    environment = {**with_library(prefix), "CARGO_TARGET_DIR": str(scratch / "rust"),
                   "RUSTDOCFLAGS": "-D warnings -D missing_docs"}
    run(os.environ.get("CARGO", "cargo"), "doc", "--offline", "--workspace", "--no-deps", "--quiet",
        cwd=ROOT / "bindings/rust", env=environment)
    shutil.copytree(scratch / "rust/doc", out / "rust")


def index(version):
    rows = "".join(f'<li><a href="{page}">{html.escape(name)}</a>: {html.escape(what)}</li>\n'
                   for name, what, page in LANGUAGES.values())
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>strata {version}: reference</title>
<style>body {{ font-family: sans-serif; max-width: 40em; margin: 3em auto; }}</style>
</head><body>
<h1>strata {version}: reference</h1>
<p>Made of the sources, for each language. What the parts are for, and how to begin, the pages of
docs/ tell.</p>
<ul>
{rows}</ul>
</body></html>
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("prefix", type=Path, metavar="PREFIX")
    parser.add_argument("out", type=Path, metavar="OUT")
    wanted = parser.parse_args()
    lacking = sorted(PACKAGES[name] for name in PACKAGES if not shutil.which(name))
    if lacking:
        sys.exit(f"reference.py: install {' '.join(lacking)}")
    prefix, out = wanted.prefix.resolve(), wanted.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        found = cpp(out)
        found += ocaml(out, prefix, Path(scratch))
        rust(out, prefix, Path(scratch))
    version = re.search(r"VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text().partition(
        "project(strata")[2])[1]
    (out / "index.html").write_text(index(version))
    print("\n".join(found) or f"reference: {out}/index.html")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
