"""Which function evaluates which operation on numpy arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hetero.containers import ElementType
from hetero.errors import UnsupportedOperationError
from hetero.graph import Node

# Takes the node and its input arrays; returns an array, or a sequence of them for several outputs.
Evaluator = Callable[..., Any]

_HALVES = ("float16", "bfloat16")

_evaluators: dict[type[Node], Evaluator] = {}


def evaluates(*operations: type[Node]) -> Callable[[Evaluator], Evaluator]:
    """Decorator: the function ``f(node, *arrays)`` evaluates these operations."""

    def register(function: Evaluator) -> Evaluator:
        for operation in operations:
            _evaluators[operation] = function
        return function

    return register


def in_single(function: Evaluator) -> Evaluator:
    """Decorator: f16 and bf16 inputs are computed in f32, which is faster and more accurate; ``evaluate`` rounds."""

    @functools.wraps(function)
    def widened(node: Node, *arrays: np.ndarray) -> Any:
        return function(node, *(a.astype(np.float32) if a.dtype.name in _HALVES else a for a in arrays))

    return widened


def has_evaluate(node: Node) -> bool:
    """Whether the reference can evaluate this node."""
    return type(node) in _evaluators


def evaluate(node: Node, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The outputs of a node for its inputs, in new memory or as views of the inputs.

    Raises UnsupportedOperationError where the reference does not know the operation.
    """
    evaluator = _evaluators.get(type(node))
    if evaluator is None:
        raise UnsupportedOperationError(f"the reference cannot evaluate {node.type_info.name} '{node.friendly_name}'")
    with np.errstate(all="ignore"):  # infinities and NaN are values here
        result = evaluator(node, *inputs)
        results = result if isinstance(result, (tuple, list)) else (result,)
        return [_in_type(array, output.element_type) for array, output in zip(results, node.outputs())]


def _in_type(array: Any, element_type: ElementType) -> np.ndarray:
    return np.asarray(array) if element_type.is_dynamic() else np.asarray(array, element_type.to_dtype())
