"""Normalization operators against ONNX Runtime."""

import numpy as np
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from hetero.frontend.onnx import OnnxFrontEnd
from hetero.system.errors import FrontendError
from tests.frontend.onnx.compare import assert_close, make_model, run_onnxruntime, run_reference


def random(*shape, dtype=np.float32):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)


X = random(2, 6, 4, 5)
ZEROS = np.zeros((2, 3), np.float32)

# Operator, operator set, inputs, outputs and attributes.
CASES = [
    *[("LRN", opset, [X], 1, {"size": size, **numbers}) for opset in (1, 13) for size in (1, 3, 5)
      for numbers in ({}, {"alpha": 0.3, "beta": 0.5, "bias": 2.0})],
    *[("LpNormalization", opset, [X], 1, {"p": p, "axis": axis}) for opset in (1, 22) for p in (1, 2)
      for axis in (0, 2, -1)],
    ("LpNormalization", 22, [ZEROS], 1, {"p": 1}),
    ("LpNormalization", 22, [ZEROS], 1, {}),
    *[("LayerNormalization", 17, [X, random(*X.shape[axis:]), *bias], outputs, {"axis": axis})
      for axis in (1, -1) for outputs in (1, 3) for bias in ([], [random(*X.shape[axis:])])],
    ("LayerNormalization", 17, [X.astype(np.float16), random(5, dtype=np.float16)], 3, {"epsilon": 0.1}),
    *[("GroupNormalization", 18, [X, random(groups), random(groups)], 1, {"num_groups": groups, "epsilon": 0.1})
      for groups in (1, 2, 6)],
    *[("GroupNormalization", 21, [X, random(6), random(6)], 1, {"num_groups": groups}) for groups in (1, 2, 6)],
    *[("RMSNormalization", 23, [X, random(*X.shape[axis:])], 1, {"axis": axis}) for axis in (1, -1)],
    ("RMSNormalization", 23, [X.astype(np.float16), random(5, dtype=np.float16)], 1, {"epsilon": 0.1}),
    *[("InstanceNormalization", opset, [X, random(6), random(6)], 1, {"epsilon": 0.1}) for opset in (6, 22)],
    *[("MeanVarianceNormalization", opset, [X], 1, attributes) for opset in (9, 13)
      for attributes in ({}, {"axes": [1, 3]})],
]  # fmt: skip


def name_of(case):
    op_type, opset, inputs, outputs, attributes = case
    return f"{op_type}-{opset}({len(inputs)} {inputs[0].dtype} to {outputs}, {attributes})"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_results(case):
    op_type, opset, arrays, count, attributes = case
    inputs = {f"x{index}": array for index, array in enumerate(arrays)}
    outputs = [f"y{index}" for index in range(count)]
    node = helper.make_node(op_type, list(inputs), outputs, **attributes)
    expected = None
    for shapes in (None, {"x0": [None] * arrays[0].ndim}):
        model = make_model([node], inputs, outputs, opset=opset, shapes=shapes)
        expected = expected or run_onnxruntime(model, inputs)
        tolerance = 2e-3 if arrays[0].dtype == np.float16 else 1e-5
        assert_close(run_reference(OnnxFrontEnd().convert(model), inputs), expected, tolerance)


def test_an_unknown_norm():
    node = helper.make_node("LpNormalization", ["x"], ["y"], p=3)
    with pytest.raises(FrontendError, match="p must be 1 or 2, but is 3"):
        OnnxFrontEnd().convert(make_model([node], {"x": X}))


@pytest.mark.parametrize(("of_data", "of_scale"), [(np.float16, np.float32), (np.float32, np.float16)])
def test_a_scale_of_another_type(of_data, of_scale):
    """Against ONNX's reference evaluator, because ONNX Runtime needs one type for all."""
    inputs = {"x": random(2, 6, 8, dtype=of_data), "scale": random(8, dtype=of_scale)}
    model = make_model([helper.make_node("RMSNormalization", list(inputs), ["y"])], inputs, opset=23)
    (expected,) = ReferenceEvaluator(model).run(["y"], inputs)
    found = run_reference(OnnxFrontEnd().convert(model), inputs)["y"]
    assert found.dtype == of_scale
    np.testing.assert_allclose(found, expected.astype(of_scale), rtol=2e-3, atol=2e-3)
