# SPDX-License-Identifier: Apache-2.0
"""Programs below the target that the library is not built for come to no harm: 32-bit ones and
those linked with musl. A shell script that calls one gives the same output, errors and end under
`lightmeter run`, and the shell itself is seen. `doctor` says what becomes of them, also where the
folder of links is missing. What this machine cannot build or run is skipped.

    test_preload.py
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import lightmeter_run
from lightmeter_run import LIGHTMETER

FILE = "liblightmeter-agent.so"
COMPILER = shutil.which("gcc") or shutil.which("cc")
MUSL_COMPILER = shutil.which("musl-gcc")
LOADER_32 = "/lib/ld-linux.so.2"
# A 32-bit libc to link with by hand: its headers and start files are rarely there.
LIBC_32 = [path for path in ("/lib32/libc.so.6", "/lib/i386-linux-gnu/libc.so.6",
                             "/usr/lib32/libc.so.6") if os.path.exists(path)]
SOURCE_32 = """
int puts(const char *);
int fflush(void *);
long write(int, const void *, unsigned long);
void _exit(int);
__attribute__((force_align_arg_pointer)) void _start(void)
{
    puts("from the child");
    fflush(0);
    write(2, "its error\\n", 10);
    _exit(sizeof(void *) + 3);
}
"""
SOURCE_MUSL = """
#include <stdio.h>
int main(void)
{
    puts("from the child");
    fputs("its error\\n", stderr);
    return 7;
}
"""
SCRIPT = 'echo before; "$0" one; echo "status $?"; "$0" two >&2; exit 5'


class Children(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name
        self.trace = os.path.join(self.folder, "run.lmt")

    def build(self, source, compiler, *words):
        path = os.path.join(self.folder, "child")
        with open(path + ".c", "w", encoding="utf-8") as file:
            file.write(source)
        subprocess.run([compiler, "-o", path, path + ".c", *words], check=True)
        try:
            alone = lightmeter_run.bare(path)
        except OSError as error:
            self.skipTest(f"this machine cannot run it: {error}")
        self.assertEqual((alone.returncode, alone.stdout, alone.stderr),
                         (7, b"from the child\n", b"its error\n"))
        return path

    def child_32(self):
        if not (COMPILER and LIBC_32 and os.path.exists(LOADER_32)):
            self.skipTest("there is no 32-bit libc (Debian: libc6-i386)")
        if not os.path.exists(os.path.join(os.path.dirname(LIGHTMETER), "lightmeter-blank32.so")):
            self.skipTest("the compiler of this build has no -m32, so 32-bit loaders do complain")
        return self.build(SOURCE_32, COMPILER, "-m32", "-nostdlib", "-fno-pie", "-no-pie",
                          "-fno-builtin", "-fno-stack-protector",
                          f"-Wl,--dynamic-linker={LOADER_32}", LIBC_32[0])

    def child_musl(self):
        if not MUSL_COMPILER:
            self.skipTest("there is no musl-gcc (Debian: musl-tools)")
        return self.build(SOURCE_MUSL, MUSL_COMPILER)

    def lightmeter(self, *words, **environment):
        return lightmeter_run.bare(LIGHTMETER, *words, env={**os.environ, **environment})

    def run_quiet(self, *command, **environment):
        return self.lightmeter("run", "-q", "-o", self.trace, "--", *command, **environment)

    def report(self):
        return json.loads(self.lightmeter("report", "--format", "json", self.trace).stdout)

    def assert_unharmed(self, child, **environment):
        command = ("sh", "-c", SCRIPT, child)
        alone, result = lightmeter_run.bare(*command), self.run_quiet(*command, **environment)
        self.assertEqual(result.stderr, alone.stderr)
        self.assertEqual(result.stdout, alone.stdout)
        self.assertEqual(result.returncode, 5)
        self.assertIn(b"status 7", result.stdout)
        self.assert_shell_is_seen()

    def assert_shell_is_seen(self):
        seen = [p["command"] for p in self.report()["processes"] if p["has_agent"]]
        self.assertEqual(seen, ["sh"])

    def assert_unharmed_as_command(self, child, why):
        """The target itself: nothing is preloaded, and the report says why."""
        result = self.run_quiet(child)
        self.assertEqual((result.returncode, result.stdout, result.stderr),
                         (7, b"from the child\n", b"its error\n"))
        report = self.report()
        self.assertEqual([p["command"] for p in report["processes"] if p["has_agent"]], [])
        self.assertRegex(" ".join(report["notes"]), why)

    def doctor(self, **environment):
        result = self.lightmeter("doctor", "--json", **environment)
        return {check["name"]: check for check in json.loads(result.stdout)["checks"]}

    def lone_library(self):
        """The library without the folder of links, as when somebody copies that file alone."""
        return shutil.copy(os.path.join(os.path.dirname(LIGHTMETER), FILE), self.folder)


class ThirtyTwoBit(Children):
    def test_a_child(self):
        self.assert_unharmed(self.child_32())

    def test_the_command(self):
        self.assert_unharmed_as_command(self.child_32(), "Nothing is known .* word size")

    def test_doctor_asks_their_loader(self):
        child = self.child_32()
        self.assertEqual(self.doctor()["32-bit programs"]["state"], "works")
        lone = self.lone_library()
        check = self.doctor(LIGHTMETER_AGENT=lone)["32-bit programs"]
        self.assertEqual(check["state"], "limited")
        # And what it says is true.
        result = self.run_quiet("sh", "-c", SCRIPT, child, LIGHTMETER_AGENT=lone)
        self.assertIn(b"cannot be preloaded", result.stderr)


class Musl(Children):
    def test_a_child(self):
        self.assert_unharmed(self.child_musl())

    def test_the_command(self):
        self.assert_unharmed_as_command(self.child_musl(), "Nothing is known .*ld-musl")

    def test_a_library_alone_would_harm(self):
        """What the name with the token is for, and that doctor's word of it is true."""
        result = self.run_quiet("sh", "-c", SCRIPT, self.child_musl(),
                                LIGHTMETER_AGENT=self.lone_library())
        self.assertIn(b"status 127", result.stdout)


