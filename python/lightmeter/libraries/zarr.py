# SPDX-License-Identifier: Apache-2.0
"""Zarr: parts of arrays, read and written."""


def wrap(_, module, wrapper):
    array = getattr(module, "Array", None)
    wrapper.function(array, "__getitem__", "load")
    wrapper.function(array, "__setitem__", "save")
