"""Operations that need others around OpenVINO's for the same results at NaN, infinities and small numbers.

OpenVINO's extrema and its comparisons "greater" return one operand, or true, if the other one is NaN. Its snippets
compile the operations that are added here into one loop with their neighbors, but it does not fuse them into products.
So data that are known to be finite get no corrections for NaN.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection, Mapping

import ml_dtypes
import numpy as np
import openvino
from openvino.utils.node_factory import NodeFactory

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Constant, Node, Output
from hetero.ops.control_flow.variables import VariableOp
from hetero.ops.reduction import Reduction, TopKV1
from hetero.passes.bounds.intervals import is_integral
from hetero_openvino.memory import constant

CONVOLUTIONS = (
    ops.Convolution, ops.GroupConvolution, ops.ConvolutionBackpropData, ops.GroupConvolutionBackpropData,
)  # fmt: skip
Values = list[openvino.Output]
Correction = Callable[[Node, openvino.Node], Values]


@functools.cache
def factory(operation_set: str) -> NodeFactory:
    """Return the maker of nodes of an operation set."""
    return NodeFactory(operation_set)


def make(name: str, *inputs: openvino.Output, **attributes: object) -> openvino.Output:
    """Return the result of a new operation."""
    return factory("opset1").create(name, list(inputs), attributes).output(0)


def scalar(value: float, like: openvino.Output | Type) -> openvino.Output:
    """Return a number as a constant of an element type, or of that of a value."""
    kind = like if isinstance(like, Type) else Type(like.get_element_type().get_type_name())
    return constant(np.array(value).astype(kind.to_dtype()), kind).output(0)


def corrected(node: Node, made: openvino.Node, finite: Collection[Output]) -> Values:
    """Return the outputs of OpenVINO's equivalent of a node: of ``made``, or of what corrects its result.

    ``finite``: the values that are neither NaN nor infinite.
    """
    if isinstance(node, (ops.Range, ops.RangeV1)):
        return _ranged(node, made)
    if not node.get_input_element_type(0).is_real():
        return made.outputs()
    correction = _CORRECTIONS.get(node.type_info.name, _unchanged)
    if (data := corrected_data(node)) and all(value in finite for value in data):
        correction = _unchanged
    if isinstance(node, Reduction) and _mixes_channels(node):
        (result,) = correction(node, made)
        # A Select is not fused into the reduction, nor is what follows it.
        return [make("Select", make("NotEqual", result, result), result, result)]
    return correction(node, made)


def corrected_data(node: Node) -> list[Output]:
    """Return the inputs of a node that has a correction because of their NaN and infinities, nothing for others."""
    name = node.type_info.name
    if is_bf16_convolution(node):
        return node.input_values()[:1]
    if isinstance(node, _SCATTERS):
        return [node.input_value(0), node.input_value(2)] if _scatters_extremum(node) else []
    if name not in _OF_NAN or not node.get_input_element_type(0).is_real():
        return []
    return node.input_values() if name in _OF_TWO else node.input_values()[:1]


def is_bf16_convolution(node: Node) -> bool:
    """Return whether OpenVINO may multiply infinities by zeros that it pads filters with, which gives NaN."""
    return isinstance(node, CONVOLUTIONS) and node.get_element_type() is Type.bf16


def _ranged(node: Node, made: openvino.Node) -> Values:
    """Return nothing if the step leads away from stop; OpenVINO's length is that of the way from start to stop."""
    if not _follows_from_shapes(node):
        start, stop, step = made.input_values()
        ahead = make("Greater", step, scalar(0, step))
        reached = make("Select", ahead, make("Maximum", start, stop), make("Minimum", start, stop))
        made.input(1).replace_source_output(reached)
    return made.outputs()


def _follows_from_shapes(node: Node) -> bool:
    """Return whether a node depends on nothing but constants and shapes."""
    seen, waiting = set[Node](), [node]
    while waiting:
        ancestor = waiting.pop()
        if ancestor in seen or isinstance(ancestor, (Constant, ops.ShapeOf, ops.ShapeOfV1)):
            continue
        if not ancestor.get_input_size() or isinstance(ancestor, VariableOp):
            return False
        seen.add(ancestor)
        waiting += [value.node for value in ancestor.input_values()]
    return True


