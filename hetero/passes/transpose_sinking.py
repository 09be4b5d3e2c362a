"""Move Transposes through operations, so that those of opposite order meet and are gone."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from hetero import ops
from hetero.graph import Constant, Model, Node, Output, Parameter, is_constant
from hetero.graph.runtime_info import AFFINITY, ORIGINAL_NAMES, original_names
from hetero.passes.axis_orders import Order, unchanged
from hetero.passes.transpose_costs import NEW, Orders, Read, rises
from hetero.passes.transpose_rules import set_constant
from hetero.passes.transpose_search import find_orders
from hetero.shape import PartialShape


def sink_transposes(model: Model) -> bool:
    """Let operations work on data in the order of axes that takes the fewest bytes to be transposed.

    For models of NHWC frameworks, in which each convolution stands between Transposes: one at each input and output of
    the network is left. Requires: shapes are inferred. Ensures: what Transposes move, in bytes, is not more than
    before; no Transpose reads another one, and none keeps the order of all dimensions but those of length 1, for which
    there is a Reshape if the shape is known well enough. Operations keep their names; a tensor name stays with the
    value that has that layout, and is gone where there is none such.
    """
    orders = Orders(model)
    if not orders.transposed:
        return False
    find_orders(orders)
    return _Rewriting(orders).run()


class _Rewriting:
    """Changes the nodes of a model so that they work in the orders that were found."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        #: The values that were asked for, by what they are.
        self._made: dict[Read, Output] = {}
        self._transposes: dict[Read, Node] = {}
        self._names: dict[Read, set[str]] = defaultdict(set)
        self._used: set[Node] = set()
        self._taken_names = {node.friendly_name for node in orders.nodes}
        self._changed = False

    def run(self) -> bool:
        for output, read in self._orders.transposed.items():
            self._transposes.setdefault(read, output.node)
            self._names[read] |= output.names
        for node in self._orders.nodes:
            if not any(output in self._orders.transposed for output in node.outputs()):
                self._rewrite(node)
        self._leave_out_transposes()
        self._give_names()
        return self._changed

    def _rewrite(self, node: Node) -> None:
        if isinstance(node, ops.ShapeOfV1):
            return self._rewrite_shape(node)
        for target in node.inputs():
            read = self._orders.read_at(node, target.index)
            self._connect(node, target.index, self._value(read.value, self._orders.order_at(node, target.index), node))
        order = self._orders.moved.get(node)
        if order is not None:
            self._orders.movements[node].rewrite(node, order)
            node.infer()
            self._changed = True
            for output in node.outputs():
                if output in self._orders.layouts:
                    self._names[Read(output, unchanged(len(output.partial_shape)))] |= output.names
                    output.names = set()

    def _connect(self, node: Node, index: int, value: Output) -> None:
        if node.input_value(index) is not value:
            node.input(index).replace_source_output(value)
            self._changed = True

    def _rewrite_shape(self, node: Node) -> None:
        """A shape is read of the value as it is, and its lengths are brought into order."""
        read = self._orders.read_at(node, 0)
        places = self._orders.places(read.value, read.order)
        self._connect(node, 0, read.value)
        if places == unchanged(len(places)):
            return
        node.infer()
        lengths = ops.Gather(node, np.array(places, np.int64), np.int64(0), name=self._new_name(f"{node.name}/order"))
        self._copy_affinity(node, lengths)
        for target in node.output(0).get_target_inputs():
            if target.node is not lengths:
                target.replace_source_output(lengths.output(0))
        lengths.output(0).names, node.output(0).names = node.output(0).names, set()
        self._made[Read(node.output(0), unchanged(1))] = lengths.output(0)
        self._changed = True

    def _value(self, value: Output, order: Order, reader: Node) -> Output:
        """A value in an order of axes."""
        wanted = Read(value, order)
        if wanted not in self._made:
            self._made[wanted] = self._make(wanted, reader)
        return self._made[wanted]

    def _make(self, wanted: Read, reader: Node) -> Output:
        value = wanted.value
        places = self._orders.places(value, wanted.order)
        if places == unchanged(len(places)) or value.partial_shape == [1] * len(value.partial_shape):
            return value
        transpose = self._transposes.get(wanted)
        if is_constant(value) and transpose is None:
            return self._constant(value.node.data, places, value.node)
        if rises([place for place in places if place != NEW and value.partial_shape[place] != 1]):
            return self._reshape(value, places, transpose, reader)
        if NEW in places:
            return self._with_new_dimensions(value, places, reader)
        if transpose is None:
            return self._added(ops.Transpose(value, np.array(places, np.int64)), value, "transposed", reader)
        self._used.add(transpose)
        if transpose.input_value(0) is not value or value in self._orders.layouts:
            self._connect(transpose, 0, value)
            set_constant(transpose, 1, np.array(places, np.int64), "order")
            transpose.infer()
        return transpose.output(0)

    def _constant(self, data: np.ndarray, places: Order, source: Node) -> Output:
        axes = tuple(place for place in places if place != NEW)
        moved = np.expand_dims(data.transpose(axes), [k for k, place in enumerate(places) if place == NEW])
        constant = Constant(np.ascontiguousarray(moved), name=self._new_name(f"{source.name}/transposed"))
        self._changed = True
        return constant.output(0)

    def _with_new_dimensions(self, value: Output, places: Order, reader: Node) -> Output:
        axes = tuple(place for place in places if place != NEW)
        value = self._added(ops.Transpose(value, np.array(axes, np.int64)), value, "transposed", reader)
        new = np.array([k for k, place in enumerate(places) if place == NEW], np.int64)
        return self._added(ops.Unsqueeze(value, new), value, "aligned", reader)

    def _reshape(self, value: Output, places: Order, transpose: Node | None, reader: Node) -> Output:
        """What moves dimensions of length 1 only, under the name of the Transpose whose place it takes."""
        lengths = [self._length(value.partial_shape, place, k) for k, place in enumerate(places)]
        if None in lengths:
            ones = [axis for axis, length in enumerate(value.partial_shape) if length == 1]
            if ones:
                value = self._added(ops.Squeeze(value, np.array(ones, np.int64)), value, "squeezed", reader)
            ones = [k for k, place in enumerate(places) if place in (NEW, *ones)]
            moved: Node = ops.Unsqueeze(value, np.array(ones, np.int64))
        else:
            moved = ops.Reshape(value, np.array(lengths, np.int64), True)
        if transpose is None:
            return self._added(moved, value, "aligned", reader)
        moved.friendly_name = transpose.friendly_name
        moved.rt_info.update(transpose.rt_info)
        self._used.add(transpose)
        self._changed = True
        return moved.output(0)

    @staticmethod
    def _length(shape: PartialShape, place: int, axis: int) -> int | None:
        """What a Reshape that copies where there is a 0 needs for a dimension; None where there is no such number."""
        if place == NEW:
            return 1
        if shape[place].is_static:
            return shape[place].get_length() or None
        return 0 if place == axis else None

    def _added(self, node: Node, value: Output, what: str, reader: Node) -> Output:
        """The output of a new node, which goes where the one before it goes, or else the one that reads it."""
        node.friendly_name = self._new_name(f"{value.node.friendly_name}/{what}")
        self._copy_affinity(value.node if AFFINITY in value.node.rt_info else reader, node)
        self._changed = True
        return node.output(0)

    @staticmethod
    def _copy_affinity(source: Node, target: Node) -> None:
        if AFFINITY in source.rt_info:
            target.rt_info[AFFINITY] = source.rt_info[AFFINITY]

    def _new_name(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self._taken_names:
            name, number = f"{wanted}_{number}", number + 1
        self._taken_names.add(name)
        return name

    def _leave_out_transposes(self) -> None:
        """Let what makes the data of a Transpose that is gone stand for it."""
        for output, read in self._orders.transposed.items():
            transpose, maker = output.node, read.value.node
            if transpose in self._used and transpose.output(0) is self._made[read]:
                continue
            self._changed = True
            transpose.disconnect()
            if transpose not in self._used and not isinstance(maker, (Parameter, Constant)):
                names = dict.fromkeys([*original_names(maker), *original_names(transpose)])
                maker.rt_info[ORIGINAL_NAMES] = tuple(names)
                # Frontends call a node of a file what it ends with, and what is before that the same with its type.
                if maker.friendly_name.startswith(f"{transpose.friendly_name}/"):
                    maker.friendly_name = transpose.friendly_name

    def _give_names(self) -> None:
        """Let the values that there are have the names of what they are."""
        for read, names in self._names.items():
            holder = self._made.get(read)
            layout = self._orders.layouts.get(read.value, unchanged(len(read.order)))
            if holder is None and layout == read.order:
                holder = read.value
            if holder is not None:
                holder.names |= names
