# SPDX-License-Identifier: Apache-2.0
"""imageio: pictures and volumes from and to files."""


def wrap(_, module, wrapper):
    wrapper.functions(module, "decode", "imread mimread volread mvolread")
    wrapper.functions(module, "encode", "imwrite mimwrite volwrite mvolwrite")
