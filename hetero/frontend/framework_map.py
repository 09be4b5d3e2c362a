"""framework_map: a class of an operation says itself which operators of which formats it stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from hetero.frontend.op_extension import OpExtension
from hetero.graph import Op

Operation = TypeVar("Operation", bound=type[Op])
# What a class keeps its extensions under.
_MAPS = "_framework_maps"


def framework_map(framework: str, *arguments: Any, **keywords: Any) -> Callable[[Operation], Operation]:
    """Decorator: the operation stands for an operator of a format, as C++'s OPENVINO_FRAMEWORK_MAP has it::

        @framework_map("onnx", "CustomOp", {"mode": "fw_mode"}, {"axis": -1})
        @framework_map("paddle", ["X"], ["Out"], "CustomOp")
        @framework_map("pytorch", "my::custom_op", {"mode": 1}, {"axis": -1})
        class CustomOp(Op): ...

    The arguments are the operator's type, the class's own by default, and those of OpExtension. ``Core.add_extension``
    of the class adds one OpExtension for each. Raises GraphError as OpExtension does.
    """

    def add(operation: Operation) -> Operation:
        extension = OpExtension(operation, *arguments, framework=framework, **keywords)
        # Decorators are called from the last to the first.
        setattr(operation, _MAPS, [extension, *framework_maps(operation)])
        return operation

    return add


def framework_maps(operation: type[Op]) -> list[OpExtension]:
    """What a class is mapped from, without what its bases are."""
    return vars(operation).get(_MAPS, [])
