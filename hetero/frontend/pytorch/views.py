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

# Operators that return their argument, which is one tensor by two names.
_SAME = {"aten::alias", "aten::detach", "aten::lift_fresh"}
_RESHAPES = {"squeeze", "unflatten", "unsqueeze", "view", "view_as", "_unsafe_view"}
_PERMUTATIONS = {"permute", "t", "transpose", "numpy_T", "mT"}
_PARTS = {"slice", "select", "split", "split_with_sizes", "chunk", "unbind", "narrow"}
_OTHERS = {"as_strided", "diagonal", "expand"}
_VIEWS = {f"aten::{name}" for name in _RESHAPES | _PERMUTATIONS | _PARTS | _OTHERS}
# Operators that return a view or a copy, by how their argument lies in memory, which a program need not say.
_VIEWS_OR_COPIES = {"aten::contiguous", "aten::flatten", "aten::reshape"}


class _View(NamedTuple):
    """A view: the tensor it is a view of, and the operator that makes it."""

    base: str
    node: DecodedNode


class _ViewOrCopy(NamedTuple):
    """Two tensors, neither a view, of which it is unknown whether they share memory, and the changes of the first."""

    first: str
    second: str
    changes: int


class Tensors:
    """The values of the tensors of a graph by name. ``translate`` computes the results of an operator again."""

    def __init__(self, translate: Callable[[DecodedNode], None]) -> None:
        self._translate = translate
        self._values: dict[str, Output] = {}
        # Other names of tensors: results of operators that return their argument, changed or not.
        self._same: dict[str, str] = {}
        self._views: dict[str, _View] = {}
        self._unknown: list[_ViewOrCopy] = []
        # How often the memory of a tensor that is no view was changed; for each tensor when its value was computed.
        self._changes: Counter[str] = Counter()
        self._seen: dict[str, int] = {}

    def __contains__(self, name: str) -> bool:
        return self._tensor(name) in self._values

    def __getitem__(self, name: str) -> Output:
        """Return the value of a tensor, computed again if the memory that it shares was changed.

        Raises FrontendError if it is unknown whether the memory was changed.
        """
        name = self._tensor(name)
        root = self._root(name)
        for first, second, changes in self._unknown:
            if (root == second and self._changes[first] != changes) or (root == first and self._changes[second]):
                raise FrontendError(f"it is unknown whether '{first}' and '{second}' share memory, of which one was "
                                    "changed in place: export with run_decompositions()")  # fmt: skip
        if name in self._views and self._seen[name] != self._changes[root]:
            self._translate(self._views[name].node)
        return self._values[name]

    def define(self, name: str, value: Output) -> None:
        self._values[name] = value
        self._seen[name] = self._changes[self._root(name)]

    def define_results(self, node: DecodedNode, outputs: list[Output]) -> None:
        """Define the results of an operator, which may share memory with its first argument."""
        names = [name for name in node.outputs if name is not None]
        first = _first_tensor(node)
        if node.is_in_place:
            self._change(self._tensor(node.changed), outputs[0])
        if first is not None and (node.is_in_place or node.op_type in _SAME or self._is_unchanged(node, outputs)):
            self._same |= dict.fromkeys(names, self._tensor(first))
            return
        if first is not None and node.op_type in _VIEWS:
            self._views |= dict.fromkeys(names, _View(self._tensor(first), node))
        elif first is not None and node.op_type in _VIEWS_OR_COPIES:
            root = self._root(self._tensor(first))
            self._unknown += [_ViewOrCopy(root, name, self._changes[root]) for name in names]
        for name, value in zip(node.outputs, outputs):
            if name is not None:
                self.define(name, value)

    def _is_unchanged(self, node: DecodedNode, outputs: list[Output]) -> bool:
        """Return whether a conversion returns its argument, as that has the element type already."""
        if node.op_type != "aten::to" or node.arguments.get("copy"):
            return False
        return self[_first_tensor(node) or ""].element_type is outputs[0].element_type

    def _tensor(self, name: str) -> str:
        return self._same.get(name, name)

    def _root(self, name: str) -> str:
        while name in self._views:
            name = self._views[name].base
        return name

    def _change(self, name: str, value: Output) -> None:
        """Write a value to the memory of a tensor: to that itself, and to all that it is a view of."""
        written = [(name, value)]
        while name in self._views:
            view = self._views[name]
            name, value = view.base, _written(view, self[view.base], value)
            written.append((name, value))
        self._changes[name] += 1
        for name, value in written:
            self.define(name, value)


def changed_roots(nodes: Sequence[DecodedNode]) -> set[str]:
    """Return the tensors whose memory operators change in place, also through views and what may be views."""
    bases: dict[str, str] = {}
    changed = set()
    for node in nodes:
        first = _first_tensor(node)
        if first is not None and (node.op_type in _VIEWS | _VIEWS_OR_COPIES | _SAME or node.is_in_place):
            root = bases.get(first, first)
            bases |= {name: root for name in node.outputs if name is not None}
            if node.is_in_place:
                changed.add(root)
    return changed


def _first_tensor(node: DecodedNode) -> str | None:
    first = next(iter(node.arguments.values()), None)
    return first.name if isinstance(first, Reference) else None


def _written(view: _View, base: Output, value: Output) -> Output:
    """Return the base of a view after a value was written to the view. Raises FrontendError if that is not known."""
    kind = view.node.op_type.removeprefix("aten::")
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
