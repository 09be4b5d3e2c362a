"""Conversions between element types, compared with OpenVINO."""

from itertools import product

import ml_dtypes
import numpy as np
import openvino
import openvino.opset13 as openvino_ops
import pytest

from hetero import Constant, Type, ops
from hetero.core.packing import is_packed, pack, unpack
from hetero.reference import evaluate
from hetero.system.errors import GraphError
from tests.ops.oracle import Data, Unknown, both_refuse, in_hetero, in_openvino, same_results, same_shapes

rng = np.random.default_rng(4)
NUMBERS = np.float32([0, 0.3, -2.7, 3.5, 4.5, 17.2, 100, -0.01, 300, -500])
TYPES = [
    "boolean", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bf16", "f16", "f32", "f64", "f8e4m3", "f8e5m2",
]  # fmt: skip


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("to", ["f32", "i32", "i64", "u8", "boolean", "f16"])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, np.bool_])
def test_convert_between_common_types(dtype, to):
    same_results("convert", Data(np.array([0, 1, 3, 100]).astype(dtype)), to)


@pytest.mark.parametrize("target", ["f8e4m3", "f8e5m2", "f16", "f64", "i32", "i64", "boolean"])
def test_convert_to(target):
    """Compare with the evaluation of OpenVINO's node, as its CPU device replaces unsupported types."""
    kind = Type(target)
    numbers = NUMBERS if kind is not Type.boolean else NUMBERS[:3]
    node = openvino_ops.convert(openvino_ops.constant(numbers), target)
    output = openvino.Tensor(node.get_output_element_type(0), openvino.Shape(numbers.shape))
    assert node.evaluate([output], [openvino.Tensor(numbers)])
    (found,) = evaluate(ops.Convert(Constant(numbers), kind), [numbers])
    assert found.dtype == kind.to_dtype()
    np.testing.assert_array_equal(found.view(np.uint8), np.array(output.data).view(np.uint8))


@pytest.mark.parametrize("source", ["u1", "u2", "u3", "u4", "u6", "i4", "nf4", "f4e2m1", "f8e4m3", "f8e5m2", "f8e8m0"])
def test_convert_from(source):
    kind = Type(source)
    content = rng.integers(0, 120, 48, np.uint8)
    count = 48 * 8 // kind.bitwidth
    array = unpack(content, kind, (count,)) if is_packed(kind) else content.view(kind.to_dtype())
    tensor = openvino.Tensor(content, openvino.Shape([count]), getattr(openvino.Type, source))
    node = openvino_ops.convert(openvino_ops.constant(tensor), "f32")
    output = openvino.Tensor(openvino.Type.f32, openvino.Shape([count]))
    assert node.evaluate([output], [tensor])
    (found,) = evaluate(ops.Convert(Constant(array), Type.f32), [array])
    np.testing.assert_array_equal(found, output.data)


@pytest.mark.parametrize("target", ["i4", "u4", "u2", "i2", "u1", "u3", "u6"])
def test_integers_keep_their_low_bits(target):
    kind = Type(target)
    numbers = np.arange(-9, 70, dtype=np.int32)
    (found,) = evaluate(ops.Convert(Constant(numbers), kind), [numbers])
    codes = unpack(pack(found, kind), Type.u6 if kind is Type.u6 else kind, found.shape).view(np.uint8)
    expected = numbers & ((1 << kind.bitwidth) - 1)
    np.testing.assert_array_equal(codes & ((1 << kind.bitwidth) - 1), expected)


def test_the_nearest_code_of_nf4():
    numbers = np.float32([-1, -0.72, 0.01, 0.5, 0.9])
    (codes,) = evaluate(ops.Convert(Constant(numbers), Type.nf4), [numbers])
    (back,) = evaluate(ops.Convert(Constant(codes), Type.f32), [codes])
    np.testing.assert_allclose(back, [-1, -0.6961928, 0, 0.44070983, 1], rtol=1e-6)


def test_convert_like():
    same_results("convert_like", Data(NUMBERS[:6]), np.int32([1]))
    same_results("convert_like", Data(np.int32([[1, -2]])), Data(floats(3, 0)))
    same_shapes("convert_like", Unknown([2, -1]), Unknown([-1], np.int64))


@pytest.mark.parametrize("scalar", [(), (2,)], ids=["scalar", "tensor"])
@pytest.mark.parametrize("pytorch", [False, True])
@pytest.mark.parametrize("unsafe", [False, True])
def test_promoted_types(unsafe, pytorch, scalar):
    for left, right in product(TYPES, TYPES):
        kinds = [getattr(openvino.Type, name) for name in (left, right)]
        parameters = [openvino_ops.parameter(shape, kind) for shape, kind in zip([(2,), scalar], kinds)]
        make = openvino.opset14.convert_promote_types
        ours = [ops.Parameter(Type(name), shape) for name, shape in zip((left, right), [(2,), scalar])]
        try:
            expected = make(*parameters, unsafe, pytorch).get_output_element_type(0).to_string()
        except RuntimeError:
            with pytest.raises(GraphError, match="set promote_unsafe"):
                ops.ConvertPromoteTypes(*ours, unsafe, pytorch)
            continue
        found = ops.ConvertPromoteTypes(*ours, unsafe, pytorch)
        assert [output.element_type.to_string() for output in found.outputs()] == [expected] * 2, (left, right)


