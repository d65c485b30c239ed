# SPDX-License-Identifier: Apache-2.0
"""concurrent.futures: waiting for results of a pool."""
from lightmeter._shim import FOLD_SHORT, LOCK


def wrap(_, module, wrapper):
    wrapper.functions(module.Future, "wait", "result exception", cause=LOCK, flags=FOLD_SHORT)
    wrapper.function(module, "wait", "wait", cause=LOCK)
