"""Random numbers that depend on a seed alone, or on a key and a counter: they are TensorFlow's.

The generator is Philox 4x32-10, computed by operations on u64 tensors of words of 32 bits.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext, translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import arange, constant_input, convert_to, int64, reshape, scalar_like
from hetero.graph import Constant, Node, Output
from hetero.system.errors import FrontendError

# Numbers of algorithms in TensorFlow: Philox, and that which the device prefers.
_PHILOX, _AUTOMATIC = 1, 3
# The key with which seeds are mixed.
_MIXING_KEY = (0x3EC8F720, 0x02461E29)
# The number of random bits in a fraction.
_FRACTION_BITS = {Type.f64: 52, Type.f32: 23, Type.f16: 10, Type.bf16: 7}
# Truncated normal numbers are the first ones in the range of this many, and each group of 4 words of results has calls
# of its own. Each is out of range with a probability of 0.046; that too few are in range, 2e-15.
_CANDIDATES = 16
_CALLS_OF_GROUP = 256


class _Generator(NamedTuple):
    """The key of a generator, and the halves of its counter: each a vector of one u64."""

    key: Output
    low: Output
    high: Output

    def words(self, calls: Output) -> Output:
        """Return the words of calls, ``[N, 4]``. ``calls``: what to add to the counter for each, i64 ``[N]``."""
        low = ops.Add(self.low, convert_to(calls, Type.u64))
        carry = convert_to(ops.Less(low, self.low).output(0), Type.u64)
        high = ops.Add(self.high, carry)
        columns = _philox(_halves(self.key), [*_halves(low), *_halves(high)])
        return ops.Concat([ops.Unsqueeze(column, int64([1])) for column in columns], 1).output(0)


def _low(value: Node | Output) -> Output:
    return ops.BitwiseAnd(value, np.uint64(0xFFFFFFFF)).output(0)


def _high(value: Node | Output) -> Output:
    return ops.BitwiseRightShift(value, np.uint64(32)).output(0)


def _halves(value: Node | Output) -> list[Output]:
    return [_low(value), _high(value)]


def _joined(low: Output, high: Output) -> Output:
    return ops.BitwiseOr(low, ops.BitwiseLeftShift(high, np.uint64(32))).output(0)


def _element(vector: Output, index: int) -> Output:
    return ops.Gather(vector, int64([index]), int64(0)).output(0)


def _philox(key: list[Output], counter: list[Output]) -> list[Output]:
    """Return four words for each counter. ``key``: two words, ``counter``: four, all of them vectors.

    J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
    """
    a, b, c, d = counter
    first, second = key
    for _ in range(10):
        one, two = ops.Multiply(a, np.uint64(0xD2511F53)), ops.Multiply(c, np.uint64(0xCD9E8D57))
        a = ops.BitwiseXor(ops.BitwiseXor(_high(two), b), first).output(0)
        c = ops.BitwiseXor(ops.BitwiseXor(_high(one), d), second).output(0)
        b, d = _low(two), _low(one)
        first = _low(ops.Add(first, np.uint64(0x9E3779B9)))
        second = _low(ops.Add(second, np.uint64(0xBB67AE85)))
    return [a, b, c, d]


def _from_seeds(seeds: Output) -> _Generator:
    """Return the generator of two seeds, i32 or i64 ``[2]``."""
    seeds = convert_to(convert_to(seeds, Type.i64), Type.u64)
    key = [Constant(np.array([word], np.uint64)).output(0) for word in _MIXING_KEY]
    a, b, c, d = _philox(key, [*_halves(_element(seeds, 0)), *_halves(_element(seeds, 1))])
    return _Generator(_joined(a, b), Constant(np.zeros(1, np.uint64)).output(0), _joined(c, d))


def _generator(node: TensorflowNodeContext) -> _Generator:
    """Return the generator of inputs 1 on: of seeds, or in version 2 the key, the counter and the algorithm."""
    if not node.get_op_type().endswith("V2"):
        return _from_seeds(node.get_input(1))
    algorithm = constant_input(node, 3, "alg").item()
    if algorithm not in (_PHILOX, _AUTOMATIC):
        raise FrontendError(f"the algorithm {algorithm} is not supported, only {_PHILOX}, Philox")
    counter = node.get_input(2)
    return _Generator(reshape(node.get_input(1), (1,)), _element(counter, 0), _element(counter, 1))


def _count(node: TensorflowNodeContext) -> Output:
    """Return how many numbers the operator returns, a vector of one i64."""
    return ops.ReduceProd(convert_to(node.get_input(0), Type.i64), int64([0]), True).output(0)


def _groups(count: Output, size: int) -> Output:
    """Return the numbers 0, 1, … of the groups that ``count`` results come from."""
    total = ops.Divide(ops.Add(count, int64(size - 1)), int64(size)).output(0)
    return arange(ops.Reshape(total, int64([]), False))


def _shaped(node: TensorflowNodeContext, numbers: Output, count: Output) -> Output:
    """Return the first ``count`` numbers in the shape and of the type that the operator asks for."""
    first = ops.Slice(reshape(numbers, (-1,)), int64([0]), count, int64([1]), int64([0]))
    shaped = ops.Reshape(first, convert_to(node.get_input(0), Type.i64), False).output(0)
    return convert_to(shaped, node.get_attribute("dtype"))


def _pairs(words: Output) -> tuple[Output, Output]:
    """Return words of even and of odd index."""
    pairs = reshape(words, (-1, 2))
    return tuple(ops.Gather(pairs, int64(index), int64(1)).output(0) for index in range(2))  # type: ignore[return-value]


def _fractions(words: Output, kind: Type) -> Output:
    """Return numbers uniform in [0, 1), a vector. Each f64 takes two words, others one."""
    if kind is Type.f64:
        high, low = _pairs(words)
        words = _joined(low, high)
    bits = _FRACTION_BITS[kind]
    fractions = convert_to(ops.BitwiseAnd(words, np.uint64((1 << bits) - 1)).output(0), kind)
    return ops.Multiply(reshape(fractions, (-1,)), scalar_like(fractions, 2.0**-bits)).output(0)


def _normal(words: Output, kind: Type) -> Output:
    """Return as many normal numbers as there are fractions, f64 or f32, by the Box-Muller transform.

    Box & Muller, "A Note on the Generation of Random Normal Deviates", 1958.
    """
    first, second = _pairs(_fractions(words, kind))
    first = ops.Maximum(first, scalar_like(first, 1e-7)).output(0)  # not 0, whose logarithm is infinite
    radius = ops.Sqrt(ops.Multiply(ops.Log(first), scalar_like(first, -2)))
    angle = ops.Multiply(second, scalar_like(second, 2 * math.pi))
    parts = [ops.Multiply(function(angle), radius) for function in (ops.Sin, ops.Cos)]
    return ops.Concat([ops.Unsqueeze(part, int64([1])) for part in parts], 1).output(0)


def _results_of_call(kind: Type) -> int:
    return 2 if kind.size == 8 else 4


@translator("StatelessRandomUniform", "StatelessRandomUniformV2")
def uniform(node: TensorflowNodeContext) -> Translation:
    kind, count = node.get_attribute("dtype"), _count(node)
    words = _generator(node).words(_groups(count, _results_of_call(kind)))
    return _shaped(node, _fractions(words, kind), count)


@translator("StatelessRandomNormal", "StatelessRandomNormalV2")
def normal(node: TensorflowNodeContext) -> Translation:
    kind, count = _computed_in(node), _count(node)
    words = _generator(node).words(_groups(count, _results_of_call(kind)))
    return _shaped(node, _normal(words, kind), count)


@translator("StatelessTruncatedNormal", "StatelessTruncatedNormalV2")
def truncated_normal(node: TensorflowNodeContext) -> Translation:
    """Normal numbers from -2 to 2: those of others are left out."""
    kind, count = _computed_in(node), _count(node)
    size = _results_of_call(kind)
    calls = np.arange(_CANDIDATES // size)
    starts = ops.Multiply(_groups(count, size), int64(_CALLS_OF_GROUP * size // 4))
    places = ops.Add(ops.Unsqueeze(starts, int64([1])), int64(calls))
    words = _generator(node).words(reshape(places.output(0), (-1,)))
    candidates = reshape(_normal(words, kind), (-1, _CANDIDATES))
    is_outside = ops.GreaterEqual(ops.Abs(candidates), scalar_like(candidates, 2)).output(0)
    numbers = np.arange(_CANDIDATES, dtype=np.int32)
    order = ops.Select(is_outside, numbers + np.int32(_CANDIDATES), numbers)
    chosen = ops.TopK(order, int64(size), 1, "min", "value").output(1)
    return _shaped(node, ops.GatherElements(candidates, chosen, 1).output(0), count)


def _computed_in(node: TensorflowNodeContext) -> Type:
    return Type.f64 if node.get_attribute("dtype") is Type.f64 else Type.f32


@translator(
    "StatelessRandomUniformInt", "StatelessRandomUniformIntV2", "StatelessRandomUniformFullInt",
    "StatelessRandomUniformFullIntV2",
)  # fmt: skip
def uniform_integers(node: TensorflowNodeContext) -> Translation:
    """Integers from the minimum up to but not including the maximum, or with any bits."""
    kind, count = node.get_attribute("dtype"), _count(node)
    words = _generator(node).words(_groups(count, _results_of_call(kind)))
    numbers = reshape(_joined(*_pairs(words)) if kind.size == 8 else words, (-1,))
    if "FullInt" in node.get_op_type():
        return _shaped(node, convert_to(numbers, Type.u32) if kind.size == 4 else numbers, count)
    low, high = (convert_to(reshape(limit, ()), Type.i64) for limit in node.get_inputs()[-2:])
    rest = ops.Mod(numbers, convert_to(ops.Subtract(high, low).output(0), Type.u64))
    return _shaped(node, ops.Add(convert_to(rest.output(0), Type.i64), low).output(0), count)


@translator("StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg", "StatelessRandomGetAlg")
def generator_state(node: TensorflowNodeContext) -> Translation:
    """The key and the counter of seeds, and the algorithm."""
    algorithm = Constant(np.array(_PHILOX, np.int32)).output(0)
    if node.get_op_type().endswith("GetAlg"):
        return algorithm
    state = _from_seeds(node.get_input(0))
    counter = ops.Concat([state.low, state.high], 0).output(0)
    return [state.key, counter, algorithm][: 3 if node.get_op_type().endswith("Alg") else 2]