def test_promoted_values():
    same_results("convert_promote_types", Data(np.int8([1, -2])), Data(floats(2, 1)), True, opset=14)
    same_results("convert_promote_types", Data(np.int16([1, -2])), np.uint16([3]), True, opset=14)


# Data, scale and shift, all of one element type
SCALES = {
    "one": ((2, 3), (1,), None),
    "for each channel": ((2, 3, 4), (3, 1), (3, 1)),
    "all": ((2, 3), (2, 3), (2, 3)),
}


@pytest.mark.parametrize("target", ["f8e4m3", "f8e5m2"])
@pytest.mark.parametrize("name", SCALES)
def test_fake_convert(name, target):
    shape, scale, shift = SCALES[name]
    arguments = [Data(100 * floats(*shape)), Data(1 + np.abs(floats(*scale)))]
    arguments += [Data(floats(*shift))] if shift else []
    same_results("fake_convert", *arguments, destination_type=target)


LIMITS = {
    "scalars": [(), (), (), ()],
    "ones": [(1,), (1,), (1,), (1,)],
    "for each channel": [(1, 3, 1), (1, 3, 1), (1, 3, 1), (1, 1, 1)],
    "outputs for each channel": [(1,), (1,), (3, 1), (3, 1)],
}


@pytest.mark.parametrize("levels", [2, 16, 255, 256])
@pytest.mark.parametrize("name", LIMITS)
def test_fake_quantize(name, levels):
    low, high, new_low, new_high = (floats(*shape) for shape in LIMITS[name])
    limits = [-np.abs(low) - 0.1, np.abs(high) + 0.1, new_low, new_low + np.abs(new_high) + 0.5]
    same_results(
        "fake_quantize", Data(3 * floats(2, 3, 4)), *map(Data, map(np.float32, limits)), levels, tolerance=1e-4
    )


def test_shapes():
    limits = [np.float32(v) for v in (0, 1, 0, 1)]
    same_shapes("fake_quantize", Unknown([-1, 3, (2, 9)]), *limits, 16)
    same_shapes("fake_convert", Unknown([-1, 3]), Unknown([3]))
    node, _ = in_hetero("convert", 13, (Unknown([2, -1]), "f8e4m3"), {})
    theirs, _ = in_openvino("convert", 13, (Unknown([2, -1]), "f8e4m3"), {})
    assert str(node.get_output_partial_shape(0)) == str(theirs.output(0).partial_shape)


def test_refused():
    limits = [np.float32(v) for v in (0, 1, 0, 1)]
    both_refuse("fake_quantize", Unknown([2, 3]), np.float32([1, 2]), *limits[1:], 16)
    both_refuse("fake_convert", Unknown([2], np.float64), Unknown([1], np.float64))
    both_refuse("fake_convert", Unknown([3]), Unknown([2, 3]))
    with pytest.raises(GraphError, match="levels must be 2 or more, but is 1"):
        ops.FakeQuantize(floats(2), *limits, 1)
    with pytest.raises(GraphError, match="inputs must have one element type, but have i32 and f32"):
        ops.FakeQuantize(np.int32([1]), *limits, 16)
    with pytest.raises(GraphError, match="f32 and i64 have elements of different size"):
        ops.BitCast(floats(2), Type.i64)


def test_bits_stay():
    numbers = np.float32([1.5, -2]).reshape(2, 1)
    (found,) = evaluate(ops.BitCast(Constant(numbers), Type.u32), [numbers])
    np.testing.assert_array_equal(found, [[0x3FC00000], [0xC0000000]])


def test_powers_of_two():
    """Round to f8e8m0 by the definition."""
    numbers = np.float32([0, 0.25, 0.3, 0.375, 1.1, 1.5, 3, 1e38, 3e38, np.nan])
    for mode, expected in {
        "up": [2.0**-127, 0.25, 0.5, 0.5, 2, 2, 4, 2.0**127, 2.0**127, np.nan],
        "down": [2.0**-127, 0.25, 0.25, 0.25, 1, 1, 2, 2.0**126, 2.0**127, np.nan],
        "nearest": [2.0**-127, 0.25, 0.25, 0.5, 1, 2, 4, 2.0**126, 2.0**127, np.nan],
    }.items():
        (found,) = evaluate(ops.Cast(Constant(numbers), Type.f8e8m0, True, mode), [numbers])
        assert found.dtype == ml_dtypes.float8_e8m0fnu
        np.testing.assert_array_equal(found.astype(np.float64), expected)


def test_strings():
    numbers = np.float32([1.5, -2, np.nan, np.inf, -np.inf])
    (texts,) = evaluate(ops.Cast(Constant(numbers), Type.string), [numbers])
    assert texts.tolist() == ["1.5", "-2.0", "NaN", "INF", "-INF"]
    (back,) = evaluate(ops.Cast(Constant(texts), Type.f32), [texts])
    np.testing.assert_array_equal(back, numbers)
    words = np.array(["12", "-3"])
    (found,) = evaluate(ops.Cast(Constant(words), Type.i64), [words])
    assert found.tolist() == [12, -3]
