"""Outputs that a Loop concatenates: without an iteration, OpenVINO leaves those of the inference before.

The body counts its iterations, and the outputs are cut to their number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import openvino
from openvino import op

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node
from hetero.ops.control_flow.bodies import ConcatOutputDescription
from hetero_openvino.memory import constant
from hetero_openvino.translation.corrections import factory, make


def counts_iterations(node: Node) -> bool:
    """Return whether a Loop has such outputs and may not run; it then gets a counter as a last input and output."""
    outputs = node.output_descriptions[0] if isinstance(node, ops.Loop) and node.may_not_run() else ()
    return any(isinstance(entry, ConcatOutputDescription) for entry in outputs)


def add_counter(body: openvino.Model, *place: Any) -> openvino.Output:
    """Let a body count its iterations. Return the initial number; ``place`` as for ``carry``."""
    carry(body, _vector(0), lambda number: make("Add", number, _vector(1)), *place)
    return _vector(0)


def carry(
    body: openvino.Model,
    initial: openvino.Output,
    step: Callable[[openvino.Output], openvino.Output],
    read: list[Any],
    written: list[Any],
    index: int,
    output: int,
) -> None:
    """Let a body carry a further value, from the input ``index`` of its operation to the output ``output``."""
    before = op.Parameter(initial.get_element_type(), initial.get_partial_shape())
    after = op.Result(step(before.output(0)))
    read.append(op.util.MergedInputDescription(index, len(body.get_parameters()), len(body.get_results())))
    written.append(op.util.BodyOutputDescription(len(body.get_results()), output, -1))
    body.add_parameters([before])
    body.add_results([after])


def cut_to_iterations(node: ops.Loop, made: openvino.Node) -> list[openvino.Output]:
    """Return the outputs of a Loop without the counter, the concatenated ones cut to the iterations that ran."""
    size = node.get_output_size()
    outputs, count = made.outputs()[:size], made.output(size)
    for entry in node.get_output_descriptions():
        if isinstance(entry, ConcatOutputDescription):
            length = make("Multiply", count, _vector(entry.part_size))
            inputs = [outputs[entry.output_index], _vector(0), length, _vector(1), _vector(entry.axis)]
            outputs[entry.output_index] = factory("opset8").create("Slice", inputs, {}).output(0)
    return outputs


def _vector(number: int) -> openvino.Output:
    return constant(np.array([number]), Type.i64).output(0)
