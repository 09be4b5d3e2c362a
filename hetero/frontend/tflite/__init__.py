"""The frontend for TensorFlow Lite models."""

from hetero.frontend.tflite.frontend import TfliteFrontEnd

__all__ = ["TfliteFrontEnd"]
