"""Batching: a model is batched only if that is provable, and then each sample has the result it has alone."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from hetero import Core, Layout, Model, Output, Parameter, Type, ops
from hetero.graph import Constant
from hetero.virtual.batching import Batching, NotBatchable
from tests import zoo

SIZE = 3
RNG = np.random.default_rng(0)


def constant(*shape: int) -> Constant:
    return Constant(RNG.standard_normal(shape).astype(np.float32))


def indices(*values: int) -> Constant:
    return Constant(np.array(values, np.int64))


def model_of(build: Callable[[Output], object], shape: tuple[int, ...]) -> Model:
    x = Parameter(Type.f32, shape, name="x")
    return Model(build(x.output(0)), [x], "model")


def flat(x: Output) -> Output:
    """Reshape to [batch, the rest], with a batch that is read from the shape at run time."""
    batch = ops.Gather(ops.ShapeOf(x), indices(0), indices(0))
    return ops.Reshape(x, ops.Concat([batch, indices(-1)], 0), False).output(0)


def attention(x: Output) -> Output:
    """Scaled dot products of rows, [1, rows, width]."""
    scores = ops.MatMul(x, x, False, True)
    return ops.MatMul(ops.Softmax(scores, -1), x, False, False).output(0)


ROWS, IMAGE = (1, 4, 6), (1, 3, 8, 8)
SEPARATE = {
    "element-wise": (lambda x: ops.Relu(ops.Add(x, constant(6))), ROWS),
    "clamp": (lambda x: ops.Clamp(x, -0.5, 0.5), ROWS),
    "with itself": (lambda x: ops.Multiply(x, ops.Sigmoid(x)), ROWS),
    "convolution": (lambda x: ops.Convolution(x, constant(5, 3, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1]), IMAGE),
    "pooling": (lambda x: ops.MaxPoolV1(x, [2, 2], [0, 0], [0, 0], [2, 2]), IMAGE),
    "matrix on the right": (lambda x: ops.MatMul(x, constant(6, 5), False, False), ROWS),
    "rows of a matrix": (lambda x: ops.MatMul(x, constant(5, 6), False, True), (1, 6)),
    "attention": (attention, ROWS),
    "transposes": (lambda x: ops.Transpose(ops.Softmax(ops.Transpose(x, [1, 0, 2]), 2), [1, 0, 2]), ROWS),
    "reshape by 0": (lambda x: ops.Reshape(x, indices(0, -1), True), ROWS),
    "reshape by a constant 1": (lambda x: ops.Reshape(x, indices(1, -1), False), ROWS),
    "reshape by ShapeOf": (flat, ROWS),
    "squeeze": (lambda x: ops.Squeeze(ops.Unsqueeze(x, indices(1)), indices(1)), ROWS),
    "reduction": (lambda x: ops.ReduceMean(x, indices(1, 2), False), ROWS),
    "softmax": (lambda x: ops.Softmax(x, 1), ROWS),
    "normalization": (lambda x: ops.MVN(x, indices(-1), True, 1e-5, "INSIDE_SQRT"), ROWS),
    "concatenation": (lambda x: ops.Concat([x, ops.Relu(x)], 2), ROWS),
    "gather": (lambda x: ops.Gather(x, indices(2, 0), indices(1)), ROWS),
    "slice": (lambda x: ops.Slice(x, indices(1), indices(3), indices(1), indices(1)), ROWS),
    "pad": (lambda x: ops.Pad(x, indices(0, 1, 0), indices(0, 0, 2), "constant"), ROWS),
    "split": (lambda x: ops.Split(x, np.int64(1), 2).output(1), ROWS),
    "broadcast": (lambda x: ops.Add(x, ops.Broadcast(constant(1, 1, 6), ops.ShapeOf(x))), ROWS),
    "top k": (lambda x: ops.TopKV1(x, np.int64(2), 1, "max", "value").output(0), ROWS),
}
MIXING = {
    "mean over the batch": (lambda x: ops.Subtract(x, ops.ReduceMean(x, indices(0), True)), ROWS, "ReduceMean"),
    "softmax over the batch": (lambda x: ops.Softmax(x, 0), ROWS, "Softmax"),
    "sum over the batch": (lambda x: ops.CumSum(x, np.int64(0)), ROWS, "CumSum"),
    "product of samples": (lambda x: ops.MatMul(x, x, True, False), (1, 6), "MatMul"),
    "batch in a row": (lambda x: ops.Reshape(x, indices(-1), False), ROWS, "Reshape"),
    "rows and batch": (lambda x: ops.Reshape(x, indices(4, -1), False), ROWS, "Reshape"),
    "reversed batch": (
        lambda x: ops.Slice(x, indices(-1), indices(-100), indices(-1), indices(0)), ROWS, "Slice",
    ),
    "concatenated batch": (lambda x: ops.Concat([x, x], 0), ROWS, "Concat"),
    "gathered batch": (lambda x: ops.Gather(x, indices(0), indices(0)), ROWS, "Gather"),
    "data times batch size": (
        lambda x: ops.Multiply(x, ops.Convert(ops.Gather(ops.ShapeOf(x), indices(0), indices(0)), "f32")),
        ROWS,
        "Multiply",
    ),
    "no rule": (lambda x: ops.Roll(x, indices(1), indices(1)), ROWS, "Roll"),
    "a scalar": (lambda x: ops.ReduceMean(x, indices(0, 1, 2), False), ROWS, "ReduceMean"),
}  # fmt: skip


@pytest.mark.parametrize("name", SEPARATE)
def test_samples_of_a_batch_have_the_results_that_they_have_alone(name):
    build, shape = SEPARATE[name]
    model = model_of(build, shape)
    batched = Core().compile_model(Batching(model, SIZE).model, "TEMPLATE")
    alone = Core().compile_model(model, "TEMPLATE")
    x = RNG.standard_normal((SIZE, *shape[1:]), np.float32)
    expected = np.concatenate([alone(sample[np.newaxis])[0] for sample in x])
    np.testing.assert_allclose(batched(x)[0], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", MIXING)
def test_models_that_mix_samples_are_refused(name):
    build, shape, operation = MIXING[name]
    with pytest.raises(NotBatchable, match=f"{operation} '.*' may mix the samples of a batch"):
        Batching(model_of(build, shape), SIZE)


def test_inputs_without_a_batch_are_refused():
    for shape in ((), (2, 3), (0,)):
        with pytest.raises(NotBatchable, match=re.escape(f"input 'x' has the shape {list(shape)}")):
            Batching(model_of(lambda x: ops.Relu(x), shape), SIZE)
    x = Parameter(Type.f32, [1, 4], name="x")
    x.set_layout(Layout("CW"))
    with pytest.raises(NotBatchable, match="input 'x'"):
        Batching(Model(ops.Relu(x), [x]), SIZE)
    x.set_layout(Layout("NC"))
    Batching(Model(ops.Relu(x), [x]), SIZE)


def test_the_model_is_not_changed():
    model = model_of(SEPARATE["reshape by a constant 1"][0], ROWS)
    Batching(model, SIZE)
    assert model.output().get_shape() == (1, 24)


@pytest.mark.parametrize("name", ["squeezenet", "ocr_recognition", "face_detection", "magika", "basic_pitch_lite"])
def test_models_of_the_zoo(name):
    core = Core()
    core.add_extension("configs/mediapipe_operators.py")
    model = core.read_model(zoo.path(name))
    samples = [zoo.inputs(name, seed) for seed in range(2)]
    model.reshape({port: array.shape for port, array in samples[0].items()})
    batched = core.compile_model(Batching(model, 2).model, "TEMPLATE")
    together = batched({port: np.concatenate([one[port] for one in samples]) for port in samples[0]})
    alone = core.compile_model(model, "TEMPLATE")
    for index, sample in enumerate(samples):
        for found, expected in zip(together.to_tuple(), alone(sample).to_tuple(), strict=True):
            scale = np.abs(expected).max()
            np.testing.assert_allclose(found[index : index + 1], expected, rtol=0, atol=1e-5 * scale)
