"""If, Loop and Scan from ONNX models, written as text, against ONNX Runtime."""

import numpy as np
import onnx
import onnx.parser
import pytest

import hetero
from hetero.ops import If, Loop, TensorIterator
from hetero.system.errors import FrontendError
from tests.frontend.onnx.compare import assert_close, run_onnxruntime

X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2


def parse(graph: str, opset: int = 18) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}]> g {graph}')


def run(proto: onnx.ModelProto, inputs: dict[str, np.ndarray], device: str = "TEMPLATE") -> dict[str, np.ndarray]:
    compiled = hetero.Core().compile_model(proto, device)
    results = compiled(inputs)
    return {port.any_name: results[port] for port in compiled.outputs}


def same(proto: onnx.ModelProto, *cases: dict[str, np.ndarray], known: onnx.ModelProto | None = None) -> None:
    """Assert ONNX Runtime's results for all inputs, also from a clone and on HETERO.

    ``known``: the model with known lengths, for ONNX Runtime, which gives 0 for those of a loop without an iteration.
    """
    model = hetero.Core().read_model(proto)
    for inputs in cases:
        expected = run_onnxruntime(known or proto, inputs)
        for tried in (model, model.clone()):
            assert_close(run(tried, inputs), expected)
        assert_close(run(model, inputs, "HETERO:TEMPLATE"), expected)


def scalars(**values):
    kinds = {bool: np.bool_, int: np.int64, float: np.float32}
    return {name: np.array(value, kinds[type(value)]) for name, value in values.items()}


IF = """(float[N, 3] x, bool c) => (float[A, B] y, float[C, D] z) {
    y, z = If (c) <
        then_branch = then () => (float[A, B] p, float[C, D] q) { p = Relu (x) q = Neg (x) },
        else_branch = otherwise () => (float[A, B] p, float[C, D] q) { p = Transpose (x) q = Add (x, x) }
    >
}"""
LOOP = """(float[N] x, int64 n, bool c) => (float[A] last, float[B, C] every) {
    last, every = Loop (n, c, x) <
        body = body (int64 i, bool going, float[N] state) => (bool again, float[N] next, float[N] seen) {
            f = Cast <to = 1> (i)
            next = Add (state, f)
            total = ReduceSum <keepdims = 0> (next)
            limit = Constant <value_float = 100.0> ()
            again = Less (total, limit)
            seen = Mul (next, x)
        }
    >
}"""
GROWING = """(float[N] x, int64 n) => (float[A] y) {
    none = Constant <value_float = 0.0> ()
    y = Loop (n, , x) <
        body = body (int64 i, bool going, float[K] state) => (bool again, float[L] next) {
            again = Identity (going)
            next = Concat <axis = 0> (state, x)
        }
    >
}"""
NESTED = """(float[2, 3] x, int64 n, bool c) => (float[2, 3] y) {
    y = If (c) <
        then_branch = then () => (float[2, 3] r) {
            r = Loop (n, , x) <
                body = outer (int64 i, bool going, float[2, 3] s) => (bool again, float[2, 3] t) {
                    again = Identity (going)
                    two = Constant <value_int = 2> ()
                    t = Loop (two, , s) <
                        body = inner (int64 j, bool go_on, float[2, 3] u) => (bool more, float[2, 3] v) {
                            more = Identity (go_on)
                            f = Cast <to = 1> (i)
                            g = Cast <to = 1> (n)
                            w = Add (u, f)
                            xg = Mul (x, g)
                            v = Add (w, xg)
                        }
                    >
                }
            >
        },
        else_branch = otherwise () => (float[2, 3] r) {
            small = Constant <value_float = 0.0> ()
            total = ReduceSum <keepdims = 0> (x)
            d = Less (total, small)
            r = If (d) <
                then_branch = a () => (float[2, 3] e) { e = Neg (x) },
                else_branch = b () => (float[2, 3] e) { e = Identity (x) }
            >
        }
    >
}"""
SCAN = """(float[2] s, float[N, 2] x, float[2, N] w) => (float[2] last, float[A, 2] every, float[2, B] back) {
    last, every, back = Scan (s, x, w) <
        num_scan_inputs = 2, scan_input_axes = [0, 1], scan_input_directions = [0, 1],
        scan_output_axes = [0, -1], scan_output_directions = [0, 1],
        body = body (float[2] a, float[2] p, float[2] q) => (float[2] b, float[2] e, float[2] f) {
            b = Add (a, p)
            e = Mul (b, q)
            f = Sub (b, s)
        }
    >
}"""
WHILE = """(float[1] x) => (float[1] y, float[A, 1] powers) {
    yes = Constant <value = bool {1}> ()
    y, powers = Loop (, yes, x) <
        body = body (int64 i, bool going, float[1] s) => (bool again, float[1] t, float[1] seen) {
            t = Add (s, s)
            seen = Identity (s)
            limit = Constant <value_float = 1000.0> ()
            less = Less (t, limit)
            again = Squeeze (less)
        }
    >
}"""


