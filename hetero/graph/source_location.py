"""Where the classes of operations are written, for messages about what goes wrong in them."""

from __future__ import annotations

import sys
import traceback

from hetero.errors import HeteroError
from hetero.graph.node import Node


def file_of(cls: type) -> str:
    """The file that a class is written in, or its module where there is none."""
    return getattr(sys.modules.get(cls.__module__), "__file__", None) or cls.__module__


def place_in_class(node: Node, method: str) -> str:
    """A method of a node's class: ``MyRelu 'name': evaluate of MyRelu in /path/my_relu.py``."""
    cls = type(node)
    return f"{node.type_info.name} '{node.friendly_name}': {method} of {cls.__qualname__} in {file_of(cls)}"


def failure_in_class(node: Node, method: str, error: Exception) -> str:
    """What a method of a node's class raised, and in which line."""
    file = file_of(type(node))
    # The innermost line of the class' own file: what it calls elsewhere is seldom what is wrong.
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)[1:] if frame.filename == file]
    line = f", line {frames[-1].lineno}," if frames else ""
    problem = str(error) if isinstance(error, HeteroError) else f"{type(error).__name__}: {error}"
    return f"{place_in_class(node, method)}{line} failed: {problem}"
