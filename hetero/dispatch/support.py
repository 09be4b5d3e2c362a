"""What each device can run of a model: what it claims, less what it failed at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hetero.dispatch.affinity import Device, Placement, is_placed, place
from hetero.errors import DeviceError, PropertyError
from hetero.graph import Model, Node
from hetero.plugin import QueryResult, unsupported

if TYPE_CHECKING:
    from hetero.dispatch.placement.strategy import Strategy

# Operations that one message names.
MOST_NAMED = 5


@dataclass(frozen=True)
class Failure:
    """A device failed at these operations, by their names, and does not get them any more."""

    device: str
    operations: tuple[str, ...]
    error: Exception


class EstimateError(DeviceError):
    """Devices failed to estimate what operations cost."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        super().__init__(str(failures[0].error))
        self.failures = failures


@dataclass(frozen=True)
class Support:
    """By device what it can run, and what failed so far."""

    queries: Mapping[str, QueryResult]
    failures: tuple[Failure, ...] = field(default=())

    @classmethod
    def ask(cls, model: Model, devices: Sequence[Device]) -> Support:
        """Ask all devices. One that fails to answer claims nothing.

        Raises PropertyError for options that are wrong, which is no fault of a device.
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
        """What is left after these failures, the reasons among what the devices refuse."""
        queries, failures = dict(self.queries), tuple(failures)
        for failure in failures:
            before, lost = queries[failure.device], set(failure.operations)
            after = QueryResult({name: device for name, device in before.items() if name not in lost})
            after.refused = before.refused | dict.fromkeys(failure.operations, str(failure.error))
            queries[failure.device] = after
        return Support(queries, self.failures + failures)

    def place(self, model: Model, devices: Sequence[Device], strategy: Strategy) -> tuple[Support, Placement]:
        """Place every operation; return the placement with what is left after devices failed to estimate costs.

        Raises as ``affinity.place`` does.
        """
        support = self
        while True:
            try:
                return support, place(model, devices, support.queries, strategy)
            except EstimateError as error:
                support = support.without(error.failures)

    def settled(self) -> Support:
        """The same without what the errors hold: the stack, and with it what a device had at work when it failed."""
        failures = (replace(failure, error=DeviceError(str(failure.error))) for failure in self.failures)
        return Support(self.queries, tuple(failures))

    def without_devices(self, errors: Mapping[str, Exception]) -> Support:
        """What is left where devices failed at something else, and get nothing any more."""
        return self.without(Failure(device, tuple(self.queries[device]), error) for device, error in errors.items())

    def unsupported_error(self, device: str, unplaced: Mapping[Node, str]) -> DeviceError:
        """The error for operations that no device runs: that of the first device that failed at one of them, if any."""
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
    """The first few nodes for a message: ``Relu 'relu', Exp 'exp' and 3 more``."""
    shown = ", ".join(f"{node.type_info.name} '{node.friendly_name}'" for node in nodes[:MOST_NAMED])
    return shown + (f" and {len(nodes) - MOST_NAMED} more" if len(nodes) > MOST_NAMED else "")
