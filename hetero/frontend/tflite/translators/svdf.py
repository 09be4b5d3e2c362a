"""SVDF: a filter over features and time, stored as a low-rank product (singular value decomposition filter).

See Nakkiran et al., Compressing Deep Neural Networks Using a Rank-Constrained Topology, 2015.
"""

from __future__ import annotations

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import computes_in_float
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.common import apply_activation, fake_quantize, update_state
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import int64, reshape


@translator("SVDF")
@computes_in_float
def svdf(node: TfliteNodeContext) -> Translation:
    """Inputs: data ``[N, I]``, feature weights ``[filters, I]``, time weights ``[filters, times]``, bias ``[units]``.

    Input 4, the state ``[N, filters · times]``, has the results of the feature filters of the latest inferences. A unit
    is the sum of ``rank`` filters.
    """
    data, feature_weights, time_weights = (node.get_input(index) for index in range(3))
    filters, times = time_weights.shape
    state = reshape(node.get_input(4), (-1, filters, times))
    features = ops.MatMul(data, feature_weights, False, True).output(0)
    features = fake_quantize(reshape(features, (-1, filters, 1)), node.input_tensor(4))
    if times > 1:
        previous = ops.Slice(state, int64([1]), int64([times]), int64([1]), int64([2]))
        features = ops.Concat([previous, features], 2).output(0)
    update_state(node, 4, reshape(features, (-1, filters * times)))
    rank = node.get_attribute("rank")
    weighted = reshape(ops.Multiply(features, time_weights).output(0), (-1, filters // rank, rank * times))
    total = ops.ReduceSum(weighted, int64([2]), False).output(0)
    if node.has_input(3):
        total = ops.Add(total, node.get_input(3)).output(0)
    return apply_activation(node, total)
