"""Transposes move through operations and cancel, and what a model computes stays the same."""

import numpy as np
import pytest

from hetero import Core, Model, Parameter, PartialShape, Type, ops
from hetero.graph.rt_info import original_names
from hetero.ops.sequence.sequences import SequenceAt, SequenceConstruct
from hetero.passes import sink_transposes
from hetero.plugin.query import get_supported_nodes
from tests import zoo
from tests.nhwc import as_nhwc
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


def named_values(model):
    """Return a model whose outputs are all values with a name, and the names."""
    values = [o for n in model.get_ordered_ops() if not isinstance(n, ops.Result) for o in n.outputs() if o.names]
    return Model(values, model.parameters), [frozenset(value.names) for value in values]


def check(model, *arrays, **tolerance):
    """Sink Transposes, check that results and named values stay the same, and return whether the model changed."""
    for node in model.get_ordered_ops():
        for output in node.outputs():
            output.add_names({f"{node.friendly_name}:{output.index}"})
    everything, names = named_values(model)
    before = dict(zip([name for (name,) in names], run(everything, *arrays)))
    # A shape that is known may become a Constant.
    passing = (ops.Transpose, ops.Constant, ops.ShapeOf)
    kept = {node.friendly_name for node in model.get_ordered_ops() if not isinstance(node, passing)}
    wanted = run(model, *arrays)
    changed = sink_transposes(model)
    for found, expected in zip(run(model, *arrays), wanted, strict=True):
        np.testing.assert_allclose(found, expected, **({"rtol": 1e-5, "atol": 1e-5} | tolerance))
    everything, names = named_values(model)
    for found, group in zip(run(everything, *arrays), names):
        for name in group:
            np.testing.assert_allclose(found, before[name], **({"rtol": 1e-5, "atol": 1e-5} | tolerance))
    assert kept <= {node.friendly_name for node in model.get_ordered_ops()}
    return changed


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


# The operations whose order cannot change if so little is known of the shape.
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
    """Return a convolution as frontends of NHWC formats translate it."""
    filters = floats(channels, x.output(0).partial_shape[-1].get_length(), 3, 3)
    made = ops.Convolution(to_nchw(x), filters, [1, 1], [1, 1], [1, 1], [1, 1], name=name)
    return to_nhwc(made)


def network(batch):
    """Return a model with residual connections, squeeze and excitation, and two outputs."""
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


@pytest.mark.parametrize("name", ["squeezenet", "ocr_detection"])
def test_a_real_network_in_nhwc_keeps_the_transpose_at_its_input(name):
    model = as_nhwc(Core().read_model(zoo.path(name)))
    convolutions = operations(model).count("Convolution")
    assert convolutions > 20 and count(model) > 2 * convolutions
    (image,) = zoo.inputs(name).values()
    sink_transposes(model)
    # The outputs have one channel, or one pixel, so a Reshape brings them to NHWC.
    assert count(model) == 1 and operations(model)[0] == "Transpose"
    (found,) = run(model, image.transpose(0, 2, 3, 1))
    (expected,) = zoo.expected(name).values()
    np.testing.assert_allclose(found.transpose(0, 3, 1, 2), expected, atol=1e-4 * np.abs(expected).max())


def test_shape_of_keeps_its_order():
    x = Parameter(Type.f32, [-1, 3, -1, 5])
    images = to_nhwc(ops.Exp(x))
    lengths = ops.ShapeOf(images, name="lengths")
    model = Model([to_nchw(ops.Relu(images)), ops.Multiply(lengths, np.int64(2))], [x])
    check(model, floats(*SHAPE))
    assert count(model) == 0


def test_a_transpose_moves_to_the_smaller_element_type():
    x = Parameter(Type.u8, [1, 8, 8, 3])
    model = Model(ops.Softmax(to_nchw(ops.Convert(x, Type.f32)), 1), [x])
    check(model, rng.integers(0, 255, (1, 8, 8, 3)).astype(np.uint8))
    assert operations(model) == ["Transpose", "Convert", "Softmax"]


