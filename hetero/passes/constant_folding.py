"""Compute before anything runs what depends on no input."""

from __future__ import annotations

import numpy as np

from hetero.containers import ContainerType
from hetero.errors import HeteroError
from hetero.graph import Constant, Model, Node, Output, Parameter, Result, is_constant
from hetero.graph.runtime_info import copy_runtime_info
from hetero.ops.values import is_exact
from hetero.reference import evaluate, has_evaluate

# A result that is larger than what it is made of is kept as a Constant only up to this many bytes.
LARGEST_GROWTH = 1 << 20


def fold_constants(model: Model) -> bool:
    """Put Constants in the place of values that are known: computed from Constants alone, or shapes that are static.

    Requires nothing. Ensures: no operation reads only Constants, except those whose result would take much more
    memory than their inputs, and those that cannot be evaluated. Types and shapes are up to date.
    """
    changed = False
    sinks = set(model.sinks)
    for node in model.get_ordered_ops():
        if isinstance(node, (Parameter, Constant)):
            continue
        node.infer()
        if isinstance(node, Result):
            continue
        changed |= fold_node(node)
        if node not in sinks and not any(output.get_target_inputs() for output in node.outputs()):
            node.disconnect()
    return changed


def fold_node(node: Node, growth: int = 1) -> bool:
    """Put Constants in the place of those outputs of a node that are known; whether there were any.

    A result may take up to ``growth`` times the memory of what it is made of, or LARGEST_GROWTH bytes.
    """
    changed = False
    for output, array in zip(node.outputs(), _known_outputs(node, growth)):
        if array is not None and output.get_target_inputs():
            _replace(output, array)
            changed = True
    return changed


def _known_outputs(node: Node, growth: int) -> list[np.ndarray | None]:
    exact = [_exact_array(output) for output in node.outputs()]
    if all(array is not None for array in exact):
        return exact
    sources = node.input_values()
    if not node.repeatable or any(isinstance(output.element_type, ContainerType) for output in node.outputs()):
        return exact  # a Constant holds a tensor that never changes
    if not sources or not all(map(is_constant, sources)) or not has_evaluate(node) or _grows(node, growth):
        return exact
    try:
        return evaluate(node, [source.node.data for source in sources])
    except (HeteroError, ValueError, IndexError, TypeError, ZeroDivisionError, MemoryError):
        return exact  # the error is the user's to see when the operation runs


def _exact_array(output: Output) -> np.ndarray | None:
    """What is known of an output where that is all of it, in its element type: known values may be in wider ones."""
    return output.value.astype(output.element_type.to_dtype(), copy=False) if is_exact(output.value) else None


def _grows(node: Node, growth: int) -> bool:
    if any(output.partial_shape.is_dynamic for output in node.outputs()):
        return False
    made = sum(int(np.prod(o.shape, dtype=np.int64)) * o.element_type.size for o in node.outputs())
    read = sum(source.node.data.nbytes for source in node.input_values())
    return made > growth * read and made > LARGEST_GROWTH


def _replace(output: Output, array: np.ndarray) -> None:
    node = output.node
    name = node.friendly_name if node.get_output_size() == 1 else f"{node.friendly_name}.{output.index}"
    constant = Constant(array, name=name)
    copy_runtime_info([node], constant)
    output.replace(constant.output(0))
