"""The errors a user can cause. Each message is one sentence: what is wrong, where, what would be right."""

import contextlib
from collections.abc import Iterator

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


@contextlib.contextmanager
def device_errors(doing: str) -> Iterator[None]:
    """Turn what a device raises into a DeviceError that says what it was doing: ``NPU failed to compile 'model'``.

    Errors that hetero or the device raised on purpose pass as they are.
    """
    try:
        yield
    except HeteroError:
        raise
    except Exception as error:
        raise DeviceError(f"{doing}: {type(error).__name__}: {error}") from error
