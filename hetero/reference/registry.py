"""Registry of the numpy functions that evaluate operations, those of user-defined operations among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from hetero.core.tensor import Tensor
from hetero.core.types import Type
from hetero.graph import (
    Node,
    Op,
    describe_failure,
    is_terminal,
    method_location,
    walk_nested,
)
from hetero.reference.output_sizes import specialized, with_size_check
from hetero.system.allocation import string_array
from hetero.system.errors import DeviceError, UnsupportedOperationError

# The contents of variables by id; a missing variable was never assigned, or was reset.
VariableValues = MutableMapping[str, np.ndarray]


class Run(Protocol):
    """State of one run, shared by a program and the bodies in it, such as an infer request.

    ``variables`` are read and written. ``check_cancelled`` is called before each operation and each iteration of a
    body; it raises an exception to end the run.
    """

    variables: VariableValues

    def check_cancelled(self) -> None: ...


class UncancelledRun:
    """A run without variables at the start that nobody cancels."""

    def __init__(self) -> None:
        self.variables: VariableValues = {}

    def check_cancelled(self) -> None:
        """Do nothing."""


# An array of any element type and shape.
Array = np.ndarray
# f(node, *arrays): returns an array, or a sequence of arrays for several outputs.
Evaluator = TypeVar("Evaluator", bound=Callable[..., Any])
# f(run, *arrays): the same for a given node, with the Run instead of the node.
Runner = Callable[..., Any]
# Creates the Runner of a node of its class.
Preparer = TypeVar("Preparer", bound=Callable[..., Runner])

_16_BIT_FLOATS = (Type.f16, Type.bf16)
_16_BIT_FLOAT_DTYPES = tuple(element_type.to_dtype() for element_type in _16_BIT_FLOATS)

# By operation class.
_preparers: dict[type[Node], Callable[..., Runner]] = {}


def evaluates(*operations: type[Node], in_f32: bool = False) -> Callable[[Evaluator], Evaluator]:
    """Decorator: register ``f(node, *arrays)`` as the evaluation of these operations.

    ``in_f32``: convert f16 and bf16 inputs to f32, which is faster and more accurate; ``to_dtypes`` converts back.
    """

    def register(function: Evaluator) -> Evaluator:
        def prepare(node: Node) -> Runner:
            run = widening(function, node) if in_f32 else function
            return lambda _, *arrays: run(node, *arrays)

        prepares(*operations)(prepare)
        return function

    return register


def prepares(*operations: type[Node]) -> Callable[[Preparer], Preparer]:
    """Decorator: register a function that creates the Runner of a node: ``f(node)(run, *arrays)``.

    For operations with work to do once for many runs, and for those that read or write variables.
    """

    def register(prepare: Preparer) -> Preparer:
        _preparers.update(dict.fromkeys(operations, prepare))
        return prepare

    return register


def register_functions(functions: Mapping[type[Node], Callable[..., Any]], in_f32: bool = False) -> None:
    """Register ``f(*arrays)`` as the evaluation of each operation: for operations without attributes."""

    @prepares(*functions)
    def prepare(node: Node) -> Runner:
        function = functions[type(node)]

        def run(_: object, *arrays: Array) -> Any:
            return function(*arrays)

        return widening(run, node) if in_f32 else run


def widening(function: Runner, node: Node) -> Runner:
    """Return an Evaluator or Runner of a node with f16 and bf16 arrays converted to f32, if it may have such inputs."""
    types = [value.element_type for value in node.input_values()]
    if not any(t.is_dynamic() or t in _16_BIT_FLOATS for t in types):
        return function
    return lambda first, *arrays: function(
        first, *(a.astype(np.float32) if a.dtype in _16_BIT_FLOAT_DTYPES else a for a in arrays)
    )


def has_evaluate(node: Node) -> bool:
    """Return whether the reference can evaluate a node: by a registered function, or by the class's ``evaluate``."""
    return type(node) in _preparers or _evaluates_itself(node)


def _evaluates_itself(node: Node) -> bool:
    return isinstance(node, Op) and node.has_evaluate()


