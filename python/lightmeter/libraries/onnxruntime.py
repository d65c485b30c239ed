# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's Python package, which holds the library inside itself."""


def wrap(_, module, wrapper):
    session = getattr(module, "InferenceSession", None)
    base = getattr(module, "Session", None)
    wrapper.function(session, "__init__", "load", text="onnxruntime.InferenceSession")
    for owner in session, base:
        wrapper.functions(owner, "infer", "run run_with_iobinding run_with_ort_values")
