"""INFERENCE_PRECISION_HINT f16: f32 models that keep their weights and activations in 16 bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetero import ops
from hetero.graph import Constant, Input, Model, Node, Output, is_constant
from hetero.ops.convolution import CONVOLUTIONS
from hetero.passes import eliminate_dead_code
from hetero.passes.specialization import nodes_that_decide_shapes
from hetero.types import Type

# With these a model begins to be of f16: they take the time and the memory, and add up in float.
_PRODUCTS = (*CONVOLUTIONS, ops.MatMul)
# These go on in f16 where they read it. Their results are about as large as what they read. Others, such as powers,
# exponentials, quotients and sums, may exceed f16 or come near 0 on their way, and stay f32.
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
    """Let the nodes that lose little by it compute f16 instead of f32; the model is changed.

    ``unsupported_reason`` says why a node cannot run, None where it can: one that cannot in f16 stays f32. So do inputs, results,
    variables, and what decides shapes; Converts stand between the two. Bodies are changed in the same way.
    """
    deciding = nodes_that_decide_shapes(model)
    halves = _Halves()
    for node in model.get_ordered_ops():
        if node not in deciding:
            halves.try_node(node, unsupported_reason)
        for body in filter(None, node.bodies):
            convert_to_fp16(body, unsupported_reason)
    return eliminate_dead_code(model) or bool(halves)


class _Halves(dict[Output, Output]):
    """The f16 value of each f32 value that has one."""

    def try_node(self, node: Node, unsupported_reason: Callable[[Node], str | None]) -> None:
        values = [reader for reader in node.inputs() if reader.index not in node.shape_inputs]
        reading = [reader for reader in values if reader.element_type is Type.f32]
        if not self._gains(node, reading):
            return
        before = [reader.get_source_output() for reader in reading]
        wide = [output for output in node.outputs() if output.element_type is Type.f32]
        for reader, value in zip(reading, before):
            reader.replace_source_output(self._half(value))
        node.infer()
        if unsupported_reason(node):
            for reader, value in zip(reading, before):
                reader.replace_source_output(value)
            node.infer()
            return
        for output in wide:
            readers = output.get_target_inputs()
            name = f"{node.friendly_name}/{output.index}/f32"
            restored = ops.Convert(output, Type.f32, name=name).output(0)
            for reader in readers:
                reader.replace_source_output(restored)
            self[restored] = output

    def _gains(self, node: Node, reading: list[Input]) -> bool:
        values = [reader.get_source_output() for reader in reading]
        follows = isinstance(node, _FOLLOWERS) and any(map(_was_half, values))
        if not follows and not isinstance(node, _PRODUCTS):
            return False
        # What is too large for f16 may have a square root that is not.
        is_square = isinstance(node, ops.Multiply) and values[0] == values[-1]
        return bool(values) and not is_square and all(_fits(value.node.data) for value in values if is_constant(value))

    def _half(self, value: Output) -> Output:
        if value not in self:
            name = f"{value.node.friendly_name}/{value.index}/f16"
            if is_constant(value):
                self[value] = Constant(value.node.data.astype(np.float16), name=name).output(0)
            else:
                self[value] = ops.Convert(value, Type.f16, name=name).output(0)
        return self[value]


def _was_half(value: Output) -> bool:
    return isinstance(value.node, ops.Convert) and value.node.get_input_element_type(0) is Type.f16


def _fits(array: np.ndarray) -> bool:
    """Whether the largest number of an array is one of f16 with all its digits; infinite ones are as good there."""
    sizes = np.abs(array[np.isfinite(array)])
    return not sizes.any() or _LIMITS.tiny <= sizes.max() <= _LIMITS.max
