"""Values that cross cuts: dynamic shapes, strings, sequences, inputs of control flow, and variables.

Every operation runs on a random device, and the results must be those of a single device.
"""

import random

import numpy as np
import pytest

from hetero import Core, Model, Parameter, Tensor, Type, ops
from hetero.graph import is_terminal
from hetero.graph.rt_info import AFFINITY
from hetero.graph.unique_names import make_names_unique
from tests.devices import PickyPlugin, core_with
from tests.frontend.onnx.test_control_flow import parse

SEEDS = range(5)
ARRAY = np.random.default_rng(0).standard_normal
F32 = np.float32


def rows(*counts, columns=3):
    return [{"x": ARRAY([count, columns]).astype(F32)} for count in counts]


LOOP = """(float[N, 3] x, int64 times) => (float[N, 3] total, float[T, N, 3] seen) {
    yes = Constant <value = bool {1}> ()
    one = Constant <value_int = 1> ()
    more = Add (times, one)
    scale = Exp (x)
    start = Relu (x)
    last, all = Loop (more, yes, start) <
    body = body (int64 i, bool c, float[N, 3] v) => (bool d, float[N, 3] w, float[N, 3] s) {
        d = Identity (c)
        w = Mul (v, scale)
        s = Neg (w)
    }>
    total = Tanh (last)
    seen = Abs (all)
}"""
BRANCHES = """(float[N, 3] x) => (float[A, B] y) {
    sum = ReduceSum <keepdims = 0> (x)
    zero = Constant <value_float = 0.0> ()
    c = Greater (sum, zero)
    e = Exp (x)
    z = If (c) <
        then_branch = then () => (float[A, B] p) { p = Concat <axis = 0> (x, e) },
        else_branch = otherwise () => (float[A, B] q) { s = Sigmoid (e)  q = Mul (s, x) }
    >
    y = Neg (z)
}"""
NESTED = """(float[N, 3] x, int64 times) => (float[N, 3] y) {
    yes = Constant <value = bool {1}> ()
    limit = ReduceMax <keepdims = 0> (x)
    last = Loop (times, yes, x) <body = body (int64 i, bool c, float[N, 3] v) => (bool d, float[N, 3] w) {
        most = ReduceMax <keepdims = 0> (v)
        g = Greater (most, limit)
        w = If (g) <
            then_branch = then () => (float[N, 3] p) { p = Sub (v, limit) },
            else_branch = otherwise () => (float[N, 3] q) { q = Add (v, limit) }
        >
        d = Identity (c)
    }>
    y = Relu (last)
}"""
SCAN = """(float[N, 3] x) => (float[3] state, float[N, 3] sums) {
    zero = Constant <value_floats = [0.0, 0.0, 0.0]> ()
    start = Exp (zero)
    scaled = Tanh (x)
    state, all = Scan <num_scan_inputs = 1, body = body (float[3] a, float[3] b) => (float[3] c, float[3] d) {
        c = Add (a, b)
        d = Neg (c)
    }> (start, scaled)
    sums = Abs (all)
}"""
NON_ZERO = """(float[N, 3] x) => (int64[M] found, float[K] values) {
    r = Relu (x)
    places = NonZero (r)
    pairs = Transpose <perm = [1, 0]> (places)
    values = GatherND (x, pairs)
    all = Constant <value_ints = [-1]> ()
    found = Reshape (places, all)
}"""
SHAPES = """(float[N, 3] x) => (float[A] y, float[B, C] z) {
    shape = Shape (x)
    first = Constant <value_ints = [0]> ()
    n = Gather (shape, first)
    three = Constant <value_ints = [3]> ()
    count = Mul (n, three)
    flat = Reshape (x, count)
    y = Exp (flat)
    back = Concat <axis = 0> (three, n)
    z = Reshape (y, back)
}"""
RANKS = """(float x) => (float y) {
    r = Relu (x)
    e = Exp (r)
    y = Add (e, x)
}"""
STRINGS = """(string[N] words) => (string[N] joined, int64[N] counts, string[N, M] parts) {
    mark = Constant <value_strings = ["-a b"]> ()
    twice = StringConcat (words, words)
    joined = StringConcat (twice, mark)
    parts, counts = StringSplit <delimiter = "-"> (joined)
}"""
SEQUENCES = """(float[N, 3] x) => (float[A, B] y, int64 count) {
    r = Relu (x)
    parts = SplitToSequence <axis = 0> (r)
    extra = Exp (x)
    longer = SequenceInsert (parts, extra)
    last = Constant <value_int = -1> ()
    e = SequenceAt (longer, last)
    count = SequenceLength (longer)
    joined = ConcatFromSequence <axis = 0> (longer)
    y = Add (joined, joined)
}"""
OPTIONALS = """(float[N, 3] x) => (float[N, 3] y, bool has) {
    r = Relu (x)
    o = Optional (r)
    has = OptionalHasElement (o)
    e = OptionalGetElement (o)
    y = Exp (e)
}"""
COUNTED = [{**given, "times": np.int64(times)} for given, times in zip(rows(2, 1, 4), (3, 0, 1))]
MODELS = {
    "a loop": (LOOP, COUNTED),
    "branches": (BRANCHES, [{"x": sign * np.abs(ARRAY([n, 3])).astype(F32)} for sign, n in ((1, 2), (-1, 4), (1, 1))]),
    "branches in a loop": (NESTED, COUNTED),
    "a scan": (SCAN, rows(4, 1, 3)),
    "shapes that depend on data": (NON_ZERO, [*rows(4), {"x": -np.ones([2, 3], F32)}, *rows(1)]),
    "shapes that are computed": (SHAPES, rows(2, 5, 1)),
    "strings": (STRINGS, [{"words": np.array(words)} for words in (["a", "b-c", ""], ["\N{SNOWMAN}-" * 9], ["x"] * 4)]),
    "sequences": (SEQUENCES, rows(2, 5, 1)),
    "optionals": (OPTIONALS, rows(2, 1)),
}


