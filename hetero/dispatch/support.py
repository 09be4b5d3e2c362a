"""Support: the operations that each device runs, less those that it failed at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hetero.dispatch.affinity import Placement, Strategy, is_placed, place
from hetero.dispatch.device import Device
from hetero.errors import DeviceError, PropertyError
from hetero.graph import Model, Node
from hetero.plugin import QueryResult, unsupported

# Maximum number of operations that one message names.
MAX_NAMED = 5


@dataclass(frozen=True)
class Failure:
    """A device failed at these operations, by friendly name, and does not get them any more."""

    device: str
    operations: tuple[str, ...]
    error: Exception


class EstimateError(DeviceError):
    """Devices failed to estimate the cost of operations."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        super().__init__(str(failures[0].error))
        self.failures = failures


@dataclass(frozen=True)
class Support:
    """The supported operations by device name, and the failures so far."""

    queries: Mapping[str, QueryResult]
    failures: tuple[Failure, ...] = field(default=())

    @classmethod
    def query(cls, model: Model, devices: Sequence[Device]) -> Support:
        """Query all devices. A device that fails to answer supports nothing.

        Raises PropertyError for invalid options, which are the user's mistake and no failure of the device.
        """
        queries, failures = {}, []
        for device in devices:
            queries[device.name] = QueryResult()
            try:
                queries[device.name] = device.query(model)
            except PropertyError:
                raise
            except Exception as error:
                placed = [node for node in model.get_ordered_ops() if is_placed(node)]
                failures.append(Failure(device.name, names_of(placed), error))
        return cls(queries).without(failures)

    def without(self, failures: Iterable[Failure]) -> Support:
        """Return the support that remains after these failures; their errors become the reasons for refusal."""
        queries, failures = dict(self.queries), tuple(failures)
        for failure in failures:
            before, lost = queries[failure.device], set(failure.operations)
            after = QueryResult({name: device for name, device in before.items() if name not in lost})
            after.refused = before.refused | dict.fromkeys(failure.operations, str(failure.error))
            queries[failure.device] = after
        return Support(queries, self.failures + failures)

    def without_devices(self, errors: Mapping[str, Exception]) -> Support:
        """Return the support that remains without whole devices, by name, each with the error that it raised."""
        return self.without(Failure(device, tuple(self.queries[device]), error) for device, error in errors.items())

    def place(self, model: Model, devices: Sequence[Device], strategy: Strategy) -> tuple[Support, Placement]:
        """Place every operation. Return the placement, and the support without failed cost estimates.

        Raises DeviceError as ``affinity.place`` does.
        """
        support = self
        while True:
            try:
                return support, place(model, devices, support.queries, strategy)
            except EstimateError as error:
                support = support.without(error.failures)

    def without_tracebacks(self) -> Support:
        """Return the same support with plain errors: tracebacks keep alive what a device was working on."""
        failures = (replace(failure, error=DeviceError(str(failure.error))) for failure in self.failures)
        return Support(self.queries, tuple(failures))

    def unsupported_error(self, device: str, unplaced: Mapping[Node, str]) -> DeviceError:
        """Return the error for operations that no device runs: the first failure at one of them, if there is any."""
        for failure in self.failures:
            names = set(failure.operations)
            lost = [node for node in unplaced if node.friendly_name in names]
            if lost:
                error = DeviceError(f"{failure.error}; no other device can run {named(lost)}")
                error.__cause__ = failure.error
                return error
        return unsupported(device, unplaced)


def names_of(nodes: Iterable[Node]) -> tuple[str, ...]:
    return tuple(node.friendly_name for node in nodes)


def named(nodes: Sequence[Node]) -> str:
    """Return the first few nodes for a message: ``Relu 'relu', Exp 'exp' and 3 more``."""
    shown = ", ".join(f"{node.type_info.name} '{node.friendly_name}'" for node in nodes[:MAX_NAMED])
    return shown + (f" and {len(nodes) - MAX_NAMED} more" if len(nodes) > MAX_NAMED else "")
