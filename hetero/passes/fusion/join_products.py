"""Joining of matrix products: those of one row with several constant matrices become one product."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, cast

import numpy as np

from hetero import ops
from hetero.graph import Constant, Model, Node, Output, constant_array
from hetero.graph.rt_info import copy_rt_info
from hetero.passes.manager import keeps_values
from hetero.passes.matching.rewriting import only_reader

# Operations that take parts of a product as they are. Others may be computed together with their product.
_READERS = (
    ops.Reshape, ops.Squeeze, ops.Unsqueeze, ops.Transpose, ops.Concat, ops.MatMul, ops.SoftmaxAttention,
    ops.ScaledDotProductAttention,
)  # fmt: skip


@keeps_values
def join_products(model: Model) -> bool:
    """Make one MatMul of several that multiply the same row by constant matrices, such as query, key and value.

    Requires: constants are folded. Applies to MatMuls, each alone or followed by an Add of a constant row, whose
    results only move. With several rows, parts of the result would not be contiguous.
    """
    groups: defaultdict[tuple[Any, ...], list[list[Node]]] = defaultdict(list)
    for node in model.get_ordered_ops():
        if type(node) is ops.MatMul and (chain := _chain(node)):
            matrix = node.input_value(1)
            groups[node.input_value(0), node.transpose_b, matrix.element_type, len(chain)].append(chain)
    return any([_join(chains) for chains in groups.values() if len(chains) > 1])


def _chain(product: ops.MatMul) -> list[Node]:
    """Return the product and the Add of its bias, if there is one; nothing if they cannot be joined with others."""
    row, matrix = product.input_value(0).partial_shape, constant_array(product.input_value(1))
    if product.transpose_a or matrix is None or matrix.ndim != 2 or row.is_dynamic or len(row) < 2:
        return []
    if any(length != 1 for length in row.to_shape()[:-1]):
        return []
    chain: list[Node] = [product]
    reader = only_reader(product)
    if reader and type(reader.node) is ops.Add and _bias(reader.node, product.output(0)) is not None:
        chain.append(reader.node)
    readers = chain[-1].output(0).get_target_inputs()
    return chain if readers and all(type(one.node) in _READERS for one in readers) else []


def _bias(add: Node, product: Output) -> np.ndarray | None:
    """Return the constant operand of an addition as a row, or None if it has another length than the product."""
    array = constant_array(add.input_value(1 - add.input_values().index(product)))
    is_row = array is not None and array.size == product.shape[-1] and add.output(0).shape == product.shape
    return array.reshape(-1) if array is not None and is_row else None


def _join(chains: list[list[Node]]) -> bool:
    first = chains[0][0]
    assert isinstance(first, ops.MatMul)
    matrices = [cast(Constant, product.input_value(1).node).data for product, *_ in chains]
    joined = np.concatenate(matrices, 0 if first.transpose_b else 1)
    new: list[Node] = [ops.MatMul(first.input_value(0), Constant(joined), False, first.transpose_b)]
    if len(chains[0]) > 1:
        biases = [cast(np.ndarray, _bias(add, product.output(0))) for product, add in chains]
        new.append(ops.Add(new[-1], Constant(np.concatenate(biases))))
    lengths = [chain[-1].output(0).shape[-1] for chain in chains]
    new.append(ops.VariadicSplit(new[-1], np.int64(-1), np.array(lengths)))
    nodes = [node for chain in chains for node in chain]
    for node in new:
        copy_rt_info(nodes, node)
    for chain, part in zip(chains, new[-1].outputs()):
        chain[-1].output(0).replace(part)
    for node in nodes:
        node.disconnect()
    return True
