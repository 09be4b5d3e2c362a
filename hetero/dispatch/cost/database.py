"""Measured costs in files, and the cost model: the seconds of an operation on a device, and of a value between devices.

CostDatabase has the benchmarks of devices, and times of the operations of models. Files are JSON and are replaced
atomically, so several processes may use one folder. Calibrating a model writes one file for each device and replaces
that of an earlier calibration; other models use the times of operations that they have in common.

In CostModel, the time of an operation comes from the best source that has it: times measured for this model by ``hetero
calibrate``, then those measured for the same operation in other models, then the device's own ``estimate_cost``, else
the work of the operation divided by the benchmark of the device, which is measured on first use.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from numbers import Real
from pathlib import Path
from statistics import fmean
from typing import Any

import platformdirs

from hetero import properties as props
from hetero.dispatch.cost import benchmark
from hetero.dispatch.cost.benchmark import DeviceBenchmark
from hetero.dispatch.devices import Failure, ListedDevice, named, names_of
from hetero.graph import Model, Node, Output, is_constant
from hetero.ops.checks import is_exact
from hetero.ops.work_estimate import Shape, Shapes, assumed_shapes, bytes_of, work_of
from hetero.system.cache_folder import cache_folder, write_cached
from hetero.system.errors import DeviceError, HeteroError, device_errors
from hetero.system.messages import get_logger

log = get_logger("hetero.dispatch")

# Version of the file format.
FORMAT = 1
# Maximum of every time, rate and size in a file, and the inverse of the minimum rate: costs computed from them cannot
# overflow.
MAX_VALUE = 1e18


def default_folder() -> Path:
    """Return the folder of measured costs if COSTS_DIR is not set."""
    return platformdirs.user_cache_path("hetero") / "costs"


def device_key(device: ListedDevice) -> str:
    """Return what times depend on: the plugin, which device it is, and the precision in which it computes."""
    table = device.plugin.property_table(device.options)
    keys = (props.device.full_name, props.device.architecture, props.hint.inference_precision)
    return " / ".join([device.plugin.name, *(f"{table.value_of(key)}" for key in keys)])


def operation_key(node: Node, shapes: Shapes) -> str:
    """Return what the time of an operation depends on: its type, attributes, and input types and shapes."""
    attributes = ", ".join(f"{name}={value}" for name, value in sorted(node.attribute_values().items()))
    inputs = (f"{_port_key(value, shapes)}{' constant' if is_constant(value) else ''}" for value in node.input_values())
    bodies = [inner.type_info.name for body in node.bodies if body for inner in body.get_ordered_ops()]
    body_key = f" {{{hashlib.sha256(' '.join(bodies).encode()).hexdigest()[:16]}}}" if bodies else ""
    kind = node.type_info
    return f"{kind.version_id}::{kind.name}({attributes}){body_key} {'; '.join(inputs)}"


def _port_key(value: Output, shapes: Shapes) -> str:
    return f"{value.element_type}{list(shapes[value])}"


def model_key(model: Model) -> str:
    """Return a digest of the operations of a model and their output types and partial shapes, without the weights."""
    digest = hashlib.sha256()
    for node in model.get_ordered_ops():
        outputs = [f"{output.element_type}{output.partial_shape}" for output in node.outputs()]
        digest.update(f"{node.type_info} {outputs}\n".encode())
    return digest.hexdigest()[:32]


@dataclass
class OperationTimes:
    """Seconds of operations on one device, by ``operation_key``.

    For a calibrated model also the seconds of one more subgraph, and the margin: the part of the best single device's
    time that a cut must save, 1.0 if no cut that was tried was faster.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    subgraph: float | None = None
    margin: float | None = None


