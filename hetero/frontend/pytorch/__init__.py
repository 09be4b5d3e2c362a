"""The PyTorch frontend: programs that ``torch.export.save`` writes, read without torch."""

from hetero.frontend.pytorch.frontend import PytorchFrontEnd

__all__ = ["PytorchFrontEnd"]
