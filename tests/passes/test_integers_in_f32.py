"""compute_integers_in_f32: what it replaces gives the same numbers, up to the largest sums that f32 holds."""

import numpy as np
import pytest

from hetero import Core, Model, Parameter, Type, ops
from hetero.passes import compute_integers_in_f32, fold_constants

# The largest number of products of 255 and -128 whose sum is below 2^24.
LONGEST = 2**24 // (255 * 128)


def products(model: Model) -> list[ops.Node]:
    return [node for node in model.get_ordered_ops() if isinstance(node, (ops.MatMul, ops.Convolution))]


def product_of_bytes(weights: np.ndarray, zero_point: int = 0) -> Model:
    """Return a model of the product of bytes, minus a zero point, and weights, converted to f32."""
    x = Parameter(Type.u8, [2, len(weights)])
    data = ops.Subtract(ops.Convert(x, "i32"), np.int32(zero_point))
    product = ops.MatMul(data, weights.astype(np.int32), False, False)
    return Model([ops.Convert(product, "f32")], [x])


@pytest.mark.parametrize(("length", "is_exact"), [(LONGEST, True), (LONGEST + 1, False), (1024, False)])
def test_products_of_extremes(length, is_exact):
    weights = np.full((length, 3), -128)
    weights[:, 1] = 127
    weights[::2, 2] = 127
    model = product_of_bytes(weights)
    assert compute_integers_in_f32(model) is is_exact
    assert [node.get_element_type() for node in products(model)] == [Type.f32 if is_exact else Type.i32]
    data = np.stack([np.full(length, 255), np.arange(length) % 2 * 255]).astype(np.uint8)
    found = Core().compile_model(model, "TEMPLATE")([data])[0]
    np.testing.assert_array_equal(found, (data.astype(np.int64) @ weights).astype(np.float32), strict=True)


@pytest.mark.parametrize(("zero_point", "is_exact"), [(0, False), (128, True), (255, False)])
def test_a_zero_point_changes_the_bound(zero_point, is_exact):
    model = product_of_bytes(np.full((LONGEST + 9, 1), 128), zero_point)
    assert compute_integers_in_f32(model) is is_exact


def test_weights_of_both_signs_are_bounded_by_the_larger_sum():
    for count, is_exact in ((LONGEST, True), (LONGEST + 1, False)):
        weights = np.full((2 * count, 1), -128)
        weights[::2] = 128
        assert compute_integers_in_f32(product_of_bytes(weights)) is is_exact


@pytest.mark.parametrize("bias", [2**25 + 4, -(2**25), 2**25 + 1, 2**31 - 1])
def test_a_sum_with_a_bias_is_rounded_once(bias):
    """A bias that f32 holds is added in f32; the sum is rounded as the conversion of the exact sum is."""
    x = Parameter(Type.i8, [256, 1])
    product = ops.MatMul(ops.Convert(x, "i32"), np.int32([[3]]), False, False)
    model = Model([ops.Convert(ops.Add(product, np.int32(bias)), "f32")], [x])
    is_exact = int(np.float32(bias)) == bias
    assert compute_integers_in_f32(model) is is_exact
    data = np.arange(-128, 128).astype(np.int8).reshape(-1, 1)
    sums = (data.astype(np.int64) * 3 + bias + 2**31) % 2**32 - 2**31
    found = Core().compile_model(model, "TEMPLATE")([data])[0]
    np.testing.assert_array_equal(found, sums.astype(np.float32), strict=True)


def test_convolutions_with_padding_and_movements_between():
    """The image is padded with zeros after the zero point was subtracted, in f32 too."""
    rng = np.random.default_rng(0)
    x = Parameter(Type.f32, [1, 4, 6, 6])
    data = ops.Convert(ops.Clamp(ops.Round(x, "half_to_even"), 0.0, 255.0), "u8")
    pooled = ops.MaxPool(data, [1, 1], [1, 1], [0, 0], [0, 0], [2, 2])
    joined = ops.Concat([pooled.output(0), pooled.output(0)], 1)
    image = ops.Subtract(ops.Convert(joined, "i32"), np.int32(7))
    filters = rng.integers(-128, 128, (5, 8, 3, 3)).astype(np.int32)
    sums = ops.Add(ops.Convolution(image, filters, [1, 1], [1, 1], [1, 1], [1, 1]), np.int32(11))
    model = Model([ops.Convert(sums, "f32")], [x])
    array = rng.integers(-9, 300, (1, 4, 6, 6)).astype(np.float32)
    expected = Core().compile_model(model, "TEMPLATE")([array])[0]
    assert compute_integers_in_f32(model)
    assert all(value.element_type is Type.f32 for value in (*products(model)[0].input_values(), model.output(0)))
    np.testing.assert_array_equal(Core().compile_model(model, "TEMPLATE")([array])[0], expected, strict=True)


@pytest.mark.parametrize(("length", "is_exact"), [(LONGEST, True), (LONGEST + 1, False)])
def test_one_zero_point_of_all_that_is_not_constant(length, is_exact):
    """All numbers are from -z to 255 - z for one z. Weights are bytes with a zero point per column."""
    x, zero_point = Parameter(Type.u8, [2, length]), Parameter(Type.u8, [1])
    weights = np.zeros((length, 2), np.uint8)
    weights[:, 1] = np.where(np.arange(length) % 3 == 0, 255, 0)
    numbers = ops.Subtract(ops.Convert(ops.Constant(weights), "i32"), np.int32([[128, 127]]))
    data = ops.Subtract(ops.Convert(x, "i32"), ops.Convert(zero_point, "i32"))
    model = Model([ops.Convert(ops.MatMul(data, numbers, False, False), "f32")], [x, zero_point])
    assert compute_integers_in_f32(model) is is_exact
    array = np.full((2, length), 255, np.uint8)
    array[1] = np.arange(length) % 256
    for point in (0, 7, 255):
        found = Core().compile_model(model, "TEMPLATE")([array, np.uint8([point])])[0]
        expected = (array.astype(np.int64) - point) @ (weights.astype(np.int64) - [128, 127])
        np.testing.assert_array_equal(found, expected.astype(np.float32), strict=True)


def test_what_something_else_reads_stays():
    x = Parameter(Type.u8, [2, 8])
    product = ops.MatMul(ops.Convert(x, "i32"), np.ones((8, 3), np.int32), False, False)
    model = Model([product, ops.Convert(product, "f32")], [x])
    assert not compute_integers_in_f32(model)
    assert [node.get_element_type() for node in products(model)] == [Type.i32]


def test_matrices_that_are_not_constant():
    """Their sums are bounded by the number of products."""
    for length, is_exact in ((258, True), (259, False)):
        left, right = Parameter(Type.u8, [2, length]), Parameter(Type.u8, [length, 2])
        product = ops.MatMul(ops.Convert(left, "i32"), ops.Convert(right, "i32"), False, False)
        model = Model([ops.Convert(product, "f32")], [left, right])
        fold_constants(model)
        assert compute_integers_in_f32(model) is is_exact
