"""The frontend for ONNX models."""

from hetero.frontend.onnx.extension import OnnxConversionExtension as ConversionExtension
from hetero.frontend.onnx.extension import OnnxOpExtension as OpExtension
from hetero.frontend.onnx.frontend import OnnxFrontEnd

__all__ = ["ConversionExtension", "OnnxFrontEnd", "OpExtension"]
