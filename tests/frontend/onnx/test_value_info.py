"""Shapes from a file's value_info, for dimensions that inference leaves open."""

import numpy as np
import onnx.parser
import pytest
from onnx import TensorProto, helper

import hetero
from hetero.system.errors import FrontendError
from tests.frontend.onnx.compare import assert_close, run_onnxruntime

# The shape of h is an input, so only a value_info can tell how many heads there are.
ATTEND = "h = Reshape (x, shape) y = Attention (h, h, h)"
BRANCH = f"() => (y) STATED {{ {ATTEND} }}"
LOOP = "(int64 i, bool c) => (d, y) STATED { d = Identity (c) h = Reshape (x, shape) y = Attention (h, h, h) }"
UNKNOWN = "the number of heads must be known"
SHAPES = [(1, 4, 3, 16), (2, 4, 5, 16)]
INPUTS = "float[n, m] x, int64[4] shape, bool c, int64 k"
STATIC = "float[1, 192] x, int64[4] shape, bool c, int64 k"
# What a graph's nodes are, and a function.
PLACES = {
    "graph": (ATTEND, ""),
    "If": (f"y = If (c) <then_branch = g1 {BRANCH}, else_branch = g2 {BRANCH}>", ""),
    "Loop": (f"y = Loop (k, c) <body = g1 {LOOP}>", ""),
    "function": ("y = me.attend (x, shape)", f"attend (x, shape) => (y) STATED {{ {ATTEND} }}"),
}


def model_of(stated: str = "", place: str = "graph", inputs: str = INPUTS) -> onnx.ModelProto:
    """Return a model of multi-head attention, with declared types in the graph that contains its nodes."""
    imports = 'opset_import: ["": 23, "me": 1]'
    nodes, function = PLACES[place]
    text = f"<ir_version: 10, {imports}> g ({inputs}) => (y) {stated if place == 'graph' else ''} {{ {nodes} }}"
    function = f'<domain: "me", {imports}> {function}' if function else ""
    return onnx.parser.parse_model(f"{text} {function}".replace("STATED", stated))


def same(model: onnx.ModelProto | hetero.Model, place: str, shapes=SHAPES) -> None:
    """Assert the results of ONNX Runtime for the model without value_info, which ONNX Runtime takes as facts."""
    compiled, proto = hetero.Core().compile_model(model, "TEMPLATE"), model_of("", place)
    for shape in shapes:
        x = np.random.default_rng(1).standard_normal((shape[0], np.prod(shape[1:]))).astype(np.float32)
        given = {"x": x, "shape": np.int64(shape), "c": np.array(True), "k": np.array(2)}
        assert_close({"y": compiled(given)[0]}, run_onnxruntime(proto, given))


@pytest.mark.parametrize("place", PLACES)
def test_declared_shapes_are_used(place):
    # The second dates from before the inputs were made dynamic.
    for stated in ("", "<float[1, 4, 3, 16] h>"):
        with pytest.raises(FrontendError, match=UNKNOWN):
            hetero.Core().read_model(model_of(stated, place))
    same(model_of("<float[1, 4, s, 16] h>", place), place)


def test_declared_shape_of_an_output():
    proto = model_of()
    proto.graph.output.append(helper.make_tensor_value_info("h", TensorProto.FLOAT, [None, 4, None, 16]))
    assert [str(output.partial_shape) for output in hetero.Core().read_model(proto).outputs] == ["[?,4,?,16]"] * 2


def test_declared_shapes_are_dropped_after_reading():
    model = hetero.Core().read_model(model_of("<float[1, 4, 3, 16] h>", inputs=STATIC))
    assert str(model.output().partial_shape) == "[1,4,3,16]"
    assert str(model.clone().output().partial_shape) == "[?,?,?,?]"
    same(model, "graph", SHAPES[:1])
    model.reshape({"x": [2, -1]})
    same(model, "graph", SHAPES[1:])


# An operator, the shape of its input, what is stated of its output, and what is known of that then.
STATED = [
    ("Relu", ["n", 4, "m"], [2, 4, "m"], "[?,4,?]"),  # the caller chooses the lengths of inputs
    ("Relu", None, [2, 4, -3], "[2,4,?]"),
    ("Relu", None, [2, 4], "[...]"),
    ("Relu", None, [0, 4], "[?,4]"),
    ("Relu", None, [2**62, "n"], "[4611686018427387904,?]"),
    ("Relu", None, ["n"] * 65, "[...]"),
    ("Relu", None, [], "[...]"),
    ("Relu", None, None, "[...]"),
    ("NonZero", [1, 4], [2, 3], "[2,3]"),
    ("NonZero", [1, 4], [2, 6], "[2,..4]"),
    ("NonZero", [1, 4], [3, 3], "[2,..4]"),
    ("NonZero", [1, 4], [2, 3, 1], "[2,..4]"),
]


@pytest.mark.parametrize(("operator", "given", "stated", "expected"), STATED, ids=str)
def test_contradictory_shapes_are_ignored(operator, given, stated, expected):
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, s) for name, s in (("x", given), ("y", stated))]
    graph = helper.make_graph([helper.make_node(operator, ["x"], ["y"])], "g", infos[:1], infos[1:])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
    assert str(hetero.Core().read_model(proto).output().partial_shape) == expected


def test_other_types_are_ignored():
    proto = model_of()
    proto.graph.value_info.add(name="h")
    proto.graph.value_info.append(helper.make_tensor_sequence_value_info("h", TensorProto.FLOAT, [1, 4, 3, 16]))
    with pytest.raises(FrontendError, match=UNKNOWN):
        hetero.Core().read_model(proto)
