"""ONNX functions, defined by a model or by ONNX itself."""

import numpy as np
import onnx
import onnx.parser
import pytest

import hetero
from hetero.frontend.onnx import node_context
from hetero.ops import Exp
from hetero.system.errors import FrontendError
from tests.frontend.onnx.compare import assert_close, run_onnxruntime

X = np.float32([[-2, -0.5, 0], [0.25, 1, 3]])


def parse(graph: str, *functions: str, opset: int = 18) -> onnx.ModelProto:
    imports = f'opset_import: ["": {opset}, "me": 1]'
    text = f"<ir_version: 10, {imports}> g {graph} " + " ".join(
        f'<domain: "me", opset_import: ["": {opset}, "me": 1]> {function}' for function in functions
    )
    return onnx.parser.parse_model(text)


def run(proto: onnx.ModelProto, **inputs: np.ndarray) -> dict[str, np.ndarray]:
    compiled = hetero.Core().compile_model(proto.SerializeToString(), "TEMPLATE")
    results = compiled(inputs)
    return {port.any_name: results[port] for port in compiled.outputs}


def same(proto: onnx.ModelProto, **inputs: np.ndarray) -> None:
    assert_close(run(proto, **inputs), run_onnxruntime(proto, inputs))


SCALED = """scaled <factor: float = 2.0, shift> (x) => (y) {
    f = Constant <value_float: float = @factor> ()
    g = Constant <value_float: float = @shift> ()
    z = Mul (x, f)
    y = Add (z, g)
}"""
TWICE = """twice <by> (x) => (y) {
    t = me.scaled <shift: float = @by> (x)
    y = me.scaled <factor = 3.0, shift: float = @by> (t)
}"""
GRAPH = "(float[2, 3] x) => (float[2, 3] y) {{ {} }}"


def test_functions_with_attributes_and_functions_in_them():
    proto = parse(GRAPH.format("t = me.twice <by = 0.5> (x) y = me.scaled <shift = -1.0> (t)"), SCALED, TWICE)
    same(proto, x=X)
    names = [node.friendly_name for node in hetero.Core().read_model(proto).get_ops()]
    assert len(set(names)) == len(names)
    assert {"t", "y"} <= set(names)


def test_two_calls_of_a_function_have_separate_values():
    nodes = "z = me.scaled <shift = 1.0> (x) w = me.scaled <shift = 2.0> (z) y = Sub (w, z)"
    model = hetero.Core().read_model(parse(GRAPH.format(nodes), SCALED))
    names = [name for node in model.get_ops() for output in node.outputs() for name in output.names]
    assert sorted(names) == ["w", "x", "y", "y", "z"]  # the Result has the name too, but no value within a function
    same(parse(GRAPH.format(nodes), SCALED), x=X)


def test_inputs_and_outputs_may_be_omitted():
    optional = "clamped (x, low, high) => (y, z) { y = Clip (x, low, high) z = Neg (x) }"
    graph = "(float[2, 3] x, float l) => (float[2, 3] y, float[2, 3] v)"
    proto = parse(graph + "{ y = me.clamped (x, , l) w, v = me.clamped (x, l) }", optional)
    found = run(proto, x=X, l=np.float32(0.5))
    np.testing.assert_array_equal(found["y"], np.minimum(X, np.float32(0.5)))
    np.testing.assert_array_equal(found["v"], -X)


def test_a_body_in_a_function_reads_its_values_and_attributes():
    function = """chosen <factor> (x, c) => (y) {
        before = Neg (x)
        y = If (c) <
            then_branch = a () => (p) { f = Constant <value_float: float = @factor> () p = Mul (before, f) },
            else_branch = b () => (q) { q = Identity (before) }
        >
    }"""
    proto = parse("(float[2, 3] x, bool c) => (float[2, 3] y) { y = me.chosen <factor = 4.0> (x, c) }", function)
    for c in (True, False):
        found = run(proto, x=X, c=np.array(c))["y"]
        np.testing.assert_array_equal(found, -4 * X if c else -X)


def test_a_function_called_in_a_body():
    text = """(float[2, 3] x, int64 n) => (float[2, 3] y) {
        y = Loop (n, , x) <body = b (int64 i, bool going, float[2, 3] s) => (bool g, float[2, 3] t) {
            g = Identity (going)
            u = me.scaled <factor = 0.5, shift = 1.0> (s)
            t = Add (u, x)
        }>
    }"""
    same(parse(text, SCALED), x=X, n=np.array(3))


def test_overloads_are_separate_functions():
    proto = parse(GRAPH.format("y = me.f (x)"), "f (x) => (y) { y = Neg (x) }", "f (x) => (y) { y = Exp (x) }")
    proto.functions[1].overload = "second"
    np.testing.assert_array_equal(run(proto, x=X)["y"], -X)
    proto.graph.node[0].overload = "second"
    np.testing.assert_allclose(run(proto, x=X)["y"], np.exp(X), rtol=1e-6)


def test_large_tensors_of_functions_stay_in_the_file():
    proto = parse(GRAPH.format("y = me.f (x)"), "f (x) => (y) { k = Constant <value = float {0.0}> () y = Add (x, k) }")
    weights = np.arange(6000, dtype=np.float32).reshape(1000, 2, 3)
    proto.functions[0].node[0].attribute[0].t.CopyFrom(onnx.numpy_helper.from_array(weights, "k"))
    del proto.graph.output[0].type.tensor_type.shape.dim[:]
    found = run(proto, x=X)["y"]
    np.testing.assert_array_equal(found, X + weights)