def _unchanged(node: Node, made: openvino.Node) -> Values:
    return made.outputs()


def _mixes_channels(node: Reduction) -> bool:
    """Return whether OpenVINO adds constants of channels that follow the reduction along another axis."""
    shape = node.get_input_partial_shape(0)
    return shape.has_rank and len(shape) == 3 and node.axes(3) in ((0,), (2,))


def _with_nan_kept(node: Node, made: openvino.Node) -> Values:
    """Return the result with NaN where the input is."""
    data = made.input_value(0)
    return [make("Select", make("NotEqual", data, data), data, made.output(0))]


def _clamped(node: Node, made: openvino.Node) -> Values:
    """Return the limited value, NaN for NaN unless it becomes an integer, which has none."""
    readers = [target.node for target in node.output(0).get_target_inputs()]
    if readers and all(isinstance(reader, ops.Convert) and is_integral(reader.output(0)) for reader in readers):
        return made.outputs()
    return _with_nan_kept(node, made)


def _extremum(node: Node, made: openvino.Node) -> Values:
    """Return the extremum, which OpenVINO takes from the second operand if one is NaN, or from any in a chain."""
    result = made.output(0)
    for data in made.input_values():
        if data.get_node().get_type_name() != "Constant":
            result = make("Select", make("NotEqual", data, data), data, result)
    return [result]


def _swapped(node: Node, made: openvino.Node) -> Values:
    """Return b < a for a > b, as OpenVINO's "greater" is true for NaN."""
    first, second = made.input_values()
    return [make(made.get_type_name().replace("Greater", "Less"), second, first)]


def _boolean(node: Node, made: openvino.Node) -> Values:
    """Return x ≠ 0 for a conversion to boolean."""
    if node.get_output_element_type(0) is not Type.boolean:
        return made.outputs()
    data = made.input_value(0)
    return [make("NotEqual", data, scalar(0, data))]


def _finite(node: Node, made: openvino.Node) -> Values:
    """Return |x| < ∞: OpenVINO takes denormal numbers for infinite."""
    data = made.input_value(0)
    return [make("Less", make("Abs", data), scalar(np.inf, data))]


def _reduced_extremum(node: Node, made: openvino.Node) -> Values:
    """Return the extremum, NaN if there is a NaN, and infinite if all elements are: OpenVINO's is finite then."""
    assert isinstance(node, (ops.ReduceMax, ops.ReduceMin))
    data, axes = made.input_values()
    keep = node.keep_dims
    infinity = scalar(-np.inf if isinstance(node, ops.ReduceMax) else np.inf, data)
    all_infinite = make("ReduceMin", _flags(make("Equal", data, infinity)), axes, keep_dims=keep)
    result = make("Select", _is_set(all_infinite), infinity, made.output(0))
    any_nan = make("ReduceMax", _flags(make("NotEqual", data, data)), axes, keep_dims=keep)
    return [make("Select", _is_set(any_nan), scalar(np.nan, data), result)]


def _best(node: Node, made: openvino.Node) -> Values:
    """Return the values and indices of TopK, for which NaN is above infinity, and infinity above all other numbers."""
    assert isinstance(node, TopKV1)
    data, count = made.input_values()
    finite = make("Minimum", scalar(-_lowest(node), data), data)
    ordered = make("Select", make("NotEqual", data, data), scalar(np.inf, data), finite)
    indices = factory("opset11").create("TopK", [ordered, count], made.get_attributes()).output(1)
    values = factory("opset6").create("GatherElements", [data, indices], {"axis": node.axis}).output(0)
    return [values, indices]


def _attention(node: Node, made: openvino.Node) -> Values:
    """Return the attention with zeros for rows that the mask excludes, for which OpenVINO returns NaN."""
    assert isinstance(node, ops.ScaledDotProductAttention)
    if node.get_input_size() <= 3 or node.causal:
        return made.outputs()
    mask, last = made.input_value(3), constant(np.array([-1]), Type.i64).output(0)
    if mask.get_element_type() != openvino.Type.boolean:
        mask = make("NotEqual", mask, scalar(-np.inf, mask))
    any_included = make("ReduceMax", _flags(mask), last, keep_dims=True)
    return [make("Select", _is_set(any_included), made.output(0), scalar(0, made.output(0)))]


