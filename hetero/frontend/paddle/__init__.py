"""Frontend for PaddlePaddle: programs of Paddle 1 and 2 (``.pdmodel``) and of Paddle 3 (``inference.json``)."""

from hetero.frontend.extension import ConversionExtension
from hetero.frontend.op_extension import OpExtension
from hetero.frontend.paddle.frontend import PaddleFrontEnd

__all__ = ["ConversionExtension", "OpExtension", "PaddleFrontEnd"]
