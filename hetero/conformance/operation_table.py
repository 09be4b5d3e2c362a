"""Common operations on small inputs, to be tried with every element type, dynamic shapes and empty tensors.

Expected results are numpy formulas. They do not come from hetero.reference, because that is one of the devices tested.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hetero import Constant, Model, Op, Output, Parameter, Type, ops
from hetero.conformance.samples import random_array

FLOATS = (Type.f32, Type.f16, Type.bf16, Type.f64)
INTEGERS = (Type.i32, Type.i64, Type.i8, Type.u8)
NUMBERS = (*FLOATS, *INTEGERS)
ALL = (*NUMBERS, Type.boolean)

Formula = Callable[..., "np.ndarray | tuple[np.ndarray, ...]"]
Formulas = Mapping[type[Op], Formula]


class OperationCase(NamedTuple):
    """A case: how to build an operation from its inputs, its formula, the input shapes and the element types.

    ``formula``: computes the results by numpy. It gets f64 arrays if the element type is a floating-point type, else
    arrays of that type. ``batched``: whether the first dimension of all inputs is a batch of any size, including 0.
    """

    name: str
    build: Callable[..., Op]
    formula: Formula
    shapes: tuple[tuple[int, ...], ...]
    kinds: tuple[Type, ...]
    batched: bool = True

    def model(self, kind: Type, dynamic: bool = False) -> Model:
        """Return a model of the operation alone. With ``dynamic``, all dimensions of the inputs are dynamic."""
        shapes = [[-1] * len(shape) if dynamic else shape for shape in self.shapes]
        inputs = [Parameter(kind, shape, name=f"x{index}") for index, shape in enumerate(shapes)]
        node = self.build(*(node.output(0) for node in inputs))
        node.friendly_name = self.name
        return Model(node.outputs(), inputs, self.name)

    def arrays(self, kind: Type, rows: int | None = None) -> list[np.ndarray]:
        """Return inputs: reals from 0.2 to 2, integers from 1 to 9 or booleans. ``rows``: replaces the batch size."""
        shapes = self.shapes if rows is None else [(rows, *shape[1:]) for shape in self.shapes]
        return [random_array(kind, shape, seed, (0.2, 2)) for seed, shape in enumerate(shapes)]

    def expected(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the results for inputs of one element type, by the formula."""
        dtype = arrays[0].dtype
        is_float = Type(dtype) in FLOATS
        results = self.formula(*(array.astype(np.float64) if is_float else array for array in arrays))
        # f64 stands for the element type of the inputs; integers are truncated.
        return [
            result.astype(dtype) if result.dtype == np.float64 else result
            for result in (results if isinstance(results, tuple) else (results,))
        ]


def _weights(*shape: int) -> np.ndarray:
    """Return an array of numbers from 1 to 4."""
    return (np.arange(math.prod(shape)) % 4 + 1).reshape(shape)


def _constant(x: Output, *shape: int) -> Constant:
    """Return ``_weights`` as a Constant of the element type of a value."""
    return Constant(_weights(*shape).astype(x.element_type.to_dtype()))


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


_erf = np.vectorize(math.erf, otypes=[np.float64])


def _divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a / b if a.dtype.kind == "f" else a // b


def _softmax(x: np.ndarray) -> np.ndarray:
    exponentials = np.exp(x)
    return exponentials / exponentials.sum(1, keepdims=True)


def _mvn(x: np.ndarray) -> np.ndarray:
    return (x - x.mean((1, 2), keepdims=True)) / np.sqrt(x.var((1, 2), keepdims=True) + 1e-5)


def _windows(x: np.ndarray, begin: int, end: int, **padding: Any) -> np.ndarray:
    """Return the 3×3 windows ``[N, C, H, W, 3, 3]`` of padded images ``[N, C, H, W]``; ``padding``: of numpy.pad."""
    padded = np.pad(x, ((0, 0), (0, 0), (begin, end), (begin, end)), **padding)
    return np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))


def _average_pool(x: np.ndarray) -> np.ndarray:
    """Average the elements of windows, without the padding."""
    sums, counts = (_windows(each, 0, 1)[:, :, ::2, ::2].sum((4, 5)) for each in (x, np.ones_like(x)))
    return sums / counts


def _max_pool(x: np.ndarray) -> np.ndarray:
    # Padding by the edge does not change a maximum.
    return _windows(x, 0, 1, mode="edge")[:, :, ::2, ::2].max((4, 5))


def _convolution(x: np.ndarray) -> np.ndarray:
    return np.einsum("nchwij,ocij->nohw", _windows(x, 1, 1), _weights(4, 3, 3, 3))


def _group_convolution(x: np.ndarray) -> np.ndarray:
    return np.einsum("nchwij,cij->nchw", _windows(x, 1, 1)[:, :, ::2, ::2], _weights(3, 3, 3))


def _depth_to_space(x: np.ndarray) -> np.ndarray:
    return x.reshape(len(x), 2, 2, 3, 3).transpose(0, 3, 1, 4, 2).reshape(len(x), 1, 6, 6)


