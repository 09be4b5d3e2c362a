"""Nodes that must be on one device: those of one variable, and an operation with all that is in its bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hetero.errors import DeviceError
from hetero.graph import Node, walk_nested
from hetero.graph.runtime_info import AFFINITY
from hetero.ops.values import is_exact
from hetero.plugin import QueryResult


@dataclass(frozen=True, eq=False)
class Group:
    """Nodes that go to one device together, and why; most nodes are a group of their own."""

    nodes: tuple[Node, ...]
    why: str = ""

    def pin(self, queries: Mapping[str, QueryResult]) -> Node | None:
        """A node that the user pinned, perhaps in a body, where the whole group goes then.

        Raises DeviceError where pins contradict each other.
        """
        pinned = [node for node in walk_nested(self.nodes) if AFFINITY in node.rt_info]
        first = next(iter(pinned), None)
        for other in pinned:
            if other.rt_info[AFFINITY] != first.rt_info[AFFINITY]:
                where = [f"'{node.friendly_name}' is pinned to {node.rt_info[AFFINITY]}" for node in (first, other)]
                what = self.why or f"{self.nodes[0].type_info.name} '{self.nodes[0].friendly_name}' with its bodies"
                raise DeviceError(
                    f"{what} must be on one device, but {' and '.join(where)}; able: {self.able(queries)}"
                )
        return first

    def able(self, queries: Mapping[str, QueryResult]) -> str:
        """The devices that can run all of it, for messages."""
        return ", ".join(device for device, claimed in queries.items() if self.fits(claimed)) or "no device"

    def fits(self, claimed: QueryResult) -> bool:
        return not any(self.lacking(claimed))

    def lacking(self, claimed: QueryResult) -> Iterator[Node]:
        """The nodes that a device cannot run. It need not run those whose values are known already."""
        return (n for n in self.nodes if n.friendly_name not in claimed and not _is_known(n))

    def refusal(self, node: Node, device: str, claimed: QueryResult) -> str:
        """Why a device does not get a node of the group: it cannot run that, or another one."""
        if node.friendly_name not in claimed:
            return f"{device}: {claimed.refused.get(node.friendly_name, 'not supported')}"
        other = next(self.lacking(claimed))
        return f"{device}: cannot run '{other.friendly_name}' of {self.why}"


def find_groups(nodes: Sequence[Node]) -> dict[Node, Group]:
    """The group of each node, in the order given. An operation reads and sets also what its bodies do."""
    by_variable: dict[str, list[Node]] = {}
    variables_of: dict[Node, list[str]] = {}
    for node in nodes:
        for name in dict.fromkeys(_variables(node)):
            by_variable.setdefault(name, []).append(node)
            variables_of.setdefault(node, []).append(name)
    groups: dict[Node, Group] = {}
    for node in nodes:
        if node in variables_of and node not in groups:
            names = _connected(node, by_variable, variables_of)
            members = dict.fromkeys(member for name in names for member in by_variable[name])
            group = Group(tuple(members), " and ".join(f"variable '{name}'" for name in names))
            groups |= dict.fromkeys(members, group)
    return {node: groups.get(node) or Group((node,)) for node in nodes}


def _is_known(node: Node) -> bool:
    return all(is_exact(output.value) for output in node.outputs())


def _variables(node: Node) -> Iterator[str]:
    for inner in walk_nested([node]):
        if (info := getattr(inner, "variable_info", None)) is not None:
            yield info.variable_id


def _connected(node: Node, by_variable: Mapping[str, list[Node]], variables_of: Mapping[Node, list[str]]) -> list[str]:
    """The variables of a node, and those of all nodes that have one of these, and so on."""
    found = dict.fromkeys(variables_of[node])
    waiting = list(found)
    while waiting:
        for member in by_variable[waiting.pop()]:
            new = [name for name in variables_of[member] if name not in found]
            found |= dict.fromkeys(new)
            waiting += new
    return list(found)
