"""Outputs that a Loop concatenates: without an iteration, OpenVINO leaves those of the inference before.

The body counts its iterations, and the outputs are cut to their number.
"""

from __future__ import annotations

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


def add_counter(body: openvino.Model, read: list[Any], written: list[Any], index: int, output: int) -> openvino.Output:
    """Let a body count its iterations. Return the initial number, the input ``index``; the last one is ``output``."""
    number = op.Parameter(openvino.Type.i64, openvino.PartialShape([1]))
    result = op.Result(make("Add", number.output(0), _vector(1)))
    read.append(op.util.MergedInputDescription(index, len(body.get_parameters()), len(body.get_results())))
    written.append(op.util.BodyOutputDescription(len(body.get_results()), output, -1))
    body.add_parameters([number])
    body.add_results([result])
    return _vector(0)


def cut_to_iterations(node: ops.Loop, made: openvino.Node) -> list[openvino.Output]:
    """Return the outputs of a Loop without the counter, the concatenated ones cut to the iterations that ran."""
    *outputs, count = made.outputs()
    for entry in node.get_output_descriptions():
        if isinstance(entry, ConcatOutputDescription):
            length = make("Multiply", count, _vector(entry.part_size))
            inputs = [outputs[entry.output_index], _vector(0), length, _vector(1), _vector(entry.axis)]
            outputs[entry.output_index] = factory("opset8").create("Slice", inputs, {}).output(0)
    return outputs


def _vector(number: int) -> openvino.Output:
    return constant(np.array([number]), Type.i64).output(0)
