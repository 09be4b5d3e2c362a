"""Where the class of an operation is defined, for messages about errors in custom operations."""

from __future__ import annotations

import sys
import traceback

from hetero.graph.node import Node
from hetero.system.errors import HeteroError


def class_file(cls: type) -> str:
    """Return the file that defines a class, or the name of its module if it has no file."""
    return getattr(sys.modules.get(cls.__module__), "__file__", None) or cls.__module__


def method_location(node: Node, method: str) -> str:
    """Return a description of a method of a node: ``MyRelu 'name': evaluate of MyRelu in /path/my_relu.py``."""
    cls = type(node)
    return f"{node.type_info.name} '{node.friendly_name}': {method} of {cls.__qualname__} in {class_file(cls)}"


def describe_failure(node: Node, method: str, error: Exception) -> str:
    """Return a message about an exception that a method of a node raised, with the line in the file of its class."""
    file = class_file(type(node))
    # The innermost frame in the file of the class, not in a library that it calls.
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)[1:] if frame.filename == file]
    line = f", line {frames[-1].lineno}," if frames else ""
    problem = str(error) if isinstance(error, HeteroError) else f"{type(error).__name__}: {error}"
    return f"{method_location(node, method)}{line} failed: {problem}"
