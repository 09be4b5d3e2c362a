"""Which function translates which ONNX operator, from which version on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hetero.graph import Node, Output

if TYPE_CHECKING:
    from hetero.frontend.onnx.node_context import OnnxNodeContext

# What takes the place of an ONNX node's outputs: the node that makes all of them, or a value for each.
Translation = Node | Output | Sequence[Output]
Translator = Callable[["OnnxNodeContext"], Translation]

# By type of operator and the operator set of ONNX's own domain from which on it holds.
_translators: dict[str, dict[int, Translator]] = {}


def translator(*op_types: str, since: int = 1) -> Callable[[Translator], Translator]:
    """Decorator: the function translates these operators as they are from operator set ``since`` on."""

    def register(function: Translator) -> Translator:
        for op_type in op_types:
            _translators.setdefault(op_type, {})[since] = function
        return function

    return register


def find_translator(op_type: str, opset: int) -> Translator | None:
    """The newest translator of the operator that is not newer than the model's operator set."""
    by_version = _translators.get(op_type, {})
    return by_version.get(max((since for since in by_version if since <= opset), default=-1))
