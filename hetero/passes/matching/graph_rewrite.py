"""Passes as classes, like ``openvino.passes``: ModelPass, MatcherPass, GraphRewrite and Manager."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TypeVar

from hetero.graph import Model, Node
from hetero.passes.matching.pattern_graph import Matcher
from hetero.system.errors import ArgumentTypeError, GraphError
from hetero.system.tracing import span

_Pass = TypeVar("_Pass", bound="ModelPass | MatcherPass")
_Node = TypeVar("_Node", bound=Node)


class PassBase:
    """Base of passes. The name is that of the class unless it is set."""

    _name = ""

    def get_name(self) -> str:
        return self._name or type(self).__name__

    def set_name(self, name: str) -> None:
        self._name = name


class ModelPass(PassBase):
    """A pass that changes a whole model."""

    def run_on_model(self, model: Model) -> bool:
        """Change the model in place, and return whether it was changed (required)."""
        raise NotImplementedError(f"{type(self).__name__} does not define run_on_model")


class MatcherPass(PassBase):
    """A pass that calls ``callback(matcher)`` for each match of a pattern; the callback returns whether it changed it.

    Both are given to the constructor or to ``register_matcher``.
    """

    _matcher: Matcher | None = None
    _callback: Callable[[Matcher], bool | None] | None = None

    def __init__(
        self, matcher: Matcher | None = None, callback: Callable[[Matcher], bool | None] | None = None
    ) -> None:
        self.new_nodes: list[Node] = []
        if matcher is not None and callback is not None:
            self.register_matcher(matcher, callback)

    def register_matcher(self, matcher: Matcher, callback: Callable[[Matcher], bool | None]) -> None:
        """Set the pattern and the function that is called for its matches."""
        if not isinstance(matcher, Matcher) or not callable(callback):
            raise ArgumentTypeError(
                f"register_matcher takes a Matcher and a function, not {matcher!r} and {callback!r}"
            )
        self._matcher, self._callback = matcher, callback

    def register_new_node(self, node: _Node) -> _Node:
        """Let the pass visit a node that the callback has made, and return it."""
        self.new_nodes.append(node)
        return node

    def apply(self, node: Node) -> bool:
        """Call the callback if the pattern matches a node, and return what it returns."""
        if self._matcher is None or self._callback is None:
            raise GraphError(f"pass {self.get_name()} has no pattern: call register_matcher")
        matches = any(self._matcher.match(output) for output in node.outputs()[:1])
        return matches and bool(self._callback(self._matcher))


class GraphRewrite(ModelPass):
    """Several MatcherPasses that visit the operations of a model and of its bodies in one walk, inputs first.

    The first of them that changes something at an operation ends the visit of that operation.
    """

    def __init__(self) -> None:
        self._passes: list[MatcherPass] = []

    def add_matcher(self, transformation: MatcherPass) -> MatcherPass:
        """Add a pass to the end of the list, and return it."""
        self._passes.append(transformation)
        return transformation

    def run_on_model(self, model: Model) -> bool:
        return rewrite_graph(model, self._passes, self._ordered(model.get_ordered_ops()))

    def _ordered(self, nodes: list[Node]) -> Iterable[Node]:
        return nodes


class BackwardGraphRewrite(GraphRewrite):
    """GraphRewrite that visits the outputs first."""

    def _ordered(self, nodes: list[Node]) -> Iterable[Node]:
        return reversed(nodes)


class Manager:
    """Runs passes in the order in which they were registered, and infers types and shapes again after each change."""

    def __init__(self) -> None:
        self._passes: list[ModelPass | MatcherPass] = []
        self._validates = True

    def register_pass(self, transformation: _Pass) -> _Pass:
        """Add a pass and return it."""
        if not isinstance(transformation, (ModelPass, MatcherPass)):
            raise ArgumentTypeError(f"a pass is a ModelPass or a MatcherPass, not {transformation!r}")
        self._passes.append(transformation)
        return transformation

    def set_per_pass_validation(self, new_state: bool) -> None:
        """Choose whether types and shapes are inferred after each pass; True by default."""
        self._validates = new_state

    def run_passes(self, model: Model) -> bool:
        """Run the passes on a model, and return whether one of them changed it."""
        changed = False
        for transformation in self._passes:
            with span(transformation.get_name(), model.friendly_name):
                if isinstance(transformation, ModelPass):
                    has_changed = bool(transformation.run_on_model(model))
                else:
                    has_changed = rewrite_graph(model, [transformation], model.get_ordered_ops())
            if has_changed and self._validates:
                model.validate_nodes_and_infer_types()
            changed |= has_changed
        return changed


def rewrite_graph(model: Model, passes: Iterable[MatcherPass], nodes: Iterable[Node]) -> bool:
    """Apply passes to nodes of a model, to those that the passes register, and to all nodes of its bodies."""
    passes, changed = list(passes), False
    waiting = deque(nodes)
    while waiting:
        node = waiting.popleft()
        for body in node.bodies:
            if body is not None:
                changed |= rewrite_graph(body, passes, body.get_ordered_ops())
        for transformation in passes:
            if transformation.apply(node):
                changed = True
                waiting.extendleft(reversed(transformation.new_nodes))
                transformation.new_nodes.clear()
                break
    return changed
