"""The part of a model that can be sent to a node: what an IR can hold, without classes that the node cannot define."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hetero.graph import Model, Node, Op, Output, Parameter, Result, walk_nested
from hetero.plugin import Section, ir_fault, ir_sections
from hetero.system.errors import BlobError

if TYPE_CHECKING:
    from hetero_ray.worker_client import WorkerClient


def sendable_sections(model: Model, client: WorkerClient) -> tuple[dict[str, Section], dict[Node, str]]:
    """Return the sections of an IR of the operations that can be sent, and the reasons why others cannot.

    The outputs of the others are inputs of the IR. Classes of custom operations are defined on the node.
    """
    classes = {node: _custom_classes(node) for node in model.get_ordered_ops()}
    undefined = client.define({cls for own in classes.values() for cls in own})
    reasons = {
        node: f"{client.device} cannot define {cls.__qualname__}: {undefined[cls]}"
        for node, own in classes.items()
        for cls in own
        if cls in undefined
    }
    try:
        return ir_sections(model.friendly_name, _without(model, reasons)), reasons
    except BlobError as error:
        faults = {node: fault for node in classes if (fault := ir_fault(node))}
        # Without faults of nodes, no part of the model can be written.
        reasons |= faults or dict.fromkeys(classes, str(error))
    return ir_sections(model.friendly_name, _without(model, reasons)), reasons


def _custom_classes(node: Node) -> set[type[Op]]:
    """Return the classes of a node, and of those in its bodies, that hetero's packages of operations do not define."""
    classes = {type(inner) for inner in walk_nested([node]) if isinstance(inner, Op)}
    return {cls for cls in classes if not cls.__module__.startswith(("hetero.ops.", "hetero.graph."))}


def _without(model: Model, removed: Mapping[Node, str]) -> Model:
    """Return a copy of a model without some nodes, whose outputs become inputs."""
    if not removed:
        return model
    _, copies = model.clone_with_nodes()
    kept = [copies[node] for node in model.get_ordered_ops() if node not in removed]
    parameters = [node for node in kept if isinstance(node, Parameter)]
    results = [node for node in kept if isinstance(node, Result) and node.input_value(0).node in kept]
    outputs: list[Output | Node] = [*results]
    inner = {node for node in kept if not isinstance(node, Result)}
    for node in inner:
        for value in node.outputs():
            if any(target.node not in inner and target.node not in results for target in value.get_target_inputs()):
                outputs.append(Result(value))
    for node in map(copies.__getitem__, removed):
        for value in node.outputs():
            readers = [target for target in value.get_target_inputs() if target.node in inner]
            if readers:
                parameters.append(Parameter(value.element_type, value.partial_shape))
                for target in readers:
                    target.replace_source_output(parameters[-1].output(0))
    sinks = [copies[node] for node in model.sinks if node not in removed]
    return Model(outputs, parameters, model.friendly_name, sinks=sinks)
