"""A model of which not all is known before it runs, cut into what can run now and what comes later.

What waits are operations on shapes that an earlier one finds out (NonZero), those that are steered by contents which
the device computes (Reshape, the condition of an If), and those that the host runs itself (Loop). When the first part
has run, the host knows more, and what is left is a model of its own, with Parameters for the values that came before:
it is specialized, and cut, in its turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hetero.containers import ContainerType
from hetero.errors import GraphError
from hetero.graph import Constant, Model, Node, Output, Parameter, Result, is_constant
from hetero_opencl.kernels.registry import find_host_step


@dataclass
class Rest:
    """What comes later: a model whose Parameters stand for ``sources``, values of the part before.

    ``results`` are the places that its Results have among those of the model that was cut.
    """

    model: Model
    sources: list[Output]
    results: list[int]


@dataclass
class Cut:
    """``model`` runs now. Its Results are ``carried`` values, then those of the whole model at the places ``results``.

    Then the host runs ``host_steps`` in order, and after them the ``rest``, None where nothing is left.
    """

    model: Model
    carried: list[Output]
    results: list[int]
    host_steps: list[Node]
    rest: Rest | None


def is_container(port: Parameter | Result) -> bool:
    """Whether what comes in or goes out is a sequence or an optional, which the host holds: no program sees it."""
    return isinstance(port.get_output_element_type(0), ContainerType)


def cut(model: Model) -> Cut:
    """Cut a model that was specialized, which becomes parts of others.

    Raises GraphError where a shape depends on data in a way that no kernel finds out.
    """
    order = [node for node in model.get_ordered_ops() if not isinstance(node, Result)]
    now, host_steps = _what_runs_now(order)
    later = [node for node in order if node not in now and node not in host_steps]
    if not later and not host_steps:
        return Cut(model, [], list(range(len(model.results))), [], None)
    if not host_steps and all(isinstance(node, (Parameter, Constant)) for node in now):
        _fail(later[0])
    return _divide(model, now, host_steps, later)


def _what_runs_now(order: Sequence[Node]) -> tuple[dict[Node, None], dict[Node, None]]:
    now: dict[Node, None] = {}
    host_steps: dict[Node, None] = {}
    for node in order:
        if isinstance(node, (Parameter, Constant)):
            now[node] = None
        elif not _is_steered_by_constants(node):
            continue
        elif find_host_step(node) is None:
            if all(v.node in now and v.partial_shape.is_static for v in node.input_values()):
                now[node] = None
        elif all(v.node in now or v.node in host_steps for v in node.input_values()):
            host_steps[node] = None
    return now, host_steps


def _is_steered_by_constants(node: Node) -> bool:
    return all(is_constant(node.input_value(i)) for i in node.shape_inputs if i < node.get_input_size())


def _divide(model: Model, now: dict[Node, None], host_steps: dict[Node, None], later: Sequence[Node]) -> Cut:
    results = model.results
    here = [i for i, result in enumerate(results) if result.input_value(0).node in now]
    there = [i for i in range(len(results)) if i not in here]
    readers = [*later, *(results[i] for i in there)]
    read = dict.fromkeys(v for node in readers for v in node.input_values() if v.node in now or v.node in host_steps)
    sources = [value for value in read if not isinstance(value.node, Constant)]
    for_host = [v for node in host_steps for v in node.input_values()]
    carried = dict.fromkeys(v for v in (*sources, *for_host) if v.node in now)
    carried = [v for v in carried if not isinstance(v.node, (Parameter, Constant))]
    for node in host_steps:
        node.disconnect()  # to the kernels that make what it reads it is no reader
    parameters = [_stand_in(value, readers) for value in sources]
    name = model.friendly_name
    first = Model([*carried, *(results[i] for i in here)], model.parameters, name)
    rest = Model([results[i] for i in there], parameters, name)
    return Cut(first, carried, here, list(host_steps), Rest(rest, sources, there))


def _stand_in(value: Output, readers: Sequence[Node]) -> Parameter:
    """A Parameter that these nodes read in the place of a value."""
    parameter = Parameter(value.element_type, value.partial_shape, name=f"{value.node.friendly_name}.{value.index}")
    among = set(readers)
    for target in value.get_target_inputs():
        if target.node in among:
            target.replace_source_output(parameter.output(0))
    return parameter


def _fail(node: Node) -> None:
    shapes = ", ".join(str(value.partial_shape) for value in node.input_values())
    raise GraphError(f"{node.type_info.name} '{node.friendly_name}' needs shapes that depend on data: {shapes}")
