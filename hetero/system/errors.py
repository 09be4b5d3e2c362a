"""Errors that a user can cause. Each message is one sentence: what failed, where, and what is accepted."""

import contextlib
from types import TracebackType

from hetero.system.messages import escaped


class HeteroError(RuntimeError):
    """Base of all errors that hetero raises on purpose; a RuntimeError, like OpenVINO's errors.

    The message is one line with control characters escaped, because names in it come from untrusted models and files.
    """

    def __str__(self) -> str:
        return escaped(Exception.__str__(self))


class ArgumentTypeError(HeteroError, TypeError):
    """An argument of a type that the function does not take; a TypeError, as in OpenVINO."""


class ElementTypeError(ArgumentTypeError, ValueError):
    """A value that names no element type; also a ValueError, as for any enumeration."""


class GraphError(HeteroError):
    """An invalid graph: a wrong number of inputs, incompatible types or shapes, or a cycle."""


class ArgumentListError(GraphError, TypeError):
    """Arguments that an operation does not take; a TypeError, as for any function."""


class PortIndexError(GraphError, IndexError):
    """An index that no input or output of a model has; an IndexError, as in OpenVINO."""


class FrontendError(HeteroError):
    """A model file that cannot be read: missing, of an unknown format, damaged, or with unknown operations."""


class ModelTypeError(FrontendError, TypeError):
    """An object of a type that no frontend reads; also a TypeError, as in OpenVINO."""


class DeviceError(HeteroError):
    """A device that is unknown or unavailable, or that failed."""


class UnsupportedOperationError(DeviceError):
    """A model with operations that none of the chosen devices supports."""


class NotSupportedError(DeviceError, NotImplementedError):
    """An optional feature that the device does not have."""


class UnsupportedValueError(DeviceError):
    """Values that a device cannot compute with, such as integers of more bits than it has."""


class PropertyError(HeteroError):
    """An unknown property key, an invalid value, or an attempt to set a read-only property."""


class TensorError(HeteroError):
    """A tensor with the wrong element type, shape, memory or name."""


class TensorTypeError(TensorError, TypeError):
    """A value whose elements a tensor cannot have; also a TypeError, as in OpenVINO."""


class UnknownOutputError(TensorError, KeyError):
    """An output that the results of an inference do not have; a KeyError, as in OpenVINO."""


class RequestBusyError(HeteroError):
    """An infer request that was used while its inference is running."""


class CancelledError(HeteroError):
    """An inference that was cancelled before it finished."""


class BlobError(HeteroError):
    """A model that cannot be exported, or a blob that is altered, truncated or made for another device or version."""


class ConfigError(HeteroError, ValueError):
    """An invalid YAML run or command line: an unknown key, a bad value or a missing file."""


class device_errors(contextlib.AbstractContextManager[None]):
    """Context manager that converts exceptions of a device to DeviceError.

    ``failure`` begins the message: ``NPU failed to compile 'm': OSError: …``. A HeteroError passes unchanged. This is
    a class because a generator-based context manager would let StopIteration through: contextlib takes a RuntimeError
    caused by StopIteration for one of Python's own.
    """

    def __init__(self, failure: str) -> None:
        self._failure = failure

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if isinstance(error, Exception) and not isinstance(error, HeteroError):
            raise DeviceError(f"{self._failure}: {reason_of(error)}") from error


def reason_of(error: BaseException) -> str:
    """Return the message of an error, prefixed with its type unless it is a HeteroError."""
    return str(error) if isinstance(error, HeteroError) else f"{type(error).__name__}: {error}"


def as_exception(error: BaseException, failure: str) -> Exception:
    """Return the error itself, or a HeteroError in place of one that would end a program or thread (SystemExit, …)."""
    if isinstance(error, Exception):
        return error
    replacement = HeteroError(f"{failure}: {reason_of(error)}")
    replacement.__cause__ = error
    return replacement
