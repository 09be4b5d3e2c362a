"""Device ONEDNN: the constants that programs of several shapes have."""

import numpy as np
import pytest
from hetero_onednn import compiled_model
from hetero_onednn.program import Constants

from hetero import Core, Model, Parameter, PartialShape, Type, ops
from hetero.compiler import program_cache

CORE = Core()
rng = np.random.default_rng(8)


@pytest.fixture
def made(monkeypatch):
    """The Constants of the models that are compiled."""
    found = []

    class Recorded(Constants):
        def __init__(self, most_bytes):
            super().__init__(most_bytes)
            found.append(self)

    monkeypatch.setattr(compiled_model, "Constants", Recorded)
    return found


def test_programs_share_constants(made):
    """Also those of fused operations, whose bodies are copied for each shape."""
    weights, bias = rng.standard_normal((256, 256)).astype(np.float32), np.ones(256, np.float32)
    x = Parameter(Type.f32, PartialShape([-1, 256]))
    model = CORE.compile_model(Model(ops.Relu(ops.Add(ops.MatMul(x, weights, False, False), bias)), [x]), "ONEDNN")
    for rows in range(1, 12):
        model(np.ones((rows, 256), np.float32))
    # Products of one row and of several want different layouts.
    assert made[0].byte_size <= 3 * weights.nbytes


@pytest.mark.parametrize("is_transposed", [False, True])
def test_an_array_is_read_in_two_ways(is_transposed):
    weights, array = (rng.standard_normal(shape).astype(np.float32) for shape in ((64, 64), (5, 64)))
    x = Parameter(Type.f32, [5, 64])
    products = [ops.MatMul(x, ops.Constant(weights), False, turned) for turned in (is_transposed, not is_transposed)]
    results = CORE.compile_model(Model([product.output(0) for product in products], [x]), "ONEDNN")(array)
    for turned, result in zip((is_transposed, not is_transposed), results.values()):
        np.testing.assert_allclose(result, array @ (weights.T if turned else weights), rtol=1e-4, atol=1e-4)


def test_constants_of_all_programs_are_bounded_in_bytes(made, monkeypatch):
    """Each length wants a matrix of its own for its interpolation."""
    monkeypatch.setattr(program_cache, "MIN_BYTES", 1 << 16)
    x = Parameter(Type.f32, PartialShape([1, 1, -1]))
    sizes = ops.Multiply(ops.Gather(ops.ShapeOf(x), np.int64([2]), np.int64(0), 0), np.int64([3]))
    filters = rng.standard_normal((32, 1, 3)).astype(np.float32)
    resized = ops.Interpolate(
        x,
        sizes,
        axes=np.int64([2]),
        mode="cubic",
        shape_calculation_mode="sizes",
        coordinate_transformation_mode="asymmetric",
    )
    node = ops.Convolution(resized, filters, [1], [0], [0], [1])
    model = CORE.compile_model(Model(node, [x]), "ONEDNN")
    for length in range(40, 60):
        model(np.ones((1, 1, length), np.float32))
    assert 0 < made[0].byte_size <= 1 << 16


def test_blocks_of_4_bit_weights():
    """Each block has a scale and a zero point, which are repeated along the block: much larger than before."""
    rows, columns, block = 1024, 2048, 16
    numbers, zeros = (rng.integers(0, 16, (rows, length)) for length in (columns, columns // block))
    scales = rng.random((rows, columns // block)).astype(np.float32)
    places, axis = np.arange(columns) // block, np.int64(1)
    zero_points = ops.Gather(ops.Constant(zeros.astype(Type.u4.to_dtype())), places, axis, 0)
    real = ops.Convert(ops.Constant(numbers.astype(Type.u4.to_dtype())), Type.f32)
    centered = ops.Subtract(real, ops.Convert(zero_points, Type.f32))
    weights = ops.Multiply(centered, ops.Gather(ops.Constant(scales), places, axis, 0))
    x, array = Parameter(Type.f32, PartialShape([-1, columns])), rng.standard_normal((2, columns)).astype(np.float32)
    found = CORE.compile_model(Model(ops.MatMul(x, weights, False, True), [x]), "ONEDNN")(array)[0]
    expected = array @ ((numbers - zeros[:, places]) * scales[:, places]).astype(np.float32).T
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-2)
