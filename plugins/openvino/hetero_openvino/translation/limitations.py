"""Operations that OpenVINO accepts, but computes wrongly, or that end its process.

Each was found by the conformance kit or the tests, with OpenVINO 2026.4 on a CPU.
"""

from __future__ import annotations

from hetero import ops
from hetero.core.packing import is_packed
from hetero.core.shape import Dimension, PartialShape
from hetero.core.types import Type
from hetero.graph import Constant, Node, is_terminal
from hetero.ops.control_flow.variables import VariableOp

_VARIABLE_TYPES = (Type.boolean, Type.u8, Type.i8, Type.f16, Type.bf16, Type.f32, Type.i32)
# OpenVINO saturates integers of 8 and 16 bits, and computes unsigned ones of 32 and 64 bits as i32.
_NARROW_TYPES = (Type.i8, Type.u8, Type.i16, Type.u16, Type.u32, Type.u64)
_ARITHMETIC = (
    ops.Add, ops.Subtract, ops.Multiply, ops.Divide, ops.Mod, ops.FloorMod, ops.Power, ops.SquaredDifference, ops.Abs,
    ops.Negative, ops.ReduceSum, ops.ReduceProd, ops.ReduceMean, ops.ReduceL1, ops.ReduceL2, ops.MatMul, ops.CumSum,
)  # fmt: skip
_REASONS = {
    "BitwiseLeftShift": "OpenVINO takes the number of bits modulo the width of the type",
    "BitwiseRightShift": "OpenVINO takes the number of bits modulo the width of the type",
    "NonMaxSuppression": "OpenVINO also suppresses boxes whose overlap equals the threshold",
    "DFT": "OpenVINO's Fourier transforms are inexact",
    "IDFT": "OpenVINO's Fourier transforms are inexact",
    "RDFT": "OpenVINO's Fourier transforms end the process for some axes",
    "IRDFT": "OpenVINO's Fourier transforms end the process for some axes",
}


def _is_initial_state(node: Node) -> bool:
    """Return whether a node makes the initial value of variables, which is empty in decoders of text models."""
    readers = [target.node for output in node.outputs() for target in output.get_target_inputs()]
    return isinstance(node, ops.Broadcast) and all(isinstance(reader, VariableOp) for reader in readers)


def limitation(node: Node) -> str | None:
    """Return why an operation is not given to OpenVINO although it has it, None for most operations."""
    if is_terminal(node):
        return None
    inputs, outputs = node.input_values(), node.outputs()
    types = {value.element_type for value in (*inputs, *outputs)}
    if Type.f64 in types:
        return "OpenVINO computes f64 in f32"
    if any(is_packed(v.element_type) for v in (*inputs, *outputs) if not isinstance(v.node, Constant)):
        return "OpenVINO packs elements of less than a byte, and only constants are converted"
    for value in () if _is_initial_state(node) else outputs:
        shape = value.partial_shape
        if _is_empty(shape):
            # When it folds constants, it writes past the end of such values, which ends the process.
            return f"its output has the shape {shape}, and OpenVINO fails at values without elements"
    name, kind = node.type_info.name, node.get_output_element_type(0)
    if isinstance(node, ops.MatMul) and any(_is_empty(value.partial_shape) for value in inputs):
        return "OpenVINO has no products of matrices without elements"
    if isinstance(node, VariableOp) and kind not in _VARIABLE_TYPES:
        return f"OpenVINO has no variables of {kind}"
    if isinstance(node, _ARITHMETIC) and kind in _NARROW_TYPES:
        return f"OpenVINO does not wrap {kind} values that overflow"
    if isinstance(node, ops.Tile) and not isinstance(node.input_value(1).node, Constant):
        return "OpenVINO repeats wrong elements if the number of repetitions is not a constant"
    if isinstance(node, ops.ScaledDotProductAttention) and node.get_input_size() > 3:
        mask = inputs[3].partial_shape
        if not mask.has_rank or len(mask) == 0:
            return "OpenVINO's attention returns NaN for rows that a mask without dimensions excludes"
    if isinstance(node, ops.PRelu) and _may_lack_channels(*(value.partial_shape for value in inputs)):
        return "OpenVINO takes slopes for those of channels also if the data has one channel"
    if isinstance(node, (ops.LSTMSequence, ops.GRUSequence, ops.RNNSequence)) and _may_end_early(node):
        return "OpenVINO ignores the lengths of sequences if a dimension of the data is dynamic"
    if isinstance(node, (ops.Mod, ops.FloorMod)) and kind.is_real():
        return "OpenVINO's remainder of infinity and by zero is not NaN"
    return _REASONS.get(name)


def _may_lack_channels(data: PartialShape, slope: PartialShape) -> bool:
    """Return whether a vector of slopes may belong to the last axis of the data, as the length of axis 1 is unknown."""
    is_vector = slope.has_rank and len(slope) == 1 and slope != [1]
    return is_vector and data.has_rank and len(data) > 2 and data[1].is_dynamic


def _may_end_early(node: ops.LSTMSequence | ops.GRUSequence | ops.RNNSequence) -> bool:
    """Return whether the shape of the data is dynamic, and a sequence may be shorter than axis 1 of the data."""
    data, lengths = node.input_value(0).partial_shape, node.input_value(node.input_index("sequence_lengths"))
    if data.is_static:
        return False
    while isinstance(lengths.node, (ops.Broadcast, ops.Convert)):
        lengths = lengths.node.input_value(0)
    if lengths.value is None or not data.has_rank:
        return True
    return not all(_are_equal(data[1], length) for length in lengths.value.reshape(-1))


def _are_equal(dimension: Dimension, length: int | Dimension) -> bool:
    """Return whether both lengths are known to be equal, in every inference."""
    if isinstance(length, Dimension):
        return length.symbol is not None and length.symbol is dimension.symbol
    return dimension == int(length)


def _is_empty(shape: PartialShape) -> bool:
    return shape.has_rank and any(dimension.max_length == 0 for dimension in shape)
