# SPDX-License-Identifier: Apache-2.0
"""Ultralytics: the phases that its predictors have themselves."""


def wrap(_, module, wrapper):
    predictor = getattr(module, "BasePredictor", None)
    wrapper.function(predictor, "preprocess", "preprocess")
    wrapper.function(predictor, "inference", "infer")
    wrapper.function(predictor, "postprocess", "postprocess")
    wrapper.function(predictor, "setup_model", "load", text="ultralytics: load_model")