def test_if():
    same(parse(IF), *({"x": X, **scalars(c=c)} for c in (True, False)))


def test_if_whose_condition_is_known_is_its_branch():
    text = IF.replace(", bool c)", ")").replace("y, z =", "c = Constant <value = bool {0}> ()\n y, z =")
    same(parse(text), {"x": X})
    nodes = {node.friendly_name: node for node in hetero.Core().read_model(parse(text)).get_ops()}
    assert not any(isinstance(node, If) for node in nodes.values())
    assert nodes["y"].get_type_name() == "Transpose" and nodes["y/q"].get_type_name() == "Add"


@pytest.mark.parametrize("c", [True, False])
@pytest.mark.parametrize("n", [-1, 0, 1, 5, 40])
def test_loop(n, c):
    same(parse(LOOP), {"x": X[1], **scalars(n=n, c=c)}, known=parse(LOOP.replace("float[N]", "float[3]")))


def test_loop_until_its_condition():
    same(parse(WHILE), {"x": np.float32([3])}, {"x": np.float32([2000])})


@pytest.mark.parametrize("n", [0, 1, 3])
def test_loop_whose_value_grows(n):
    proto = parse(GROWING)
    same(proto, {"x": X[0], **scalars(n=n)})
    assert str(hetero.Core().read_model(proto).output(0).partial_shape) == "[?]"


def test_a_trip_count_that_is_known_makes_shapes_known():
    text = LOOP.replace("float[N]", "float[3]").replace(", int64 n, bool c", "")
    text = text.replace("last, every =", "n = Constant <value_int = 4> ()\n last, every =").replace(
        "(n, c, x)", "(n, , x)"
    )
    text = text.replace("again = Less (total, limit)", "again = Identity (going)")
    model = hetero.Core().read_model(parse(text))
    assert [str(output.partial_shape) for output in model.outputs] == ["[3]", "[4,3]"]
    same(parse(text), {"x": X[0]})


@pytest.mark.parametrize("c", [True, False])
@pytest.mark.parametrize("sign", [1, -1])
def test_loops_in_a_loop_in_an_if(c, sign):
    same(parse(NESTED), {"x": sign * X - 1, **scalars(n=3, c=c)})


def test_scan():
    s, x = np.float32([1, -1]), np.arange(8, dtype=np.float32).reshape(4, 2)
    same(parse(SCAN), {"s": s, "x": x, "w": x.T.copy()})
    for opset in (9, 11, 25):
        assert run(parse(SCAN, opset), {"s": s, "x": x, "w": x.T.copy()})["every"].shape == (4, 2)


SCAN_8 = """({lengths}float[B, 2] s, float[B, N, 2] x) => (float[B, 2] last, float[B, M, 2] every) {{
    w = Constant <value = float[2] {{2.0, 3.0}}> ()
    last, every = Scan ({given}, s, x) <num_scan_inputs = 1, directions = [{backward}],
        body = body (float[2] a, float[2] p) => (float[2] b, float[2] e) {{
            b = Add (a, p)
            e = Mul (b, w)
        }}
    >
}}"""


@pytest.mark.parametrize("backward", [0, 1])
@pytest.mark.parametrize("lengths", [None, [3, 1, 2], [1, 1, 1]])
def test_scan_of_batches(lengths, backward):
    declared, given = ("", "") if lengths is None else ("int64[B] l, ", "l")
    proto = parse(SCAN_8.format(lengths=declared, given=given, backward=backward), 8)
    inputs = {"s": np.float32([[1, 2], [3, 4], [5, 6]]), "x": np.arange(18, dtype=np.float32).reshape(3, 3, 2)}
    if lengths is not None:
        inputs["l"] = np.int64(lengths)
    last, every = [], []
    for row in range(3):
        length = 3 if lengths is None else lengths[row]
        items = inputs["x"][row, :length]
        states = inputs["s"][row] + np.cumsum(items[::-1] if backward else items, axis=0, dtype=np.float32)
        last.append(states[-1])
        every.append(np.zeros((3, 2), np.float32))
        every[-1][:length] = states * np.float32([2, 3])
    found = run(proto, inputs)
    np.testing.assert_allclose(found["last"], last)
    np.testing.assert_allclose(found["every"], every)


