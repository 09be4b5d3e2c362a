"""Replacement of operations and values by others: helpers of passes, and those of ``openvino.utils``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hetero.graph import Input, Model, Node, Output, Parameter, Result, constant_array
from hetero.graph.rt_info import copy_rt_info
from hetero.system.errors import GraphError


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


def replace_node(
    target: Node, replacement: Node | Sequence[Output], outputs_order: Sequence[int] | None = None
) -> None:
    """Make the readers of each output of a node read the output of another, or one of several values.

    ``outputs_order`` has the output of the replacement for each output of the target. Names of nodes stay. Raises
    GraphError for a Result, or unless each output gets a value.
    """
    if isinstance(target, Result):
        raise GraphError(f"Result '{target.friendly_name}' cannot be replaced: replace what it reads")
    values = replacement.outputs() if isinstance(replacement, Node) else list(replacement)
    if outputs_order is not None:
        if not all(0 <= index < len(values) for index in outputs_order):
            raise GraphError(f"outputs_order is {list(outputs_order)}, but the replacement has {len(values)} outputs")
        values = [values[index] for index in outputs_order]
    if len(values) != target.get_output_size():
        count = target.get_output_size()
        raise GraphError(f"'{target.friendly_name}' has {count} outputs, but its replacement has {len(values)}")
    for old, new in zip(target.outputs(), values):
        if old is not new:
            old.replace(new)


def replace_output_update_name(output: Output, target_output: Output) -> bool:
    """Make the readers of a value read another one, and keep the name of the model's output, if it is one.

    Returns False, without a change, if that is impossible: another output of the model has the value already.
    """
    node = target_output.node
    if _is_read_by_result(output):
        if isinstance(node, Parameter) or _is_read_by_result(target_output):
            return False
        node.friendly_name = output.node.friendly_name
    output.replace(target_output)
    copy_rt_info([node, output.node], node)
    return True


def _is_read_by_result(value: Output) -> bool:
    return any(isinstance(reader.node, Result) for reader in value.get_target_inputs())
