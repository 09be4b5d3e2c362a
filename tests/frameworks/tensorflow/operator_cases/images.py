"""Resizing, patches, colors, crops and non-maximum suppression."""

import numpy as np

from tests.frameworks.tensorflow.raw_case import Case, fixed, integers, reals

_CORNERS = [{}, {"align_corners": True}, {"half_pixel_centers": True}]
_BOXES = np.array(
    [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1], [0, 100, 1, 101]],
    np.float32,
)
_SCORES = np.array([0.9, 0.75, 0.6, 0.95, 0.5, 0.3], np.float32)
_HALF, _LOW = fixed(0.5, np.float32), fixed(0.4, np.float32)
_RGB = reals(2, 3, 3, 3, low=0, high=1)
_CROPS = np.array([[0, 0, 1, 1], [0.1, 0.2, 0.8, 0.7], [-0.2, 0, 1.3, 1], [0.9, 0.8, 0.1, 0.2]], np.float32)
_SHARED = np.stack([_BOXES, _BOXES + 0.03])[:, :, None, :]

CASES = [
    *(
        Case(name, [reals(1, 4, 5, 2), fixed(size)], attributes)
        for name in ("ResizeBilinear", "ResizeNearestNeighbor")
        for attributes in _CORNERS
        for size in ([8, 10], [2, 3], [7, 3])
    ),
    *(
        Case("ResizeBicubic", [reals(1, 4, 5, 2), fixed(size)], attributes, tolerance=5e-3)
        for attributes in _CORNERS
        for size in ([8, 10], [3, 7])
    ),
    Case(
        "ResizeBilinear",
        [integers(1, 4, 4, 3, low=0, high=255, dtype=np.uint8), fixed([6, 6])],
        {"half_pixel_centers": True},
    ),
    Case("ResizeNearestNeighbor", [integers(1, 4, 4, 3, low=0, high=255, dtype=np.uint8), fixed([6, 6])]),
    Case("ResizeBilinear", [reals(1, 4, 4, 3), np.array([5, 6], np.int32)]),
    *(
        Case(
            "ExtractImagePatches",
            [reals(1, 6, 7, 2)],
            {"ksizes": [1, 3, 2, 1], "strides": [1, 2, 1, 1], "rates": [1, rate, 1, 1], "padding": padding},
        )
        for rate, padding in ((1, "VALID"), (2, "SAME"), (1, "SAME"))
    ),
    *(
        Case(
            "MaxPoolWithArgmax",
            [reals(2, 5, 6, 3)],
            {"ksize": [1, 2, 3, 1], "strides": [1, stride, 2, 1], "padding": padding, **attributes},
        )
        for stride, padding in ((2, "VALID"), (1, "SAME"))
        for attributes in ({}, {"include_batch_in_index": True, "Targmax": "tf.int32"})
    ),
    Case("AdjustContrastv2", [_RGB, fixed(1.7, np.float32)]),
    Case("AdjustContrastv2", [_RGB[0], np.float32(0.3)]),
    Case("AdjustSaturation", [_RGB, fixed(1.7, np.float32)]),
    Case("AdjustSaturation", [_RGB[0], np.float32(0.2)]),
    Case("AdjustHue", [_RGB, fixed(0.3, np.float32)]),
    Case("AdjustHue", [_RGB[0], np.float32(-0.4)]),
    Case("RGBToHSV", [_RGB]),
    Case("RGBToHSV", [np.array([[0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.2], [0.1, 0.5, 0.5]], np.float32)]),
    Case("HSVToRGB", [_RGB]),
    *(
        Case("CropAndResize", [reals(2, 5, 6, 3), _CROPS, np.array([0, 1, 1, 0], np.int32), fixed(size)], attributes)
        for size in ([3, 4], [1, 1])
        for attributes in ({}, {"method": "nearest"}, {"extrapolation_value": 7.0})
    ),
    Case("NonMaxSuppression", [_BOXES, _SCORES, fixed(3)], {"iou_threshold": 0.5}),
    Case("NonMaxSuppressionV2", [_BOXES, _SCORES, fixed(3), _HALF]),
    Case("NonMaxSuppressionV3", [_BOXES, _SCORES, fixed(3), _HALF, _LOW]),
    Case("NonMaxSuppressionV3", [_BOXES, _SCORES, np.int32(10), np.float32(0.5), np.float32(0.0)]),
    *(
        Case("NonMaxSuppressionV4", [_BOXES, _SCORES, fixed(5), _HALF, _LOW], {"pad_to_max_output_size": pads})
        for pads in (False, True)
    ),
    *(
        Case(
            "NonMaxSuppressionV5",
            [_BOXES, _SCORES, fixed(5), _HALF, _LOW, fixed(sigma, np.float32)],
            {"pad_to_max_output_size": pads},
        )
        for pads, sigma in ((False, 0), (True, 0), (False, 0.5))
    ),
    *(
        Case(
            "CombinedNonMaxSuppression",
            [_SHARED, reals(2, 6, 3, low=0, high=1), fixed(2), fixed(total), _HALF, fixed(0.2, np.float32)],
            {"pad_per_class": per_class, "clip_boxes": clips},
        )
        for total, per_class, clips in ((5, False, True), (10, False, False), (100, True, False))
    ),
    Case(
        "CombinedNonMaxSuppression",
        [np.repeat(_SHARED, 3, 2), reals(2, 6, 3, low=0, high=1), fixed(3), fixed(4), _HALF, fixed(0.2, np.float32)],
    ),
    *(
        Case("ResizeArea", [reals(1, 6, 7, 2), fixed(size)], {"align_corners": aligned}, is_static=True)
        for size in ([3, 4], [9, 8])
        for aligned in (False, True)
    ),
    *(
        Case(
            "ScaleAndTranslate",
            [reals(1, 6, 7, 2), fixed(size), fixed(scale, np.float32), fixed(move, np.float32)],
            {"kernel_type": kernel, "antialias": antialias},
            is_static=True,
        )
        for kernel in ("lanczos1", "lanczos3", "lanczos5", "gaussian", "triangle", "keyscubic", "mitchellcubic")
        for antialias, size, scale, move in ((True, [3, 4], [0.5, 0.6], [0, 0]), (False, [9, 8], [1.5, 1.1], [0.5, -1]))
    ),
    *(
        Case("NonMaxSuppressionV5", [_BOXES, _SCORES, fixed(5), fixed(overlap, np.float32), _LOW, _HALF])
        for overlap in (0, 0.1)
    ),
]
