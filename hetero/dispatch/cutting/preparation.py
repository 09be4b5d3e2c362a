"""Preparation: the model that each subgraph's device compiles, as the device transformed and judged it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from hetero.compiler.symbolic import shapes_ahead
from hetero.dispatch.cutting.partition import DeviceSubgraph
from hetero.dispatch.cutting.parts import PreparedParts, extract, value_name
from hetero.dispatch.devices import names_of
from hetero.graph import Model
from hetero.graph.rt_info import original_names
from hetero.ops.work_estimate import assumed_shapes
from hetero.plugin import PreparedModel, QueryResult, unsupported
from hetero.system.errors import HeteroError


@dataclass(frozen=True)
class Preparation:
    """The models of subgraphs by the index of the subgraph, or what speaks against the placement."""

    #: What the devices compile. A device without a prepared model transforms a Model when it compiles it.
    models: dict[int, Model | PreparedModel] = field(default_factory=dict)
    #: The operations, by friendly name, that were prepared apart, as a fusion of theirs crosses the border.
    apart: dict[int, tuple[str, ...]] = field(default_factory=dict)
    #: The operations that a device runs only with those around them, by device name: reasons by friendly name.
    refused: dict[str, dict[str, str]] = field(default_factory=dict)
    #: The errors of devices.
    errors: dict[int, HeteroError] = field(default_factory=dict)


def prepare_parts(
    model: Model, subgraphs: Sequence[DeviceSubgraph], indices: Iterable[int], queries: Mapping[str, QueryResult]
) -> Preparation:
    """Prepare subgraphs of a model for their devices: cut them out of the models prepared for ``queries``."""
    found = Preparation()
    parts: dict[str, PreparedParts] = {}
    for index in indices:
        subgraph, name = subgraphs[index], f"{model.friendly_name}/{index}"
        device, result = subgraph.device, queries[subgraph.device.name]
        if result.prepared is None:
            found.models[index] = extract(subgraph, name)
        elif not result.refused and _is_whole(model, subgraphs):
            found.models[index] = result.prepared.named(name)
        else:
            if device.name not in parts:
                parts[device.name] = PreparedParts(
                    result.prepared, partial(device.prepare, properties=result.prepared.properties)
                )
            try:
                part, apart = parts[device.name].cut_out(subgraph, name)
                if refused := _refused(subgraph, part):
                    found.refused.setdefault(device.name, {}).update(refused)
                found.models[index], found.apart[index] = part, names_of(apart)
            except HeteroError as error:
                found.errors[index] = error
    _note_likely_shapes(model, subgraphs, found.models)
    return found


def _note_likely_shapes(
    model: Model, subgraphs: Sequence[DeviceSubgraph], parts: Mapping[int, Model | PreparedModel]
) -> None:
    """Note the shapes that the inputs of parts have if those of the model have likely ones.

    A part alone does not tell which of its values are words and which are pictures, nor that they come word by word.
    """
    values = {value for index in parts for value in subgraphs[index].inputs}
    if _is_whole(model, subgraphs) or all(value.partial_shape.is_static for value in values):
        return
    likely = [assumed_shapes(model, dict(enumerate(shapes))) for shapes in shapes_ahead(model)]
    for index, part in parts.items():
        inputs = {value_name(value): value for value in subgraphs[index].inputs}
        for parameter in (part if isinstance(part, Model) else part.model).parameters:
            if value := inputs.get(parameter.friendly_name):
                parameter.likely_shapes = tuple(shapes[value] for shapes in likely)


def _refused(subgraph: DeviceSubgraph, part: PreparedModel) -> dict[str, str]:
    """Return the operations of a subgraph that its device refuses in the part, with the reasons.

    Raises UnsupportedOperationError if the part has operations of its own that the device refuses.
    """
    names, refused = set(names_of(subgraph.nodes)), subgraph.device.refused_nodes(part)
    reasons = {name: reason for node, reason in refused.items() for name in original_names(node) if name in names}
    if refused and not reasons:
        raise unsupported(subgraph.device.name, refused)
    return reasons


def _is_whole(model: Model, subgraphs: Sequence[DeviceSubgraph]) -> bool:
    """Return whether there is one subgraph, of the same inputs and outputs as the model in the same order."""
    outputs = [result.input_value(0) for result in model.results]
    return [(s.inputs, s.outputs) for s in subgraphs] == [(model.inputs, outputs)]
