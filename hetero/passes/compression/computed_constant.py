"""What a value is that is computed of Constants alone, such as scales and zero points."""

from __future__ import annotations

import numpy as np

from hetero.graph import Constant, Output
from hetero.reference import evaluate, has_evaluate


def computed_constant(value: Output) -> np.ndarray | None:
    """Return what a value computed of Constants is, None if inputs decide it, or numbers that are drawn."""
    node = value.node
    if isinstance(node, Constant):
        return node.data
    inputs = [computed_constant(source) for source in node.input_values()] if has_evaluate(node) else []
    if not inputs or not node.deterministic or any(array is None for array in inputs):
        return None
    return evaluate(node, [array for array in inputs if array is not None])[value.index]
