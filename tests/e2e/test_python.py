# SPDX-License-Identifier: Apache-2.0
"""Python programs under the shim: what they print and how they end is as without it, whatever their shape, and
their calls into libraries are seen.

    test_python.py
"""
import os
import subprocess
import sys
import tempfile
import unittest

import lightmeter_run
import python_releases

PYTHON = "/usr/bin/python3"
HOSTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hosts")
WRAPPED = os.path.join(HOSTS, "python_wrapped.py")
LIBRARIES = {"cv2": ["cv2:imread", "cv2:resize"], "numpy": ["numpy:load", "numpy:save"],
             "PIL": ["PIL.Image:open", "PIL.Image:Image.resize", "PIL.Image:Image.convert"]}

# Programs of different shapes: a name, and the text of one that prints what it did. Each uses something wrapped.
USES = """
import queue
def use(n=3):
    q = queue.Queue()
    for i in range(n): q.put(i)
    return sum(q.get() for i in range(n))
"""
SHAPES = {
    "argparse": """
import argparse
p = argparse.ArgumentParser(); p.add_argument("--n", type=int, default=4); print(use(p.parse_args().n))
""",
    "asyncio server": """
import asyncio
async def main():
    async def serve(r, w):
        w.write(await r.readline()); await w.drain(); w.close()
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    r, w = await asyncio.open_connection(*server.sockets[0].getsockname())
    w.write(b"hello\\n"); print(await r.readline()); w.close(); server.close()
    print(await asyncio.get_running_loop().run_in_executor(None, use))
asyncio.run(main())
""",
    "threads": """
import threading, queue
q, out = queue.Queue(), []
def work():
    for item in iter(q.get, None): out.append(item * 2)
t = [threading.Thread(target=work) for _ in range(4)]
for x in t: x.start()
for i in range(100): q.put(i)
for x in t: q.put(None)
for x in t: x.join()
print(sorted(out)[:5], use())
""",
    "pool by fork": """
import multiprocessing as m
def twice(x): return x * 2 + use()
if __name__ == "__main__":
    with m.get_context("fork").Pool(2) as p: print(p.map(twice, range(5)))
""",
    "pool by spawn": """
import multiprocessing as m
def twice(x): return x * 2 + use()
if __name__ == "__main__":
    with m.get_context("spawn").Pool(2) as p: print(p.map(twice, range(5)))
""",
    "pool by forkserver": """
import multiprocessing as m
def twice(x): return x * 2 + use()
if __name__ == "__main__":
    with m.get_context("forkserver").Pool(1) as p: print(p.map(twice, range(5)))
""",
    "queues of processes": """
import multiprocessing as m
def work(q, r):
    for x in iter(q.get, None): r.put(x + 1)
if __name__ == "__main__":
    q, r = m.Queue(), m.SimpleQueue()
    p = m.Process(target=work, args=(q, r)); p.start()
    for i in range(3): q.put(i)
    q.put(None); p.join(); print([r.get() for i in range(3)])
""",
    "futures": """
from concurrent.futures import ThreadPoolExecutor, ProcessPoolExecutor
if __name__ == "__main__":
    for kind in ThreadPoolExecutor, ProcessPoolExecutor:
        with kind(2) as e: print(list(e.map(use, range(4))))
""",
    "os.fork": """
import os, sys
pid = os.fork()
if pid == 0:
    print("child", use()); sys.stdout.flush(); os._exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) if hasattr(os, "waitstatus_to_exitcode") else 3, use())
""",
    "os.execv": """
import os, sys
if len(sys.argv) < 2:
    sys.stdout.flush(); os.execv(sys.executable, [sys.executable, sys.argv[0], "again"])
print(sys.argv[1:], use())
""",
    "child programs": """
import subprocess, sys
for more in [], ["-I"], ["-S"], ["-E"], ["-X", "utf8"], ["-O"], ["-u"], ["-B"]:
    print(subprocess.run([sys.executable, *more, "-c", "import queue; q = queue.Queue(); q.put(1); print(q.get())"],
                         stdout=subprocess.PIPE).stdout)
print(subprocess.run(["sh", "-c", sys.executable + " -c 'import queue; print(queue.Queue().qsize())'"]).returncode)
print(subprocess.run([sys.executable, "-c", "print(1)"], env={}, stdout=subprocess.PIPE).stdout)
""",
    "atexit": """
import atexit
atexit.register(lambda: print("bye", use()))
print("hello")
""",
    "an exception": """
use()
def fail(): raise RuntimeError("no")
fail()
""",
    "an exit status": "import sys; use(); sys.exit(7)",
    "a signal": "import os, signal; use(); os.kill(os.getpid(), signal.SIGTERM)",
    "faulthandler": """
import faulthandler, sys, io
faulthandler.enable()
import tempfile
with tempfile.TemporaryFile() as f:
    faulthandler.dump_traceback(f, all_threads=False); f.seek(0); print(len(f.read().splitlines()), use())
""",
    "tracemalloc": """
import tracemalloc
tracemalloc.start(); use(); print(tracemalloc.get_traced_memory()[0] > 0); tracemalloc.stop()
""",
    "settrace": """
import sys
seen = []
def trace(frame, event, arg):
    seen.append((event, frame.f_code.co_name)); return trace
sys.settrace(trace); use(2); sys.settrace(None)
print([s for s in seen if s[0] == "call"])
""",
    "setprofile": """
import sys
seen = []
sys.setprofile(lambda frame, event, arg: seen.append((event, frame.f_code.co_name)))
use(2); sys.setprofile(None)
print([s for s in seen if s[0] == "call"])
""",
    "exec of cells": """
shared = {"use": use}
for cell in "x = use(4)", "import queue, http.client", "print(x, queue.Queue().qsize(), http.client.OK)":
    exec(compile(cell, "<cell>", "exec"), shared)
""",
    "a daemon thread at the end": """
import threading, queue, time
q = queue.Queue()
threading.Thread(target=q.get, daemon=True).start()
threading.Thread(target=lambda: time.sleep(60), daemon=True).start()
print(use())
""",
    "imports looked at": """
import importlib.util, inspect, sys, queue, pkgutil, urllib.request
spec = importlib.util.find_spec("http.client")
print(type(spec.loader).__name__ if "http.client" in sys.modules else "-", spec.origin, spec.name)
print(type(queue.__spec__.loader).__name__, queue.__loader__ is queue.__spec__.loader, queue.__file__)
print(type(importlib.util.find_spec("multiprocessing.queues").loader).__name__)
print("def put" in inspect.getsource(queue), len(pkgutil.get_data("http", "client.py")) > 1000)
import importlib
print(importlib.reload(queue) is queue, use(2))
print([m for m in sys.modules if m.startswith("lightmeter") and m not in ("lightmeter",)] and "" or "")
""",
    "reimport": """
import sys, queue
del sys.modules["queue"]
import queue as other
print(other is queue, other.Queue().qsize(), use(2))
""",
    "a finder of its own": """
import sys, importlib.abc, importlib.machinery
class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name == "queue": return importlib.machinery.ModuleSpec(name, self)
    def create_module(self, spec): return None
    def exec_module(self, module): module.mine = 1
del sys.modules["queue"]
sys.meta_path.insert(0, Finder())
import queue
print(queue.mine, hasattr(queue, "Queue"))
""",
    "libraries of other kinds": """
import os, sys, tempfile, traceback
folder = tempfile.mkdtemp()
sys.path.insert(0, folder)
def make(name, text):
    with open(os.path.join(folder, name + ".py"), "w") as f: f.write(text)
    sys.modules.pop(name, None)
make("cv2", "")
import cv2
print(sorted(vars(cv2))[:3])
make("cv2", "class imread: pass\\nresize = None\\nimwrite = 5\\ncvtColor = print\\nflip = staticmethod(len)\\ndnn = 1")
import cv2
print(cv2.imread, cv2.resize, cv2.imwrite, cv2.cvtColor == print, cv2.dnn, cv2.flip("abc") if sys.version_info > (3, 10) else 3)
cv2.cvtColor("printed")
for text in "import no_such_module", "raise ImportError('old')", "1 / 0", "def f(:":
    make("cv2", text)
    try:
        import cv2
    except Exception:
        print(traceback.format_exc().replace(folder, "").replace(sys.argv[0], ""))
    print("cv2" in sys.modules)
make("cv2", "import sys, types; sys.modules[__name__] = types.SimpleNamespace(imread=lambda p: p)")
import cv2
print(cv2.imread(3))
import shutil; shutil.rmtree(folder)
""",
    "sub-interpreters": """
try:
    import _xxsubinterpreters as s
    i = s.create()
    s.run_string(i, "import queue; q = queue.Queue(); q.put(1); print(q.get())")
    s.destroy(i)
except ImportError:
    print(1)
print(use())
""",
    "no standard streams": """
import os, sys
print(use()); sys.stdout.flush()
for fd in 0, 1, 2: os.close(fd)
use()
""",
    "a class of a wrapped type": """
import queue, pickle, abc
class P(queue.Queue, metaclass=abc.ABCMeta):
    put_twice = queue.Queue.put
    get = staticmethod(lambda: 9)
p = P(); p.put_twice(1); print(p.qsize(), p.get(), P.put_twice.__name__, use())
""",
    "many threads": """
import threading
t = [threading.Thread(target=use, args=(20,)) for _ in range(120)]
for x in t: x.start()
for x in t: x.join()
print(len(t))
""",
    "a deep recursion": """
import sys
def f(n):
    return f(n + 1)
try: f(0)
except RecursionError as e: print(type(e).__name__, use())
""",
}


