"""Epilogues: element-wise operations that a kernel runs on its results in registers, before it stores them.

A kernel computes its results in vectors and passes each to the macro ``EPILOGUE(v, at, channel)``: ``v`` is the vector,
``at`` the index of its first element in the output's storage, and ``channel`` its channel, or the first one if the
vector holds neighboring channels. ``CHANNEL(row, column)`` selects the channel of an element of a matrix.
``EPILOGUE_PARAMETERS`` are further parameters of the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node, Output, constant_array
from hetero_opencl.kernels.common.definition import FLOATS, NO_EPILOGUE, SUMS
from hetero_opencl.kernels.elementwise.expressions import constant_number, expression, is_elementwise
from hetero_opencl.kernels.elementwise.functions import functions_called, vector_form, vector_functions_called
from hetero_opencl.lowering.custom import has_custom_expression
from hetero_opencl.lowering.implementation import ROWS, Layout

if TYPE_CHECKING:
    from hetero_opencl.lowering.implementation import KernelOperation
    from hetero_opencl.lowering.lowering import Argument, Lowering

# Types of integers that f32 holds, with the text that wraps an i32 around to their range.
_SMALL_INTEGERS = {Type.u8: "& 0xff", Type.i8: "<< 24 >> 24", Type.u16: "& 0xffff", Type.i16: "<< 16 >> 16"}
_ANCHORS = (ops.Convolution, ops.GroupConvolution, ops.MatMul)


def is_f32(nodes: Sequence[Node]) -> bool:
    """Return whether vectors of f32 hold all values of nodes: numbers of f32, and small integers between two Converts.

    Other values are rounded to their type, which vectors do not.
    """
    return _computes_in(Type.f32, nodes)


def _computes_in(kind: Type, nodes: Sequence[Node]) -> bool:
    inside = set(nodes)
    values = [value for node in nodes for value in (*node.input_values(), *node.outputs())]
    return not any(isinstance(node, ops.FakeConvert) for node in nodes) and all(
        value.element_type is kind or (kind is Type.f32 and _is_round_trip(value, inside)) for value in values
    )


def _is_round_trip(value: Output, inside: Collection[Node]) -> bool:
    """Return whether a value is small integers, converted from f32 and only read, inside, by Converts back to it."""
    converts = [value.node, *(target.node for target in value.get_target_inputs())]
    return (
        value.element_type in _SMALL_INTEGERS
        and all(type(node) is ops.Convert and node in inside for node in converts)
        and value.node.get_input_element_type(0) is Type.f32
        and all(node.get_element_type() is Type.f32 for node in converts[1:])
    )


def has_vector_form(operation: KernelOperation) -> bool:
    """Return whether a group without an anchor can run in vectors of channels, which are axis 1."""
    inside, shape = set(operation.nodes), operation.result.shape
    inputs = [value for node in operation.nodes for value in node.input_values() if value.node not in inside]
    return is_f32(operation.nodes) and all(_place(value, shape, 1) for value in inputs)


def takes_epilogue(anchor: Node, group: Sequence[Node]) -> bool:
    """Return whether kernels of an anchor can run a group of element-wise nodes on its output.

    All elements are of one floating-point type, or the group is an Add to a sum of integers. Other operands have
    the output's shape, one element, or one per channel.
    """
    output = anchor.output(0)
    kind = output.element_type
    if type(anchor) not in _ANCHORS or not is_elementwise(group[0]):
        return False
    values = [value for node in group for value in (*node.input_values(), *node.outputs())]
    if not _computes_in(kind, group):
        return False
    if kind not in FLOATS and (len(group) > 1 or type(group[0]) is not ops.Add):
        return False
    axis = channel_axis(anchor)
    inside = {anchor, *group}
    return all(_place(value, output.shape, axis) for value in values if value.node not in inside)


def channel_axis(anchor: Node) -> int:
    """Return the axis of the channels of an anchor's output: the last one of a product, else 1."""
    return len(anchor.output(0).shape) - 1 if isinstance(anchor, ops.MatMul) else 1


def _place(value: Output, shape: tuple[int, ...], axis: int) -> str | None:
    """Return where an operand's elements are: ``same`` as the output, ``channel``, in a ``number`` or a ``single`` one.

    A number is an argument of the kernel, a single element is in memory. Returns None if they are elsewhere.
    """
    if (array := constant_array(value)) is not None and array.size == 1:
        return "number"
    if value.shape == shape:
        return "same"
    if math.prod(value.shape) == 1:
        return "single"
    if axis >= len(shape):
        return None
    padded = (1,) * (len(shape) - len(value.shape)) + tuple(value.shape)
    per_channel = [1] * len(shape)
    per_channel[axis] = shape[axis]
    return "channel" if list(padded) == per_channel else None


class Epilogue(NamedTuple):
    """Text before a kernel that defines the macros, and the arguments for EPILOGUE_PARAMETERS."""

    text: str
    arguments: list[Argument]


class Index(NamedTuple):
    """The index of the elements that a vector of the output needs of an input: an expression of ``at`` and ``channel``.

    ``numbers`` are its further operands, as names and values. ``is_vector``: whether the elements are neighbors;
    else all are one element.
    """

    text: str
    is_vector: bool
    numbers: Mapping[str, int]


# Returns the epilogue for vectors of this many elements.
EpilogueMaker = Callable[[int], Epilogue]


def no_epilogue(width: int) -> Epilogue:
    return Epilogue(NO_EPILOGUE, [])


