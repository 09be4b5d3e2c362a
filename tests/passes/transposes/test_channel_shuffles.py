"""Channel shuffles move into the filters of convolutions, and results stay the same."""

import numpy as np
import pytest

from hetero import Model, Parameter, Type, ops
from hetero.passes import channel_selection, sink_channel_shuffles
from tests.passes.test_passes import operations, run

GENERATOR = np.random.default_rng(0)
X = GENERATOR.standard_normal((2, 12, 5, 4)).astype(np.float32)


def floats(*shape):
    return GENERATOR.standard_normal(shape).astype(np.float32)


DENSE, GROUPS, DEPTHWISE = floats(7, 12, 3, 3), floats(4, 2, 3, 1, 1), floats(12, 1, 1, 3, 3)
BIAS, SLOPES = floats(1, 12, 1, 1), floats(12, 1, 1)


def shuffle(x, factors=(3, 4), order=(1, 0)):
    split = ops.Reshape(x, np.int64([2, *factors, 5, 4]), False)
    axes = [0, *(axis + 1 for axis in order), len(factors) + 1, len(factors) + 2]
    return ops.Reshape(ops.Transpose(split, np.int64(axes)), np.int64(X.shape), False, name="shuffle")


def convolution(x, filters):
    operation = ops.Convolution if filters.ndim == 4 else ops.GroupConvolution
    attributes = {"strides": [1, 1], "pads_begin": [0, 1], "pads_end": [0, 1], "dilations": [1, 1]}
    return operation(x, filters, **attributes, name="convolution")


def elementwise(x):
    scaled = ops.Multiply(SLOPES, ops.Relu(ops.Add(x, BIAS)))
    return ops.Clamp(ops.Subtract(np.float32(1), scaled), -1.0, 1.0)


def model(make):
    x = Parameter(Type.f32, X.shape)
    return Model(make(x), [x])


FOLDED = {
    "dense": lambda x: convolution(shuffle(x), DENSE),
    "depthwise, then dense": lambda x: convolution(elementwise(convolution(shuffle(x), DEPTHWISE)), DENSE[..., :2, :2]),
    "three factors": lambda x: convolution(shuffle(x, (2, 3, 2), (2, 0, 1)), DENSE),
    "ShuffleChannels": lambda x: convolution(ops.ShuffleChannels(x, 1, 3), DENSE),
    "Convert": lambda x: convolution(
        ops.Convert(convolution(ops.Convert(shuffle(x), "i32"), np.int32(9 * DEPTHWISE)), "f32"), DENSE
    ),
    "twice": lambda x: convolution(shuffle(ops.Relu(shuffle(x))), DENSE),
}
# What is left: the operations before the Gather, and those behind it.
GATHERED = {
    "group convolution": (lambda x: convolution(elementwise(shuffle(x)), GROUPS), ["GroupConvolution"]),
    "depthwise": (lambda x: convolution(convolution(shuffle(x), DEPTHWISE), GROUPS), ["GroupConvolution"]),
    "two readers": (lambda x: ops.Concat([convolution(y := shuffle(x), DENSE), convolution(y, DENSE)], 1),
                    ["Convolution", "Convolution", "Concat"]),
    "result": (shuffle, []),
    "one input": (lambda x: ops.Softmax(shuffle(x), 1), ["Softmax"]),
    "two values": (lambda x: ops.Add(shuffle(x), ops.Relu(x)), ["Add"]),
}  # fmt: skip
KEPT = {
    "batch": lambda x: ops.Reshape(ops.Transpose(x, np.int64([1, 0, 2, 3])), np.int64(X.shape), False),
    "positions": lambda x: ops.Reshape(
        ops.Transpose(ops.Reshape(x, np.int64([2, 12, 2, 10]), False), np.int64([0, 1, 3, 2])), np.int64(X.shape), False
    ),
    "channels and positions": lambda x: ops.Reshape(
        ops.Transpose(ops.Reshape(x, np.int64([2, 3, 4, 5, 4]), False), np.int64([0, 1, 3, 2, 4])),
        np.int64(X.shape),
        False,
    ),
    "ShuffleChannels of an image": lambda x: ops.ShuffleChannels(x, -1, 2),
}


@pytest.mark.parametrize("make", FOLDED.values(), ids=FOLDED)
def test_folded(make):
    expected, folded = run(model(make), X), model(make)
    assert sink_channel_shuffles(folded)
    assert not {"Gather", "Reshape", "Transpose"} & set(operations(folded))
    np.testing.assert_allclose(run(folded, X)[0], expected[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("make", "behind"), GATHERED.values(), ids=GATHERED)
def test_gathered(make, behind):
    expected, gathered = run(model(make), X), model(make)
    assert sink_channel_shuffles(gathered)
    left = operations(gathered)
    assert left[left.index("Gather") + 1 :] in (behind, ["Relu", *behind])
    assert not {"Reshape", "Transpose"} & set(left)
    np.testing.assert_allclose(run(gathered, X)[0], expected[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("make", KEPT.values(), ids=KEPT)
def test_kept(make):
    assert not sink_channel_shuffles(model(make))


def test_names():
    x = Parameter(Type.f32, X.shape)
    after = ops.Relu(shuffle(x), name="relu")
    after.output(0).names = {"activated"}
    sunk = Model(ops.Add(after, ops.Relu(x)), [x])
    sink_channel_shuffles(sunk)
    names = {node.friendly_name: node for node in sunk.get_ordered_ops()}
    assert isinstance(names["relu"], ops.Relu) and isinstance(names["shuffle"], ops.Gather)
    assert names["shuffle"].output(0).names == {"activated"} and not names["relu"].output(0).names


def test_selection():
    x = Parameter(Type.f32, X.shape)
    order = np.roll(np.arange(12), 5)
    for indices in (order, order[:7]):
        np.testing.assert_array_equal(channel_selection(ops.Gather(x, indices, np.int64(1))), indices)
    for indices, axis in ((order % 11, 1), (order + 1, 1), (np.int64([1, 0]), 0), (order.reshape(3, 4), 1)):
        assert channel_selection(ops.Gather(x, indices, np.int64(axis))) is None


@pytest.mark.parametrize("split", [
    lambda x: ops.Split(x, np.int64(1), 3),
    lambda x: ops.VariadicSplit(x, np.int64(-3), np.int64([2, -1, 6])),
])  # fmt: skip
def test_split(split):
    x = Parameter(Type.f32, X.shape)
    parts = split(shuffle(x))
    parts.output(1).names = {"middle"}
    model = Model([ops.Relu(part) for part in parts.outputs()], [x])
    expected = run(model, X)
    assert sink_channel_shuffles(model)
    assert operations(model) == ["Gather", "Relu"] * 3
    assert {"middle"} in [node.output(0).names for node in model.get_ordered_ops() if isinstance(node, ops.Gather)]
    for found, wanted in zip(run(model, X), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
