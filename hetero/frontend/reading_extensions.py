"""Extensions of the reading of a model: progress reports and changes to the decoded model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hetero.frontend.extension import Extension


class ProgressReporterExtension(Extension):
    """A callback that reports the progress of reading a model: ``ProgressReporterExtension(callback)``.

    The frontend calls ``callback(progress, total_steps, completed_steps)`` with ``progress`` from 0 to 1. An exception
    in the callback ends the reading.
    """

    def __init__(self, callback: Callable[[float, int, int], None] = lambda progress, total, completed: None) -> None:
        self._callback = callback

    def report_progress(self, progress: float, total_steps: int, completed_steps: int) -> None:
        self._callback(progress, total_steps, completed_steps)


class DecoderTransformationExtension(Extension):
    """A function that changes a decoded model before its operators are translated.

    ``transformation(decoded)`` changes the model in place. Its result is ignored (in OpenVINO it says whether the model
    changed). OpenVINO passes a Model of framework nodes; here ``decoded`` is the decoder's own form: for ONNX an
    onnx.ModelProto, in which large tensors are references to their position in the file. ``framework``: the name of the
    frontend that uses it, for example "onnx"; "" for all frontends with a decoder.
    """

    def __init__(self, transformation: Callable[[Any], Any], framework: str = "") -> None:
        self._transformation, self.framework = transformation, framework

    def transform(self, decoded: Any) -> None:
        self._transformation(decoded)