def _with_infinity_kept(node: Node, made: openvino.Node) -> Values:
    """Return ∞ for ∞, where OpenVINO's GELU returns NaN."""
    data = made.input_value(0)
    return [make("Select", make("Equal", data, scalar(np.inf, data)), data, made.output(0))]


def _normalized(node: Node, made: openvino.Node) -> Values:
    """Return NaN for all elements along the axis if one of them is NaN or ∞.

    A product of matrices that follows, as in attention, does the same.
    """
    assert isinstance(node, (ops.Softmax, ops.SoftmaxV1, ops.LogSoftmax))
    if any(isinstance(reader.node, ops.MatMul) for reader in node.output(0).get_target_inputs()):
        return made.outputs()
    data = made.input_value(0)
    finite = make("Multiply", make("Maximum", scalar(_lowest(node), data), data), scalar(0, data))
    axis = constant(np.array([node.axis]), Type.i64).output(0)
    return [make("Add", made.output(0), make("ReduceSum", finite, axis, keep_dims=True))]


def _error_function(node: Node, made: openvino.Node) -> Values:
    """Return erf(x), near 0 by its Taylor series: OpenVINO's has an error of 3e-5 of the value there.

    One that is added to 1, as in a GELU, stays: the error does not count then, and OpenVINO fuses it.
    """
    if all(isinstance(reader.node, ops.Add) for reader in node.output(0).get_target_inputs()):
        return made.outputs()
    data = made.input_value(0)
    square = make("Multiply", data, data)
    series = scalar(0, data)
    for order in reversed(range(5)):
        coefficient = (-1) ** order / (math.factorial(order) * (2 * order + 1)) * 2 / math.sqrt(math.pi)
        series = make("Add", make("Multiply", series, square), scalar(coefficient, data))
    is_small = make("Less", make("Abs", data), scalar(0.3, data))
    return [make("Select", is_small, make("Multiply", series, data), made.output(0))]


def _soft_plus(node: Node, made: openvino.Node) -> Values:
    """Return max(x, 0) + log1p(exp(-|x|)); OpenVINO's result is 1 % too large at -10, and 0 from -17 on.

    log1p(y) is log(u) · y / (u - 1) with u = 1 + y, by D. Goldberg, "What every computer scientist should know about
    floating-point arithmetic", theorem 4.
    """
    data = make("Convert", made.input_value(0), destination_type="f32")
    one, power = scalar(1, data), make("Exp", make("Negative", make("Abs", data)))
    rounded = make("Subtract", power, scalar(-1, data))  # log(exp(x) + 1) would become OpenVINO's softplus again
    factor = make("Divide", make("Log", rounded), make("Subtract", rounded, one))
    rest = make("Select", make("Equal", rounded, one), power, make("Multiply", factor, power))
    result = make("Add", make("Maximum", scalar(0, data), data), rest)
    kept = make("Select", make("NotEqual", data, data), data, result)
    return [make("Convert", kept, destination_type=_type_name(made.output(0)))]


def _rectified(node: Node, made: openvino.Node) -> Values:
    """Return PRelu with NaN for NaN and for 0 · -∞ if the slope is 0, where OpenVINO returns 0."""
    slope = node.input_value(1).node
    if not isinstance(slope, Constant) or slope.data.size != 1 or slope.data.any():
        return made.outputs()
    data = made.input_value(0)
    zero = scalar(0, data)
    return [make("Select", make("LessEqual", zero, data), made.output(0), make("Multiply", data, zero))]


def _pooled(node: Node, made: openvino.Node) -> Values:
    """Return maxima that are NaN where an element of the window is."""
    data = made.input_value(0)
    flags = make("Convert", make("NotEqual", data, data), destination_type=_type_name(data))
    pooled = factory(node.type_info.version_id).create("MaxPool", [flags], made.get_attributes()).output(0)
    is_nan = make("Equal", pooled, scalar(1, data))
    return [make("Select", is_nan, scalar(np.nan, data), made.output(0)), *made.outputs()[1:]]


def _scatters_extremum(node: Node) -> bool:
    return node.get_input_element_type(0).is_real() and getattr(node, "reduction", "none") in ("min", "max")


