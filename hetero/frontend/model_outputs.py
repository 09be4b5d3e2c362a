"""Models of the same operations with other inputs or outputs."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.graph import Model, Output, Parameter, Result
from hetero.system.errors import FrontendError
from hetero.system.messages import suggest


def with_outputs(model: Model, names: Sequence[str]) -> Model:
    """Return the part of a model that computes the tensors, or the results of the operations, of these names.

    Its inputs stay. Raises FrontendError if there is no such tensor.
    """
    by_name: dict[str, Output | Result] = {}
    for node in model.get_ordered_ops():
        if node.get_output_size() == 1:
            by_name.setdefault(node.friendly_name, node.output(0))
        for value in node.outputs():
            by_name |= dict.fromkeys(value.names, node if isinstance(node, Result) else value)
    for name in names:
        if name not in by_name:
            raise FrontendError(f"the model has no tensor '{name}': {suggest(name, by_name)}")
    return with_ports(model, [by_name[name] for name in names], model.parameters)


def with_ports(model: Model, results: Sequence[Output | Result], parameters: Sequence[Parameter]) -> Model:
    """Return a model of the same operations with other outputs or inputs."""
    changed = Model(results, parameters, model.friendly_name, sinks=model.sinks)
    changed.rt_info.update(model.rt_info)
    return changed
