"""Which order of axes each operation of a model works in, and what Transposes that takes."""

from __future__ import annotations

import functools
import itertools
from collections import Counter, defaultdict
from typing import NamedTuple

from hetero import ops
from hetero.graph import Constant, Model, Node, Output
from hetero.ops.values import exact_value
from hetero.passes import transpose_shape_rules as _  # noqa: F401 (fills the table of rules)
from hetero.passes.axis_orders import Order, inverse, of_some_axes, then, unchanged, with_more_axes
from hetero.passes.transpose_rules import Movement, movement_of, rank_of

# The place of a dimension of length 1 that a value gets so that it broadcasts.
NEW = -1
# How long an unknown dimension is taken to be.
_UNKNOWN_LENGTH = 16
# What one more Transpose counts for beside the bits that it moves: starting it takes a device as long as so many.
_BITS_OF_A_TRANSPOSE = 1 << 18
# How often an operation is tried in another order: a bound for models of many different orders.
_MOST_TRIES = 8

_CONVOLUTIONS = (
    ops.Convolution, ops.GroupConvolution, ops.ConvolutionBackpropData, ops.GroupConvolutionBackpropData,
)  # fmt: skip


class Read(NamedTuple):
    """What an input reads, Transposes left out: a value, and the order that they bring it into."""

    value: Output
    order: Order


class Cost(NamedTuple):
    """What Transposes take, or by how much that grows.

    ``breaks`` are those that part a convolution from the element-wise operations after it.
    """

    bits: int
    transposes: int
    breaks: int

    def __add__(self, other: Cost) -> Cost:  # type: ignore[override]
        return Cost(self.bits + other.bits, self.transposes + other.transposes, self.breaks + other.breaks)

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.bits - other.bits, self.transposes - other.transposes, self.breaks - other.breaks)

    def is_gain(self) -> bool:
        """Whether it is worth growing by this: no more bits, and less in all."""
        return self.bits <= 0 and self._in_all() < (0, 0)

    def is_no_loss(self) -> bool:
        """Whether nothing is lost by growing by this."""
        return self.bits <= 0 and self._in_all() <= (0, 0)

    def _in_all(self) -> tuple[int, int]:
        return self.bits + self.transposes * _BITS_OF_A_TRANSPOSE, self.breaks


_NOTHING = Cost(0, 0, 0)


