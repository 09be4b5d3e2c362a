"""One generated kernel per group of fused element-wise nodes.

Each work-item computes one element of the root's output. An input of the same shape is read at the same index, a
constant of one element is an argument, and a broadcast input is read at an index computed from the element's
coordinates. Lengths and strides are arguments too, so that groups of the same structure share one program.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from hetero import ops
from hetero.core.lengths.length import about, larger
from hetero.core.types import Type
from hetero.graph import Node, Output, constant_array, is_constant
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.definition import element_macros, implements, lowers, lowers_if, source
from hetero_opencl.kernels.common.sub_byte_types import element_of, elements_of, rounded
from hetero_opencl.kernels.elementwise.epilogue import Index, has_vector_form, is_f32, make_epilogue
from hetero_opencl.kernels.elementwise.expressions import (
    OPERATIONS,
    constant_number,
    converted,
    expression,
    unsupported_elementwise,
)
from hetero_opencl.kernels.elementwise.functions import functions_called
from hetero_opencl.lowering.custom import has_custom_expression
from hetero_opencl.lowering.implementation import (
    ROWS,
    Blocks,
    Configuration,
    Implementation,
    KernelOperation,
    Layout,
    Signature,
    operand_layout,
    traffic,
    uniform,
)
from hetero_opencl.lowering.lowering import Argument, Lowering
from hetero_opencl.profiles.profile import DeviceProfile, Family

# Shorter rows do not get work-groups of their own.
SHORTEST_ROW = 16
LARGEST_GROUP = 256
# Vectors that a work-item computes in blocks of channels.
_POSITIONS = 64
# Elements of a vector in rows; where hardware vectors are shorter, the compiler divides it. About how many elements a
# work-item computes: several rows, or a part of one.
_WIDTH, _ROW_PART = 16, 2048
_FEW = 512


@lowers_if(has_custom_expression, unsupported=unsupported_elementwise)
@lowers(
    *OPERATIONS,
    unsupported=unsupported_elementwise,
    estimate=lambda operation, profile: _seconds(operation, profile, 1),
)
def elementwise(lowering: Lowering, root: Node) -> None:
    _compute_group(lowering, ROWS)


@implements(*OPERATIONS)
class BlockedElementwise(Implementation):
    """Element-wise operations on blocks of channels, in vectors if all elements are f32."""

    family = Family.PROCESSOR

    def mismatch(self, operation: KernelOperation, profile: DeviceProfile) -> str | None:
        shape = operation.result.shape
        if len(shape) < 3 or shape[1] == 1 or not math.prod(shape):
            return "it has several channels"
        inputs = [value for value in _group_inputs(operation) if math.prod(value.shape) > 1]
        if any(len(value.shape) != len(shape) and not is_constant(value) for value in inputs):
            return "its inputs have channels too"
        return None

    def signatures(self, operation: KernelOperation, profile: DeviceProfile) -> Iterable[Signature]:
        blocks = Blocks(profile.vector_width)
        yield uniform(operation, blocks)

    def estimate(
        self, operation: KernelOperation, signature: Signature, configuration: Configuration, profile: DeviceProfile
    ) -> float:
        return _seconds(operation, profile, profile.vector_width if has_vector_form(operation) else 1)

    def emit(
        self, lowering: Lowering, operation: KernelOperation, signature: Signature, configuration: Configuration
    ) -> None:
        blocks = Blocks(lowering.profile.vector_width)
        if not has_vector_form(operation):
            return _compute_group(lowering, blocks)
        kind, shape = operation.result.element_type, blocks.storage_shape(operation.result.shape)
        epilogue = make_epilogue(lowering, operation, blocks.size, True, blocks)
        macros = {"BLOCK": blocks.size, "WIDEN_RESULT(x)": "(x)", "POSITIONS": _POSITIONS}
        text = source("vector_elementwise", {"RESULT": kind}, epilogue.text, **macros)
        length = math.prod(shape[1:-1])
        parts = -(-length // _POSITIONS)
        arguments: list[Argument] = [lowering.buffer(operation.result, blocks), length, parts]
        lowering.launch_flat(text, "vector_elementwise", arguments, shape[0] * parts, epilogue.arguments)


@implements(*OPERATIONS)
class VectorElementwise(Implementation):
    """Element-wise operations of f32 on rows, in vectors along the last axis."""

    family = Family.PROCESSOR

    def mismatch(self, operation: KernelOperation, profile: DeviceProfile) -> str | None:
        if not is_f32(operation.nodes):
            return "all elements are f32"
        if about(math.prod(operation.result.shape)) < _FEW:
            return "few elements are computed in one work-group, which may be merged with others"
        return f"rows have at least {_WIDTH} elements" if _rows(operation)[0][-1] < _WIDTH else None

    def estimate(
        self, operation: KernelOperation, signature: Signature, configuration: Configuration, profile: DeviceProfile
    ) -> float:
        return _seconds(operation, profile, profile.vector_width)

    def emit(
        self, lowering: Lowering, operation: KernelOperation, signature: Signature, configuration: Configuration
    ) -> None:
        lengths, strides = _rows(operation)
        row, rows = lengths[-1], math.prod(lengths[:-1])
        indices = {value: _index(number, lengths, steps) for number, (value, steps) in enumerate(strides.items())}
        epilogue = make_epilogue(lowering, operation, _WIDTH, True, indices=indices)
        text = source("row_elementwise", {"RESULT": operation.result.element_type}, epilogue.text, **{
            "WIDEN_RESULT(x)": "(x)", "WIDTH": _WIDTH,
        })  # fmt: skip
        parts, group = larger(1, row // _ROW_PART), larger(1, _ROW_PART // row)
        arguments: list[Argument] = [operation.result, row, rows, group, *epilogue.arguments]
        lowering.launch(text, "row_elementwise", arguments, [parts, -(-rows // group)], [1, 1])


def _rows(operation: KernelOperation) -> tuple[list[int], dict[Output, list[int]]]:
    """Return the lengths of the merged axes, and the strides along them of the inputs of other shapes."""
    shape = operation.result.shape
    others = [value for value in _group_inputs(operation) if _number(value) is None and value.shape != shape]
    lengths, strides = _coordinates(shape, [_padded(value.shape, len(shape)) for value in others])
    return lengths or [math.prod(shape)], dict(zip(others, strides))


def _index(number: int, lengths: Sequence[int], strides: Sequence[int]) -> Index:
    """Return the index of an input; ``channel`` is the row."""
    numbers: dict[str, int] = {}
    terms, row = [], "channel"
    for axis in reversed(range(len(lengths) - 1)):
        length, step = f"n{number}_{axis}", f"s{number}_{axis}"
        numbers |= {length: lengths[axis], step: strides[axis]}
        terms.append(f"({row}) % {length} * {step}" if axis else f"({row}) * {step}")
        row = f"({row}) / {length}"
    numbers[f"row{number}"] = lengths[-1]
    if strides[-1]:
        terms.append(f"at - channel * row{number}")
    return Index(f"({' + '.join(terms) or '0'})", bool(strides[-1]), numbers)


def _seconds(operation: KernelOperation, profile: DeviceProfile, width: int) -> float:
    """Return the time of operations in vectors of this width: that of memory, plus one instruction per operation."""
    count = math.prod(operation.result.shape) * len(operation.nodes)
    instructions = 2 * count * profile.vector_width / width / profile.flops_per_second
    return traffic(operation) / profile.bytes_per_second + instructions + profile.launch_seconds


def _group_inputs(operation: KernelOperation) -> list[Output]:
    inside = set(operation.nodes)
    return list(dict.fromkeys(v for node in operation.nodes for v in node.input_values() if v.node not in inside))


def _compute_group(lowering: Lowering, layout: Layout) -> None:
    nodes, inputs = lowering.operation.nodes, _group_inputs(lowering.operation)
    compute(lowering, inputs, nodes[-1].output(0), _statements(nodes, inputs), _types_in(nodes), layout)


@lowers(ops.ConvertPromoteTypes, unsupported=unsupported_elementwise)
def convert_both(lowering: Lowering, node: ops.ConvertPromoteTypes) -> None:
    for value, output in zip(node.input_values(), node.outputs()):
        kinds = value.element_type, output.element_type
        if kinds[0] is kinds[1]:
            lowering.share(output, value)
        else:
            text = f"const {element_of(kinds[1]).value} result = {converted('v0', *kinds)};"
            compute(lowering, [value], output, [text], kinds)


def compute(
    lowering: Lowering,
    inputs: Sequence[Output],
    output: Output,
    statements: Sequence[str],
    kinds: Iterable[Type],
    layout: Layout = ROWS,
) -> None:
    """Launch a kernel whose statements compute ``result`` from v0, v1 …, the elements of the inputs.

    ``kinds`` are all element types that the statements use. Inputs and output are in ``layout``.
    """
    rank, shape = len(output.shape), layout.storage_shape(output.shape)
    shapes = {value: layout.storage_shape(_padded(value.shape, rank)) for value in inputs if _number(value) is None}
    lengths, strides = _coordinates(shape, [other for other in shapes.values() if other != shape])
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
        if shapes[value] != shape:
            steps = strides.pop(0)
            parameters += [f"const int s{index}_{axis}" for axis in range(len(steps))]
            arguments += steps
            place = " + ".join(f"c{axis} * s{index}_{axis}" for axis in range(len(steps))) or "0"
        parameters.append(f"__global const {name}* restrict in{index}")
        arguments.append(_buffer(lowering, value, layout, rank))
        loads.append(f"const {kind} v{index} = {name}_LOAD(in{index}, {place});")
    parameters += [f"const int n{axis}" for axis in range(len(lengths))]
    arguments += lengths
    name = _name(output.element_type)
    parameters.append(f"__global {name}* restrict out")
    arguments.append(lowering.buffer(output, layout))
    body = [*loads, *statements, f"{name}_STORE(result, i, out);"]
    count = math.prod(shape)
    if len(lengths) < 2 or about(lengths[-1]) < SHORTEST_ROW or about(count) <= LARGEST_GROUP:
        text = _kernel([*parameters, "const int count"], [*_flat(len(lengths)), *body], kinds)
        return lowering.launch_flat(text, "elementwise", arguments, count)
    # Rows along the last axis: values that are constant along a row are computed and read once.
    row, rows = lengths[-1], count // lengths[-1]
    parts = -(-about(row) // lowering.profile.largest_group(LARGEST_GROUP))
    group_size = -(-about(row) // (parts * 16)) * 16
    text = _kernel(parameters, [*_in_rows(len(lengths)), *body], kinds)
    lowering.launch(text, "elementwise", arguments, [-(-row // group_size) * group_size, rows], [group_size, 1])


def _types_in(nodes: Iterable[Node]) -> list[Type]:
    """Return the element types of the inputs and outputs of nodes, and those that they round to."""
    kinds = [value.element_type for node in nodes for value in (*node.input_values(), node.output(0))]
    return kinds + [Type(node.destination_type) for node in nodes if isinstance(node, ops.FakeConvert)]


def _number(value: Output) -> np.generic | None:
    """Return the element of a Constant of one element, or None for any other value."""
    array = constant_array(value)
    return constant_number(array, value.element_type) if array is not None and array.size == 1 else None


def _padded(shape: Sequence[int], rank: int) -> tuple[int, ...]:
    """Return a shape with leading ones up to a rank."""
    return (1,) * (rank - len(shape)) + tuple(shape)


def _buffer(lowering: Lowering, value: Output, layout: Layout, rank: int) -> Buffer:
    array, layout = constant_array(value), operand_layout(value, layout)
    if array is None or layout == ROWS:
        return lowering.buffer(value, layout)
    return lowering.constant(array.reshape(_padded(array.shape, rank)), (layout,), layout.arrange)


def _coordinates(shape: tuple[int, ...], others: Sequence[tuple[int, ...]]) -> tuple[list[int], list[list[int]]]:
    """Return the lengths of the merged axes, and the strides of the other shapes along them, 0 for repeated axes."""
    if not others:
        return [], []
    strides = [_strides(other, len(shape)) for other in others]
    lengths: list[int] = []
    merged: list[list[int]] = [[] for _ in others]
    for axis, length in enumerate(shape):
        if length == 1:
            continue
        here = [steps[axis] for steps in strides]
        # Two axes are merged if a step along the first is a whole row of the second, in every value.
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
    """Return the statements that compute the index and the coordinates of a work-item's element."""
    lines = ["const int i = get_global_id(0);", "if (i >= count) return;"]
    return lines + _split_index("i", rank)


