# SPDX-License-Identifier: Apache-2.0
"""OpenVINO's Python package."""


def wrap(_, module, wrapper):
    wrapper.function(getattr(module, "Core", None), "compile_model", "load", text="openvino.Core: load_model")
    wrapper.function(getattr(module, "Core", None), "read_model", "load")
    wrapper.function(getattr(module, "CompiledModel", None), "__call__", "infer", text="openvino.CompiledModel")
    wrapper.functions(getattr(module, "InferRequest", None), "infer", "infer")
