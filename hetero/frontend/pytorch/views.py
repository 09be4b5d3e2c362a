"""Views: results of operators that share the memory of their first argument; changes of one change the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.frontend.numerics.elementwise import reinterpret_last_axis
from hetero.frontend.pytorch.decoded import TorchNode, ValueRef
from hetero.frontend.pytorch.node_context import canonical_name
from hetero.frontend.translation.values import int64, normalize_axis, rank_of
from hetero.graph import Node, Output, as_output
from hetero.system.errors import FrontendError

# Operators that return their argument, which is one tensor by two names; dropout does so in evaluation mode.
_SAME = {
    "alias", "alpha_dropout", "detach", "dropout", "feature_dropout", "lift_fresh", "positive", "real", "resolve_conj",
    "resolve_neg",
}  # fmt: skip
# Operators that return their argument if it has the element type already.
_CONVERSIONS = {"to", "type_as"}
_RESHAPES = {"squeeze", "unflatten", "unsqueeze", "view", "view_as", "_unsafe_view"}
_PERMUTATIONS = {"permute", "t", "transpose", "numpy_T", "mT"}
_PARTS = {"slice", "select"}
# Views through which no change is supported.
_OTHERS = {
    "adjoint", "as_strided", "broadcast_to", "chunk", "diagonal", "dsplit", "expand", "expand_as", "hsplit", "matrix_H",
    "moveaxis", "movedim", "narrow", "split", "split_with_sizes", "swapaxes", "swapdims", "unbind", "unfold", "vsplit",
}  # fmt: skip
_VIEWS = _RESHAPES | _PERMUTATIONS | _PARTS | _OTHERS
# Operators that return views or copies, by how their arguments lie in memory, which a program need not say.
_VIEWS_OR_COPIES = {
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_tensors", "contiguous", "flatten", "meshgrid", "ravel",
    "reshape", "reshape_as",
}  # fmt: skip
# All operators whose results may share memory with their arguments.
ALIASING = {f"aten::{name}" for name in _SAME | _CONVERSIONS | _VIEWS | _VIEWS_OR_COPIES}


class _View(NamedTuple):
    """A view: the tensor it is a view of, and the operator that makes it."""

    base: str
    node: TorchNode


class Tensors:
    """The values of the tensors of a graph by name. ``translate`` computes the results of an operator again."""

    def __init__(self, translate: Callable[[TorchNode], None]) -> None:
        self._translate = translate
        self._values: dict[str, Output] = {}
        # Other names of tensors: results of operators that return their argument, changed or not.
        self._same: dict[str, str] = {}
        self._views: dict[str, _View] = {}
        # How often the memory of a tensor that is no view was changed; for each tensor when its value was computed.
        self._changes: Counter[str] = Counter()
        self._seen: dict[str, int] = {}
        # Tensors, none of them a view, that may share memory: by name, and how often others of them were changed when
        # the value of this one was computed.
        self._groups: dict[str, dict[str, None]] = {}
        self._seen_of_others: Counter[str] = Counter()

    def __contains__(self, name: str) -> bool:
        return self._tensor(name) in self._values

    def __getitem__(self, name: str) -> Output:
        """Return the value of a tensor, computed again if the memory that it shares was changed.

        Raises FrontendError if it is unknown whether the memory was changed.
        """
        name = self._tensor(name)
        root = self._root(name)
        if self._changes and self._changes_of_others(root) != self._seen_of_others[root]:
            others = ", ".join(f"'{other}'" for other in self._groups[root] if other != root and self._changes[other])
            raise FrontendError(f"it is unknown whether '{root}' shares memory with {others}, changed in place: "
                                "export with run_decompositions()")  # fmt: skip
        stale = [name]
        while stale[-1] in self._views and self._seen[stale[-1]] != self._changes[root]:
            stale.append(self._views[stale[-1]].base)
        for view in reversed(stale[:-1]):
            self._translate(self._views[view].node)
        return self._values[name]

    def define(self, name: str, value: Output) -> None:
        self._values[name] = value
        self._seen[name] = self._changes[self._root(name)]

    def define_results(self, node: TorchNode, outputs: list[Output]) -> None:
        """Define the results of an operator, which may share memory with its arguments."""
        names = [name for name in node.outputs if name is not None]
        kind = canonical_name(node.op_type).removeprefix("aten::")
        first = _first_tensor(node)
        changed = _changed_tensor(node)
        if changed is not None:
            kept = self[changed].element_type
            value = outputs[0] if outputs[0].element_type is kept else ops.Convert(outputs[0], kept).output(0)
            self._change(self._tensor(changed), value)
        same = changed or (first if kind in _SAME or self._is_unchanged(node, kind, outputs) else None)
        if same is not None:
            self._same |= dict.fromkeys(names, self._tensor(same))
            return
        if first is not None and kind in _VIEWS:
            self._views |= dict.fromkeys(names, _View(self._tensor(first), node))
        for name, value in zip(node.outputs, outputs):
            if name is not None:
                self.define(name, value)
        if kind in _VIEWS_OR_COPIES:
            for argument in node.inputs.values():
                for part in argument if isinstance(argument, list) else [argument]:
                    if isinstance(part, ValueRef):
                        self._join(self._root(self._tensor(part.name)), names)

    def changed(self) -> set[str]:
        """Return the tensors, none of them a view, whose memory was changed, or may have been."""
        return {name for root in +self._changes for name in self._groups.get(root, [root])}

    def _is_unchanged(self, node: TorchNode, kind: str, outputs: list[Output]) -> bool:
        """Return whether a conversion returns its argument, as that has the element type already."""
        if kind not in _CONVERSIONS or node.inputs.get("copy"):
            return False
        return self[_first_tensor(node) or ""].element_type is outputs[0].element_type

    def _tensor(self, name: str) -> str:
        return self._same.get(name, name)

    def _root(self, name: str) -> str:
        while name in self._views:
            name = self._views[name].base
        return name

    def _join(self, root: str, names: Sequence[str]) -> None:
        """Note that tensors may share the memory of another one."""
        group = self._groups.setdefault(root, {root: None})
        for name in names:
            joined = self._groups.get(name, {name: None})
            if joined is group:
                continue
            # What was changed before is part of the values.
            before, added = (sum(self._changes[member] for member in members) for members in (group, joined))
            for member in group if added else ():
                self._seen_of_others[member] += added
            for member in joined:
                self._seen_of_others[member] += before
                self._groups[member] = group
            group |= joined

    def _changes_of_others(self, root: str) -> int:
        return sum(self._changes[other] for other in self._groups.get(root, ()) if other != root)

    def _change(self, name: str, value: Output) -> None:
        """Write a value to the memory of a tensor: to that itself, and to all that it is a view of."""
        updated = [(name, value)]
        while name in self._views:
            view = self._views[name]
            name, value = view.base, _updated_base(view, self[view.base], value)
            updated.append((name, value))
        self._changes[name] += 1
        for name, value in updated:
            self.define(name, value)


def _first_tensor(node: TorchNode) -> str | None:
    first = next(iter(node.inputs.values()), None)
    return first.name if isinstance(first, ValueRef) else None


def _changed_tensor(node: TorchNode) -> str | None:
    """Return the tensor that an operator changes: its first argument, or the one that it is given for its result."""
    if node.is_in_place:
        return _first_tensor(node)
    out = node.inputs.get("out")
    return out.name if isinstance(out, ValueRef) else None


def _updated_base(view: _View, base: Output, value: Output) -> Output:
    """Return the base of a view after a value was written to the view. Raises FrontendError if that is not known."""
    kind = canonical_name(view.node.op_type).removeprefix("aten::")
    if view.node.overload == "dtype":
        return reinterpret_last_axis(value, base.element_type)
    if kind in _RESHAPES:
        return ops.Reshape(value, ops.ShapeOf(base), False).output(0)
    if kind in _PERMUTATIONS:
        return ops.Transpose(value, int64(np.argsort(_order(view.node, kind, rank_of(base))))).output(0)
    if kind in _PARTS:
        return as_output(_updated_part(view.node, kind, base, value))
    raise FrontendError(f"a change of a tensor through {kind} is not supported: export with run_decompositions()")


def _order(node: TorchNode, kind: str, rank: int) -> list[int]:
    if kind == "permute":
        return [normalize_axis(axis, rank) for axis in node.inputs["dims"]]
    order = list(range(rank))
    if kind == "numpy_T":
        return order[::-1]
    first, second = {"t": (0, 1), "mT": (-2, -1)}.get(kind) or (node.inputs[name] for name in ("dim0", "dim1"))
    if rank > 1:
        order[first], order[second] = order[second], order[first]
    return order


def _updated_part(node: TorchNode, kind: str, base: Output, value: Output) -> Node:
    axis = node.inputs.get("dim", 0)
    if kind == "select":
        index = node.inputs["index"]
        value = ops.Unsqueeze(value, int64([normalize_axis(axis, rank_of(base))])).output(0)
        limits = [index, index + 1 or None, 1] if isinstance(index, int) else [index]
    else:
        limits = [node.inputs.get(name) for name in ("start", "end", "step")]
    if any(isinstance(limit, ValueRef) for limit in limits):
        raise FrontendError("a change of a part at a computed place is not supported: export with run_decompositions()")
    begin, end, step = (default if limit is None else limit for limit, default in zip(limits, (0, 2**63 - 1, 1)))
    return ops.SliceScatter(base, value, int64([begin]), int64([end]), int64([step]), int64([axis]))
