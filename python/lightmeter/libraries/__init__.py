# SPDX-License-Identifier: Apache-2.0
"""The libraries that are wrapped: a file here for each, and its row: the modules that it wants to see. `wrap(name,
module, wrapper)` of the file is called once such a module has been executed."""

LIBRARIES = {
    "http": ("http.client", "urllib.request", "requests.sessions"),
    "numpy": ("numpy",),
    "opencv": ("cv2",),
    "pillow": ("PIL.Image", "PIL.ImageFile", "PIL.ImageOps"),
    "queues": ("queue", "multiprocessing.queues", "multiprocessing.pool"),
    "torch": ("torch.nn.modules.module", "torch.utils.data.dataloader", "torch.utils.data._utils.fetch"),
}
MODULES = {module: library for library, modules in LIBRARIES.items() for module in modules}
