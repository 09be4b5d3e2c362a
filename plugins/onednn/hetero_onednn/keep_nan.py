"""NaN stays NaN: maxima, limits and exponentials of oneDNN's primitives turn it into a number.

Operations are left as they are if their data cannot be NaN. To the others NaN is added where their data have it. Gelu
of infinity, which is NaN there, is infinity, as is an extremum of infinities alone, which is finite there. In a program
for ordinary inputs values are checked instead, where that costs less: in deep networks few bounds tell that values are
finite, though nearly all are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Constant, Model, Node, Output, Result, copy_rt_info
from hetero.passes.bounds.value_bounds import LARGEST, ValueBounds
from hetero_onednn.varying_model import VaryingConstant


class KeepingRelu(ops.Unary):
    """Relu that keeps NaN as a post-op. -Inf becomes NaN too."""


class NanFlag(ops.Unary):
    """1 for NaN, else 0."""


class InfinityFlag(ops.Unary):
    """1 for infinity, else 0."""


class Finite(ops.Unary):
    """A value that each inference checks: if it is not finite, the program that keeps NaN runs instead."""


#: The largest norm of values that are checked.
LARGEST_NORM = 1e18
#: The operations that lose NaN.
_POOLINGS = (ops.MaxPool, ops.MaxPoolV8, ops.MaxPoolV1)
_REDUCTIONS = (ops.ReduceMax, ops.ReduceMin)
_SOFTMAX = (ops.Softmax, ops.LogSoftmax)
_OF_TWO = (ops.Maximum, ops.Minimum)
_GELUS = (ops.Gelu, ops.GeluV2)
# No step writes these, so that none can be checked.
_CONSTANTS = (Constant, VaryingConstant)
LOSING = (
    ops.Relu, ops.Exp, ops.Clamp, ops.HSigmoid, ops.HardSigmoid, *_OF_TWO, *_POOLINGS, *_REDUCTIONS, *_SOFTMAX, *_GELUS,
)  # fmt: skip


def loses_nan(model: Model) -> bool:
    """Return whether any operation of a model loses NaN."""
    return any(map(_loses_nan, model.get_ordered_ops()))


def _loses_nan(node: Node) -> bool:
    if getattr(node, "approximation_mode", "") == "tanh":
        return False
    return type(node) in LOSING and node.get_output_element_type(0) is Type.f32 and not _becomes_integer(node)


def keep_nan(model: Model, bounds: ValueBounds, checks: bool) -> None:
    """Let the operations that lose NaN keep it, except for data that are finite by their bounds.

    A Relu of data that may only be too large stays a part of the product before it; it makes NaN of -Inf. With
    ``checks`` other values are checked instead, also results, so that what follows from this NaN is no result.
    """
    for node in model.get_ordered_ops():
        bounds.add_node(node)
        if isinstance(node, Result) and checks and _is_uncertain(node.input_value(0), bounds):
            _check(node.input_value(0), bounds)
        if not _loses_nan(node):
            continue
        data = node.input_values() if type(node) in _OF_TWO else node.input_values()[:1]
        sources = [value for value in dict.fromkeys(data) if bounds.largest[value] > LARGEST]
        if not sources:
            continue
        is_sum = type(node) is ops.Relu and bounds.largest[sources[0]] < math.inf
        if checks and type(node) in _GELUS:
            _check(node.output(0), bounds)  # its data are no value of their own behind a product
        elif checks and not is_sum and not any(isinstance(source.node, _CONSTANTS) for source in sources):
            for source in sources:
                _check(source, bounds)
            bounds.add_node(node)
        else:
            made = KeepingRelu(sources[0]) if is_sum else _with_nan(node, sources)
            for known in (bounds.largest, bounds.least):
                known[made.output(0)] = known[node.output(0)]
            _replace(node, made)


def _is_uncertain(value: Output, bounds: ValueBounds) -> bool:
    """Return whether a real number may be too large."""
    return value.element_type is Type.f32 and LARGEST < bounds.largest[value] < math.inf


def _check(value: Output, bounds: ValueBounds) -> None:
    """Let all readers of a value read it checked."""
    readers = value.get_target_inputs()
    checked = Finite(value, name=f"{value.node.friendly_name}/checked").output(0)
    for reader in readers:
        reader.replace_source_output(checked)
    bounds.set(checked, LARGEST_NORM)


def _with_nan(node: Any, sources: Sequence[Output]) -> Node:
    """Return a node's result plus NaN where it depends on NaN of these values, its data."""
    if type(node) in _GELUS:
        # Gelu of large numbers is the number; oneDNN doubles it on the way.
        finite = ops.Minimum(sources[0], np.float32(LARGEST))
        return ops.Add(node.clone_with_new_inputs([finite]), ops.Subtract(sources[0], finite))
    copy = node.clone_with_new_inputs(node.input_values())
    copy.friendly_name = f"{node.friendly_name}/numbers"
    result = copy.output(0)
    for source in sources:
        flag = NanFlag(source).output(0)
        if type(node) in _POOLINGS:
            flag = node.clone_with_new_inputs([flag]).output(0)
        elif type(node) in _REDUCTIONS:
            flag = ops.ReduceMax(flag, node.input_value(1), node.keep_dims).output(0)
            result = _with_infinity(node, source, result)
        elif type(node) in _SOFTMAX:
            flag = ops.ReduceMax(flag, np.array([node.axis], np.int64), True).output(0)
            largest = ops.ReduceMax(source, np.array([node.axis], np.int64), True)
            # NaN if the largest element is infinite.
            result = ops.Add(result, ops.Subtract(largest, largest)).output(0)
        # The square root of -1 is NaN.
        result = ops.Add(result, ops.Sqrt(ops.Negative(flag))).output(0)
    return result.node


def _with_infinity(node: Any, data: Output, result: Output) -> Output:
    """Return an extremum that is infinite if all elements are; oneDNN begins with the largest finite number."""
    is_max = type(node) is ops.ReduceMax
    flags = InfinityFlag(ops.Negative(data) if is_max else data)
    are_all = ops.ReduceMin(flags, node.input_value(1), node.keep_dims)
    # -Inf if all are, else -0, which keeps the sign of zeros.
    added = ops.Divide(ops.Negative(are_all), ops.Subtract(np.float32(1), are_all))
    largest = result if is_max else ops.Negative(result)
    infinite = ops.Add(largest, added)
    return (infinite if is_max else ops.Negative(infinite)).output(0)


def _replace(node: Node, made: Node) -> None:
    made.friendly_name = node.friendly_name
    copy_rt_info([node], made)
    node.output(0).replace(made.output(0))
    node.disconnect()


def _becomes_integer(node: Node) -> bool:
    """Return whether a limit is that of a conversion to integers, which NaN does not have."""
    readers = [target.node for target in node.output(0).get_target_inputs()]
    return all(type(reader) is ops.Convert and not reader.get_output_element_type(0).is_real() for reader in readers)
