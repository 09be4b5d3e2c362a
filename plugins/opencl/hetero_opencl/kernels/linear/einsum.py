"""Einsum: inputs are contracted one after the other, each pair as a batched gemm.

A sum over labels of one input alone is its product with a vector of ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.ops.linear import ELLIPSIS, parse_equation
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.copies import strided_copy
from hetero_opencl.kernels.common.definition import ProductTypes, lowers, wide_type
from hetero_opencl.kernels.common.view import View, broadcast_shapes
from hetero_opencl.kernels.linear.gemm import batched_gemm, unsupported_gemm
from hetero_opencl.kernels.linear.product import Factors
from hetero_opencl.lowering.lowering import Lowering


class Operand(NamedTuple):
    """Buffer of ``size`` elements; ``taken`` is a view of them with one axis per label."""

    buffer: Buffer
    kind: Type
    size: int
    taken: View
    labels: list[str]

    def lengths(self, labels: Sequence[str]) -> tuple[int, ...]:
        return tuple(self.taken.shape[self.labels.index(label)] for label in labels)


@lowers(ops.Einsum, unsupported=unsupported_gemm)
def einsum(lowering: Lowering, node: ops.Einsum) -> None:
    subscripts, output = parse_equation(node.equation)
    ranks = [len(value.shape) for value in node.input_values()]
    counts = [rank - len(s.labels) + 1 for rank, s in zip(ranks, subscripts) if ELLIPSIS in s.labels]
    longest = max(counts, default=0)
    target_labels = output.expanded(len(output.labels) - 1 + longest, longest)
    kind, buffer = node.get_element_type(), lowering.buffer(node.output(0))
    operands = [
        _operand(lowering.buffer(value), kind, value.shape, subscript.expanded(rank, longest))
        for value, subscript, rank in zip(node.input_values(), subscripts, ranks)
    ]
    result = operands[0]
    for index, operand in enumerate(operands[1:], 2):
        later = set(target_labels).union(*(other.labels for other in operands[index:]))
        result = _sum_unused(lowering, result, later | set(operand.labels), wide_type(kind))
        operand = _sum_unused(lowering, operand, later | set(result.labels), wide_type(kind))
        is_last = index == len(operands)
        kind_now, result_buffer = (kind, buffer) if is_last else (wide_type(kind), None)
        result = _product(lowering, result, operand, later, target_labels, kind_now, result_buffer)
    result = _sum_unused(lowering, result, set(target_labels), kind)
    if result.buffer is buffer:
        return
    taken = result.taken.transpose(*(result.labels.index(label) for label in target_labels))
    strided_copy(lowering, result.buffer, taken, buffer, View.dense(taken.shape, taken.itemsize))


def _operand(buffer: Buffer, kind: Type, shape: Sequence[int], labels: list[str]) -> Operand:
    """Return an operand of contiguous elements. A repeated label selects the diagonal."""
    view = View.dense(shape, kind.size)
    unique = list(dict.fromkeys(labels))
    lengths, strides = dict.fromkeys(unique, 1), dict.fromkeys(unique, 0)
    for label, length, stride in zip(labels, shape, view.strides):
        if length != 1:
            lengths[label] = length
            strides[label] += stride
    taken = View(tuple(lengths.values()), tuple(strides.values()), 0, kind.size)
    return Operand(buffer, kind, view.size, taken, unique)


def _sum_unused(lowering: Lowering, operand: Operand, kept: set[str], kind: Type) -> Operand:
    """Sum over the labels that are not in ``kept``. Returns the operand itself if there are none."""
    gone = [label for label in operand.labels if label not in kept]
    if not gone:
        return operand
    count = math.prod(operand.lengths(gone))
    ones = lowering.constant(np.ones(count, operand.kind.to_dtype()))
    return _product(lowering, operand, _operand(ones, operand.kind, operand.lengths(gone), gone), kept, [], kind)


def _product(
    lowering: Lowering,
    a: Operand,
    b: Operand,
    later: set[str],
    target_labels: Sequence[str],
    kind: Type,
    target: Buffer | None = None,
) -> Operand:
    """Return the product of two operands of type ``kind``, summed over the labels that are not in ``later``.

    Its labels follow the order of ``target_labels`` as far as possible. If they are equal, the result is in ``target``.
    """
    both = [label for label in a.labels if label in b.labels]
    inner = [label for label in both if label not in later]
    order = {label: place for place, label in enumerate(target_labels)}
    stacked, rows, columns = (
        sorted(labels, key=lambda label: order.get(label, len(order)))
        for labels in (
            [label for label in both if label in later],
            [label for label in a.labels if label not in both],
            [label for label in b.labels if label not in both],
        )
    )
    depths = broadcast_shapes(a.lengths(inner), b.lengths(inner))
    stacks = a.lengths(stacked), b.lengths(stacked)
    left = _contiguous(lowering, a, stacked + rows + inner, (*stacks[0], *a.lengths(rows), *depths))
    right = _contiguous(lowering, b, stacked + inner + columns, (*stacks[1], *depths, *b.lengths(columns)))
    lengths = (*broadcast_shapes(*stacks), *a.lengths(rows), *b.lengths(columns))
    labels = stacked + rows + columns
    result = target if target and labels == target_labels else lowering.scratch(math.prod(lengths), kind.size)
    size = math.prod(a.lengths(rows)), math.prod(b.lengths(columns)), math.prod(depths)
    factors = Factors(left, size[2], 1)
    batched_gemm(lowering, factors, right, result, size, stacks, types=ProductTypes(a.kind, b.kind, kind))
    return _operand(result, kind, lengths, labels)


def _contiguous(lowering: Lowering, operand: Operand, labels: Sequence[str], lengths: tuple[int, ...]) -> Buffer:
    """Return a contiguous buffer of the elements with the labels in this order, broadcast to these lengths."""
    taken = operand.taken.transpose(*(operand.labels.index(label) for label in labels)).broadcast_to(lengths)
    if taken.is_dense and taken.size == operand.size:
        return operand.buffer
    scratch = lowering.scratch(taken.size, taken.itemsize)
    strided_copy(lowering, operand.buffer, taken, scratch, View.dense(taken.shape, taken.itemsize))
    return scratch
