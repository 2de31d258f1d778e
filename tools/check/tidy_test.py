"""Which files tools/tidy.py reads again and which not, with a clang-tidy that only
looks for a word."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TIDY = Path(__file__).resolve().parent.parent / "tidy.py"


class TidyTest(unittest.TestCase):
    """Scripts play the programs: one finds nothing, the other reports the word `bad`."""

    TIDY = """#!/bin/sh
[ "$1" = --version ] && { cat "$0.version" 2> /dev/null; exit 0; }
if [ "$2" = -p ]; then
  cd "$3/../.."
  echo "$4" >> "$0.asked"
  ! grep -H bad "${4%.cpp}".*
else
  cd "$(dirname "$2")/../../.."
  echo together >> "$0.asked"
  ! grep -r bad src
fi
"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.tool = self.folder / "clang-tidy"
        self.tool.write_text(self.TIDY)
        self.tool.chmod(0o755)
        self.clone = self.make_clone("one")

    def make_clone(self, name):
        root = self.folder / name
        rows = [
            {"directory": f"{root}/build/tidy", "file": f"{root}/src/net/{name}.cpp",
             "command": f"g++ -I{root}/src -DX -o net/{name}.o -c {root}/src/net/{name}.cpp"}
            for name in ("a", "b")
        ]
        for path, content in {
            ".clang-tidy": "Checks: x\n",
            "src/net/a.cpp": '#include "net/a.hpp"\n',
            "src/net/a.hpp": "#pragma once\n",
            "src/net/other.hpp": "#pragma once\n",
            "build/tidy/compile_commands.json": json.dumps(rows),
        }.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(content)
        return root

    def run_tidy(self, root):
        """Returns the exit code, the output, and whether clang-tidy was run."""
        asked = self.folder / "clang-tidy.asked"
        asked.unlink(missing_ok=True)
        done = subprocess.run(
            [sys.executable, TIDY, "--root", root, "--clang-tidy", self.tool,
             "--clang-format", "true", "--cache", self.folder / "cache", "build/tidy"],
            capture_output=True, text=True, check=False,
        )
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout, asked.exists()

    def assert_read(self, root, read=True):
        code, output, asked = self.run_tidy(root)
        self.assertEqual((code, asked), (0, read), output)

    def test_a_clean_file_is_read_once(self):
        self.assert_read(self.clone)
        self.assert_read(self.clone, read=False)

    def test_a_clone_in_another_folder_knows_it(self):
        self.assert_read(self.clone)
        self.assert_read(self.make_clone("two"), read=False)

    def test_a_changed_header_is_seen(self):
        self.assert_read(self.clone)
        header = self.clone / "src/net/a.hpp"
        header.write_text("#pragma once\nint a;\n")
        self.assert_read(self.clone)
        header.write_text("#pragma once\n")
        self.assert_read(self.clone, read=False)
        (self.clone / "src/net/other.hpp").write_text("#pragma once\nint a;\n")
        self.assert_read(self.clone, read=False)

    def test_a_header_that_a_header_begins_to_include_is_seen(self):
        (self.clone / "src/net/a.hpp").write_text('#pragma once\n#include "net/other.hpp"\n')
        self.assert_read(self.clone)
        (self.clone / "src/net/other.hpp").write_text("#pragma once\nint a;\n")
        self.assert_read(self.clone)

    def test_what_else_a_pass_depends_on(self):
        self.assert_read(self.clone)
        (self.clone / ".clang-tidy").write_text("Checks: y\n")
        self.assert_read(self.clone)
        (self.folder / "clang-tidy.version").write_text("23\n")
        self.assert_read(self.clone)
        commands = self.clone / "build/tidy/compile_commands.json"
        commands.write_text(commands.read_text().replace("-DX", "-DY"))
        self.assert_read(self.clone)
        self.assert_read(self.clone, read=False)

    def add_second(self):
        (self.clone / "src/net/b.cpp").write_text("int b;\n")

    def asked(self):
        return (self.folder / "clang-tidy.asked").read_text().split()

    def test_files_of_a_folder_are_read_together(self):
        self.add_second()
        self.assert_read(self.clone)
        self.assertEqual(self.asked(), ["together"])
        self.assert_read(self.clone, read=False)

    def test_where_that_finds_anything_each_is_read_by_itself(self):
        self.add_second()
        (self.clone / "src/net/a.hpp").write_text("#pragma once\n// bad\n")
        code, output, _ = self.run_tidy(self.clone)
        self.assertEqual(code, 1, output)
        self.assertEqual(self.asked(), ["together", "src/net/a.cpp", "src/net/b.cpp"])
        self.assertIn("FAILED src/net/a.cpp", output)
        self.assertNotIn("FAILED src/net/b.cpp", output)
        self.run_tidy(self.clone)
        self.assertEqual(self.asked(), ["src/net/a.cpp"])

    def test_a_finding_is_never_kept(self):
        (self.clone / "src/net/a.hpp").write_text("#pragma once\n// bad\n")
        for _ in range(2):
            code, output, asked = self.run_tidy(self.clone)
            self.assertEqual((code, asked), (1, True), output)
            self.assertIn("src/net/a.hpp", output)
            self.assertIn("FAILED src/net/a.cpp", output)

    def test_what_does_not_compile_is_never_kept(self):
        (self.clone / "src/net/a.hpp").write_text('#include "net/gone.hpp"\n')
        for _ in range(2):
            self.assert_read(self.clone)

    def test_a_file_without_a_command_is_named(self):
        (self.clone / "src/net/c.cpp").write_text("\n")
        done = subprocess.run(
            [sys.executable, TIDY, "--root", self.clone, "--clang-tidy",
             self.tool, "--clang-format", "true", "build/tidy"],
            capture_output=True, text=True, check=False,
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("src/net/c.cpp", done.stderr)


if __name__ == "__main__":
    unittest.main()
