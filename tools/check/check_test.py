#!/usr/bin/env python3
"""Plants breaches in small trees and checks that tools/check.py reports each of them."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parent.parent / "check.py"
sys.path.insert(0, str(CHECK.parent))

from check import drawings, includes  # noqa: E402
from check.functions import functions  # noqa: E402

URING = '#include <liburing.h>\n\n#include "loop/loop.hpp"\n\nio_uring_sqe* entry;\n'
LOOP = "#pragma once\n\nnamespace strata::loop {\nclass loop {};\n}  // namespace strata::loop\n"
CLEAN = {
    "README.md": "# tree\n\nSee [the design](docs/design.md#layers).\n",
    "docs/building.md": "# building\n\nNeeds `cmake`.\n",
    "docs/design.md": "# design\n",
    "tools/deps.txt": "# what it is built with\ncmake\n",
    "include/strata/base/bytes.hpp": "#pragma once\n\n#include <span>\n",
    "src/loop/loop.hpp": LOOP,
    "src/loop/backends/uring_loop.cpp": URING,
    "src/net/stream.cpp": '#include "loop/loop.hpp"\n#include "strata/base/bytes.hpp"\n',
    "src/runtime/options/options.hpp": "#pragma once\n",
    "src/runtime/server/options.hpp": '#pragma once\n\n#include "runtime/options/options.hpp"\n',
    "src/runtime/client/client.hpp": "#pragma once\n",
    "src/cli/runtimes/create.cpp": (
        '#include "runtime/server/options.hpp"\n\n// io_uring_setup may fail\n'
    ),
    "src/cli/system/kernel_checks.cpp": (
        "#include <linux/io_uring.h>\n\nio_uring_params* parameters;\n"
    ),
    "src/proto/resp_test.cpp": (
        '#include <gtest/gtest.h>\n\n#include "loop/backends/simulation.hpp"\n'
    ),
    "src/loop/backends/simulation.hpp": "#pragma once\n",
    "src/main.cpp": '#include "cli/verbs.hpp"\n\nint main() { return 0; }\n',
    "src/cli/verbs.hpp": "#pragma once\n",
}


def function_of(lines):
    """Returns a function of that many lines, including its head and its closing brace."""
    return "int f() {\n" + "  // a line\n" * (lines - 3) + "  return 0;\n}\n"


class CheckTest(unittest.TestCase):
    def check(self, changes, *rules):
        """Runs the check on the clean tree with the changes; returns its exit code and output."""
        with tempfile.TemporaryDirectory() as folder:
            for name, content in {**CLEAN, **changes}.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content)
            argv = [sys.executable, CHECK, "--root", folder, *rules]
            done = subprocess.run(argv, capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def assert_breach(self, rule, changes, *expected):
        """Checks that the rule finds exactly one breach, and reports what is expected."""
        code, output = self.check(changes, rule)
        self.assertEqual(code, 1, output)
        self.assertEqual(len(output.splitlines()), 1, output)
        for words in expected:
            self.assertIn(words, output)

    def assert_clean(self, rule, changes):
        self.assertEqual(self.check(changes, rule), (0, f"check: {rule}: passed\n"))

    def test_clean_tree(self):
        code, output = self.check({})
        rules = ("layers", "targets", "includes", "sizes", "headers", "names", "docs",
                 "drawings", "prose", "vocabulary", "abi", "unused", "words")
        self.assertEqual(output, "".join(f"check: {rule}: passed\n" for rule in rules))
        self.assertEqual(code, 0)


class LayersTest(CheckTest):
    def test_cli_includes_the_loop(self):
        self.assert_breach(
            "layers",
            {"src/cli/ls.cpp": '#include <string>\n#include "loop/loop.hpp"\n'},
            "src/cli/ls.cpp:2: layers: cli includes src/loop/loop.hpp",
        )

    def test_cli_includes_a_runtime(self):
        changes = {"src/cli/ls.cpp": '#include "runtime/client/client.hpp"\n'}
        self.assert_breach("layers", changes, "src/cli/ls.cpp:1:")

    def test_runtime_includes_another(self):
        changes = {"src/runtime/server/server.cpp": '#include "runtime/client/client.hpp"\n'}
        self.assert_breach("layers", changes, "server.cpp:1: layers: runtime/server includes")

    def test_a_folder_inside_a_folder_has_rules_of_its_own(self):
        changes = {
            "src/runtime/cache/values/entry.hpp": "#pragma once\n",
            "src/runtime/cache/engine/engine.hpp": (
                '#pragma once\n#include "runtime/cache/values/entry.hpp"\n'
            ),
        }
        self.assert_clean("layers", changes)
        up = '#include "runtime/cache/engine/engine.hpp"\n'
        changes["src/runtime/cache/values/pack.cpp"] = up
        self.assert_breach("layers", changes, "pack.cpp:1:", "runtime/cache/values includes")

    def test_library_includes_upwards(self):
        changes = {
            "include/strata/wire/arp.hpp": "#pragma once\n",
            "lib/base/error.cpp": "#include <strata/wire/arp.hpp>\n",
        }
        self.assert_breach("layers", changes, "lib/base/error.cpp:1:", "base includes")

    def test_cycle(self):
        changes = {
            "src/net/a.hpp": '#pragma once\n#include "net/b.hpp"\n',
            "src/net/b.hpp": '#pragma once\n#include "net/c.hpp"\n',
            "src/net/c.hpp": '#pragma once\n#include "net/a.hpp"\n',
        }
        cycle = "src/net/a.hpp -> src/net/b.hpp -> src/net/c.hpp -> src/net/a.hpp"
        self.assert_breach("layers", changes, "src/net/c.hpp:2:", cycle)

    def test_diamond_is_no_cycle(self):
        changes = {
            "src/net/a.hpp": '#pragma once\n#include "net/b.hpp"\n#include "net/c.hpp"\n',
            "src/net/b.hpp": '#pragma once\n#include "net/d.hpp"\n',
            "src/net/c.hpp": '#pragma once\n#include "net/d.hpp"\n',
            "src/net/d.hpp": "#pragma once\n",
        }
        self.assert_clean("layers", changes)

    def test_io_uring_outside_of_the_loop(self):
        for code in (
            "#include <liburing.h>\n",
            "#include <linux/io_uring.h>\n",
            "struct io_uring_sqe;\n",
        ):
            self.assert_breach("layers", {"src/loop/timer.cpp": code}, "src/loop/timer.cpp:1:")

    def test_lua_outside_of_script(self):
        changes = {"src/net/stream.cpp": 'extern "C" {\n#include <luajit-2.1/lua.h>\n}\n'}
        self.assert_breach("layers", changes, "src/net/stream.cpp:2:")
        self.assert_clean("layers", {"src/script/vm.cpp": "#include <lua.hpp>\n"})

    def test_libssh_outside_of_the_remote_shell(self):
        changes = {"src/cli/bench/paths.cpp": "#include <libssh/libssh.h>\n"}
        self.assert_breach("layers", changes, "src/cli/bench/paths.cpp:1:", "remote_shell")
        shell = "src/measure/remote/remote_shell.cpp"
        self.assert_clean("layers", {shell: "#include <libssh/sftp.h>\n"})

    def test_zlib_outside_of_deflate(self):
        for name in ("zlib.h", "zconf.h"):
            changes = {"src/proto/framing.cpp": f"#include <{name}>\n"}
            self.assert_breach("layers", changes, "src/proto/framing.cpp:1:", "deflate.hpp")
        self.assert_clean("layers", {"src/proto/deflate.cpp": "#include <zlib.h>\n"})

    def test_nghttp2_outside_of_http2(self):
        changes = {"src/http/exchange.cpp": "#include <nghttp2/nghttp2.h>\n"}
        self.assert_breach("layers", changes, "src/http/exchange.cpp:1:", "proto/http/http2.hpp")
        self.assert_clean("layers", {"src/proto/http/http2.cpp": "#include <nghttp2/nghttp2.h>\n"})

    def test_openssl_outside_of_tls(self):
        changes = {"src/cli/bench/paths.cpp": "#include <openssl/ssl.h>\n"}
        self.assert_breach("layers", changes, "src/cli/bench/paths.cpp:1:", "net/tls/context.hpp")
        self.assert_clean("layers", {"src/net/tls/session.cpp": "#include <openssl/ssl.h>\n"})

    def test_third_party_in_an_installed_header(self):
        for name in ("fmt/core.h", "nlohmann/json.hpp", "boost/endian.hpp", "openssl/ssl.h"):
            changes = {"include/strata/base/error.hpp": f"#pragma once\n#include <{name}>\n"}
            self.assert_breach("layers", changes, "include/strata/base/error.hpp:2:", name)

    def test_gtest_outside_of_tests(self):
        changes = {"src/net/stream.cpp": "#include <gtest/gtest.h>\n"}
        self.assert_breach("layers", changes, "src/net/stream.cpp:1:")

    def test_include_relative_to_the_file(self):
        changes = {"src/loop/timer.cpp": '#include "loop.hpp"\n'}
        self.assert_breach("layers", changes, "src/loop/timer.cpp:1:", "write the path from there")

    def test_include_in_a_comment(self):
        self.assert_clean("layers", {"src/cli/ls.cpp": '/*\n#include "loop/loop.hpp"\n*/\n'})

    def test_unknown_layer(self):
        self.assert_breach("layers", {"src/extra/a.cpp": "\n"}, "src/extra/a.cpp:1:")


class IncludesTest(CheckTest):
    def test_the_table_is_what_the_code_does(self):
        rows = [
            "| Folder | includes |", "|---|---|", "| `base` | — |", "| `loop` | — |",
            "| `loop/backends` | loop |", "| `proto` | — |", "| `net` | base, loop |",
            "| `runtime/options` | — |",
            "| `runtime/client` | — |", "| `runtime/server/options` | runtime/options |",
            "| `cli/runtimes` | runtime/server/options |", "| `cli/system` | — |", "| `cli` | — |",
            "| `main` | cli |",
        ]
        rows.remove("| `proto` | — |")  # has only a test
        page = includes.BEGIN + "\n".join(rows) + "\n" + includes.END + "\n"
        self.assert_clean("includes", {"docs/layers.md": page})
        wrong = page.replace("base, loop", "base")
        self.assert_breach("includes", {"docs/layers.md": wrong}, "include_table.py")
        self.assert_breach("includes", {"docs/layers.md": "# no table\n"}, "has no place")


class AbiTest(CheckTest):
    HEADER = "int strata_a(void);\n\nstatic inline int strata_c(void) {\n  return strata_a();\n}\n"

    def test_the_map_names_what_the_headers_declare(self):
        header = {"include/strata/strata.h": self.HEADER + "/* strata_d(void); */\n"}
        good = "V {\n  global:\n    strata_a;\n  local: *;\n};\n"
        self.assert_clean("abi", {**header, "lib/abi/strata.map": good})
        lost = good.replace("strata_a;", "strata_a;\n    strata_b;")
        broken = {**header, "lib/abi/strata.map": lost}
        self.assert_breach("abi", broken, "no header declares strata_b")
        new = {"include/strata/strata.h": self.HEADER + "int strata_b(void);\n"}
        self.assert_breach("abi", {**new, "lib/abi/strata.map": good}, "strata.h:6:", "strata_b")


class ProseTest(CheckTest):
    def test_phrases(self):
        for words in ("for who waits", "Who asks gets", "after so many frames", "written anew"):
            comment = f"// It goes on. {words}.\n"
            self.assert_breach("prose", {"src/net/stream.cpp": comment}, "stream.cpp:1:")
        fine = "// Of the clients, those who wait: so long as it lasts, and whoever asks.\n"
        self.assert_clean("prose", {"src/net/stream.cpp": fine})


class VocabularyTest(CheckTest):
    def test_phrases(self):
        for words in ("goes to a back", "Of backends one", "the client\nis told", "whoever asks",
                      "an edge is no node", "all but for one", "served likewise"):
            page = f"# page\n\nIt {words}.\n" if words[0] != "O" else f"# page\n\n{words}.\n"
            self.assert_breach("vocabulary", {"docs/page.md": page}, "docs/page.md:")
        fine = "A proxy holds it back. There is no house.\n".replace("house", "`house`")
        code = "```\nthe back is told\n```\n"
        self.assert_clean("vocabulary", {"docs/page.md": fine + code})
        self.assert_clean("vocabulary", {"kernel/README.md": "A back.\n"})


class SizesTest(CheckTest):
    def test_full_folder(self):
        full = {f"src/net/part{i}.cpp": "\n" for i in range(46)}
        self.assert_breach("sizes", full, "src/net:1:", "sources, over 45")

    def test_long_file(self):
        long = {"src/net/long.cpp": "int x;\n" * 600}
        self.assert_breach("sizes", long, "src/net/long.cpp:501: sizes: 600 lines")
        listed = "tools/check/long_files.txt"
        self.assert_clean("sizes", {**long, listed: "src/net/long.cpp 600 one table\n"})
        grown = {**long, listed: "src/net/long.cpp 599 one table\n"}
        self.assert_breach("sizes", grown, "src/net/long.cpp:600: sizes: 600 lines, over the 599")
        unreasoned = {listed: "src/net/long.cpp 600\n"}
        self.assert_breach("sizes", unreasoned, "long_files.txt:1:", "reason")
        short = {listed: "# reasons\nsrc/main.cpp 600 none\n"}
        self.assert_breach("sizes", short, "long_files.txt:2:", "needs no entry")

    def test_wide_line(self):
        self.assert_clean("sizes", {"src/net/wide.cpp": "//" + "x" * 98 + "\n"})
        wide = {"src/net/wide.cpp": "\n//" + "x" * 99 + "\n"}
        self.assert_breach("sizes", wide, "src/net/wide.cpp:2: sizes: 101 columns")
        self.assert_clean("sizes", {"src/net/wide.cpp": "// https://" + "x" * 120 + "\n"})

    def test_long_function(self):
        self.assert_clean("sizes", {"src/net/f.cpp": function_of(70)})
        changes = {"src/net/f.cpp": "\n" + function_of(71)}
        self.assert_breach("sizes", changes, "src/net/f.cpp:2: sizes: function f has 71 lines")
        python = {"tools/f.py": "def f():\n" + "    x = 1\n" * 70}
        self.assert_breach("sizes", python, "tools/f.py:1:", "71 lines")

    def test_what_is_a_function(self):
        body = "{\n" + "  x;\n" * 80 + "}"
        for code, name in (
            (f"int f() {body}", "f"),
            (f"namespace a {{ class b {{ public: void f() const noexcept {body} }}; }}", "f"),
            (f"a::b(int x) : y_{{x}}, z_(x) {body}", "a::b"),
            (f"template <class T = int> auto f(T x) -> std::vector<T> {body}", "f"),
            (f"bool operator==(const a& x) const {body}", "operator=="),
            (f"auto f = [](int x) {body};", "lambda"),
            (f"#if A\nint f() {{\n#else\nint f(int x) {{\n#endif\n{body[1:]}", "f"),
            (f"TEST(suite, name) {body}", "TEST"),
        ):
            long = [one.name for one in functions(code) if one.lines > 70]
            self.assertEqual(long, [name], code[:60])
        for code in (
            f"namespace a {body}",
            f"struct alignas(8) b final : c<int()> {body};",
            f"enum class e : int {body};",
            f"const std::array rows{body};",
            f"const std::map<int, void (*)(int)> table = {body};",
            f'extern "C" {body}',
            f'const char* text = R"(int f() {body})";',
            f"// int f() {{\nint x = 1'000;\n/* {body} */",
        ):
            self.assertEqual([one for one in functions(code) if one.lines > 70], [], code[:60])


class HeadersTest(CheckTest):
    def test_header_that_needs_another(self):
        changes = {"src/net/needy.hpp": "#pragma once\n\nstd::string name();\n"}
        self.assert_breach("headers", changes, "src/net/needy.hpp:1: headers: does not compile")

    def test_header_that_is_no_c(self):
        changes = {"include/strata/strata.h": "#pragma once\n\nnamespace a {}\n"}
        self.assert_breach("headers", changes, "include/strata/strata.h:1:", "alone as c;")

    def test_pragma_once(self):
        self.assert_breach("headers", {"src/net/a.hpp": "\n"}, "src/net/a.hpp:1:", "#pragma once")

    def test_header_that_a_cpp_begins_with_is_left_to_clang_tidy(self):
        needy = {"src/net/needy.hpp": "#pragma once\n\nstd::string name();\n"}
        begun = {"src/net/needy.cpp": '// first\n#include "net/needy.hpp"\n'}
        self.assert_clean("headers", {**needy, **begun})
        for name, code in (
            ("src/net/needy_test.cpp", '#include "net/needy.hpp"\n'),  # not read by clang-tidy
            ("src/net/needy.cpp", '#include <string>\n#include "net/needy.hpp"\n'),
        ):
            self.assert_breach("headers", {**needy, name: code}, "src/net/needy.hpp:1:")

    def test_cache_sees_a_changed_dependency(self):
        with tempfile.TemporaryDirectory() as folder:
            outer, inner = Path(folder, "src/net/outer.hpp"), Path(folder, "src/net/inner.hpp")
            outer.parent.mkdir(parents=True)
            outer.write_text('#pragma once\n#include "net/inner.hpp"\ninner* pointer();\n')
            argv = [sys.executable, CHECK, "--root", folder, "headers"]
            for content, code in (("class inner;", 0), ("class inner;", 0), ("class other;", 1)):
                inner.write_text(f"#pragma once\n{content}\n")
                done = subprocess.run(argv, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, code, done.stdout)


class UnusedTest(CheckTest):
    def test_a_name_that_is_used(self):
        code = "using std::string;\nnamespace fs = std::filesystem;\nstring a = fs::b();\n"
        self.assert_clean("unused", {"src/net/a.cpp": code})

    def test_a_name_that_is_only_in_a_comment(self):
        changes = {"src/net/a.cpp": "#include <string>\nusing std::string;\n// a string\n"}
        self.assert_breach("unused", changes, "src/net/a.cpp:2:", "'string' is not used")

    def test_a_namespace_that_is_not_used(self):
        changes = {"src/net/a.cpp": "namespace fs = std::filesystem;\n"}
        self.assert_breach("unused", changes, "src/net/a.cpp:1:", "'fs' is not used")


class TargetsTest(CheckTest):
    CMAKE = """strata_layer(loop)
