"""Translators of operators of the domain com.microsoft, which ONNX Runtime adds to ONNX."""