def unknown_operation(node: Node) -> Node | None:
    """Return the first operation that the reference cannot evaluate: the node itself or one in its bodies, or None."""
    for inner in walk_nested([node]):
        if not is_terminal(inner) and not has_evaluate(inner):
            return inner
    return None


def make_runner(node: Node) -> tuple[Runner, tuple[np.dtype | None, ...]]:
    """Return the Runner of a node, and its output dtypes for ``to_dtypes``, None if not known.

    Raises UnsupportedOperationError if the reference cannot evaluate the operation.
    """
    prepare = _preparers.get(type(node))
    if prepare is None and _evaluates_itself(node):
        prepare = CustomOp
    if prepare is None:
        raise UnsupportedOperationError(f"the reference cannot evaluate {node.type_info.name} '{node.friendly_name}'")
    types = [output.element_type for output in node.outputs()]
    return with_size_check(node, prepare(node)), tuple(None if t.is_dynamic() else t.to_dtype() for t in types)


def evaluate(node: Node, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the outputs of a node for its inputs, in new memory or as views of the inputs.

    Raises UnsupportedOperationError if the reference cannot evaluate the operation.
    """
    run, dtypes = make_runner(node)
    with np.errstate(all="ignore"):  # infinities and NaN are valid results
        return to_dtypes(run(UncancelledRun(), *inputs), dtypes)


def to_dtypes(results: Any, dtypes: Sequence[np.dtype | None]) -> list[np.ndarray]:
    """Convert the results of a Runner to a list of arrays of the output dtypes."""
    if not isinstance(results, (tuple, list)):
        results = (results,)
    return [
        array if type(array) is np.ndarray and (dtype is None or array.dtype is dtype) else np.asarray(array, dtype)
        for array, dtype in zip(results, dtypes)
    ]


class CustomOp:
    """The Runner of a node that calls its ``evaluate``.

    If that fails, raises DeviceError with the class, file and line.
    """

    def __init__(self, node: Op) -> None:
        self._node = node
        outputs = node.outputs()
        self._is_known = all(o.element_type.is_static() and o.partial_shape.is_static for o in outputs)

    def __call__(self, _: object, *arrays: np.ndarray) -> list[np.ndarray]:
        node = self._node
        static_node = node if self._is_known else specialized(node, arrays)
        outputs = [_empty(static_node, index) for index in range(static_node.get_output_size())]
        try:
            result = node.evaluate(outputs, [_read_only(array) for array in arrays])
        except Exception as error:
            raise DeviceError(describe_failure(node, "evaluate", error)) from error
        if result is not True:
            where = method_location(node, "evaluate")
            raise DeviceError(f"{where} returned {result!r}, but must return True when it has computed the outputs")
        for index, tensor in enumerate(outputs):
            if not node.get_output_partial_shape(index).compatible(tensor.shape):
                where, expected = method_location(node, "evaluate"), node.get_output_partial_shape(index)
                shape = list(tensor.shape)
                raise DeviceError(f"{where} returned output {index} of the shape {shape}, but must return {expected}")
        return [_array_of(tensor) for tensor in outputs]


def _empty(node: Node, index: int) -> Tensor:
    element_type, shape = node.get_output_element_type(index), node.get_output_partial_shape(index)
    if element_type.is_dynamic():
        node.fail(f"the element type of output {index} is not known when it is computed")
    # A data-dependent shape is set by evaluate; the initial tensor has no elements.
    initial = shape.to_shape() if shape.is_static else (0,) * (len(shape) if shape.has_rank else 1)
    if element_type is Type.string:  # StringDType holds strings of any length, numpy's default type does not
        return Tensor(np.empty(initial, np.dtypes.StringDType()))
    return Tensor(element_type, initial)


def _array_of(tensor: Tensor) -> np.ndarray:
    if tensor.element_type is not Type.string:
        return tensor.array
    return string_array(tensor.array.reshape(-1).tolist()).reshape(tensor.shape)


def _read_only(array: np.ndarray) -> Tensor:
    """Return a read-only tensor, as other operations read the same memory, which may be a Constant's."""
    view = array.view()
    view.flags.writeable = False
    return Tensor(view, shared_memory=True)