def comparable(result):
    return result.returncode, result.stdout, result.stderr


class Shapes(unittest.TestCase):
    """Bare and under Lightmeter, the same."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, text):
        path = os.path.join(self.folder.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def check(self, *command, is_covered=True, **settings):
        expected = lightmeter_run.bare(*command, **settings)
        result, report, _ = lightmeter_run.measured(*command, **settings)
        self.assertEqual(comparable(result), comparable(expected))
        # Not an accident: the shim was there, or was kept out and this is said.
        rows = [row["status"] for row in report["collection"]["coverage"] if row["hooks"] == "python"]
        self.assertIn("covered" if is_covered else "uninstrumented", rows, report["collection"]["coverage"])
        return report

    def test_shapes(self):
        for name, text in SHAPES.items():
            with self.subTest(shape=name):
                self.check(PYTHON, "-B", self.file("program.py", USES + text))

    def test_ways_to_start(self):
        text = USES + "print(use())"
        program = self.file("program.py", text)
        self.file("package/__init__.py", "")
        self.file("package/__main__.py", text)
        shebang = self.file("tool", f"#!{PYTHON}\n{text}")
        os.chmod(shebang, 0o755)
        archive = os.path.join(self.folder.name, "app.pyz")
        subprocess.run([PYTHON, "-m", "zipapp", "-o", archive, os.path.join(self.folder.name, "package")], check=True)
        for command in (["-c", text], ["-"], ["-m", "package"], [archive], ["-W", "error", program], ["-OO", program],
                        ["-X", "dev", program], ["-q", program]):
            with self.subTest(command=command[0]):
                self.check(PYTHON, *command, input=text.encode(), cwd=self.folder.name)
        self.check(shebang)
        self.check("/bin/sh", "-c", f"{PYTHON} {program}; {PYTHON} {program} | cat")

    def test_kept_out(self):
        for flag, word in (("-I", "isolated"), ("-E", "-E"), ("-S", "-S")):
            with self.subTest(flag=flag):
                report = self.check(PYTHON, flag, "-c", USES + "print(use())", is_covered=False)
                row = next(row for row in report["collection"]["coverage"] if row["hooks"] == "python")
                self.assertIn(word, row["why"])
        result, report, _ = lightmeter_run.measured(PYTHON, "-c", "print(1)", options=["--no-hook", "python"])
        self.assertEqual(result.stdout, b"1\n")
        self.assertEqual([row["why"] for row in report["collection"]["coverage"] if row["hooks"] == "python"],
                         ["switched off by --no-hook"])

    def test_virtual_environment(self):
        folder = os.path.join(self.folder.name, "venv")
        made = subprocess.run([PYTHON, "-m", "venv", "--without-pip", folder], capture_output=True, check=False)
        if made.returncode:
            self.skipTest("no virtual environment can be made here")
        self.check(os.path.join(folder, "bin", "python"), "-c", USES + "import sys; print(use(), sys.prefix)")

    def test_releases_that_are_too_old(self):
        """They run as ever, without the shim."""
        text = "import sys; print(sys.version_info[:3], sys.path, [m for m in sys.modules if 'lightmeter' in m])"
        for version, place in python_releases.releases((2, 0), (3, 7)).items():
            with self.subTest(version=version):
                expected = lightmeter_run.bare(place, "-c", text)
                result, _, _ = lightmeter_run.measured(place, "-c", text)
                self.assertEqual(comparable(result), comparable(expected))

    def test_own_sitecustomize(self):
        """One that the program has still runs, once, and its errors are its own."""
        self.file("site/sitecustomize.py", "print('customised', __name__, __file__)\nimport queue")
        settings = {"env": {**os.environ, "PYTHONPATH": os.path.join(self.folder.name, "site")}}
        text = ("import sys; print(sys.path, sys.modules['sitecustomize'].__file__)\n" + USES + "print(use())")
        self.check(PYTHON, "-c", text, **settings)
        self.file("site/sitecustomize.py", "raise RuntimeError('its own')")
        self.check(PYTHON, "-c", "print(1)", **settings)
        self.file("site/sitecustomize.py", "import no_such_module_of_mine")
        self.check(PYTHON, "-c", "print(1)", **settings)

    def test_environment(self):
        """The path of modules is as it was; what children see has our folder, as they need it."""
        text = "import sys; print(sys.path)"
        for value in (None, "", "/nonexistent", "/a:/b"):
            with self.subTest(value=value):
                environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
                if value is not None:
                    environment["PYTHONPATH"] = value
                self.check(PYTHON, "-c", text, env=environment)

    def test_a_folder_that_cannot_be_read(self):
        """Without the shim's files the program runs, and the report says so."""
        if os.geteuid() != 0:
            self.skipTest("only root can run the program as another user")
        home = os.path.dirname(os.path.realpath(lightmeter_run.LIGHTMETER))
        if not os.path.exists(os.path.join(home, "python")):
            self.skipTest("no shim was built")
        text = "import os; os.setgid(65534); os.setuid(65534); os.execv('/usr/bin/python3', ['python3', '-c', 'print(1)'])"
        result, _, _ = lightmeter_run.measured(PYTHON, "-c", text)
        self.assertEqual((result.returncode, result.stdout), (0, b"1\n"), result)