class Name(Children):
    def value(self, **environment):
        return self.run_quiet("sh", "-c", 'echo "$LD_PRELOAD"', **environment).stdout.decode()

    def test_the_token_is_used(self):
        beside = re.escape(os.path.dirname(LIGHTMETER))
        self.assertRegex(self.value(), rf"(^|:){beside}/preload/\$LIB/{re.escape(FILE)}\n$")
        self.assert_shell_is_seen()
        self.assertEqual(self.doctor()["musl programs"]["state"], "works")

    def test_a_value_that_a_shell_evaluates_again(self):
        """Then the token becomes nothing, and the library is found all the same."""
        script = 'eval "LD_PRELOAD=$LD_PRELOAD"; export LD_PRELOAD; exec cat /proc/self/maps'
        result = self.run_quiet("sh", "-c", script)
        self.assertEqual(result.stderr, b"")
        self.assertIn(FILE, result.stdout.decode())

    def test_without_the_folder_the_path_is_used(self):
        lone = self.lone_library()
        self.assertTrue(self.value(LIGHTMETER_AGENT=lone).endswith(lone + "\n"))
        self.assert_shell_is_seen()
        check = self.doctor(LIGHTMETER_AGENT=lone)["musl programs"]
        self.assertEqual(check["state"], "limited")
        self.assertIn("preload", check["advice"])

    def test_another_library_beside_the_folder(self):
        """The folder is of one file: it does not stand in for another."""
        installed = self.install()
        other = shutil.copy(os.path.join(installed, FILE), os.path.join(installed, "other.so"))
        self.assertTrue(self.value(LIGHTMETER_AGENT=other).endswith(other + "\n"))

    def test_installed_elsewhere(self):
        """The links lead nowhere but to their neighbours: the whole can be moved."""
        installed = self.install()
        library = os.path.join(installed, FILE)
        self.assertIn(f"{installed}/preload/$LIB/{FILE}\n", self.value(LIGHTMETER_AGENT=library))
        self.assert_shell_is_seen()

    def install(self):
        """A copy of the library and all that belongs to it, as an installation has them."""
        build, installed = os.path.dirname(LIGHTMETER), os.path.join(self.folder, "installed")
        shutil.copytree(os.path.join(build, "preload"), os.path.join(installed, "preload"),
                        symlinks=True)
        for name in os.listdir(build):
            if name == FILE or re.fullmatch(r"lightmeter-blank\w+\.so", name):
                shutil.copy(os.path.join(build, name), installed)
        return installed


if __name__ == "__main__":
    LIGHTMETER = os.path.abspath(LIGHTMETER)
    unittest.main(argv=sys.argv, verbosity=2)