def _scattered(node: Node, made: openvino.Node) -> Values:
    """Return extrema that are NaN where the element or an update is, and infinite where only infinities are."""
    if not _scatters_extremum(node):
        return made.outputs()
    data, indices, updates, *axis = made.input_values()
    attributes = made.get_attributes()
    scatter = factory(node.type_info.version_id).create
    if not attributes.pop("use_init_val", True):
        # OpenVINO begins with the lowest or the largest finite number.
        number = scalar(-np.inf if attributes["reduction"] == "max" else np.inf, updates)
        start = factory("opset3").create("Broadcast", [number, make("ShapeOf", updates)], {"mode": "numpy"}).output(0)
        data = scatter(node.type_info.name, [data, indices, start, *axis], {"reduction": "none"}).output(0)
    result = scatter(node.type_info.name, [data, indices, updates, *axis], attributes).output(0)
    flags = [make("Convert", make("NotEqual", value, value), destination_type="f32") for value in (data, updates)]
    any_nan = scatter(node.type_info.name, [flags[0], indices, flags[1], *axis], {"reduction": "max"}).output(0)
    return [make("Select", make("Equal", any_nan, scalar(1, any_nan)), scalar(np.nan, result), result)]


def _aligned(node: Node, made: openvino.Node) -> Values:
    """Return 0 for regions without area, whose bins have no samples: OpenVINO's mean of none may be NaN."""
    assert isinstance(node, ops.ROIAlignV3)
    if node.mode != "avg" or node.sampling_ratio or node.aligned_mode == "asymmetric":
        return made.outputs()
    corners = make("Multiply", made.input_value(1), scalar(node.spatial_scale, made.input_value(1)))
    pairs = make("Reshape", corners, constant(np.array([-1, 2, 2, 1]), Type.i64).output(0), special_zero=False)
    first, last = make("Split", pairs, constant(np.array(1), Type.i64).output(0), num_splits=2).get_node().outputs()
    axis = constant(np.array([2]), Type.i64).output(0)
    is_empty = _is_set(make("ReduceMax", _flags(make("LessEqual", last, first)), axis, keep_dims=True))
    return [make("Select", is_empty, scalar(0, made.output(0)), made.output(0))]


def _lowest(node: Node) -> float:
    return float(ml_dtypes.finfo(node.get_input_element_type(0).to_dtype()).min)


def _type_name(value: openvino.Output) -> str:
    return str(value.get_element_type().get_type_name())


def _flags(condition: openvino.Output) -> openvino.Output:
    """Return 1 for true and 0 for false, as CPUs reduce no booleans."""
    return make("Convert", condition, destination_type="i32")


def _is_set(flags: openvino.Output) -> openvino.Output:
    return make("Equal", flags, scalar(1, Type.i32))


_SCATTERS = (ops.ScatterElementsUpdate, ops.ScatterNDUpdate)
_OF_TWO = ("Maximum", "Minimum")
# What is corrected because of NaN and infinities alone.
_OF_NAN: Mapping[str, Correction] = {
    "Clamp": _clamped,
    "Exp": _with_nan_kept,
    "FakeQuantize": _with_nan_kept,
    "Gelu": _with_infinity_kept,
    "HSigmoid": _with_nan_kept,
    "HardSigmoid": _with_nan_kept,
    "LogSoftmax": _normalized,
    "MaxPool": _pooled,
    "PRelu": _rectified,
    "Maximum": _extremum,
    "Minimum": _extremum,
    "ReduceMax": _reduced_extremum,
    "ReduceMin": _reduced_extremum,
    "Relu": _with_nan_kept,
    "ScatterElementsUpdate": _scattered,
    "ScatterNDUpdate": _scattered,
    "Softmax": _normalized,
    "TopK": _best,
}
_CORRECTIONS: Mapping[str, Correction] = {
    **_OF_NAN,
    "Convert": _boolean,
    "Erf": _error_function,
    "Greater": _swapped,
    "GreaterEqual": _swapped,
    "IsFinite": _finite,
    "ROIAlign": _aligned,
    "ScaledDotProductAttention": _attention,
    "SoftPlus": _soft_plus,
}
