"""Errors that a user can cause. Each message is one sentence: what failed, where, and what is accepted."""

import contextlib
import re
from types import TracebackType

from hetero.system.error_origin import is_from_signal, is_of_others
from hetero.system.messages import escaped


class HeteroError(RuntimeError):
    """Base of all errors that hetero raises on purpose; a RuntimeError, like OpenVINO's errors.

    The message is one line with control characters escaped, because names in it come from untrusted models and files.
    """

    #: Whether it is known to be a failure of a device, which the message names.
    is_of_device = False

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
    """Context manager that raises what code of a device raises as ``device_error`` returns it.

    This is a class because a generator-based context manager would let StopIteration through: contextlib takes a
    RuntimeError caused by StopIteration for one of Python's own.
    """

    def __init__(self, failure: str) -> None:
        self._failure = failure

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if error is not None and not is_from_signal(error):
            converted = device_error(error, self._failure)
            if converted is not error:
                raise converted from error


def device_error(error: BaseException, failure: str) -> HeteroError:
    """Return what code of a device raised as a HeteroError that names the device, with which ``failure`` begins.

    ``NPU failed to compile 'm': OSError: …``. Errors for which callers look keep their class, others become
    DeviceErrors. hetero's own errors stay as they are. An error that a signal raised is no device's, and is raised.
    """
    if is_from_signal(error):
        raise error
    if not isinstance(error, HeteroError):
        return _of_device(DeviceError(f"{failure}: {reason_of(error)}"))
    if error.is_of_device or not is_of_others(error):
        return error
    message = Exception.__str__(error)
    kind = re.match(r"\w*", failure)
    if not (kind and re.search(rf"\b{kind[0]}\b", message)):
        message = f"{failure}: {message}"
    if not isinstance(error, _KEPT):
        return _of_device(DeviceError(message))
    error.args = (message,)
    return _of_device(error)


def _of_device(error: HeteroError) -> HeteroError:
    error.is_of_device = True
    return error


# Errors of devices that tell callers more than that a device failed.
_KEPT = (DeviceError, PropertyError, BlobError, TensorError, CancelledError)


def reason_of(error: BaseException) -> str:
    """Return the message of an error in one line, prefixed with its type unless it is a HeteroError."""
    return str(error) if isinstance(error, HeteroError) else escaped(f"{type(error).__name__}: {error}")


def as_exception(error: BaseException, failure: str) -> Exception:
    """Return the error itself, or a HeteroError in place of one that would end a program or thread (SystemExit, …)."""
    if isinstance(error, Exception):
        return error
    replacement = HeteroError(f"{failure}: {reason_of(error)}")
    replacement.__cause__ = error
    return replacement
