"""FULLY_CONNECTED and BATCH_MATMUL."""

from __future__ import annotations

import numpy as np
import tflite

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.linear import LinearOperator
from hetero.frontend.translation import Translation
from hetero.frontend.values import rank_of, reshape
from hetero.graph import Constant, Output, constant_array
from hetero.types import Type

_FORMATS = tflite.FullyConnectedOptionsWeightsFormat


@translator("FULLY_CONNECTED")
def fully_connected(node: TfliteNodeContext) -> Translation:
    """Weights are ``[O, I]``. Data of any rank is flattened to ``[rows, I]`` unless ``keep_num_dims`` is set."""
    linear, data, weights = LinearOperator(node), node.get_input(0), node.get_input(1)
    if not node.get_attribute("keep_num_dims", False) and rank_of(data) != 2:
        data = reshape(data, (-1, weights.partial_shape[-1].get_length()))
    is_shuffled = node.get_attribute("weights_format", _FORMATS.DEFAULT) == _FORMATS.SHUFFLED4x16INT8
    weights = linear.weights(_unshuffle(weights) if is_shuffled else weights)
    result = linear.epilogue(ops.MatMul(linear.data(data), weights, False, True).output(0), (-1,))
    # Output 1 is LiteRT's workspace.
    return [result, data] if is_shuffled else result


def _unshuffle(weights: Output) -> Output:
    """Convert SHUFFLED4x16INT8 weights to rows: they are stored in blocks of 4 rows and 16 columns, as i8 ^ 0x80."""
    data = constant_array(weights)
    if data is None:
        raise FrontendError("weights of the format SHUFFLED4x16INT8 must be constant")
    rows, columns = data.shape
    blocks = data.reshape(rows // 4, columns // 16, 4, 16)
    return Constant(blocks.transpose(0, 2, 1, 3).reshape(rows, columns) ^ np.uint8(0x80)).output(0)


@translator("BATCH_MATMUL")
def batch_matmul(node: TfliteNodeContext) -> Translation:
    linear = LinearOperator(node)
    operands = linear.data(node.get_input(0)), linear.weights(node.get_input(1))
    total = ops.MatMul(*operands, bool(node.get_attribute("adj_x", False)), bool(node.get_attribute("adj_y", False)))
    # An i32 result is the accumulator, without requantization.
    if node.output_tensor(0).element_type is Type.i32:
        return total
    return linear.epilogue(total.output(0), (-1,))
