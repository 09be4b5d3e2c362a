"""StableHLO DOT_GENERAL and CONVOLUTION against numpy, as LiteRT has no kernels for them."""

import itertools

import numpy as np
import pytest

from hetero.system.errors import HeteroError
from tests.frontend.tflite.agreement import CORE, EACH_GPU, assert_gives
from tests.frontend.tflite.models import constant, feed, model_of, out

RANDOM = np.random.default_rng(0)


def numbers(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


# Shapes of the operands, their batch and their contracting dimensions, and the same for einsum.
DOTS = {
    "matrices": ((3, 4), (4, 5), [], [], [1], [0], "ab,bc->ac"),
    "both transposed": ((4, 3), (5, 4), [], [], [0], [1], "ba,cb->ac"),
    "batches": ((2, 3, 4), (2, 4, 5), [0], [0], [2], [1], "nab,nbc->nac"),
    "batches in the middle": ((3, 2, 4), (4, 5, 2), [1], [2], [2], [0], "anb,bcn->nac"),
    "several summed": ((2, 3, 4, 5), (4, 3, 6), [], [], [1, 2], [1, 0], "abcd,cbe->ade"),
    "several left": ((2, 3, 4), (4, 5, 6), [], [], [2], [0], "abc,cde->abde"),
    "vectors": ((4,), (4,), [], [], [0], [0], "a,a->"),
    "matrix and vector": ((3, 4), (4,), [], [], [1], [0], "ab,b->a"),
    "nothing summed": ((3,), (4,), [], [], [], [], "a,b->ab"),
    "element by element": ((3, 4), (3, 4), [0, 1], [0, 1], [], [], "ab,ab->ab"),
    "two batches": ((2, 3, 4, 5), (2, 3, 5, 6), [0, 1], [0, 1], [3], [2], "xyab,xybc->xyac"),
    "of nothing": ((0, 3, 4), (4, 5), [], [], [2], [0], "abc,cd->abd"),
}


def dot(x, y, batches, summed, expected, **more):
    return model_of(
        "STABLEHLO_DOT_GENERAL", feed(x, **more), feed(y), outputs=[out(expected.dtype, expected.shape)],
        lhs_batching_dimensions=batches[0], rhs_batching_dimensions=batches[1],
        lhs_contracting_dimensions=summed[0], rhs_contracting_dimensions=summed[1],
    )  # fmt: skip


@pytest.mark.parametrize("device", EACH_GPU)
@pytest.mark.parametrize("name", DOTS)
def test_dot_general(name, device):
    left, right, left_batch, right_batch, left_summed, right_summed, equation = DOTS[name]
    x, y = numbers(*left), numbers(*right)
    expected = np.einsum(equation, x, y)
    assert_gives(dot(x, y, (left_batch, right_batch), (left_summed, right_summed), expected), [expected], device)


@pytest.mark.parametrize("signature", [(-1, 3, 4), (-1, -1, 4), (2, 3, -1)])
def test_dot_general_of_dimensions_that_change(signature):
    x, y = numbers(2, 3, 4), numbers(4, 5, 6)
    expected = np.einsum("abc,cde->abde", x, y)
    assert_gives(dot(x, y, ([], []), ([2], [0]), expected, signature=signature), [expected], "TEMPLATE")


def test_dot_general_of_integers():
    x, y = np.int8([[100, 100], [-100, 7]]), np.int8([[100, -1], [100, 2]])
    expected = x.astype(np.int32) @ y.astype(np.int32)
    assert_gives(dot(x, y, ([], []), ([1], [0]), expected), [expected], "TEMPLATE")


def test_dot_general_of_quantized_weights():
    x, weights, scale = numbers(2, 3), RANDOM.integers(-128, 128, (3, 4)).astype(np.int8), np.float32([0.1, 1, 2, 3])
    expected = x @ (weights * scale)
    model = model_of(
        "STABLEHLO_DOT_GENERAL", feed(x), constant(weights, scale=scale, axis=1), lhs_contracting_dimensions=[1],
        outputs=[out(np.float32, (2, 4))], rhs_contracting_dimensions=[0],
    )  # fmt: skip
    assert_gives(model, [expected], "TEMPLATE")


def convolution(x, w, steps, pads, spread, dilations, turned, groups, batch_groups):
    """Convolve data [N, C, …] by filters [O, C / groups, …] by the sum in the specification."""
    x = np.split(x, batch_groups, axis=0) if batch_groups > 1 else np.split(x, groups, axis=1)
    filters = np.split(w, max(groups, batch_groups), axis=0)
    return np.concatenate([plain(a, f, steps, pads, spread, dilations, turned) for a, f in zip(x, filters)], axis=1)


def plain(x, w, steps, pads, spread, dilations, turned):
    count = x.ndim - 2
    wide = np.zeros((*x.shape[:2], *((n - 1) * d + 1 for n, d in zip(x.shape[2:], spread))), np.float32)
    wide[(slice(None), slice(None), *(slice(None, None, d) for d in spread))] = x
    positive = np.maximum(pads, 0)
    wide = np.pad(wide, [(0, 0), (0, 0), *map(tuple, positive)])
    cut = np.minimum(pads, 0)
    wide = wide[(slice(None), slice(None), *(slice(-b, e or None) for b, e in cut))]
    w = np.flip(w, [2 + axis for axis in range(count) if turned[axis]])
    spans = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilations)]
    lengths = [(n - span) // s + 1 for n, span, s in zip(wide.shape[2:], spans, steps)]
    y = np.zeros((x.shape[0], w.shape[0], *lengths), np.float32)
    for place in itertools.product(*map(range, lengths)):
        part = tuple(slice(p * s, p * s + span, d) for p, s, span, d in zip(place, steps, spans, dilations))
        window = wide[(slice(None), slice(None), *part)]
        y[(slice(None), slice(None), *place)] = np.tensordot(window, w, (range(1, 2 + count), range(1, 2 + count)))
    return y


# Data [N, C, …], filters [O, C, …], strides, padding, dilation of the data and of the filters, filters turned around,
# groups of features and of batches.
ONE = (1, 1)
NONE = [(0, 0), (0, 0)]
CONVOLUTIONS = {
    "plain": ((2, 3, 6, 7), (4, 3, 3, 2), ONE, NONE, ONE, ONE, (0, 0), 1, 1),
    "strides and padding": ((1, 3, 6, 7), (4, 3, 3, 2), (2, 1), [(1, 2), (0, 3)], ONE, ONE, (0, 0), 1, 1),
    "cut off": ((1, 3, 6, 7), (4, 3, 3, 2), ONE, [(-1, 2), (0, -2)], ONE, ONE, (0, 0), 1, 1),
    "dilated": ((1, 3, 6, 7), (4, 3, 3, 2), ONE, NONE, ONE, (2, 3), (0, 0), 1, 1),
    "transposed": ((1, 3, 4, 5), (4, 3, 3, 2), ONE, [(2, 2), (1, 1)], (2, 3), ONE, (1, 1), 1, 1),
    "turned": ((1, 3, 6, 7), (4, 3, 3, 2), ONE, NONE, ONE, ONE, (1, 0), 1, 1),
    "groups": ((1, 6, 6, 7), (4, 3, 3, 2), ONE, NONE, ONE, ONE, (0, 0), 2, 1),
    "depthwise": ((1, 4, 6, 7), (8, 1, 3, 2), ONE, NONE, ONE, ONE, (0, 0), 4, 1),
    "groups of batches": ((6, 3, 6, 7), (4, 3, 3, 2), ONE, NONE, ONE, ONE, (0, 0), 1, 2),
    "one dimension": ((2, 3, 8), (4, 3, 3), (2,), [(1, 0)], (1,), (1,), (0,), 1, 1),
    "three dimensions": ((1, 2, 4, 5, 3), (3, 2, 2, 2, 2), (1,) * 3, [(0, 1)] * 3, (1,) * 3, (1,) * 3, (0,) * 3, 1, 1),
    "no dimension": ((2, 3), (4, 3), (), [], (), (), (), 1, 1),
}  # fmt: skip


@pytest.mark.parametrize("device", EACH_GPU)
@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.parametrize("last", [False, True])
def test_convolution(name, last, device):
    shape, filters, steps, pads, spread, dilations, turned, groups, batch_groups = CONVOLUTIONS[name]
    x, w = numbers(*shape), numbers(*filters)
    expected = convolution(x, w, steps, pads, spread, dilations, turned, groups, batch_groups)
    count = len(steps)
    # Where batch, channels and the spatial axes are: as above, or as TensorFlow has them.
    places = (0, count + 1, list(range(1, count + 1))) if last else (0, 1, list(range(2, count + 2)))
    kernel = (count + 1, count, list(range(count))) if last else places
    if last:
        x, expected = np.moveaxis(x, 1, -1).copy(), np.moveaxis(expected, 1, -1)
        w = np.moveaxis(w, (0, 1), (-1, -2)).copy()
    model = model_of(
        "STABLEHLO_CONVOLUTION", feed(x), constant(w), outputs=[out(np.float32, expected.shape)],
        window_strides=steps, padding=np.ravel(pads).astype(int), lhs_dilation=spread, rhs_dilation=dilations,
        window_reversal=turned, feature_group_count=groups, batch_group_count=batch_groups,
        input_batch_dimension=places[0], input_feature_dimension=places[1], input_spatial_dimensions=places[2],
        kernel_output_feature_dimension=kernel[0], kernel_input_feature_dimension=kernel[1],
        kernel_spatial_dimensions=kernel[2], output_batch_dimension=places[0], output_feature_dimension=places[1],
        output_spatial_dimensions=places[2],
    )  # fmt: skip
    assert_gives(model, [expected], device)


@pytest.mark.parametrize(
    ("kind", "shapes", "options", "message"),
    [
        (
            "DOT_GENERAL",
            [(2, 3), (3, 4)],
            {"lhs_contracting_dimensions": [2]},
            r"\[2\] must be different axes of \[2,3\]",
        ),
        ("DOT_GENERAL", [(2, 3), (3, 4)], {"lhs_contracting_dimensions": [1]}, "different numbers of batching"),
        ("CONVOLUTION", [(1, 2, 3), (1, 2, 3)], {}, r"input_spatial_dimensions \[\] must have 1 elements"),
    ],
)
def test_refused(kind, shapes, options, message):
    inputs = [feed(shape) for shape in shapes]
    content = model_of(f"STABLEHLO_{kind}", *inputs, outputs=[out(np.float32, (1,))], **options).content
    with pytest.raises(HeteroError, match=message):
        CORE.read_model(content)
