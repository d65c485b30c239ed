# SPDX-License-Identifier: Apache-2.0
"""Prints what functions are to a program that looks at them: the same whether they are wrapped or not.

    python_wrapped.py [MODULE:NAME...]   (of the standard library, else)
"""
import copy
import functools
import importlib
import inspect
import pickle
import queue
import traceback
import types
import urllib.request
import weakref


def tell(*facts):
    print(*(str(fact).split(" at 0x")[0] for fact in facts))


def tried(what, *arguments):
    try:
        return str(what(*arguments)).split(" at 0x")[0]
    except Exception as error:  # pylint: disable=broad-except
        return type(error).__name__


def looks(name, f):
    tell(name, repr(f), str(f), f.__class__.__name__, f.__name__, f.__qualname__, f.__module__, bool(f))
    tell(" doc", (f.__doc__ or "")[:40], tried(inspect.signature, f))
    tell(" is", inspect.isfunction(f), inspect.isbuiltin(f), inspect.ismethod(f), inspect.isroutine(f),
         isinstance(f, types.FunctionType), isinstance(f, types.BuiltinFunctionType), callable(f))
    again = tried(pickle.dumps, f)
    tell(" pickle", again if again.isidentifier() else pickle.loads(pickle.dumps(f)) is f,
         copy.copy(f) is f, copy.deepcopy(f) is f)
    tell(" equal", f == f, hash(f) == hash(f), f in {f}, f != f, f == 1)  # pylint: disable=comparison-with-itself
    tell(" weak", weakref.ref(f)() is f)
    tell(" source", tried(lambda: inspect.getsourcelines(f)[1]), tried(lambda: inspect.getfile(f)))
    tell(" attributes", [d for d in dir(f) if not d.startswith("__")], hasattr(f, "__get__"), hasattr(f, "__code__"),
         hasattr(f, "__self__"), tried(lambda: sorted(f.__annotations__)), tried(lambda: sorted(vars(f))))

    def put_and_take():
        f.extra = 1
        seen = f.extra
        del f.extra
        return seen, hasattr(f, "extra")
    tell(" settable", tried(put_and_take))
    tell(" partial", functools.partial(f).func is f, tried(lambda: functools.wraps(f)(lambda: 0).__name__))


def methods():
    q = queue.Queue(2)
    put = q.put
    tell(put.__self__ is q, put.__func__ is queue.Queue.put, inspect.ismethod(put), put == q.put,
         hash(put) == hash(q.put), inspect.signature(put))
    q.put(1)
    q.put(item=2)
    tell(tried(functools.partial(q.put, 3, timeout=.001)), q.get(), q.get(block=False), tried(q.get_nowait))
    for arguments in ((), (1, 2, 3, 4, 5)):
        try:
            q.put(*arguments)
        except TypeError as error:
            tell(error)

    class Mine(queue.Queue):
        def put(self, item, *arguments, **named):
            tell("mine", item)
            return super().put(item, *arguments, **named)
    mine = Mine()
    mine.put(5)
    tell(mine.get(), Mine.get is queue.Queue.get)

    def deep(n):
        return q.put(n) if n == 0 else deep(n - 1)
    deep(100)
    tell(q.qsize())


def patched():
    """A program that puts its own function in the place, and the old one back."""
    old, q = queue.Queue.put, queue.Queue()

    def counting(self, item, *arguments, **named):
        tell("counting", item)
        return old(self, item, *arguments, **named)
    queue.Queue.put = counting
    q.put(1)
    queue.Queue.put = old
    q.put(2)
    tell(q.qsize(), queue.Queue.put is old, inspect.getattr_static(queue.Queue, "put") is old)


def errors():
    class Odd:
        def __eq__(self, other):
            raise ValueError("odd")
        __hash__ = None
    tell(tried(lambda: queue.Queue.get == Odd()))
    try:
        urllib.request.urlopen("nonsense")
    except ValueError as error:
        tell(error, [frame.name for frame in traceback.extract_tb(error.__traceback__)])
        tell(error.__context__, error.__cause__)


def main(names):
    looks("put", queue.Queue.put)
    looks("urlopen", urllib.request.urlopen)
    for name in names:
        module, _, path = name.partition(":")
        looks(name, functools.reduce(getattr, path.split("."), importlib.import_module(module)))
    methods()
    patched()
    errors()


if __name__ == "__main__":
    import sys
    main(sys.argv[1:])
