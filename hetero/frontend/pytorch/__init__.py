"""The PyTorch frontend: programs that ``torch.export.save`` writes, read without torch."""

from hetero.frontend.extension import ConversionExtension
from hetero.frontend.op_extension import OpExtension
from hetero.frontend.pytorch.frontend import PytorchFrontEnd
from hetero.frontend.pytorch.traced_module import ModuleExtension

__all__ = ["ConversionExtension", "ModuleExtension", "OpExtension", "PytorchFrontEnd"]
