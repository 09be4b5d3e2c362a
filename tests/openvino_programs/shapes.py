"""Shapes, dimensions and element types."""

import copy

import numpy as np

from tests.openvino_programs._errors import kind_of_error

NAMES = (
    "bf16 boolean dynamic f16 f32 f4e2m1 f64 f8e4m3 f8e5m2 f8e8m0 i16 i32 i4 i64 i8 nf4 string "
    "u1 u16 u2 u3 u32 u4 u6 u64 u8"
)


def program_shape(ov):
    shape = ov.Shape([1, 3, 4])
    return [
        str(shape), repr(shape), f"{shape}", shape.to_string(), repr(ov.Shape()), repr(ov.Shape("[2,3]")), len(shape),
        shape == [1, 3, 4], shape == (1, 3, 4), shape == [1, 3, 4], shape == (1, 3, 4), shape != [1, 3, 4],
        shape == ov.Shape([1, 3, 4]), shape == ov.PartialShape([1, 3, 4]), shape == 5, shape[-1], repr(shape[1:]),
        list(shape), np.zeros(shape), int(np.prod(shape)), 3 in shape, bool(ov.Shape()), tuple(shape),
        kind_of_error(lambda: ov.Shape([1, -1])), kind_of_error(lambda: ov.Shape([1.5])),
    ]  # fmt: skip


def program_relatives_of_shape(ov):
    strides, coordinate = ov.Strides([1, 2]), ov.Coordinate([3, 4])
    coordinate[0] = 7
    return [
        str(strides), repr(strides), strides == [1, 2], strides == (1, 2), list(strides), len(coordinate),
        coordinate[0], list(coordinate), repr(coordinate), repr(ov.CoordinateDiff([1, 2])), repr(ov.AxisSet([2, 1, 2])),
        list(ov.AxisSet({3, 1})), repr(ov.AxisVector([2, 1, 2])), list(ov.AxisVector(ov.AxisVector([5]))),
        kind_of_error(lambda: ov.AxisVector([-1])),
    ]  # fmt: skip


def program_partial_shape(ov):
    shape = ov.PartialShape([1, -1, (1, 3), [2, 5], "2..4", ov.Dimension(3)])
    changed = copy.copy(shape)
    changed[0] = -1
    changed[1] = ov.Dimension(2, 8)
    return [
        str(shape), repr(shape), repr(changed), changed[0] == -1, changed[1].get_max_length(), str(shape[1:3]),
        str(shape.get_min_shape()), str(shape.get_max_shape()), str(ov.PartialShape.dynamic().get_max_shape()),
        repr(ov.PartialShape([1, 2]).to_shape()), repr(ov.PartialShape([1, 2]).get_shape()), len(shape),
        repr(ov.PartialShape("[1,?,2..3]")), repr(ov.PartialShape("...")), repr(ov.PartialShape("")),
        str(ov.PartialShape(ov.Shape([4, 5]))), ov.PartialShape([4, 5]) == ov.Shape([4, 5]), repr(list(shape)),
        kind_of_error(lambda: ov.PartialShape([1, (2, 3, 4)])), kind_of_error(lambda: ov.PartialShape([1.5])),
        kind_of_error(lambda: ov.PartialShape(5)), kind_of_error(lambda: ov.PartialShape("[1,2")),
        kind_of_error(lambda: shape[9]), kind_of_error(lambda: shape.to_shape()),
        kind_of_error(lambda: len(ov.PartialShape.dynamic())),
    ]  # fmt: skip


def program_shape_of_a_model_is_a_copy(ov):
    parameter = ov.opset13.parameter([1, 3], np.float32)
    model = ov.Model([ov.opset13.relu(parameter)], [parameter], "m")
    shape = model.input(0).partial_shape
    shape[0] = -1
    before = str(model.input(0).partial_shape)
    model.reshape(shape)
    return [before, str(model.input(0).partial_shape), str(model.output(0).partial_shape)]


def program_dimension(ov):
    dimension, symbol = ov.Dimension(2, 4), ov.Symbol()
    before = dimension.has_symbol(), dimension.get_symbol()
    dimension.set_symbol(symbol)
    forms = [
        ov.Dimension(), ov.Dimension(3), ov.Dimension(dimension=3), ov.Dimension("?"), ov.Dimension(str="1..3"),
        ov.Dimension(min_dimension=2, max_dimension=3), ov.Dimension(1, -1), ov.Dimension(-1, 5),
        ov.Dimension.dynamic(),
    ]  # fmt: skip
    return [
        *map(repr, forms), *map(str, forms), *(form == -1 for form in forms), before, dimension.has_symbol(),
        dimension.get_symbol() == symbol, ov.Symbol() == ov.Symbol(), bool(symbol), len(ov.Dimension(4)),
        kind_of_error(lambda: len(ov.Dimension())), kind_of_error(lambda: ov.Dimension(5.0)),
        kind_of_error(lambda: ov.Dimension("a")),
    ]  # fmt: skip


def program_types(ov):
    return [
        [
            repr(kind), str(kind), kind.bitwidth if name != "string" else 0, kind.get_size() if name != "string" else 0,
            kind.is_dynamic(), kind.is_static(), kind.is_real(), kind.real, kind.is_integral(), kind.integral,
            kind.is_integral_number(), kind.integral_number, kind.is_signed(), kind.signed, kind.is_quantized(),
            kind.quantized, kind.type_name, kind.get_type_name(), kind.to_string(),
        ]
        for name, kind in ((name, getattr(ov.Type, name)) for name in NAMES.split())
    ]  # fmt: skip


def program_types_together(ov):
    f32, i32, dynamic = ov.Type.f32, ov.Type.i32, ov.Type.dynamic
    return [
        repr(f32.merge(f32)), repr(f32.merge(dynamic)), repr(dynamic.merge(i32)), f32.merge(i32), f32.compatible(i32),
        f32.compatible(dynamic), f32 == ov.Type.f32, f32 == "f32", hash(f32) == hash(ov.Type.f32),
        repr(ov.Type(np.float32)), repr(ov.Type(float)), repr(ov.Type(str)), repr(ov.Type(np.dtype("S3"))),
        kind_of_error(lambda: ov.Type("abc")), kind_of_error(lambda: ov.Type(np.dtype("complex64"))) is not None,
    ]  # fmt: skip


def program_discrete_type_info(ov):
    info = ov.DiscreteTypeInfo("Relu", "opset1")
    return [
        repr(info), info.name, info.version_id, info.parent, info == ov.DiscreteTypeInfo("Relu", "opset1"),
        info < ov.DiscreteTypeInfo("Tanh", "opset1"), isinstance(info.hash(), int),
    ]  # fmt: skip
