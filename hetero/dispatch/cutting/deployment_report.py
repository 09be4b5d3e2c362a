"""The report of a deployment: the placement of its operations, its subgraphs, and the values between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hetero.dispatch.cutting.boundaries import Boundaries, byte_size
from hetero.dispatch.cutting.partition import DeviceSubgraph
from hetero.dispatch.devices import Failure
from hetero.dispatch.placement.affinity import Placed
from hetero.dispatch.report import BoundaryReport, FailureReport, OperationReport, PlacementReport, SubgraphReport
from hetero.graph import Model, Node, Output, port_name
from hetero.ops.work_estimate import assumed_shapes, work_of

FOLDED = "known when compiled"


def make_report(
    model: Model,
    devices: Sequence[str],
    placed: Mapping[Node, Placed],
    subgraphs: Sequence[DeviceSubgraph],
    folded: set[Node],
    failures: Sequence[Failure],
    boundaries: Boundaries,
) -> PlacementReport:
    """Return the report of a placement; ``folded`` are operations that were folded at compile time."""
    shapes = assumed_shapes(model)
    subgraph_of = {node: index for index, subgraph in enumerate(subgraphs) for node in subgraph.nodes}
    operations = tuple(
        OperationReport(
            node.friendly_name,
            node.type_info.name,
            where.device.name,
            FOLDED if node in folded else where.reason,
            subgraph_of.get(node),
            work_of(node, shapes).operations if node in subgraph_of else 0.0,
        )
        for node, where in placed.items()
    )
    return PlacementReport(
        model.friendly_name,
        tuple(devices),
        operations,
        tuple(
            SubgraphReport(i, s.device.name, tuple(n.friendly_name for n in s.nodes), len(s.inputs), len(s.outputs))
            for i, s in enumerate(subgraphs)
        ),
        _boundaries(subgraphs, subgraph_of, boundaries),
        tuple(FailureReport(f.device, f.operations, str(f.error)) for f in failures),
    )


def _boundaries(
    subgraphs: Sequence[DeviceSubgraph], subgraph_of: Mapping[Node, int], boundaries: Boundaries
) -> tuple[BoundaryReport, ...]:
    readers: dict[Output, list[int]] = {}
    for index, subgraph in enumerate(subgraphs):
        for value in subgraph.inputs:
            if value.node in subgraph_of:
                readers.setdefault(value, []).append(index)
    return tuple(
        BoundaryReport(
            port_name(value),
            value.element_type.to_string(),
            str(value.partial_shape),
            byte_size(value),
            subgraph_of[value.node],
            tuple(targets),
            str(boundaries.by_value[value]),
        )
        for value, targets in readers.items()
    )