class CostDatabase:
    """The files of one folder. A file that cannot be read or written is logged and counts as not measured."""

    def __init__(self, folder: str | Path = "") -> None:
        self._path = Path(folder) if folder else default_folder()

    @functools.cached_property
    def _folder(self) -> Path | None:
        return cache_folder(self._path)

    def benchmark(self, device: ListedDevice) -> DeviceBenchmark | None:
        """Return the benchmark of a device, None if it was not measured."""
        return self._read(f"{_digest(device_key(device))}.json", _parse_benchmark)

    def write_benchmark(self, device: ListedDevice, benchmark: DeviceBenchmark) -> None:
        key = device_key(device)
        self._write(f"{_digest(key)}.json", {"device": key, "figures": asdict(benchmark)})

    def input_shapes(self, model: str) -> dict[int, Shape]:
        """Return the shapes with which a model, by key, was calibrated, by index of the input."""
        return dict(enumerate(self._read(f"{model}.json", _parse_shapes) or ()))

    def write_input_shapes(self, model: str, shapes: Sequence[Shape]) -> None:
        self._write(f"{model}.json", {"shapes": shapes})

    def operation_times(self, device: ListedDevice, model: str) -> OperationTimes:
        """Return the times on a device: the model's own, and the means over all other models for other operations."""
        name = _digest(device_key(device))
        own = self._read(f"{name}-{model}.json", _parse_times) or OperationTimes()
        by_key: dict[str, list[float]] = defaultdict(list)
        for file in self._calibration_files(f"{name}-*.json"):
            times = self._read(file.name, _parse_times)
            for key, seconds in times.seconds.items() if times else ():
                by_key[key].append(seconds)
        means = {key: fmean(seconds) for key, seconds in by_key.items()}
        return OperationTimes(means | own.seconds, own.subgraph, own.margin)

    def write_operation_times(self, device: ListedDevice, model: str, times: OperationTimes) -> None:
        key = device_key(device)
        content = {
            "device": key,
            "subgraph": times.subgraph,
            "margin": times.margin,
            "operations": times.seconds,
        }
        self._write(f"{_digest(key)}-{model}.json", content)

    def state(self) -> str:
        """Return a digest that changes whenever operation times are written, for the key of the model cache."""
        lines = []
        for file in self._calibration_files("*-*.json"):
            with contextlib.suppress(OSError):  # another process may replace the file meanwhile
                status = file.stat()
                lines.append(f"{file.name} {status.st_mtime_ns} {status.st_size}")
        return _digest("\n".join(lines))

    def _calibration_files(self, pattern: str) -> list[Path]:
        return sorted(self._folder.glob(pattern)) if self._folder else []

    def _read(self, name: str, parse: Any) -> Any:
        if self._folder is None:
            return None
        file = self._folder / name
        try:
            status = file.stat()
        except OSError:
            return None
        return _read_cached(file, status.st_mtime_ns, status.st_size, parse)

    def _write(self, name: str, content: Mapping[str, Any]) -> None:
        if self._folder:
            write_cached(self._folder / name, [json.dumps({"format": FORMAT, **content}, indent=1).encode()])


@functools.lru_cache(1024)
def _read_cached(file: Path, modified: int, size: int, parse: Any) -> Any:
    """Return the parsed file. If it is damaged return None and log one warning for this version of the file."""
    try:
        content = json.loads(file.read_bytes())
        if content["format"] != FORMAT:
            raise ValueError(f"it is of format {content['format']}, not {FORMAT}")
        return parse(content)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        log.warning("%s is ignored; hetero calibrate can write it again: %s", file, error)
        return None


def _parse_benchmark(content: Mapping[str, Any]) -> DeviceBenchmark:
    return DeviceBenchmark(**{name: _positive(value) for name, value in content["figures"].items()})


def _parse_shapes(content: Mapping[str, Any]) -> list[Shape]:
    shapes = [tuple(int(_not_negative(length)) for length in shape) for shape in content["shapes"]]
    for shape in shapes:
        _not_negative(math.prod(shape))
    return shapes


def _parse_times(content: Mapping[str, Any]) -> OperationTimes:
    subgraph, margin = (
        None if content[name] is None else _not_negative(content[name]) for name in ("subgraph", "margin")
    )
    seconds = {str(key): _not_negative(value) for key, value in content["operations"].items()}
    return OperationTimes(seconds, subgraph, margin)


def _not_negative(value: Any) -> float:
    if not 0 <= value <= MAX_VALUE:
        raise ValueError(f"{value!r} is not a number from 0 to {MAX_VALUE:g}")
    return float(value)


def _positive(value: Any) -> float:
    if 0 <= value < 1 / MAX_VALUE:
        raise ValueError(f"{value!r} is not a positive rate")
    return _not_negative(value)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


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
        except HeteroError as error:
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
