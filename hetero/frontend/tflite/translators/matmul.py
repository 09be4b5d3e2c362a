"""Products of matrices."""

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
from hetero.graph import Constant, Output, is_constant
from hetero.types import Type

_FORMATS = tflite.FullyConnectedOptionsWeightsFormat


@translator("FULLY_CONNECTED")
def fully_connected(node: TfliteNodeContext) -> Translation:
    """Weights are ``[O, I]``; data of any rank is rows of I, which stay as they are where the operator says so."""
    products, data, weights = LinearOperator(node), node.get_input(0), node.get_input(1)
    if not node.get_attribute("keep_num_dims", False) and rank_of(data) != 2:
        data = reshape(data, (-1, weights.partial_shape[-1].get_length()))
    is_shuffled = node.get_attribute("weights_format", _FORMATS.DEFAULT) == _FORMATS.SHUFFLED4x16INT8
    weights = products.weights(_in_rows(weights) if is_shuffled else weights)
    result = products.finished(ops.MatMul(products.data(data), weights, False, True).output(0), (-1,))
    # Output 1 is memory for LiteRT to work in.
    return [result, data] if is_shuffled else result


def _in_rows(weights: Output) -> Output:
    """Weights that are kept in blocks of 4 rows and 16 columns, and as i8 among bytes."""
    if not is_constant(weights):
        raise FrontendError("weights in blocks must be known before the model runs")
    rows, columns = weights.shape
    blocks = weights.node.data.reshape(rows // 4, columns // 16, 4, 16)
    return Constant(blocks.transpose(0, 2, 1, 3).reshape(rows, columns) ^ np.uint8(0x80)).output(0)


@translator("BATCH_MATMUL")
def batch_matmul(node: TfliteNodeContext) -> Translation:
    products = LinearOperator(node)
    factors = products.data(node.get_input(0)), products.weights(node.get_input(1))
    total = ops.MatMul(*factors, bool(node.get_attribute("adj_x", False)), bool(node.get_attribute("adj_y", False)))
    # Integers of 32 bits are the sums themselves.
    if node.output_tensor(0).element_type is Type.i32:
        return total
    return products.finished(total.output(0), (-1,))
