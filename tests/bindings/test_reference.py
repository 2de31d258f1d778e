"""The reference that `make reference` generates contains each public name of each language."""

import re
import shutil
import subprocess
import sys
from html import unescape

import pytest

from c_library import SOURCE, run

OCAML = SOURCE / "bindings/ocaml/src"
RUST = SOURCE / "bindings/rust"
CRATES = ["base", "l2", "netlink", "xdp"]


@pytest.fixture(scope="module")
def reference(prefix, tmp_path_factory):
    out = tmp_path_factory.mktemp("reference")
    run(SOURCE / "tools/reference/reference.py", prefix, out, CARGO="/usr/bin/cargo")
    return out


def plain(text):
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split())


def members(reference):
    """Yields the names that Doxygen documents: "int strata_nl_open", "constexpr
    std::size_t strata::…"."""
    for page in reference.glob("cpp/*.html"):
        text = page.read_text()
        yield from map(plain, re.findall(r'<td class="memname">(.*?)</td>', text, re.DOTALL))


def headers():
    return [path.read_text() for path in sorted((SOURCE / "include/strata").rglob("*.hpp"))]


def test_the_first_page_leads_to_all_languages(reference):
    page = (reference / "index.html").read_text()
    links = re.findall(r'href="([^"]+)"', page)
    assert len(links) == 3 and all((reference / each).is_file() for each in links), links


def test_each_function_of_the_c_abi(reference):
    wanted = set(re.findall(r"\bstrata_\w+(?=;)", (SOURCE / "lib/abi/strata.map").read_text()))
    found = {each.split()[-1].lstrip("*") for each in members(reference)}
    assert len(wanted) > 100
    assert not wanted - found, sorted(wanted - found)


def test_each_type_of_the_library(reference):
    titles = {plain(title) for page in reference.glob("cpp/*.html")
              for title in re.findall(r"<title>(.*?)</title>", page.read_text())}
    described = "\n".join([*titles, *members(reference)])
    names = {name.rpartition("::")[2] for name in re.findall(
        r"^(?:strata: |enum (?:class )?)([\w:]+)", described, re.MULTILINE)}
    wanted = {name for text in headers() for name in re.findall(
        r"^(?:class|struct|enum class|enum) (\w+)\b(?!::)[^;\n]*{", text, re.MULTILINE)}
    assert len(wanted) > 80
    assert not wanted - names, sorted(wanted - names)


def test_each_item_of_the_crates(reference):
    for crate in CRATES:
        text = (RUST / crate / "src/lib.rs").read_text()
        wanted = {name.strip() for names in re.findall(r"^pub use (?!strata_base)\w+::\{?([^;}]+)",
                                                       text, re.MULTILINE)
                  for name in names.split(",") if name.strip()}
        found = {page.name.split(".")[1] for page in
                 (reference / f"rust/strata_{crate}").glob("*.*.html")}
        assert wanted and not wanted - found, (crate, sorted(wanted - found))


def test_each_value_of_the_ocaml_package(reference):
    modules = re.findall(r"^module (\w+) = \w+$", (OCAML / "xsk.ml").read_text(), re.MULTILINE)
    assert len(modules) > 10
    for module in modules:
        page = (reference / f"ocaml/xsk/Xsk/{module}/index.html").read_text()
        shown = (OCAML / f"{module.lower()}.mli").read_text().partition("(**/**)")[0]
        for name in re.findall(r"^val (\w+)", shown, re.MULTILINE):
            assert f'id="val-{name}"' in page, f"{module}.{name}"


@pytest.mark.parametrize("header, line, said", [
    ("strata.h", "int strata_nothing(void);", "strata_nothing"),
    ("wire/udp.hpp", "namespace strata { int nothing(); }", "over the"),
    ("wire/udp.hpp", "namespace strata {\n/// @param nobody is there\nint something(int x);\n}",
     "nobody")])
def test_what_has_no_words_or_wrong_ones_is_an_error(tmp_path, header, line, said):
    for part in ["include", "tools/reference"]:
        shutil.copytree(SOURCE / part, tmp_path / part)
    call = ("import sys; from pathlib import Path; import reference; "
            "print(reference.cpp(Path(sys.argv[1])))")

    (tmp_path / "out").mkdir()
    path = tmp_path / "include/strata" / header
    path.write_text(path.read_text().replace("#pragma once\n", f"#pragma once\n\n{line}\n", 1))
    done = subprocess.run([sys.executable, "-c", call, tmp_path / "out"], text=True, check=True,
                          capture_output=True, timeout=120, cwd=tmp_path / "tools/reference")
    assert said in done.stdout
