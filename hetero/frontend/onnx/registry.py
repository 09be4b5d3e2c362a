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

# By domain and type of operator, and the operator set of the domain from which on it holds.
_translators: dict[tuple[str, str], dict[int, Translator]] = {}


def translator(*op_types: str, since: int = 1, domain: str = "") -> Callable[[Translator], Translator]:
    """Decorator: the function translates these operators as they are from operator set ``since`` of the domain on.

    ``domain``: as in ONNX files, such as "com.microsoft"; ONNX's own is "".
    """

    def register(function: Translator) -> Translator:
        for op_type in op_types:
            _translators.setdefault((domain, op_type), {})[since] = function
        return function

    return register


def find_translator(op_type: str, opset: int, domain: str = "") -> Translator | None:
    """The newest translator of the operator that is not newer than the model's operator set of its domain."""
    by_version = _translators.get((domain, op_type), {})
    return by_version.get(max((since for since in by_version if since <= opset), default=-1))
