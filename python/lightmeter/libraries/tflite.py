# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite's interpreter, in TensorFlow and in its packages of its own."""


def wrap(_, module, wrapper):
    interpreter = getattr(module, "Interpreter", None)
    wrapper.function(interpreter, "__init__", "load", text="tflite.Interpreter: load_model")
    wrapper.function(interpreter, "invoke", "infer")
    wrapper.function(interpreter, "allocate_tensors", "load")
