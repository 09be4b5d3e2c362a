"""Groups of nodes that must run on one device: the nodes of one variable, and an operation with its bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hetero.graph import Node, walk_nested
from hetero.graph.rt_info import AFFINITY
from hetero.ops.values import is_exact
from hetero.plugin import QueryResult
from hetero.system.errors import DeviceError


@dataclass(frozen=True, eq=False)
class Group:
    """Nodes that run on one device together, and the reason; most nodes are a group of their own."""

    nodes: tuple[Node, ...]
    reason: str = ""

    def pin(self, queries: Mapping[str, QueryResult]) -> Node | None:
        """Return a pinned node of the group or of its bodies, None if there is none.

        Raises DeviceError if nodes are pinned to different devices.
        """
        pinned = [node for node in walk_nested(self.nodes) if AFFINITY in node.rt_info]
        for other in pinned:
            if other.rt_info.get(AFFINITY) != pinned[0].rt_info.get(AFFINITY):
                where = [
                    f"'{node.friendly_name}' is pinned to {node.rt_info.get(AFFINITY)}" for node in (pinned[0], other)
                ]
                what = self.reason or f"{self.nodes[0].type_info.name} '{self.nodes[0].friendly_name}' with its bodies"
                raise DeviceError(
                    f"{what} must be on one device, but {' and '.join(where)}; able: {self.able_names(queries)}"
                )
        return pinned[0] if pinned else None

    def has_device(self, queries: Mapping[str, QueryResult]) -> bool:
        """Return whether a device supports the whole group: the one that it is pinned to, if it is pinned."""
        pins = {node.rt_info.get(AFFINITY) for node in walk_nested(self.nodes) if AFFINITY in node.rt_info}
        able = {device for device, supported in queries.items() if self.fits(supported)}
        return bool(able) and pins <= able and len(pins) < 2

    def able_names(self, queries: Mapping[str, QueryResult]) -> str:
        """Return the names of the devices that support the whole group, for messages."""
        return ", ".join(device for device, supported in queries.items() if self.fits(supported)) or "no device"

    def fits(self, supported: QueryResult) -> bool:
        """Return whether a device supports the whole group."""
        return not any(self.lacking(supported))

    def lacking(self, supported: QueryResult) -> Iterator[Node]:
        """Yield the nodes that a device does not support. Nodes with values known at compile time do not count."""
        return (n for n in self.nodes if n.friendly_name not in supported and not _is_known(n))

    def refusal(self, node: Node, device: str, supported: QueryResult) -> str:
        """Return why a device does not get a node: it does not support the node, or another one of the group."""
        if node.friendly_name not in supported:
            return f"{device}: {supported.refused.get(node.friendly_name, 'not supported')}"
        other = next(self.lacking(supported))
        return f"{device}: cannot run '{other.friendly_name}' of {self.reason}"


def find_groups(nodes: Sequence[Node]) -> dict[Node, Group]:
    """Return the group of each node, in the order given. An operation also has the variables of its bodies."""
    by_variable: dict[str, list[Node]] = {}
    variables_of: dict[Node, list[str]] = {}
    for node in nodes:
        for name in dict.fromkeys(_variables(node)):
            by_variable.setdefault(name, []).append(node)
            variables_of.setdefault(node, []).append(name)
    groups: dict[Node, Group] = {}
    for node in nodes:
        if node in variables_of and node not in groups:
            names = _connected_variables(node, by_variable, variables_of)
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


def _connected_variables(
    node: Node, by_variable: Mapping[str, list[Node]], variables_of: Mapping[Node, list[str]]
) -> list[str]:
    """Return the variables of a node, of all nodes that share a variable with it, and so on (transitive closure)."""
    connected = dict.fromkeys(variables_of[node])
    waiting = list(connected)
    while waiting:
        for member in by_variable[waiting.pop()]:
            new = [name for name in variables_of[member] if name not in connected]
            connected |= dict.fromkeys(new)
            waiting += new
    return list(connected)
