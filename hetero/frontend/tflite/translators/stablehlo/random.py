"""StableHLO RNG_BIT_GENERATOR, with the algorithms Philox and Threefry.

See Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011. 32-bit words are
stored in the lower halves of u64, which holds their products.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from tflite import RngAlgorithm

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.movement import stack
from hetero.frontend.tflite.node_context import TfliteNodeContext, translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64
from hetero.graph import Constant, Node
from hetero.system.errors import FrontendError

Words = Sequence[Node]
_UNSIGNED = {Type.i32: Type.u32, Type.u32: Type.u32, Type.i64: Type.u64, Type.u64: Type.u64}
# Philox-4x32: the multipliers and the increments of the key.
_FACTORS, _WEYL = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)
_PHILOX_ROUNDS = 10
# Threefry-2x32: the rotations of eight rounds and the parity constant of the key schedule.
_ROTATIONS, _PARITY = (13, 15, 26, 6, 17, 29, 16, 24), 0x1BD11BDA
_THREEFRY_ROUNDS = 20


@translator("STABLEHLO_RNG_BIT_GENERATOR")
def rng_bit_generator(node: TfliteNodeContext) -> Translation:
    """Return the next state and random bits.

    The state is u64: key, counter and, optionally for Philox, the upper half of the counter. As in LiteRT, only the
    lower 64 bits of the counter are incremented, and a missing upper half is the key.
    """
    state, algorithm, output = node.get_input(0), node.get_attribute("algorithm"), node.output_tensor(1)
    threefry = algorithm == RngAlgorithm.THREEFRY
    if not threefry and algorithm not in (RngAlgorithm.DEFAULT, RngAlgorithm.PHILOX):
        raise FrontendError(f"algorithm {algorithm} is not supported")
    sizes = [2] if threefry else [2, 3]
    if state.element_type is not Type.u64 or state.partial_shape not in [[size] for size in sizes]:
        raise FrontendError(f"its state {state.element_type}{state.partial_shape} must be u64 of {sizes} elements")
    target = node.output_type(1)
    if target not in _UNSIGNED or not output.partial_shape.is_static:
        raise FrontendError(
            f"its output {target}{output.partial_shape} must be 32- or 64-bit integers of a static shape"
        )
    kind, shape = _UNSIGNED[target], output.partial_shape.to_shape()
    count = math.prod(shape)
    blocks = -(-count * kind.bitwidth // (64 if threefry else 128))
    parts = [ops.Gather(state, int64(index), int64(0)) for index in range(state.shape[0])]
    key = _words(parts[0])
    counter = ops.Add(parts[1], ops.Convert(ops.Range(int64(0), int64(blocks), int64(1), Type.i64), Type.u64))
    words = (
        threefry_words(_words(counter), key)
        if threefry
        else philox_words([*_words(counter), *_words(parts[2] if len(parts) > 2 else parts[0])], key)
    )
    increment = np.zeros(state.shape, np.uint64)
    increment[1] = blocks
    return [ops.Add(state, Constant(increment)), _as_bits(words, kind, target, count, shape)]


def philox_words(counter: Words, key: Words) -> Words:
    """Return four random words per block. ``counter``: four words, ``key``: two."""
    counter, key = list(counter), list(key)
    for _ in range(_PHILOX_ROUNDS):
        first, second = (ops.Multiply(counter[2 * index], _word(factor)) for index, factor in enumerate(_FACTORS))
        counter = [
            _xor(_xor(_high(second), counter[1]), key[0]), _low(second),
            _xor(_xor(_high(first), counter[3]), key[1]), _low(first),
        ]  # fmt: skip
        key = [_sum(word, _word(increment)) for word, increment in zip(key, _WEYL)]
    return counter


def threefry_words(counter: Words, key: Words) -> Words:
    """Return two random words per block. ``counter`` and ``key``: two words each."""
    keys = [*key, _xor(_xor(key[0], key[1]), _word(_PARITY))]
    first, second = (_sum(word, key_word) for word, key_word in zip(counter, key))
    for step in range(_THREEFRY_ROUNDS):
        first = _sum(first, second)
        second = _xor(_rotate_left(second, _ROTATIONS[step % 8]), first)
        if step % 4 == 3:
            injection = step // 4 + 1
            first = _sum(first, keys[injection % 3])
            second = _sum(_sum(second, keys[(injection + 1) % 3]), _word(injection))
    return [first, second]


def _as_bits(words: Words, kind: Type, target: Type, count: int, shape: tuple[int, ...]) -> Node:
    """Return the words of all blocks as ``count`` elements of the unsigned ``kind``, bit-cast to the target type."""
    if kind is Type.u64:
        words = [ops.BitwiseOr(low, _shift_left(high, 32)) for low, high in zip(words[::2], words[1::2])]
    rows = stack(words, 1)
    elements = ops.Convert(ops.Reshape(rows, int64([-1]), False), kind)
    first = ops.Slice(elements, int64([0]), int64([count]), int64([1]), int64([0]))
    bits = ops.Reshape(first, int64(shape), False)
    return bits if target is kind else ops.BitCast(bits, target)


def _word(number: int) -> Constant:
    return Constant(np.array(number, np.uint64))


def _words(number: Node) -> list[Node]:
    """Split a u64 into its low and its high 32-bit word."""
    return [_low(number), _high(number)]


def _low(number: Node) -> Node:
    return ops.BitwiseAnd(number, _word(0xFFFFFFFF))


def _high(number: Node) -> Node:
    return ops.BitwiseRightShift(number, _word(32))


def _shift_left(word: Node, bits: int) -> Node:
    return ops.BitwiseLeftShift(word, _word(bits))


_xor: Callable[[Node, Node], Node] = ops.BitwiseXor


def _sum(first: Node, second: Node) -> Node:
    """Add two words modulo 2³²."""
    return _low(ops.Add(first, second))


def _rotate_left(word: Node, bits: int) -> Node:
    return _low(ops.BitwiseOr(_shift_left(word, bits), ops.BitwiseRightShift(word, _word(32 - bits))))
