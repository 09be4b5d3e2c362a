"""Helpers of passes that replace operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hetero.graph import Input, Model, Node, Result, constant_array
from hetero.graph.rt_info import copy_rt_info


def rewrite_each(model: Model, types: tuple[type[Node], ...], rewrite: Callable[[Any], bool]) -> bool:
    """Call ``rewrite`` for each operation of these types, sources first, and return whether it changed any."""
    return any([rewrite(node) for node in model.get_ordered_ops() if type(node) in types])


def replace(nodes: Sequence[Node], replacement: Node) -> None:
    """Replace the last of ``nodes``, which computes their result, by another node, and disconnect all of them.

    The replacement takes the friendly name of the last one and the original names of all.
    """
    last = nodes[-1]
    copy_rt_info(nodes, replacement)
    replacement.friendly_name = last.friendly_name
    for old, new in zip(last.outputs(), replacement.outputs()):
        old.replace(new)
    for node in nodes:
        node.disconnect()


def only_reader(node: Node) -> Input | None:
    """Return the only input that reads output 0 of a node; None if there are several or if it is a Result."""
    readers = node.output(0).get_target_inputs()
    return readers[0] if len(readers) == 1 and not isinstance(readers[0].node, Result) else None


def per_channel(data: Input) -> np.ndarray | None:
    """Return the other operand of a binary operation that reads data ``[N, C, ...]``, if it is constant per channel.

    Returns one element or C, or None if the operand is no Constant that broadcasts along the channels, or makes the
    shape of the result larger than that of the data.
    """
    array, shape = constant_array(data.node.input_value(1 - data.index)), data.partial_shape
    if array is None or not shape.has_rank or len(shape) < 2 or shape[1].is_dynamic:
        return None
    padded = (1,) * (len(shape) - array.ndim) + array.shape
    fits = len(padded) == len(shape) and padded[1] in (1, shape[1].get_length()) and array.size == padded[1]
    return array.reshape(-1) if fits else None
