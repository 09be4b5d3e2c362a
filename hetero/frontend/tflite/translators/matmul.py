"""Products of matrices."""

from __future__ import annotations

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.products import Products
from hetero.frontend.translation import Translation
from hetero.frontend.values import rank_of, reshape
from hetero.types import Type


@translator("FULLY_CONNECTED")
def fully_connected(node: TfliteNodeContext) -> Translation:
    """Weights are ``[O, I]``; data of any rank is rows of I, which stay as they are where the operator says so."""
    products, data = Products(node), node.get_input(0)
    if not node.get_attribute("keep_num_dims", False) and rank_of(data) != 2:
        data = reshape(data, (-1, node.get_input(1).partial_shape[-1].get_length()))
    total = ops.MatMul(products.data(data), products.weights(node.get_input(1)), False, True)
    return products.finished(total.output(0), (-1,))


@translator("BATCH_MATMUL")
def batch_matmul(node: TfliteNodeContext) -> Translation:
    products = Products(node)
    factors = products.data(node.get_input(0)), products.weights(node.get_input(1))
    total = ops.MatMul(*factors, bool(node.get_attribute("adj_x", False)), bool(node.get_attribute("adj_y", False)))
    # Integers of 32 bits are the sums themselves.
    if node.output_tensor(0).element_type is Type.i32:
        return total
    return products.finished(total.output(0), (-1,))
