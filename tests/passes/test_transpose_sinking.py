"""Transposes move through operations and cancel, and what a model computes stays the same."""

import numpy as np
import pytest

from hetero import Model, Parameter, Type, ops
from hetero.passes import sink_transposes
from tests.passes.test_passes import operations, run

rng = np.random.default_rng(5)
SHAPE = (2, 3, 4, 5)  # NCHW


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def ints(*numbers):
    return np.array(numbers, np.int64)


def transposed(x, *order, name=None):
    return ops.Transpose(x, ints(*order), name=name)


def to_nhwc(x, name=None):
    return transposed(x, 0, 2, 3, 1, name=name)


def to_nchw(x, name=None):
    return transposed(x, 0, 3, 1, 2, name=name)


def count(model):
    return operations(model).count("Transpose")


def moved_bytes(model):
    nodes = [node for node in model.get_ordered_ops() if isinstance(node, ops.Transpose)]
    return sum(int(np.prod(node.get_output_shape(0))) * node.get_output_element_type(0).size for node in nodes)


def named_values(model):
    """A model that hands out all values that have a name, and these names."""
    values = [o for n in model.get_ordered_ops() if not isinstance(n, ops.Result) for o in n.outputs() if o.names]
    return Model(values, model.parameters), [frozenset(value.names) for value in values]


def check(model, *arrays, **tolerance):
    """Sink the Transposes, and compare what the model computes, and each value that has a name, with before."""
    for node in model.get_ordered_ops():
        for output in node.outputs():
            output.names.add(f"{node.friendly_name}:{output.index}")
    everything, names = named_values(model)
    before = dict(zip([name for (name,) in names], run(everything, *arrays)))
    wanted, friendly = run(model, *arrays), [n.friendly_name for n in model.get_ordered_ops() if not is_transpose(n)]
    changed = sink_transposes(model)
    for found, expected in zip(run(model, *arrays), wanted, strict=True):
        np.testing.assert_allclose(found, expected, **({"rtol": 1e-5, "atol": 1e-5} | tolerance))
    everything, names = named_values(model)
    for found, group in zip(run(everything, *arrays), names):
        for name in group:
            np.testing.assert_allclose(found, before[name], **({"rtol": 1e-5, "atol": 1e-5} | tolerance))
    kept = {node.friendly_name for node in model.get_ordered_ops()}
    assert {n for n in friendly if "Constant" not in n} <= kept
    return changed


def is_transpose(node):
    return isinstance(node, ops.Transpose)


