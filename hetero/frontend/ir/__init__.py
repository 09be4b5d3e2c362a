"""OpenVINO's IR files: a graph in XML, and beside it the weights in a binary file. Versions 10 and 11."""

from hetero.frontend.ir.frontend import IrFrontEnd
from hetero.frontend.ir.writer import save_model, serialize

__all__ = ["IrFrontEnd", "save_model", "serialize"]
