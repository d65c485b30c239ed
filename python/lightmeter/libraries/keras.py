# SPDX-License-Identifier: Apache-2.0
"""Keras: predictions of a model. What a model is made of is not looked into."""


def wrap(_, module, wrapper):
    for kind in "Model", "TensorFlowTrainer", "Trainer":
        wrapper.functions(getattr(module, kind, None), "infer", "predict predict_on_batch")
