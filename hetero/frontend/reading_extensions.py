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


class TelemetryExtension(Extension):
    """Three callbacks that a program calls through this object: for events, errors and stack traces.

    The frontends themselves report nothing: nothing about a model leaves the process.
    """

    def __init__(
        self,
        event_category: str,
        send_event: Callable[[str, str, str, int], None],
        send_error: Callable[[str, str], None],
        send_stack_trace: Callable[[str, str], None],
    ) -> None:
        self._category = event_category
        self._callbacks = send_event, send_error, send_stack_trace

    def send_event(self, event_action: str, event_label: str, event_value: int = 1) -> None:
        self._callbacks[0](self._category, event_action, event_label, event_value)

    def send_error(self, error_message: str) -> None:
        self._callbacks[1](self._category, error_message)

    def send_stack_trace(self, error_info: str) -> None:
        self._callbacks[2](self._category, error_info)


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
