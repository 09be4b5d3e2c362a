"""TorchNodeContext: the view of a PyTorch operator that its translator gets; the table of translators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.pytorch.decoded import Argument, TorchNode, TorchTensor, ValueRef
from hetero.frontend.translation.node_context import NodeContext
from hetero.frontend.translation.translators import OperatorTable, Row, Translator
from hetero.graph import Constant, Output
from hetero.system.errors import FrontendError


class TorchNodeContext(NodeContext):
    """An operator. Inputs are its tensors and numbers, attributes its arguments, by the names in its schema.

    An argument that is not given has its default value in the schema, which the translator knows. ``arguments``: those
    that are given, with values of the graph as Outputs.
    """

    def __init__(
        self,
        node: TorchNode,
        name: str,
        arguments: Mapping[str, Argument],
        tensors: Mapping[str, TorchTensor],
    ) -> None:
        self._indices: dict[str, list[int]] = {}
        inputs: list[Argument] = []
        for key, value in arguments.items():
            values = value if _has_outputs(value) else [value]
            self._indices[key] = list(range(len(inputs), len(inputs) + len(values)))
            inputs += values
        # What an operator does in place is what it does otherwise.
        op_type = node.op_type[:-1] if node.is_in_place else node.op_type
        super().__init__(canonical_name(op_type), name, [_as_input(value) for value in inputs], len(node.outputs))
        self._node, self.arguments, self._tensors = node, arguments, tensors

    @property
    def overload(self) -> str:
        """The overload of the operator: ``Tensor`` of ``aten::add.Tensor``."""
        return self._node.overload

    def get_input_indices(self, name: str) -> Sequence[int]:
        return self._indices.get(name, [])

    def has_attribute(self, name: str) -> bool:
        return self.arguments.get(name) is not None

    def read_attribute(self, name: str) -> Any:
        value = self.arguments[name]
        if isinstance(value, Output) or _has_outputs(value):
            raise FrontendError(f"argument {name} is computed at run time")
        return value

    def output_tensor(self, index: int = 0) -> TorchTensor:
        """Return what the program says of an output. Raises FrontendError if that is not a tensor."""
        name = self._node.outputs[index]
        if name is None or name not in self._tensors:
            raise FrontendError(f"output {index} is no tensor")
        return self._tensors[name]

    def memory_order(self, name: str) -> list[int] | None:
        """Return ``TorchTensor.memory_order`` of an input."""
        argument = self._node.inputs[name]
        tensor = self._tensors.get(argument.name) if isinstance(argument, ValueRef) else None
        return None if tensor is None else tensor.memory_order()

    def output_type(self, index: int = 0) -> Type:
        return self.output_tensor(index).element_type

    def operands(self, *names: str) -> list[Output]:
        """Return inputs, tensors or numbers, in the element type of the first output, as torch promotes them."""
        return [self.converted(name, self.output_type()) for name in names]

    def converted(self, name: str, element_type: Type) -> Output:
        """Return an input in an element type."""
        value = self.arguments[name]
        if not isinstance(value, Output):
            return Constant(np.array(value).astype(element_type.to_dtype())).output(0)
        return value if value.element_type is element_type else ops.Convert(value, element_type).output(0)

    def integers(self, name: str, default: int | None = None) -> Output:
        """Return an integer or a list of them, of which some may be computed at run time, as an i64 vector."""
        value = default if self.arguments.get(name) is None and default is not None else self.arguments[name]
        return integer_vector(value if isinstance(value, list) else [value])


def integer_vector(numbers: Sequence[int | Output]) -> Output:
    """Return integers, of which some may be computed at run time, as an i64 vector."""
    if not any(isinstance(number, Output) for number in numbers):
        return Constant(np.array(numbers, np.int64)).output(0)
    parts = [
        ops.Reshape(ops.Convert(number, Type.i64), np.array([1]), False) if isinstance(number, Output)
        else Constant(np.array([number], np.int64))
        for number in numbers
    ]  # fmt: skip
    return ops.Concat(parts, 0).output(0)


def _has_outputs(value: Argument) -> bool:
    return isinstance(value, list) and any(isinstance(part, Output) for part in value)


def _as_input(value: Argument) -> Output | None:
    """Return an argument as an input: a number or a list of numbers as a constant, None for others."""
    if isinstance(value, Output):
        return value
    if isinstance(value, (bool, int, float)):
        return Constant(np.array(value, np.float32) if isinstance(value, float) else np.array(value)).output(0)
    if isinstance(value, list) and value and all(isinstance(part, (int, float)) for part in value):
        dtype = np.float32 if any(isinstance(part, float) for part in value) else None
        return Constant(np.array(value, dtype)).output(0)
    return None


translators = OperatorTable()
# Decorator that registers a translator for operators by name, ``aten::add``, or for one overload: ``aten::add.Scalar``.
translator, rows = translators.register, translators.register_rows


def promoted(row: Row) -> Translator:
    """Return the translator of a row whose inputs are converted to the element type of the first output."""
    return lambda node: row.make(node, node.operands(*row.inputs))


def with_integers(row: Row) -> Translator:
    """Return the translator of a row whose inputs after the first are integers, some perhaps computed at run time."""
    first, *others = row.inputs
    return lambda node: row.make(node, [node.get_input(first), *(node.integers(name) for name in others)])


def converted_to(element_type: Type) -> Callable[[Row], Translator]:
    """Return the convention of rows whose inputs, by default all, are converted to an element type."""
    return lambda row: (
        lambda node: row.make(node, [node.converted(name, element_type) for name in row.inputs or node.arguments])
    )


# Operators that torch has by two names.
_ALIASES = {
    "__and__": "bitwise_and", "__lshift__": "bitwise_left_shift", "__or__": "bitwise_or",
    "__rshift__": "bitwise_right_shift", "__xor__": "bitwise_xor",
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctan2": "atan2", "arctanh": "atanh", "clip": "clamp", "divide": "div", "fix": "trunc", "ger": "outer",
    "greater": "gt", "greater_equal": "ge", "inverse": "linalg_inv", "less": "lt", "less_equal": "le",
    "linalg_matmul": "matmul", "multiply": "mul", "negative": "neg", "not_equal": "ne", "row_stack": "vstack",
    "special_erf": "erf", "special_erfc": "erfc", "special_exp2": "exp2", "special_expit": "sigmoid",
    "special_expm1": "expm1", "special_log1p": "log1p", "special_log_softmax": "log_softmax", "special_logit": "logit",
    "special_logsumexp": "logsumexp", "special_round": "round", "special_sinc": "sinc", "special_softmax": "softmax",
    "special_xlogy": "xlogy", "subtract": "sub",
}  # fmt: skip


def canonical_name(op_type: str) -> str:
    """Return the name by which an operator is registered."""
    return f"aten::{_ALIASES[op_type[6:]]}" if op_type.startswith("aten::") and op_type[6:] in _ALIASES else op_type


def find_translator(op_type: str, overload: str) -> Translator | None:
    """Return the translator of an overload, or of all overloads of an operator; None if there is none."""
    from hetero.frontend.pytorch import translators as registered  # noqa: F401 (fills the registry)

    name = canonical_name(op_type)
    return translators.find(f"{name}.{overload}") or translators.find(name)
