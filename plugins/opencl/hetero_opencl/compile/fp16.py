"""INFERENCE_PRECISION_HINT f16: store weights and activations of f32 models in 16 bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Constant, Input, Model, Node, Output, constant_array
from hetero.ops.convolution import CONVOLUTIONS
from hetero.passes import eliminate_dead_code
from hetero.passes.specialization import shape_deciding_nodes

# Nodes that are always converted, if supported: they dominate time and memory, and accumulate in float.
_PRODUCTS = (*CONVOLUTIONS, ops.MatMul)
# Nodes that are converted if an input is already f16. Their results have about the magnitude of their inputs. Others,
# such as powers, exponentials, quotients and sums, may overflow f16 or approach 0 in between, and stay f32.
_FOLLOWERS = (
    ops.MaxPool, ops.AvgPool, ops.AdaptiveAvgPool, ops.AdaptiveMaxPool, ops.Interpolate, ops.Softmax, ops.MVN, ops.LRN,
    ops.GroupNormalization, ops.BatchNormInference, ops.ReduceMean, ops.ReduceMax, ops.ReduceMin,
    ops.Add, ops.Subtract, ops.Multiply, ops.Maximum, ops.Minimum, ops.Abs, ops.Negative, ops.Select, ops.Clamp,
    ops.Relu, ops.PRelu, ops.Elu, ops.Selu, ops.Gelu, ops.Sigmoid, ops.Tanh, ops.Mish, ops.Swish, ops.SoftPlus,
    ops.SoftSign, ops.HSwish, ops.HSigmoid, ops.HardSigmoid,
    ops.Reshape, ops.Squeeze, ops.Unsqueeze, ops.Transpose, ops.Concat, ops.Split, ops.VariadicSplit, ops.Slice,
    ops.StridedSlice, ops.Pad, ops.Tile, ops.Broadcast, ops.Gather, ops.DepthToSpace, ops.SpaceToDepth,
)  # fmt: skip

_LIMITS = np.finfo(np.float16)


def convert_to_fp16(model: Model, unsupported_reason: Callable[[Node], str | None]) -> bool:
    """Convert the nodes that lose little accuracy from f32 to f16, in place. Returns whether the model changed.

    ``unsupported_reason`` returns why a node cannot run, or None; a node that cannot run in f16 stays f32. Inputs,
    results, variables and values that decide shapes stay f32 too, with Convert nodes between. Bodies are converted
    alike.
    """
    deciding = shape_deciding_nodes(model)
    values = _HalfValues()
    for node in model.get_ordered_ops():
        if node not in deciding:
            values.try_node(node, unsupported_reason)
        for body in filter(None, node.bodies):
            convert_to_fp16(body, unsupported_reason)
    return eliminate_dead_code(model) or bool(values)


class _HalfValues(dict[Output, Output]):
    """Maps f32 values to their f16 counterparts."""

    def try_node(self, node: Node, unsupported_reason: Callable[[Node], str | None]) -> None:
        values = [reader for reader in node.inputs() if reader.index not in node.shape_inputs]
        reading = [reader for reader in values if reader.element_type is Type.f32]
        if not self._should_convert(node, reading):
            return
        sources = [reader.get_source_output() for reader in reading]
        outputs = [output for output in node.outputs() if output.element_type is Type.f32]
        for reader, value in zip(reading, sources):
            reader.replace_source_output(self._to_half(value))
        node.infer()
        if unsupported_reason(node):
            for reader, value in zip(reading, sources):
                reader.replace_source_output(value)
            node.infer()
            return
        for output in outputs:
            readers = output.get_target_inputs()
            name = f"{node.friendly_name}/{output.index}/f32"
            restored = ops.Convert(output, Type.f32, name=name).output(0)
            output.hand_over(restored)
            for reader in readers:
                reader.replace_source_output(restored)
            self[restored] = output

    def _should_convert(self, node: Node, reading: list[Input]) -> bool:
        values = [reader.get_source_output() for reader in reading]
        follows = isinstance(node, _FOLLOWERS) and any(map(_was_half, values))
        if not follows and not isinstance(node, _PRODUCTS):
            return False
        # Squares may overflow where a Sqrt after them would bring the value back into range.
        is_square = isinstance(node, ops.Multiply) and values[0] == values[-1]
        return bool(values) and not is_square and all(map(_fits, values))

    def _to_half(self, value: Output) -> Output:
        if value not in self:
            name = f"{value.node.friendly_name}/{value.index}/f16"
            array = constant_array(value)
            if array is None:
                self[value] = ops.Convert(value, Type.f16, name=name).output(0)
            else:
                self[value] = Constant(array.astype(np.float16), name=name).output(0)
        return self[value]


def _was_half(value: Output) -> bool:
    return isinstance(value.node, ops.Convert) and value.node.get_input_element_type(0) is Type.f16


def _fits(value: Output) -> bool:
    """Return whether the largest finite magnitude of a constant, if it is one, is zero or a normal number in f16."""
    array = constant_array(value)
    if array is None:
        return True
    magnitudes = np.abs(array[np.isfinite(array)])
    return not magnitudes.any() or _LIMITS.tiny <= magnitudes.max() <= _LIMITS.max
