# SPDX-License-Identifier: Apache-2.0
"""The checks of tools/ against small trees: a right one passes, each kind of breach is found.

Run by ./dev check; by hand: /usr/bin/python3 -m unittest discover -s tests/tools
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools")
OPENING = "// SPDX-License-Identifier: Apache-2.0\n// A file of the test.\n"


class Tree(unittest.TestCase):
    """A tree in a folder of its own, and a tool of ours run on it."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, path, text=OPENING):
        full = os.path.join(self.folder.name, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)

    def run_tool(self, tool):
        done = subprocess.run([sys.executable, "-B", os.path.join(TOOLS, tool), self.folder.name],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def assert_passes(self, tool):
        status, output = self.run_tool(tool)
        self.assertEqual((status, "0 breaches" in output), (0, True), output)

    def assert_breach(self, tool, *texts):
        status, output = self.run_tool(tool)
        self.assertEqual(status, 1, output)
        for text in texts:
            self.assertIn(text, output)


class LayerCheck(Tree):
    def setUp(self):
        super().setUp()
        self.write("src/base/err.h")
        self.write("src/trace/reader.h", '#include "base/err.h"\n#include <stdio.h>\n')
        self.write("src/agent/span.h", '#include "base/err.h"\n')
        self.write("include/lightmeter/mark.h", "#include <stdint.h>\n")

    def test_right_tree_passes(self):
        self.assert_passes("layer-check")

    def test_upward_include(self):
        self.write("src/base/bad.c", '#include "trace/reader.h"\n')
        self.assert_breach("layer-check", "src/base/bad.c:1: src/base may not include trace/reader.h")

    def test_agent_takes_only_named_headers(self):
        self.write("src/base/json.h")
        self.write("src/agent/bad.c", '\n#include "base/json.h"\n#include "trace/reader.h"\n')
        self.assert_breach("layer-check", "src/agent/bad.c:2", "src/agent/bad.c:3")

    def test_command_line_stays_out_of_the_agent(self):
        self.write("src/cli/bad.c", '#include "agent/span.h"\n')
        self.assert_breach("layer-check", "src/cli/bad.c:1")

    def test_detour_by_a_relative_path(self):
        self.write("src/base/bad.c", '#include "../trace/reader.h"\n')
        self.assert_breach("layer-check", "src/base/bad.c:1")

    def test_detour_by_angle_brackets(self):
        self.write("src/base/bad.c", "#include <trace/reader.h>\n")
        self.assert_breach("layer-check", "src/base/bad.c:1")

    def test_missing_header(self):
        self.write("src/base/bad.c", '#include "nowhere.h"\n')
        self.assert_breach("layer-check", '"nowhere.h" is not in the tree')

    def test_third_party_header_has_one_wrapper(self):
        self.write("src/trace/pack.c", "#include <zstd.h>\n")
        self.assert_passes("layer-check")
        self.write("src/trace/reader.c", "#include <zstd.h>\n")
        self.assert_breach("layer-check", "<zstd.h> is wrapped by src/trace/pack.c already")

    def test_public_header_needs_libc_only(self):
        self.write("include/lightmeter/mark.h", '#include <zstd.h>\n#include "base/err.h"\n')
        self.assert_breach("layer-check", "mark.h:1", "mark.h:2")

    def test_name_of_a_system_header(self):
        self.write("src/collect/elf.h")
        self.assert_breach("layer-check", "src/collect/elf.h:1: hides <elf.h>")

    def test_folder_without_a_row(self):
        self.write("src/newcomer/a.c", '#include "base/err.h"\n')
        self.assert_breach("layer-check", "src/newcomer has no row")


class RegistryCheck(Tree):
    def setUp(self):
        super().setUp()
        for folder, page, name in (("src/agent/hooks", "docs/hooks/{}.md", "libc_io"),
                                   ("src/analyze/detectors", "docs/verdicts/{}.md", "lock"),
                                   ("src/report/formats", "docs/report/{}.md", "json"),
                                   ("src/export/exporters", "docs/export/{}.md", "chrome"),
                                   ("src/cli/cmds", "docs/man/lightmeter-{}.1", "run")):
            self.write(f"{folder}/registry.def", f"{OPENING}ROW({name})\n")
            self.write(f"{folder}/{name}.c")
            self.write(page.format(name.replace("_", "-")))
            self.write(f"tests/unit/test_{name}.c")

    def test_right_tree_passes(self):
        self.assert_passes("registry-check")

    def test_row_without_a_file(self):
        os.remove(os.path.join(self.folder.name, "src/cli/cmds/run.c"))
        self.assert_breach("registry-check", "src/cli/cmds/registry.def:3: there is no src/cli/cmds/run.c")

    def test_file_without_a_row(self):
        self.write("src/export/exporters/perfetto.c")
        self.assert_breach("registry-check", "has no ROW(perfetto)")

    def test_row_twice(self):
        self.write("src/analyze/detectors/registry.def", "ROW(lock)\nROW(lock)\n")
        self.assert_breach("registry-check", "registry.def:2: lock is in line 1 already")

    def test_rows_out_of_order(self):
        self.write("src/export/exporters/registry.def", "ROW(perfetto)\nROW(chrome)\n")
        self.assert_breach("registry-check", "chrome comes before perfetto")

    def test_row_without_a_page(self):
        os.remove(os.path.join(self.folder.name, "docs/man/lightmeter-run.1"))
        self.assert_breach("registry-check", "command run has no page docs/man/lightmeter-run.1")

    def test_row_without_a_test(self):
        os.remove(os.path.join(self.folder.name, "tests/unit/test_run.c"))
        self.write("tests/unit/test_other.c", OPENING + "// how they run\n")
        self.assert_breach("registry-check", "no test under tests/ names the command run")

    def test_line_that_is_no_row(self):
        self.write("src/cli/cmds/registry.def", "ROW(run)\nROW (lost)\n")
        self.assert_breach("registry-check", "registry.def:2: neither ROW(name)")

    def test_missing_list(self):
        os.remove(os.path.join(self.folder.name, "src/agent/hooks/registry.def"))
        self.assert_breach("registry-check", "the list of the hooks is missing")


class StyleCheck(Tree):
    def test_right_file_passes(self):
        self.write("src/base/a.c", OPENING + 'const char *text = "exit(1)";\n// exit (2)\n')
        self.assert_passes("style-check")

    def test_licence_line(self):
        self.write("src/base/a.c", "int a;\n")
        self.assert_breach("style-check", "src/base/a.c:1: does not open with")

    def test_prose_under_it(self):
        self.write("src/base/a.c", OPENING.splitlines()[0] + "\nint a;\n")
        self.assert_breach("style-check", "src/base/a.c:2: no prose")

    def test_long_function(self):
        body = "    a();\n"
        self.write("src/base/a.c", OPENING + "void f(void)\n{\n" + body * 78 + "}\n")
        self.assert_passes("style-check")
        self.write("src/base/a.c", OPENING + "void f(void)\n{\n" + body * 79 + "}\n")
        self.assert_breach("style-check", "src/base/a.c:4: function of 81 lines")

    def test_long_file(self):
        self.write("src/base/a.c", OPENING + "\n" * 499)
        self.assert_breach("style-check", "501 lines; 500 at the most")

    def test_who_ends_the_process(self):
        self.write("src/cli/main.c", OPENING + "void f(void);\nexit(1);\n")
        self.assert_passes("style-check")
        self.write("src/cli/cmds/run.c", OPENING + "\nexit(1);\n_exit(2);\n")
        self.assert_breach("style-check", "src/cli/cmds/run.c:4: only src/cli/main.c", "1 breaches")

    def test_words_and_names(self):
        self.write("src/base/a.c", OPENING + "// TO" "DO later\n")
        self.write("src/base/utils.c")
        self.assert_breach("style-check", "src/base/a.c:3:", "src/base/utils.c:1:")

    def test_typedef_of_a_struct(self):
        self.write("src/base/a.h", OPENING + "typedef struct a a;\n")
        self.assert_breach("style-check", "src/base/a.h:3: no typedef")


class DocCheck(Tree):
    def setUp(self):
        super().setUp()
        self.write("dev", "case $1 in\ncheck)\n    ;;\n")
        self.write("src/base/err.h")
        self.write("docs/other.md", "# Two words\n")

    def test_right_document_passes(self):
        self.write("README.md", "[a](docs/other.md#two-words) `src/base/err.h` `src/MODULE/NAME.c` ./dev check\n")
        self.assert_passes("doc-check")

    def test_each_breach(self):
        self.write("README.md", "[a](docs/none.md)\n[b](docs/other.md#three)\n`src/base/gone.h`\n./dev fly\n")
        self.assert_breach("doc-check", "README.md:1:", "README.md:2:", "README.md:3:", "README.md:4:",
                           "4 breaches")


@unittest.skipUnless(shutil.which("aarch64-linux-gnu-gcc"), "no cross compiler")
class Cross(unittest.TestCase):
    """A library of one file, as a build folder tells how to compile it."""

    def run_on(self, text):
        with tempfile.TemporaryDirectory() as folder:
            entry = {"directory": folder, "file": "x.c", "output": "liblightmeter-agent.so.p/x.c.o",
                     "command": "cc -DWORD='\"a b\"' -fPIC -Wall -Werror -MD -MQ x.c.o -MF x.d -o x.c.o -c x.c"}
            for name, content in (("x.c", text), ("compile_commands.json", json.dumps([entry]))):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(content)
            return subprocess.run([sys.executable, "-B", os.path.join(TOOLS, "cross.py"), folder],
                                  capture_output=True, text=True, check=False)

    def test_right_file_passes(self):
        done = self.run_on("#ifndef __aarch64__\n#error no\n#endif\n"
                           "const char *word(void);\nconst char *word(void)\n{\n    return WORD;\n}\n")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_each_fault(self):
        for text, word in (("int f(void) { int unused; return 0; }\n", "unused"),
                           ('void f(void) { __asm__("cpuid"); }\n', "cpuid"),
                           ("int g(void); int f(void); int f(void) { return g(); }\n", "undefined reference")):
            done = self.run_on(text)
            self.assertEqual(done.returncode, 1, text)
            self.assertIn(word, done.stderr)


if __name__ == "__main__":
    unittest.main()
