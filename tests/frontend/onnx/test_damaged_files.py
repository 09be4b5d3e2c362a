"""Damaged and malicious ONNX files are read or refused with a message, fast and with little memory."""

import functools

import numpy as np
import onnx
import pytest
from onnx import AttributeProto, TensorProto, helper, numpy_helper

import hetero
from hetero.frontend.onnx import OnnxFrontEnd
from hetero.system.errors import FrontendError


def constant(name, value):
    return numpy_helper.from_array(np.array(value), name)


def branch(name, operation):
    """Return a body of one operation on the outer value r."""
    result = helper.make_tensor_value_info(f"{name}_out", TensorProto.FLOAT, None)
    return helper.make_graph([helper.make_node(operation, ["r"], [result.name])], name, [], [result])


@functools.cache
def sample() -> bytes:
    """A model with operators of each kind: windows, shapes, indices, quantized numbers, bodies, a function, strings."""
    loop = helper.make_graph(
        [helper.make_node("Identity", ["more"], ["again"]), helper.make_node("Relu", ["state"], ["next"])],
        "loop",
        [
            helper.make_tensor_value_info("number", TensorProto.INT64, []),
            helper.make_tensor_value_info("more", TensorProto.BOOL, []),
            helper.make_tensor_value_info("state", TensorProto.FLOAT, None),
        ],
        [onnx.ValueInfoProto(name=name) for name in ("again", "next", "state")],
    )
    make = helper.make_node
    nodes = [
        make("Conv", ["x", "filters", "bias"], ["c"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2], group=2),
        make("MaxPool", ["c"], ["p"], kernel_shape=[2, 2], strides=[1, 1], ceil_mode=1),
        make("Shape", ["p"], ["shape"]),
        make("Reshape", ["p", "flat"], ["r"], allowzero=0),
        make("Concat", ["shape", "flat"], ["joined"], axis=0),
        make("Slice", ["p", "zero", "two", "axis"], ["s"]),
        make("Gather", ["s", "zero"], ["g"], axis=1),
        make("Transpose", ["g"], ["t"], perm=[3, 2, 1, 0]),
        make("Resize", ["p", "", "scales"], ["resized"], mode="linear"),
        make("ConstantOfShape", ["two"], ["filled"], value=constant("", np.float32([1]))),
        make("Range", ["start", "stop", "start"], ["places"]),
        make("Expand", ["filled", "flat"], ["expanded"]),
        make("Tile", ["filled", "two"], ["tiled"]),
        make("OneHot", ["places", "stop", "hot"], ["onehot"], axis=-1),
        make("QuantizeLinear", ["p", "scale"], ["q"]),
        make("DequantizeLinear", ["q", "scale"], ["d"]),
        make("TopK", ["r", "two"], ["best", "where"], axis=1),
        make("Split", ["r"], ["half", "other"], num_outputs=2, axis=0),
        make("If", ["yes"], ["chosen"], then_branch=branch("then", "Relu"), else_branch=branch("else", "Exp")),
        make("Loop", ["trips", "yes", "r"], ["last", "all"], body=loop),
        make("SequenceConstruct", ["r", "half"], ["sequence"]),
        make("SequenceAt", ["sequence", "start"], ["item"]),
        make("Twice", ["item"], ["doubled"], domain="local", factor=2.0),
        make("LSTM", ["lstm_x", "lstm_w", "lstm_r"], ["lstm_y"], hidden_size=3, direction="forward"),
        make("Einsum", ["filled", "filled"], ["e"], equation="i,j->ij"),
        make("Cast", ["r"], ["cast"], to=TensorProto.INT4),
        make("StringNormalizer", ["words"], ["lower"], case_change_action="LOWER", stopwords=["a"]),
    ]  # fmt: skip
    factor = AttributeProto(name="value_float", ref_attr_name="factor", type=AttributeProto.FLOAT)
    constant_node = make("Constant", [], ["factor"])
    constant_node.attribute.append(factor)
    twice = helper.make_function(
        "local", "Twice", ["a"], ["b"], [constant_node, make("Mul", ["a", "factor"], ["b"])],
        [helper.make_opsetid("", 18)], ["factor"],
    )  # fmt: skip
    tensors = {
        "filters": np.ones((4, 2, 3, 3), np.float32), "bias": np.ones(4, np.float32), "flat": np.int64([4, -1]),
        "zero": np.int64([0]), "two": np.int64([2, 2])[:1], "axis": np.int64([1]), "start": np.int64(1),
        "stop": np.int64(7), "hot": np.float32([0, 1]), "scale": np.float32(0.1), "trips": np.int64(3),
        "yes": np.array(True), "scales": np.float32([1, 1, 2, 2]), "lstm_x": np.ones((2, 1, 4), np.float32),
        "lstm_w": np.ones((1, 12, 4), np.float32), "lstm_r": np.ones((1, 12, 3), np.float32),
        "words": np.array(["A", "b"], object),
    }  # fmt: skip
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 16, "width"])],
        [onnx.ValueInfoProto(name=name) for name in ("t", "resized", "expanded", "all", "doubled", "lstm_y", "lower")],
        [numpy_helper.from_array(array, name) for name, array in tensors.items()],
    )
    domains = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    return helper.make_model(graph, opset_imports=domains, ir_version=10, functions=[twice]).SerializeToString()


def test_the_sample_is_read():
    model = OnnxFrontEnd().convert(sample())
    assert len(model.outputs) == 7


def test_truncated():
    content = sample()
    for length in range(1, len(content) - 1, 61):
        with pytest.raises(FrontendError, match="the ONNX model"):
            OnnxFrontEnd().convert(content[:length])


def test_a_name_that_is_not_text():
    """A longer name covers the bytes of other fields."""
    with pytest.raises(FrontendError, match="reads .all., which no operator before it computes"):
        OnnxFrontEnd().convert(sample().replace(b"\x04last", b"\x18last"))


def test_errors_at_run_time_have_messages():
    """Sizes of huge tensors are refused when the model is read or when it runs."""
    shape = helper.make_node("ConstantOfShape", ["shape"], ["y"])
    graph = helper.make_graph(
        [shape], "g", [], [onnx.ValueInfoProto(name="y")], [constant("shape", [1 << 40, 1 << 20])]
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    with pytest.raises(hetero.HeteroError, match="1099511627776"):
        hetero.Core().compile_model(proto, "TEMPLATE")([])


@pytest.mark.parametrize("kind", ["tensor", "attribute"])
def test_one_long_string_does_not_fill_the_memory(kind):
    """numpy allocates the size of the longest string for each element: here 30 GB."""
    texts = [b"x" * 220_000, *[b"y"] * 35_000]
    tensor = TensorProto(name="c", data_type=TensorProto.STRING, dims=[len(texts)], string_data=texts)
    node = helper.make_node("Constant", [], ["y"], name="n")
    value = {"value": tensor} if kind == "tensor" else {"value_strings": texts}
    node.attribute.extend(helper.make_attribute(name, item) for name, item in value.items())
    graph = helper.make_graph([node], "g", [], [onnx.ValueInfoProto(name="y")])
    content = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]).SerializeToString()
    assert len(content) < 440_000
    with pytest.raises(FrontendError, match="35001 strings of up to 220000 characters take 30,800,880,000 bytes"):
        OnnxFrontEnd().convert(content)
