"""Minimum cut between a source and a sink by the push-relabel method with periodic global relabeling.

Goldberg and Tarjan, "A new approach to the maximum-flow problem", 1988. Only the cut is needed, so excess that cannot
reach the sink is left where it is.

Measured on a chain of 20,000 units with skip connections, on two cores: 1.1 s beside 23 s (networkx preflow_push) and
197 s (networkx boykov_kolmogorov) in the same run; 0.5 s beside 0.1 s (scipy maximum_flow) in another. scipy accepts
32-bit capacities only, too few bits for costs in picoseconds, and would be a large dependency for this alone.
"""

from __future__ import annotations

from collections import deque


class Network:
    """Nodes 0, 1, … between the source and the sink, with edges of integer capacities."""

    def __init__(self, count: int) -> None:
        # Net capacity of each node: from the source if positive, to the sink if negative.
        self._balance = [0] * count
        self._edges: list[list[int]] = [[] for _ in range(count)]
        # The end and the residual capacity of each edge; edge e ^ 1 is the reverse of edge e.
        self._ends: list[int] = []
        self._residual: list[int] = []

    def add_node(self) -> int:
        self._balance.append(0)
        self._edges.append([])
        return len(self._balance) - 1

    def from_source(self, node: int, capacity: int) -> None:
        """Add an edge from the source: its capacity is the cost of the node on the sink's side."""
        self._balance[node] += capacity

    def to_sink(self, node: int, capacity: int) -> None:
        """Add an edge to the sink: its capacity is the cost of the node on the source's side."""
        self._balance[node] -= capacity

    def connect(self, start: int, end: int, capacity: int, back: int = 0) -> None:
        """Add an edge: ``capacity`` is the cost of ``start`` on the source's side and ``end`` on the sink's.

        ``back`` is the cost of the opposite.
        """
        self._edges[start].append(len(self._ends))
        self._edges[end].append(len(self._ends) + 1)
        self._ends += (end, start)
        self._residual += (capacity, back)

    def sink_side(self) -> list[bool]:
        """Return for each node whether it is on the sink's side of a minimum cut. May be called once."""
        edges, ends, residual = self._edges, self._ends, self._residual
        count = len(self._balance)
        unreachable = count + 1
        excess = [max(balance, 0) for balance in self._balance]
        drain = [max(-balance, 0) for balance in self._balance]
        heights = self._distances(drain)
        active = deque(node for node in range(count) if excess[node] and heights[node] < unreachable)
        is_queued = [False] * count
        for node in active:
            is_queued[node] = True
        next_edge = [0] * count
        relabels = 0
        while active:
            node = active.popleft()
            is_queued[node] = False
            own_edges, height, amount = edges[node], heights[node], excess[node]
            if drain[node]:
                pushed = min(amount, drain[node])
                amount -= pushed
                drain[node] -= pushed
            position = next_edge[node]
            while amount and height < unreachable:
                if position == len(own_edges):
                    lowest = min((heights[ends[edge]] for edge in own_edges if residual[edge]), default=unreachable)
                    height = heights[node] = 1 if drain[node] else lowest + 1
                    position = 0
                    relabels += 1
                    continue
                edge = own_edges[position]
                end = ends[edge]
                if residual[edge] and heights[end] == height - 1:
                    pushed = min(amount, residual[edge])
                    residual[edge] -= pushed
                    residual[edge ^ 1] += pushed
                    amount -= pushed
                    excess[end] += pushed
                    if not is_queued[end]:
                        is_queued[end] = True
                        active.append(end)
                    if not amount:
                        break
                position += 1
            next_edge[node], excess[node] = position, amount
            if relabels >= count:
                relabels = 0
                heights = self._distances(drain)
                next_edge = [0] * count
                active = deque(n for n in active if heights[n] < unreachable)
                is_queued = [False] * count
                for n in active:
                    is_queued[n] = True
        return [height < unreachable for height in self._distances(drain)]

    def _distances(self, drain: list[int]) -> list[int]:
        """Return the number of edges from each node to the sink; more than there are nodes if there is no path."""
        unreachable = len(drain) + 1
        heights = [1 if amount else unreachable for amount in drain]
        reached = [node for node, amount in enumerate(drain) if amount]
        for node in reached:  # grows during the loop
            for edge in self._edges[node]:
                end = self._ends[edge]
                if self._residual[edge ^ 1] and heights[end] == unreachable:
                    heights[end] = heights[node] + 1
                    reached.append(end)
        return heights
