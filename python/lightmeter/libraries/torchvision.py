# SPDX-License-Identifier: Apache-2.0
"""torchvision: transforms of both generations, image files, and operators on boxes."""
from lightmeter._shim import FOLD_SHORT

GEOMETRY = ("resize crop center_crop resized_crop pad hflip vflip five_crop ten_crop rotate affine perspective "
            "horizontal_flip vertical_flip gaussian_blur")
VALUES = "to_tensor pil_to_tensor normalize convert_image_dtype to_dtype to_image to_pil_image rgb_to_grayscale"


def wrap(name, module, wrapper):
    if name == "torchvision.transforms.transforms":
        # They are modules of PyTorch, but no inference.
        for kind in list(vars(module).values()):
            if isinstance(kind, type) and kind.__module__ == name and hasattr(kind, "forward"):
                wrapper.inherited(kind, "__call__", "preprocess", flags=FOLD_SHORT,
                                  text=f"torchvision.transforms.{kind.__name__}")
    elif name == "torchvision.transforms.v2._transform":
        wrapper.inherited(module.Transform, "__call__", "preprocess", flags=FOLD_SHORT,
                          text="torchvision.transforms.v2.Transform")
    elif name.endswith("functional"):
        wrapper.functions(module, "preprocess", GEOMETRY, flags=FOLD_SHORT)
        wrapper.functions(module, "convert", VALUES, flags=FOLD_SHORT)
    elif name == "torchvision.io.image":
        wrapper.functions(module, "decode", "read_image decode_image decode_jpeg decode_png decode_webp")
        wrapper.functions(module, "encode", "write_jpeg write_png encode_jpeg encode_png")
        wrapper.function(module, "read_file", "load")
    elif name == "torchvision.io.video":
        wrapper.function(module, "read_video", "decode")
    else:
        wrapper.functions(module, "postprocess", "nms batched_nms box_iou clip_boxes_to_image remove_small_boxes",
                          flags=FOLD_SHORT)
