"""Compression of weights: errors within a step, which weights are compressed, and what OpenVINO reads."""

import enum

import numpy as np
import openvino
import pytest

import hetero
from hetero import Constant, Model, Parameter, Type, ops
from hetero.core.compressed import PackedArray
from hetero.passes.compression.weight_compression import compress_layers
from hetero.system.errors import GraphError

WORDS, WIDTH, HIDDEN, GROUP = 40, 64, 96, 32
STEPS = {"int8_asym": 255, "int8_sym": 127, "int4_asym": 15, "int4_sym": 7}
draw = np.random.default_rng(39)


def network():
    """Return a table, products with weights in each form, and a head, with their matrices by name."""
    weights = {
        "table": draw.standard_normal((WORDS, WIDTH)),
        "up": draw.standard_normal((HIDDEN, WIDTH)),
        "down": draw.uniform(0, 1, (HIDDEN, WIDTH)),
        "gate": draw.standard_normal((WIDTH, WIDTH)),
        "head": draw.standard_normal((WORDS, WIDTH)),
    }
    weights = {name: array.astype(np.float32) for name, array in weights.items()}
    held = {name: Constant(array, name=name) for name, array in weights.items()}
    ids = Parameter(Type.i64, [-1], name="ids")
    x = ops.Gather(held["table"], ids, np.int64(0))
    x = ops.Relu(ops.MatMul(x, held["up"], False, True, name="layers/up"))
    x = ops.MatMul(x, held["down"], False, False, name="layers/down")
    x = ops.MatMul(x, ops.Transpose(held["gate"], np.array([1, 0])), False, False, name="layers/gate")
    return Model([ops.MatMul(x, held["head"], False, True, name="lm_head")], [ids], "network"), weights


@pytest.mark.parametrize("mode", STEPS)
def test_errors_are_steps_at_most(mode):
    model, weights = network()
    layers = compress_layers(model, mode, group_size=GROUP)
    assert [layer.name for layer in layers] == [*weights]
    for layer in layers:
        matrix = weights[layer.name] if layer.name != "down" else weights["down"].T
        group = GROUP if layer.mode.startswith("int4") else matrix.shape[1]
        (node,) = (node for node in model.get_ordered_ops() if node.friendly_name == layer.name)
        (found,) = hetero.compile_model(Model([node], []), "TEMPLATE")([]).values()
        groups, rounded = (array.astype(np.float64).reshape(len(matrix), -1, group) for array in (matrix, found))
        low, high = np.minimum(groups.min(2), 0), np.maximum(groups.max(2), 0)
        reach = high - low if layer.mode.endswith("_asym") else np.abs(groups).max(2)
        step = (reach / STEPS[layer.mode])[:, :, None]
        # Half a step, and at the ends of a range as much again, as zero points are rounded. Products are in f16.
        most = 1 if layer.mode.endswith("_asym") else 0.5
        assert (np.abs(rounded - groups) <= 1.01 * most * step + 2e-3 * np.abs(groups)).all()
        error = np.sqrt(np.square(rounded - groups).sum() / np.square(groups).sum())
        assert layer.error == pytest.approx(error, rel=0.05)
        least = matrix.nbytes / (4 if layer.mode.startswith("int8") else 8)
        assert layer.bytes_before == matrix.nbytes and least < layer.bytes_after < 1.35 * least


def test_which_weights_are_compressed():
    model, _ = network()
    modes = {layer.name: layer.mode for layer in compress_layers(model, "int4_sym", group_size=GROUP)}
    assert modes == {
        "table": "int8_asym",
        "up": "int4_sym",
        "down": "int4_sym",
        "gate": "int4_sym",
        "head": "int8_asym",
    }
    kinds = [node.contents.element_type for node in model.get_ordered_ops()
             if isinstance(node, Constant) and isinstance(node.contents, PackedArray)]  # fmt: skip
    assert kinds == [Type.i4] * 3


def test_the_ratio_prefers_small_errors():
    errors = {layer.name: layer.error for layer in compress_layers(network()[0], "int4_asym", 1, GROUP)}
    modes = {layer.name: layer.mode for layer in compress_layers(network()[0], "int4_asym", 0.4, GROUP)}
    assert errors["down"] < errors["up"], "its elements have one sign"
    assert (modes["down"], modes["up"]) == ("int4_asym", "int8_asym")


def test_rows_that_are_not_whole_groups_stay_in_8_bits():
    modes = {layer.name: layer.mode for layer in compress_layers(network()[0], "int4_asym", group_size=64)}
    assert (modes["up"], modes["down"]) == ("int4_asym", "int8_asym")


@pytest.mark.parametrize("pattern", ["up", "layers/*"])
def test_ignored_scope(pattern):
    model, weights = network()
    names = {layer.name for layer in compress_layers(model, ignored_scope=[pattern])}
    assert names == {"table", "head"} | ({"down", "gate"} if pattern == "up" else set())
    assert any(isinstance(node, Constant) and np.array_equal(node.data, weights["up"]) for node in model.get_ops())


@pytest.mark.parametrize("mode", STEPS)
@pytest.mark.parametrize("device", ["TEMPLATE", "GPU", "HETERO:ONEDNN,TEMPLATE"])
def test_openvino_reads_the_same(mode, device, tmp_path):
    model, _ = network()
    compressed = hetero.compress_weights(model, mode, group_size=GROUP)
    assert all(not isinstance(node, ops.Convert) for node in model.get_ops()), "the model itself stays"
    hetero.save_model(compressed, tmp_path / "model.xml")
    exact = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0}
    ids = draw.integers(0, WORDS, 7)
    (wanted,) = openvino.compile_model(tmp_path / "model.xml", "CPU", exact)(ids).values()
    (found,) = hetero.compile_model(tmp_path / "model.xml", device)(ids).values()
    np.testing.assert_allclose(found, wanted, atol=2e-3 * np.abs(wanted).max())


def test_enumerations_are_modes():
    mode = enum.Enum("CompressWeightsMode", {"INT8_SYM": "int8_sym"}).INT8_SYM
    assert {layer.mode for layer in compress_layers(network()[0], mode)} == {"int8_sym"}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"mode": "int3"}, "compressed to 'int3': the modes are int8_asym, int8_sym, int4_asym, int4_sym"),
        ({"ratio": 1.5}, "the ratio must be between 0 and 1, but is 1.5"),
        ({"group_size": 12}, "the group size must be a multiple of 8, but is 12"),
    ],
)
def test_wrong_parameters(arguments, problem):
    with pytest.raises(GraphError, match=problem):
        hetero.compress_weights(network()[0], **arguments)
