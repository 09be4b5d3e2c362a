"""Fusion of element-wise operations with each other and with the operation before them, into Fused.

An element-wise node joins the group of its readers when all of them are in one group and its output has the group's
shape. So every path from a node of a group to the group's last node, its root, stays inside, and the group can run
as one kernel that writes only the root's output. A group that reads the output of an anchor, such as a convolution,
which nothing else reads, becomes the anchor's epilogue.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hetero import ops
from hetero.graph import Constant, Model, Node, Output, Parameter
from hetero.graph.rt_info import copy_rt_info


@dataclass(frozen=True)
class FusionRules:
    """The operations that a device can run as one.

    ``takes_epilogue``: whether the kernels of an anchor can run a group of element-wise nodes on its output.
    ``prologue``: the nodes before an anchor that its kernels run, in order; they must have no other reader.
    ``joins``: whether a node, all readers of which are in a group, may be the first node of the group.
    ``max_inputs`` and ``max_nodes`` limit a group: kernels have a limited number of arguments, and build time grows
    faster than linearly with the number of nodes.
    """

    is_elementwise: Callable[[Node], bool]
    takes_epilogue: Callable[[Node, Sequence[Node]], bool] = lambda anchor, group: False
    prologue: Callable[[Node], Sequence[Node]] = lambda anchor: ()
    joins: Callable[[Node, Sequence[Node]], bool] = lambda node, group: True
    max_inputs: int = 24
    max_nodes: int = 64


@dataclass(eq=False)
class _Group:
    """Element-wise nodes in order; the last one is the root. ``anchor`` computes a value that only they read."""

    nodes: list[Node]
    anchor: Node | None = None
    prologue: Sequence[Node] = field(default_factory=list)

    @property
    def root(self) -> Node:
        return self.nodes[-1]

    def inputs(self) -> list[Output]:
        """Return the values that come from outside the group, each once."""
        inside = set(self.nodes)
        return list(dict.fromkeys(v for node in self.nodes for v in node.input_values() if v.node not in inside))


def fuse_elementwise(model: Model, rules: FusionRules) -> bool:
    """Replace element-wise operations, and anchors with a prologue or an epilogue, by Fused operations.

    Requires: all shapes are static. Returns whether it changed anything.
    """
    order = model.get_ordered_ops()
    prologues = {node: nodes for node in order if (nodes := rules.prologue(node))}
    taken = {node for nodes in prologues.values() for node in nodes}
    groups = _find_groups([node for node in order if node not in taken], rules)
    position = {node: index for index, node in enumerate(order)}
    for group in groups:
        group.anchor = _anchor_of(group, rules, position)
    anchored = {group.anchor for group in groups}
    groups += [_Group([], anchor) for anchor in prologues if anchor not in anchored]
    for group in groups:
        if group.anchor is not None:
            group.prologue = prologues.get(group.anchor, ())
        _fuse(group)
    return bool(groups)


def _find_groups(order: Sequence[Node], rules: FusionRules) -> list[_Group]:
    group_of: dict[Node, _Group] = {}
    for node in reversed(order):
        if rules.is_elementwise(node):
            group = group_of[node] = _group_of_readers(node, group_of, rules) or _Group([])
            group.nodes.insert(0, node)
    return list(dict.fromkeys(group_of.values()))


def _group_of_readers(node: Node, group_of: dict[Node, _Group], rules: FusionRules) -> _Group | None:
    groups = {group_of.get(target.node) for target in node.output(0).get_target_inputs()}
    group = groups.pop() if len(groups) == 1 else None
    if group is None or len(group.nodes) == rules.max_nodes or group.root.output(0).shape != node.output(0).shape:
        return None
    if len(_Group([node, *group.nodes]).inputs()) > rules.max_inputs or not rules.joins(node, group.nodes):
        return None
    return group


def _anchor_of(group: _Group, rules: FusionRules, position: dict[Node, int]) -> Node | None:
    """Return the last anchor whose output only the group reads and whose kernels can run the group."""
    inside = set(group.nodes)
    anchors = [
        value.node
        for value in group.inputs()
        if value.shape == group.root.output(0).shape
        and all(target.node in inside for target in value.get_target_inputs())
        and len(value.node.outputs()) == 1
        and rules.takes_epilogue(value.node, group.nodes)
    ]
    return max(anchors, key=position.__getitem__, default=None)


def _fuse(group: _Group) -> None:
    """Move the nodes of a group to the body of a Fused node that replaces them."""
    anchor = [group.anchor] if group.anchor is not None else []
    nodes = [*group.prologue, *anchor, *group.nodes]
    inside, result = set(nodes), nodes[-1].output(0)
    readers = result.get_target_inputs()
    parameters: dict[Output, Parameter] = {}
    for value in dict.fromkeys(v for node in nodes for v in node.input_values() if v.node not in inside):
        own: Constant | Parameter
        if isinstance(value.node, Constant):
            own = Constant(value.node.contents)
        else:
            own = parameters[value] = Parameter(value.element_type, value.partial_shape)
        for target in value.get_target_inputs():
            if target.node in inside:
                target.replace_source_output(own.output(0))
    for reader in readers:
        result.remove_target_input(reader)
    fused = ops.Fused(list(parameters), Model(result, list(parameters.values())), group.anchor)
    fused.friendly_name = (anchor or nodes[-1:])[0].friendly_name
    copy_rt_info(nodes, fused)
    fused.output(0).names = set(result.own_names)
    result.hand_over(fused.output(0))
    for reader in readers:
        reader.replace_source_output(fused.output(0))
