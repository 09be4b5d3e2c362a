"""Work estimates, compared with the numbers in papers and with counts by hand."""

import numpy as np
import pytest

from hetero import Core, Model, Parameter, PartialShape, Type, ops
from hetero.ops.work_estimate import Work, assumed_shapes, bytes_of, model_work, work_of
from tests import zoo

MATRIX_PRODUCTS = ("Convolution", "GroupConvolution", "MatMul")


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("resnet50", 4.09),  # torchvision's table of models, with the stride in the 3x3 convolutions
        ("densenet121", 2.83),  # the same table
        ("squeezenet", 0.352),  # SqueezeNet 1.1 by its README
        ("inception_v1", 1.43),  # "Going deeper with convolutions" says 1.5
    ],
)
def test_multiply_adds_of_known_networks(name, billions):
    model = Core().read_model(zoo.path(name))
    shapes = assumed_shapes(model)
    products = [node for node in model.get_ordered_ops() if node.type_info.name in MATRIX_PRODUCTS]
    operations = sum(work_of(node, shapes).operations for node in products)
    assert operations / 2e9 == pytest.approx(billions, rel=0.02)
    assert 1.0 <= model_work(model).operations / operations < 1.15


def x(*shape, kind=Type.f32):
    return Parameter(kind, list(shape))


def zeros(*shape):
    return np.zeros(shape, np.float32)


CASES = {
    "MatMul": (lambda: ops.MatMul(x(2, 3, 4), zeros(4, 5), False, False), 2 * 2 * 3 * 4 * 5, 4 * (24 + 20 + 30)),
    "MatMul, transposed": (lambda: ops.MatMul(x(4, 3), zeros(5, 4), True, True), 2 * 3 * 4 * 5, 4 * (12 + 20 + 15)),
    "MatMul of vectors": (lambda: ops.MatMul(x(7), zeros(7), False, False), 2 * 7, 4 * 15),
    "Convolution": (
        lambda: ops.Convolution(x(1, 3, 8, 8), zeros(5, 3, 3, 3), [1, 1], [0, 0], [0, 0], [1, 1]),
        2 * 5 * 6 * 6 * 3 * 9,
        4 * (192 + 135 + 180),
    ),
    "GroupConvolution": (
        lambda: ops.GroupConvolution(x(1, 4, 8, 8), zeros(4, 1, 1, 3, 3), [2, 2], [1, 1], [1, 1], [1, 1]),
        2 * 4 * 4 * 4 * 9,
        4 * (256 + 36 + 64),
    ),
    "ConvolutionBackpropData": (
        lambda: ops.ConvolutionBackpropData(x(1, 3, 4, 4), zeros(3, 5, 2, 2), [2, 2]),
        2 * 3 * 16 * 5 * 4,
        4 * (48 + 60 + 320),
    ),
    "MaxPool": (
        lambda: ops.MaxPool(x(1, 2, 4, 4), [2, 2], [1, 1], [0, 0], [0, 0], [2, 2]).output(0).node,
        2 * 4 * 4,
        4 * (32 + 8) + 8 * 8,  # and the indices
    ),
    "Einsum": (lambda: ops.Einsum([x(2, 3, 4), zeros(2, 4, 5)], "bij,bjk->bik"), 2 * 2 * 3 * 4 * 5, 4 * (24 + 40 + 30)),
    "ScaledDotProductAttention": (
        lambda: ops.ScaledDotProductAttention(x(2, 6, 8), x(2, 5, 8), x(2, 5, 9)),
        2 * (2 * 6 * 5 * 8 + 2 * 6 * 5 * 9),
        4 * (96 + 80 + 90 + 108),
    ),
    "GRUSequence": (
        lambda: ops.GRUSequence(
            x(2, 7, 3), zeros(2, 1, 4), np.int64([7, 7]), zeros(1, 12, 3), zeros(1, 12, 4), zeros(1, 12), 4, "forward"
        ),
        2 * 2 * 7 * (12 * 3 + 12 * 4),
        4 * (42 + 8 + 36 + 48 + 12 + 56 + 8) + 16,
    ),
    "Add": (lambda: ops.Add(x(2, 1), zeros(3)), 6, 4 * (2 + 3 + 6)),
    "ReduceSum": (lambda: ops.ReduceSum(x(8, 9), np.int64(0)), 72, 4 * (72 + 9) + 8),
    "Transpose": (lambda: ops.Transpose(x(8, 9), np.int64([1, 0])), 0, 4 * 144 + 16),
    "Gather": (lambda: ops.Gather(x(1000, 4), np.int64([1, 2]), np.int64(0)), 0, 2 * 4 * 8),
    "Reshape": (lambda: ops.Reshape(x(8, 9), np.int64([72]), False), 0, 0),
    "ShapeOf": (lambda: ops.ShapeOf(x(8, 9)), 0, 0),
}


@pytest.mark.parametrize("case", CASES)
def test_counts_by_hand(case):
    make, operations, byte_count = CASES[case]
    node = make()
    shapes = {value: value.shape for value in (*node.input_values(), *node.outputs())}
    assert work_of(node, shapes) == Work(operations, byte_count)


def test_a_loop_counts_its_body_as_often_as_it_runs():
    i, carried = x(2, kind=Type.f32), x(2, kind=Type.f32)
    body = Model([ops.Relu(i), ops.Constant(np.array(True))], [i])
    loop = ops.Loop(np.int64(5), np.array(True))
    loop.set_function(body)
    loop.set_special_body_ports([-1, 1])
    loop.set_merged_input(i, carried, body.results[0].input_value(0))
    loop.get_iter_value(body.results[0].input_value(0), -1)
    assert work_of(loop, {value: value.shape for value in loop.outputs()}) == Work(5 * 2, 5 * 16)


def test_shapes_are_assumed_together():
    """A dynamic batch is 1, another dynamic length 64 or what its bounds allow; other shapes follow from these."""
    image = Parameter(Type.f32, PartialShape("?,3,?,..32"))
    pooled = ops.MaxPool(image, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2])
    found = ops.NonZero(pooled.output(0))
    model = Model([found], [image])
    shapes = assumed_shapes(model)
    assert [shapes[value] for value in (image.output(0), pooled.output(0), found.output(0))] == [
        (1, 3, 64, 32),
        (1, 3, 32, 16),
        (4, 64),
    ]
    assert assumed_shapes(model, {0: (2, 3, 8, 8)})[pooled.output(0)] == (2, 3, 4, 4)
    assert bytes_of(found.output(0), shapes) == 8 * 4 * 64
    assert image.partial_shape.is_dynamic
    assert model_work(model).operations == 4 * 3 * 32 * 16 + 3 * 32 * 16


def test_lengths_that_do_not_fit_are_no_error():
    a, b = Parameter(Type.f32, [-1, 3]), Parameter(Type.f32, [-1, -1])
    joined = ops.Add(ops.Reshape(a, np.int64([5, 7]), False), b)
    assert assumed_shapes(Model([joined], [a, b]))[joined.output(0)] == (5, 7)
