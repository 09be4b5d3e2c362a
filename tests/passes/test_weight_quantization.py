"""Compression of constants under FakeQuantize, against OpenVINO's transformation."""

import numpy as np
import openvino
import pytest
from openvino._offline_transformations import compress_quantize_weights_transformation as their_transformation

import hetero
from hetero._offline_transformations import apply_fused_names_cleanup, compress_quantize_weights_transformation

RNG = np.random.default_rng(0)
WEIGHTS = RNG.standard_normal((4, 6)).astype(np.float32)
LARGEST = np.abs(WEIGHTS).max()
BY_ROW = np.abs(WEIGHTS).max(axis=1, keepdims=True)
CASES = {
    "symmetric": (255, -LARGEST, LARGEST, -LARGEST, LARGEST),
    "256 levels": (256, -LARGEST, LARGEST * 127 / 128, -LARGEST, LARGEST * 127 / 128),
    "zero point": (256, WEIGHTS.min(), WEIGHTS.max(), WEIGHTS.min(), WEIGHTS.max()),
    "by row": (255, -BY_ROW, BY_ROW, -BY_ROW, BY_ROW),
    "4 bits": (16, -BY_ROW, BY_ROW, -BY_ROW, BY_ROW),
    "15 levels": (15, -BY_ROW, BY_ROW, -BY_ROW, BY_ROW),
    "values are cut": (255, -BY_ROW / 2, BY_ROW / 3, -BY_ROW / 2, BY_ROW / 3),
    "other outputs": (255, -BY_ROW, BY_ROW, -2 * BY_ROW, 3 * BY_ROW),
    "swapped": (255, BY_ROW, -BY_ROW, -BY_ROW, BY_ROW),
    "2 levels": (2, -BY_ROW, BY_ROW, -BY_ROW, BY_ROW),
    "512 levels": (512, -BY_ROW, BY_ROW, -BY_ROW, BY_ROW),
}


def model(ov, levels, ranges, is_half=False):
    ops = __import__(f"{ov.__name__}.opset13", fromlist=["opset13"])
    weights = ops.constant(WEIGHTS.astype(np.float16) if is_half else WEIGHTS)
    bounds = [ops.constant(np.float32(bound)) for bound in ranges]
    quantized = ops.fake_quantize(ops.convert(weights, "f32") if is_half else weights, *bounds, levels)
    quantized.friendly_name = "weights"
    x = ops.parameter([2, 6], np.float32)
    return ov.Model([ops.matmul(x, quantized, False, True)], [x], "quantized")


def contents(model):
    """Return the operations, and the arrays that are stored, in order."""
    nodes = [node for node in model.get_ordered_ops() if node.get_type_name() not in ("Parameter", "Result", "MatMul")]
    kinds = sorted((node.get_type_name(), node.output(0).element_type.to_string()) for node in nodes)
    constants = [node for node in nodes if node.get_type_name() == "Constant"]
    arrays = [np.asarray(node.data) for node in sorted(constants, key=lambda n: n.output(0).element_type.to_string())]
    return kinds, sorted(arrays, key=lambda array: (array.size, float(array.astype(np.float64).sum())))


@pytest.mark.parametrize("is_half", [False, True], ids=["f32", "f16"])
@pytest.mark.parametrize("case", [case for case in CASES if case not in ("4 bits", "15 levels")])
def test_stored_values(case, is_half):
    levels, *ranges = CASES[case]
    ours, theirs = model(hetero, levels, ranges, is_half), model(openvino, levels, ranges, is_half)
    compress_quantize_weights_transformation(ours)
    their_transformation(theirs)
    (kinds, arrays), (their_kinds, their_arrays) = contents(ours), contents(theirs)
    assert kinds == their_kinds
    for array, expected in zip(arrays, their_arrays, strict=True):
        np.testing.assert_allclose(array.astype(np.float64), expected.astype(np.float64), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("case", CASES)
def test_results_stay(case, tmp_path):
    levels, *ranges = CASES[case]
    network = model(hetero, levels, ranges)
    x = RNG.standard_normal((2, 6)).astype(np.float32)
    expected = hetero.Core().compile_model(network, "TEMPLATE")(x)[0]
    compress_quantize_weights_transformation(network)
    hetero.save_model(network, tmp_path / "model.xml", compress_to_fp16=False)
    for compiled in (
        hetero.Core().compile_model(network, "TEMPLATE"), openvino.Core().compile_model(tmp_path / "model.xml", "CPU")
    ):  # fmt: skip
        # OpenVINO computes in bf16 on some processors.
        np.testing.assert_allclose(compiled(x)[0], expected, rtol=2e-2, atol=2e-2 * np.abs(expected).max())
    if levels in (15, 16):
        constants = [node for node in network.get_ops() if node.get_type_name() == "Constant"]
        assert "i4" in {node.get_element_type().to_string() for node in constants}


def test_a_constant_output_stays():
    network = model(hetero, 255, (0, 0, 3, 3))
    compress_quantize_weights_transformation(network)
    assert "FakeQuantize" in {node.get_type_name() for node in network.get_ops()}


def test_names_of_fused_operations_are_removed():
    network = model(hetero, *[CASES["symmetric"][0], CASES["symmetric"][1:]])
    for node in network.get_ops():
        node.rt_info.update({"fused_names_0": "a", "other": "b"})
    apply_fused_names_cleanup(network)
    assert all(set(node.rt_info) == {"other"} for node in network.get_ops())
