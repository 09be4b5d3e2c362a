"""Which order of axes each operation of a model works in, and what Transposes that takes."""

from __future__ import annotations

import functools
import itertools
from collections import Counter, defaultdict
from typing import NamedTuple

from hetero import ops
from hetero.graph import Constant, Model, Node, Output
from hetero.ops.convolution import CONVOLUTIONS
from hetero.ops.values import exact_value
from hetero.passes import transpose_shape_rules as _  # noqa: F401 (fills the table of rules)
from hetero.passes.axis_orders import Order, of_some_axes, then, unchanged
from hetero.passes.transpose_rules import Movement, movement_of, rank_of

# The place of a dimension of length 1 that a value gets so that it broadcasts.
NEW = -1
# How long a dimension without a bound is taken to be at most.
_LONGEST = 1 << 12
# What one more Transpose counts for beside the bits that it moves: starting it takes a device as long as so many.
_BITS_OF_A_TRANSPOSE = 1 << 18


class Read(NamedTuple):
    """What an input reads, Transposes left out: a value, and the order that they bring it into."""

    value: Output
    order: Order


class Cost(NamedTuple):
    """The bits that Transposes move, and how many Transposes there are, or by how much that grows.

    ``least`` and ``most``: with the shortest and with the longest lengths that there may be. ``breaks``: how many
    Transposes part a convolution from the element-wise operations after it.
    """

    least: int
    most: int
    transposes: int
    breaks: int

    def __add__(self, other: Cost) -> Cost:  # type: ignore[override]
        return Cost(*(mine + its for mine, its in zip(self, other)))

    def __sub__(self, other: Cost) -> Cost:
        return Cost(*(mine - its for mine, its in zip(self, other)))

    def is_nothing(self) -> bool:
        return self == NO_COST

    def is_gain(self) -> bool:
        """Whether it is worth growing by this: no more bits, and less in all."""
        return self._is_no_more() and (min(self._in_all()) < 0 or self.breaks < 0)

    def is_no_loss(self) -> bool:
        """Whether nothing is lost by growing by this."""
        return self._is_no_more() and (min(self._in_all()) < 0 or self.breaks <= 0)

    def _is_no_more(self) -> bool:
        return max(self.least, self.most, *self._in_all()) <= 0

    def _in_all(self) -> tuple[int, int]:
        return tuple(bits + self.transposes * _BITS_OF_A_TRANSPOSE for bits in (self.least, self.most))


NO_COST = Cost(0, 0, 0, 0)


