# SPDX-License-Identifier: Apache-2.0
"""Fixed work in Python, for bench/run: what following its calls and sampling its stacks costs.

    python_programs.py numbers|pillow|numpy|torch|threads|workers PICTURE...
"""
import queue
import sys
import threading


def numbers(_):
    """The interpreter alone: no call of a library, many of the program's own functions."""
    def step(x, i):
        return (x * 31 + i) % 1000003
    x = 1
    for i in range(50000000):
        x = step(x, i)
    return x


def pillow(pictures):
    from PIL import Image
    total = 0
    for path in pictures * 3:
        with Image.open(path) as picture:
            picture.draft("RGB", (500, 500))
            total += sum(picture.convert("RGB").resize((224, 224)).getpixel((5, 5)))
    return total


def suppress(boxes, scores):
    """Greedy non-maximum suppression, as it is written by hand."""
    import numpy
    order, kept = scores.argsort()[::-1], []
    while len(order):
        best, rest = order[0], order[1:]
        kept.append(int(best))
        low = numpy.maximum(boxes[best, :2], boxes[rest, :2])
        high = numpy.minimum(boxes[best, 2:], boxes[rest, 2:])
        common = numpy.prod(numpy.clip(high - low, 0, None), axis=1)
        area = numpy.prod(boxes[rest, 2:] - boxes[rest, :2], axis=1) + 1
        order = rest[common / area < .5]
    return kept


def numpy_(_):
    import numpy
    dice, total = numpy.random.default_rng(1), 0
    for _ in range(40):
        picture = dice.integers(0, 255, (640, 640, 3), dtype=numpy.uint8)
        x = (picture[:, :, ::-1].astype(numpy.float32) / 255 - .45) / .225
        total += float(numpy.ascontiguousarray(x.transpose(2, 0, 1)).mean())
        corners = dice.random((1500, 2)) * 600
        total += len(suppress(numpy.hstack([corners, corners + 20]), dice.random(1500)))
    return total


def torch(_):
    """On one core, beside 100 threads that wait for work and look around now and then."""
    import torch as t
    t.manual_seed(1)
    t.set_num_threads(1)
    done = threading.Event()

    def wait():
        while not done.wait(.1):
            pass
    for _ in range(100):
        threading.Thread(target=wait).start()
    net = t.nn.Sequential(*(layer for i in range(6) for layer in (t.nn.Conv2d(3 if i == 0 else 16, 16, 3), t.nn.ReLU())))
    with t.no_grad():
        total = float(sum(net(t.rand(1, 3, 224, 224)).mean() for _ in range(80)))
    done.set()
    return total


def threads(_):
    """120 threads that hand small things on."""
    ways = [queue.Queue(4) for _ in range(121)]

    def hand_on(i):
        while True:
            item = ways[i].get()
            ways[i + 1].put(item)
            if item is None:
                return
    for i in range(120):
        threading.Thread(target=hand_on, args=(i,)).start()

    def feed():
        for n in range(2500):
            ways[0].put(n)
        ways[0].put(None)
    threading.Thread(target=feed).start()
    return sum(iter(ways[120].get, None))


def decoded(path):
    from PIL import Image
    with Image.open(path) as picture:
        return picture.convert("L").resize((64, 64)).getpixel((3, 3))


def workers(pictures):
    import multiprocessing
    with multiprocessing.Pool(2) as pool:
        return sum(pool.map(decoded, pictures * 2, chunksize=1))


if __name__ == "__main__":
    print({"numbers": numbers, "pillow": pillow, "numpy": numpy_, "torch": torch, "threads": threads,
           "workers": workers}[sys.argv[1]](sys.argv[2:]))