# Operations on x of [N, H, W, C] = [2, 4, 5, 3], and the order that brings what they make back to channels first.
FIRST = (0, 3, 1, 2)
CASES = {
    "relu": (ops.Relu, FIRST),
    "clamp": (lambda x: ops.Clamp(x, -0.5, 0.5), FIRST),
    "convert": (lambda x: ops.Convert(x, Type.f16), FIRST),
    "round": (ops.Round, FIRST),
    "swish": (lambda x: ops.Swish(x, np.float32(1.5)), FIRST),
    "is nan": (ops.IsNaN, FIRST),
    "not": (lambda x: ops.LogicalNot(ops.Greater(x, np.float32(0))), FIRST),
    "prelu of channels": (lambda x: ops.PRelu(x, floats(1, 1, 3)), FIRST),
    "prelu of axis 1": (lambda x: ops.PRelu(x, floats(4)), FIRST),
    "fake quantize": (
        lambda x: ops.FakeQuantize(x, np.float32(-1), np.float32(1), floats(3), floats(1, 1, 3) + 4, 16), FIRST
    ),
    "add a scalar": (lambda x: ops.Add(np.float32(2), x), FIRST),
    "add channels": (lambda x: ops.Add(x, floats(3)), FIRST),
    "add two axes": (lambda x: ops.Subtract(floats(5, 1), x), FIRST),
    "add all": (lambda x: ops.Add(x, floats(1, 4, 5, 3)), FIRST),
    "add itself": (lambda x: ops.Multiply(x, ops.Sigmoid(x)), FIRST),
    "select": (lambda x: ops.Select(ops.Less(x, floats(3)), x, np.float32([[[1]]])), FIRST),
    "concat": (lambda x: ops.Concat([x, ops.Abs(x), floats(2, 4, 5, 2)], -1), FIRST),
    "split": (lambda x: ops.Add(*ops.Split(x, np.int64(1), 2).outputs()), FIRST),
    "variadic split": (lambda x: ops.VariadicSplit(x, np.int64(-1), ints(2, -1)).output(0), FIRST),
    "pad": (lambda x: ops.Pad(x, ints(0, 1, 2, 0), ints(0, 3, 4, 1), "constant", np.float32(7)), FIRST),
    "pad reflect": (lambda x: ops.Pad(x, ints(0, 1, 2, 0), ints(0, 3, 1, 2), "reflect"), FIRST),
    "slice": (lambda x: ops.Slice(x, ints(1, 3), ints(3, 0), ints(1, -1), ints(3, 1)), FIRST),
    "slice of all axes": (lambda x: ops.Slice(x, ints(0, 1, 0, 1), ints(9, 4, 3, 3), ints(1, 2, 1, 1)), FIRST),
    "strided slice": (lambda x: ops.StridedSlice(x, ints(0, 3, 1), ints(1, 0, 9), ints(1, -1, 2), [1], [1]), FIRST),
    "strided slice with ellipsis": (
        lambda x: ops.StridedSlice(x, ints(0, 0, 1), ints(1, 0, 3), ints(1, 1, 1), [0], [0], ellipsis_mask=[0, 1]),
        FIRST,
    ),
    "strided slice that takes an index": (
        lambda x: ops.StridedSlice(x, ints(0, 2), ints(0, 3), ints(1, 1), [1], [1], shrink_axis_mask=[0, 1]),
        (0, 2, 1),
    ),
    "reduce": (lambda x: ops.ReduceMean(x, ints(1, 2), True), FIRST),
    "reduce height": (lambda x: ops.ReduceSum(x, ints(1), False), (0, 2, 1)),
    "reduce channels": (lambda x: ops.ReduceMax(x, ints(-1), False), (0, 1, 2)),
    "squeeze": (lambda x: ops.Squeeze(ops.ReduceMean(x, ints(1), True), ints(1)), (0, 2, 1)),
    "squeeze all": (lambda x: ops.Squeeze(ops.ReduceMean(x, ints(2), True)), (0, 2, 1)),
    "unsqueeze": (lambda x: ops.Unsqueeze(x, ints(1)), (0, 4, 1, 2, 3)),
    "reshape that adds": (lambda x: ops.Reshape(x, ints(2, 4, 1, 5, 3), False), (0, 4, 1, 2, 3)),
    "reshape that takes": (
        lambda x: ops.Reshape(ops.ReduceMean(x, ints(1), True), ints(-1, 5, 3), False), (0, 2, 1)
    ),
    "space to batch": (lambda x: ops.SpaceToBatch(x, ints(1, 2, 3, 1), ints(0, 0, 1, 0), ints(0, 2, 0, 0)), FIRST),
    "batch to space": (lambda x: ops.BatchToSpace(x, ints(1, 2, 1, 1), ints(0, 1, 0, 0), ints(0, 0, 2, 0)), FIRST),
    "interpolate": (lambda x: ops.Interpolate(x, ints(8, 7), "linear", "sizes", axes=ints(1, 2)), FIRST),
    "interpolate with pads": (
        lambda x: ops.Interpolate(x, np.float32([2, 3]), "nearest", "scales", [0, 1], [0, 0, 2], axes=ints(1, 2)),
        FIRST,
    ),
    "softmax": (lambda x: ops.Softmax(x, -1), FIRST),
    "log softmax": (lambda x: ops.LogSoftmax(x, 1), FIRST),
    "top k": (lambda x: ops.TopK(x, np.int64(2), -1, "max", "value").output(1), FIRST),
    "normalize": (lambda x: ops.NormalizeL2(x, ints(-1), 1e-3, "add"), FIRST),
    "mvn": (lambda x: ops.MVN(x, ints(1, 2), True, 1e-3, "inside_sqrt"), FIRST),
    "lrn": (lambda x: ops.LRN(x, ints(3), 0.1, 0.5, 1, 3), FIRST),
    "gather": (lambda x: ops.Gather(x, ints(2, 0), np.int64(-1)), FIRST),
    "gather one": (lambda x: ops.Gather(x, np.int64(1), np.int64(1)), (0, 2, 1)),
    "gather elements": (lambda x: ops.GatherElements(x, ops.Convert(ops.IsNaN(x), Type.i32), 3), FIRST),
    "tile": (lambda x: ops.Tile(x, ints(1, 2, 1, 3)), FIRST),
    "broadcast": (lambda x: ops.Broadcast(ops.ReduceMax(x, ints(1, 2), True), ints(2, 3, 3, 3)), FIRST),
    "cumulative sum": (lambda x: ops.CumSum(x, np.int64(2)), FIRST),
    "reverse": (lambda x: ops.Reverse(x, ints(1, 3), "index"), FIRST),
    "roll": (lambda x: ops.Roll(x, ints(1, 2), ints(2, 3)), FIRST),
    "reverse sequence": (lambda x: ops.ReverseSequence(x, ints(1, 2, 3, 2), 1, 2), FIRST),
    "shuffle channels": (lambda x: ops.ShuffleChannels(x, 1, 2), FIRST),
    "bucketize": (lambda x: ops.Bucketize(x, np.float32([-1, 0, 1])), FIRST),
}  # fmt: skip