def test_a_transpose_moves_to_the_smaller_image():
    x = Parameter(Type.f32, [1, 4, 4, 8])
    larger = ops.Interpolate(to_nchw(x), ints(16, 16), "nearest", "sizes", axes=ints(2, 3))
    model = Model(ops.Sigmoid(ops.Tile(to_nhwc(larger), ints(1, 2, 1, 1))), [x])
    check(model, floats(1, 4, 4, 8))
    # Interpolate stays in NCHW, in which devices are fastest.
    assert operations(model) == ["Transpose", "Interpolate", "Transpose", "Tile", "Sigmoid"]


def test_a_transpose_that_moves_only_dimensions_of_length_1_becomes_a_reshape():
    x = Parameter(Type.f32, [-1, 1, 1, 3])
    model = Model(ops.Softmax(to_nchw(x, name="moved"), 1), [x])
    check(model, floats(2, 1, 1, 3))
    assert [node.friendly_name for node in model.get_ordered_ops() if isinstance(node, ops.Reshape)] == ["moved"]
    x = Parameter(Type.f32, [-1, -1, -1, 1])
    model = Model(ops.Softmax(to_nchw(x, name="moved"), 2), [x])
    check(model, floats(2, 4, 5, 1))
    assert operations(model) == ["Squeeze", "Unsqueeze", "Softmax"]


def test_such_a_reshape_leaves_the_batch_free():
    x = Parameter(Type.f32, [1, 3, 4, 1])
    model = Model(ops.Relu(ops.Transpose(x, np.int64([0, 3, 1, 2]))), [x])
    assert sink_transposes(model)
    model.reshape([5, 3, 4, 1])
    assert model.output().shape == (5, 1, 3, 4)


def test_consecutive_transposes_are_merged():
    x = Parameter(Type.f32, SHAPE)
    model = Model(ops.MatMul(transposed(transposed(x, 1, 0, 2, 3), 0, 1, 3, 2), floats(4, 2), False, False), [x])
    check(model, floats(*SHAPE))
    assert operations(model) == ["Transpose", "MatMul"]
    model = Model(ops.MatMul(to_nchw(to_nhwc(x)), floats(5, 2), False, False), [x])
    check(model, floats(*SHAPE))
    assert operations(model) == ["MatMul"]


def unchanged_models():
    x = Parameter(Type.f32, SHAPE)
    yield "before an output", Model(ops.Relu(to_nhwc(x)), [x])
    yield "before a product", Model(ops.MatMul(ops.Relu(to_nhwc(x)), floats(3, 2), False, False), [x])
    yield "before a flattening", Model(ops.Reshape(ops.Sigmoid(to_nhwc(x)), ints(2, -1), False), [x])
    wide = Parameter(Type.f32, [2, 4, 5, 3])
    sum_ = ops.Add(to_nhwc(x), wide)
    yield "of one operand", Model([ops.Relu(sum_), ops.MatMul(sum_, floats(3, 2), False, False)], [x, wide])
    blocks = ops.SpaceToBatch(transposed(x, 0, 1, 3, 2), ints(1, 1, 5, 2), ints(0, 0, 0, 0), ints(0, 0, 5, 0))
    yield "of blocks in the batch", Model(transposed(blocks, 0, 1, 3, 2), [x])
    rank_unknown = Parameter(Type.f32, PartialShape.dynamic())
    yield "of unknown rank", Model(to_nchw(ops.Relu(to_nhwc(rank_unknown))), [rank_unknown])
    image = Parameter(Type.f32, [2, 3, 4, 5])
    squeezed = ops.Squeeze(rank_unknown, ints(1))
    yield "beside unknown ranks", Model([squeezed, ops.Relu(to_nhwc(image))], [rank_unknown, image])
    order = Parameter(Type.i64, [4])
    yield "of unknown order", Model(to_nchw(ops.Relu(ops.Transpose(x, order))), [x, order])


