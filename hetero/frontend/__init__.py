"""Frontends, the readers of model formats, with one folder per format, and their extensions."""

from typing import Any

from hetero.errors import FrontendError
from hetero.frontend.extension import ConversionExtension, Extension
from hetero.frontend.frontend import FrontEnd, ModelSource
from hetero.frontend.input_model import InputModel, Place
from hetero.frontend.node_context import REQUIRED, NodeContext
from hetero.frontend.op_extension import OpExtension, framework_map
from hetero.frontend.reading_extensions import (
    DecoderTransformationExtension,
    ProgressReporterExtension,
    TelemetryExtension,
)
from hetero.frontend.subgraph import Subgraph
from hetero.frontend.translation import NamedOutput
from hetero.graph.upper_layers import need

# OpenVINO's names of errors, which there have no common base.
GeneralFailure = InitializationFailure = NotImplementedFailure = FrontendError
OpConversionFailure = OpValidationFailure = FrontendError

__all__ = [
    "REQUIRED",
    "ConversionExtension",
    "DecoderTransformationExtension",
    "Extension",
    "FrontEnd",
    "GeneralFailure",
    "InitializationFailure",
    "InputModel",
    "ModelSource",
    "NamedOutput",
    "NodeContext",
    "NotImplementedFailure",
    "OpConversionFailure",
    "OpExtension",
    "OpValidationFailure",
    "Place",
    "ProgressReporterExtension",
    "Subgraph",
    "TelemetryExtension",
    "framework_map",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    # FrontEndManager needs the installed plugins, which are above this layer.
    if name == "FrontEndManager":
        return need("runtime").FrontEndManager
    raise AttributeError(f"module 'hetero.frontend' has no attribute '{name}'")
