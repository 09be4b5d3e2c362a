"""Sequences and optional values, from the file to the results, against ONNX Runtime."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import hetero
from hetero.core.containers import OptionalType, SequenceType, enclosing_type

X = np.arange(12, dtype=np.float32).reshape(2, 6)
Y = -X[:, :3]
SEQUENCE = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
OPTIONAL = helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
INT = {name: np.array(value, np.int64) for name, value in {"zero": 0, "one": 1, "last": -1, "parts": [4, 2]}.items()}
# Nodes that make "out" of the tensors x and y, the sequence s = [x, y] and the optional o.
CASES = {
    "construct": [("SequenceConstruct", ["x", "y", "x"], {})],
    "insert at the end": [("SequenceInsert", ["s", "x"], {})],
    "insert at the front": [("SequenceInsert", ["s", "y", "zero"], {})],
    "insert before the last": [("SequenceInsert", ["s", "x", "last"], {})],
    "erase the last": [("SequenceErase", ["s"], {})],
    "erase the first": [("SequenceErase", ["s", "zero"], {})],
    "at": [("SequenceAt", ["s", "one"], {})],
    "at the end": [("SequenceAt", ["s", "last"], {}), ("Neg", ["out"], {})],
    "length": [("SequenceErase", ["s"], {}), ("SequenceLength", ["out"], {})],
    "empty": [("SequenceEmpty", [], {"dtype": TensorProto.FLOAT}), ("SequenceInsert", ["out", "x"], {})],
    "split in ones": [("SplitToSequence", ["x"], {"axis": 1})],
    "split in ones without the axis": [("SplitToSequence", ["x"], {"axis": 1, "keepdims": 0})],
    "split by lengths": [("SplitToSequence", ["x", "parts"], {"axis": -1})],
    "split by one length": [("SplitToSequence", ["x", "one"], {"axis": 0})],
    "join": [("ConcatFromSequence", ["s"], {"axis": 1})],
    "join on a new axis": [
        ("SplitToSequence", ["x"], {"axis": 1, "keepdims": 0}),
        ("ConcatFromSequence", ["out"], {"axis": -1, "new_axis": 1}),
    ],
    "optional": [("Optional", ["x"], {}), ("OptionalGetElement", ["out"], {})],
    "has": [("OptionalHasElement", ["o"], {})],
    "get": [("OptionalGetElement", ["o"], {}), ("Neg", ["out"], {})],
}


def make_model(nodes) -> onnx.ModelProto:
    """Return a model of a chain of nodes. "out" is the result of the previous node, and of the model."""
    made = []
    for index, (kind, inputs, attributes) in enumerate(nodes):
        names = [f"out{index - 1}" if name == "out" else name for name in inputs]
        made.append(helper.make_node(kind, names, [f"out{index}"], **attributes))
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", "columns"]),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", None]),
        helper.make_value_info("s", SEQUENCE),
        helper.make_value_info("o", OPTIONAL),
    ]
    constants = [onnx.numpy_helper.from_array(array, name) for name, array in INT.items()]
    output = onnx.ValueInfoProto(name=f"out{len(nodes) - 1}")
    graph = helper.make_graph(made, "graph", inputs, [output], constants)
    return onnx.shape_inference.infer_shapes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    )


@pytest.mark.parametrize("device", ["TEMPLATE", "HETERO:TEMPLATE"])
@pytest.mark.parametrize("name", CASES)
def test_as_onnxruntime(name, device):
    proto = make_model(CASES[name])
    inputs = {"x": X, "y": Y, "s": [X, Y], "o": X}
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, inputs)
    compiled = hetero.Core().compile_model(proto, device)
    found = compiled(inputs)[0]
    if isinstance(expected, list):
        assert isinstance(found, list)
        assert len(found) == len(expected)
    else:
        found, expected = [found], [expected]
    for ours, theirs in zip(found, expected):
        assert ours.dtype == np.asarray(theirs).dtype
        np.testing.assert_array_equal(ours, theirs)


def test_an_optional_may_be_empty():
    compiled = hetero.Core().compile_model(make_model(CASES["has"]), "TEMPLATE")
    assert not compiled({"x": X, "y": Y, "s": [], "o": None})[0]
    compiled = hetero.Core().compile_model(make_model(CASES["get"]), "TEMPLATE")
    with pytest.raises(hetero.HeteroError, match="OptionalGetElement .* the optional holds nothing"):
        compiled({"x": X, "y": Y, "s": [], "o": None})


@pytest.mark.parametrize(
    ("given", "message"),
    [(3, "takes a list of arrays"), ([X, X.astype(np.int32)], "an item must have the element type f32, but has int32")],
    ids=["no list", "wrong type"],
)
def test_inputs_other_than_sequences_are_refused(given, message):
    compiled = hetero.Core().compile_model(make_model(CASES["erase the last"]), "TEMPLATE")
    with pytest.raises(hetero.HeteroError, match=message):
        compiled({"x": X, "y": Y, "s": given, "o": X})


def test_a_position_that_does_not_exist():
    compiled = hetero.Core().compile_model(make_model(CASES["at"]), "TEMPLATE")
    with pytest.raises(hetero.HeteroError, match="SequenceAt .* position 1 is out of range for a sequence of 1"):
        compiled({"x": X, "y": Y, "s": [X], "o": X})


def test_results_are_the_users_own():
    compiled = hetero.Core().compile_model(make_model(CASES["erase the last"]), "TEMPLATE")
    given = X.copy()
    (result,) = compiled({"x": X, "y": Y, "s": [given, Y], "o": X})[0]
    result[:] = 0
    np.testing.assert_array_equal(given, X)


def test_shapes_of_items_are_followed():
    model = hetero.Core().read_model(make_model(CASES["split in ones without the axis"]))
    assert str(model.output(0).element_type) == "sequence(f32[?])"
    model.reshape({"x": [2, 6], "y": [2, 3]})
    assert str(model.output(0).element_type) == "sequence(f32[2])"


def test_a_sequence_takes_no_tensor_of_another_type():
    node = helper.make_node("SequenceConstruct", ["x", "one"], ["out0"])
    proto = make_model(CASES["construct"])
    proto.graph.node[0].CopyFrom(node)
    with pytest.raises(hetero.HeteroError, match="a sequence of f32 cannot take a tensor of i64"):
        hetero.Core().read_model(proto)


def test_the_type_that_encloses_two():
    f32, i64 = hetero.Type.f32, hetero.Type.i64
    assert enclosing_type(f32, i64) is hetero.Type.dynamic
    two, three, matrix = (hetero.PartialShape(shape) for shape in ([2], [3], [2, 3]))
    assert str(enclosing_type(SequenceType(f32, two), SequenceType(f32, three))) == "sequence(f32[2..3])"
    assert str(enclosing_type(OptionalType(f32, two), OptionalType(f32, matrix))) == "optional(f32[...])"
