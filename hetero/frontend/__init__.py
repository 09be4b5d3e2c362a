"""Frontends, the readers of model formats, with one folder per format, and their extensions."""

from typing import Any

from hetero.frontend.extension import ConversionExtension, Extension
from hetero.frontend.frontend import FrontEnd, ModelSource
from hetero.frontend.input_model import InputModel, Place
from hetero.frontend.op_extension import OpExtension, framework_map
from hetero.frontend.reading_extensions import (
    DecoderTransformationExtension,
    ProgressReporterExtension,
    TelemetryExtension,
)
from hetero.frontend.translation.node_context import REQUIRED, NodeContext
from hetero.frontend.translation.subgraph import Subgraph
from hetero.frontend.translation.translators import NamedOutput
from hetero.graph.upper_layers import need
from hetero.system.errors import FrontendError

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
    # These need the installed packages, which are above this layer.
    if name in ("FrontEndManager", "get_version"):
        return getattr(need("runtime"), name)
    raise AttributeError(f"module 'hetero.frontend' has no attribute '{name}'")
