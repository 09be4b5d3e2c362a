"""Einsum: contracts one input after the other, each pair as a batched gemm."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.ops.linear.einsum import ELLIPSIS, Subscript, parse_equation
from hetero.reference.registry import Array, Runner, prepares, widening


@prepares(ops.Einsum)
def einsum(node: ops.Einsum) -> Runner:
    subscripts, output = parse_equation(node.equation)
    return widening(lambda _, *arrays: contract(arrays, subscripts, output), node)


def contract(arrays: Sequence[Array], subscripts: Sequence[Subscript], output: Subscript) -> Array:
    """Return the sum of products of the arrays described by the subscripts."""
    counts = [a.ndim - len(s.labels) + 1 for a, s in zip(arrays, subscripts) if ELLIPSIS in s.labels]
    longest = max(counts, default=0)
    names = [s.expanded(a.ndim, longest) for a, s in zip(arrays, subscripts)]
    wanted = output.expanded(len(output.labels) - 1 + longest, longest)
    result, labels = _diagonal(arrays[0], names[0])
    for index in range(1, len(arrays)):
        later = set(wanted).union(*names[index + 1 :])
        array, others = _diagonal(arrays[index], names[index])
        result, labels = _product(result, labels, array, others, later)
    result, labels = _sum_out(result, labels, set(wanted))
    return result.transpose([labels.index(label) for label in wanted])


def _diagonal(array: Array, labels: list[str]) -> tuple[Array, list[str]]:
    """Return the diagonal over repeated labels, so that each label has one dimension, and the unique labels."""
    unique = list(dict.fromkeys(labels))
    if len(unique) == len(labels):
        return array, labels
    axes = {label: axis for axis, label in enumerate(unique)}
    return np.einsum(array, [axes[label] for label in labels], list(range(len(unique)))), unique


def _sum_out(array: Array, labels: list[str], kept: set[str]) -> tuple[Array, list[str]]:
    """Sum the array over the labels that are not kept; return it with the remaining labels."""
    summed = tuple(axis for axis, label in enumerate(labels) if label not in kept)
    return (array.sum(summed, array.dtype), [label for label in labels if label in kept]) if summed else (array, labels)


def _product(a: Array, a_labels: list[str], b: Array, b_labels: list[str], later: set[str]) -> tuple[Array, list[str]]:
    """Return the product of two arrays, summed over the labels that are not needed later, and its labels."""
    a, a_labels = _sum_out(a, a_labels, later | set(b_labels))
    b, b_labels = _sum_out(b, b_labels, later | set(a_labels))
    both = [label for label in a_labels if label in b_labels]
    inner = [label for label in both if label not in later]
    stacked = [label for label in both if label in later]
    rows = [label for label in a_labels if label not in both]
    columns = [label for label in b_labels if label not in both]
    a = a.transpose([a_labels.index(label) for label in stacked + rows + inner])
    b = b.transpose([b_labels.index(label) for label in stacked + inner + columns])
    depth = len(stacked)
    stack = np.broadcast_shapes(a.shape[:depth], b.shape[:depth])
    row_lengths, column_lengths = a.shape[depth : depth + len(rows)], b.shape[depth + len(inner) :]
    inner_lengths = np.broadcast_shapes(a.shape[depth + len(rows) :], b.shape[depth : depth + len(inner)])
    a = np.broadcast_to(a, (*a.shape[: depth + len(rows)], *inner_lengths))
    b = np.broadcast_to(b, (*b.shape[:depth], *inner_lengths, *column_lengths))
    size = math.prod(inner_lengths)
    left = a.reshape(*a.shape[:depth], math.prod(row_lengths), size)
    right = b.reshape(*b.shape[:depth], size, math.prod(column_lengths))
    # Without inner labels it is an outer product, which needs no gemm.
    product = np.matmul(left, right) if inner else left * right
    return product.reshape((*stack, *row_lengths, *column_lengths)), stacked + rows + columns
