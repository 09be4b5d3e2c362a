"""Operations that move elements, compared with numpy."""

import numpy as np
import pytest

import hetero
from hetero import Type, ops, opset13
from hetero.graph import Constant, Model, Parameter
from hetero.ops import BitCast

core = hetero.Core()
TYPES = ("f32", "i64", "boolean", "bf16", "f64", "u4")


def ints(*values):
    return np.array(values, np.int64)


def elements(shape, element_type="f32"):
    dtype = hetero.Type(element_type).to_dtype()
    return np.random.default_rng(0).integers(0, 2 if element_type == "boolean" else 100, shape).astype(dtype)


def blocks_to_space(x, order):
    """Rearrange [1, 8, 2, 3] to [1, 2, 4, 6]. ``order`` has the axes of depth, rows and columns after the split."""
    split = x.reshape(1, 2, 2, 2, 2, 3)
    depth, rows, columns = order
    return split.transpose(0, depth, 4, rows, 5, columns).reshape(1, 2, 4, 6)


def space_to_blocks(x, order):
    """Rearrange [1, 2, 4, 6] to [1, 8, 2, 3]."""
    return x.reshape(1, 2, 2, 2, 3, 2).transpose(0, *order, 2, 4).reshape(1, 8, 2, 3)


# The operation, the shape of the data, the other arguments, and the same in numpy.
CASES = [
    ("reshape", (2, 3, 4), (ints(0, -1), True), lambda x: x.reshape(2, 12)),
    ("squeeze", (1, 3, 1), (ints(0),), lambda x: x[0]),
    ("unsqueeze", (2, 3), (ints(1),), lambda x: x[:, None]),
    ("transpose", (2, 3, 4, 5), (ints(0, 2, 3, 1),), lambda x: x.transpose(0, 2, 3, 1)),
    ("transpose", (2, 3, 4, 5), (ints(),), lambda x: x.T),
    ("transpose", (5, 7, 16), (ints(1, 0, 2),), lambda x: x.transpose(1, 0, 2)),
    ("transpose", (1, 7, 1), (ints(2, 1, 0),), lambda x: x),
    ("transpose", (2, 0, 3), (ints(2, 1, 0),), lambda x: x.T),
    ("slice", (5, 6), (ints(1, -1), ints(5, -7), ints(2, -2)), lambda x: x[1:5:2, ::-2]),
    ("slice", (4, 5, 16), (ints(1), ints(3), ints(1), ints(-2)), lambda x: x[:, 1:3]),
    ("slice", (5,), (ints(3), ints(3), ints(1)), lambda x: x[3:3]),
    ("strided_slice", (3, 4, 5), (ints(0, 9, -2), ints(9, 0, 9), ints(1, -1, 1), [1, 0, 0], [1, 0, 0]),
     lambda x: x[:, :0:-1, -2:]),
    ("strided_slice", (3, 4, 5), (ints(1, 0, 2), ints(2, 0, 3), ints(1, 1, 1), [0, 0, 0], [0, 0, 0], [0, 1, 0],
     [1, 0, 0], [0, 0, 0]), lambda x: x[1, None, 2:3]),
    ("strided_slice", (3, 4, 5), (ints(0, 1), ints(0, 3), ints(1, 1), [0, 0], [0, 0], [], [], [1, 0]),
     lambda x: x[..., 1:3]),
    ("split", (2, 6, 3), (np.array(1), 3), lambda x: np.split(x, 3, 1)),
    ("split", (4,), (np.array(0), 1), lambda x: [x]),
    ("variadic_split", (2, 7), (np.array(-1), ints(2, 0, -1)), lambda x: [x[:, :2], x[:, 2:2], x[:, 2:]]),
    ("broadcast", (3, 1), (ints(2, 3, 4),), lambda x: np.broadcast_to(x, (2, 3, 4))),
    ("broadcast", (3,), (ints(3, 4), ints(0), "EXPLICIT"), lambda x: np.repeat(x[:, None], 4, 1)),
    ("broadcast", (2, 3, 1), (ints(4), None, "BIDIRECTIONAL"), lambda x: np.repeat(x, 4, 2)),
    ("tile", (2, 3), (ints(2, 1, 3),), lambda x: np.tile(x, (2, 1, 3))),
    ("tile", (2, 3), (ints(2),), lambda x: np.tile(x, 2)),
    ("tile", (2, 3), (ints(0, 2),), lambda x: x[:0].repeat(2, 1)),
    ("pad", (2, 3), (ints(1, 0), ints(0, 2), "constant"), lambda x: np.pad(x, ((1, 0), (0, 2)))),
    ("pad", (4, 5), (ints(-1, 2), ints(1, -3), "constant"), lambda x: np.pad(x[1:, :2], ((0, 1), (2, 0)))),
    ("pad", (4, 5), (ints(-1, 0), ints(0, -2), "constant"), lambda x: x[1:, :3]),
    ("pad", (3,), (ints(5), ints(-6), "constant"), lambda x: np.zeros(2, x.dtype)),
    ("pad", (0, 3), (ints(1, 0), ints(1, 0), "constant"), lambda x: np.zeros((2, 3), x.dtype)),
    ("depth_to_space", (1, 8, 2, 3), ("blocks_first", 2), lambda x: blocks_to_space(x, (3, 1, 2))),
    ("depth_to_space", (1, 8, 2, 3), ("depth_first", 2), lambda x: blocks_to_space(x, (1, 2, 3))),
    ("space_to_depth", (1, 2, 4, 6), ("blocks_first", 2), lambda x: space_to_blocks(x, (3, 5, 1))),
    ("space_to_depth", (1, 2, 4, 6), ("depth_first", 2), lambda x: space_to_blocks(x, (1, 3, 5))),
    ("gather", (5, 4), (ints(3, -1, 0), np.array(0)), lambda x: x[[3, 4, 0]]),
    ("gather", (2, 5, 3), (ints(1, 4, 4, 0).reshape(2, 2), np.array(-2)), lambda x: x[:, [[1, 4], [4, 0]]]),
    ("gather", (3, 4), (np.array(-2, np.int32), np.array(1)), lambda x: x[:, 2]),
    ("gather", (4,), (ints(4, 1, -5, 2**40), np.array(0)), lambda x: x[[0, 1, 0, 0]] * np.array([0, 1, 0, 0], x.dtype)),
    ("gather", (2, 3, 4), (ints(0, 3, 2, 1).reshape(2, 2), np.array(2), 1),
     lambda x: np.stack([x[0][:, [0, 3]], x[1][:, [2, 1]]])),
]  # fmt: skip