def leave_out(monkeypatch, *op_types):
    """Remove the translators of these operators."""
    kept = {key: value for key, value in node_context.translators.by_operator.items() if key[1] not in op_types}
    monkeypatch.setattr(node_context.translators, "by_operator", kept)


@pytest.fixture
def _without_translators(monkeypatch):
    """Remove the translators of all operators that ONNX defines as functions."""
    leave_out(monkeypatch, *(name for name, _, _ in EXPANDED))


# Operators that ONNX gives as functions, fixed ones and ones that depend on the types of the inputs.
EXPANDED = [
    ("Elu", 18, {}), ("Elu", 22, {"alpha": 0.5}), ("Celu", 18, {"alpha": 2.0}), ("HardSigmoid", 22, {}),
    ("Selu", 22, {}), ("ThresholdedRelu", 22, {"alpha": 0.5}), ("Softsign", 22, {}), ("Mish", 22, {}),
    ("Gelu", 20, {}), ("Gelu", 20, {"approximate": "tanh"}), ("Softmax", 13, {"axis": 0}), ("LogSoftmax", 13, {}),
    ("Shrink", 9, {"lambd": 0.4, "bias": 0.1}), ("HardSwish", 14, {}), ("LeakyRelu", 16, {}),
]  # fmt: skip


@pytest.mark.usefixtures("_without_translators")
@pytest.mark.parametrize(("op_type", "opset", "attributes"), EXPANDED)
def test_operators_that_onnx_defines_as_functions(op_type, opset, attributes):
    proto = parse(GRAPH.format(f"y = {op_type} (x)"), opset=opset)
    proto.ir_version = 8
    proto.graph.node[0].attribute.extend(onnx.helper.make_attribute(*pair) for pair in attributes.items())
    same(proto, x=X)


def test_a_translator_takes_precedence_over_a_function_of_the_model(monkeypatch):
    proto = parse(GRAPH.format("y = me.f (x)"), "f (x) => (y) { y = Neg (x) }")
    monkeypatch.setattr(node_context.translators, "by_operator", dict(node_context.translators.by_operator))
    node_context.translator("f", domain="me")(lambda node: Exp(node.get_input(0)))
    np.testing.assert_allclose(run(proto, x=X)["y"], np.exp(X), rtol=1e-6)


DOUBLING = ["f0 (x) => (y) { y = Neg (x) }"] + [
    f"f{n} (x) => (y) {{ t = me.f{n - 1} (x) y = me.f{n - 1} (t) }}" for n in range(1, 31)
]
CHAIN = ["f0 (x) => (y) { y = Neg (x) }"] + [f"f{n} (x) => (y) {{ y = me.f{n - 1} (x) }}" for n in range(1, 51)]
WRONG = {
    "itself": (["f0 (x) => (y) { y = me.f0 (x) }"], "f0 (x)", "f0 node .*: the function 'f0' calls itself"),
    "each other": (
        ["f0 (x) => (y) { y = me.f1 (x) }", "f1 (x) => (y) { y = me.f0 (x) }"],
        "f0 (x)",
        "the function 'f0' calls itself",
    ),
    "too deep": (CHAIN, "f50 (x)", "functions and subgraphs are nested more than 40 deep"),
    "too many inputs": (DOUBLING[:1], "f0 (x, x)", "it has 2 inputs, but the function takes 1"),
    "an output that nobody makes": (
        ["f0 (x) => (y) { z = Neg (x) }"], "f0 (x)",
        "f0 node 'y': the function f0 reads 'y', which no operator before it computes",
    ),
    "a value of the graph outside": (
        ["f0 (z) => (y) { y = Add (z, x) }"], "f0 (x)",
        "f0 node 'y': Add node 'y/y': it reads 'x', which no operator before it computes",
    ),
    "operators that nobody knows": (
        ["f0 (x) => (y) { t = me.f1 (x) y = Foo (t) }", "f1 (x) => (y) { y = me.bar (x) }"], "f0 (x)",
        r"no translation of ai.onnx.Foo of version 18 \('y'\), me.bar of version 1 \('y'\): add one",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_invalid_functions_are_refused(name):
    functions, call, message = WRONG[name]
    with pytest.raises(FrontendError, match=message) as raised:
        hetero.Core().read_model(parse(GRAPH.format(f"y = me.{call}"), *functions))
    assert "\n" not in str(raised.value)


def test_a_small_file_that_expands_to_too_many_nodes_is_refused(monkeypatch):
    monkeypatch.setattr("hetero.frontend.onnx.graph.OnnxContext.inline_constant", 1000)
    with pytest.raises(
        FrontendError, match="its graphs call each other so often that they expand to over 4100 operators"
    ):
        hetero.Core().read_model(parse(GRAPH.format("y = me.f30 (x)"), *DOUBLING))


def test_unknown_operators_in_a_function_of_onnx_are_named(monkeypatch):
    """LayerNormalization's function depends on the types of its inputs, Softsign's does not."""
    leave_out(monkeypatch, "LayerNormalization", "Softsign", "Abs", "Sqrt")
    layer = parse("(float[2, 3] x, float[3] s) => (float[2, 3] y) { y = LayerNormalization (x, s) }")
    with pytest.raises(
        FrontendError, match=r"LayerNormalization node 'y': .* no translation of ai.onnx.Sqrt of version"
    ):
        hetero.Core().read_model(layer)
    with pytest.raises(FrontendError, match=r"^the ONNX model: .* no translation of ai.onnx.Abs of version"):
        hetero.Core().read_model(parse(GRAPH.format("y = Softsign (x)")))
