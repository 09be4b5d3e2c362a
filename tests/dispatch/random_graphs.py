"""Random graphs with a pin on every operation, for hypothesis."""

import numpy as np
from hypothesis import strategies as st

from hetero import Model, Parameter, Type, ops
from hetero.dispatch.placement.affinity import find_groups
from hetero.graph import is_terminal
from hetero.graph.rt_info import AFFINITY
from hetero.ops.sequence.sequences import SequenceAt, SequenceConstruct, SequenceInsert, SequenceLength

DEVICES = ("A", "B", "C", "D")
# All values are floats of a shape that broadcasts to [rows, 3], so that any two fit together.
WIDTH = 3
SHARED = np.float32([[1, -2, 3]])


def unary(draw, value, other):
    return [draw(st.sampled_from([ops.Relu, ops.Tanh, ops.Abs, ops.Negative]))(value)]


def binary(draw, value, other):
    return [draw(st.sampled_from([ops.Add, ops.Maximum, ops.Subtract]))(value, other)]


def split(draw, value, other):
    whole = ops.Broadcast(value, ops.ShapeOf(ops.Add(value, SHARED)))
    if draw(st.booleans()):
        return ops.Split(whole, np.int64(1), WIDTH).outputs()
    return ops.VariadicSplit(whole, np.int64(1), np.int64([1, -1])).outputs()[:1]


def largest(draw, value, other):
    values, places = ops.TopK(value, np.int64(1), 1, "max", "value").outputs()
    return [values, ops.Convert(places, Type.f32)]


def reshaped(draw, value, other):
    """Two reshapes, there and back, by computed shapes."""
    rows = ops.Gather(ops.ShapeOf(value), np.int64([0]), np.int64(0))
    columns = ops.Gather(ops.ShapeOf(value), np.int64([1]), np.int64(0))
    flat = ops.Reshape(value, ops.Multiply(rows, columns), False)
    return [ops.Reshape(flat, ops.Concat([rows, columns], 0), False)]


def computed_constant(draw, value, other):
    """A float value that is known at compile time."""
    return [ops.Add(value, ops.Transpose(ops.Exp(ops.Constant(SHARED.T)), np.int64([1, 0])))]


def found_by_data(draw, value, other):
    """A value through an intermediate shape that depends on the data."""
    places = ops.Convert(ops.NonZero(ops.Relu(value)), Type.f32)
    return [ops.ReduceSum(places, np.int64([0, 1]), keep_dims=True)]


def branches(draw, value, other):
    node = ops.If(ops.Greater(ops.ReduceSum(value, np.int64([0, 1])), np.float32(draw(st.integers(-2, 2)))))
    inner = [Parameter(Type.f32, [-1, -1]) for _ in range(3)]
    bodies = [
        Model([ops.Result(ops.Add(inner[0], inner[1])), ops.Result(ops.Relu(inner[0]))], inner[:2]),
        Model([ops.Result(ops.Abs(inner[2])), ops.Result(inner[2])], inner[2:]),
    ]
    node.set_then_body(bodies[0])
    node.set_else_body(bodies[1])
    node.set_input(value, inner[0], inner[2])
    node.set_input(other, inner[1], None)
    return [node.set_output(*pair).node.output(i) for i, pair in enumerate(zip(bodies[0].results, bodies[1].results))]


def loop(draw, value, other):
    """A loop with a carried value: each iteration adds another value and halves the sum."""
    count = draw(st.integers(0, 3))
    node = ops.Loop(np.int64(count), np.bool_(True))
    state, added = Parameter(Type.f32, [-1, -1]), Parameter(Type.f32, [-1, -1])
    result = ops.Result(ops.Multiply(ops.Add(state, added), np.float32(0.5)))
    going_on = ops.Result(ops.Constant(np.bool_(True)))
    node.set_function(Model([going_on, result], [state, added]))
    node.set_special_body_ports([-1, 0])
    node.set_merged_input(state, ops.Add(value, other).output(0), result.output(0))
    node.set_invariant_input(added, other)
    return [node.get_iter_value(result.output(0), -1)]


