# SPDX-License-Identifier: Apache-2.0
"""Queues of threads and processes: waiting to put and to get."""
from lightmeter._shim import FOLD_SHORT, LOCK


def wrap(name, module, wrapper):
    for kind in {"queue": ("Queue", "SimpleQueue"), "multiprocessing.queues": ("Queue", "SimpleQueue"),
                 "multiprocessing.pool": ("ApplyResult", "IMapIterator")}[name]:
        owner = getattr(module, kind, None)
        names = "put get" if name != "multiprocessing.pool" else "get next"
        if isinstance(owner, type):
            wrapper.functions(owner, "wait", names, cause=LOCK, flags=FOLD_SHORT)
