# SPDX-License-Identifier: Apache-2.0
"""Lightmeter's marks for Python: name the stages, items and queues of your own program.

    with lightmeter.stage("preprocess"):        # a stage of this thread, until the block ends
        ...

    @lightmeter.stage("postprocess")            # each call; of a generator or a coroutine each step
    def boxes(output): ...

    with lightmeter.item(frame_number): ...     # an item enters, and is done when the block ends

Without `lightmeter run` in front of the program all of this does nothing. Nothing here fails on
account of Lightmeter. Threads: any; a stage belongs to the thread that opened it.
"""
import sys as _sys

__all__ = ["stage", "item", "item_begin", "item_use", "item_end", "count", "queue_put", "queue_get", "bytes_done"]

try:
    import _lightmeter as _agent
    if not _agent.has_agent:
        _agent = None
except ImportError:  # not built for this interpreter
    _agent = None

_ids = {}


def _id_of(name):
    """The agent's number of a name."""
    number = _ids.get(name)
    if number is None:
        number = _ids[name] = _agent.name_id(str(name))
    return number


class stage:
    """A stage of the calling thread: a context manager, and a decorator of functions, methods, generators and
    coroutines. `name` is one of Lightmeter's words (load, decode, preprocess, infer, ...) or your own."""

    __slots__ = ("_name",)

    def __init__(self, name):
        self._name = name

    if _agent:
        def __enter__(self):
            _agent.stage_begin(_id_of(self._name))
            return self

        def __exit__(self, *_):
            _agent.stage_end()

        def __call__(self, function):
            from lightmeter import _steps
            return _steps.staged(_agent, _id_of(self._name), function)
    else:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def __call__(self, function):
            return function


def _number(item_id):
    return item_id & 0xFFFFFFFFFFFFFFFF if isinstance(item_id, int) else hash(item_id) & 0xFFFFFFFFFFFFFFFF


def item_begin(item_id):
    """An item enters: a number of yours, unique among the items of the process, or anything with a hash."""
    if _agent:
        _agent.item(0, _number(item_id))


def item_use(item_id):
    """What the calling thread does from now on is for this item."""
    if _agent:
        _agent.item(1, _number(item_id))


def item_end(item_id):
    """It is done, and counts for throughput and latency."""
    if _agent:
        _agent.item(2, _number(item_id))


class item:
    """An item that enters and, when the block ends, is done. One that ends by an exception counts too."""

    __slots__ = ("_id",)

    def __init__(self, item_id):
        self._id = item_id

    def __enter__(self):
        item_begin(self._id)
        item_use(self._id)
        return self

    def __exit__(self, *_):
        item_end(self._id)


def count(name, delta=1):
    """Adds to a counter."""
    if _agent:
        _agent.count(_id_of(name), delta)


def queue_put(queue, depth):
    """Something was put into a queue, which has `depth` entries now."""
    if _agent:
        _agent.queue(_id_of(queue), True, depth)


def queue_get(queue, depth):
    """Something was taken out of a queue, which has `depth` entries now."""
    if _agent:
        _agent.queue(_id_of(queue), False, depth)


def bytes_done(n):
    """Bytes that the innermost open stage moved; added up."""
    if _agent:
        _agent.bytes(n)
