"""OnnxFrontEnd, the reader of ONNX models."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeGuard

from hetero.frontend.frontend import FrontEnd, ModelSource
from hetero.frontend.onnx.package_import import importing_onnx
from hetero.frontend.onnx.wire import detach_tensors, looks_like_model
from hetero.frontend.protobuf import WireError
from hetero.frontend.reading_extensions import DecoderTransformationExtension
from hetero.frontend.source import read_source
from hetero.graph import Model
from hetero.system.errors import FrontendError

if TYPE_CHECKING:
    from onnx import ModelProto


class OnnxFrontEnd(FrontEnd):
    """The reader of ONNX models from a path, bytes, an open binary file or an onnx.ModelProto.

    Weights are not copied: a file is memory-mapped, and must not change while the model is in use.
    """

    name = "onnx"

    def supported(self, source: ModelSource) -> bool:
        if _is_proto(source):
            return True
        try:
            return looks_like_model(read_source(source, "ONNX", keep_position=True).data)
        except FrontendError:
            return False

    def convert(self, source: ModelSource, weights: ModelSource | None = None) -> Model:
        """Return the model, with friendly names from the ONNX nodes and tensor names from the ONNX values.

        ``rt_info`` has the metadata as ``framework`` (a dict of str) if there is any, as in OpenVINO, and
        ``producer_name`` and ``producer_version``. Raises FrontendError.
        """
        # Only here: other formats are read without the onnx package.
        with importing_onnx():
            from hetero.frontend.onnx.graph import build_model
            from hetero.frontend.onnx.tensors import TensorReader

        if weights is not None:
            raise FrontendError("an ONNX model refers to its weights itself: read_model takes no weights for it")
        if _is_proto(source):
            label, proto, tensors = "the ONNX model", source, TensorReader(None, None)
        else:
            label, data, path = read_source(source, "ONNX")
            proto, tensors = _parse(label, data), TensorReader(data, path)
        try:
            return build_model(
                self._transformed(proto), tensors, self.extensions, self.report_progress, self.chosen_outputs
            )
        except FrontendError as error:
            raise FrontendError(f"{label}: {error}") from error

    def _transformed(self, proto: ModelProto) -> ModelProto:
        """Apply the DecoderTransformationExtensions to a copy of the model, if there are any."""
        if not any(isinstance(extension, DecoderTransformationExtension) for extension in self.extensions):
            return proto
        copy = type(proto)()
        copy.CopyFrom(proto)
        self.transform_decoded(copy)
        return copy


def _is_proto(source: Any) -> TypeGuard[ModelProto]:
    """Return whether an object is an onnx.ModelProto, without importing onnx."""
    onnx = sys.modules.get("onnx")
    kind = getattr(onnx, "ModelProto", None)  # an import that failed may have left a part of the package
    return kind is not None and isinstance(source, kind)


def _parse(label: str, data: memoryview) -> ModelProto:
    """Parse a model file, without its large tensors. Raises FrontendError."""
    from google.protobuf.message import DecodeError
    from onnx import ModelProto

    if not looks_like_model(data):
        raise FrontendError(f"{label} is not an ONNX model")
    try:
        return ModelProto.FromString(detach_tensors(data))
    except (WireError, DecodeError) as error:
        raise FrontendError(f"{label} is truncated or damaged: {error}") from error
