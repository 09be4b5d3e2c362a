"""Extensions: what a user teaches frontends, above all how operators that they do not know are translated."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any

from hetero.errors import FrontendError, GraphError, HeteroError
from hetero.frontend.node_context import NodeContext
from hetero.frontend.translation import ConversionResult, outputs_of
from hetero.graph import Output
from hetero.messages import get_logger

log = get_logger("hetero.frontend")

Converter = Callable[[NodeContext], ConversionResult]
# Formats of which OpenVINO uses two names.
_FRAMEWORKS = {"tf": "tensorflow", "tflite": "tensorflow_lite"}


class Extension:
    """What can be given to ``Core.add_extension``.

    ``framework``: the name of the frontend that it is meant for, as "onnx"; "" is for all. ``place``: the file and the
    line where it was made, "" for none.
    """

    framework = ""
    place = ""

    def __new__(cls, *arguments: Any, **keywords: Any) -> Extension:
        made = super().__new__(cls)
        made.place = _place_of_caller()
        return made

    def is_for(self, framework: str) -> bool:
        """Whether it is meant for the frontend of this name."""
        return self.framework == "" or framework_name(self.framework) == framework_name(framework)

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._told_place()}"

    def _told_place(self) -> str:
        return f" ({self.place})" if self.place else ""


class ConversionExtension(Extension):
    """Operators of a type are translated by a function: ``ConversionExtension("MyRelu", convert)``.

    ``converter(node)`` gets the node as a NodeContext and returns what takes its place: a node, an output, a list of
    them; a dict of the names of outputs and the values of each; or a list of NamedOutput. ``domain``: the one of the
    operators that are meant, in formats that have domains; those of all domains where it is None. Raises GraphError for
    what is no function.
    """

    def __init__(self, op_type: str, converter: Converter, domain: str | None = None, framework: str = "") -> None:
        self.op_type, self.domain, self.framework = op_type, domain, framework
        self._converter = converter
        if isinstance(converter, FunctionType):
            self.place = f"{converter.__code__.co_filename}:{converter.__code__.co_firstlineno}"
        if not callable(converter):
            raise GraphError(f"{self!r}: {converter!r} is no function of a NodeContext")

    def get_op_type(self) -> str:
        return self.op_type

    def get_converter(self) -> Callable[[NodeContext], list[Output]]:
        """The translation into the node's outputs in order, whose errors name the extension.

        It raises FrontendError for whatever the function raises, and for outputs that are not the node's.
        """
        return self._convert

    def matches(self, op_type: str, domain: str) -> bool:
        """Whether the extension is meant for an operator of this type and domain."""
        return op_type == self.op_type and self.domain in (None, domain)

    def hides(self, other: Extension) -> bool:
        """Whether there are operators that both are for."""
        return (
            isinstance(other, ConversionExtension)
            and other.op_type == self.op_type
            and (None in (self.domain, other.domain) or self.domain == other.domain)
            and (self.is_for(other.framework) or other.framework == "")
        )

    def _convert(self, node: NodeContext) -> list[Output]:
        try:
            return outputs_of(self._converter(node), node)
        except Exception as error:
            problem = str(error) if isinstance(error, HeteroError) else f"{type(error).__name__}: {error}"
            raise FrontendError(f"{self!r}: {problem}") from error

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {self.op_type}{self._told_place()}"


def framework_name(name: str) -> str:
    """The one name that a format has here, of the several that OpenVINO has for some."""
    return _FRAMEWORKS.get(name, name)


def add_extensions(extensions: list[Extension], more: Iterable[Extension]) -> None:
    """Append extensions; the log warns of those that are hidden by a later one for the same operators."""
    for extension in more:
        for other in extensions:
            if isinstance(extension, ConversionExtension) and extension.hides(other):
                log.warning("%r is used, and no longer %r", extension, other)
        extensions.append(extension)


def conversion_for(extensions: Sequence[Extension], op_type: str, domain: str = "") -> ConversionExtension | None:
    """The extension that translates an operator: the last of those that match; None where none does."""
    for extension in reversed(extensions):
        if isinstance(extension, ConversionExtension) and extension.matches(op_type, domain):
            return extension
    return None


def is_part_of_hetero(module: str) -> bool:
    """Whether a module of this name is hetero's own."""
    return module == "hetero" or module.startswith("hetero.")


def _place_of_caller() -> str:
    """The file and line of the innermost caller outside hetero."""
    frame = sys._getframe(1)
    while frame is not None and is_part_of_hetero(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else ""
