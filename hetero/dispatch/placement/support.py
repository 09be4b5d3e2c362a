"""Support: the operations that each device runs, without those that it failed at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hetero.dispatch.devices import EstimateError, Failure, ListedDevice, named, names_of
from hetero.dispatch.placement.affinity import Placement, Strategy, find_groups, place
from hetero.dispatch.placement.greedy import greedy
from hetero.graph import Model, Node, is_terminal
from hetero.plugin import PreparedModel, QueryResult, unsupported
from hetero.system.errors import DeviceError, PropertyError


@dataclass(frozen=True)
class Support:
    """The supported operations by device name, for the devices queried so far, and the failures so far."""

    queries: Mapping[str, QueryResult] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()

    def query(self, model: Model, device: ListedDevice) -> Support:
        """Query one more device. A device that fails to answer supports nothing.

        Raises PropertyError for invalid options, which are the user's mistake and no failure of the device.
        """
        try:
            return Support({**self.queries, device.name: device.query(model)}, self.failures)
        except PropertyError:
            raise
        except Exception as error:
            return self.without_devices(model, {device.name: error})

    def without(self, failures: Iterable[Failure]) -> Support:
        """Return the support that remains after these failures; their errors become the reasons for refusal."""
        queries, failures = dict(self.queries), tuple(failures)
        for failure in failures:
            before, lost = queries.get(failure.device, QueryResult()), set(failure.operations)
            after = QueryResult({name: device for name, device in before.items() if name not in lost})
            after.refused = before.refused | dict.fromkeys(failure.operations, str(failure.error))
            queries[failure.device] = after
        return Support(queries, self.failures + failures)

    def without_devices(self, model: Model, errors: Mapping[str, Exception]) -> Support:
        """Return the support that remains without whole devices, by name, each with the error that it raised."""
        placed = names_of(node for node in model.get_ordered_ops() if not is_terminal(node))
        return self.without(
            Failure(name, tuple(self.queries.get(name, placed)), error) for name, error in errors.items()
        )

    def place(self, model: Model, devices: Sequence[ListedDevice], strategy: Strategy) -> tuple[Support, Placement]:
        """Place every operation. Return the placement, and the support with new queries and failed cost estimates.

        GREEDY queries devices in the user's order until each operation has one. Other strategies query all devices.
        Raises DeviceError as ``affinity.place`` does.
        """
        groups = find_groups([node for node in model.get_ordered_ops() if not is_terminal(node)])
        support = self
        for device in devices:
            if (
                strategy is greedy
                and support.queries
                and all(group.has_device(support.queries) for group in groups.values())
            ):
                break
            if device.name not in support.queries:
                support = support.query(model, device)
        queried = [device for device in devices if device.name in support.queries]
        while True:
            try:
                return support, place(model, groups, queried, support.queries, strategy)
            except EstimateError as error:
                support = support.without(error.failures)

    def take_prepared(self) -> dict[str, PreparedModel]:
        """Return the model as prepared by each device that supports all of it, by device name, and forget it.

        A prepared model can be compiled once, and takes memory.
        """
        taken = {name: result.prepared for name, result in self.queries.items() if result.prepared}
        for name in taken:
            self.queries[name].prepared = None
        return taken

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
