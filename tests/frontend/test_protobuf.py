"""Decoding of protobuf messages, against messages that the protobuf package writes."""

import numpy as np
import onnx
import pytest

from hetero.frontend.protobuf import Schema, WireError, decode

DIMENSION = Schema("Dimension", dim_value=(1, "int"), dim_param=(2, "string"))
SHAPE = Schema("Shape", dim=(1, [DIMENSION]))
TENSOR = Schema("Tensor", dims=(1, ["int"]), data_type=(2, "int"), float_data=(4, ["float"]), name=(8, "string"),
                raw_data=(9, "bytes"), double_data=(10, ["double"]))  # fmt: skip
GRAPH = Schema("Graph")
ATTRIBUTE = Schema("Attribute", name=(1, "string"), f=(2, "float"), i=(3, "int"), g=(6, GRAPH), ints=(8, ["int"]))
GRAPH.extend(node=(1, [Schema("Node", input=(1, ["string"]), op_type=(4, "string"), attribute=(5, [ATTRIBUTE]))]),
             initializer=(5, [TENSOR]))  # fmt: skip


@pytest.fixture
def message():
    body = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "body", [], [])
    node = onnx.helper.make_node("If", ["é", "b"], ["c"], then_branch=body, numbers=[1, -(2**62), 0], factor=0.5)
    tensors = [
        onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [2, 2], np.arange(4, dtype=np.float32).tobytes(), True),
        onnx.helper.make_tensor("v", onnx.TensorProto.DOUBLE, [3], [1.5, -2.0, 3.25]),
    ]
    return onnx.helper.make_graph([node], "graph", [], [], tensors).SerializeToString()


def test_fields(message):
    graph = decode(memoryview(message), GRAPH)
    (node,) = graph.node
    assert node.op_type == "If" and node.input == ["é", "b"]
    found = {one.name: one for one in node.attribute}
    assert found["numbers"].ints == [1, -(2**62), 0] and found["factor"].f == 0.5
    assert found["then_branch"].g.node[0].op_type == "Relu"
    assert found["factor"].which("i", "g", "f") == "f" and not found["factor"].has("i") and found["factor"].i == 0
    w, v = graph.initializer
    assert w.dims == [2, 2] and v.double_data == [1.5, -2.0, 3.25]


def test_bytes_are_views(message):
    data = memoryview(message)
    raw = decode(data, GRAPH).initializer[0].raw_data
    assert raw.obj is data.obj and np.frombuffer(raw, np.float32).tolist() == [0, 1, 2, 3]


def test_maps():
    entry = onnx.StringStringEntryProto(key="k", value="v").SerializeToString()
    data = b"\x0a" + bytes([len(entry)]) + entry
    assert decode(memoryview(data), Schema("M", entries=(1, {"string": "string"}))).entries == {"k": "v"}


@pytest.mark.parametrize("damage", [
    b"\x0a", b"\x0a\xff", b"\x0b", b"\x08" + b"\xff" * 11, b"\x08\x01", b"\x0a\x02\x22\x05", b"\x0a\x01" * 3,
])  # fmt: skip
def test_damage(damage):
    with pytest.raises(WireError):
        decode(memoryview(damage), GRAPH)


def test_every_truncation(message):
    for length in range(len(message)):
        try:
            decode(memoryview(message[:length]), GRAPH)
        except WireError as error:
            assert str(error)


def test_deep_nesting():
    data = b""
    for _ in range(200):
        length = len(data)
        prefix = bytes([length]) if length < 128 else bytes([length & 127 | 128, length >> 7])
        data = b"\x0a" + prefix + data
    schema = Schema("Deep")
    schema.extend(inner=(1, schema))
    with pytest.raises(WireError, match="nested more than 100 deep"):
        decode(memoryview(data), schema)
