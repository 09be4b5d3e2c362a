"""Constants as f16, with a conversion behind them to what they were."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.graph import Constant, Model
from hetero.graph.runtime_info import copy_runtime_info
from hetero.types import Type

# The note by which OpenVINO knows the conversion, so that a device may keep the constant as it is.
DECOMPRESSION = "decompression"


def compress_to_half(model: Model) -> Model:
    """A copy of the model whose constants of f32 and f64 are f16, but for those with a number too large for it."""
    compressed = model.clone()
    largest = float(np.finfo(np.float16).max)
    for node in compressed.get_ordered_ops():
        if not isinstance(node, Constant) or node.get_element_type() not in (Type.f32, Type.f64) or not node.data.size:
            continue
        with np.errstate(invalid="ignore"):
            if not (np.abs(node.data[np.isfinite(node.data)]) <= largest).all():
                continue
        half = Constant(node.data.astype(np.float16), name=f"{node.friendly_name}_compressed")
        restored = ops.Convert(half, node.get_element_type(), name=node.friendly_name)
        copy_runtime_info([node], restored)
        restored.rt_info[DECOMPRESSION] = ""
        node.output(0).replace(restored.output(0))
    return compressed