@pytest.mark.parametrize(("case", "model"), list(unchanged_models()))
def test_a_transpose_stays_if_moving_it_gains_nothing(case, model):
    before = [repr(node) for node in model.get_ordered_ops()]
    assert not sink_transposes(model)
    assert [repr(node) for node in model.get_ordered_ops()] == before


def test_tensor_names_stay_with_their_values():
    x = Parameter(Type.f32, SHAPE, name="x")
    last = to_nhwc(x, name="last")
    relu = ops.Relu(last, name="relu")
    first = to_nchw(relu, name="first")
    for node in (last, relu, first):
        node.output(0).names = {f"{node.friendly_name} values"}
    relu.rt_info["affinity"] = "DEVICE"
    data = floats(*SHAPE)
    model = Model(ops.Negative(first, name="end"), [x])
    sink_transposes(model)
    assert operations(model) == ["Relu", "Negative"]
    assert relu.output(0).names == {"first values"} and x.output(0).own_names == set()
    assert relu.rt_info["affinity"] == "DEVICE" and original_names(relu) == ("relu", "first")
    np.testing.assert_array_equal(run(model, data)[0], -np.maximum(data, 0))


def test_a_new_transpose_gets_the_affinity_of_its_neighbor():
    x = Parameter(Type.f32, [1, 8, 8, 3])
    convert = ops.Convert(x, Type.f64, name="convert")
    convert.rt_info["affinity"] = "DEVICE"
    model = Model(ops.Softmax(to_nchw(convert), 1), [x])
    sink_transposes(model)
    (added,) = (node for node in model.get_ordered_ops() if isinstance(node, ops.Transpose))
    assert isinstance(added.input_value(0).node, Parameter) and added.rt_info["affinity"] == "DEVICE"


@pytest.mark.parametrize("refused", ["none", "stem relu", "last"])
def test_query_covers_every_operation_of_the_model(refused):
    model = network(2)
    transformed = model.clone()
    sink_transposes(transformed)

    def unsupported_reason(node):
        return "not this one" if node.friendly_name == refused else None

    result = get_supported_nodes(model, transformed, unsupported_reason, "DEVICE")
    names = {node.friendly_name for node in model.get_ordered_ops()}
    assert result.keys() | result.refused.keys() >= {n.friendly_name for n in model.get_ordered_ops() if n.inputs()}
    assert (refused in result.refused) == (refused in names) and refused not in result


def test_no_transpose_parts_a_bias_and_an_activation_from_their_convolution():
    x = Parameter(Type.f32, [1, 8, 8, 3])
    model = Model(ops.Softmax(ops.Relu(ops.Add(convolution(x, 6), floats(6))), -1), [x])
    check(model, floats(1, 8, 8, 3))
    assert operations(model) == ["Transpose", "Convolution", "Add", "Relu", "Transpose", "Softmax"]


def test_a_vector_of_slopes_keeps_its_axis():
    x = Parameter(Type.f32, [2, 3, 5, 3])
    channels = floats(3)  # as many as there are rows
    model = Model(to_nhwc(ops.PRelu(to_nchw(x), channels)), [x])
    check(model, floats(2, 3, 5, 3))
    x = Parameter(Type.f32, [2, 5, 3, 3])
    model = Model(transposed(ops.PRelu(transposed(x, 0, 2, 1, 3), channels), 0, 2, 1, 3), [x])
    check(model, floats(2, 5, 3, 3))


def test_sequences_are_left_as_they_are():
    x = Parameter(Type.f32, [2, 3])
    turned = ops.Transpose(x, np.int64([1, 0]))
    model = Model([SequenceAt(SequenceConstruct([turned, turned]), np.int64(0))], [x])
    sink_transposes(model)
    value = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(Core().compile_model(model, "TEMPLATE")(value)[0], value.T)