class Orders:
    """For each operation the order of axes that it works in, the given one at first, and the cost of all of them.

    The cost is the number of bits that Transposes move, and how many there are of them.
    """

    def __init__(self, model: Model) -> None:
        self.nodes = model.get_ordered_ops()
        self.movements: dict[Node, Movement] = {}
        #: What each Transpose of known order makes.
        self.transposed: dict[Output, Read] = {}
        #: The operations that work in another order than at first, and the values that have another one then.
        self.moved: dict[Node, Order] = {}
        self.layouts: dict[Output, Order] = {}
        self._reads: dict[Node, list[Read]] = {}
        self._readers: dict[Read, list[tuple[Node, int]]] = defaultdict(list)
        # How many inputs ask for a value in an order.
        self._asked: dict[Output, Counter[Order]] = defaultdict(Counter)
        # How many of these are element-wise operations, and what convolutions and such operations after them make.
        self._fusing: dict[Output, Counter[Order]] = defaultdict(Counter)
        self._convolved: set[Output] = set()
        self._bits: dict[Output, int] = {}
        self._units: dict[Output, frozenset[int]] = {}
        self._tries: Counter[Node] = Counter()
        known: set[Node] = set()
        for node in self.nodes:
            if not self._take_transpose(node):
                self._take(node, known)

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

    def read_at(self, node: Node, index: int) -> Read:
        """What an input reads at first."""
        return self._reads[node][index]

    def asked(self, value: Output) -> Counter[Order]:
        """The orders in which a value is asked for."""
        return self._asked[value]

    def places(self, value: Output, order: Order) -> Order:
        """Where in the value, as it is laid out now, the dimensions of an order stand."""
        layout = self.layouts.get(value)
        return order if layout is None else tuple(NEW if axis == NEW else layout.index(axis) for axis in order)

    def is_free(self, value: Output, order: Order) -> bool:
        """Whether no element has to move for an order: only dimensions of length 1 change places, or nothing does."""
        return _moves_nothing(self._units_of(value), self.layouts.get(value), order)

    def try_orders(self) -> bool:
        """Take other orders for groups of operations where that costs less; whether any was taken."""
        taken = False
        for node in self.movements:
            for order in self._proposed(node):
                taken |= self._try(node, order, siblings=True) or self._try(node, order, siblings=False)
        return taken

    def take_back(self) -> None:
        """Let operations work in the order that they had at first where that costs no more."""
        for nodes in (reversed(self.nodes), self.nodes):
            for node in [node for node in nodes if node in self.moved]:
                order = self.moved[node]
                if self._cost_around(node) != _NOTHING and not self._set(node, None).is_no_loss():
                    self._set(node, order)

    def _take_transpose(self, node: Node) -> bool:
        if type(node) is not ops.Transpose or not node.get_input_partial_shape(0).has_rank:
            return False
        order = exact_value(node.input_value(1))
        if order is None:
            return False
        rank = len(node.get_input_partial_shape(0))
        data = self._read(node.input_value(0))
        axes = tuple(order.reshape(-1).tolist()) or tuple(reversed(range(rank)))
        self.transposed[node.output(0)] = Read(data.value, then(data.order, axes))
        return True

    def _read(self, value: Output) -> Read:
        shape = value.partial_shape
        return self.transposed.get(value) or Read(value, unchanged(len(shape) if shape.has_rank else 0))

    def _take(self, node: Node, known: set[Node]) -> None:
        reads = self._reads[node] = [self._read(value) for value in node.input_values()]
        if isinstance(node, Constant) or (reads and node.repeatable and all(r.value.node in known for r in reads)):
            known.add(node)  # its Transposes are carried out when constants are folded
            self._bits.update(dict.fromkeys(node.outputs(), 0))
        elif movement := movement_of(node):
            self.movements[node] = movement
            for index in movement.inputs:
                if not movement.broadcasts or len(movement.inputs[index]) == movement.rank:
                    self._readers[reads[index]].append((node, index))
        elementwise = node in self.movements and self.movements[node].elementwise
        if isinstance(node, _CONVOLUTIONS) or (elementwise and any(r.value in self._convolved for r in reads)):
            self._convolved.update(node.outputs())
        if not isinstance(node, ops.ShapeOfV1):  # these read any order
            for read in reads:
                self._asked[read.value][read.order] += 1
        if elementwise:
            for index in self.movements[node].inputs:
                self._fusing[reads[index].value][reads[index].order] += 1

    def _cost(self, value: Output) -> Cost:
        asked = self._asked[value]
        if not asked or (len(asked) == 1 and value not in self.layouts and unchanged(rank_of(value)) in asked):
            return _NOTHING
        bits = self._bits.get(value)
        if bits is None:
            bits = self._bits[value] = _bits(value)
        if not bits:
            return _NOTHING
        orders = [order for order in asked if not self.is_free(value, order)]
        breaks = sum(order in self._fusing[value] for order in orders) if value in self._convolved else 0
        return Cost(bits * len(orders), len(orders), breaks)

    def _units_of(self, value: Output) -> frozenset[int]:
        """The axes of a value that are known to have length 1."""
        units = self._units.get(value)
        if units is None:
            units = frozenset(axis for axis, length in enumerate(value.partial_shape) if length == 1)
            self._units[value] = units
        return units

    def _cost_around(self, node: Node) -> Cost:
        """The cost of what the node reads and of what it makes."""
        reads = self._reads[node]
        values = {reads[index].value for index in self.movements[node].inputs}
        total = _NOTHING
        for value in values.union(node.outputs()):
            if (cost := self._cost(value)) is not _NOTHING:
                total += cost
        return total

    def _set(self, node: Node, order: Order | None) -> Cost:
        """Let an operation work in an order, None for that at first; by how much the cost grows."""
        movement, before = self.movements[node], self._cost_around(node)
        self._count(node, -1)
        if order is None or order == unchanged(movement.rank):
            self.moved.pop(node, None)
        else:
            self.moved[node] = order
        self._count(node, 1)
        for output, axes in zip(node.outputs(), movement.outputs):
            layout = None if order is None else of_some_axes(order, axes)
            if layout is None or layout == unchanged(len(axes)):
                self.layouts.pop(output, None)
            else:
                self.layouts[output] = layout
        return self._cost_around(node) - before

    def _count(self, node: Node, by: int) -> None:
        movement = self.movements[node]
        for index in movement.inputs:
            value, order = self._reads[node][index].value, self.order_at(node, index)
            for counts in (self._asked[value], self._fusing[value])[: 1 + movement.elementwise]:
                counts[order] += by
                if not counts[order]:
                    del counts[order]

    def _proposed(self, node: Node) -> list[Order]:
        """The orders in which the node would not need one of the Transposes around it."""
        movement, found = self.movements[node], {}
        for index, axes in movement.inputs.items():
            value, order = self._reads[node][index]
            if len(axes) < movement.rank and movement.broadcasts:
                continue
            if not self.is_free(value, self.order_at(node, index)) and self._bits.get(value) != 0:
                layout = self.layouts.get(value, unchanged(len(order)))
                found[with_more_axes(then(inverse(order), layout), axes, movement.rank)] = None
        for output, axes in zip(node.outputs(), movement.outputs):
            for order in self._asked[output]:
                if NEW not in order and not self.is_free(output, order):
                    found[with_more_axes(order, axes, movement.rank)] = None
        return list(found)

    def _try(self, node: Node, order: Order, siblings: bool) -> bool:
        """Let a node work in an order, and those around it in what follows from that, where it costs less.

        With ``siblings`` all that read the same value change together, else only those that read what one makes.
        """
        if self._tries[node] >= _MOST_TRIES:
            return False
        before: dict[Node, Order | None] = {}
        growth, waiting, seen = _NOTHING, [(node, order)], set()
        while waiting:
            node, order = waiting.pop()
            movement, now = self.movements[node], self.moved.get(node)
            if node in before or order == (now or unchanged(movement.rank)) or not movement.allows(order):
                continue
            before[node] = now
            self._tries[node] += 1
            growth += self._set(node, order)
            waiting += self._followers(node, siblings, seen)
        if growth.is_gain():
            return True
        for node, order in reversed(before.items()):
            self._set(node, order)
        return False

    def _followers(self, node: Node, siblings: bool, seen: set[Read]) -> list[tuple[Node, Order]]:
        """The operations that share a value with a node, and the orders in which they do so without a Transpose."""
        movement, found = self.movements[node], []
        for index, axes in movement.inputs.items():
            read = self._reads[node][index]
            if read in seen or (movement.broadcasts and len(axes) < movement.rank):
                continue
            order = self.order_at(node, index)
            maker, plain = self.movements.get(read.value.node), read.order == unchanged(len(read.order))
            if siblings or (plain and maker):
                seen.add(read)
                if plain and maker:
                    outputs = maker.outputs[read.value.index]
                    found.append((read.value.node, with_more_axes(order, outputs, maker.rank)))
                if siblings:
                    found += self._readers_in(read, then(inverse(read.order), order))
        for output, axes in zip(node.outputs(), movement.outputs):
            read = Read(output, unchanged(len(axes)))
            if read not in seen:
                seen.add(read)
                found += self._readers_in(read, of_some_axes(self.moved.get(node, unchanged(movement.rank)), axes))
        return found

    def _readers_in(self, read: Read, order: Order) -> list[tuple[Node, Order]]:
        """The operations that read a value as they do when it is in another order."""
        found = []
        for node, index in self._readers[read]:
            movement = self.movements[node]
            found.append((node, with_more_axes(order, movement.inputs[index], movement.rank)))
        return found


@functools.lru_cache(1 << 14)
def _moves_nothing(units: frozenset[int], layout: Order | None, order: Order) -> bool:
    """Whether axes that are not of length 1 stand in a layout as they do in an order."""
    axes = [axis for axis in order if axis != NEW and axis not in units]
    return rises(axes if layout is None else [layout.index(axis) for axis in axes])


def rises(places: list[int]) -> bool:
    return all(one < next_one for one, next_one in itertools.pairwise(places))


def _bits(value: Output) -> int:
    count = 1
    for length in value.partial_shape:
        count *= length.get_length() if length.is_static else _UNKNOWN_LENGTH
    return count * (value.element_type.bitwidth if value.element_type.is_static() else 32)
