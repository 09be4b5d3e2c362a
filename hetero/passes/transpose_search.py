"""The search for orders of axes in which operations take the least to be transposed."""

from __future__ import annotations

from collections import Counter

from hetero.graph import Node
from hetero.passes.axis_orders import Order, inverse, of_some_axes, then, unchanged, with_more_axes
from hetero.passes.transpose_costs import NEW, NO_COST, Orders, Read

# One round settles the usual model; more are for Transposes that only came together in the one before.
_MOST_ROUNDS = 3
# How often an operation is tried in another order: a bound for models of many different orders.
_MOST_TRIES = 8


def find_orders(orders: Orders) -> None:
    """Let operations work in orders that cost less, in time linear in the size of the model."""
    search = _Search(orders)
    for _ in range(_MOST_ROUNDS):
        if not search.try_all():
            break
        search.take_back()


class _Search:
    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._tries: Counter[Node] = Counter()
        # What was tried in vain, and how many changes there were before: until there are more, it is in vain again.
        self._in_vain: dict[tuple[Node, Order, bool], int] = {}
        self._changes = 0

    def try_all(self) -> bool:
        """Take other orders for groups of operations where that costs less; whether any was taken."""
        before = self._changes
        for node in self._orders.movements:
            for order in self._proposed(node):
                if not self._try(node, order, siblings=True):
                    self._try(node, order, siblings=False)
        return self._changes > before

    def take_back(self) -> None:
        """Let operations work in the order that they had at first where that costs no more."""
        for nodes in (reversed(self._orders.nodes), self._orders.nodes):
            for node in [node for node in nodes if node in self._orders.moved]:
                order = self._orders.moved[node]
                if self._orders.cost_around(node).is_nothing():
                    continue
                if self._orders.set(node, None).is_no_loss():
                    self._changes += 1
                else:
                    self._orders.set(node, order)

    def _proposed(self, node: Node) -> list[Order]:
        """The orders in which the node would not need one of the Transposes around it."""
        orders, movement = self._orders, self._orders.movements[node]
        found: dict[Order, None] = {}
        for index, axes in movement.inputs.items():
            read = orders.read_at(node, index)
            if not movement.lacks_axes(index) and not orders.is_free(read.value, orders.order_at(node, index)):
                layout = orders.layouts.get(read.value, unchanged(len(read.order)))
                found[with_more_axes(then(inverse(read.order), layout), axes, movement.rank)] = None
        for output, axes in zip(node.outputs(), movement.outputs):
            for order in orders.asked(output):
                if NEW not in order and not orders.is_free(output, order):
                    found[with_more_axes(order, axes, movement.rank)] = None
        return list(found)

    def _try(self, node: Node, order: Order, siblings: bool) -> bool:
        """Let a node work in an order, and those around it in what follows from that, where it costs less.

        With ``siblings`` all that read the same value change together, else only those that read what one makes.
        """
        orders, start = self._orders, (node, order)
        if self._tries[node] >= _MOST_TRIES or self._in_vain.get((*start, siblings)) == self._changes:
            return False
        before: dict[Node, Order | None] = {}
        growth, waiting, seen = NO_COST, [start], set()
        while waiting:
            node, order = waiting.pop()
            movement, now = orders.movements[node], orders.moved.get(node)
            if node in before or order == (now or unchanged(movement.rank)) or not movement.allows(order):
                continue
            before[node] = now
            self._tries[node] += 1
            self._in_vain[node, order, siblings] = self._changes
            growth += orders.set(node, order)
            waiting += self._followers(node, order, siblings, seen)
        if growth.is_gain():
            self._changes += 1
            return True
        for node, order in reversed(before.items()):
            orders.set(node, order)
        return False

    def _followers(self, node: Node, order: Order, siblings: bool, seen: set[Read]) -> list[tuple[Node, Order]]:
        """The operations that share a value with a node, and the orders in which they do so without a Transpose."""
        orders, movement, found = self._orders, self._orders.movements[node], []
        for index in movement.inputs:
            read = orders.read_at(node, index)
            if read in seen or movement.lacks_axes(index):
                continue
            seen.add(read)
            asked = orders.order_at(node, index)
            maker = orders.movements.get(read.value.node) if read.order == unchanged(len(read.order)) else None
            if maker is not None:
                outputs = maker.outputs[read.value.index]
                found.append((read.value.node, with_more_axes(asked, outputs, maker.rank)))
            elif siblings:
                found += self._readers_in(read, then(inverse(read.order), asked))
        for output, axes in zip(node.outputs(), movement.outputs):
            found += self._readers_in(Read(output, unchanged(len(axes))), of_some_axes(order, axes))
        return found

    def _readers_in(self, read: Read, order: Order) -> list[tuple[Node, Order]]:
        """The operations that read a value as they do when it is in another order."""
        movements = self._orders.movements
        return [
            (node, with_more_axes(order, movements[node].inputs[index], movements[node].rank))
            for node, index in self._orders.readers.get(read, ())
        ]