def same(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        np.testing.assert_array_equal(one, other, strict=True)


@pytest.mark.parametrize("name, shape, arguments, expected", CASES)
@pytest.mark.parametrize("element_type", TYPES)
def test_numpy_agrees(run, name, shape, arguments, expected, element_type):
    data = elements(shape, element_type)
    parameter = Parameter(hetero.Type(element_type), shape)
    inputs = [Constant(argument) if isinstance(argument, np.ndarray) else argument for argument in arguments]
    node = getattr(opset13, name)(parameter, *inputs)
    wanted = expected(data)
    found = run(node.outputs(), [parameter], [data])
    same(found, wanted if isinstance(wanted, list) else [wanted])


@pytest.mark.parametrize("axis, lengths", [(0, (2, 3)), (-1, (2, 0, 5)), (1, (4,)), (2, (4, 12))])
@pytest.mark.parametrize("element_type", TYPES)
def test_concat(run, axis, lengths, element_type):
    arrays = []
    for length in lengths:
        shape = [3, 2, 4]
        shape[axis] = length
        arrays.append(elements(shape, element_type))
    parameters = [Parameter(hetero.Type(element_type), array.shape) for array in arrays]
    node = opset13.concat(parameters, axis)
    same(run(node.outputs(), parameters, arrays), [np.concatenate(arrays, axis)])


@pytest.mark.parametrize("count", [1, 7, 8, 9, 20])
def test_concatenations_of_many(run, count):
    arrays = [np.arange(6 * length, dtype=np.float32).reshape(2, length, 3) for length in range(1, count + 1)]
    parameters = [Parameter(Type.f32, array.shape) for array in arrays]
    same(run(ops.Concat(parameters, 1).outputs(), parameters, arrays), [np.concatenate(arrays, 1)])


# The index of the slice, and the axis along which it is concatenated.
SLICES = [
    ((slice(None), slice(1, 4)), 1), ((slice(None), slice(1, 4)), -1), ((slice(None), slice(None), slice(2, 5)), 2),
    ((slice(1, 2),), 0), ((slice(None, None, -1),), 1), ((slice(None), slice(None, None, 2)), 1),
    ((slice(None), slice(0, 2), slice(1, 3)), 2), ((slice(0, 0),), 0),
]  # fmt: skip


@pytest.mark.parametrize(("index", "axis"), SLICES)
@pytest.mark.parametrize("is_read_again", [False, True])
def test_concatenations_of_slices(run, index, axis, is_read_again):
    array = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    starts, stops, steps = zip(*(part.indices(length) for part, length in zip(index, array.shape)))
    stops = [-100 if step < 0 else stop for stop, step in zip(stops, steps)]
    x = Parameter(Type.f32, array.shape)
    bounds = *map(np.int64, (starts, stops, steps)), np.arange(len(index))
    taken, negative = ops.Slice(x, *bounds), ops.Negative(x)
    other = ops.Negative(taken) if is_read_again else ops.Slice(negative, *bounds)
    expected = np.concatenate([array[index], -array[index]], axis)
    same(run(ops.Concat([taken, other], axis).outputs(), [x], [array]), [expected])


def test_indices_and_pad_value_come_at_run_time(run):
    data, indices, value = elements((4, 6)), np.array([[3, -4, 7]], np.int32), np.float32(2.5)
    parameters = [Parameter(hetero.Type(str(kind)), shape) for kind, shape in
                  [("f32", data.shape), ("i32", indices.shape), ("f32", ())]]  # fmt: skip
    picked = opset13.gather(parameters[0], parameters[1], Constant(np.array(0)))
    padded = opset13.pad(picked, Constant(ints(0, 0, 1)), Constant(ints(0, 1, 0)), "constant", parameters[2])
    rows = np.stack([data[3], data[0], np.zeros(6, np.float32)])[None]
    wanted = np.pad(rows, ((0, 0), (0, 1), (1, 0)), constant_values=2.5)
    same(run(padded.outputs(), parameters, [data, indices, np.array(value)]), [wanted])


def test_bits_of_another_type(run):
    data = np.array([1.0, -0.0, np.nan], np.float32)
    parameter = Parameter(hetero.Type.f32, data.shape)
    same(run([BitCast(parameter, "i32")], [parameter], [data]), [data.view(np.int32)])


def test_shared_memory_is_not_overwritten(run):
    """The same input is flattened, transposed, tiled and returned."""
    data = elements((3, 4))
    parameter = Parameter(hetero.Type.f32, data.shape)
    flat = opset13.reshape(parameter, Constant(ints(-1)), False)
    turned = opset13.transpose(parameter, Constant(ints(1, 0)))
    tiled = opset13.tile(flat, Constant(ints(2)))
    outputs = [parameter.output(0), flat.output(0), turned.output(0), tiled.output(0)]
    same(run(outputs, [parameter], [data]), [data, data.reshape(-1), data.T, np.tile(data.reshape(-1), 2)])


@pytest.mark.parametrize(
    "name, element_type, arguments, reason",
    [
        ("transpose", "string", (ints(0),), "type string"),
    ],
)
def test_refusal_says_why(device, name, element_type, arguments, reason):
    parameter = Parameter(hetero.Type(element_type), (3,))
    inputs = [Constant(argument) if isinstance(argument, np.ndarray) else argument for argument in arguments]
    node = getattr(opset13, name)(parameter, *inputs)
    with pytest.raises(hetero.HeteroError, match=reason):
        core.compile_model(Model([node], [parameter]), device)


@pytest.mark.parametrize(("length", "copies"), [(256, 0), (250, 2)])
def test_contiguous_parts_of_computed_values_share_memory(device, length, copies):
    """Parts whose offset is not aligned are copied, and so are those of inputs, which have memory of their own."""
    x = Parameter(Type.f32, [3, length])
    for data, expected in ((ops.Sin(x), copies), (x, 3)):
        parts = ops.Split(data, np.int64(0), 3)
        model = Model([*(ops.MatMul(one, one, False, True) for one in parts.outputs()[1:]), parts.output(0)], [x])
        compiled = core.compile_model(model, device)
        array = np.random.default_rng(0).random((3, length)).astype(np.float32)
        found = compiled(array).to_tuple()
        given = np.sin(array) if data is not x else array
        for result, part in zip(found, given[1:]):
            np.testing.assert_allclose(result, [[part @ part]], rtol=1e-5)
        np.testing.assert_allclose(found[2], given[:1], rtol=1e-5)
        kernels = [launch.kernel for program in compiled._compiled.last_programs() for launch in program.launches]
        assert kernels.count("strided_copy") == expected
