"""The TensorFlow frontend."""

from hetero.frontend.extension import ConversionExtension
from hetero.frontend.op_extension import OpExtension
from hetero.frontend.tensorflow.frontend import TensorflowFrontEnd

__all__ = ["ConversionExtension", "OpExtension", "TensorflowFrontEnd"]
