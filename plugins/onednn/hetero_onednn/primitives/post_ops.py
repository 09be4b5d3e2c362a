"""Element-wise operations as post-ops of a primitive, and as a chain of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hetero import ops
from hetero.graph import Constant, Node, constant_array
from hetero_onednn.keep_nan import InfinityFlag, KeepingRelu, NanFlag
from hetero_onednn.library.api import Binary, Eltwise
from hetero_onednn.library.primitive import BinaryOp, EltwiseOp, PostOp, PReluOp
from hetero_onednn.lowering import PrimitiveOperation
from hetero_onednn.quantization import single_number

# The functions of one operand without parameters. SoftPlus is not one: oneDNN's is wrong by percents for x < -8. Log
# is wrong by percents near 1, except for a primitive of its own.
_UNARY: dict[type[Node], PostOp] = {
    ops.Abs: EltwiseOp(Eltwise.abs),
    ops.Exp: EltwiseOp(Eltwise.exp),
    ops.HSigmoid: EltwiseOp(Eltwise.hardsigmoid, 1 / 6, 0.5),
    ops.HSwish: EltwiseOp(Eltwise.hardswish, 1 / 6, 0.5),
    ops.GeluV2: EltwiseOp(Eltwise.gelu_erf),
    ops.Mish: EltwiseOp(Eltwise.mish),
    ops.Negative: EltwiseOp(Eltwise.linear, -1.0),
    ops.Relu: EltwiseOp(Eltwise.relu),
    ops.Sigmoid: EltwiseOp(Eltwise.logistic),
    ops.Sqrt: EltwiseOp(Eltwise.sqrt),
    ops.Tanh: EltwiseOp(Eltwise.tanh),
}
_BINARY: dict[type[Node], Binary] = {
    ops.Add: Binary.add, ops.Multiply: Binary.mul, ops.Maximum: Binary.max, ops.Minimum: Binary.min,
    ops.Subtract: Binary.sub, ops.Divide: Binary.div,
}  # fmt: skip
_COMMUTATIVE = (ops.Add, ops.Multiply, ops.Maximum, ops.Minimum)


def post_ops_of(node: Node, position: int) -> list[PostOp] | None:
    """Return post-ops that compute an element-wise node of the running value, its input at ``position``.

    Returns None if there are none.
    """
    if type(node) in _BINARY:
        return _binary(node, position)
    if position:
        return None
    if type(node) in _UNARY:
        return [_UNARY[type(node)]]
    if type(node) is ops.Convert:
        return []  # primitives read and write any type
    make = _WITH_PARAMETERS.get(type(node))
    return make(node) if make else None


def _binary(node: Node, position: int) -> list[PostOp] | None:
    other = node.input_value(1 - position)
    number, algorithm = single_number(other), _BINARY[type(node)]
    if type(node) in _COMMUTATIVE or position == 0:
        if number is not None and type(node) is ops.Multiply:
            return [EltwiseOp(Eltwise.linear, number)]
        if number is not None and type(node) in (ops.Add, ops.Subtract):
            return [EltwiseOp(Eltwise.linear, 1.0, number if type(node) is ops.Add else -number)]
        return [BinaryOp(algorithm, other)]
    if type(node) is ops.Subtract:
        return [EltwiseOp(Eltwise.linear, -1.0), BinaryOp(Binary.add, other)]
    return None


def _hard_sigmoid(node: ops.HardSigmoid) -> list[PostOp] | None:
    alpha, beta = map(single_number, node.input_values()[1:])
    return None if alpha is None or beta is None else [EltwiseOp(Eltwise.hardsigmoid, alpha, beta)]


def _power(node: ops.Power) -> list[PostOp] | None:
    exponent = single_number(node.input_value(1))
    if exponent is None:
        return None
    return [EltwiseOp(Eltwise.square) if exponent == 2 else EltwiseOp(Eltwise.pow, 1.0, exponent)]


def _prelu(node: ops.PRelu) -> list[PostOp] | None:
    slope = single_number(node.input_value(1))
    # With a slope of 0, oneDNN's relu is a maximum with 0, which loses NaN.
    return [EltwiseOp(Eltwise.relu, slope) if slope else PReluOp(node.input_value(1))]


def _keeping_relu(node: KeepingRelu) -> list[PostOp]:
    """Return x · min(max(x · the largest number, 0), 1), whose last product is NaN for NaN, plus 0, so that -0 is 0."""
    return [EltwiseOp(Eltwise.hardswish, _LARGEST, 0.0), EltwiseOp(Eltwise.linear, 1.0, 0.0)]


_LARGEST = float(np.finfo(np.float32).max)
_INFINITY = Constant(np.array(np.inf, np.float32)).output(0)


def _selu(node: ops.Selu) -> list[PostOp] | None:
    alpha, scale = map(single_number, node.input_values()[1:])
    return None if alpha is None or scale is None else [EltwiseOp(Eltwise.elu, alpha), EltwiseOp(Eltwise.linear, scale)]


def _swish(node: ops.Swish) -> list[PostOp] | None:
    beta = single_number(node.input_value(1)) if node.has_input("beta") else 1.0
    return None if beta is None else [EltwiseOp(Eltwise.swish, beta)]


_WITH_PARAMETERS: dict[type[Node], Callable[[Any], list[PostOp] | None]] = {
    ops.Clamp: lambda node: [EltwiseOp(Eltwise.clip_v2, node.min_value, node.max_value)],
    ops.Elu: lambda node: [EltwiseOp(Eltwise.elu, node.alpha)],
    ops.Gelu: lambda node: [EltwiseOp(Eltwise.gelu_tanh if node.approximation_mode == "tanh" else Eltwise.gelu_erf)],
    ops.HardSigmoid: _hard_sigmoid,
    InfinityFlag: lambda node: [BinaryOp(Binary.eq, _INFINITY)],
    KeepingRelu: _keeping_relu,
    NanFlag: lambda node: [BinaryOp(Binary.ne, node.input_value(0))],
    ops.Power: _power,
    ops.PRelu: _prelu,
    ops.Round: lambda node: [EltwiseOp(Eltwise.round)] if node.mode == "half_to_even" else None,
    ops.Selu: _selu,
    ops.SquaredDifference: lambda node: [BinaryOp(Binary.sub, node.input_value(1)), EltwiseOp(Eltwise.square)],
    ops.Swish: _swish,
}
ELEMENTWISE = (*_UNARY, *_BINARY, *_WITH_PARAMETERS)


def chain_of(operation: PrimitiveOperation) -> list[PostOp]:
    """Return the post-ops for the nodes after the main node of an operation."""
    post_ops: list[PostOp] = []
    running = operation.main.output(0)
    for node in operation.epilogue:
        post_ops += post_ops_of(node, node.input_values().index(running)) or ()
        running = node.output(0)
    return post_ops


def bias_and_post_ops(operation: PrimitiveOperation, axis: int) -> tuple[np.ndarray | None, list[PostOp]]:
    """Return the constant per channel that is added first, None if there is none, and the post-ops after it."""
    chain = chain_of(operation)
    if chain and isinstance(first := chain[0], BinaryOp) and first.algorithm is Binary.add:
        array = constant_array(first.operand)
        channels = operation.main.output(0).shape[axis]
        if array is not None and array.size == channels and _is_channel(first.operand.shape, axis, operation):
            return array.reshape(-1), chain[1:]
    return None, chain


def _is_channel(shape: Sequence[int], axis: int, operation: PrimitiveOperation) -> bool:
    rank = len(operation.main.output(0).shape)
    padded = (1,) * (rank - len(shape)) + tuple(shape)
    return padded[axis] == np.prod(padded)
