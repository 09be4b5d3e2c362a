"""OnnxFrontEnd: reads ONNX models."""

from __future__ import annotations

from onnx import ModelProto

from hetero.errors import FrontendError
from hetero.frontend.frontend import FrontEnd, ModelSource
from hetero.frontend.onnx.graph import build_model
from hetero.frontend.onnx.tensors import TensorReader
from hetero.frontend.onnx.wire import WireError, detach_tensors, looks_like_model
from hetero.frontend.reading_extensions import DecoderTransformationExtension
from hetero.frontend.source import read_source
from hetero.graph import Model


class OnnxFrontEnd(FrontEnd):
    """Reads ONNX models from a path, bytes, an open binary file or an onnx.ModelProto.

    Weights are used where they are: a file is mapped into memory, not read, and must not change while the model lives.
    """

    name = "onnx"

    def supported(self, source: ModelSource) -> bool:
        if isinstance(source, ModelProto):
            return True
        try:
            return looks_like_model(read_source(source, "ONNX", keep_position=True).data)
        except FrontendError:
            return False

    def convert(self, source: ModelSource, weights: ModelSource | None = None) -> Model:
        """The model. Friendly names are those of the ONNX nodes, tensor names those of the ONNX values.

        ``rt_info`` has ``metadata`` (a dict of str), ``producer_name`` and ``producer_version``. Raises FrontendError.
        """
        if weights is not None:
            raise FrontendError("an ONNX model tells itself where its weights are: read_model takes none for it")
        if isinstance(source, ModelProto):
            label, proto, tensors = "the ONNX model", source, TensorReader(None, None)
        else:
            label, data, path = read_source(source, "ONNX")
            proto, tensors = _parse(label, data), TensorReader(data, path.parent if path else None)
        try:
            return build_model(self._transformed(proto), tensors, self.extensions, self.report_progress)
        except FrontendError as error:
            raise FrontendError(f"{label}: {error}") from error

    def _transformed(self, proto: ModelProto) -> ModelProto:
        """What the extensions make of what the decoder has read; the user's own object stays as it is."""
        if not any(isinstance(extension, DecoderTransformationExtension) for extension in self.extensions):
            return proto
        copy = ModelProto()
        copy.CopyFrom(proto)
        self.transform_decoded(copy)
        return copy


def _parse(label: str, data: memoryview) -> ModelProto:
    """The model without its large tensors. Raises FrontendError."""
    from google.protobuf.message import DecodeError

    if not looks_like_model(data):
        raise FrontendError(f"{label} is not an ONNX model")
    try:
        return ModelProto.FromString(detach_tensors(data))
    except (WireError, DecodeError) as error:
        raise FrontendError(f"{label} is truncated or damaged: {error}") from error
