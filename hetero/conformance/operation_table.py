"""Common operations on small inputs, to be tried with every element type, dynamic shapes and empty tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hetero import Constant, Model, Op, Output, Parameter, Type, ops

FLOATS = (Type.f32, Type.f16, Type.bf16, Type.f64)
WHOLE = (Type.i32, Type.i64, Type.i8, Type.u8)
NUMBERS = (*FLOATS, *WHOLE)
ALL = (*NUMBERS, Type.boolean)


class Operation(NamedTuple):
    """How to make the operation of its inputs, the shapes of those, and the element types that it is defined for.

    ``batched``: whether the first dimension of all inputs is a number of rows, which may be any or none.
    """

    name: str
    build: Callable[..., Op]
    shapes: tuple[tuple[int, ...], ...]
    kinds: tuple[Type, ...]
    batched: bool = True

    def model(self, kind: Type, dynamic: bool = False) -> Model:
        """The model of the operation alone; with ``dynamic`` no length of an input is known."""
        shapes = [[-1] * len(shape) if dynamic else shape for shape in self.shapes]
        inputs = [Parameter(kind, shape, name=f"x{index}") for index, shape in enumerate(shapes)]
        node = self.build(*(node.output(0) for node in inputs))
        node.friendly_name = self.name
        return Model(node.outputs(), inputs, self.name)

    def arrays(self, kind: Type, rows: int | None = None) -> list[np.ndarray]:
        """Numbers from 0.2 to 2, whole ones from 1 to 9, or truth values; ``rows`` instead of the first lengths."""
        generator = np.random.default_rng(0)
        found = []
        for shape in self.shapes:
            shape = shape if rows is None else (rows, *shape[1:])
            if kind in FLOATS:
                array = generator.uniform(0.2, 2, shape)
            else:
                array = generator.integers(*((0, 2) if kind is Type.boolean else (1, 10)), shape)
            found.append(array.astype(kind.to_dtype()))
        return found


def _weights(x: Output, *shape: int) -> Constant:
    """A Constant of the type of a value, with numbers from 1 to 4."""
    return Constant((np.arange(np.prod(shape)) % 4 + 1).reshape(shape).astype(x.element_type.to_dtype()))


def _scalar(x: Output, number: float) -> Constant:
    return Constant(np.array(number, x.element_type.to_dtype()))


def _same(kind: type[Op], shape: tuple[int, ...], count: int, kinds: tuple[Type, ...]) -> Operation:
    return Operation(kind.type_info.name, kind, (shape,) * count, kinds)


_ONE = (ops.Abs, ops.Negative, ops.Sign, ops.Relu)
_ONE_FLOAT = (
    ops.Ceiling, ops.Cos, ops.Erf, ops.Exp, ops.Floor, ops.HSigmoid, ops.HSwish, ops.Log, ops.Mish, ops.Sigmoid,
    ops.Sin, ops.SoftPlus, ops.SoftSign, ops.Sqrt, ops.Swish, ops.Tanh,
)  # fmt: skip
_TWO = (
    ops.Add, ops.Divide, ops.FloorMod, ops.Maximum, ops.Minimum, ops.Mod, ops.Multiply, ops.Power,
    ops.SquaredDifference, ops.Subtract,
)  # fmt: skip
_COMPARISONS = (ops.Equal, ops.Greater, ops.GreaterEqual, ops.Less, ops.LessEqual, ops.NotEqual)
_REDUCTIONS = (ops.ReduceL1, ops.ReduceL2, ops.ReduceMax, ops.ReduceMean, ops.ReduceMin, ops.ReduceProd, ops.ReduceSum)
_ROWS, _MATRIX, _IMAGE = (3, 5), (2, 3, 4), (2, 3, 6, 6)

OPERATIONS = (
    *(_same(kind, _ROWS, 1, NUMBERS) for kind in _ONE),
    *(_same(kind, _ROWS, 1, FLOATS) for kind in _ONE_FLOAT),
    *(_same(kind, _ROWS, 2, NUMBERS) for kind in _TWO),
    *(_same(kind, _ROWS, 2, ALL) for kind in _COMPARISONS),
    *(_same(kind, _ROWS, 2, (Type.boolean,)) for kind in (ops.LogicalAnd, ops.LogicalOr, ops.LogicalXor)),
    _same(ops.LogicalNot, _ROWS, 1, (Type.boolean,)),
    Operation("Add", ops.Add, ((3, 5), (1, 5)), NUMBERS, batched=False),
    *(
        Operation(kind.type_info.name, lambda x, kind=kind: kind(x, np.int64([1]), True), (_MATRIX,), NUMBERS)
        for kind in _REDUCTIONS
    ),
    Operation("AvgPool", lambda x: ops.AvgPool(x, [2, 2], [0, 0], [1, 1], [3, 3], True), (_IMAGE,), FLOATS),
    Operation("MaxPool", lambda x: ops.MaxPoolV1(x, [2, 2], [0, 0], [1, 1], [3, 3]), (_IMAGE,), NUMBERS),
    Operation("Broadcast", lambda x: ops.Broadcast(x, np.int64([2, 3, 5])), (_ROWS,), ALL, batched=False),
    Operation("Clamp", lambda x: ops.Clamp(x, 1, 3), (_ROWS,), NUMBERS),
    Operation("Concat", lambda a, b: ops.Concat([a, b], 1), (_ROWS, (3, 2)), ALL),
    Operation("Convert", lambda x: ops.Convert(x, Type.f32), (_ROWS,), ALL),
    Operation(
        "Convolution",
        lambda x: ops.Convolution(x, _weights(x, 4, 3, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1]),
        (_IMAGE,),
        FLOATS,
    ),
    Operation(
        "GroupConvolution",
        lambda x: ops.GroupConvolution(x, _weights(x, 3, 1, 1, 3, 3), [2, 2], [1, 1], [1, 1], [1, 1]),
        (_IMAGE,),
        FLOATS,
    ),
    Operation("DepthToSpace", lambda x: ops.DepthToSpace(x, "blocks_first", 2), ((2, 4, 3, 3),), ALL),
    Operation("Elu", lambda x: ops.Elu(x, 1.5), (_ROWS,), FLOATS),
    Operation("Gather", lambda x: ops.Gather(x, np.int64([2, 0]), np.int64(1)), (_MATRIX,), ALL),
    Operation("Gelu", lambda x: ops.Gelu(x, "erf"), (_ROWS,), FLOATS),
    Operation(
        "Interpolate",
        lambda x: ops.Interpolate(x, np.int64([12, 12]), "linear", "sizes", axes=np.int64([2, 3])),
        (_IMAGE,),
        FLOATS,
    ),
    Operation("MatMul", lambda a, b: ops.MatMul(a, b, False, True), (_MATRIX, (2, 5, 4)), NUMBERS),
    Operation("MatMul", lambda x: ops.MatMul(x, _weights(x, 5, 6), False, False), (_ROWS,), FLOATS),
    Operation("MVN", lambda x: ops.MVN(x, np.int64([1, 2]), True, 1e-5, "inside_sqrt"), (_MATRIX,), FLOATS),
    Operation("NormalizeL2", lambda x: ops.NormalizeL2(x, np.int64([1]), 1e-6, "add"), (_MATRIX,), FLOATS),
    Operation("Pad", lambda x: ops.Pad(x, np.int64([0, 1]), np.int64([0, 2]), "constant"), (_ROWS,), ALL),
    Operation("PRelu", lambda x: ops.PRelu(x, _weights(x, 5)), (_ROWS,), FLOATS),
    Operation("Reshape", lambda x: ops.Reshape(x, np.int64([0, -1]), True), (_MATRIX,), ALL),
    Operation("Select", lambda a, b: ops.Select(ops.Less(a, b), a, b), (_ROWS, _ROWS), ALL),
    Operation("ShapeOf", lambda x: ops.ShapeOf(x, "i64"), (_MATRIX,), ALL),
    Operation(
        "Slice",
        lambda x: ops.Slice(x, np.int64([4]), np.int64([0]), np.int64([-2]), np.int64([1])),
        (_ROWS,),
        ALL,
    ),
    Operation("Softmax", lambda x: ops.Softmax(x, 1), (_MATRIX,), FLOATS),
    Operation("Split", lambda x: ops.Split(x, np.int64(1), 2), ((3, 4),), ALL),
    Operation("Squeeze", lambda x: ops.Squeeze(x, np.int64([1])), ((3, 1, 5),), ALL),
    Operation(
        "StridedSlice",
        lambda x: ops.StridedSlice(x, np.int64([0, 1]), np.int64([0, 5]), np.int64([1, 2]), [1, 0], [1, 0]),
        (_ROWS,),
        ALL,
    ),
    Operation("Tile", lambda x: ops.Tile(x, np.int64([2, 3])), (_ROWS,), ALL),
    Operation("TopK", lambda x: ops.TopK(x, np.int64(2), 1, "max", "value"), (_ROWS,), FLOATS),
    Operation("Transpose", lambda x: ops.Transpose(x, np.int64([0, 2, 1])), (_MATRIX,), ALL),
    Operation("Unsqueeze", lambda x: ops.Unsqueeze(x, np.int64([1])), (_ROWS,), ALL),
)
