# SPDX-License-Identifier: Apache-2.0
"""Albumentations: a whole composition of transforms."""


def wrap(_, module, wrapper):
    wrapper.function(getattr(module, "Compose", None), "__call__", "preprocess", text="albumentations.Compose")
