"""What it costs to run an operation on a device, and to move a value from one to another, in seconds.

The best source there is tells: times of the model itself, then of the same operation in other models, which
``hetero calibrate`` measured; then what the device says of itself by ``estimate_cost``; else the operation's work
against figures of the device, measured on first need.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real

from hetero.dispatch.affinity import Device
from hetero.dispatch.cost_database import CostDatabase, DeviceBenchmark, OperationTimes, operation_key
from hetero.dispatch.device_benchmark import figures_of
from hetero.dispatch.support import Failure, named, names_of
from hetero.errors import DeviceError, device_errors
from hetero.graph import Model, Node, Output
from hetero.ops.values import is_exact
from hetero.ops.work_estimate import assumed_shapes, bytes_of, work_of

CONVOLUTIONS = ("Convolution", "GroupConvolution", "ConvolutionBackpropData", "GroupConvolutionBackpropData")

# What a cut must save where operations were measured or priced, and where only their work is known, which tells no more
# than the order of magnitude.
MARGIN, ROUGH_MARGIN = 0.05, 0.5


class Costs:
    """The costs of one model, of this key, on devices. Values that are known when compiled cost nothing."""

    def __init__(self, model: Model, key: str, devices: Sequence[Device], measured: CostDatabase) -> None:
        self._measured = measured
        self.shapes = assumed_shapes(model, measured.input_shapes(key))
        self._times = {device: measured.operation_times(device, key) for device in devices}
        #: Whether the work of operations had to stand for what they take.
        self.is_rough = False
        #: What devices failed to estimate so far; the work of the operation stands for it.
        self.failures: list[Failure] = []
        self._figures: dict[Device, DeviceBenchmark] = {}
        self._keys: dict[Node, str] = {}

    def figures(self, device: Device) -> DeviceBenchmark:
        if device not in self._figures:
            self._figures[device] = figures_of(device, self._measured)
        return self._figures[device]

    def times(self, device: Device) -> OperationTimes:
        return self._times[device]

    def key(self, node: Node) -> str:
        if node not in self._keys:
            self._keys[node] = operation_key(node, self.shapes)
        return self._keys[node]

    def operation(self, node: Node, device: Device) -> float:
        """The seconds that a node takes on a device."""
        if all(is_exact(output.value) for output in node.outputs()):
            return 0.0
        seconds = self._times[device].seconds.get(self.key(node))
        if seconds is None:
            seconds = self._estimate(node, device)
        if seconds is None:
            seconds = self.by_work(node, device)
            self.is_rough |= seconds > 0
        return seconds

    def _estimate(self, node: Node, device: Device) -> float | None:
        """Return the seconds that the device estimates, None if it does not know, or fails, which is noted."""
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

    def by_work(self, node: Node, device: Device) -> float:
        """The seconds that a node takes by its work and the figures of the device."""
        work, figures = work_of(node, self.shapes), self.figures(device)
        if not work.bytes:
            return 0.0
        rate = figures.convolutions if node.type_info.name in CONVOLUTIONS else figures.operations
        # What is no matrix product is bound by what it reads and writes.
        return figures.launch + max(work.operations / rate, work.bytes / figures.bytes)

    def subgraph(self, device: Device) -> float:
        """The seconds that one more subgraph on a device takes besides its operations."""
        known = self._times[device].subgraph
        return self.figures(device).subgraph if known is None else known

    @property
    def margin(self) -> float:
        """What a cut must save, as a part of what the best single device takes."""
        known = [times.margin for times in self._times.values() if times.margin is not None]
        return max(known, default=ROUGH_MARGIN if self.is_rough else MARGIN)

    def leave(self, value: Output, device: Device) -> float:
        """The seconds to bring a value from a device to the host's memory."""
        return 0.0 if is_exact(value.value) else bytes_of(value, self.shapes) / self.figures(device).download

    def arrive(self, value: Output, device: Device) -> float:
        """The seconds to bring a value from the host's memory to a device."""
        return 0.0 if is_exact(value.value) else bytes_of(value, self.shapes) / self.figures(device).upload
