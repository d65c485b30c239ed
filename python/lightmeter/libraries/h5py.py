# SPDX-License-Identifier: Apache-2.0
"""h5py: parts of datasets, read and written."""


def wrap(_, module, wrapper):
    dataset = getattr(module, "Dataset", None)
    wrapper.functions(dataset, "load", "__getitem__ read_direct")
    wrapper.functions(dataset, "save", "__setitem__ write_direct")