class Wrapped(unittest.TestCase):
    """A wrapped function is what it was to whoever looks."""

    def check(self, python, *names):
        expected = lightmeter_run.bare(python, "-B", WRAPPED, *names)
        result, report, _ = lightmeter_run.measured(python, "-B", WRAPPED, *names)
        self.assertEqual(expected.returncode, 0, expected.stderr)
        self.assertEqual(result.stdout.decode().splitlines(), expected.stdout.decode().splitlines())
        self.assertEqual(comparable(result), comparable(expected))
        self.assertIn("queues", [row["hooks"] for row in report["collection"]["coverage"] if row["status"] == "covered"])

    def test_standard_library(self):
        self.check(PYTHON)

    def test_libraries(self):
        for library, names in LIBRARIES.items():
            with self.subTest(library=library):
                if subprocess.run([PYTHON, "-c", f"import {library}"], capture_output=True, check=False).returncode:
                    self.skipTest(f"{library} is not installed")
                self.check(PYTHON, *names)

    def test_other_releases(self):
        """One extension for all of them: those that are found on this machine."""
        for version, place in python_releases.releases((3, 8), (3, 99)).items():
            with self.subTest(version=version):
                self.check(place)


class Seen(unittest.TestCase):
    """The calls are in the report with their stages."""

    def stages_of(self, text, *arguments):
        result, report, _ = lightmeter_run.measured(PYTHON, "-B", "-c", text, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return report, {function["name"]: function for function in report["functions"]}

    def need(self, library):
        if subprocess.run([PYTHON, "-c", f"import {library}"], capture_output=True, check=False).returncode:
            self.skipTest(f"{library} is not installed")

    def test_queue(self):
        _, functions = self.stages_of("import queue, threading, time\nq = queue.Queue()\n"
                                      "threading.Thread(target=lambda: (time.sleep(.1), q.put(1))).start()\nq.get()")
        self.assertEqual(functions["queue.Queue.get"]["stage"], "wait")
        self.assertEqual(functions["queue.Queue.put"]["calls"], 1)

    def test_pillow(self):
        self.need("PIL")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.jpg")
            report, functions = self.stages_of(
                "import sys\nfrom PIL import Image\nfor i in range(12):\n"
                " Image.new('RGB', (640, 480), (1, 2, 3)).save(sys.argv[1])\n"
                " im = Image.open(sys.argv[1]); im = im.convert('L'); im = im.resize((64, 48)); im.load()", path)
        self.assertEqual(functions["PIL.Image.open"]["stage"], "load")
        self.assertEqual(functions["PIL.ImageFile.ImageFile.load"]["stage"], "decode")
        self.assertEqual(functions["PIL.Image.Image.resize"]["stage"], "preprocess")
        self.assertEqual(functions["PIL.Image.Image.save"]["stage"], "encode")
        self.assertEqual(report["items"]["count"], 12, "a picture is one item, whoever sees it decoded")

    def test_opencv(self):
        self.need("cv2")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.png")
            report, functions = self.stages_of(
                "import sys, cv2, numpy\ncv2.imwrite(sys.argv[1], numpy.zeros((480, 640, 3), numpy.uint8))\n"
                "for i in range(12): cv2.resize(cv2.imread(sys.argv[1]), (64, 48))", path)
        self.assertEqual(functions["cv2.imread"]["stage"], "decode")
        self.assertEqual(functions["cv2.resize"]["stage"], "preprocess")
        self.assertEqual(report["items"]["count"], 12)


if __name__ == "__main__":
    sys.exit(unittest.main())
