"""Features of Resize that Interpolate lacks, against ONNX's reference.

ONNX Runtime drops the fraction of a resized length where it computes corners, and smooths as Pillow does.
"""

import numpy as np
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from hetero.frontend.onnx import OnnxFrontEnd
from hetero.system.errors import HeteroError
from tests.frontend.onnx.compare import assert_close, make_model, run_reference

IMAGE = np.random.default_rng(0).standard_normal((1, 2, 6, 5), dtype=np.float32)
FRACTIONS, SIZES = np.float32([1, 1, 0.6, 1.7]), np.array([1, 2, 4, 9])
MODES = ("nearest", "linear", "cubic")
CASES = [
    *[({"scales": FRACTIONS}, {"mode": mode, "coordinate_transformation_mode": how})
      for mode in MODES for how in ("align_corners", "half_pixel_symmetric")],
    *[({"sizes": SIZES}, {"mode": mode, "coordinate_transformation_mode": "half_pixel_symmetric"}) for mode in MODES],
    *[(target, {"mode": mode, "antialias": 1, "exclude_outside": outside}) for mode in ("linear", "cubic")
      for target in ({"scales": FRACTIONS}, {"sizes": SIZES}) for outside in (0, 1)],
    *[({"scales": FRACTIONS}, {"mode": "cubic", "exclude_outside": 1, "cubic_coeff_a": -0.5,
                               "coordinate_transformation_mode": how}) for how in ("half_pixel", "asymmetric")],
    *[({"sizes": SIZES, "roi": np.float32([0, 0, *starts, 1, 1, *ends])},
       {"mode": mode, "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 7.0})
      for mode in MODES for starts, ends in (((0.25, 0.1), (0.9, 0.7)), ((-0.5, 0.5), (1.2, 1.5)))],
    *[({"sizes": np.array(sizes)}, {"mode": mode, "axes": axes, "keep_aspect_ratio_policy": policy})
      for mode in ("nearest", "linear") for sizes, axes in (([9, 7], [2, 3]), ([3, 4], [3, 2]))
      for policy in ("not_larger", "not_smaller")],
    ({"sizes": np.array([1, 2, 1, 1])}, {"mode": "linear", "coordinate_transformation_mode": "align_corners",
                                         "exclude_outside": 1}),
]  # fmt: skip


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize(("inputs", "attributes"), CASES, ids=str)
def test_like_the_reference(inputs, attributes, dynamic):
    names = ["x", *(name if name in inputs else "" for name in ("roi", "scales", "sizes"))]
    fed = {"x": IMAGE, **inputs}
    node = helper.make_node("Resize", names, ["y"], **attributes)
    model = make_model([node], fed, opset=19, shapes={"x": ["a", "b", "c", "d"]} if dynamic else {})
    known = make_model([node], {"x": IMAGE}, initializers=inputs, opset=19)
    expected = {"y": ReferenceEvaluator(model).run(None, fed)[0].astype(np.float32)}
    for proto, arrays in ((model, fed), (known, {"x": IMAGE})):
        assert_close(run_reference(OnnxFrontEnd().convert(proto), arrays), expected)


def test_integers_are_rounded_and_saturated():
    image = np.array([[0, 255, 0, 255, 255]], np.uint8)
    node = helper.make_node("Resize", ["x", "", "s"], ["y"], mode="cubic", exclude_outside=1)
    model = make_model([node], {"x": image}, initializers={"s": np.float32([1, 2])}, opset=19)
    found = run_reference(OnnxFrontEnd().convert(model), {"x": image})["y"]
    exact = make_model([node], {"x": image.astype(np.float32)}, initializers={"s": np.float32([1, 2])}, opset=19)
    wanted = run_reference(OnnxFrontEnd().convert(exact), {"x": image.astype(np.float32)})["y"]
    np.testing.assert_array_equal(found, np.clip(np.round(wanted), 0, 255).astype(np.uint8))


def test_tf_crop_and_resize_needs_a_roi():
    node = helper.make_node("Resize", ["x", "", "s"], ["y"], coordinate_transformation_mode="tf_crop_and_resize")
    model = make_model([node], {"x": IMAGE}, initializers={"s": FRACTIONS}, opset=19)
    with pytest.raises(HeteroError, match="input 1 is missing"):
        OnnxFrontEnd().convert(model)
