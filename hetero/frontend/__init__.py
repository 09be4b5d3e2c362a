"""Readers of model formats: one folder a format."""

from hetero.frontend.extension import ConversionExtension, Extension, OpExtension
from hetero.frontend.frontend import FrontEnd, ModelSource
from hetero.frontend.node_context import REQUIRED, NodeContext

__all__ = [
    "REQUIRED", "ConversionExtension", "Extension", "FrontEnd", "ModelSource", "NodeContext", "OpExtension",
]  # fmt: skip
