"""The minimum cut between a source and a sink, by the push-relabel method with exact heights now and then.

Goldberg and Tarjan, "A new approach to the maximum-flow problem", 1988. Only the cut is wanted, so what cannot reach
the sink any more is left where it is.
"""

from __future__ import annotations

from collections import deque


class Network:
    """Nodes 0, 1, … between the source and the sink, with edges of whole capacities."""

    def __init__(self, count: int) -> None:
        # Of each node: what comes from the source, or can go to the sink (negative).
        self._balance = [0] * count
        self._edges: list[list[int]] = [[] for _ in range(count)]
        # Of each edge its end and what it can still carry; edge e ^ 1 goes the other way.
        self._ends: list[int] = []
        self._rest: list[int] = []

    def add_node(self) -> int:
        self._balance.append(0)
        self._edges.append([])
        return len(self._balance) - 1

    def from_source(self, node: int, capacity: int) -> None:
        """What is paid where the node is on the sink's side."""
        self._balance[node] += capacity

    def to_sink(self, node: int, capacity: int) -> None:
        """What is paid where the node is on the source's side."""
        self._balance[node] -= capacity

    def connect(self, start: int, end: int, capacity: int, back: int = 0) -> None:
        """What is paid where ``start`` is on the source's side and ``end`` on the sink's, and the other way round."""
        self._edges[start].append(len(self._ends))
        self._edges[end].append(len(self._ends) + 1)
        self._ends += (end, start)
        self._rest += (capacity, back)

    def sink_side(self) -> list[bool]:
        """For each node whether it is on the sink's side of a minimum cut. To be called once."""
        edges, ends, rest = self._edges, self._ends, self._rest
        count = len(self._balance)
        far = count + 1
        excess = [max(balance, 0) for balance in self._balance]
        drain = [max(-balance, 0) for balance in self._balance]
        heights = self._distances(drain)
        active = deque(node for node in range(count) if excess[node] and heights[node] < far)
        waiting = [False] * count
        for node in active:
            waiting[node] = True
        next_edge = [0] * count
        relabels = 0
        while active:
            node = active.popleft()
            waiting[node] = False
            own, height, have = edges[node], heights[node], excess[node]
            if drain[node]:
                amount = min(have, drain[node])
                have -= amount
                drain[node] -= amount
            at = next_edge[node]
            while have and height < far:
                if at == len(own):
                    least = min((heights[ends[edge]] for edge in own if rest[edge]), default=far)
                    height = heights[node] = 1 if drain[node] else least + 1
                    at = 0
                    relabels += 1
                    continue
                edge = own[at]
                end = ends[edge]
                if rest[edge] and heights[end] == height - 1:
                    amount = min(have, rest[edge])
                    rest[edge] -= amount
                    rest[edge ^ 1] += amount
                    have -= amount
                    excess[end] += amount
                    if not waiting[end]:
                        waiting[end] = True
                        active.append(end)
                    if not have:
                        break
                at += 1
            next_edge[node], excess[node] = at, have
            if relabels >= count:
                relabels = 0
                heights = self._distances(drain)
                next_edge = [0] * count
                active = deque(n for n in active if heights[n] < far)
                waiting = [False] * count
                for n in active:
                    waiting[n] = True
        return [height < far for height in self._distances(drain)]

    def _distances(self, drain: list[int]) -> list[int]:
        """Of each node the number of edges on its way to the sink; where there is no way, more than there are nodes."""
        far = len(drain) + 1
        heights = [1 if amount else far for amount in drain]
        reached = [node for node, amount in enumerate(drain) if amount]
        for node in reached:  # grows meanwhile
            for edge in self._edges[node]:
                end = self._ends[edge]
                if self._rest[edge ^ 1] and heights[end] == far:
                    heights[end] = heights[node] + 1
                    reached.append(end)
        return heights
