"""Views: results of operators that share the memory of their first argument; changes of one change the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.pytorch.decoded import DecodedNode, Reference
from hetero.frontend.values import int64, normalize_axis, rank_of
from hetero.graph import Node, Output, as_output

_ALIASES = {"alias", "contiguous", "detach", "detach_", "lift_fresh", "to"}
_RESHAPES = {"flatten", "reshape", "squeeze", "unflatten", "unsqueeze", "view", "view_as", "_unsafe_view"}
_PERMUTATIONS = {"permute", "t", "transpose", "numpy_T", "mT"}
_PARTS = {"slice", "select", "split", "split_with_sizes", "chunk", "unbind", "narrow"}
_OTHERS = {"as_strided", "diagonal", "expand"}
_VIEWS = {f"aten::{name}" for name in _ALIASES | _RESHAPES | _PERMUTATIONS | _PARTS | _OTHERS}


class _View(NamedTuple):
    """A view: the tensor it is a view of, the operator that makes it, and which of its results it is."""

    base: str
    node: DecodedNode
    output: int


class Tensors:
    """The values of the tensors of a graph by name. ``translate`` computes the results of an operator again."""

    def __init__(self, translate: Callable[[DecodedNode], None]) -> None:
        self._translate = translate
        self._values: dict[str, Output] = {}
        self._views: dict[str, _View] = {}
        # How often the memory of a tensor that is no view was changed; for each tensor when its value was computed.
        self._changes: Counter[str] = Counter()
        self._seen: dict[str, int] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __getitem__(self, name: str) -> Output:
        """Return the value of a tensor, computed again if the memory that it shares was changed."""
        view = self._views.get(name)
        if view is not None and self._seen[name] != self._changes[self._root(name)]:
            self._translate(view.node)
        return self._values[name]

    def define(self, name: str, value: Output) -> None:
        self._values[name] = value
        self._seen[name] = self._changes[self._root(name)]

    def define_results(self, node: DecodedNode, outputs: list[Output]) -> None:
        """Define the results of an operator, which may be views."""
        if node.is_in_place:
            self._change(node.changed, outputs[0])
        for index, (name, value) in enumerate(zip(node.outputs, outputs)):
            if name is None:
                continue
            first = next(iter(node.arguments.values()), None)
            if isinstance(first, Reference) and (node.op_type in _VIEWS or node.is_in_place):
                self._views[name] = _View(first.name, node, index)
            self.define(name, value)

    def _root(self, name: str) -> str:
        while name in self._views:
            name = self._views[name].base
        return name

    def _change(self, name: str, value: Output) -> None:
        """Write a value to the memory of a tensor: to that itself, and to all that it is a view of."""
        written = []
        while True:
            written.append((name, value))
            if name not in self._views:
                break
            view = self._views[name]
            value = _written(view, self[view.base], value)
            name = view.base
        self._changes[name] += 1
        for name, value in written:
            self.define(name, value)


def changed_roots(nodes: Sequence[DecodedNode]) -> set[str]:
    """Return the tensors whose memory operators change in place, also through views."""
    bases: dict[str, str] = {}
    changed = set()
    for node in nodes:
        first = next(iter(node.arguments.values()), None)
        if isinstance(first, Reference) and (node.op_type in _VIEWS or node.is_in_place):
            root = bases.get(first.name, first.name)
            bases |= {name: root for name in node.outputs if name is not None}
            if node.is_in_place:
                changed.add(root)
    return changed


def _written(view: _View, base: Output, value: Output) -> Output:
    """Return the base of a view after a value was written to the view. Raises FrontendError if that is not known."""
    kind = view.node.op_type.removeprefix("aten::")
    if kind in _ALIASES or view.node.is_in_place:
        return value
    if kind in _RESHAPES:
        return ops.Reshape(value, ops.ShapeOf(base), False).output(0)
    if kind in _PERMUTATIONS:
        return ops.Transpose(value, int64(np.argsort(_order(view.node, kind, rank_of(base))))).output(0)
    if kind in ("slice", "select"):
        return as_output(_part_written(view.node, kind, base, value))
    raise FrontendError(f"a change of a tensor through {kind} is not supported: export with run_decompositions()")


def _order(node: DecodedNode, kind: str, rank: int) -> list[int]:
    if kind == "permute":
        return [normalize_axis(axis, rank) for axis in node.arguments["dims"]]
    order = list(range(rank))
    if kind == "numpy_T":
        return order[::-1]
    first, second = {"t": (0, 1), "mT": (-2, -1)}.get(kind) or (node.arguments[name] for name in ("dim0", "dim1"))
    if rank > 1:
        order[first], order[second] = order[second], order[first]
    return order


def _part_written(node: DecodedNode, kind: str, base: Output, value: Output) -> Node:
    axis = node.arguments.get("dim", 0)
    if kind == "select":
        index = node.arguments["index"]
        value = ops.Unsqueeze(value, int64([normalize_axis(axis, rank_of(base))])).output(0)
        limits = [index, index + 1 or None, 1] if isinstance(index, int) else [index]
    else:
        limits = [node.arguments.get(name) for name in ("start", "end", "step")]
    if any(isinstance(limit, Reference) for limit in limits):
        raise FrontendError("a change of a part at a computed place is not supported: export with run_decompositions()")
    begin, end, step = (given if given is not None else default for given, default in zip(limits, (0, 2**63 - 1, 1)))
    return ops.SliceScatter(base, value, int64([begin]), int64([end]), int64([step]), int64([axis]))
