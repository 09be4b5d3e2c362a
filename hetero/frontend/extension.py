"""Extension, the base class of user-defined additions to frontends, and ConversionExtension for unknown operators."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from types import FrameType, FunctionType
from typing import Any

from hetero.frontend.translation.node_context import NodeContext
from hetero.frontend.translation.translators import ConversionResult, outputs_of
from hetero.graph import Output
from hetero.system.errors import FrontendError, GraphError, reason_of
from hetero.system.messages import get_logger

log = get_logger("hetero.frontend")

Converter = Callable[[NodeContext], ConversionResult]
# OpenVINO uses two names for these formats.
_FRAMEWORKS = {"tf": "tensorflow", "tflite": "tensorflow_lite"}


class Extension:
    """Base class of the objects that ``Core.add_extension`` accepts.

    ``framework``: the name of the frontend that uses it, for example "onnx"; "" for all frontends. ``source_location``:
    "file:line" of the code that created it, for messages; "" if unknown.
    """

    framework = ""
    source_location = ""

    def __new__(cls, *arguments: Any, **keywords: Any) -> Extension:
        extension = super().__new__(cls)
        extension.source_location = _caller_location()
        return extension

    def is_for(self, framework: str) -> bool:
        """Return whether the frontend of this name uses the extension."""
        return self.framework == "" or framework_name(self.framework) == framework_name(framework)

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._location_suffix()}"

    def _location_suffix(self) -> str:
        return f" ({self.source_location})" if self.source_location else ""


class ConversionExtension(Extension):
    """A function that translates all operators of one type: ``ConversionExtension("MyRelu", convert)``.

    ``converter(node)`` gets the node as a NodeContext and returns the values that replace its outputs: a node, an
    output, a list of them, a dict from output names to values, or a list of NamedOutput. ``domain``: the domain of the
    operators, in formats that have domains; None for all domains. Raises GraphError if ``converter`` is not callable.
    """

    def __init__(self, op_type: str, converter: Converter, domain: str | None = None, framework: str = "") -> None:
        self.op_type, self.domain, self.framework = op_type, domain, framework
        self._converter = converter
        if isinstance(converter, FunctionType):
            self.source_location = f"{converter.__code__.co_filename}:{converter.__code__.co_firstlineno}"
        if not callable(converter):
            raise GraphError(f"{self!r}: {converter!r} is not a function of a NodeContext")

    def get_op_type(self) -> str:
        return self.op_type

    def get_converter(self) -> Callable[[NodeContext], list[Output]]:
        """Return the function that translates a node to the list of its outputs.

        It raises FrontendError, naming the extension, for any error of the converter and for a wrong result.
        """
        return self._convert

    def matches(self, op_type: str, domain: str) -> bool:
        """Return whether the extension translates operators of this type and domain."""
        return op_type == self.op_type and self.domain in (None, domain)

    def hides(self, other: Extension) -> bool:
        """Return whether some operator matches both extensions, so that the one added later hides the other."""
        return (
            isinstance(other, ConversionExtension)
            and other.op_type == self.op_type
            and (None in (self.domain, other.domain) or self.domain == other.domain)
            and (self.is_for(other.framework) or other.framework == "")
        )

    def _convert(self, node: NodeContext) -> list[Output]:
        try:
            outputs = outputs_of(self._converter(node), node)
            count = node.get_output_size()
            # The outputs of one operation may be more than the node uses.
            if len(outputs) > count and node.has_all_outputs and len({output.node for output in outputs}) > 1:
                surplus = f"it returns {len(outputs)} values"
                raise FrontendError(f"{surplus}, but {self.op_type} has {count} output{'s' * (count != 1)}")
            return outputs
        except Exception as error:
            raise FrontendError(f"{self!r}: {reason_of(error)}") from error

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {self.op_type}{self._location_suffix()}"


def framework_name(name: str) -> str:
    """Return hetero's name of a format, for any of the names that OpenVINO has for it."""
    return _FRAMEWORKS.get(name, name)


def add_extensions(extensions: list[Extension], more: Iterable[Extension]) -> None:
    """Append extensions, with a warning in the log for each extension that a later one hides."""
    for extension in more:
        for other in extensions:
            if isinstance(extension, ConversionExtension) and extension.hides(other):
                log.warning("%r replaces %r", extension, other)
        extensions.append(extension)


def conversion_for(extensions: Sequence[Extension], op_type: str, domain: str = "") -> ConversionExtension | None:
    """Return the extension that translates an operator, which is the last one that matches, or None."""
    for extension in reversed(extensions):
        if isinstance(extension, ConversionExtension) and extension.matches(op_type, domain):
            return extension
    return None


def is_part_of_hetero(module: str) -> bool:
    """Return whether the module name belongs to the package hetero."""
    return module == "hetero" or module.startswith("hetero.")


def _caller_location() -> str:
    """Return "file:line" of the innermost caller outside hetero, or "" if there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_part_of_hetero(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else ""
