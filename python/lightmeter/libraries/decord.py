# SPDX-License-Identifier: Apache-2.0
"""decord: frames of a video."""


def wrap(_, module, wrapper):
    reader = getattr(module, "VideoReader", None)
    wrapper.functions(reader, "decode", "__getitem__ next get_batch")
    wrapper.function(reader, "__init__", "load")