# Where so little is known of the shape that the operation has to stay as it is.
STAY = {
    (-1, *SHAPE[1:]): {"squeeze all"},
    (-1, -1, -1, -1): {"prelu of axis 1", "squeeze all", "reshape that adds", "reshape that takes"},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("shape", [SHAPE, *STAY], ids=["static", "batch", "dynamic"])
def test_transposes_around_an_operation_are_gone(case, shape):
    make, back = CASES[case]
    x = Parameter(Type.f32, shape)
    made = make(to_nhwc(ops.Exp(x)))
    model = Model(ops.Negative(ops.Convert(transposed(made, *back), Type.f32)), [x])
    check(model, floats(*SHAPE), rtol=1e-4)
    assert count(model) == (2 if case in STAY.get(shape, ()) else 0)
    assert not sink_transposes(model)


def convolution(x, channels, name=None):
    """A convolution as frontends for NHWC translate it."""
    filters = floats(channels, x.output(0).partial_shape[-1].get_length(), 3, 3)
    made = ops.Convolution(to_nchw(x), filters, [1, 1], [1, 1], [1, 1], [1, 1], name=name)
    return to_nhwc(made)


def network(batch):
    """Residual connections, squeeze and excitation, and two outputs."""
    x = Parameter(Type.f32, [batch, 8, 8, 3], name="x")
    stem = ops.Relu(ops.Add(convolution(x, 6, "stem"), floats(6)), name="stem relu")
    block = ops.Add(ops.Add(convolution(stem, 6, "block"), floats(6)), stem, name="sum")
    both = ops.Concat([stem, block], -1)
    mean = ops.MatMul(ops.ReduceMean(both, ints(1, 2), False), floats(12, 12), False, False)
    scaled = ops.Multiply(both, ops.Reshape(ops.Sigmoid(mean), ints(-1, 1, 1, 12), False))
    last = convolution(scaled, 5, "last")
    return Model([ops.Softmax(last, -1), ops.ReduceMean(last, ints(1, 2), False)], [x])


@pytest.mark.parametrize("batch", [2, -1])
def test_a_network_keeps_a_transpose_at_its_input_and_one_at_its_output(batch):
    model = network(batch)
    check(model, floats(2, 8, 8, 3))
    found = operations(model)
    assert found.count("Transpose") == 2 and found[0] == "Transpose"
    softmax = next(node for node in model.get_ordered_ops() if isinstance(node, ops.Softmax))
    assert softmax.axis == -1 and isinstance(softmax.input_value(0).node, ops.Transpose)
