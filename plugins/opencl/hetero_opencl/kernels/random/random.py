"""RandomUniform and Multinomial. With seeds the numbers are those of the reference."""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node
from hetero_opencl.kernels.common.definition import lowers, source, unsupported_types
from hetero_opencl.lowering.lowering import Argument, Lowering

Random = ops.RandomUniform | ops.Multinomial

# Number of random bits in a fraction, as in PyTorch's generator.
_BITS = {Type.f64: 53, Type.f32: 24, Type.f16: 11, Type.bf16: 8}


def _unsupported_random_uniform(node: Node) -> str | None:
    return unsupported_types(node, [*node.input_values()[1:], node.output(0)])


@lowers(ops.RandomUniform, unsupported=_unsupported_random_uniform)
def random_uniform(lowering: Lowering, node: ops.RandomUniform) -> None:
    output = node.output(0)
    draw = _draw_by_philox if node.alignment == "tensorflow" else _draw_by_mersenne
    draw(lowering, node, node.input_values()[1:], output, output.element_type, math.prod(output.shape))


@lowers(ops.Multinomial, unsupported=unsupported_types)
def multinomial(lowering: Lowering, node: ops.Multinomial) -> None:
    """Compute in f64 if the device has it, like the reference."""
    probs, output = node.input_value(0), node.output(0)
    (rows, samples), columns = output.shape, probs.shape[1]
    if not rows * samples * columns:
        return
    numbers = lowering.scratch(rows * samples)
    limits = [lowering.constant(np.array([limit], np.float32)) for limit in (0, 1)]
    _draw_by_philox(lowering, node, limits, numbers, Type.f32, rows * samples)
    real = Type.f64 if lowering.profile.has_doubles else Type.f32
    text = source("multinomial", {"DATA": probs.element_type, "INDEX": output.element_type, "REAL": real})
    weights = lowering.scratch(rows * columns, real.size)
    lowering.launch_flat(text, "weigh", [probs, weights, columns, node.log_probs, node.with_replacement], rows)
    kernel, count = ("draw", rows * samples) if node.with_replacement else ("draw_once", rows)
    lowering.launch_flat(text, kernel, [weights, numbers, output, columns, samples], count)


def _draw_by_philox(
    lowering: Lowering, node: Random, limits: Sequence[Argument], target: Argument, kind: Type, count: int
) -> None:
    calls = -(-count * (2 if kind.size == 8 else 1) // 4)
    text = source("philox", {"DATA": kind}, KIND=max(kind.size, 4 * (kind is Type.bf16)) if kind.is_real() else 0)
    following, start = lowering.kept(np.zeros(3, np.uint32)), lowering.scratch(2)
    lowering.launch_flat(text, "take_counters", [following, start, np.uint32(calls)], 1)
    words = np.array(_seeds(node), np.uint64).view(np.uint32)
    lowering.launch_flat(text, "philox", [start, *limits, target, *words, count], calls)


def _draw_by_mersenne(
    lowering: Lowering, node: Random, limits: Sequence[Argument], target: Argument, kind: Type, count: int
) -> None:
    real = Type.f64 if lowering.profile.has_doubles else Type.f32
    text = source("mersenne_twister", {"DATA": kind, "REAL": real}, BITS=_BITS.get(kind, 0))
    generator = np.random.RandomState(_seeds(node)[0] & 0xFFFFFFFF).get_state(legacy=False)
    state = lowering.kept(np.append(generator["state"]["key"], [624, 0]).astype(np.uint32))
    words = lowering.scratch(count * (2 if kind.size == 8 else 1))
    lowering.launch_flat(text, "make_words", [state, *limits, words, count], 1)
    lowering.launch_flat(text, "make_numbers", [words, *limits, target], count)


def _seeds(node: Random) -> tuple[int, int]:
    """Return key and stream of the node's generator. If both seeds are 0, they are drawn anew for each program."""
    mask = 2**64 - 1
    if node.global_seed or node.op_seed:
        return node.global_seed & mask, node.op_seed & mask
    return secrets.randbits(64), 0