strata_layer(proto)
strata_layer(net USES loop proto)
strata_layer(cli USES net)
"""

    def test_layers_that_agree(self):
        self.assert_clean("targets", {"CMakeLists.txt": self.CMAKE})

    def test_a_layer_uses_what_it_may_not(self):
        cmake = self.CMAKE.replace("layer(proto)", "layer(proto USES loop)")
        self.assert_targets(cmake, "CMakeLists.txt:2:", "(proto) uses loop")

    def test_a_layer_lacks_what_it_may_use(self):
        cmake = self.CMAKE.replace("net USES loop proto", "net USES loop")
        self.assert_targets(cmake, "CMakeLists.txt:3:", "(net) lacks proto")

    def test_a_layer_inside_a_layer_has_uses_of_its_own(self):
        cmake = self.CMAKE + """strata_layer(runtime
  EXCEPT server)
strata_layer(runtime/server USES cli)
"""
        code, output = self.check(
            {"CMakeLists.txt": cmake, "src/runtime/server/server.cpp": ""}, "targets")
        self.assertEqual(code, 1, output)
        self.assertIn("CMakeLists.txt:7: targets: strata_layer(runtime/server) uses cli", output)

    def test_a_folder_without_a_layer(self):
        cmake = self.CMAKE.replace("strata_layer(proto)\n", "")
        self.assert_targets(cmake, "no strata_layer(proto)")

    def assert_targets(self, cmake, *expected):
        code, output = self.check({"CMakeLists.txt": cmake}, "targets")
        self.assertEqual(code, 1, output)
        for words in expected:
            self.assertIn(words, output)


class WordsTest(CheckTest):
    LIST = "tools/check/function_words.txt"
    CODE = """#pragma once
