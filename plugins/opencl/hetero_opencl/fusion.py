"""Operation fusion: chains of element-wise operations, and bias additions into the preceding product.

An element-wise node joins the group of its readers when all of them are in one group and its output has the group's
shape. So every path from a node of a group to the group's last node, its root, stays inside: the group
can run as one kernel that writes only the root's output.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hetero import ops
from hetero.graph import Model, Node, Output, constant_array, is_constant
from hetero.types import Type
from hetero_opencl.kernels.expressions import is_elementwise
from hetero_opencl.kernels.product import SMALL_INTEGERS

# Maximum number of inputs of a group: every device supports this many kernel arguments.
MOST_INPUTS = 24
# Maximum number of nodes of a group. Build time grows faster than linearly with it, and larger groups are not faster.
MOST_NODES = 64
_CONVOLUTIONS = (ops.Convolution, ops.GroupConvolution)


@dataclass
class Group:
    """Element-wise nodes in order. The last one is the root; the group writes only its output."""

    nodes: list[Node]

    @property
    def root(self) -> Node:
        return self.nodes[-1]

    def inputs(self) -> list[Output]:
        """Return the values that come from outside the group, each once."""
        inside = set(self.nodes)
        return list(dict.fromkeys(v for node in self.nodes for v in node.input_values() if v.node not in inside))


@dataclass
class Fusion:
    """The fusions of a model.

    ``groups`` maps each root to its group. ``absorbed`` are the nodes that another node computes. ``bias_of`` maps a
    product to the bias Add after it, ``widened`` to the Converts of small integers before it, with the Subtract of a
    zero point.
    """

    groups: dict[Node, Group] = field(default_factory=dict)
    absorbed: set[Node] = field(default_factory=set)
    bias_of: dict[Node, Node] = field(default_factory=dict)
    widened: dict[Node, list[Node]] = field(default_factory=dict)

    def computed_with(self, node: Node) -> list[Node]:
        """Return the nodes that are computed together with a node, itself included, in order."""
        if node in self.groups:
            return self.groups[node].nodes
        return [*self.widened.get(node, []), node, *([self.bias_of[node]] if node in self.bias_of else [])]

    def factors_of(self, node: Node) -> list[Output]:
        """Return the inputs of a product, or the values before their Converts if those are fused."""
        widened, values = self.widened.get(node, []), node.input_values()
        for widening in reversed(widened):
            values = [widening.input_value(0) if value.node is widening else value for value in values]
        return values

    def zero_point_of(self, node: Node) -> int:
        """Return the zero point that a convolution subtracts from its image, 0 if none."""
        subtract = node.input_value(0).node
        if type(subtract) is not ops.Subtract or subtract not in self.widened.get(node, []):
            return 0
        zero_point = constant_array(subtract.input_value(1))
        return 0 if zero_point is None else zero_point.item()

    def result_of(self, node: Node) -> Output:
        """Return the value that a product writes: its own output, or that of the bias Add."""
        return self.bias_of.get(node, node).output(0)


def find_fusions(model: Model) -> Fusion:
    """Find the fusions of a model of static shapes."""
    fusion = Fusion()
    order = model.get_ordered_ops()
    for node in order:
        add = _bias_add(node)
        if add is not None:
            fusion.bias_of[node] = add
            fusion.absorbed.add(add)
        widening = _widening(node)
        if widening:
            fusion.widened[node] = widening
            fusion.absorbed.update(widening)
    group_of: dict[Node, Group] = {}
    for node in reversed(order):
        if not is_elementwise(node) or node in fusion.absorbed:
            continue
        group = _group_of_readers(node, group_of)
        if group is None:
            group = fusion.groups[node] = Group([])
        else:
            fusion.absorbed.add(node)
        group.nodes.insert(0, node)
        group_of[node] = group
    return fusion


def _group_of_readers(node: Node, group_of: dict[Node, Group]) -> Group | None:
    readers = [target.node for target in node.output(0).get_target_inputs()]
    groups = {id(group_of.get(reader)): group_of.get(reader) for reader in readers}
    if len(groups) != 1:
        return None
    (group,) = groups.values()
    if group is None or len(group.nodes) == MOST_NODES or group.root.output(0).shape != node.output(0).shape:
        return None
    merged = Group([node, *group.nodes])
    return group if len(merged.inputs()) <= MOST_INPUTS else None


def _bias_add(node: Node) -> Node | None:
    """Return the only reader of a product if it adds a constant per channel (of a MatMul: per column), else None."""
    if not isinstance(node, (*_CONVOLUTIONS, ops.MatMul)):
        return None
    readers = node.output(0).get_target_inputs()
    if len(readers) != 1 or type(readers[0].node) is not ops.Add:
        return None
    add = readers[0].node
    bias = add.input_value(1 - readers[0].index)
    shape = node.output(0).shape
    if (
        not is_constant(bias)
        or add.output(0).shape != shape
        or add.output(0).element_type is not node.get_element_type()
    ):
        return None
    axis = len(shape) - 1 if isinstance(node, ops.MatMul) else 1
    wanted = [1] * len(shape)
    if not shape:
        return None
    wanted[axis] = shape[axis]
    padded = [1] * (len(shape) - len(bias.shape)) + list(bias.shape)
    return add if padded == wanted else None


def _widening(node: Node) -> list[Node]:
    """Return the nodes before a product of i32 that convert small integers to i32 and have no other reader.

    These are Converts, and the Subtract of a zero point.
    """
    if type(node) not in (ops.MatMul, *_CONVOLUTIONS) or node.get_element_type() is not Type.i32:
        return []
    found: list[Node] = []
    for value in node.input_values():
        if _is_widening_convert(value.node):
            found.append(value.node)
        elif value.node is node.input_value(0).node and _takes_zero_point(node):
            found += [value.node.input_value(0).node, value.node]
    return found


def _takes_zero_point(convolution: Node) -> bool:
    """Return whether the image is small integers minus a constant of their range, and the filters are constant."""
    subtract = convolution.input_value(0).node
    if type(convolution) not in _CONVOLUTIONS or type(subtract) is not ops.Subtract or not _has_one_reader(subtract):
        return False
    number, zero_point = subtract.input_value(0), constant_array(subtract.input_value(1))
    if not _is_widening_convert(number.node) or zero_point is None or not is_constant(convolution.input_value(1)):
        return False
    limits = np.iinfo(number.node.get_input_element_type(0).to_dtype())
    return zero_point.size == 1 and limits.min <= zero_point.item() <= limits.max


def _is_widening_convert(node: Node) -> bool:
    return type(node) is ops.Convert and node.get_input_element_type(0) in SMALL_INTEGERS and _has_one_reader(node)


def _has_one_reader(node: Node) -> bool:
    return len(node.output(0).get_target_inputs()) == 1
