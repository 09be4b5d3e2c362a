"""The errors a user can cause. Each message is one sentence: what is wrong, where, what would be right."""

import contextlib
from types import TracebackType

from hetero.messages import escaped


class HeteroError(RuntimeError):
    """Base of every error that hetero raises on purpose (a RuntimeError, as OpenVINO's errors are).

    Its message is one line, and escaped: names in it come from models and files of strangers.
    """

    def __str__(self) -> str:
        return escaped(super().__str__())


class GraphError(HeteroError):
    """A graph that cannot be: wrong number of inputs, types or shapes that do not fit, a cycle."""


class FrontendError(HeteroError):
    """A model file that cannot be read: not there, of no known format, damaged, or with unknown operations."""


class DeviceError(HeteroError):
    """A device that is unknown, unavailable, or failed at its work."""


class UnsupportedOperationError(DeviceError):
    """Operations that the chosen device, or none of the chosen devices, can run."""


class NotSupportedError(DeviceError, NotImplementedError):
    """Something that a device may do, and that this one does not."""


class PropertyError(HeteroError):
    """A property with an unknown key, a value that does not fit, or one that cannot be set."""


class TensorError(HeteroError):
    """A tensor of the wrong type, shape, memory or name."""


class RequestBusyError(HeteroError):
    """An infer request was asked for something while an inference of it is under way."""


class CancelledError(HeteroError):
    """An inference that was cancelled before it ended."""


class BlobError(HeteroError):
    """A model that cannot be exported, or an exported one that is altered, cut short or made for something else."""


class ConfigError(HeteroError, ValueError):
    """A description of a run that cannot be followed: an unknown key, a bad value, a file that is not there."""


class device_errors(contextlib.AbstractContextManager[None]):
    """Context manager that turns what a device raises into a DeviceError: ``NPU failed to compile 'm': OSError: …``.

    Errors that hetero or the device raised on purpose pass as they are. It is no generator, which would let
    StopIteration through (contextlib takes a RuntimeError caused by StopIteration for Python's own).
    """

    def __init__(self, doing: str) -> None:
        self._doing = doing

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if isinstance(error, Exception) and not isinstance(error, HeteroError):
            raise DeviceError(f"{self._doing}: {reason_of(error)}") from error


def reason_of(error: BaseException) -> str:
    """Return what an error says, with its type unless hetero or a device raised it on purpose."""
    return str(error) if isinstance(error, HeteroError) else f"{type(error).__name__}: {error}"


def as_exception(error: BaseException, doing: str) -> Exception:
    """Return the error, or a HeteroError in place of one that is meant to end a program or thread (SystemExit, …)."""
    if isinstance(error, Exception):
        return error
    stand_in = HeteroError(f"{doing}: {reason_of(error)}")
    stand_in.__cause__ = error
    return stand_in
