"""One generated kernel for a group of element-wise nodes.

Each work-item computes one element of the root's output. An input of the same shape is read at the same place, a
constant of one element is an argument, and any other input, which is broadcast, is read at a place computed from the
element's coordinates. Lengths and strides are arguments too, so that groups of the same structure share one program.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hetero import ops
from hetero.graph import Node, Output, constant_array
from hetero.types import Type
from hetero_opencl.kernels.conversions import converted
from hetero_opencl.kernels.custom_expressions import has_custom_expression
from hetero_opencl.kernels.expressions import OPERATIONS, constant_number, expression, why_not_elementwise
from hetero_opencl.kernels.functions import functions_called
from hetero_opencl.kernels.registry import lowers, lowers_if
from hetero_opencl.kernels.sources import element_macros
from hetero_opencl.kernels.sub_byte_types import element_of, elements_of, rounded

if TYPE_CHECKING:
    from hetero_opencl.lowering import Argument, Lowering

# A row shorter than this is not worth work-groups of its own.
SHORTEST_ROW = 16
LARGEST_GROUP = 256


@lowers_if(has_custom_expression, unless=why_not_elementwise)
@lowers(*OPERATIONS, unless=why_not_elementwise)
def elementwise(lowering: Lowering, root: Node) -> None:
    nodes = lowering.fusion.groups[root].nodes
    inputs = lowering.fusion.groups[root].inputs()
    compute(lowering, inputs, root.output(0), _statements(nodes, inputs), _types_in(nodes))


@lowers(ops.ConvertPromoteTypes, unless=why_not_elementwise)
def convert_both(lowering: Lowering, node: ops.ConvertPromoteTypes) -> None:
    for value, output in zip(node.input_values(), node.outputs()):
        kinds = value.element_type, output.element_type
        if kinds[0] is kinds[1]:
            lowering.share(output, value)
        else:
            text = f"const {element_of(kinds[1]).value} result = {converted('v0', *kinds)};"
            compute(lowering, [value], output, [text], kinds)


def compute(
    lowering: Lowering, inputs: Sequence[Output], output: Output, statements: Sequence[str], kinds: Iterable[Type]
) -> None:
    """Launch a kernel whose statements make ``result`` of v0, v1 …, the elements of the inputs, for each element.

    ``kinds`` are all element types that the statements know.
    """
    lengths, strides = _coordinates(output.shape, [v for v in inputs if _is_broadcast(v, output)])
    parameters, loads = [], []
    arguments: list[Argument] = []
    for index, value in enumerate(inputs):
        kind, name = element_of(value.element_type).value, _name(value.element_type)
        number = _number(value)
        if number is not None:
            parameters.append(f"const {kind} v{index}")
            arguments.append(number)
            continue
        place = "i"
        if _is_broadcast(value, output):
            own = strides.pop(0)
            parameters += [f"const int s{index}_{axis}" for axis in range(len(own))]
            arguments += [np.int32(stride) for stride in own]
            place = " + ".join(f"c{axis} * s{index}_{axis}" for axis in range(len(own))) or "0"
        parameters.append(f"__global const {name}* restrict in{index}")
        arguments.append(lowering.buffer(value))
        loads.append(f"const {kind} v{index} = {name}_LOAD(in{index}, {place});")
    parameters += [f"const int n{axis}" for axis in range(len(lengths))]
    arguments += [np.int32(length) for length in lengths]
    name = _name(output.element_type)
    parameters.append(f"__global {name}* restrict out")
    arguments.append(lowering.buffer(output))
    body = [*loads, *statements, f"{name}_STORE(result, i, out);"]
    count = int(np.prod(output.shape, dtype=np.int64))
    if len(lengths) < 2 or lengths[-1] < SHORTEST_ROW:
        source = _kernel([*parameters, "const int count"], [*_flat(len(lengths)), *body], kinds)
        return lowering.launch_flat(source, "elementwise", arguments, count)
    # Rows along the last axis: what is the same in a whole row is computed, and read, once for all of it.
    row, rows = lengths[-1], count // lengths[-1]
    group_size = min(-(-row // 16) * 16, LARGEST_GROUP)
    source = _kernel(parameters, [*_in_rows(len(lengths)), *body], kinds)
    lowering.launch(source, "elementwise", arguments, [-(-row // group_size) * group_size, rows], [group_size, 1])


def _types_in(nodes: Iterable[Node]) -> list[Type]:
    """The element types of the values of nodes, and those that they round to besides."""
    kinds = [value.element_type for node in nodes for value in (*node.input_values(), node.output(0))]
    return kinds + [Type(node.destination_type) for node in nodes if isinstance(node, ops.FakeConvert)]


def _number(value: Output) -> np.generic | None:
    """Return the element of a Constant of one element, or None for any other value."""
    array = constant_array(value)
    return constant_number(array, value.element_type) if array is not None and array.size == 1 else None


def _is_broadcast(value: Output, output: Output) -> bool:
    return _number(value) is None and value.shape != output.shape


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
    strides: list[int] = []
    step = 1
    for length in reversed(shape):
        strides.insert(0, 0 if length == 1 else step)
        step *= length
    return [0] * (rank - len(shape)) + strides[max(0, len(shape) - rank) :]


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
    """A variable for the value of each node, in order, as memory would hold it; the last, the result, is stored."""
    names = {value: f"v{index}" for index, value in enumerate(inputs)}
    lines = []
    for index, node in enumerate(nodes):
        text, kind = expression(node, [names[value] for value in node.input_values()]), node.get_element_type()
        name = names[node.output(0)] = "result" if node is nodes[-1] else f"r{index}"
        lines.append(f"const {element_of(kind).value} {name} = {text if name == 'result' else rounded(kind, text)};")
    return lines


def _name(kind: Type) -> str:
    """The name under which a kernel's text has the macros of an element type."""
    return kind.name.upper()


def _kernel(parameters: Sequence[str], body: Sequence[str], kinds: Iterable[Type]) -> str:
    lines = "".join(f"    {line}\n" for line in body)
    names = {_name(kind): kind for kind in sorted(kinds, key=str)}
    macros = element_macros(names, elements_of(names.values()))
    return (
        f"{macros}{functions_called(macros + lines)}__kernel void elementwise({', '.join(parameters)})\n{{\n{lines}}}\n"
    )
