"""Softmax, L2 normalization and local response normalization."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext, rows, translator
from hetero.frontend.tflite.quantization import computes_in_float
from hetero.frontend.tflite.translators.common import activated
from hetero.frontend.translation.translators import Attr, Row, Translation
from hetero.frontend.translation.values import int64, multiply_by

# A lower bound of a vector's L2 norm, against division by zero.
_MIN_NORM = 1e-6

rows(
    {
        "SOFTMAX": Row(lambda value, beta: ops.Softmax(multiply_by(value, beta), -1), 0, beta=Attr("beta", 1.0)),
        "LOG_SOFTMAX": Row(ops.LogSoftmax, 0, axis=-1),
    },
    computes_in_float,
)
rows({"L2_NORMALIZATION": Row(ops.NormalizeL2, 0, axes=np.array([-1]), eps=_MIN_NORM**2, eps_mode="max")}, activated)


@translator("LOCAL_RESPONSE_NORMALIZATION")
def local_response_normalization(node: TfliteNodeContext) -> Translation:
    """OpenVINO's LRN divides alpha by the window size, TensorFlow's does not."""
    alpha, beta, bias = (node.get_attribute(name, dtype=float) for name in ("alpha", "beta", "bias"))
    size = 2 * node.get_attribute("radius") + 1
    return ops.LRN(node.get_input(0), int64([-1]), alpha * size, beta, bias, size)
