# SPDX-License-Identifier: Apache-2.0
"""Wraps functions of libraries in a program under `lightmeter run`, once the program imports them.

A finder in front of sys.meta_path lets the others find a module of a registered library and, when it has been
executed, hands it to the library's file in `libraries`. Nothing is imported that the program did not import, except
these files. What fails here leaves the module as it is.
"""
import sys

import _lightmeter as _agent
from lightmeter.libraries import MODULES

# Of enum trace_cause.
OTHER, IO, NET, LOCK, GIL, ACCEL, SLEEP = range(7)
FOLD, FOLD_SHORT = 1, 2
NO_SHAPE, SIZE_OF_SELF, SIZE_OF_RESULT, SHAPE_OF_RESULT = range(4)


class Wrapper:
    """What a library's file wraps its functions with; counts them for the coverage."""

    def __init__(self):
        self.count = 0

    def function(self, owner, name, stage, *, cause=OTHER, flags=0, shape=NO_SHAPE, only_if=None, text=None):
        """Replaces the function `name` of a module, or the method of a class, where there is one that can be
        replaced. With `only_if` calls are timed whose first argument has such an attribute that is true. `text`: its
        name in reports, if not the full one."""
        self._put(owner, name, getattr(owner, "__dict__", {}).get(name), stage, cause, flags, shape, only_if, text)

    def inherited(self, owner, name, stage, **how):
        """The same for a method that the class has from another one, for objects of this class only."""
        found = next((vars(kind)[name] for kind in owner.__mro__ if name in vars(kind)), None)
        # Not around our own of another stage.
        found = found.__wrapped__ if type(found).__module__ == "lightmeter" else found
        how = {"cause": OTHER, "flags": 0, "shape": NO_SHAPE, "only_if": None, "text": None, **how}
        self._put(owner, name, found, stage, **how)

    def _put(self, owner, name, own, stage, cause, flags, shape, only_if, text):
        kind = type(own) if isinstance(own, (staticmethod, classmethod)) else None
        function = own.__func__ if kind else own
        if not callable(function) or isinstance(function, type):
            return
        is_class = isinstance(owner, type)
        is_method = is_class and kind is not staticmethod and hasattr(function, "__get__")
        place = f"{owner.__module__}.{owner.__qualname__}" if is_class else owner.__name__
        wrapped = _agent.wrap(function, text or f"{place}.{name}", stage, cause, flags, shape, is_method, only_if)
        try:
            setattr(owner, name, kind(wrapped) if kind else wrapped)
        except (AttributeError, TypeError):  # a type that cannot be changed
            return
        self.count += 1

    def functions(self, owner, stage, names, **how):
        for name in names.split():
            self.function(owner, name, stage, **how)


def _wrap(name, module):
    library = MODULES[name]
    try:
        part = __import__(f"lightmeter.libraries.{library}", fromlist=["wrap"])
        wrapper = Wrapper()
        part.wrap(name, module, wrapper)
        _agent.cover(name, library, "covered", f"{wrapper.count} functions, wrapped in Python")
    except Exception as error:  # pylint: disable=broad-except
        _agent.cover(name, library, "uninstrumented", f"could not be wrapped: {type(error).__name__}")


class _Watch:
    """The modules that a loader is about to execute. Its method is replaced, on the object, until it did."""

    def __init__(self, loader, name):
        self.loader, self.names = loader, {name}
        self.own = vars(loader).get("exec_module")
        # Not a function of Python: it would stand in the tracebacks of modules that fail.
        loader.exec_module = self.replacement = _agent.around(self.before, self.after)

    def before(self, module):
        """What is called in our place."""
        self.names.discard(module.__name__)
        if not self.names and vars(self.loader).get("exec_module") is self.replacement:
            del self.loader.exec_module
            if self.own is not None:
                self.loader.exec_module = self.own
        return self.own or type(self.loader).exec_module.__get__(self.loader)

    @staticmethod
    def after(module):
        if module.__name__ in MODULES:
            _wrap(module.__name__, sys.modules.get(module.__name__, module))


def _watch_of(loader):
    pair = getattr(vars(loader).get("exec_module"), "__self__", None)
    return pair[0].__self__ if isinstance(pair, tuple) else None


def _watch(loader, name):
    if isinstance(loader, type) or not hasattr(loader, "__dict__") or not hasattr(type(loader), "exec_module"):
        return
    watch = _watch_of(loader)
    if watch:
        watch.names.add(name)
    else:
        _Watch(loader, name)


class _Finder:
    def find_spec(self, name, path=None, target=None):
        if name not in MODULES:
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is None:
                continue
            if spec.loader is not None:
                _watch(spec.loader, name)
            return spec
        return None

    def invalidate_caches(self):
        pass


def start():
    """In each interpreter, as soon as it is up."""
    if not _agent.has_agent or _agent.is_off("python"):
        return
    _agent.cover("CPython {}.{}".format(*sys.version_info), "python", "covered", "by the shim")
    _agent.is_up()
    importlib = sys.modules["_frozen_importlib"]
    importlib._find_and_load = _agent.imports(importlib._find_and_load)  # pylint: disable=protected-access
    sys.meta_path.insert(0, _Finder())
    for name in MODULES:
        module = sys.modules.get(name)
        if module is not None:
            _wrap(name, module)
