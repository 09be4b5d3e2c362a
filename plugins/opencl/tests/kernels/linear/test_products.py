"""MatMul, compared with numpy: sizes around tiles, batches, types, transposed and constant inputs, biases."""

import numpy as np
import pytest

import hetero
from hetero import Constant, Parameter, Type, ops
from hetero.graph import execution

GENERATOR = np.random.default_rng(0)


def numbers(*shape):
    return GENERATOR.standard_normal(shape).astype(np.float32)


def close(found, expected):
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=1e-5 * max(1, abs(expected).max(initial=0)))


def multiply(run, a, b, transposes=(False, False), constants=(False, False), bias=None):
    parameters, arrays, sides = [], [], []
    for array, is_constant in zip((a, b), constants):
        if is_constant:
            sides.append(Constant(array))
        else:
            parameters.append(Parameter(Type(array.dtype), array.shape))
            arrays.append(array)
            sides.append(parameters[-1])
    node = ops.MatMul(*sides, *transposes)
    return run([node if bias is None else ops.Add(node, Constant(bias))], parameters, arrays)[0]


@pytest.mark.parametrize("rows", [1, 2, 5, 12, 13, 25])
@pytest.mark.parametrize("columns", [1, 3, 6, 7, 16, 17, 32, 70])
@pytest.mark.parametrize("constants", [(False, False), (False, True), (True, False)])
def test_sizes(run, rows, columns, constants):
    a, b = numbers(rows, 19), numbers(19, columns)
    close(multiply(run, a, b, constants=constants), a @ b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((4, 5), (5,)), ((5,), (5, 4)), ((5,), (5,)), ((3, 4, 5), (5,)), ((5,), (3, 5, 4)),
        ((2, 3, 4, 5), (5, 6)), ((2, 3, 4, 5), (2, 3, 5, 6)), ((4, 5), (2, 3, 5, 6)), ((1, 3, 4, 5), (2, 1, 5, 6)),
        ((3, 4, 5), (2, 3, 5, 6)), ((2, 1, 4, 5), (3, 5, 6)), ((2, 0, 5), (5, 6)), ((4, 0), (0, 6)), ((4, 5), (5, 0)),
        ((0, 4, 5), (0, 5, 6)), ((2, 7, 33, 40), (2, 7, 40, 34)), ((2, 1, 3, 1, 4, 5), (1, 3, 1, 2, 5, 6)),
        ((3, 4, 5), (3, 5, 1)), ((2, 1, 4, 5), (3, 5, 1)), ((3, 1, 5), (3, 5, 4)), ((2, 4, 0), (2, 0, 3)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("constants", [(False, False), (False, True), (True, False)])
def test_ranks_and_batches(run, a, b, constants):
    a, b = numbers(*a), numbers(*b)
    close(multiply(run, a, b, constants=constants), np.asarray(np.matmul(a, b)))


@pytest.mark.parametrize("transposes", [(True, False), (False, True), (True, True)])
@pytest.mark.parametrize("constants", [(False, False), (False, True), (True, False)])
@pytest.mark.parametrize(("batch_a", "batch_b"), [((), ()), ((3,), ()), ((), (3,)), ((2, 1), (1, 3)), ((3,), (3,))])
def test_transposes(run, transposes, constants, batch_a, batch_b):
    a, b = numbers(*batch_a, 9, 18), numbers(*batch_b, 18, 20)
    sides = [array.swapaxes(-1, -2).copy() if swap else array for array, swap in zip((a, b), transposes)]
    close(multiply(run, *sides, transposes, constants), a @ b)


@pytest.mark.parametrize("columns", [1, 4, 40])
@pytest.mark.parametrize("bias", ["row", "column", "number", "whole"])
def test_biases(run, columns, bias):
    a, b = numbers(2, 5, 30), numbers(30, columns)
    added = {"row": numbers(columns), "column": numbers(5, 1), "number": numbers(1), "whole": numbers(2, 5, columns)}
    close(multiply(run, a, b, constants=(False, True), bias=added[bias]), a @ b + added[bias])


def test_a_value_times_itself(run):
    x = numbers(6, 6)
    parameter = Parameter(Type.f32, x.shape)
    product = ops.MatMul(parameter, parameter, False, True)
    square = ops.MatMul(product, product, False, False)
    found = run([square, product], [parameter], [x])
    close(found[0], x @ x.T @ x @ x.T)
    close(found[1], x @ x.T)


@pytest.mark.parametrize(("kind", "tolerance"), [(Type.f16, 1e-3), (Type.bf16, 8e-3), (Type.f64, 1e-14)], ids=str)
@pytest.mark.parametrize(("a", "b"), [((2, 7, 50), (50, 33)), ((9, 50), (50, 1)), ((2, 13, 50), (2, 50, 20))])
@pytest.mark.parametrize("has_bias", [False, True])
def test_floating_point_types(run, kind, tolerance, a, b, has_bias):
    """Sums are computed in f32 at least: the error is one rounding of the result."""
    a, b, bias = (numbers(*shape).astype(kind.to_dtype()) for shape in (a, b, b[-1:]))
    found = multiply(run, a, b, bias=bias if has_bias else None)
    wide = [array.astype(np.float64) for array in (a, b, bias)]
    expected = wide[0] @ wide[1] + (wide[2] if has_bias else 0)
    assert found.dtype == kind.to_dtype()
    magnitude = np.abs(wide[0]) @ np.abs(wide[1])
    assert (np.abs(found.astype(np.float64) - expected) <= tolerance * (np.abs(expected) + 0.01 * magnitude)).all()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
@pytest.mark.parametrize("columns", [1, 35])
@pytest.mark.parametrize("transposes", [(False, False), (True, True)])
def test_integers_wrap_around(run, dtype, columns, transposes):
    limits = np.iinfo(dtype)
    a, b = (GENERATOR.integers(limits.min, limits.max, shape, dtype, True) for shape in ((2, 7, 37), (37, columns)))
    sides = [array.swapaxes(-1, -2).copy() if swap else array for array, swap in zip((a, b), transposes)]
    bias = GENERATOR.integers(limits.min, limits.max, columns, dtype, True)
    found = multiply(run, *sides, transposes, bias=bias)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.matmul(a, b) + bias)


@pytest.mark.parametrize("dtypes", [(np.uint8, np.int8), (np.int8, np.uint8), (np.uint16, np.int16)])
@pytest.mark.parametrize("columns", [1, 35])
@pytest.mark.parametrize("is_constant", [False, True])
def test_products_of_small_integers(device, dtypes, columns, is_constant):
    """The conversions are fused: only the kernel of the product runs. A constant is stored in the small type."""
    limits = [np.iinfo(dtype) for dtype in dtypes]
    shapes = (7, 37), (37, columns)
    a, b = (GENERATOR.integers(one.min, one.max, shape, one.dtype, True) for one, shape in zip(limits, shapes))
    parameters = [Parameter(Type(array.dtype), array.shape) for array in (a, b)]
    right = Constant(b.astype(np.int32)) if is_constant else ops.Convert(parameters[1], "i32")
    product = ops.MatMul(ops.Convert(parameters[0], "i32"), right, False, False)
    model = hetero.Model([product], parameters[: 1 if is_constant else 2])
    compiled = hetero.Core().compile_model(model, device)
    found = compiled.create_infer_request().infer([a, b][: len(model.inputs)])[0]
    np.testing.assert_array_equal(found, a.astype(np.int32) @ b.astype(np.int32))
    ordered = compiled.get_runtime_model().get_ordered_ops()
    kernels = [node.rt_info.get(execution.IMPLEMENTATION) for node in ordered if type(node) is execution.ExecutionNode]
    assert len([kernel for kernel in kernels if kernel != "unknown"]) == 1


@pytest.mark.parametrize(
    "size", [(1, 1), (3, 1), (1, 3), (2, 5), (7, 100), (130, 33), (1, 5000), (3, 4099), (600, 300)]
)
@pytest.mark.parametrize("batch", [(), (3,)])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("is_constant", [False, True])
def test_matrix_times_vector(run, size, batch, transposed, is_constant):
    """And a vector times a matrix: few long sums, many short ones, and lengths that are no power of two."""
    matrix, vector, bias = numbers(*batch, *size), numbers(*batch, size[1], 1), numbers(*batch, size[0], 1)
    stored = matrix.swapaxes(-1, -2).copy() if transposed else matrix
    expected = matrix.astype(np.float64) @ vector + bias
    close(multiply(run, stored, vector, (transposed, False), (is_constant, False), bias), expected)
    flat = vector.swapaxes(-1, -2).copy(), bias.swapaxes(-1, -2)
    found = multiply(run, flat[0], stored, (False, not transposed), (False, is_constant), flat[1])
    close(found, expected.swapaxes(-1, -2))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_vectors_with_numbers_that_are_not_finite(run, value):
    matrix, vector = np.abs(numbers(5, 300)), np.ones((300, 1), np.float32)
    matrix[1, 7] = matrix[4, 299] = value
    np.testing.assert_allclose(multiply(run, matrix, vector), matrix @ vector, rtol=1e-5)
    np.testing.assert_allclose(multiply(run, vector.T, matrix.T.copy()), (matrix @ vector).T, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint64])
def test_sums_of_integers_times_a_vector_wrap_around(run, dtype):
    limits = np.iinfo(dtype)
    matrix, vector = (GENERATOR.integers(limits.min, limits.max, shape, dtype, True) for shape in ((9, 501), (501, 1)))
    np.testing.assert_array_equal(multiply(run, matrix, vector), matrix @ vector)
    np.testing.assert_array_equal(multiply(run, vector.T.copy(), matrix.T.copy()), (matrix @ vector).T)
