# SPDX-License-Identifier: Apache-2.0
"""Host of test_hosts.py: what CPython programs do: threads, children, signals, maps, databases, sockets,
pictures where Pillow is. Says what came out and ends with an exception that nobody catches.

    runtime.py FOLDER
"""
import asyncio
import concurrent.futures
import hashlib
import mmap
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import zlib

FOLDER = sys.argv[1]
ROUNDS = 60


def path(name):
    return os.path.join(FOLDER, name)


def files():
    with open(path("data"), "wb") as file:
        for number in range(ROUNDS):
            file.write(number.to_bytes(2, "little") * 500)
    with open(path("data"), "rb") as file:
        text = file.read()
        with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            print("mapped the same", mapped[:] == text)
    print("packed", len(zlib.decompress(zlib.compress(text))), hashlib.sha256(text).hexdigest())
    try:
        os.stat(path("nothing"))
    except OSError as error:
        print("no such file", error.errno)


def pictures():
    try:
        from PIL import Image
    except ImportError:
        print("no Pillow")
        return
    picture = Image.linear_gradient("L").resize((320, 200))
    for form in ("png", "jpeg", "webp", "tiff"):
        picture.save(path("p." + form))
        with Image.open(path("p." + form)) as seen:
            print(form, seen.size, hashlib.sha256(seen.convert("RGB").tobytes()).hexdigest())


def threads():
    lock, seen = threading.Lock(), []

    def work(number):
        with lock:
            seen.append(number)
        return subprocess.run(["sh", "-c", f"exit {number}"], check=False).returncode

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        print("children", list(pool.map(work, range(8))), sorted(seen))


def forked(number):
    return number * number


def processes():
    for how in ("fork", "spawn"):
        with multiprocessing.get_context(how).Pool(2) as pool:
            print(how, pool.map(forked, range(6)))
    child = os.fork()
    if child == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    print("killed", os.WTERMSIG(os.waitpid(child, 0)[1]))


def signals():
    seen = []
    signal.signal(signal.SIGUSR1, lambda number, _: seen.append(number))
    for _ in range(3):
        signal.raise_signal(signal.SIGUSR1)
    print("signals", seen == [signal.SIGUSR1] * 3)


def database():
    base = sqlite3.connect(path("base"))
    base.execute("create table t (a integer primary key, b text)")
    with base:
        base.executemany("insert into t values (?, ?)", ((n, str(n) * 9) for n in range(ROUNDS)))
    print("rows", base.execute("select count(*), sum(length(b)) from t").fetchone())


async def echo():
    async def serve(reader, writer):
        writer.write((await reader.readline()).upper())
        await writer.drain()
        writer.close()

    server = await asyncio.start_unix_server(serve, path("socket"))
    async with server:
        reader, writer = await asyncio.open_unix_connection(path("socket"))
        writer.write(b"over a socket\n")
        print(await reader.readline())
        writer.close()
        await asyncio.sleep(0.01)


if __name__ == "__main__":
    files()
    pictures()
    threads()
    sys.stdout.flush()
    processes()
    signals()
    database()
    asyncio.run(echo())
    print("not on the output", file=sys.stderr)
    raise KeyError("the end")