def test_values_of_unknown_rank_from_branches_can_be_split():
    proto = parse("""(float[2, 3] x, bool c) => (float[1, A] y, float[B, C] z) {
        axes = Constant <value_ints = [0]> ()
        flat = If (c) <
            then_branch = a () => (p) { p = ReduceSum <keepdims = 0> (x, axes) },
            else_branch = b () => (q) { q = Identity (x) }
        >
        y, z = Split <axis = 0, num_outputs = 2> (flat)
    }""")
    for c in (True, False):
        found = run(proto, {"x": X, **scalars(c=c)})
        whole = X.sum(0) if c else X
        np.testing.assert_array_equal(np.concatenate([found["y"], found["z"]]), whole)


def test_a_name_in_a_body_hides_the_outer_one():
    proto = parse("""(float[3] x, bool c) => (float[3] y, float[3] z) {
        t = Exp (x)
        y, z = If (c) <
            then_branch = a () => (float[3] p, float[3] q) {
                before = Neg (t)
                t = Relu (x)
                q = Add (t, before)
                p = Neg (t)
            },
            else_branch = b () => (float[3] p, float[3] q) { p = Identity (t) q = Identity (x) }
        >
    }""")
    x = np.float32([-1, 0, 2])
    relu, exp = np.maximum(x, 0), np.exp(x)
    found = run(proto, {"x": x, **scalars(c=True)})
    np.testing.assert_allclose(found["y"], -relu)
    np.testing.assert_allclose(found["z"], relu - exp, rtol=1e-6)
    np.testing.assert_allclose(run(proto, {"x": x, **scalars(c=False)})["y"], exp, rtol=1e-6)


def test_results_of_a_body_do_not_share_memory():
    """Writing to a result changes neither the initializers of a body nor the inputs that it returns."""
    proto = parse("""(float[2] x, bool c) => (float[2] y) {
        y = If (c) <
            then_branch = a () => (float[2] p) <float[2] k = {1.0, 2.0}> { p = Identity (k) },
            else_branch = b () => (float[2] q) { q = Identity (x) }
        >
    }""")
    request = hetero.Core().compile_model(proto, "TEMPLATE").create_infer_request()
    x = np.float32([5, 6])
    for c, expected in ((True, [1, 2]), (False, [5, 6])) * 2:
        result = request.infer({"x": x, **scalars(c=c)}, share_inputs=True, share_outputs=True)[0]
        np.testing.assert_array_equal(result, expected)
        result[:] = 0


def test_models_with_bodies_can_be_reshaped():
    model = hetero.Core().read_model(parse(SCAN))
    model.reshape({"x": [5, 2], "w": [2, 5]})
    assert [str(output.partial_shape) for output in model.outputs] == ["[2]", "[5,2]", "[2,5]"]
    model.reshape({"x": [-1, 2], "w": [2, -1]})
    assert [str(output.partial_shape) for output in model.outputs] == ["[2]", "[?,2]", "[2,?]"]


def test_operations_have_the_names_of_the_nodes():
    proto = parse(LOOP)
    proto.graph.node[0].name = "the loop"
    nodes = {node.friendly_name: node for node in hetero.Core().read_model(proto).get_ops()}
    assert isinstance(nodes["the loop"], Loop)
    body = nodes["the loop"].get_function()
    assert [parameter.friendly_name for parameter in body.parameters] == ["i", "state", "x"]
    scans = [node for node in hetero.Core().read_model(parse(SCAN)).get_ops() if isinstance(node, TensorIterator)]
    assert [scan.friendly_name for scan in scans] == ["last"]


def test_deeply_nested_bodies():
    """The maximum depth that protobuf reads."""
    graph, other = "k () => (float[1] r) { r = Relu (x) }", "e () => (float[1] q) { q = Neg (x) }"
    for _ in range(30):
        graph = f"k () => (float[1] r) {{ r = If (c) <then_branch = {graph}, else_branch = {other}> }}"
    model = hetero.Core().read_model(parse(f"(float[1] x, bool c) => (float[1] r) {graph[graph.index('{') :]}"))
    assert run(model.clone(), {"x": np.float32([-2]), **scalars(c=True)})["r"] == 0


