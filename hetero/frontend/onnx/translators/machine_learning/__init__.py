"""Translators of operators of the domains ai.onnx.ml and ai.onnx.preview.training."""
