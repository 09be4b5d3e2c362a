"""Cutting a model at values that are known only at run time.

An operation must wait if its input shapes depend on data (after NonZero), if its output shape depends on the contents
of a computed tensor (the target shape of Reshape, the condition of If), or if it follows an operation that the host
runs (Loop). Once the first part has run, the rest becomes a model of its own, with Parameters for the values of the
first part. It is specialized and cut again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hetero.compiler import KnownLengths
from hetero.core.containers import ContainerType
from hetero.graph import Constant, Model, Node, Output, Parameter, Result
from hetero.system.errors import GraphError
from hetero_opencl.kernels.common.definition import is_host_step


@dataclass
class Rest:
    """Model of the operations that wait. Its Parameters stand for ``sources``, values of the part before.

    ``results`` are the indices of its Results among those of the model that was cut.
    """

    model: Model
    sources: list[Output]
    results: list[int]


@dataclass
class Cut:
    """First part of a model, the host steps after it, and the rest.

    The Results of ``model`` are ``carried``, then those Results of the whole model whose indices are in ``results``.
    ``host_steps`` run in order after it, then ``rest``, which is None if nothing is left.
    """

    model: Model
    carried: list[Output]
    results: list[int]
    host_steps: list[Node]
    rest: Rest | None

    @property
    def cause(self) -> str:
        """The operation because of which the model is cut; empty if it is not."""
        if self.host_steps:
            return f"{_named(self.host_steps[0])} runs on the host"
        if self.rest is None:
            return ""
        sources = [source for source in self.rest.sources if not isinstance(source.node, Parameter)]
        dynamic = [source.node for source in sources if source.partial_shape.is_dynamic]
        if dynamic:
            return f"the shape of {_named(dynamic[0])} depends on data"
        return (
            f"{_named(self.carried[0].node)} computes a shape from data" if self.carried else "shapes depend on inputs"
        )


def _named(node: Node) -> str:
    return f"{node.type_info.name} '{node.friendly_name}'"


def is_container(port: Parameter | Result) -> bool:
    """Return whether a port holds a sequence or an optional. These stay on the host; no program reads them."""
    return isinstance(port.get_output_element_type(0), ContainerType)


def cut(model: Model) -> Cut:
    """Cut a specialized model; its nodes are moved into the parts.

    Raises GraphError if a shape depends on data that no kernel and no host step provides.
    """
    order = [node for node in model.get_ordered_ops() if not isinstance(node, Result)]
    now, host_steps = _find_ready(order)
    later = [node for node in order if node not in now and node not in host_steps]
    if not later and not host_steps:
        return Cut(model, [], list(range(len(model.results))), [], None)
    if not host_steps and all(isinstance(node, (Parameter, Constant)) for node in now):
        node = later[0]
        shapes = ", ".join(str(value.partial_shape) for value in node.input_values())
        raise GraphError(f"{node.type_info.name} '{node.friendly_name}' needs shapes that depend on data: {shapes}")
    return _divide(model, now, host_steps, later)


def _find_ready(order: Sequence[Node]) -> tuple[dict[Node, None], dict[Node, None]]:
    """Return the nodes that can run as kernels now, and those that the host can run after them."""
    now: dict[Node, None] = {}
    host_steps: dict[Node, None] = {}
    for node in order:
        if isinstance(node, (Parameter, Constant, KnownLengths)):
            now[node] = None
        elif not all(_is_known(node.input_value(i)) for i in node.shape_inputs if i < node.get_input_size()):
            continue
        elif not is_host_step(node):
            if all(v.node in now and v.partial_shape.is_static for v in node.input_values()):
                now[node] = None
        elif all(v.node in now or v.node in host_steps for v in node.input_values()):
            host_steps[node] = None
    return now, host_steps


def _is_known(value: Output) -> bool:
    return isinstance(value.node, (Constant, KnownLengths))


def _divide(model: Model, now: dict[Node, None], host_steps: dict[Node, None], later: Sequence[Node]) -> Cut:
    results = model.results
    now_indices = [i for i, result in enumerate(results) if result.input_value(0).node in now]
    later_indices = [i for i in range(len(results)) if i not in now_indices]
    readers = [*later, *(results[i] for i in later_indices)]
    read = dict.fromkeys(v for node in readers for v in node.input_values() if v.node in now or v.node in host_steps)
    sources = [value for value in read if not isinstance(value.node, Constant)]
    for_host = [v for node in host_steps for v in node.input_values()]
    computed = dict.fromkeys(v for v in (*sources, *for_host) if v.node in now)
    carried = [v for v in computed if not isinstance(v.node, (Parameter, Constant))]
    for node in host_steps:
        node.disconnect()  # so that kernels do not see host steps as readers of their outputs
    parameters = [_replace_by_parameter(value, readers) for value in sources]
    name = model.friendly_name
    first = Model([*carried, *(results[i] for i in now_indices)], model.parameters, name)
    rest = Model([results[i] for i in later_indices], parameters, name)
    return Cut(first, carried, now_indices, list(host_steps), Rest(rest, sources, later_indices))


def _replace_by_parameter(value: Output, readers: Sequence[Node]) -> Parameter:
    """Create a Parameter and make these readers use it instead of the value."""
    parameter = Parameter(value.element_type, value.partial_shape, name=f"{value.node.friendly_name}.{value.index}")
    reader_set = set(readers)
    for target in value.get_target_inputs():
        if target.node in reader_set:
            target.replace_source_output(parameter.output(0))
    return parameter