LOOP_WITH = """(float[3] x, int64 n) => (float[3] y) {{
    y = Loop (n, , x) <body = b (int64 i, bool going, float[3] s) => ({outputs}) {{ {nodes} }}>
}}"""
IF_WITH = """(float[3] x, bool c) => (float[3] y) {{
    y = If (c) <
        then_branch = a () => (float[3] p) {{ p = {then} }},
        else_branch = b () => ({outputs}) {{ q = {otherwise} }}
    >
}}"""
WRONG = {
    "the type changes": (
        LOOP_WITH.format(outputs="bool g, int64[3] t", nodes="g = Identity (going) t = Cast <to = 7> (s)"),
        "Loop node 'y': loop body result 't' is i64, but its initial value is f32",
    ),
    "an output is missing": (
        LOOP_WITH.format(outputs="bool g", nodes="g = Identity (going)"),
        "Loop node 'y': its body has 1 outputs, but 2 are needed",
    ),
    "the condition is no boolean": (
        LOOP_WITH.format(outputs="float[3] g, float[3] t", nodes="g = Relu (s) t = Relu (s)"),
        "Loop node 'y': .*the body's condition must be boolean, but is f32",
    ),
    "a value that nobody makes": (
        LOOP_WITH.format(outputs="bool g, float[3] t", nodes="g = Identity (going) t = Add (s, nothing)"),
        "Loop node 'y': Add node 't': it reads 'nothing', which no operator before it computes",
    ),
    "an output that nobody makes": (
        LOOP_WITH.format(outputs="bool g, float[3] nothing", nodes="g = Identity (going)"),
        "Loop node 'y': the output of the graph reads 'nothing'",
    ),
    "branches of two types": (
        IF_WITH.format(then="Relu (x)", outputs="int64[3] q", otherwise="Cast <to = 7> (x)"),
        "If node 'y': .*output 0 is f32 in the then body but i64 in the else body",
    ),
    "a branch of two outputs": (
        IF_WITH.format(then="Relu (x)", outputs="float[3] q, float[3] x", otherwise="Neg (x)"),
        "If node 'y': a branch has 2 outputs, the node 1",
    ),
    "operators that nobody knows": (
        IF_WITH.format(then="Foo (x)", outputs="float[3] q", otherwise="me.Bar (x)"),
        r"there is no translation of .*(ai.onnx.Foo of version 18 \('p'\)|me.Bar of version 1 \('q'\)), ",
    ),
    "the body has too few inputs": (
        "(float[3] x) => (float[3] y) { y = Loop (, , x) <body = b (int64 i) => (bool g, float[3] t) "
        "{ t = Relu (x) g = Constant <value_int = 1> () }> }",
        "Loop node 'y': its graph 'b' has 1 inputs, but is given 3",
    ),
    "an axis that is not there": (
        SCAN.replace("scan_input_axes = [0, 1]", "scan_input_axes = [0, 2]"),
        "axis 2 is out of range",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_invalid_models_are_refused_in_one_sentence(name):
    text, message = WRONG[name]
    with pytest.raises(FrontendError, match=message) as raised:
        hetero.Core().read_model(parse(text))
    assert "\n" not in str(raised.value)


def reordered(proto: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy whose nodes are in the opposite order, in bodies too."""
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    graphs = [copy.graph]
    for graph in graphs:
        nodes = list(graph.node)[::-1]
        del graph.node[:]
        graph.node.extend(nodes)
        graphs += [a.g for node in graph.node for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
    return copy


def test_nodes_in_any_order():
    """The bodies read values of the graph around them. ONNX Runtime sorts the nodes of the main graph only."""
    proto = parse(
        """(bool c, float[2,3] x) => (float[2,3] y, float[2,3] b) {
        a = Neg (x)
        z = Relu (a)
        y = If (c) <
          then_branch = t () => (float[2,3] d) { e = Mul (a, z) d = Exp (e) },
          else_branch = f () => (float[2,3] b2) { n = Abs (z) b2 = Sqrt (n) }>
        b = Add (y, a)
        }"""
    )
    for inputs in ({"c": np.array(c), "x": X} for c in (True, False)):
        assert_close(run(reordered(proto), inputs), run_onnxruntime(proto, inputs))


def test_nodes_of_functions_in_any_order():
    text = """<ir_version: 8, opset_import: ["": 18, "own": 1]>
        g (float[2,3] x) => (float[2,3] y) { y = own.f (a) a = Neg (x) }
        <domain: "own", opset_import: ["": 18]> f (v) => (w) { w = Exp (u) u = Relu (v) }"""
    proto = onnx.parser.parse_model(text)
    np.testing.assert_allclose(run(proto, {"x": X})["y"], np.exp(np.maximum(-X, 0)), rtol=1e-6)


def test_a_cycle_of_nodes():
    proto = parse("(float[2,3] x) => (float[2,3] y) { a = Add (x, b) b = Neg (a) y = Relu (b) }")
    with pytest.raises(FrontendError, match="reads '.', which no operator before it computes"):
        hetero.Core().read_model(proto)
