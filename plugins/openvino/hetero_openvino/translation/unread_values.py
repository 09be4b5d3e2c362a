"""Values that a Loop carries, but whose body does not read them: OpenVINO forgets what they are before the first run.

Without an iteration, its output would be what the last inference gave.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hetero import ops
from hetero.graph import Model, Output, walk_nested
from hetero.ops.control_flow.bodies import BodyOutputDescription, MergedInputDescription
from hetero_openvino.translation.variable_ports import choose


def keep_initial_values(model: Model) -> Model:
    """Return a copy of the model that takes these values from before the Loop if it does not run."""
    if not any(map(_unread, _loops_of(model))):
        return model
    copy = model.clone()
    for node in _loops_of(copy):
        trip_count, condition = node.input_value(0), node.input_value(1)
        for output, initial in _unread(node):
            readers = output.get_target_inputs()
            is_any = ops.NotEqual(trip_count, np.zeros([], trip_count.element_type.to_dtype()))
            value = choose(ops.LogicalAnd(is_any, condition).output(0), output, initial)
            for reader in readers:
                reader.replace_source_output(value)
    copy.validate_nodes_and_infer_types()
    return copy


def _loops_of(model: Model) -> Iterator[ops.Loop]:
    return (node for node in [*walk_nested(model.get_ordered_ops())] if isinstance(node, ops.Loop))


def _unread(node: ops.Loop) -> list[tuple[Output, Output]]:
    """Return the outputs that may be what they were before the first iteration, with that value."""
    if not node.may_not_run():
        return []
    initial = {
        each.body_value_index: node.input_value(each.input_index)
        for each in node.get_input_descriptions()
        if isinstance(each, MergedInputDescription)
        and not node.body.parameters[each.body_parameter_index].output(0).get_target_inputs()
    }
    return [
        (node.output(each.output_index), initial[each.body_value_index])
        for each in node.get_output_descriptions()
        if isinstance(each, BodyOutputDescription) and each.iteration == -1 and each.body_value_index in initial
    ]
