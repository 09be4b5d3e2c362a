"""SVDF: a filter over features and time, kept as the product of two (singular value decomposition).

See Nakkiran et al., Compressing Deep Neural Networks Using a Rank-Constrained Topology, 2015.
"""

from __future__ import annotations

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.quantization import computes_in_float
from hetero.frontend.tflite.registry import translator
from hetero.frontend.tflite.translators.common import apply_activation
from hetero.frontend.tflite.translators.states import fake_quantize, update_state
from hetero.frontend.translation import Translation
from hetero.frontend.values import int64, reshape


@translator("SVDF")
@computes_in_float
def svdf(node: TfliteNodeContext) -> Translation:
    """Inputs: data ``[N, I]``, weights of features ``[filters, I]`` and of times ``[filters, times]``, a bias
    ``[units]`` and the state ``[N, filters · times]``: what the filters over features gave in the last inferences.

    As many filters as ``rank`` says make a unit.
    """
    data, of_features, of_times = (node.get_input(index) for index in range(3))
    filters, times = of_times.shape
    kept = reshape(node.get_input(4), (-1, filters, times))
    new = ops.MatMul(data, of_features, False, True).output(0)
    new = fake_quantize(reshape(new, (-1, filters, 1)), node.input_tensor(4))
    if times > 1:
        before = ops.Slice(kept, int64([1]), int64([times]), int64([1]), int64([2]))
        new = ops.Concat([before, new], 2).output(0)
    update_state(node, 4, reshape(new, (-1, filters * times)))
    rank = node.get_attribute("rank")
    weighted = reshape(ops.Multiply(new, of_times).output(0), (-1, filters // rank, rank * times))
    total = ops.ReduceSum(weighted, int64([2]), False).output(0)
    if node.has_input(3):
        total = ops.Add(total, node.get_input(3)).output(0)
    return apply_activation(node, total)