namespace strata {
void give(const packet& of, int count);
void take(time_point now, packet packet);
inline bool is_any(int flags, int which) { return (flags & which) != 0; }
}  // namespace strata
"""

    def check_words(self, listed):
        return self.check({"src/proto/words.hpp": self.CODE, self.LIST: listed}, "words")

    def test_no_more_than_there_were(self):
        self.assertEqual(self.check_words("2 src/proto\n"), (0, "check: words: passed\n"))

    def test_one_more_than_there_were(self):
        code, output = self.check_words("# none\n1 src/proto\n")
        self.assertEqual(code, 1)
        self.assertIn("src/proto:1: words: 2 parameters are function words, over 1", output)

    def test_fewer_than_the_list_says(self):
        code, output = self.check_words("3 src/proto\n")
        self.assertEqual(code, 1)
        self.assertIn(f"{self.LIST}:1: words: src/proto has 2 now, not 3", output)


class SkipsTest(unittest.TestCase):
    """Tests tests/conftest.py, in a folder of its own with a test that skips."""

    def run_pytest(self, allowed="", environment=None):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("conftest.py", "pytest.ini"):
                shutil.copy(CHECK.parent.parent / "tests" / name, folder)
            Path(folder, "allowed_skips.txt").write_text(f"# reasons\n{allowed}\n")
            Path(folder, "test_a.py").write_text(
                "import pytest\n\n\n@pytest.mark.parametrize('x', [1])\n"
                "def test_b(x):\n    pytest.skip('NO ROOM')\n\n\n"
                "@pytest.mark.xfail\ndef test_c():\n    assert False\n"
            )
            done = subprocess.run(
                ["/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", folder],
                env={"PATH": os.environ["PATH"], **(environment or {})},
                capture_output=True, text=True, check=False,
            )
        return done.returncode, done.stdout

    def test_a_skip_fails_in_ci(self):
        code, output = self.run_pytest(environment={"STRATA_CI": "1"})
        self.assertEqual(code, 1, output)
        self.assertIn("NO ROOM", output)
        self.assertIn("1 failed, 1 xfailed", output)

    def test_a_skip_that_is_named_passes(self):
        code, output = self.run_pytest("test_a.py::test_b no room here", {"STRATA_CI": "1"})
        self.assertEqual(code, 0, output)

    def test_a_skip_passes_elsewhere(self):
        code, output = self.run_pytest()
        self.assertEqual(code, 0, output)


class NamesTest(CheckTest):
    def test_drawers(self):
        for name in ("src/util/a.cpp", "src/net/socket_utils.hpp", "tests/helpers.py"):
            self.assert_breach("names", {name: "\n"}, f"{name}:1: names:")

    def test_snake_case(self):
        for name in ("src/net/TcpStream.hpp", "src/net/tcp-stream.cpp", "src/Net/a.cpp"):
            self.assert_breach("names", {name: "\n"}, f"{name}:1: names:", "snake_case")


class DocsTest(CheckTest):
    def test_bad_link(self):
        changes = {"docs/tour.md": "# tour\n\n[gone](gone.md), [there](../README.md)\n"}
        self.assert_breach("docs", changes, "docs/tour.md:3: docs: the link to gone.md")

    def test_what_is_no_link(self):
        code = "```\n[x](gone.md)\n```\n`[x](gone.md)` [web](https://a.b/c) [here](#tour)\n"
        self.assert_clean("docs", {"docs/tour.md": code})

    def test_link_with_a_name_that_is_gone(self):
        good = "# tour\n\nA [`loop::loop`](../src/loop/loop.hpp) turns.\n"
        self.assert_clean("docs", {"docs/tour.md": good})
        gone = good.replace("loop::loop", "loop::turn")
        self.assert_breach("docs", {"docs/tour.md": gone}, "docs/tour.md:3:", "has no turn")

    def test_dependency_that_the_readme_leaves_out(self):
        changes = {"tools/deps.txt": "cmake\nninja-build # fast\n"}
        self.assert_breach("docs", changes, "tools/deps.txt:2:", "ninja-build")


class DrawingsTest(CheckTest):
    def test_a_drawing_that_nobody_draws(self):
        for name, draw in drawings.DRAWINGS.items():
            self.assert_clean("drawings", {name: draw()})
            self.assert_breach("drawings", {name: draw() + "\n"}, name, "tools/draw.py")


class CommandLineTest(CheckTest):
    def test_unknown_rule(self):
        done = subprocess.run(
            [sys.executable, CHECK, "nonsense"], capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 2)
        self.assertIn("nonsense", done.stderr)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as own_cache:
        os.environ["XDG_CACHE_HOME"] = own_cache
        unittest.main()
