"""Extensions that frontends use while they read a model, besides those that translate operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hetero.frontend.extension import Extension


class ProgressReporterExtension(Extension):
    """Is told how far the reading of a model has come: ``ProgressReporterExtension(callback)``.

    ``callback(progress, total_steps, completed_steps)`` is called by the frontend, with ``progress`` from 0 to 1. What
    it raises ends the reading.
    """

    def __init__(self, callback: Callable[[float, int, int], None] = lambda progress, total, completed: None) -> None:
        self._callback = callback

    def report_progress(self, progress: float, total_steps: int, completed_steps: int) -> None:
        self._callback(progress, total_steps, completed_steps)


class DecoderTransformationExtension(Extension):
    """Changes what the decoder of a format has read, before any of it is translated.

    ``transformation(decoded)`` changes it in place; what it returns is not looked at (OpenVINO's functions tell whether
    they changed anything). OpenVINO hands over a Model of nodes of the framework. Here it is the decoder's own form: of
    ONNX files an onnx.ModelProto, in which large tensors are only noted where they are in the file. ``framework``: the
    name of the frontend that it is meant for, such as "onnx"; "" is for all that have a decoder.
    """

    def __init__(self, transformation: Callable[[Any], Any], framework: str = "") -> None:
        self._transformation, self.framework = transformation, framework

    def transform(self, decoded: Any) -> None:
        self._transformation(decoded)
