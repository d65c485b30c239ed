# SPDX-License-Identifier: Apache-2.0
"""Pillow: opening, decoding (a picture is decoded when it is first used), conversion, geometry, saving."""
from lightmeter._shim import FOLD_SHORT, SIZE_OF_RESULT, SIZE_OF_SELF


def wrap(name, module, wrapper):
    {"PIL.Image": _image, "PIL.ImageFile": _file, "PIL.ImageOps": _operations}[name](module, wrapper)


def _image(module, wrapper):
    wrapper.function(module, "open", "load")
    wrapper.functions(module, "convert", "fromarray frombytes frombuffer", shape=SIZE_OF_RESULT)
    wrapper.functions(module, "preprocess", "merge blend composite alpha_composite", shape=SIZE_OF_RESULT)
    image = module.Image
    wrapper.functions(image, "convert", "convert", shape=SIZE_OF_RESULT)
    wrapper.functions(image, "convert", "tobytes", shape=SIZE_OF_SELF)
    wrapper.functions(image, "preprocess", "resize reduce crop rotate transform transpose filter point quantize",
                      shape=SIZE_OF_RESULT, flags=FOLD_SHORT)
    wrapper.functions(image, "preprocess", "thumbnail paste", shape=SIZE_OF_SELF, flags=FOLD_SHORT)
    wrapper.function(image, "save", "encode", shape=SIZE_OF_SELF)


def _file(module, wrapper):
    # Each use of a picture calls it; it decodes while there are tiles left.
    wrapper.function(module.ImageFile, "load", "decode", shape=SIZE_OF_SELF, only_if="tile")
    wrapper.function(module.Parser, "feed", "decode", flags=FOLD_SHORT)


def _operations(module, wrapper):
    wrapper.functions(module, "preprocess", "autocontrast colorize contain cover crop deform equalize expand fit flip "
                      "grayscale invert mirror pad posterize scale solarize exif_transpose", shape=SIZE_OF_RESULT)
