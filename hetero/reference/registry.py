"""Which function evaluates which operation on numpy arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetero.errors import UnsupportedOperationError
from hetero.graph import Constant, Node, Op, Parameter, Result, walk_nested
from hetero.reference.custom_op import CustomOp
from hetero.reference.output_sizes import with_size_check
from hetero.types import Type

# The contents of variables by their ids; one that is not there was never assigned, or is reset.
VariableValues = MutableMapping[str, np.ndarray]


@dataclass(frozen=True)
class Run:
    """What a program and the bodies in it share during one run.

    ``variables`` are read and written. ``check`` is called before each operation and each iteration of a body; it
    raises an exception if the run must end.
    """

    variables: VariableValues
    check: Callable[[], None] = lambda: None


# Takes the node and its input arrays; returns an array, or a sequence of them for several outputs.
Evaluator = Callable[..., Any]
# Takes the Run and the input arrays; returns what an Evaluator does.
Runner = Callable[..., Any]

_HALVES = (Type.f16, Type.bf16)
_HALF_DTYPES = tuple(kind.to_dtype() for kind in _HALVES)

# Each makes the Runner of a node.
_preparers: dict[type[Node], Callable[[Node], Runner]] = {}


def evaluates(*operations: type[Node]) -> Callable[[Evaluator], Evaluator]:
    """Decorator: the function ``f(node, *arrays)`` evaluates these operations."""

    def register(function: Evaluator) -> Evaluator:
        def prepare(node: Node) -> Runner:
            kinds = [value.element_type for value in node.input_values()]
            may_be_half = any(kind.is_dynamic() or kind in _HALVES for kind in kinds)
            run = function if may_be_half else getattr(function, "of_others", function)
            return lambda _, *arrays: run(node, *arrays)

        prepares(*operations)(prepare)
        return function

    return register


def prepares(*operations: type[Node]) -> Callable[[Callable[[Node], Runner]], Callable[[Node], Runner]]:
    """Decorator: the function makes of a node what runs it: ``f(node)(run, *arrays)``.

    For operations with work to be done once for many runs, and those that read or write variables.
    """

    def register(prepare: Callable[[Node], Runner]) -> Callable[[Node], Runner]:
        for operation in operations:
            _preparers[operation] = prepare
        return prepare

    return register


def in_single(function: Evaluator) -> Evaluator:
    """Decorator: f16 and bf16 inputs are computed in f32, which is faster and more accurate; ``evaluate`` rounds."""

    @functools.wraps(function)
    def widened(node: Node, *arrays: np.ndarray) -> Any:
        return function(node, *(a.astype(np.float32) if a.dtype in _HALF_DTYPES else a for a in arrays))

    widened.of_others = function  # for nodes of which it is known that they have no such inputs

    return widened


def has_evaluate(node: Node) -> bool:
    """Whether the reference can evaluate this node: by a function of its own, or by that of the node's class."""
    return type(node) in _preparers or _evaluates_itself(node)


def _evaluates_itself(node: Node) -> bool:
    return isinstance(node, Op) and node.has_evaluate()


def unknown_operation(node: Node) -> Node | None:
    """The first operation that the reference cannot evaluate: the node itself, or one in its bodies."""
    for inner in walk_nested([node]):
        if not isinstance(inner, (Parameter, Constant, Result)) and not has_evaluate(inner):
            return inner
    return None


def make_runner(node: Node) -> tuple[Runner, tuple[np.dtype | None, ...]]:
    """What runs a node, and for ``in_types`` the types of its outputs, None where one is not known.

    Raises UnsupportedOperationError where the reference does not know the operation.
    """
    prepare = _preparers.get(type(node))
    if prepare is None and _evaluates_itself(node):
        prepare = CustomOp
    if prepare is None:
        raise UnsupportedOperationError(f"the reference cannot evaluate {node.type_info.name} '{node.friendly_name}'")
    kinds = [output.element_type for output in node.outputs()]
    return with_size_check(node, prepare(node)), tuple(None if kind.is_dynamic() else kind.to_dtype() for kind in kinds)


def evaluate(node: Node, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The outputs of a node for its inputs, in new memory or as views of the inputs.

    Raises UnsupportedOperationError where the reference does not know the operation.
    """
    run, dtypes = make_runner(node)
    with np.errstate(all="ignore"):  # infinities and NaN are values here
        return in_types(run(Run({}), *inputs), dtypes)


def in_types(results: Any, dtypes: Sequence[np.dtype | None]) -> list[np.ndarray]:
    """What a Runner returned as arrays of the types of the node's outputs."""
    if type(results) is np.ndarray and results.dtype is dtypes[0]:
        return [results]
    if not isinstance(results, (tuple, list)):
        results = (results,)
    return [
        array if type(array) is np.ndarray and (dtype is None or array.dtype is dtype) else np.asarray(array, dtype)
        for array, dtype in zip(results, dtypes)
    ]