def _in_rows(rank: int) -> list[str]:
    """Return the same statements for a range of two dimensions: elements of a row, and rows."""
    last = rank - 1
    lines = [f"const int c{last} = get_global_id(0);", f"if (c{last} >= n{last}) return;"]
    lines.append(f"const int i = get_global_id(1) * n{last} + c{last};")
    return lines + _split_index("get_global_id(1)", last)


def _split_index(number: str, rank: int) -> list[str]:
    """Return the statements that split an index into the coordinates of ``rank`` axes."""
    lines = [f"int rest = {number};"] if rank else []
    lines += [f"const int c{axis} = rest % n{axis}; rest /= n{axis};" for axis in range(rank - 1, 0, -1)]
    return lines + (["const int c0 = rest;"] if rank else [])


def _statements(nodes: Sequence[Node], inputs: Sequence[Output]) -> list[str]:
    """Return a statement per node that assigns its value, rounded to its type, to a variable, at last ``result``."""
    names = {value: f"v{index}" for index, value in enumerate(inputs)}
    lines = []
    for index, node in enumerate(nodes):
        text, kind = expression(node, [names[value] for value in node.input_values()]), node.get_element_type()
        name = names[node.output(0)] = "result" if node is nodes[-1] else f"r{index}"
        lines.append(f"const {element_of(kind).value} {name} = {text if name == 'result' else rounded(kind, text)};")
    return lines


def _name(kind: Type) -> str:
    """Return the name of an element type's macros in a kernel."""
    return kind.name.upper()


def _kernel(parameters: Sequence[str], body: Sequence[str], kinds: Iterable[Type]) -> str:
    lines = "".join(f"    {line}\n" for line in body)
    names = {_name(kind): kind for kind in sorted(kinds, key=Type.to_string)}
    macros = element_macros(names, elements_of(names.values()))
    return (
        f"{macros}{functions_called(macros + lines)}__kernel void elementwise({', '.join(parameters)})\n{{\n{lines}}}\n"
    )
