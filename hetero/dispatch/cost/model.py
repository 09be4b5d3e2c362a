"""CostModel: the seconds that an operation takes on a device, and a value takes from one device to another.

The time of an operation comes from the best source that has it: times measured for this model by ``hetero calibrate``,
then those measured for the same operation in other models, then the device's own ``estimate_cost``, else the work of
the operation divided by the benchmark of the device, which is measured on first use.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Real

from hetero.dispatch.cost import benchmark
from hetero.dispatch.cost.benchmark import DeviceBenchmark
from hetero.dispatch.cost.database import CostDatabase, operation_key
from hetero.dispatch.devices import Failure, ListedDevice, named, names_of
from hetero.graph import Model, Node, Output
from hetero.ops.values import is_exact
from hetero.ops.work_estimate import assumed_shapes, bytes_of, work_of
from hetero.system.errors import DeviceError, device_errors
from hetero.system.messages import get_logger

log = get_logger("hetero.dispatch")

CONVOLUTIONS = ("Convolution", "GroupConvolution", "ConvolutionBackpropData", "GroupConvolutionBackpropData")

# The part of the best single device's time that a cut must save: with measured or estimated times, and with times
# computed from work, which give no more than the order of magnitude.
MARGIN, ROUGH_MARGIN = 0.05, 0.5

# Rates of a processor for ``estimated_seconds``: rough, but they show on any device what is worth a thread.
OPERATIONS_PER_SECOND = 50e9
BYTES_PER_SECOND = 10e9


def estimated_seconds(model: Model, nodes: Iterable[Node]) -> dict[Node, float]:
    """Return a rough time of each node, whatever the device, from its work alone."""
    shapes = assumed_shapes(model)
    work = {node: work_of(node, shapes) for node in nodes}
    return {n: w.operations / OPERATIONS_PER_SECOND + w.bytes / BYTES_PER_SECOND for n, w in work.items()}


class CostModel:
    """The costs of one model, by its ``model_key``, on devices. Values known at compile time cost nothing."""

    def __init__(self, model: Model, key: str, devices: Sequence[ListedDevice], database: CostDatabase) -> None:
        self._database = database
        self.shapes = assumed_shapes(model, database.input_shapes(key))
        self._times = {device: database.operation_times(device, key) for device in devices}
        #: Whether a time was computed from the work of an operation.
        self.is_rough = False
        #: Failed estimates of devices; times computed from work replace them.
        self.failures: list[Failure] = []
        self._benchmarks: dict[ListedDevice, DeviceBenchmark] = {}
        self._keys: dict[Node, str] = {}

    def benchmark(self, device: ListedDevice) -> DeviceBenchmark:
        """Return the benchmark of a device from the database, else measure it now and store it there."""
        if device not in self._benchmarks:
            stored = self._database.benchmark(device)
            if stored is None:
                log.info("measuring %s for the first time", device.name)
                stored = benchmark.measure(device)
                self._database.write_benchmark(device, stored)
            self._benchmarks[device] = stored
        return self._benchmarks[device]

    def key(self, node: Node) -> str:
        if node not in self._keys:
            self._keys[node] = operation_key(node, self.shapes)
        return self._keys[node]

    def operation(self, node: Node, device: ListedDevice) -> float:
        """Return the seconds of a node on a device."""
        if all(is_exact(output.value) for output in node.outputs()):
            return 0.0
        seconds = self._times[device].seconds.get(self.key(node))
        if seconds is None:
            seconds = self._estimate(node, device)
        if seconds is None:
            seconds = self.by_work(node, device)
            self.is_rough |= seconds > 0
        return seconds

    def _estimate(self, node: Node, device: ListedDevice) -> float | None:
        """Return the device's own estimate in seconds; None if it has none, or fails, which is recorded."""
        problem = f"{device.name} failed to estimate the cost of {named([node])}"
        try:
            with device_errors(problem):
                seconds = device.plugin.estimate_cost(node, device.options)
                if seconds is None or (isinstance(seconds, Real) and 0 <= float(seconds) < math.inf):
                    return seconds
            raise DeviceError(f"{problem}: it returned {seconds!r}, not None or a finite number of seconds")
        except Exception as error:
            self.failures.append(Failure(device.name, names_of([node]), error))
            return None

    def by_work(self, node: Node, device: ListedDevice) -> float:
        """Return the seconds of a node computed from its work and the benchmark of the device (roofline model)."""
        work, rates = work_of(node, self.shapes), self.benchmark(device)
        if not work.bytes:
            return 0.0
        rate = rates.convolutions if node.type_info.name in CONVOLUTIONS else rates.operations
        return rates.launch + max(work.operations / rate, work.bytes / rates.bytes)

    def subgraph(self, device: ListedDevice) -> float:
        """Return the seconds that one more subgraph on a device adds to those of its operations."""
        known = self._times[device].subgraph
        return self.benchmark(device).subgraph if known is None else known

    @property
    def margin(self) -> float:
        """The part of the best single device's time that a cut must save."""
        known = [times.margin for times in self._times.values() if times.margin is not None]
        return max(known, default=ROUGH_MARGIN if self.is_rough else MARGIN)

    def leave(self, value: Output, device: ListedDevice) -> float:
        """Return the seconds to copy a value from a device to host memory."""
        return 0.0 if is_exact(value.value) else bytes_of(value, self.shapes) / self.benchmark(device).download

    def arrive(self, value: Output, device: ListedDevice) -> float:
        """Return the seconds to copy a value from host memory to a device."""
        return 0.0 if is_exact(value.value) else bytes_of(value, self.shapes) / self.benchmark(device).upload
