"""The order of axes that each operation of a model works in, chosen so that little is transposed.

Three local rules, each applied to one operation at a time: sink (take the order of the inputs), hoist (take the order
that the readers want), and restore (return to the order of the model if it costs no more).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter, defaultdict
from typing import NamedTuple

from hetero import ops
from hetero.graph import Constant, Model, Node, Output
from hetero.ops.convolution import CONVOLUTIONS
from hetero.ops.values import exact_value
from hetero.ops.work_estimate import assumed_shape
from hetero.passes.transpose_rules import AxisRule, Order, axis_rule, identity, rank_of, restrict

# The cost of a Transpose: the bits that it moves, and as many as a device moves while it starts a kernel.
_BITS_PER_TRANSPOSE = 1 << 18


class Read(NamedTuple):
    """A value in an order of axes: what an input reads if Transposes are left out."""

    value: Output
    order: Order


@functools.lru_cache(4096)
def inverse(order: Order) -> Order:
    return tuple(sorted(range(len(order)), key=order.__getitem__))


@functools.lru_cache(4096)
def compose(first: Order, second: Order) -> Order:
    """Return the order of one Transpose that does the same as two."""
    return tuple(first[axis] for axis in second)


@functools.lru_cache(4096)
def extend(order: Order, axes: Order, rank: int) -> Order:
    """Return an order of ``rank`` axes that keeps those of ``axes`` in the given order.

    Channels stay first or last; any other axis stays behind the one before it.
    """
    usual = [identity(rank)]
    if rank > 2:
        usual += [(0, rank - 1, *range(1, rank - 1)), (0, *range(2, rank), 1)]
    for candidate in usual:
        if restrict(candidate, axes) == order:
            return candidate
    extended = [axes[position] for position in order]
    for axis in range(rank):
        if axis not in axes:
            extended.insert(extended.index(axis - 1) + 1 if axis else 0, axis)
    return tuple(extended)


class AxisOrders:
    """The order of axes of each operation and each value, at first as in the model, and what they cost."""

    def __init__(self, model: Model) -> None:
        self.nodes = model.get_ordered_ops()
        self.rules: dict[Node, AxisRule] = {}
        #: The result of each Transpose of known order.
        self.transposed: dict[Output, Read] = {}
        #: The operations that work in another order than in the model, and the values that are in another order.
        self.moved: dict[Node, Order] = {}
        self.layouts: dict[Output, Order] = {}
        self._reads: dict[Node, list[Read]] = {}
        # How many inputs want a value in each order.
        self._wanted: dict[Output, Counter[Order]] = defaultdict(Counter)
        self._bits: dict[Output, int] = {}
        self._units: dict[Output, frozenset[int]] = {}
        self._constant: set[Node] = set()
        # The results of convolutions and of element-wise operations after them.
        self._convolved: set[Output] = set()
        for node in self.nodes:
            if not self._add_transpose(node):
                self._add(node)

    def choose(self) -> None:
        """Let operations work in orders that cost less in all, in time linear in the size of the model."""
        before = self._total_cost()
        for node in self.rules:
            self._sink(node)
        for node in reversed(self.rules):
            self._hoist(node)
        for node in (*reversed(self.rules), *self.rules):
            self._restore(node)
        if self._total_cost() > before:
            for node in list(self.moved):
                self._set(node, identity(self.rules[node].rank))

    def read_at(self, node: Node, index: int) -> Read:
        """Return what an input reads in the model."""
        return self._reads[node][index]

    def order_at(self, node: Node, index: int) -> Order:
        """Return the order, of the axes that the value has in the model, in which an input reads its value."""
        return self._order_at(node, index, self.moved.get(node))

    def positions(self, value: Output, order: Order) -> Order:
        """Return the order of the Transpose that brings the value, in its present layout, into an order."""
        layout = self.layouts.get(value)
        return order if layout is None else compose(inverse(layout), order)

    def _add_transpose(self, node: Node) -> bool:
        if type(node) is not ops.Transpose or not node.get_input_partial_shape(0).has_rank:
            return False
        order = exact_value(node.input_value(1))
        if order is None:
            return False
        data = self._read(node.input_value(0))
        axes = tuple(order.reshape(-1).tolist()) or tuple(reversed(range(len(data.order))))
        self.transposed[node.output(0)] = Read(data.value, compose(data.order, axes))
        return True

    def _read(self, value: Output) -> Read:
        return self.transposed.get(value) or Read(value, identity(rank_of(value)))

    def _add(self, node: Node) -> None:
        reads = self._reads[node] = [self._read(value) for value in node.input_values()]
        rule = None
        if isinstance(node, Constant) or (
            reads and node.deterministic and all(read.value.node in self._constant for read in reads)
        ):
            self._constant.add(node)  # constant folding computes its Transposes
        elif rule := axis_rule(node):
            self.rules[node] = rule
        elementwise = rule is not None and rule.elementwise
        if isinstance(node, CONVOLUTIONS) or (elementwise and any(read.value in self._convolved for read in reads)):
            self._convolved.update(node.outputs())
        for output in node.outputs():
            shape = output.partial_shape
            self._units[output] = frozenset(
                a for a, length in enumerate(shape if shape.has_rank else ()) if length == 1
            )
            width = output.element_type.bitwidth if output.element_type.is_static() else 32
            self._bits[output] = math.prod(assumed_shape(shape)) * width + _BITS_PER_TRANSPOSE
        if not isinstance(node, ops.ShapeOf):  # ShapeOf reads any order
            for read in reads:
                self._wanted[read.value][read.order] += 1

    def _order_at(self, node: Node, index: int, order: Order | None) -> Order:
        read = self._reads[node][index]
        if order is None or index not in self.rules[node].inputs:
            return read.order
        return compose(read.order, restrict(order, self.rules[node].inputs[index]))

    def _cost_of(self, value: Output, order: Order) -> int:
        """Return what it costs to bring a value into an order; 1 for a Reshape that moves dimensions of length 1."""
        positions = self.positions(value, order)
        if value.node in self._constant or positions == identity(len(positions)):
            return 0
        layout = self.layouts.get(value, identity(len(positions)))
        units = frozenset(position for position, axis in enumerate(layout) if axis in self._units[value])
        return 1 if is_sorted(positions, units) else self._bits[value]

    def _cost(self, value: Output) -> int:
        return sum(self._cost_of(value, order) for order in self._wanted[value])

    def _total_cost(self) -> int:
        return sum(map(self._cost, list(self._wanted)))

    def _cost_around(self, node: Node) -> int:
        reads = self._reads[node]
        return sum(map(self._cost, {*node.outputs(), *(reads[index].value for index in self.rules[node].inputs)}))

    def _sink(self, node: Node) -> None:
        """Take the order in which the inputs come, if that is no more to transpose before the operation."""
        rule = self.rules[node]
        now = self.moved.get(node, identity(rule.rank))
        candidates: dict[Order, None] = {}
        for index, axes in rule.inputs.items():
            read = self._reads[node][index]
            if not rule.lacks_axes(index) and self._cost_of(read.value, self.order_at(node, index)):
                layout = self.layouts.get(read.value, identity(len(read.order)))
                candidates[extend(compose(inverse(read.order), layout), axes, rule.rank)] = None
        if candidates:
            best = min((*candidates, now), key=lambda order: self._cost_before(node, order))
            if best != now and rule.allows(best):
                self._set(node, best)

    def _cost_before(self, node: Node, order: Order) -> int:
        """Return what the inputs of an operation cost in an order; what others want of a value too is free."""
        wanted: dict[Read, int] = {}
        for index in self.rules[node].inputs:
            value, one = self._reads[node][index].value, self._order_at(node, index, order)
            if self.order_at(node, index) == one or not self._wanted[value][one]:
                wanted[Read(value, one)] = self._cost_of(value, one)
        return sum(wanted.values())

    def _hoist(self, node: Node) -> None:
        """Take an order that readers want, if that costs less, or costs the same and parts no fused operations."""
        rule = self.rules[node]
        wanted: dict[Order, None] = {}
        for output, axes in zip(node.outputs(), rule.outputs):
            for order in self._wanted[output]:
                if self._cost_of(output, order):
                    wanted[extend(order, axes, rule.rank)] = None
        for order in wanted:
            self._try(node, order)

    def _restore(self, node: Node) -> None:
        """Return to the order of the model if that costs no more."""
        if node in self.moved and self._cost_around(node):
            self._try(node, identity(self.rules[node].rank))

    def _try(self, node: Node, order: Order) -> None:
        rule = self.rules[node]
        before, now = self._cost_around(node), self.moved.get(node, identity(rule.rank))
        if order == now or not rule.allows(order):
            return
        self._set(node, order)
        growth = self._cost_around(node) - before
        if growth > 0 or (growth == 0 and rule.elementwise and self._parts_from_convolution(node)):
            self._set(node, now)

    def _parts_from_convolution(self, node: Node) -> bool:
        """Return whether there is a Transpose between a convolution and an element-wise operation after it."""
        return any(
            read.value in self._convolved and self._cost_of(read.value, self.order_at(node, index)) > 1
            for index, read in enumerate(self._reads[node])
        )

    def _set(self, node: Node, order: Order) -> None:
        rule, reads = self.rules[node], self._reads[node]
        for index in rule.inputs:
            self._want(reads[index].value, self.order_at(node, index), -1)
        moved = order != identity(rule.rank)
        if moved:
            self.moved[node] = order
        else:
            self.moved.pop(node, None)
        for index in rule.inputs:
            self._want(reads[index].value, self.order_at(node, index), 1)
        for output, axes in zip(node.outputs(), rule.outputs):
            layout = restrict(order, axes)
            if layout == identity(len(axes)):
                self.layouts.pop(output, None)
            else:
                self.layouts[output] = layout

    def _want(self, value: Output, order: Order, by: int) -> None:
        counts = self._wanted[value]
        counts[order] += by
        if not counts[order]:
            del counts[order]


@functools.lru_cache(1 << 14)
def is_sorted(positions: Order, units: frozenset[int]) -> bool:
    """Return whether a Transpose of this order moves only dimensions of length 1, those of ``units``."""
    kept = [position for position in positions if position not in units]
    return all(one < other for one, other in itertools.pairwise(kept))
