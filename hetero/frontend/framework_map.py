"""framework_map, a class decorator that maps operators of model formats to a user-defined operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from hetero.frontend.op_extension import OpExtension
from hetero.graph import Op

Operation = TypeVar("Operation", bound=type[Op])
# The attribute of an operation class that holds its extensions.
_MAPS = "_framework_maps"


def framework_map(framework: str, *arguments: Any, **keywords: Any) -> Callable[[Operation], Operation]:
    """Return a decorator that maps an operator of a format to the operation, like OPENVINO_FRAMEWORK_MAP in C++::

        @framework_map("onnx", "CustomOp", {"mode": "fw_mode"}, {"axis": -1})
        @framework_map("paddle", ["X"], ["Out"], "CustomOp")
        @framework_map("pytorch", "my::custom_op", {"mode": 1}, {"axis": -1})
        class CustomOp(Op): ...

    The arguments are the operator's type, by default that of the class, and the arguments of OpExtension.
    ``Core.add_extension`` adds one OpExtension for each decorator of a class. Raises GraphError like OpExtension.
    """

    def add(operation: Operation) -> Operation:
        extension = OpExtension(operation, *arguments, framework=framework, **keywords)
        # Decorators are called from the last to the first.
        setattr(operation, _MAPS, [extension, *framework_maps(operation)])
        return operation

    return add


def framework_maps(operation: type[Op]) -> list[OpExtension]:
    """Return the extensions of a class's own decorators, without those of its base classes."""
    return vars(operation).get(_MAPS, [])
