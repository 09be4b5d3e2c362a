"""Operations alone: what a device supports of a model if other devices run the operations around it.

A device may support an operation only with its neighbors, such as a product of integers whose result is converted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hetero.core.containers import ContainerType
from hetero.graph import Constant, Model, Node, Output, Parameter, is_terminal
from hetero.graph.rt_info import original_names
from hetero.ops.checks import is_exact
from hetero.passes.constant_folding import constant_nodes
from hetero.plugin.query import QueryResult

#: Answers a query about a model.
Query = Callable[[Model], Mapping[str, str]]


def drop_dependent(model: Model, result: QueryResult, query: Query) -> None:
    """Refuse the operations of a query's result that the device does not support alone."""
    for node in model.get_ordered_ops():
        name = node.friendly_name
        if name not in result or is_terminal(node) or not node.outputs() or all(map(_is_known, node.outputs())):
            continue
        if getattr(node, "variable_info", None) is not None:
            continue  # devices judge the operations of a variable together
        alone = _alone(node)
        if alone is not None and name not in query(alone):
            result.refuse_alone([name])


def drop_folded(model: Model, transformed: Model, result: QueryResult, query: Query) -> None:
    """Judge alone the operations that a transformed model lacks because it has decided an If or a Loop.

    A cut may keep the decision apart. What only branches never taken read, and the device does not support alone, it
    gets with its readers only: ``result.with_readers``. Other such operations are refused.
    """
    operations, nodes = model.get_ordered_ops(), transformed.get_ordered_ops()
    if not any(node.bodies for node in operations):
        return
    kept = {name for node in nodes if not is_terminal(node) for name in original_names(node)}
    with_bodies = {name for node in nodes if node.bodies for name in original_names(node)}
    folded_anywhere = constant_nodes(operations)
    inside, unread = set(operations), set[Node]()
    for node in reversed(operations):
        name = node.friendly_name
        if is_terminal(node) or name in kept or name not in result or node in folded_anywhere:
            continue
        targets = [target.node for output in node.outputs() for target in output.get_target_inputs()]
        readers = [reader for reader in targets if reader in inside]
        if readers and all(r in unread or (r.bodies and r.friendly_name not in with_bodies) for r in readers):
            unread.add(node)
        alone = _alone(node)
        if alone is None or all(map(_is_known, node.outputs())) or name in query(alone):
            continue
        if node in unread:
            result.with_readers.add(name)
        else:
            result.refuse_alone([name])


def _is_known(output: Output) -> bool:
    return is_exact(output.value)


def _alone(node: Node) -> Model | None:
    """Return a model of a node alone, None if it has bodies, which devices judge as a whole."""
    if node.bodies:
        return None
    inputs: dict[Output, Node] = {}
    for value in node.input_values():
        if isinstance(value.element_type, ContainerType):
            return None
        if value not in inputs:
            known = value.node.data if isinstance(value.node, Constant) else value.value if _is_known(value) else None
            inputs[value] = Parameter(value.element_type, value.partial_shape) if known is None else Constant(known)
    copy = node.clone_with_new_inputs([inputs[value].output(0) for value in node.input_values()])
    copy.friendly_name = node.friendly_name
    parameters = [source for source in inputs.values() if isinstance(source, Parameter)]
    results = [made for made, output in zip(copy.outputs(), node.outputs()) if output.get_target_inputs()]
    return Model(results or copy.outputs(), parameters, node.friendly_name)
