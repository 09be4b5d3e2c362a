"""Values known at compile time are Constants after the cut, and no inference computes or copies them."""

import numpy as np
import pytest

from hetero import Constant, Model, Parameter, Type, ops
from tests.devices import PickyPlugin, core_with

WEIGHTS = np.linspace(-1, 1, 2048 * 1024, dtype=np.float16).reshape(2048, 1024)  # 4 MB, and twice that in f32


def model() -> Model:
    """x times weights stored in half precision."""
    x = Parameter(Type.f32, [1, 2048], name="x")
    weights = ops.Negative(ops.Convert(ops.Constant(WEIGHTS), Type.f32, name="convert"), name="negative")
    return Model([ops.MatMul(x, weights, False, False, name="product")], [x], "weights")


@pytest.mark.parametrize(
    ("pins", "subgraphs", "known"),
    [
        ({"product": "B"}, "B", {"convert", "negative"}),
        ({"convert": "B", "negative": "A", "product": "B"}, "B", {"convert", "negative"}),
        ({"negative": "B", "product": "B"}, "B", {"convert"}),
        ({}, "A", set()),
    ],
)
def test_weights_that_another_device_computes(pins, subgraphs, known):
    devices = {"A": PickyPlugin(), "B": PickyPlugin()}
    compiled = core_with(**devices).compile_model(model(), "HETERO:A,B", {"AFFINITIES": pins})
    report = compiled.get_property("PLACEMENT_REPORT")
    assert "".join(s.device for s in report.subgraphs) == subgraphs
    assert {o.name for o in report.operations if o.reason == "known when compiled"} == known
    (part,) = devices[subgraphs].compiled
    assert len(part.inputs) == 1
    x = np.random.default_rng(0).standard_normal([1, 2048]).astype(np.float32)
    np.testing.assert_allclose(compiled(x)[0], x @ -WEIGHTS.astype(np.float32), rtol=1e-4, atol=1e-4)


def test_random_values_are_not_folded():
    """A random value differs in each inference, although it reads only Constants."""
    made = ops.RandomUniform(np.int64([3]), np.float32(0), np.float32(1), "f32", 1, 2, name="random")
    x = Parameter(Type.f32, [3], name="x")
    part = Model([ops.Add(x, made, name="add")], [x], "noise")
    core = core_with(A=PickyPlugin(), B=PickyPlugin())
    compiled = core.compile_model(part, "HETERO:A,B", {"AFFINITIES": {"add": "B"}})
    operations = compiled.get_property("PLACEMENT_REPORT").operations
    assert {o.name: (o.device, o.subgraph) for o in operations} == {"random": ("A", 0), "add": ("B", 1)}


def test_a_value_known_to_shape_inference_is_shared_by_its_readers():
    x = Parameter(Type.f32, [2, 3], name="x")
    shape = ops.ShapeOf(x, name="shape")
    devices = {"A": PickyPlugin(), "B": PickyPlugin()}
    outputs = [ops.Broadcast(np.float32(1), shape, name="one"), ops.Broadcast(np.float32(2), shape, name="two")]
    total = ops.Add(ops.Add(outputs[0], x, name="first"), outputs[1], name="total")
    core_with(**devices).compile_model(Model([total], [x]), "HETERO:A,B", {"AFFINITIES": {"t*": "B"}})
    for device in devices.values():
        (part,) = device.compiled
        assert not [n for n in part.get_ordered_ops() if n.type_info.name == "ShapeOf"]
        assert all(isinstance(n.input_value(1).node, Constant) for n in part.get_ops() if "Broadcast" in n.name)


def test_no_device_needs_to_support_folded_operations():
    x = Parameter(Type.f32, [2, 3], name="x")
    shape = ops.ShapeOf(ops.Relu(x, name="relu"), name="shape")
    flat = Model([ops.Broadcast(x, ops.Add(shape, np.int64([0, 0]), name="sum"), name="wide")], [x])
    device = PickyPlugin(lambda node: node.type_info.name not in ("ShapeOf", "Add", "Broadcast"))
    core = core_with(A=device, B=PickyPlugin(lambda node: node.type_info.name == "Broadcast"))
    compiled = core.compile_model(flat, "HETERO:A,B", {"AFFINITIES": {"sum": "A", "shape": "A"}})
    assert [s.device for s in compiled.get_property("PLACEMENT_REPORT").subgraphs] == ["B"]
    np.testing.assert_array_equal(compiled(np.ones([2, 3], np.float32))[0], np.ones([2, 3]))
