# SPDX-License-Identifier: Apache-2.0
"""The marks of Python: stages as blocks and decorators, items, counters, queues; nothing happens without the agent.

    test_python_marks.py
"""
import os
import sys
import unittest

import lightmeter_run

PYTHON = "/usr/bin/python3"
PACKAGE = os.path.join(os.path.dirname(os.path.realpath(lightmeter_run.LIGHTMETER)), "python")
WORK = """
import asyncio, functools, inspect, time
import lightmeter
def busy(seconds=.01):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass
"""
KINDS = """
@lightmeter.stage("function")
def function(a, *, b=2):
    "its words"
    busy(); return a + b
class Kind:
    @lightmeter.stage("method")
    def method(self): busy(); return self
    @classmethod
    @lightmeter.stage("class method")
    def class_method(cls): busy(); return cls
    @lightmeter.stage("static method")
    @staticmethod
    def static_method(x): busy(); return x
@lightmeter.stage("generator")
def generator(n):
    for i in range(n):
        busy()
        got = yield i
        if got: print("got", got)
    return "end"
@lightmeter.stage("coroutine")
async def coroutine(x):
    busy(); await asyncio.sleep(.05); busy(); return x
@lightmeter.stage("async generator")
async def async_generator(n):
    try:
        for i in range(n):
            busy(); await asyncio.sleep(.02); yield i
    finally:
        print("closed")
print(function(1), function(1, b=5), function.__name__, function.__doc__, inspect.signature(function))
k = Kind()
print(k.method() is k, Kind.class_method() is Kind, k.class_method() is Kind, Kind.static_method(3), k.static_method(4))
def other_code():
    g = generator(3); print(next(g)); time.sleep(.1); print(g.send("this"), next(g))
    try: next(g)
    except StopIteration as e: print(e.value)
    g = generator(9); next(g)
    try: g.throw(KeyError("thrown"))
    except KeyError as e: print(e)
    g = generator(9); next(g); g.close(); print(list(generator(2)), inspect.isgeneratorfunction(generator))
other_code()
async def main():
    print(await coroutine(7), inspect.iscoroutinefunction(coroutine))
    print(await asyncio.gather(*(coroutine(i) for i in range(3))))
    print([i async for i in async_generator(3)], inspect.isasyncgenfunction(async_generator))
    it = async_generator(5)
    async for i in it:
        break
    await it.aclose()
    task = asyncio.ensure_future(coroutine(1)); await asyncio.sleep(.01); task.cancel()
    try: await task
    except asyncio.CancelledError: print("cancelled")
asyncio.run(main())
@lightmeter.stage("class")
class Marked:
    x = 1
print(isinstance(Marked(), Marked), Marked.x)
@lightmeter.stage("failing")
def failing(): raise ValueError("mine")
try: failing()
except ValueError as e: print(e)
for i in range(12):
    with lightmeter.item(f"photo {i}"):
        with lightmeter.stage("preprocess"): busy()
        lightmeter.count("faces", 2)
        lightmeter.queue_put("frames", 3); lightmeter.queue_get("frames", 2)
        with lightmeter.stage("load"): busy(.002); lightmeter.bytes_done(1000)
"""


class Marks(unittest.TestCase):
    def run_marked(self, text):
        result, report, _ = lightmeter_run.measured(PYTHON, "-B", "-c", WORK + text)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        alone = lightmeter_run.bare(PYTHON, "-B", "-c", WORK + text, env={**os.environ, "PYTHONPATH": PACKAGE})
        self.assertEqual((alone.stdout, alone.returncode, alone.stderr), (result.stdout, 0, b""))
        return result.stdout.decode(), report

    def test_kinds(self):
        if not os.path.exists(os.path.join(PACKAGE, "_lightmeter.abi3.so")):
            self.skipTest("the extension was not built: Python's headers are missing")
        output, report = self.run_marked(KINDS)
        self.assertIn("got this", output)
        self.assertIn("closed", output)
        stages = lightmeter_run.stages(report)
        self.assertEqual(report["items"]["count"], 12)
        self.assertGreaterEqual(stages["load"]["bytes"], 10 * 1000)
        self.assertEqual([queue["name"] for queue in report["queues"]], ["frames"])
        self.assertGreater(stages["preprocess"]["cpu_s"], .09)

    def test_steps(self):
        """What other code does between two steps of a generator or coroutine is not their stage's."""
        _, report = self.run_marked(
            "@lightmeter.stage('generator')\ndef g():\n for i in range(5):\n  busy(); yield i\n"
            "@lightmeter.stage('coroutine')\nasync def c():\n for i in range(5):\n  busy(); await asyncio.sleep(.05)\n"
            "for i in g(): time.sleep(.05)\nasyncio.run(c())\n")
        stages = lightmeter_run.stages(report)
        for name in ("generator", "coroutine"):
            self.assertGreater(stages[name]["wall_s"], .045, name)
            waited_s = stages[name]["wall_s"] - stages[name]["cpu_s"] - stages[name]["runq_s"]
            self.assertLess(waited_s, .1, name)
            self.assertIn(stages[name]["calls"], (5, 6), name)


if __name__ == "__main__":
    sys.exit(unittest.main())