def spread(core: Core, model: Model, names: list[str], seed: int) -> Model:
    """Return the model with each operation pinned to a random one of the devices that support it."""
    chosen = random.Random(seed)
    make_names_unique(model)
    claims = {name: core.query_model(model, name) for name in names}
    for node in (node for node in model.get_ordered_ops() if not is_terminal(node)):
        able = [name for name in names if node.friendly_name in claims[name]]
        node.rt_info[AFFINITY] = chosen.choice(able)
    return model


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("others", [("A", "B"), ("GPU", "A")], ids=",".join)
@pytest.mark.parametrize(("text", "inputs"), MODELS.values(), ids=MODELS)
def test_random_cuts(text, inputs, others, seed):
    core = core_with(A=PickyPlugin(), B=PickyPlugin())
    model = spread(core, core.read_model(parse(text, opset=20)), list(others), seed)
    whole = core.compile_model(model, "TEMPLATE")
    request = core.compile_model(model, f"HETERO:{','.join(others)}").create_infer_request()
    for given in (*inputs, inputs[0]):
        expected = whole(given)
        found = request.infer(given)
        for port, value in zip(expected, found.to_tuple(), strict=True):
            wanted = expected[port]
            if wanted.dtype.kind == "f":
                np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-6)
            else:
                assert value.tolist() == wanted.tolist() and value.dtype == wanted.dtype


@pytest.mark.parametrize("seed", SEEDS)
def test_dynamic_rank(seed):
    x = Parameter(Type.f32, None, name="x")
    model = Model(ops.Add(ops.Exp(ops.Relu(x)), x), [x])
    core = core_with(A=PickyPlugin(), B=PickyPlugin())
    request = core.compile_model(spread(core, model, ["A", "B"], seed), "HETERO:A,B").create_infer_request()
    for shape in ((2, 3), (), (1, 2, 2), (0,)):
        given = ARRAY(shape).astype(F32).reshape(shape)
        np.testing.assert_allclose(request.infer([given])[0], np.exp(np.maximum(given, 0)) + given, rtol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("others", "widths"), [(("A", "B", "C"), (3, 1)), (("GPU", "A"), (3,))], ids=["any", "fixed"])
def test_variables_of_several_devices(others, widths, seed):
    """The sum and the maximum of all inputs so far, in two variables; one is computed from the other."""
    x = Parameter(Type.f32, [2, -1 if widths[1:] else widths[0]], name="x")
    start = ops.Multiply(x, F32(0), name="start")
    total = ops.Add(ops.ReadValue(start, "sum", name="read sum"), x, name="add")
    most = ops.Maximum(ops.ReadValue(start, "most", name="read most"), total, name="maximum")
    sinks = [ops.Assign(total, "sum", name="assign sum"), ops.Assign(most, "most", name="assign most")]
    model = Model([ops.Relu(total), ops.Tanh(most)], [x], "sums", sinks=sinks)
    core = core_with(A=PickyPlugin(), B=PickyPlugin(), C=PickyPlugin())
    for name in ("sum", "most"):  # the nodes of one variable are on one device
        device = random.Random(f"{seed} {name}").choice(others)
        for node in model.get_ordered_ops():
            if node.friendly_name in (f"read {name}", f"assign {name}"):
                node.rt_info[AFFINITY] = device
    pins = {n: n.rt_info[AFFINITY] for n in model.get_ordered_ops() if AFFINITY in n.rt_info}
    spread(core, model, list(others), seed)
    for node, device in pins.items():
        node.rt_info[AFFINITY] = device
    compiled = core.compile_model(model, f"HETERO:{','.join(others)}")
    requests = [compiled.create_infer_request() for _ in range(2)]
    for columns in widths:
        sums, largest = np.zeros([2, columns], F32), np.zeros([2, columns], F32)
        for step in range(4):
            given = ARRAY([2, columns]).astype(F32)
            sums += given
            largest = np.maximum(largest, sums)
            results = requests[0].infer([given])
            np.testing.assert_allclose(results[0], np.maximum(sums, 0), rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(results[1], np.tanh(largest), rtol=1e-5, atol=1e-6)
            if step == 1:  # the other request has its own variables
                np.testing.assert_allclose(requests[1].infer([given])[0], np.maximum(given, 0), rtol=1e-5)
                requests[1].reset_state()
                states = {state.name: state for state in requests[0].query_state()}
                assert states.keys() == {"sum", "most"}
                np.testing.assert_allclose(states["sum"].state.data, sums, rtol=1e-5)
                sums[:] = 5
                states["sum"].state = Tensor(sums.copy())
        requests[0].reset_state()
