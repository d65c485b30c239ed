# SPDX-License-Identifier: Apache-2.0
"""Host of the test of CPython's global lock: threads that wait for it, or for something else.

    gil.py spin|locks              two threads that compute; waits for Lock, Event, Condition, Queue
    gil.py polls                   one that computes and one that polls
    gil.py pictures FILE           threads that decode it with Pillow
    gil.py planted LIBRARY ROUNDS  the lock held for known times; what it was waited for, as JSON
"""
import ctypes
import json
import queue
import sys
import threading
import time

HOLD_NS, AHEAD_NS = 80000000, 20000000


def in_threads(work, count):
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def spin():
    def compute(_):
        end = time.monotonic() + 0.5
        count = 0
        while time.monotonic() < end:
            count += 1
    in_threads(compute, 2)


def polls():
    """One thread that computes in a stage, and one that waits by asking all the time."""
    import lightmeter
    done = threading.Event()

    def compute(number):
        if number:
            while not done.is_set():
                pass  # line: poll
        else:
            for _ in range(200):
                with lightmeter.stage("postprocess"):
                    sum(range(300000))
                    for _ in range(100000):
                        pass
            done.set()
    in_threads(compute, 2)


def locks():
    lock, event, full = threading.Lock(), threading.Event(), queue.Queue(1)
    lock.acquire()

    def wait(number):
        if number == 0:
            with lock:
                event.wait()
        elif number == 1:
            full.get()
            lock.release()
            full.get(timeout=60)
            event.set()
        else:
            for item in range(2):
                time.sleep(0.2)
                full.put(item)
    in_threads(wait, 3)


def pictures(path):
    from PIL import Image

    def decode(_):
        for _ in range(4):
            with Image.open(path) as picture:
                picture.load()
    in_threads(decode, 2)


def planted(library, rounds):
    with_lock, without = ctypes.PyDLL(library), ctypes.CDLL(library)
    ready, wall_ns, cpu_ns = threading.Barrier(2), ctypes.c_int64(), ctypes.c_int64()

    def wait(number):
        for _ in range(rounds):
            ready.wait()
            if number:
                without.hold(ctypes.c_int64(AHEAD_NS))
                with_lock.hold(ctypes.c_int64(HOLD_NS))
            else:
                without.leave(ctypes.c_int64(2 * AHEAD_NS))
                with_lock.come_back(ctypes.byref(wall_ns), ctypes.byref(cpu_ns))
    in_threads(wait, 2)
    print(json.dumps({"wall_ns": wall_ns.value, "cpu_ns": cpu_ns.value}))


if __name__ == "__main__":
    {"spin": spin, "polls": polls, "locks": locks, "pictures": pictures,
     "planted": lambda library, rounds: planted(library, int(rounds))}[sys.argv[1]](*sys.argv[2:])
