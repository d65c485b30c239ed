# SPDX-License-Identifier: Apache-2.0
"""PyTorch: calls of modules (the outermost holds the others), and where the loader's batches come from."""
from lightmeter._shim import FOLD_SHORT, LOCK


def wrap(name, module, wrapper):
    if name == "torch.nn.modules.module":
        wrapper.function(module.Module, "__call__", "infer", flags=FOLD_SHORT, text="torch.nn.Module")
        return
    if name == "torch.utils.data._utils.fetch":  # in the program's own process or in a worker
        for kind in "_MapDatasetFetcher", "_IterableDatasetFetcher":
            wrapper.function(getattr(module, kind, None), "fetch", "load", text="torch.utils.data fetch")
        return
    wrapper.function(getattr(module, "_MultiProcessingDataLoaderIter", None), "_next_data", "wait", cause=LOCK,
                     text="DataLoader: next batch of the workers")
