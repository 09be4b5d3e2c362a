"""One generated kernel for a group of element-wise nodes.

Each work-item computes one element of the root's output. An input of the same shape is read at the same place, a
constant of one element is an argument, and any other input, which is broadcast, is read at a place computed from the
element's coordinates. Lengths and strides are arguments too, so that groups of the same structure share one program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hetero.graph import Node, Output, is_constant
from hetero_opencl.kernels.expressions import FUNCTIONS, OPERATIONS, expression, why_not_elementwise
from hetero_opencl.kernels.registry import lowers
from hetero_opencl.kernels.sources import C_TYPES

if TYPE_CHECKING:
    from hetero_opencl.lowering import Lowering

# A row shorter than this is not worth work-groups of its own.
SHORTEST_ROW = 16
LARGEST_GROUP = 256


@lowers(*OPERATIONS, unless=why_not_elementwise)
def elementwise(lowering: Lowering, root: Node) -> None:
    group = lowering.fusion.groups[root]
    output = root.output(0)
    inputs = group.inputs()
    lengths, strides = _coordinates(output.shape, [v for v in inputs if _is_broadcast(v, output)])
    parameters, loads, arguments = [], [], []
    for index, value in enumerate(inputs):
        kind = C_TYPES[value.element_type]
        if _is_number(value):
            parameters.append(f"const {kind} v{index}")
            arguments.append(value.node.data.reshape(())[()])
            continue
        place = "i"
        if _is_broadcast(value, output):
            own = strides.pop(0)
            parameters += [f"const int s{index}_{axis}" for axis in range(len(own))]
            arguments += [np.int32(stride) for stride in own]
            place = " + ".join(f"c{axis} * s{index}_{axis}" for axis in range(len(own))) or "0"
        parameters.append(f"__global const {kind}* restrict in{index}")
        arguments.append(lowering.buffer(value))
        loads.append(f"const {kind} v{index} = in{index}[{place}];")
    parameters += [f"const int n{axis}" for axis in range(len(lengths))]
    arguments += [np.int32(length) for length in lengths]
    parameters.append(f"__global {C_TYPES[output.element_type]}* restrict out")
    arguments.append(lowering.buffer(output))
    body = [*loads, *_statements(group.nodes, inputs)]
    count = int(np.prod(output.shape, dtype=np.int64))
    if len(lengths) < 2 or lengths[-1] < SHORTEST_ROW:
        source = _kernel([*parameters, "const int count"], [*_flat(len(lengths)), *body])
        return lowering.launch_flat(source, "elementwise", arguments, count)
    # Rows along the last axis: what is the same in a whole row is computed, and read, once for all of it.
    row, rows = lengths[-1], count // lengths[-1]
    group_size = min(-(-row // 16) * 16, LARGEST_GROUP)
    source = _kernel(parameters, [*_in_rows(len(lengths)), *body])
    lowering.launch(source, "elementwise", arguments, [-(-row // group_size) * group_size, rows], [group_size, 1])


def _is_number(value: Output) -> bool:
    return is_constant(value) and value.node.data.size == 1


def _is_broadcast(value: Output, output: Output) -> bool:
    return not _is_number(value) and value.shape != output.shape


def _coordinates(shape: tuple[int, ...], values: Sequence[Output]) -> tuple[list[int], list[list[int]]]:
    """Lengths of as few axes as can be, and for each broadcast value its strides along them, 0 where it is repeated."""
    if not values:
        return [], []
    strides = [_strides(value.shape, len(shape)) for value in values]
    lengths: list[int] = []
    merged: list[list[int]] = [[] for _ in values]
    for axis, length in enumerate(shape):
        if length == 1:
            continue
        here = [own[axis] for own in strides]
        # Two axes are one where a step along the first is a whole row of the second, in every value.
        if lengths and all(m[-1] == stride * length for m, stride in zip(merged, here)):
            lengths[-1] *= length
            for m, stride in zip(merged, here):
                m[-1] = stride
        else:
            lengths.append(length)
            for m, stride in zip(merged, here):
                m.append(stride)
    return lengths, merged


def _strides(shape: tuple[int, ...], rank: int) -> list[int]:
    strides, step = [], 1
    for length in reversed(shape):
        strides.insert(0, 0 if length == 1 else step)
        step *= length
    return [0] * (rank - len(shape)) + strides


def _flat(rank: int) -> list[str]:
    """Statements that find the element of a work-item, and its coordinates, from the last axis to the first."""
    lines = ["const int i = get_global_id(0);", "if (i >= count) return;"]
    return lines + _take_apart("i", rank)


def _in_rows(rank: int) -> list[str]:
    """The same where the work-items of a row are along one dimension and the rows along the other."""
    last = rank - 1
    lines = [f"const int c{last} = get_global_id(0);", f"if (c{last} >= n{last}) return;"]
    lines.append(f"const int i = get_global_id(1) * n{last} + c{last};")
    return lines + _take_apart("get_global_id(1)", last)


def _take_apart(number: str, rank: int) -> list[str]:
    lines = [f"int rest = {number};"] if rank else []
    lines += [f"const int c{axis} = rest % n{axis}; rest /= n{axis};" for axis in range(rank - 1, 0, -1)]
    return lines + (["const int c0 = rest;"] if rank else [])


def _statements(nodes: Sequence[Node], inputs: Sequence[Output]) -> list[str]:
    """A variable for the value of each node, in order, and the store of the last."""
    names = {value: f"v{index}" for index, value in enumerate(inputs)}
    lines = []
    for index, node in enumerate(nodes):
        result = node.output(0)
        text = expression(node, [names[value] for value in node.input_values()])
        lines.append(f"const {C_TYPES[result.element_type]} r{index} = {text};")
        names[result] = f"r{index}"
    return [*lines, f"out[i] = r{len(nodes) - 1};"]


def _kernel(parameters: Sequence[str], body: Sequence[str]) -> str:
    lines = "".join(f"    {line}\n" for line in body)
    functions = "".join(text for name, text in FUNCTIONS.items() if name in lines)
    return f"{functions}__kernel void elementwise({', '.join(parameters)})\n{{\n{lines}}}\n"
