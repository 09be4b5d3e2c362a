"""StableHLO's RNG_BIT_GENERATOR: the generators of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011.

Words of 32 bits are computed with in u64, of which no more than the lower half is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from tflite import RngAlgorithm

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64
from hetero.graph import Constant, Node, Output
from hetero.types import Type

Words = Sequence[Node | Output]
_UNSIGNED = {Type.i32: Type.u32, Type.u32: Type.u32, Type.i64: Type.u64, Type.u64: Type.u64}
# Philox-4x32: factors and what the key grows by.
_FACTORS, _WEYL = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)
_PHILOX_ROUNDS = 10
# Threefry-2x32: how far words are turned in eight rounds, and the parity of Threefish's key.
_TURNS, _PARITY = (13, 15, 26, 6, 17, 29, 16, 24), 0x1BD11BDA
_THREEFRY_ROUNDS = 20


@translator("STABLEHLO_RNG_BIT_GENERATOR")
def rng_bit_generator(node: TfliteNodeContext) -> Translation:
    """The next state and random bits. The state is a key and a counter, u64, and for Philox may be a word more.

    As LiteRT has it: the counter's first 64 bits count; where Philox has no further word, that is the key.
    """
    state, algorithm, output = node.get_input(0), node.get_attribute("algorithm"), node.output_tensor(1)
    threefry = algorithm == RngAlgorithm.THREEFRY
    if not threefry and algorithm not in (RngAlgorithm.DEFAULT, RngAlgorithm.PHILOX):
        raise FrontendError(f"the algorithm {algorithm} is not known")
    sizes = [2] if threefry else [2, 3]
    if state.element_type is not Type.u64 or state.partial_shape not in [[size] for size in sizes]:
        raise FrontendError(f"its state {state.element_type}{state.partial_shape} must be u64 of {sizes} elements")
    if output.element_type not in _UNSIGNED or not output.partial_shape.is_static:
        raise FrontendError(f"random bits cannot be {output.element_type or output.kind}{output.partial_shape}")
    kind, shape = _UNSIGNED[output.element_type], output.partial_shape.to_shape()
    count = math.prod(shape)
    blocks = -(-count * kind.bitwidth // (64 if threefry else 128))
    numbers = [ops.Gather(state, int64(place), int64(0)) for place in range(state.shape[0])]
    key = _words(numbers[0])
    counter = ops.Add(numbers[1], ops.Convert(ops.Range(int64(0), int64(blocks), int64(1), Type.i64), Type.u64))
    words = (
        threefry_words(_words(counter), key)
        if threefry
        else philox_words([*_words(counter), *_words(numbers[2] if len(numbers) > 2 else numbers[0])], key)
    )
    steps = np.zeros(state.shape, np.uint64)
    steps[1] = blocks
    return [ops.Add(state, Constant(steps)), _as_bits(words, kind, output.element_type, count, shape)]


def philox_words(counter: Words, key: Words) -> Words:
    """Four words of each block."""
    counter, key = list(counter), list(key)
    for _ in range(_PHILOX_ROUNDS):
        first, second = (ops.Multiply(counter[2 * place], _word(factor)) for place, factor in enumerate(_FACTORS))
        counter = [
            _mixed(_mixed(_high(second), counter[1]), key[0]), _low(second),
            _mixed(_mixed(_high(first), counter[3]), key[1]), _low(first),
        ]  # fmt: skip
        key = [_sum(word, _word(growth)) for word, growth in zip(key, _WEYL)]
    return counter


def threefry_words(counter: Words, key: Words) -> Words:
    """Two words of each block."""
    keys = [*key, _mixed(_mixed(key[0], key[1]), _word(_PARITY))]
    first, second = (_sum(word, more) for word, more in zip(counter, key))
    for step in range(_THREEFRY_ROUNDS):
        first = _sum(first, second)
        second = _mixed(_turned(second, _TURNS[step % 8]), first)
        if step % 4 == 3:
            injection = step // 4 + 1
            first = _sum(first, keys[injection % 3])
            second = _sum(_sum(second, keys[(injection + 1) % 3]), _word(injection))
    return [first, second]


def _as_bits(words: Words, kind: Type, wanted: Type, count: int, shape: tuple[int, ...]) -> Node:
    """Words of all blocks one after the other, two of them one number where these have 64 bits."""
    if kind is Type.u64:
        words = [ops.BitwiseOr(low, _shifted_up(high, 32)) for low, high in zip(words[::2], words[1::2])]
    rows = ops.Concat([ops.Unsqueeze(word, int64([1])) for word in words], 1)
    bits = ops.Convert(ops.Reshape(rows, int64([-1]), False), kind)
    bits = ops.Slice(bits, int64([0]), int64([count]), int64([1]), int64([0]))
    bits = ops.Reshape(bits, int64(shape), False)
    return bits if wanted is kind else ops.BitCast(bits, wanted)


def _word(number: int) -> Constant:
    return Constant(np.array(number, np.uint64))


def _words(number: Node) -> list[Node]:
    return [_low(number), _high(number)]


def _low(number: Node) -> Node:
    return ops.BitwiseAnd(number, _word(0xFFFFFFFF))


def _high(number: Node) -> Node:
    return ops.BitwiseRightShift(number, _word(32))


def _shifted_up(word: Node, places: int) -> Node:
    return ops.BitwiseLeftShift(word, _word(places))


_mixed: Callable[[Node, Node], Node] = ops.BitwiseXor


def _sum(word: Node, more: Node) -> Node:
    return _low(ops.Add(word, more))


def _turned(word: Node, places: int) -> Node:
    return _low(ops.BitwiseOr(_shifted_up(word, places), ops.BitwiseRightShift(word, _word(32 - places))))
