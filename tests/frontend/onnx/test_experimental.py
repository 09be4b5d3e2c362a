"""Operators that ONNX removed, against ONNX Runtime, which still runs them."""

import numpy as np
import onnxruntime
import pytest
from onnx import helper

from hetero.frontend.onnx import OnnxFrontEnd
from hetero.system.errors import FrontendError
from tests.frontend.onnx.compare import assert_close, make_model, run_reference

IMAGE = np.random.default_rng(2).standard_normal((2, 3, 6, 7)).astype(np.float32)

CASES = [
    ("Affine", {"alpha": 2.0, "beta": 0.5}),
    ("ParametricSoftplus", {"alpha": 2.0, "beta": 0.5}),
    ("ScaledTanh", {"alpha": 2.0, "beta": 0.5}),
    ("Scale", {"scale": 3.0}),
    ("ThresholdedRelu", {"alpha": 0.5}),
    ("ImageScaler", {"scale": 2.0, "bias": [1.0, 2.0, 3.0]}),
    ("Crop", {"border": [1, 0, 2, 3]}),
    ("Crop", {"border": [1, 2, 0, 0], "scale": [3, 2]}),
    *[
        ("MeanVarianceNormalization", {"across_channels": across, "normalize_variance": normalize})
        for across in (0, 1)
        for normalize in (0, 1)
    ],
]


def model_of(op_type, attributes):
    return make_model([helper.make_node(op_type, ["x"], ["y"], **attributes)], {"x": IMAGE}, opset=7)


@pytest.mark.parametrize(("op_type", "attributes"), CASES)
def test_operators(op_type, attributes):
    model = model_of(op_type, attributes)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    model.graph.output[0].type.tensor_type.elem_type = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    expected = session.run(None, {"x": IMAGE})[0]
    assert_close(run_reference(OnnxFrontEnd().convert(model.SerializeToString()), {"x": IMAGE}), {"y": expected})


def test_dynamic_slice():
    inputs = {"x": IMAGE, "starts": np.int64([1, 2]), "ends": np.int64([2, 99]), "axes": np.int64([0, 3])}
    model = make_model([helper.make_node("DynamicSlice", list(inputs), ["y"])], inputs, opset=7)
    found = run_reference(OnnxFrontEnd().convert(model.SerializeToString()), inputs)
    np.testing.assert_array_equal(found["y"], IMAGE[1:2, :, :, 2:])


def test_a_border_of_two_numbers():
    with pytest.raises(FrontendError, match="border must be four numbers"):
        OnnxFrontEnd().convert(model_of("Crop", {"border": [1, 2]}).SerializeToString())
