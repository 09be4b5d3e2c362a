"""OpenVINO IR files, versions 10 and 11: the graph as XML and the weights in a binary file beside it."""

from hetero.frontend.ir.frontend import IrFrontEnd
from hetero.frontend.ir.writer import save_model, serialize

__all__ = ["IrFrontEnd", "save_model", "serialize"]
