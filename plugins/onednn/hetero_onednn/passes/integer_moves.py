"""Operations that keep quantized values as they are, such as MaxPool and Concat, run on the 8-bit integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetero import ops
from hetero.graph import Constant, Model, Node, Parameter, copy_rt_info
from hetero.passes import keeps_values
from hetero.passes.matching.rewriting import only_reader, replace
from hetero.reference import evaluate
from hetero_onednn.primitives.post_ops import ELEMENTWISE
from hetero_onednn.quantization import dequantize, is_dequantizing, is_quantizing, quantized, single_number

_POOLINGS = (ops.MaxPool, ops.MaxPoolV8, ops.MaxPoolV1)
# Their results are elements of their first input.
_MOVES = (ops.Reshape, ops.Transpose, ops.Squeeze, ops.Unsqueeze, *_POOLINGS)


@keeps_values
def move_integers(model: Model) -> bool:
    """Let operations whose results are elements of their data read 8-bit integers instead of the real numbers.

    They are converted afterwards, by the same scale and zero point. Values that are quantized after a Concat are
    quantized before it. Integers that become the same integers again are not converted.
    """
    changed = [_quantize_parts(node) for node in model.get_ordered_ops() if is_quantizing(node)]
    for node in model.get_ordered_ops():
        if is_quantizing(node):
            changed.append(_skip_conversions(node))
        elif type(node) is ops.Concat:
            changed.append(_convert_after(node, node.get_input_size()))
        elif type(node) in _MOVES:
            changed.append(_convert_after(node, 1))
    return any(changed)


def _convert_after(node: Node, count: int) -> bool:
    """Let a node read the integers that its first ``count`` inputs are computed from, and convert its result."""
    values = [quantized(value) for value in node.input_values()[:count]]
    first = values[0]
    if first is None or any(output.get_target_inputs() for output in node.outputs()[1:]):
        return False
    if len({value and (value.integers.element_type, *value[1:]) for value in values}) > 1:
        return False
    integers = [value.integers for value in values if value is not None]
    moved = node.clone_with_new_inputs([*integers, *node.input_values()[count:]])
    result = dequantize(moved.output(0), first.zero_point, first.scale)
    copy_rt_info([node], moved)
    result.friendly_name = node.friendly_name
    node.output(0).replace(result.output(0))
    return True


def _skip_conversions(convert: Node) -> bool:
    """Read 8-bit integers that become real numbers, and then the same integers, as they are."""
    chain = _chain_from(is_dequantizing, convert)
    if chain is None or chain[0].get_input_element_type(0) is not convert.get_element_type():
        return False
    kind = convert.get_element_type().to_dtype()
    numbers = np.arange(np.iinfo(kind).min, np.iinfo(kind).max + 1).astype(kind)
    result = numbers
    for node in chain:
        operands = [value.node.data for value in node.input_values()[1:] if isinstance(value.node, Constant)]
        (result,) = evaluate(node, [result, *operands])
    if not np.array_equal(result, numbers):
        return False
    source = chain[0].input_value(0)
    if not isinstance(source.node, Parameter):
        copy_rt_info([source.node, *chain], source.node)
    convert.output(0).replace(source)
    return True


def _chain_from(is_first: Callable[[Node], bool], last: Node) -> list[Node] | None:
    """Return the nodes from a first one to the last, each of which applies a function of one number to the one before.

    Returns None if there are none.
    """
    chain = [last]
    while not is_first(chain[0]):
        node = chain[0]
        is_function = node is last or type(node) in ELEMENTWISE
        if not is_function or any(single_number(value) is None for value in node.input_values()[1:]):
            return None
        chain.insert(0, node.input_value(0).node)
    return chain if chain[0].get_output_partial_shape(0) == last.get_output_partial_shape(0) else None


def _quantize_parts(convert: Node) -> bool:
    """Quantize the parts of a Concat, which are computed from 8-bit integers, instead of the whole."""
    chain = _chain_from(lambda node: type(node) is ops.Concat, convert)
    if chain is None or any(only_reader(node) is None for node in chain[:-1]):
        return False
    concat, *functions = chain
    parts = concat.input_values()
    if any(quantized(value) is None for value in parts):
        return False
    for function in functions:
        numbers = function.input_values()[1:]
        parts = [function.clone_with_new_inputs([part, *numbers]).output(0) for part in parts]
    replace(chain, concat.clone_with_new_inputs(parts))
    return True
