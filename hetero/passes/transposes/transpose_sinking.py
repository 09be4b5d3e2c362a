"""Move Transposes through operations, so that those of opposite order meet and cancel."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from hetero import ops
from hetero.graph import Constant, Model, Node, Output, Parameter, UniqueNames, constant_array
from hetero.graph.rt_info import AFFINITY, ORIGINAL_NAMES, original_names
from hetero.passes.transposes.transpose_orders import AxisOrders, Read, is_sorted
from hetero.passes.transposes.transpose_rules import Order, identity, set_constant


def sink_transposes(model: Model) -> bool:
    """Let operations work in the order of axes in which the fewest bytes are transposed.

    In a model of an NHWC framework each convolution stands between two Transposes; mostly one at each input and output
    of the network is left. Requires: shapes are inferred, and operations are of their newest versions, as older ones
    keep their order. Ensures: the bytes that Transposes move, plus 32 KiB for each Transpose, are no more than before;
    no Transpose reads another one; a Transpose that only moves dimensions of length 1 becomes a Reshape. Operations
    keep their names. A tensor name stays with the value of that layout, and disappears with it.
    """
    orders = AxisOrders(model)
    if not orders.transposed:
        return False
    orders.choose()
    return _Rewriter(orders).run()


class _Rewriter:
    """Changes the nodes of a model so that they work in the chosen orders."""

    def __init__(self, orders: AxisOrders) -> None:
        self._orders = orders
        # The outputs that hold a value in an order.
        self._outputs: dict[Read, Output] = {}
        # The Transposes of the model by their result.
        self._transposes: dict[Read, Node] = {}
        # The tensor names of values.
        self._names: dict[Read, set[str]] = defaultdict(set)
        self._reused: set[Node] = set()
        self._unique = UniqueNames(node.friendly_name for node in orders.nodes)
        self._changed = False

    def run(self) -> bool:
        for output, read in self._orders.transposed.items():
            self._transposes.setdefault(read, output.node)
            self._names[read] |= output.own_names
        for node in self._orders.nodes:
            if isinstance(node, ops.ShapeOf):
                self._rewrite_shape_of(node)
            elif not any(output in self._orders.transposed for output in node.outputs()):
                self._rewrite(node)
        self._remove_transposes()
        self._set_tensor_names()
        return self._changed

    def _rewrite(self, node: Node) -> None:
        orders, order = self._orders, self._orders.moved.get(node)
        for target in node.inputs():
            read = Read(orders.reads[node][target.index].value, orders.order_at(node, target.index))
            if read not in self._outputs:
                self._outputs[read] = self._create(read, node)
            value = self._outputs[read]
            if order is not None and target.index in orders.rules[node].inputs:
                value = self._align(value, node, target.index)
            self._connect(node, target.index, value)
        if order is None:
            return
        orders.rules[node].rewrite(node, order)
        node.infer()
        self._changed = True
        for output in node.outputs():
            if output in orders.layouts:
                self._names[Read(output, identity(len(output.partial_shape)))] |= output.own_names
                output.own_names = set()

    def _connect(self, node: Node, index: int, value: Output) -> None:
        if node.input_value(index) is not value:
            node.input(index).replace_source_output(value)
            self._changed = True

    def _align(self, value: Output, node: Node, index: int) -> Output:
        """Add the dimensions of length 1 that an input lacks, so that it broadcasts in the node's order."""
        rule, order, shape = self._orders.rules[node], self._orders.moved[node], value.partial_shape
        if not rule.lacks_axes(index) or shape == [1] * len(shape):
            return value
        axes = rule.inputs[index]
        first = min(map(order.index, axes))  # dimensions in front of it come by broadcasting
        added = [position - first for position, axis in enumerate(order) if position > first and axis not in axes]
        if not added:
            return value
        if (array := constant_array(value)) is not None:
            return self._add_constant(np.expand_dims(array, tuple(added)), value, "aligned")
        return self._add(ops.Unsqueeze(value, np.array(added, np.int64)), value, "aligned", node)

    def _rewrite_shape_of(self, node: Node) -> None:
        """Let ShapeOf read the value as it is, and bring the lengths into order by a Gather."""
        read = self._orders.reads[node][0]
        positions = self._orders.positions(read.value, read.order)
        self._connect(node, 0, read.value)
        if positions == identity(len(positions)):
            return
        node.infer()
        gather = ops.Gather(
            node, np.array(positions, np.int64), np.int64(0), name=self._unique.take(f"{node.name}/order")
        )
        _copy_affinity(node, gather)
        for target in node.output(0).get_target_inputs():
            if target.node is not gather:
                target.replace_source_output(gather.output(0))
        gather.output(0).own_names, node.output(0).own_names = node.output(0).own_names, set()
        self._outputs[Read(node.output(0), identity(1))] = gather.output(0)
        self._changed = True

    def _create(self, read: Read, reader: Node) -> Output:
        """Return a value in an order: as it is, or by a Transpose of the model, or by a new operation."""
        value = read.value
        positions = self._orders.positions(value, read.order)
        if positions == identity(len(positions)) or value.partial_shape == [1] * len(value.partial_shape):
            return value
        transpose = self._transposes.get(read)
        if transpose is None and (array := constant_array(value)) is not None:
            return self._add_constant(array.transpose(positions), value, "transposed")
        units = frozenset(axis for axis, length in enumerate(value.partial_shape) if length == 1)
        if is_sorted(positions, units):
            return self._reshape(value, positions, units, transpose, reader)
        if transpose is None:
            return self._add(ops.Transpose(value, np.array(positions, np.int64)), value, "transposed", reader)
        self._reused.add(transpose)
        if transpose.input_value(0) is not value or value in self._orders.layouts:
            self._connect(transpose, 0, value)
            set_constant(transpose, 1, np.array(positions, np.int64), "order")
            transpose.infer()
        return transpose.output(0)

    def _reshape(
        self, value: Output, positions: Order, units: frozenset[int], transpose: Node | None, reader: Node
    ) -> Output:
        """Move dimensions of length 1 without a Transpose, under the name of the Transpose that it replaces."""
        shape = value.partial_shape
        if all(shape[p].is_static or p == axis for axis, p in enumerate(positions)) and 0 not in list(shape):
            # 0 copies a length, so that the model can still get another batch.
            lengths = [0 if p == axis else shape[p].get_length() for axis, p in enumerate(positions)]
            moved: Node = ops.Reshape(value, np.array(lengths, np.int64), True)
        else:
            squeezed = self._add(ops.Squeeze(value, np.array(sorted(units), np.int64)), value, "squeezed", reader)
            added = [axis for axis, position in enumerate(positions) if position in units]
            moved = ops.Unsqueeze(squeezed, np.array(added, np.int64))
        if transpose is None:
            return self._add(moved, value, "aligned", reader)
        moved.friendly_name = transpose.friendly_name
        moved.rt_info.update(transpose.rt_info)
        self._reused.add(transpose)
        self._changed = True
        return moved.output(0)

    def _add_constant(self, data: np.ndarray, source: Output, what: str) -> Output:
        self._changed = True
        name = self._unique.take(f"{source.node.friendly_name}/{what}")
        return Constant(np.ascontiguousarray(data), name=name).output(0)

    def _add(self, node: Node, source: Output, what: str, reader: Node) -> Output:
        """Name a new node, and give it the affinity of the node before it, or else of the one that reads it."""
        node.friendly_name = self._unique.take(f"{source.node.friendly_name}/{what}")
        _copy_affinity(source.node if AFFINITY in source.node.rt_info else reader, node)
        self._changed = True
        return node.output(0)

    def _remove_transposes(self) -> None:
        """Remove the Transposes that are not used; the node before each stands for it."""
        for output, read in self._orders.transposed.items():
            transpose, producer = output.node, read.value.node
            if transpose in self._reused and transpose.output(0) is self._outputs[read]:
                continue
            self._changed = True
            transpose.disconnect()
            if transpose not in self._reused and not isinstance(producer, (Parameter, Constant)):
                names = dict.fromkeys([*original_names(producer), *original_names(transpose)])
                producer.rt_info[ORIGINAL_NAMES] = tuple(names)
                # Frontends name the last node of an operator ``name``, and the nodes before it ``name/Type``.
                if producer.friendly_name.startswith(f"{transpose.friendly_name}/"):
                    producer.friendly_name = transpose.friendly_name

    def _set_tensor_names(self) -> None:
        for read, names in self._names.items():
            holder = self._outputs.get(read)
            layout = self._orders.layouts.get(read.value, identity(len(read.order)))
            if holder is None and layout == read.order:
                holder = read.value
            if holder is not None:
                holder.own_names |= names


def _copy_affinity(source: Node, target: Node) -> None:
    if AFFINITY in source.rt_info:
        target.rt_info[AFFINITY] = source.rt_info.get(AFFINITY)
