"""Frontends, the readers of model formats, with one folder per format, and their extensions."""

from hetero.frontend.extension import ConversionExtension, Extension
from hetero.frontend.frontend import FrontEnd, ModelSource
from hetero.frontend.node_context import REQUIRED, NodeContext
from hetero.frontend.op_extension import OpExtension, framework_map
from hetero.frontend.reading_extensions import DecoderTransformationExtension, ProgressReporterExtension
from hetero.frontend.subgraph import Subgraph
from hetero.frontend.translation import NamedOutput

__all__ = [
    "REQUIRED", "ConversionExtension", "DecoderTransformationExtension", "Extension", "FrontEnd", "ModelSource",
    "NamedOutput", "NodeContext", "OpExtension", "ProgressReporterExtension", "Subgraph", "framework_map",
]  # fmt: skip
