"""The registry of translators of ONNX operators.

Domains are named as in ONNX files, for example "com.microsoft"; ONNX's own domain is "".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hetero.frontend.translation import TranslatorRegistry
from hetero.graph import Op, Output

translators = TranslatorRegistry()
translator = translators.register
find_translator = translators.find


def register_direct(
    operations: Mapping[str, Callable[..., Op | Output]], input_count: int, since: int = 1, domain: str = ""
) -> None:
    """Register translators that pass an operator's first ``input_count`` inputs to a function, without attributes."""
    for op_type, operation in operations.items():
        translator(op_type, since=since, domain=domain)(
            lambda node, operation=operation: operation(*(node.get_input(index) for index in range(input_count)))
        )
