# SPDX-License-Identifier: Apache-2.0
"""The libraries that are wrapped: a file here for each, and its row: the modules that it wants to see. `wrap(name,
module, wrapper)` of the file is called once such a module has been executed."""

LIBRARIES = {
    "albumentations": ("albumentations.core.composition",),
    "decord": ("decord.video_reader",),
    "futures": ("concurrent.futures._base",),
    "h5py": ("h5py._hl.dataset", "h5py._debian_h5py_serial._hl.dataset"),
    "http": ("http.client", "urllib.request", "requests.sessions", "httpx._client"),
    "imageio": ("imageio.core.functions", "imageio.v2", "imageio.v3"),
    "keras": ("keras.engine.training", "keras.src.engine.training", "keras.src.trainers.trainer",
              "keras.src.backend.tensorflow.trainer"),
    "numpy": ("numpy",),
    "onnxruntime": ("onnxruntime.capi.onnxruntime_inference_collection",),
    "opencv": ("cv2",),
    "openvino": ("openvino.runtime.ie_api", "openvino._ov_api"),
    "pillow": ("PIL.Image", "PIL.ImageFile", "PIL.ImageOps"),
    "queues": ("queue", "multiprocessing.queues", "multiprocessing.pool"),
    "skimage": ("skimage.io._io", "skimage.transform._warps", "skimage.transform.pyramids", "skimage.color.colorconv",
                "skimage.exposure.exposure", "skimage.filters._gaussian", "skimage.filters.thresholding",
                "skimage.measure._label", "skimage.measure._regionprops"),
    "tflite": ("tensorflow.lite.python.interpreter", "tflite_runtime.interpreter", "ai_edge_litert.interpreter"),
    "torch": ("torch.nn.modules.module", "torch.utils.data.dataloader", "torch.utils.data._utils.fetch"),
    "torchvision": ("torchvision.transforms.transforms", "torchvision.transforms.v2._transform",
                    "torchvision.transforms.functional", "torchvision.transforms.v2.functional",
                    "torchvision.io.image", "torchvision.io.video", "torchvision.ops.boxes"),
    "ultralytics": ("ultralytics.engine.predictor",),
    "zarr": ("zarr.core", "zarr.core.array"),
}
MODULES = {module: library for library, modules in LIBRARIES.items() for module in modules}
