"""The registry of translators of ONNX operators.

Domains are named as in ONNX files, for example "com.microsoft"; ONNX's own domain is "".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from hetero.frontend.onnx.node_context import OnnxNodeContext
from hetero.frontend.translation.operator_table import OperatorTable
from hetero.frontend.translation.translators import Translation

translators = OperatorTable()
translator, rows = translators.register, translators.register_rows
find_translator = translators.find


def register_direct(
    operations: Mapping[str, Callable[..., Translation]],
    input_count: int,
    since: int = 1,
    domain: str = "",
    **attributes: Any,
) -> None:
    """Register translators that pass an operator's first ``input_count`` inputs and its attributes to a function.

    ``attributes``: the attributes with their defaults, in the order of the function's parameters; a required attribute
    has the default REQUIRED.
    """
    for op_type, operation in operations.items():
        translator(op_type, since=since, domain=domain)(partial(_call, operation, input_count, attributes))


def _call(
    operation: Callable[..., Translation], input_count: int, attributes: Mapping[str, Any], node: OnnxNodeContext
) -> Translation:
    inputs = (node.get_input(index) for index in range(input_count))
    return operation(*inputs, *(node.get_attribute(name, default) for name, default in attributes.items()))
