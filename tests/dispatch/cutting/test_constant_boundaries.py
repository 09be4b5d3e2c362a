"""Values known at compile time do not cross the cut, and no inference copies them between subgraphs."""

import numpy as np
import pytest

from hetero import Constant, Model, Parameter, Type, ops
from hetero.ops.sequence.sequences import SequenceAt, SequenceConstruct, SequenceInsert, SequenceLength
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
        ({"product": "B"}, "B", set()),
        ({"convert": "B", "negative": "A", "product": "B"}, "B", {"convert", "negative"}),
        ({"convert": "A", "product": "B"}, "B", {"convert"}),
        ({"negative": "B", "product": "B"}, "B", set()),
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


def compressed(kind: str, index: int):
    """Return weights of [8, 8] that are stored compressed, and the numbers that they stand for."""
    integers = np.random.default_rng(index).integers(-7, 7, [8, 8])
    if kind == "f16":
        return ops.Convert(ops.Constant((integers / 64).astype(np.float16)), Type.f32), integers / 64
    scaled = ops.Subtract(ops.Convert(ops.Constant(integers.astype(np.int8)), Type.f32), np.float32(2))
    return ops.Multiply(scaled, np.float32(1 / 64)), (integers - 2) / 64


@pytest.mark.parametrize("kind", ["f16", "i8"])
def test_each_subgraph_decompresses_the_weights_that_it_reads(kind):
    """x → product → sin → product → sin → product with the first weights, where B runs sin."""
    x = Parameter(Type.f32, [1, 8], name="x")
    weights, arrays = zip(compressed(kind, 0), compressed(kind, 1))
    value, numbers = x, np.linspace(-1, 1, 8, dtype=np.float32).reshape(1, 8)
    expected = numbers.astype(np.float64)
    for index in (0, 1, 0):
        value = ops.Sin(ops.MatMul(value, weights[index], False, False))
        expected = np.sin(expected @ arrays[index])
    devices = {"A": PickyPlugin(lambda node: node.type_info.name != "Sin"), "B": PickyPlugin()}
    compiled = core_with(**devices).compile_model(Model([value], [x]), "HETERO:A,B")
    report = compiled.get_property("PLACEMENT_REPORT")
    assert [s.device for s in report.subgraphs] == ["A", "B"] * 3
    assert [boundary.byte_size for boundary in report.boundaries] == [32] * 5
    assert not [o for o in report.operations if o.reason == "known when compiled"]
    np.testing.assert_allclose(compiled(numbers)[0], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["f16", "i8"])
def test_weights_are_decompressed_where_they_are_read(kind):
    """The first device could decompress them, but not multiply by them."""
    x = Parameter(Type.f32, [1, 8], name="x")
    weights, array = compressed(kind, 0)
    product = ops.MatMul(ops.Sin(x), weights, False, False, name="product")
    devices = {"A": PickyPlugin(lambda node: node.type_info.name != "MatMul"), "B": PickyPlugin()}
    compiled = core_with(**devices).compile_model(Model([product], [x]), "HETERO:A,B")
    report = compiled.get_property("PLACEMENT_REPORT")
    assert {o.type_name: o.device for o in report.operations}["Convert"] == "B"
    assert not [o for o in report.operations if o.reason == "known when compiled"]
    numbers = np.linspace(-1, 1, 8, dtype=np.float32).reshape(1, 8)
    np.testing.assert_allclose(compiled(numbers)[0], np.sin(numbers.astype(np.float64)) @ array, rtol=1e-5, atol=1e-5)


def test_a_constant_result_that_others_read_is_computed_once_for_the_results():
    x = Parameter(Type.f32, [4], name="x")
    known = ops.Sqrt(ops.Constant(np.float32([1, 4, 9, 16])), name="known")
    part = Model([ops.Add(x, known, name="add"), known], [x])
    compiled = core_with(A=PickyPlugin(), B=PickyPlugin()).compile_model(
        part, "HETERO:A,B", {"AFFINITIES": {"add": "B", "known": "A"}}
    )
    results = compiled(np.zeros(4, np.float32))
    np.testing.assert_array_equal(results[0], [1, 2, 3, 4])
    np.testing.assert_array_equal(results[1], [1, 2, 3, 4])


def test_constant_sequences_of_another_subgraph():
    """A sequence is no Constant: what is computed of it waits for the subgraph that makes it."""
    numbers = np.float32([[1, 2, 3]])
    made = SequenceInsert(SequenceConstruct([numbers], name="construct"), numbers * 2, np.int64(0), name="insert")
    x = Parameter(Type.f32, [1, 3], name="x")
    total = ops.Add(x, ops.Relu(SequenceAt(made, np.int64(0), name="at"), name="relu"), name="add")
    length = ops.Convert(SequenceLength(made, name="length"), Type.f32)
    pins = {"construct": "B", "insert": "A", "at": "A", "relu": "A", "add": "A", "length": "B"}
    compiled = core_with(A=PickyPlugin(), B=PickyPlugin()).compile_model(
        Model([total, length], [x]), "HETERO:A,B", {"AFFINITIES": pins}
    )
    results = compiled(np.float32([[1, 1, 1]]))
    np.testing.assert_array_equal(results[0], [[3, 5, 7]])
    assert results[1] == 2


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