def iterated(draw, value, other):
    """A scan: running sums over the columns."""
    node = ops.TensorIterator()
    column, total = Parameter(Type.f32, [-1, 1]), Parameter(Type.f32, [-1, 1])
    result = ops.Result(ops.Add(column, total))
    node.set_body(Model([result], [column, total]))
    node.set_sliced_input(column, value, 0, 1, 1, -1, 1)
    node.set_merged_input(total, ops.ReduceMax(value, np.int64([1]), keep_dims=True).output(0), result.output(0))
    return [node.get_concatenated_slices(result.output(0), 0, 1, 1, -1, 1)]


def sequence(draw, value, other):
    """The items of a sequence, and its length."""
    made = SequenceInsert(SequenceConstruct([value, other]), ops.Relu(value), np.int64(draw(st.integers(0, 2))))
    length = ops.Convert(SequenceLength(made), Type.f32)
    return [ops.Add(SequenceAt(made, np.int64(draw(st.integers(-3, 2)))), SHARED), ops.Add(length, SHARED)]


def texts(draw, value, other):
    """Lengths of strings that go through two operations."""
    strings = ops.Constant(np.array([["one", "zwei", "trois"]], np.dtypes.StringDType()))
    begins, ends, symbols = ops.StringTensorUnpack(strings).outputs()
    again = ops.StringTensorUnpack(ops.StringTensorPack(begins, ends, symbols)).outputs()
    lengths = ops.Convert(ops.Subtract(again[1], again[0]), Type.f32)
    return [ops.Add(value, lengths)]


KINDS = [unary, binary, binary, split, largest, reshaped, computed_constant, found_by_data, branches, loop, iterated]
KINDS += [sequence, texts]


@st.composite
def placed_graphs(draw, most: int = 10, kinds=KINDS) -> Model:
    """Return a model with diamonds, shared constants, several outputs, bodies, variables, sequences and strings."""
    rows = draw(st.sampled_from([2, -1]))
    parameters = [Parameter(Type.f32, [rows, WIDTH], name=f"p{i}") for i in range(2)]
    values = [parameter.output(0) for parameter in parameters] + [ops.Constant(SHARED).output(0)]
    sinks = []
    for index in range(draw(st.integers(0, 2))):
        values.append(ops.ReadValue(np.zeros([1, WIDTH], np.float32), f"v{index}").output(0))
        sinks.append(f"v{index}")
    for _ in range(draw(st.integers(1, most))):
        value, other = (values[-draw(st.integers(1, len(values)))] for _ in range(2))
        made = draw(st.sampled_from(kinds))(draw, value, other)
        values += [value if hasattr(value, "node") else value.output(0) for value in made]
    for index, name in enumerate(sinks):
        mean = ops.ReduceMean(values[-draw(st.integers(1, len(values)))], np.int64([0]), keep_dims=True)
        sinks[index] = ops.Assign(ops.Add(mean, SHARED * 0), name)
    results = draw(st.lists(st.sampled_from(values), max_size=3))
    model = Model([*results, values[-1]], parameters, "random", sinks=sinks)
    nodes = [node for node in model.get_ordered_ops() if not is_terminal(node)]
    for index, node in enumerate(nodes):
        node.friendly_name = f"n{index}"
    for group in dict.fromkeys(find_groups(nodes).values()):
        device = draw(st.sampled_from(DEVICES))
        for node in group.nodes:
            node.rt_info[AFFINITY] = device
    return model


def inputs_of(model: Model, rows: int, seed: int = 0) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    shape = [2 if model.parameters[0].partial_shape.is_static else rows, WIDTH]
    return [generator.standard_normal(shape).astype(np.float32) for _ in model.parameters]
