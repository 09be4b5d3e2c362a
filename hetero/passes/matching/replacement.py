"""Replacement of nodes and values by others, like ``openvino.utils``."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.graph import Node, Output, Parameter, Result
from hetero.graph.rt_info import copy_rt_info
from hetero.system.errors import GraphError


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