def make_epilogue(
    lowering: Lowering,
    operation: KernelOperation,
    width: int,
    in_channels: bool,
    layout: Layout = ROWS,
    offset: np.ndarray | None = None,
    indices: Mapping[Output, Index] = MappingProxyType({}),
) -> Epilogue:
    """Return the epilogue of an operation for vectors of ``width`` elements.

    ``in_channels``: whether vectors hold neighboring channels; else all elements are of one. ``offset``: a number per
    channel, of the output's type, that is added first. ``indices``: of inputs that are read in another way.
    """
    output = operation.anchor.output(0) if operation.anchor else operation.result
    axis = channel_axis(operation.anchor) if operation.anchor else 1
    kind = output.element_type
    element, vector = SUMS[kind], f"{SUMS[kind]}{width if width > 1 else ''}"
    parameters: list[str] = []
    arguments: list[Argument] = []
    lines: list[str] = []
    names = {output: "v"} if operation.anchor else {}

    def load(buffer: Argument, place: str, is_vector: bool) -> str:
        name = f"e{len(arguments)}"
        parameters.append(f"global const RESULT *restrict {name}")
        arguments.append(buffer)
        if width > 1 and is_vector:
            return f"WIDEN_RESULT(RESULT_LOAD{width}({name} + {place}))"
        return f"({vector})(({element})RESULT_LOAD({name}, {place}))"

    if offset is not None:
        lines.append(f"v = v + {load(lowering.constant(offset), 'channel', in_channels)};")
    inside = set(operation.nodes)
    for value in dict.fromkeys(v for node in operation.epilogue for v in node.input_values() if v.node not in inside):
        place = _place(value, output.shape, axis)
        names[value] = f"o{len(names)}"
        if place == "number":
            parameters.append(f"const {element} e{len(arguments)}")
            array = constant_array(value)
            assert array is not None
            text = f"({vector})(e{len(arguments)})"
            arguments.append(_number(array, kind))
        elif value in indices:
            index = indices[value]
            text = load(lowering.buffer(value), index.text, index.is_vector)
            parameters += [f"const int {name}" for name in index.numbers]
            arguments += index.numbers.values()
        elif place == "single":
            text = load(lowering.buffer(value), "0", False)
        else:
            is_same = place == "same"
            buffer = lowering.buffer(value, layout if is_same else ROWS)
            text = load(buffer, "at" if is_same else "channel", is_same or in_channels)
        lines.append(f"const {vector} {names[value]} = {text};")
    for node in operation.epilogue:
        inputs = [names[value] for value in node.input_values()]
        name = names[node.output(0)] = f"r{len(names)}"
        if kind not in FLOATS:
            lines.append(f"const {vector} {name} = {inputs[0]} + {inputs[1]};")
        elif width == 1:
            lines.append(f"const {vector} {name} = {expression(node, inputs)};")
        elif form := _vector_form(node, inputs, width):
            lines.append(f"const {vector} {name} = {form};")
        else:
            lines += _by_element(node, name, inputs, element, width)
    if not lines:
        return no_epilogue(width)
    result = names[operation.epilogue[-1].output(0)] if operation.epilogue else "v"
    more = "".join(f", {parameter}" for parameter in parameters)
    passed = "".join(f", {parameter.split()[-1]}" for parameter in parameters)
    body = "".join(f"    {line}\n" for line in lines)
    # `restrict` on a function that is inlined makes LLVM note for each access what it does not alias; that takes longer
    # than the rest of the compilation.
    declared = f"{vector} v, const int at, const int channel{more.replace('restrict ', '')}"
    text = f"static inline {vector} epilogue({declared})\n{{\n{body}    return {result};\n}}\n"
    macros = {
        "EPILOGUE_PARAMETERS": more,
        "EPILOGUE(v, at, channel)": f"epilogue(v, at, channel{passed})",
        "CHANNEL(row, column)": "(column)" if in_channels else "(row)",
    }
    defined = "".join(f"#define {key} {value}\n" for key, value in macros.items())
    functions = functions_called(text) + vector_functions_called(text, width)
    return Epilogue(functions + text + defined, arguments)


def _vector_form(node: Node, inputs: Sequence[str], width: int) -> str | None:
    """Return the expression of a node for vectors, or None if there is none."""
    if type(node) is ops.Convert and node.get_element_type() is not node.get_input_element_type(0):
        wrap = _SMALL_INTEGERS.get(node.get_element_type())
        return f"convert_float{width}(convert_int{width}({inputs[0]}) {wrap})" if wrap else inputs[0]
    return None if has_custom_expression(node) else vector_form(expression(node, inputs))


def _by_element(node: Node, name: str, inputs: Sequence[str], element: str, width: int) -> list[str]:
    """Return statements that compute a vector element by element."""
    arrays = [f"{name}_{index}" for index in range(len(inputs))]
    stores = [f"{element} {array}[{width}]; vstore{width}({x}, 0, {array});" for array, x in zip(arrays, inputs)]
    text = expression(node, [f"{array}[n]" for array in arrays])
    return [
        *stores,
        f"{element} {name}_results[{width}];",
        f"for (int n = 0; n < {width}; n++) {name}_results[n] = {text};",
        f"const {element}{width} {name} = vload{width}(0, {name}_results);",
    ]


def _number(array: np.ndarray, kind: Type) -> np.generic:
    """Return the only element of an array as a kernel argument of the type of sums."""
    if kind in FLOATS:
        return constant_number(array, kind)
    wide = np.uint64 if kind.size == 8 else np.uint32
    return array.reshape(-1).astype(np.int64).astype(wide)[0]