class Orders:
    """For each operation the order of axes that it works in, the given one at first, and the cost of all of them."""

    def __init__(self, model: Model) -> None:
        self.nodes = model.get_ordered_ops()
        self.movements: dict[Node, Movement] = {}
        #: What each Transpose of known order makes.
        self.transposed: dict[Output, Read] = {}
        #: The operations that work in another order than at first, and the values that have another one then.
        self.moved: dict[Node, Order] = {}
        self.layouts: dict[Output, Order] = {}
        #: The operations that can work in another order, and the inputs at which they read something so.
        self.readers: dict[Read, list[tuple[Node, int]]] = defaultdict(list)
        self._reads: dict[Node, list[Read]] = {}
        # How many inputs ask for a value in an order.
        self._asked: dict[Output, Counter[Order]] = defaultdict(Counter)
        # How many of these are element-wise operations, and what convolutions and such operations after them make.
        self._fusing: dict[Output, Counter[Order]] = defaultdict(Counter)
        self._convolved: set[Output] = set()
        self._known: set[Node] = set()
        self._bits: dict[Output, tuple[int, int]] = {}
        self._units: dict[Output, frozenset[int]] = {}
        self._costs: dict[Output, Cost] = {}
        for node in self.nodes:
            if not self._take_transpose(node):
                self._take(node)

    def read_at(self, node: Node, index: int) -> Read:
        """What an input reads at first."""
        return self._reads[node][index]

    def order_at(self, node: Node, index: int) -> Order:
        """The order in which an input asks for its value; NEW stands for a dimension that the value lacks."""
        read, order, movement = self._reads[node][index], self.moved.get(node), self.movements.get(node)
        if order is None or index not in movement.inputs:
            return read.order
        axes = movement.inputs[index]
        if not movement.broadcasts or len(axes) == movement.rank:
            return then(read.order, of_some_axes(order, axes))
        asked = tuple(read.order[axes.index(axis)] if axis in axes else NEW for axis in order)
        # New dimensions in front come by broadcasting.
        in_place = asked[len(asked) - len(axes) :] == read.order
        return read.order if in_place else asked

    def asked(self, value: Output) -> list[Order]:
        """The orders in which a value is asked for."""
        return list(self._asked[value])

    def places(self, value: Output, order: Order) -> Order:
        """Where in the value, as it is laid out now, the dimensions of an order stand."""
        layout = self.layouts.get(value)
        return order if layout is None else tuple(NEW if axis == NEW else layout.index(axis) for axis in order)

    def is_free(self, value: Output, order: Order) -> bool:
        """Whether an order of a value takes nothing: it is known in advance, or only lengths of 1 change places."""
        if value.node in self._known:
            return True
        return _moves_nothing(self._units_of(value), self.layouts.get(value), order)

    def cost_around(self, node: Node) -> Cost:
        """The cost of what an operation that can move reads, and of what it makes."""
        total = NO_COST
        for value in self._around(node):
            cost = self._cost(value)
            if cost is not NO_COST:
                total += cost
        return total

    def set(self, node: Node, order: Order | None) -> Cost:
        """Let an operation work in an order, None for that at first; by how much the cost grows."""
        movement, reads, before = self.movements[node], self._reads[node], self.cost_around(node)
        asked = [(index, self.order_at(node, index)) for index in movement.inputs]
        if order is None or order == unchanged(movement.rank):
            self.moved.pop(node, None)
        else:
            self.moved[node] = order
        for index, one in asked:
            if one != (other := self.order_at(node, index)):
                self._ask(reads[index].value, one, -1, movement.elementwise)
                self._ask(reads[index].value, other, 1, movement.elementwise)
        for output, axes in zip(node.outputs(), movement.outputs):
            layout = None if order is None else of_some_axes(order, axes)
            if layout is None or layout == unchanged(len(axes)):
                self.layouts.pop(output, None)
            else:
                self.layouts[output] = layout
        for value in self._around(node):
            self._costs.pop(value, None)
        return self.cost_around(node) - before

    def _take_transpose(self, node: Node) -> bool:
        if type(node) is not ops.Transpose or not node.get_input_partial_shape(0).has_rank:
            return False
        order = exact_value(node.input_value(1))
        if order is None:
            return False
        data = self._read(node.input_value(0))
        axes = tuple(order.reshape(-1).tolist()) or tuple(reversed(range(len(data.order))))
        self.transposed[node.output(0)] = Read(data.value, then(data.order, axes))
        return True

    def _read(self, value: Output) -> Read:
        return self.transposed.get(value) or Read(value, unchanged(rank_of(value)))

    def _take(self, node: Node) -> None:
        reads = self._reads[node] = [self._read(value) for value in node.input_values()]
        movement = None
        known = reads and node.deterministic and all(read.value.node in self._known for read in reads)
        if known or isinstance(node, Constant):
            self._known.add(node)  # its Transposes are carried out when constants are folded
        elif movement := movement_of(node):
            self.movements[node] = movement
            for index in movement.inputs:
                if not movement.lacks_axes(index):
                    self.readers[reads[index]].append((node, index))
        elementwise = movement is not None and movement.elementwise
        if isinstance(node, CONVOLUTIONS) or (elementwise and any(r.value in self._convolved for r in reads)):
            self._convolved.update(node.outputs())
        if not isinstance(node, ops.ShapeOfV1):  # these read any order
            for index, read in enumerate(reads):
                self._ask(read.value, read.order, 1, elementwise and index in movement.inputs)

    def _ask(self, value: Output, order: Order, by: int, elementwise: bool) -> None:
        for counts in (self._asked[value], self._fusing[value]) if elementwise else (self._asked[value],):
            counts[order] += by
            if not counts[order]:
                del counts[order]

    def _around(self, node: Node) -> set[Output]:
        reads = self._reads[node]
        return {*node.outputs(), *(reads[index].value for index in self.movements[node].inputs)}

    def _cost(self, value: Output) -> Cost:
        cost = self._costs.get(value)
        if cost is None:
            cost = self._costs[value] = self._counted_cost(value)
        return cost

    def _counted_cost(self, value: Output) -> Cost:
        orders = [order for order in self._asked[value] if not self.is_free(value, order)]
        if not orders:
            return NO_COST
        least, most = self._bits_of(value)
        breaks = sum(order in self._fusing[value] for order in orders) if value in self._convolved else 0
        return Cost(least * len(orders), most * len(orders), len(orders), breaks)

    def _bits_of(self, value: Output) -> tuple[int, int]:
        bits = self._bits.get(value)
        if bits is None:
            bits = self._bits[value] = _bits(value)
        return bits

    def _units_of(self, value: Output) -> frozenset[int]:
        """The axes of a value that are known to have length 1."""
        units = self._units.get(value)
        if units is None:
            shape = value.partial_shape if value.partial_shape.has_rank else ()
            units = self._units[value] = frozenset(axis for axis, length in enumerate(shape) if length == 1)
        return units


@functools.lru_cache(1 << 14)
def _moves_nothing(units: frozenset[int], layout: Order | None, order: Order) -> bool:
    """Whether axes that are not of length 1 stand in a layout as they do in an order."""
    axes = [axis for axis in order if axis != NEW and axis not in units]
    return rises(axes if layout is None else [layout.index(axis) for axis in axes])


def rises(places: list[int]) -> bool:
    return all(one < next_one for one, next_one in itertools.pairwise(places))


def _bits(value: Output) -> tuple[int, int]:
    """How many bits a value has at least and at most, as far as it is known."""
    least = most = value.element_type.bitwidth if value.element_type.is_static() else 32
    for length in value.partial_shape:
        least *= max(length.min_length, 1)
        most *= max(length.min_length, 1, _LONGEST if length.max_length == -1 else length.max_length)
    return least, most
