"""A module that exists because OpenVINO has ``openvino.op.util``: variables, and the port descriptions of loops."""

from hetero.graph.variable import Variable, VariableInfo
from hetero.ops.control_flow.bodies import (
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
