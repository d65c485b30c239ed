# SPDX-License-Identifier: Apache-2.0
"""scikit-image: files, geometry, colour, filters, labels."""


def wrap(name, module, wrapper):
    stage, functions = {
        "skimage.io._io": ("decode", "imread imread_collection"),
        "skimage.transform._warps": ("preprocess", "resize rescale rotate warp downscale_local_mean"),
        "skimage.transform.pyramids": ("preprocess", "pyramid_reduce pyramid_expand"),
        "skimage.color.colorconv": ("convert", "rgb2gray rgb2hsv hsv2rgb rgb2lab lab2rgb gray2rgb rgba2rgb rgb2ycbcr"),
        "skimage.exposure.exposure": ("preprocess", "rescale_intensity equalize_hist adjust_gamma"),
        "skimage.filters._gaussian": ("preprocess", "gaussian"),
        "skimage.filters.thresholding": ("postprocess", "threshold_otsu threshold_local threshold_li"),
        "skimage.measure._label": ("postprocess", "label"),
        "skimage.measure._regionprops": ("postprocess", "regionprops regionprops_table"),
    }[name]
    wrapper.functions(module, stage, functions)
    if name == "skimage.io._io":
        wrapper.function(module, "imsave", "encode")
