"""Turning variables into model inputs and outputs: programs hold no state, requests do.

A variable that grows, such as the keys or values of a decoder, is ReadValue → (Gather of beams) → Concat → Assign. Its
memory has the axis of the Concat first, so that an inference only writes the new rows behind the others. OpenVINO's
plugin for processors has its caches in this order too. A cache, an input of the model that an output continues, grows
in the same way if a request has one tensor for both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Constant, Model, Node, Output, Parameter, Result, VariableInfo, constant_array, copy_rt_info
from hetero.ops.control_flow.variables import AssignV3, ReadValue, ReadValueV3, VariableOp
from hetero_opencl.kernels.movement.concatenation import Append
from hetero_opencl.kernels.movement.items import ChooseItems


def variable_unsupported_reason(node: VariableOp) -> str | None:
    """Return the reason why the variable of a node is not supported, or None."""
    kind = node.variable_info.data_type
    return f"a variable cannot hold elements of type {kind}" if kind.is_dynamic() or kind is Type.string else None


class Growth(NamedTuple):
    """How a variable grows in each inference: at the end of one axis.

    ``order`` has the axes as they are in its memory, the growing one first. ``beams`` is the index of the model's input
    with the numbers of the batch's items that go on, None if all do, in order.
    """

    order: tuple[int, ...]
    beams: int | None = None

    @classmethod
    def along(cls, axis: int, rank: int, beams: int | None = None) -> Growth:
        """Return the growth of a value of a rank along an axis."""
        return cls((axis, *(other for other in range(rank) if other != axis)), beams)

    @property
    def inverse(self) -> tuple[int, ...]:
        """The places of the axes in ``order``."""
        return tuple(np.argsort(self.order).tolist())


class CachePorts(NamedTuple):
    """The indices of an input and of the output that continues it, what a tensor for both holds, and how it grows."""

    input: int
    output: int
    info: VariableInfo
    growth: Growth


def find_growing(model: Model) -> dict[str, Growth]:
    """Return the variables that grow in place. All that have beams have the same ones."""
    order = model.get_ordered_ops()
    found = {}
    for variable in model.variables:
        same = [n for n in order if isinstance(n, VariableOp) and n.variable_id == variable.info.variable_id]
        assigns: list[VariableOp] = [node for node in same if isinstance(node, AssignV3)]
        reads = [node for node in same if node not in assigns]
        if len(reads) == len(assigns) == 1 and (growth := _growth(model, reads[0], assigns[0])):
            found[variable.info.variable_id] = growth
    beams = {growth.beams for growth in found.values()} - {None}
    return found if len(beams) < 2 else {name: growth for name, growth in found.items() if growth.beams is None}


def _growth(model: Model, read: VariableOp, assign: VariableOp) -> Growth | None:
    concat, kept = assign.input_value(0).node, read.output(0)
    if type(concat) is not ops.Concat or not read.variable_info.data_shape.has_rank:
        return None
    rank, gather, beams = len(read.variable_info.data_shape), concat.input_value(0).node, None
    axis = concat.axis % rank
    if type(gather) is ops.Gather and gather.input_value(0) == kept:
        chosen = gather.input_value(1).node
        is_of_batch = constant_array(gather.input_value(2)) == 0 and len(gather.get_input_partial_shape(1)) == 1
        if not is_of_batch or axis == 0 or chosen not in model.parameters or not _only_asks_shape(kept, gather):
            return None
        beams, kept = model.parameters.index(chosen), gather.output(0)
    return Growth.along(axis, rank, beams) if _continues(concat, kept) else None


def _continues(concat: Node, value: Output) -> bool:
    """Return whether a Concat continues a value of which all others want nothing but the shape."""
    is_first = concat.input_value(0) == value and concat.input_values().count(value) == 1
    return is_first and _only_asks_shape(value, concat)


def _only_asks_shape(value: Output, reader: Node) -> bool:
    """Return whether all nodes but a reader want nothing but the shape of a value."""
    return all(t.node is reader or isinstance(t.node, ops.ShapeOfV1) for t in value.get_target_inputs())


def expose_variables(
    model: Model, has_value: Sequence[bool], growing: Mapping[str, Growth] | None = None
) -> tuple[Model, list[str], list[str]]:
    """Return a copy of the model in which variables are additional inputs and outputs, or the model if it has none.

    ``has_value`` says for each of the model's variables whether it has been assigned. Such variables become inputs; the
    others are replaced by their initial value. Also returns the ids of the variables behind the added inputs and behind
    the added outputs.

    Those that are ``growing`` have their axes in the order of their memory. If some of them have beams, there is one
    more input, the last one: the items of the batch in each row, as ChooseItems takes them.
    """
    if not has_value:
        return model, [], []
    copy, growing = model.clone(), growing or {}
    order = copy.get_ordered_ops()
    inputs = []
    items = Parameter(Type.i32, [-1, -1], name="items")
    # First the assigned values, as one may be the old value of another variable. The last Assign of a variable counts.
    assigns = [node for node in order if isinstance(node, AssignV3)]
    results = {node.variable_id: Result(node.input_value(0)) for node in assigns}
    copy.add_results([*results.values()])
    for node in assigns:
        node.output(0).replace(node.input_value(0))
        if node in copy.sinks:
            copy.remove_sink(node)
        node.disconnect()
    for variable, is_set in zip(model.variables, has_value):
        info, growth = variable.info, growing.get(variable.info.variable_id)
        reads = [n for n in order if isinstance(n, (ReadValueV3, ReadValue)) and n.variable_id == info.variable_id]
        if is_set and reads:
            shape = info.data_shape if growth is None else [info.data_shape[axis] for axis in growth.order]
            parameter = Parameter(info.data_type, shape, name=info.variable_id)
            copy.add_parameters([parameter])
            inputs.append(info.variable_id)
        if growth is not None:
            result = results[info.variable_id].input(0)
            if is_set:
                concat = result.get_source_output().node
                result.replace_source_output(_append(parameter, reads[0], concat, growth, items))
                continue
            result.replace_source_output(_transposed(result.get_source_output(), growth.order))
        for read in reads:
            read.output(0).replace(parameter.output(0) if is_set else _initial_value(read))
            read.disconnect()
    if items.output(0).get_target_inputs():
        copy.add_parameters([items])
    copy.validate_nodes_and_infer_types()
    return copy, inputs, [*results]


def find_caches(model: Model) -> list[CachePorts]:
    """Return the inputs that an output continues along an axis, in the order of the outputs."""
    found: list[CachePorts] = []
    for index, result in enumerate(model.results):
        concat = result.input_value(0).node
        if type(concat) is not ops.Concat:
            continue
        value = concat.input_value(0)
        cache, kind, shape = value.node, value.element_type, value.partial_shape
        if cache not in model.parameters or kind.is_dynamic() or not shape.has_rank or not _continues(concat, value):
            continue
        axis = concat.axis % len(shape)
        if shape[axis].is_dynamic:
            info = VariableInfo(cache.friendly_name, kind, shape)
            found.append(CachePorts(model.parameters.index(cache), index, info, Growth.along(axis, len(shape))))
    return found


def append_to_caches(model: Model, caches: Sequence[CachePorts]) -> Model:
    """Return a copy of the model that appends to caches, whose axes are in the order of their memory."""
    copy = model.clone()
    for cache in caches:
        before, result = copy.parameters[cache.input], copy.results[cache.output].input(0)
        shape = [before.partial_shape[axis] for axis in cache.growth.order]
        parameter = Parameter(before.element_type, shape, name=before.friendly_name)
        concat = result.get_source_output().node
        result.replace_source_output(_append(parameter, before, concat, cache.growth))
        copy.replace_parameter(cache.input, parameter)
    copy.validate_nodes_and_infer_types()
    return copy


def _append(parameter: Parameter, read: Node, concat: Node, growth: Growth, items: Parameter | None = None) -> Output:
    """Let a Concat append to a parameter, which takes the place of ``read``, and return the result.

    Both have their axes in the order of the memory. ``items``: those of the batch in each row, if there are beams.
    """
    kept = _transposed(parameter.output(0), growth.inverse)
    if (gather := concat.input_value(0).node) is not read:
        gather.output(0).replace(kept)
    read.output(0).replace(kept)
    new = [_transposed(part, growth.order) for part in concat.input_values()[1:]]
    appended = Append([parameter.output(0), *new], 0)
    appended.friendly_name = concat.friendly_name
    copy_rt_info([concat], appended)
    whole = appended if items is None or growth.beams is None else ChooseItems(appended, items)
    concat.output(0).replace(_transposed(whole.output(0), growth.inverse))
    return appended.output(0)


def _transposed(value: Output, order: Sequence[int]) -> Output:
    return ops.Transpose(value, np.array(order)).output(0)


def _initial_value(node: Node) -> Output:
    if node.get_input_size():
        return node.input_value(0)
    shape = [dimension.min_length for dimension in node.output(0).partial_shape]
    return Constant(np.zeros(shape, node.get_output_element_type(0).to_dtype())).output(0)
