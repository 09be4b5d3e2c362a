"""The frontend for ONNX models."""

from hetero.frontend.onnx.frontend import OnnxFrontEnd

__all__ = ["OnnxFrontEnd"]
