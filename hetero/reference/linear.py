"""MatMul, Eye, Inverse, Det and Einsum, which contracts one input after the other as batched gemms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.ops.linear import ELLIPSIS, Subscript, parse_equation
from hetero.reference.accumulation import accumulation_type, to_element_type
from hetero.reference.registry import Array, Runner, evaluates, prepares, register_functions, widening


@evaluates(ops.MatMul, in_f32=True)
def matmul(node: ops.MatMul, a: Array, b: Array) -> Array:
    if node.transpose_a and a.ndim > 1:
        a = a.swapaxes(-1, -2)
    if node.transpose_b and b.ndim > 1:
        b = b.swapaxes(-1, -2)
    work, element_type = accumulation_type(a, b, a.shape[-1]), a.dtype
    return to_element_type(_product(a.astype(work, copy=False), b.astype(work, copy=False)), element_type)


@evaluates(ops.GroupedMatMul, in_f32=True)
def grouped_matmul(node: ops.GroupedMatMul, a: Array, b: Array, offsets: Array | None = None) -> Array:
    work, element_type = accumulation_type(a, b, a.shape[-1]), a.dtype
    left, right = a.astype(work, copy=False), b.astype(work, copy=False).swapaxes(-1, -2)
    if offsets is None or a.ndim == 3:
        return to_element_type(left @ right, element_type)
    result = np.zeros((len(a), right.shape[-1]), work)
    ends = [0, *offsets.tolist()]
    for begin, end, matrix in zip(ends, ends[1:], right):
        result[begin:end] = left[begin:end] @ matrix
    return to_element_type(result, element_type)


def _product(a: Array, b: Array) -> Array:
    if b.ndim == 2 and a.ndim > 2 and a.flags.c_contiguous:
        # One gemm over all rows instead of one per matrix.
        return (a.reshape(-1, a.shape[-1]) @ b).reshape(*a.shape[:-1], b.shape[-1])
    return np.matmul(a, b)


@evaluates(ops.Eye)
def eye(
    node: ops.Eye, num_rows: Array, num_columns: Array, diagonal_index: Array, batch_shape: Array | None = None
) -> Array:
    rows, columns, diagonal = (int(array.reshape(-1)[0]) for array in (num_rows, num_columns, diagonal_index))
    matrix = np.eye(rows, columns, diagonal, node.output_type.to_dtype())
    return matrix if batch_shape is None else np.broadcast_to(matrix, (*batch_shape.tolist(), rows, columns)).copy()


@evaluates(ops.Inverse, in_f32=True)
def inverse(node: ops.Inverse, x: Array) -> Array:
    return np.linalg.inv(np.swapaxes(x, -1, -2) if node.adjoint else x)


register_functions({ops.Det: np.linalg.det}, in_f32=True)


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
        result, labels = _pair_product(result, labels, array, others, later)
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


def _pair_product(
    a: Array, a_labels: list[str], b: Array, b_labels: list[str], later: set[str]
) -> tuple[Array, list[str]]:
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
