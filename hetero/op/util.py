"""Variables and the port descriptions of loops, like ``openvino.op.util``."""

from hetero.graph.variable import Variable, VariableInfo
from hetero.ops.control_flow.port_maps import (
    BodyOutputDescription,
    ConcatOutputDescription,
    InvariantInputDescription,
    MergedInputDescription,
    SliceInputDescription,
)

__all__ = [
    "BodyOutputDescription", "ConcatOutputDescription", "InvariantInputDescription", "MergedInputDescription",
    "SliceInputDescription", "Variable", "VariableInfo",
]  # fmt: skip
