"""Weights of integers with scales stay integers: which chains of operations are known, and their values."""

import numpy as np
import pytest

from hetero import Constant, Core, Model, Parameter, Type, ops
from hetero.core.compressed import PackedArray, ScaledBlocks
from hetero.core.packing import pack
from hetero.graph import is_constant
from hetero.passes import fold_compressed_weights, fold_constants, gather_compressed_rows

CORE = Core()
OUTPUTS, INPUTS, BLOCK = 24, 96, 32
BLOCKS = INPUTS // BLOCK
draw = np.random.default_rng(38)


def codes(kind, *shape):
    low = -8 if kind.is_signed() else 0
    return draw.integers(low, low + 16, shape).astype(kind.to_dtype())


def constant(array, kind):
    return Constant(PackedArray(pack(array, kind), kind, array.shape) if kind.bitwidth < 8 else array)


def dequantized(array, kind, point, scale, wide=Type.f32):
    """Return the operations of ``(array - point) * scale``, and the result."""
    value = ops.Convert(constant(array, kind), wide)
    numbers = array.astype(np.float64)
    if point is not None:
        value = ops.Subtract(value, ops.Convert(Constant(point), wide))
        numbers = numbers - point.astype(np.float64)
    return ops.Multiply(value, Constant(scale.astype(wide.to_dtype()))), numbers * scale


def scales(*shape):
    return np.exp2(draw.integers(-4, 4, shape)).astype(np.float32)


def in_rows(kind, with_points):
    point = codes(kind, OUTPUTS, 1) if with_points else None
    return *dequantized(codes(kind, OUTPUTS, INPUTS), kind, point, scales(OUTPUTS, 1)), True


def in_columns(kind, with_points):
    point = codes(kind, 1, OUTPUTS) if with_points else None
    return *dequantized(codes(kind, INPUTS, OUTPUTS), kind, point, scales(1, OUTPUTS)), False


def one_scale(kind, with_points):
    point = codes(kind) if with_points else None
    return *dequantized(codes(kind, OUTPUTS, INPUTS), kind, point, scales()), True


def scales_of_columns(kind, with_points):
    point = codes(kind, INPUTS) if with_points else None
    return *dequantized(codes(kind, OUTPUTS, INPUTS), kind, point, scales(INPUTS)), True


def blocks_of_rows(kind, with_points):
    point = codes(kind, OUTPUTS, BLOCKS, 1) if with_points else None
    value, numbers = dequantized(codes(kind, OUTPUTS, BLOCKS, BLOCK), kind, point, scales(OUTPUTS, BLOCKS, 1), Type.f16)
    value = ops.Convert(ops.Reshape(value, np.array([OUTPUTS, INPUTS]), False), "f32")
    return value, numbers.reshape(OUTPUTS, INPUTS), True


def blocks_of_columns(kind, with_points):
    point = codes(kind, BLOCKS, 1, OUTPUTS) if with_points else None
    value, numbers = dequantized(codes(kind, BLOCKS, BLOCK, OUTPUTS), kind, point, scales(BLOCKS, 1, OUTPUTS))
    return ops.Reshape(value, np.array([INPUTS, OUTPUTS]), False), numbers.reshape(INPUTS, OUTPUTS), False


def moved_rows(kind, with_points):
    value, numbers, _ = blocks_of_rows(kind, with_points)
    return ops.Transpose(value, np.array([1, 0])), numbers.T, False


FORMS = (in_rows, in_columns, one_scale, blocks_of_rows, blocks_of_columns, moved_rows)
TABLES = (in_rows, one_scale, scales_of_columns, blocks_of_rows)
KINDS = (Type.u4, Type.i4, Type.u8, Type.i8)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("with_points", [False, True])
def test_forms(form, kind, with_points):
    value, numbers, is_transposed = form(kind, with_points)
    x = Parameter(Type.f32, [-1, INPUTS])
    model = Model([ops.MatMul(x, value, False, is_transposed)], [x])
    fold_constants(model)
    assert fold_compressed_weights(model)
    (folded,) = (node for node in model.get_ordered_ops() if is_constant(node))
    assert isinstance(folded.contents, ScaledBlocks) and folded.contents.code_type is kind
    np.testing.assert_array_equal(folded.data, numbers)
    array = draw.standard_normal((5, INPUTS)).astype(np.float32)
    (found,) = CORE.compile_model(model, "TEMPLATE")(array).values()
    wanted = array.astype(np.float64) @ (numbers.T if is_transposed else numbers)
    np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max())


