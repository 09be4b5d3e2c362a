"""Inlining of graphs in which torch records gradients or not, a difference that inference does not have."""

from __future__ import annotations

from dataclasses import replace

from hetero.frontend.pytorch.decoded import Argument, TorchGraph, TorchNode, ValueRef

# The operator that such a graph is an argument of.
GRADIENT_MODE = "higher_order::wrap_with_set_grad_enabled"


def inline_gradient_modes(graph: TorchGraph) -> TorchGraph:
    """Return a graph with the operators of such graphs in the place of the calls."""
    nodes: list[TorchNode] = []
    tensors = dict(graph.tensors)
    for node in graph.nodes:
        if node.op_type != GRADIENT_MODE:
            nodes.append(replace(node, inputs={key: _inlined(argument) for key, argument in node.inputs.items()}))
            continue
        (inner,) = node.graphs()
        inner = inline_gradient_modes(inner)
        outer = [argument for argument in node.inputs.values() if isinstance(argument, ValueRef)]
        names = {name: value.name for name, value in zip(inner.inputs, outer, strict=True)}
        for inner_node in inner.nodes:
            names |= {name: f"{node.name}/{name}" for name in inner_node.outputs if name is not None}
            nodes.append(_renamed(inner_node, names))
        tensors |= {names[name]: tensor for name, tensor in inner.tensors.items() if name in names}
        for name, value in zip(node.outputs, inner.outputs):
            inputs = {"self": _read(value, names)}
            nodes.append(TorchNode(f"{node.name}/{name}", "aten::alias", inputs, [name], overload="default"))
    return replace(graph, nodes=nodes, tensors=tensors)


def _inlined(argument: Argument) -> Argument:
    return inline_gradient_modes(argument) if isinstance(argument, TorchGraph) else argument


def _renamed(node: TorchNode, names: dict[str, str]) -> TorchNode:
    inputs = {key: _read(argument, names) for key, argument in node.inputs.items()}
    outputs = [None if name is None else names[name] for name in node.outputs]
    return replace(node, inputs=inputs, outputs=outputs)


def _read(argument: Argument, names: dict[str, str]) -> Argument:
    """Return an argument with the names of the outer graph."""
    if isinstance(argument, ValueRef):
        return ValueRef(names.get(argument.name, argument.name))
    return [_read(part, names) for part in argument] if isinstance(argument, list) else argument