def _interpolate(x: np.ndarray) -> np.ndarray:
    """Resize from 6 to 12 elements per axis. Pixel i of the result is at (i + 0.5) / 2 - 0.5."""
    position = (np.arange(12) + 0.5) / 2 - 0.5
    weights = np.maximum(0, 1 - np.abs(position[:, None] - np.arange(6)))
    weights /= weights.sum(1, keepdims=True)
    return weights @ x @ weights.T


def _top_2(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    indices = np.argsort(-x, axis=1, kind="stable")[:, :2]
    return np.take_along_axis(x, indices, 1), indices.astype(np.int32)


_UNARY: Formulas = {ops.Abs: np.abs, ops.Negative: np.negative, ops.Sign: np.sign, ops.Relu: lambda x: np.maximum(x, 0)}
_UNARY_FLOAT: Formulas = {
    ops.Ceiling: np.ceil,
    ops.Cos: np.cos,
    ops.Erf: _erf,
    ops.Exp: np.exp,
    ops.Floor: np.floor,
    ops.HSigmoid: lambda x: np.clip(x + 3, 0, 6) / 6,
    ops.HSwish: lambda x: x * np.clip(x + 3, 0, 6) / 6,
    ops.Log: np.log,
    ops.Mish: lambda x: x * np.tanh(np.log1p(np.exp(x))),
    ops.Sigmoid: _sigmoid,
    ops.Sin: np.sin,
    ops.SoftPlus: lambda x: np.log1p(np.exp(x)),
    ops.SoftSign: lambda x: x / (1 + np.abs(x)),
    ops.Sqrt: np.sqrt,
    ops.Swish: lambda x: x * _sigmoid(x),
    ops.Tanh: np.tanh,
}
_BINARY: Formulas = {
    ops.Add: np.add,
    ops.Divide: _divide,
    ops.FloorMod: np.mod,
    ops.Maximum: np.maximum,
    ops.Minimum: np.minimum,
    ops.Mod: np.fmod,
    ops.Multiply: np.multiply,
    ops.Power: np.power,
    ops.SquaredDifference: lambda a, b: np.square(a - b),
    ops.Subtract: np.subtract,
}
_COMPARISONS: Formulas = {
    ops.Equal: np.equal,
    ops.Greater: np.greater,
    ops.GreaterEqual: np.greater_equal,
    ops.Less: np.less,
    ops.LessEqual: np.less_equal,
    ops.NotEqual: np.not_equal,
}
_LOGICAL: Formulas = {ops.LogicalAnd: np.logical_and, ops.LogicalOr: np.logical_or, ops.LogicalXor: np.logical_xor}
# Over axis 1, which stays with length 1.
_REDUCTIONS: Formulas = {
    ops.ReduceL1: lambda x: np.sum(np.abs(x), 1, x.dtype, keepdims=True),
    ops.ReduceL2: lambda x: np.sqrt(np.sum(np.square(x.astype(np.float64)), 1, keepdims=True)),
    ops.ReduceMax: lambda x: np.max(x, 1, keepdims=True),
    ops.ReduceMean: lambda x: x.mean(1, np.float64, keepdims=True),
    ops.ReduceMin: lambda x: np.min(x, 1, keepdims=True),
    ops.ReduceProd: lambda x: np.prod(x, 1, x.dtype, keepdims=True),
    ops.ReduceSum: lambda x: np.sum(x, 1, x.dtype, keepdims=True),
}
_ROWS, _MATRIX, _IMAGE = (3, 5), (2, 3, 4), (2, 3, 6, 6)


def _cases(
    shapes: tuple[tuple[int, ...], ...], kinds: tuple[Type, ...], cases: Mapping[str, tuple[Callable[..., Op], Formula]]
) -> list[OperationCase]:
    return [OperationCase(name, build, formula, shapes, kinds) for name, (build, formula) in cases.items()]


def _elementwise(formulas: Formulas, input_count: int, kinds: tuple[Type, ...]) -> list[OperationCase]:
    cases = {kind.type_info.name: (kind, formula) for kind, formula in formulas.items()}
    return _cases((_ROWS,) * input_count, kinds, cases)


OPERATIONS = (
    *_elementwise(_UNARY, 1, NUMBERS),
    *_elementwise(_UNARY_FLOAT, 1, FLOATS),
    *_elementwise(_BINARY, 2, NUMBERS),
    *_elementwise(_COMPARISONS, 2, ALL),
    *_elementwise(_LOGICAL, 2, (Type.boolean,)),
    *_elementwise({ops.LogicalNot: np.logical_not}, 1, (Type.boolean,)),
    *(
        OperationCase(kind.type_info.name, lambda x, kind=kind: kind(x, [1], True), formula, (_MATRIX,), NUMBERS)
        for kind, formula in _REDUCTIONS.items()
    ),
    *_cases((_ROWS,), ALL, {
        "Convert": (lambda x: ops.Convert(x, Type.f32), lambda x: x.astype(np.float32)),
        "Pad": (lambda x: ops.Pad(x, [0, 1], [0, 2], "constant"), lambda x: np.pad(x, ((0, 0), (1, 2)))),
        "Slice": (lambda x: ops.Slice(x, [4], [0], [-2], [1]), lambda x: x[:, 4:0:-2]),
        "StridedSlice": (
            lambda x: ops.StridedSlice(x, [0, 1], [0, 5], [1, 2], [1, 0], [1, 0]), lambda x: x[:, 1:5:2],
        ),
        "Tile": (lambda x: ops.Tile(x, [2, 3]), lambda x: np.tile(x, (2, 3))),
        "Unsqueeze": (lambda x: ops.Unsqueeze(x, [1]), lambda x: x[:, None]),
    }),
    *_cases((_ROWS,), FLOATS, {
        "Elu": (lambda x: ops.Elu(x, 1.5), lambda x: np.where(x > 0, x, 1.5 * np.expm1(x))),
        "Gelu": (lambda x: ops.Gelu(x, "erf"), lambda x: x * (1 + _erf(x / np.sqrt(2))) / 2),
        "MatMul": (lambda x: ops.MatMul(x, _constant(x, 5, 6), False, False), lambda x: x @ _weights(5, 6)),
        "PRelu": (lambda x: ops.PRelu(x, _constant(x, 5)), lambda x: np.where(x > 0, x, x * _weights(5))),
        "TopK": (lambda x: ops.TopK(x, 2, 1, "max", "value"), _top_2),
    }),
    *_cases((_MATRIX,), ALL, {
        "Gather": (lambda x: ops.Gather(x, [2, 0], 1), lambda x: x[:, [2, 0]]),
        "Reshape": (lambda x: ops.Reshape(x, [0, -1], True), lambda x: x.reshape(len(x), 12)),
        "ShapeOf": (lambda x: ops.ShapeOf(x, "i64"), lambda x: np.array(x.shape)),
        "Transpose": (lambda x: ops.Transpose(x, [0, 2, 1]), lambda x: x.transpose(0, 2, 1)),
    }),
    *_cases((_MATRIX,), FLOATS, {
        "MVN": (lambda x: ops.MVN(x, [1, 2], True, 1e-5, "inside_sqrt"), _mvn),
        "NormalizeL2": (
            lambda x: ops.NormalizeL2(x, [1], 1e-6, "add"),
            lambda x: x / np.sqrt(np.square(x).sum(1, keepdims=True) + 1e-6),
        ),
        "Softmax": (lambda x: ops.Softmax(x, 1), _softmax),
    }),
    *_cases((_IMAGE,), FLOATS, {
        "AvgPool": (lambda x: ops.AvgPool(x, [2, 2], [0, 0], [1, 1], [3, 3], True), _average_pool),
        "Convolution": (
            lambda x: ops.Convolution(x, _constant(x, 4, 3, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1]), _convolution,
        ),
        "GroupConvolution": (
            lambda x: ops.GroupConvolution(x, _constant(x, 3, 1, 1, 3, 3), [2, 2], [1, 1], [1, 1], [1, 1]),
            _group_convolution,
        ),
        "Interpolate": (lambda x: ops.Interpolate(x, [12, 12], "linear", "sizes", axes=[2, 3]), _interpolate),
    }),
    OperationCase("Add", ops.Add, np.add, ((3, 5), (1, 5)), NUMBERS, batched=False),
    OperationCase(
        "Broadcast", lambda x: ops.Broadcast(x, [2, 3, 5]), lambda x: np.broadcast_to(x, (2, 3, 5)), (_ROWS,), ALL,
        batched=False,
    ),
    OperationCase("Clamp", lambda x: ops.Clamp(x, 1, 3), lambda x: np.clip(x, 1, 3), (_ROWS,), NUMBERS),
    OperationCase(
        "Concat", lambda a, b: ops.Concat([a, b], 1), lambda a, b: np.concatenate([a, b], 1), (_ROWS, (3, 2)), ALL
    ),
    OperationCase(
        "DepthToSpace", lambda x: ops.DepthToSpace(x, "blocks_first", 2), _depth_to_space, ((2, 4, 3, 3),), ALL
    ),
    OperationCase(
        "MatMul", lambda a, b: ops.MatMul(a, b, False, True), lambda a, b: a @ b.swapaxes(1, 2),
        (_MATRIX, (2, 5, 4)), NUMBERS,
    ),
    OperationCase("MaxPool", lambda x: ops.MaxPoolV1(x, [2, 2], [0, 0], [1, 1], [3, 3]), _max_pool, (_IMAGE,), NUMBERS),
    OperationCase(
        "Select", lambda a, b: ops.Select(ops.Less(a, b), a, b), lambda a, b: np.where(a < b, a, b), (_ROWS, _ROWS), ALL
    ),
    OperationCase("Split", lambda x: ops.Split(x, 1, 2), lambda x: (x[:, :2], x[:, 2:]), ((3, 4),), ALL),
    OperationCase("Squeeze", lambda x: ops.Squeeze(x, [1]), lambda x: x[:, 0], ((3, 1, 5),), ALL),
)  # fmt: skip