def scale_of_inputs():
    return dequantized(codes(Type.u4, OUTPUTS, INPUTS), Type.u4, None, scales(1, INPUTS))[0]


def wrong_blocks():
    value, _ = dequantized(codes(Type.u4, OUTPUTS, BLOCKS, BLOCK), Type.u4, None, scales(OUTPUTS, 1, BLOCK))
    return ops.Reshape(value, np.array([OUTPUTS, INPUTS]), False)


def wide_integers():
    return ops.Multiply(ops.Convert(Constant(draw.integers(0, 9, (OUTPUTS, INPUTS))), "f32"), scales(OUTPUTS, 1))


@pytest.mark.parametrize("value", [scale_of_inputs, wrong_blocks, wide_integers], ids=lambda value: value.__name__)
def test_other_weights_stay_as_they_are(value):
    x = Parameter(Type.f32, [-1, INPUTS])
    assert not fold_compressed_weights(Model([ops.MatMul(x, value(), False, True)], [x]))


@pytest.mark.parametrize(
    "form", [in_rows, one_scale, scales_of_columns, blocks_of_rows], ids=lambda form: form.__name__
)
@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("with_points", [False, True])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)], ids=str)
def test_gathered_rows(form, kind, with_points, shape):
    value, numbers, _ = form(kind, with_points)
    indices = Parameter(Type.i64, [-1] * len(shape))
    model = Model([ops.Gather(value, indices, np.int64(0))], [indices])
    assert gather_compressed_rows(model)
    computed = [node for node in model.get_ordered_ops() if node.get_output_size() and not is_constant(node)]
    whole = [node for node in computed if node.output(0).partial_shape == [OUTPUTS, INPUTS]]
    assert not whole, "the table is not computed"
    array = draw.integers(-OUTPUTS, OUTPUTS, shape)
    for device in ("TEMPLATE", "GPU"):
        (found,) = CORE.compile_model(model, device)(array).values()
        np.testing.assert_array_equal(found, numbers[array])


@pytest.mark.parametrize(
    "gather", [
        lambda value, indices: ops.Gather(value, indices, np.int64(1)),
        lambda value, indices: ops.Gather(ops.Transpose(value, np.array([1, 0])), indices, np.int64(0)),
    ], ids=["columns", "moved"],
)  # fmt: skip
def test_other_gathers_stay_as_they_are(gather):
    value, *_ = in_rows(Type.u8, True)
    indices = Parameter(Type.i64, [-1])
    model = Model([gather(value, indices)], [indices])
    assert not gather_compressed_rows(model)


def test_a_table_of_one_row():
    value, numbers = dequantized(codes(Type.u8, 1, 1024), Type.u8, None, scales(1, 1))
    indices = Parameter(Type.i64, [-1])
    model = Model([ops.Gather(value, indices, np.int64(0))], [indices])
    gather_compressed_rows(model)
    (found,) = CORE.compile_model(model, "TEMPLATE")(np.zeros(3, np.int64)).values()
    np.testing.assert_array_equal(found, numbers[[0, 0, 0]])


def test_a_constant_is_decoded_while_it_is_used():
    array = codes(Type.u4, 64, 64)
    packed = PackedArray(pack(array, Type.u4), Type.u4, array.shape)
    node = Constant(packed)
    assert (node.get_element_type(), node.get_byte_size(), node.decoded_bytes) == (Type.u4, 2048, 4096)
    data = node.data
    assert node.data is data and not data.flags.writeable and (data == array).all()
    view = data[3:5].view(np.uint8)
    address = data.__array_interface__["data"][0]
    del data
    assert node.data.__array_interface__["data"][0] == address, "a view keeps the array alive"
    del view
    assert node._decoded() is None
    with pytest.raises(ValueError, match=r"u4\[64, 65\] takes 2080 bytes, not 2048"):
        PackedArray(packed.content, Type.u4, (64, 65))
