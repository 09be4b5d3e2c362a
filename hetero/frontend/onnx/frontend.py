"""OnnxFrontEnd: reads ONNX models."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from onnx import ModelProto

from hetero.errors import FrontendError
from hetero.frontend.frontend import FrontEnd, ModelSource
from hetero.frontend.onnx.graph import build_model
from hetero.frontend.onnx.tensors import TensorReader, map_file
from hetero.frontend.onnx.wire import WireError, detach_tensors, looks_like_model
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
            return looks_like_model(_read(source, keep_place=True).data)
        except FrontendError:
            return False

    def convert(self, source: ModelSource) -> Model:
        """The model. Friendly names are those of the ONNX nodes, tensor names those of the ONNX values.

        ``rt_info`` has ``metadata`` (a dict of str), ``producer_name`` and ``producer_version``. Raises FrontendError.
        """
        if isinstance(source, ModelProto):
            label, proto, tensors = "the ONNX model", source, TensorReader(None, None)
        else:
            label, data, folder = _read(source)
            proto, tensors = _parse(label, data), TensorReader(data, folder)
        try:
            return build_model(proto, tensors)
        except FrontendError as error:
            raise FrontendError(f"{label}: {error}") from error


class _Source(NamedTuple):
    label: str
    data: memoryview
    folder: Path | None


def _read(source: ModelSource, keep_place: bool = False) -> _Source:
    """The bytes of a model, mapped where it is a file. Raises FrontendError."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _Source("the ONNX model", memoryview(source).cast("B"), None)
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        try:
            return _Source(str(path), map_file(path), path.parent)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise FrontendError(f"the model file {path} cannot be read: {reason}") from error
    if not hasattr(source, "read"):
        raise FrontendError(
            f"{type(source).__name__} cannot hold an ONNX model: give a path, bytes, a file or a ModelProto"
        )
    place = source.tell() if keep_place else 0
    content = source.read()
    if keep_place:
        source.seek(place)
    if not isinstance(content, bytes):
        raise FrontendError("the model file must be opened in binary mode")
    return _Source("the ONNX model", memoryview(content), None)


def _parse(label: str, data: memoryview) -> ModelProto:
    """The model without its large tensors. Raises FrontendError."""
    from google.protobuf.message import DecodeError

    if not looks_like_model(data):
        raise FrontendError(f"{label} is not an ONNX model")
    try:
        return ModelProto.FromString(detach_tensors(data))
    except (WireError, DecodeError) as error:
        raise FrontendError(f"{label} is truncated or damaged: {error}") from error
