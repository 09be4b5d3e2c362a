"""Decorators of factories: functions that create an operation from nodes or numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from hetero.graph import Node, Output
from hetero.ops.factories.arguments import as_node, as_nodes


def nameable_op(node_factory_function: Callable[..., Node]) -> Callable[..., Node]:
    """Give the operation the friendly name of the argument ``name``."""

    @wraps(node_factory_function)
    def create(*arguments: Any, **options: Any) -> Node:
        node = node_factory_function(*arguments, **options)
        if options.get("name") is not None:
            node.friendly_name = options["name"]
        return node

    return create


def unary_op(node_factory_function: Callable[..., Node]) -> Callable[..., Node]:
    """Pass numbers in the first argument as a constant; see ``nameable_op``."""
    named = nameable_op(node_factory_function)

    @wraps(node_factory_function)
    def create(input_value: Any, *arguments: Any, **options: Any) -> Node:
        return named(as_node(input_value, options.get("name")), *arguments, **options)

    return create


def binary_op(node_factory_function: Callable[..., Node]) -> Callable[..., Node]:
    """Pass numbers in the first two arguments as constants; see ``nameable_op``."""
    named = nameable_op(node_factory_function)

    @wraps(node_factory_function)
    def create(left: Any, right: Any, *arguments: Any, **options: Any) -> Node:
        return named(*as_nodes(left, right, name=options.get("name")), *arguments, **options)

    return create


def custom_preprocess_function(custom_function: Callable[[Output], Node | Output]) -> Callable[[Output], Output]:
    """Let a custom preprocessing step return an output if it returns a node."""

    @wraps(custom_function)
    def apply(node: Output) -> Output:
        made = custom_function(node)
        return made.output(0) if isinstance(made, Node) else made

    return apply
