"""Fusions: operations that a device runs as one, so that a strategy had better give them one device."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hetero.dispatch.placement.affinity import Assignment, Candidates, Group, Strategy
from hetero.graph import Model, Node, is_terminal
from hetero.graph.rt_info import original_names
from hetero.plugin import QueryResult


def over_fusions(strategy: Strategy, queries: Mapping[str, QueryResult]) -> Strategy:
    """Return a strategy that gives one device to groups that some device joins.

    Only groups with the same candidates are joined. A cut through the others is the user's, or no device runs both
    sides; it is right too, but the device runs their operations on their own.
    """

    def choose(model: Model, candidates: Candidates) -> Assignment:
        joined = _joined(model, candidates, queries)
        found = strategy(model, {joined[group]: able for group, able in candidates.items()})
        return {group: found[joined[group]] for group in candidates}

    return choose


def _joined(model: Model, candidates: Candidates, queries: Mapping[str, QueryResult]) -> dict[Group, Group]:
    """Return for each group itself, or a larger one with the groups that some device joins with it."""
    group_of = {node: group for group in candidates for node in group.nodes}
    leader: dict[Group, Group] = {}

    def leader_of(group: Group) -> Group:
        while group in leader:
            group = leader[group]
        return group

    for source, reader in _fused(model, queries):
        if source in group_of and reader in group_of:
            first, second = leader_of(group_of[source]), leader_of(group_of[reader])
            if first is not second and candidates[first] == candidates[second]:
                leader[second] = first
    members: dict[Group, list[Node]] = {}
    for group in candidates:
        members.setdefault(leader_of(group), []).extend(group.nodes)
    larger = {
        first: Group(tuple(nodes), first.reason) for first, nodes in members.items() if len(nodes) > len(first.nodes)
    }
    return {group: larger.get(leader_of(group), group) for group in candidates}


def _fused(model: Model, queries: Mapping[str, QueryResult]) -> Iterator[tuple[Node, Node]]:
    """Yield each operation with one that reads it, if a device's prepared model has a node for both."""
    by_name = {node.friendly_name: node for node in model.get_ordered_ops() if not is_terminal(node)}
    for result in queries.values():
        for node in result.prepared.model.get_ordered_ops() if result.prepared else ():
            names = original_names(node)
            if len(names) < 2 or is_terminal(node):
                continue
            originals = {by_name[name]: None for name in names if name in by_name}
            for reader in originals:
                yield from ((value.node, reader) for value in reader.input_values() if value.node in originals)
