# SPDX-License-Identifier: Apache-2.0
"""NumPy: arrays from and to files. What makes arrays of arrays is left alone: compilers know these functions by what
they are."""


def wrap(_, numpy, wrapper):
    wrapper.functions(numpy, "load", "load fromfile loadtxt genfromtxt")
    wrapper.functions(numpy, "save", "save savez savez_compressed savetxt")
