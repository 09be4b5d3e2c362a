"""The frontend for ONNX models."""

from hetero.frontend.onnx.extension import ConversionExtension, OpExtension
from hetero.frontend.onnx.frontend import OnnxFrontEnd

__all__ = ["ConversionExtension", "OnnxFrontEnd", "OpExtension"]
