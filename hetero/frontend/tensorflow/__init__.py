"""The TensorFlow frontend."""

from hetero.frontend.tensorflow.frontend import TensorflowFrontEnd

__all__ = ["TensorflowFrontEnd"]
