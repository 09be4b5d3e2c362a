"""What was placed where, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hetero.dispatch.affinity import Placed
from hetero.dispatch.partition import Subgraph
from hetero.graph import Node


@dataclass(frozen=True)
class OperationReport:
    """One operation of the model: where it runs, and why there."""

    name: str
    type_name: str
    device: str
    reason: str


@dataclass(frozen=True)
class SubgraphReport:
    """One subgraph: the names of its operations, and how many values cross its boundary."""

    index: int
    device: str
    operations: tuple[str, ...]
    inputs: int
    outputs: int


@dataclass(frozen=True)
class PlacementReport:
    """The placement of a whole model."""

    operations: tuple[OperationReport, ...]
    subgraphs: tuple[SubgraphReport, ...]

    @property
    def devices(self) -> dict[str, int]:
        """The number of operations on each device, the most first."""
        return dict(Counter(operation.device for operation in self.operations).most_common())

    def summary(self) -> str:
        """One line: ``GPU 171/180 operations in 3 subgraphs; TEMPLATE 9/180 in 2: Interpolate, TopK``."""
        parts = []
        for device, count in self.devices.items():
            cut = sum(subgraph.device == device for subgraph in self.subgraphs)
            part = f"{device} {count}/{len(self.operations)} operations in {cut} subgraph{'' if cut == 1 else 's'}"
            kinds = dict.fromkeys(o.type_name for o in self.operations if o.device == device)
            parts.append(part if len(kinds) > 5 else f"{part}: {', '.join(kinds)}")
        return "; ".join(parts)


def make_report(placed: Mapping[Node, Placed], subgraphs: Sequence[Subgraph], known: set[Node]) -> PlacementReport:
    """The report of a placement; ``known`` are operations that no device runs, as their values are known already."""
    operations = tuple(
        OperationReport(
            node.friendly_name,
            node.type_info.name,
            where.device.name,
            "known when compiled" if node in known else where.reason,
        )
        for node, where in placed.items()
    )
    return PlacementReport(
        operations,
        tuple(
            SubgraphReport(i, s.device.name, tuple(n.friendly_name for n in s.nodes), len(s.inputs), len(s.outputs))
            for i, s in enumerate(subgraphs)
        ),
    )
