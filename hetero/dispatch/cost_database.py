"""What was measured of devices, kept in files: figures of a device, and times of the operations of models.

Files are JSON and appear whole, so several processes may use one folder. Each model that is calibrated has a file of
its own for each device: calibrating it again replaces that, and other models profit from operations that they have in
common.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import platformdirs

from hetero import properties as props
from hetero.cache_folder import cache_folder, write_cached
from hetero.dispatch.affinity import Device
from hetero.graph import Model, Node, Output, is_constant
from hetero.messages import get_logger
from hetero.ops.work_estimate import Shape, Shapes

log = get_logger("hetero.dispatch")

# Changes with what the files hold.
FORMAT = 1
# No time, rate or size is larger, and no rate smaller than its inverse; costs computed from others could overflow.
MOST = 1e18


def default_folder() -> Path:
    """Where measured costs are kept unless COSTS_DIR says otherwise."""
    return platformdirs.user_cache_path("hetero") / "costs"


def device_key(device: Device) -> str:
    """What times depend on: the kind of device, which one it is, and the precision in which it computes."""
    table = device.plugin.property_table(device.options)
    told = (props.device.full_name, props.device.architecture, props.hint.inference_precision)
    return " / ".join([device.plugin.name, *(str(table.value_of(key)) for key in told)])


def operation_key(node: Node, shapes: Shapes) -> str:
    """What the time of an operation depends on: its type, attributes, and the types and shapes of what it reads."""
    attributes = ", ".join(f"{name}={value}" for name, value in sorted(node.get_attributes().items()))
    read = (f"{_told(value, shapes)}{' constant' if is_constant(value) else ''}" for value in node.input_values())
    bodies = [inner.type_info.name for body in node.bodies if body for inner in body.get_ordered_ops()]
    inside = f" {{{hashlib.sha256(' '.join(bodies).encode()).hexdigest()[:16]}}}" if bodies else ""
    kind = node.type_info
    return f"{kind.version_id}::{kind.name}({attributes}){inside} {'; '.join(read)}"


def _told(value: Output, shapes: Shapes) -> str:
    return f"{value.element_type}{list(shapes[value])}"


def model_key(model: Model) -> str:
    """What tells a model apart from others: its operations and their types and partial shapes, without the weights."""
    digest = hashlib.sha256()
    for node in model.get_ordered_ops():
        outputs = [f"{output.element_type}{output.partial_shape}" for output in node.outputs()]
        digest.update(f"{node.type_info} {outputs}\n".encode())
    return digest.hexdigest()[:32]


@dataclass(frozen=True)
class DeviceBenchmark:
    """How fast a device is: per second the arithmetic operations of a matrix product and of a convolution, and bytes of
    element-wise work, of uploads and of downloads; and the seconds of one more operation, and of one more subgraph.

    The defaults are for a device of which nothing can be measured.
    """

    operations: float = 2e10
    convolutions: float = 2e10
    bytes: float = 5e9
    upload: float = 5e9
    download: float = 5e9
    launch: float = 1e-5
    subgraph: float = 1e-4


@dataclass
class OperationTimes:
    """Seconds of operations by their keys.

    Of the model itself also the seconds of one more subgraph, and what a cut must save, as a part of what the best
    single device takes: 1.0 where no cut that was tried was faster.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    subgraph: float | None = None
    margin: float | None = None


class CostDatabase:
    """The files of one folder. What cannot be read or written is told in the log, and counts as not measured."""

    def __init__(self, folder: str | Path = "") -> None:
        self._path = Path(folder) if folder else default_folder()

    @functools.cached_property
    def _folder(self) -> Path | None:
        return cache_folder(self._path)

    def figures(self, device: Device) -> DeviceBenchmark | None:
        found = self._read(f"{_digest(device_key(device))}.json", _figures_of)
        return found or None

    def keep_figures(self, device: Device, figures: DeviceBenchmark) -> None:
        key = device_key(device)
        self._write(f"{_digest(key)}.json", {"device": key, "figures": asdict(figures)})

    def input_shapes(self, model: str) -> dict[int, Shape]:
        """The shapes with which a model of this key was calibrated, by index of the input."""
        return dict(enumerate(self._read(f"{model}.json", _shapes_of) or ()))

    def keep_input_shapes(self, model: str, shapes: Sequence[Shape]) -> None:
        self._write(f"{model}.json", {"shapes": shapes})

    def operation_times(self, device: Device, model: str) -> OperationTimes:
        """The times on a device: those of the model itself, and means of all other models for the rest."""
        name = _digest(device_key(device))
        own = self._read(f"{name}-{model}.json", _times_of) or OperationTimes()
        others: dict[str, list[float]] = defaultdict(list)
        for file in self._files(f"{name}-*.json"):
            times = self._read(file.name, _times_of)
            for key, seconds in times.seconds.items() if times else ():
                others[key].append(seconds)
        return OperationTimes(
            {key: fmean(found) for key, found in others.items()} | own.seconds, own.subgraph, own.margin
        )

    def keep_operation_times(self, device: Device, model: str, times: OperationTimes) -> None:
        key = device_key(device)
        content = {
            "device": key,
            "subgraph": times.subgraph,
            "margin": times.margin,
            "operations": times.seconds,
        }
        self._write(f"{_digest(key)}-{model}.json", content)

    def calibrations(self) -> list[tuple[str, int, int]]:
        """The files that tell times of operations, each with the time at which it was written, and its size."""
        found = []
        for file in self._files("*-*.json"):
            with contextlib.suppress(OSError):
                status = file.stat()
                found.append((file.name, status.st_mtime_ns, status.st_size))
        return found

    def state(self) -> str:
        """A text that changes whenever times of operations are kept."""
        found = []
        for file in self._files("*-*.json"):
            with contextlib.suppress(OSError):  # another process may replace it meanwhile
                found.append(f"{file.name} {file.stat().st_mtime_ns}")
        return _digest("\n".join(found))

    def _files(self, pattern: str) -> list[Path]:
        return sorted(self._folder.glob(pattern)) if self._folder else []

    def _read(self, name: str, convert: Any) -> Any:
        if self._folder is None:
            return None
        file = self._folder / name
        try:
            status = file.stat()
        except OSError:
            return None
        return _read_once(file, status.st_mtime_ns, status.st_size, convert)

    def _write(self, name: str, content: Mapping[str, Any]) -> None:
        if self._folder:
            write_cached(self._folder / name, [json.dumps({"format": FORMAT, **content}, indent=1).encode()])


@functools.lru_cache(1024)
def _read_once(file: Path, modified: int, size: int, convert: Any) -> Any:
    """What a file holds; None, and one warning as long as it does not change, where it is not as it should be."""
    try:
        content = json.loads(file.read_bytes())
        if content["format"] != FORMAT:
            raise ValueError(f"it is of format {content['format']}, not {FORMAT}")
        return convert(content)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        log.warning("%s is ignored, hetero calibrate can write it anew: %s", file, error)
        return None


def _figures_of(content: Mapping[str, Any]) -> DeviceBenchmark:
    return DeviceBenchmark(**{name: _positive(value) for name, value in content["figures"].items()})


def _shapes_of(content: Mapping[str, Any]) -> list[Shape]:
    shapes = [tuple(int(_not_negative(length)) for length in shape) for shape in content["shapes"]]
    for shape in shapes:
        _not_negative(math.prod(shape))
    return shapes


def _times_of(content: Mapping[str, Any]) -> OperationTimes:
    subgraph, margin = (
        None if content[name] is None else _not_negative(content[name]) for name in ("subgraph", "margin")
    )
    seconds = {str(key): _not_negative(value) for key, value in content["operations"].items()}
    return OperationTimes(seconds, subgraph, margin)


def _not_negative(value: Any) -> float:
    if not 0 <= value <= MOST:
        raise ValueError(f"{value!r} is no time, length or rate")
    return float(value)


def _positive(value: Any) -> float:
    if 0 <= value < 1 / MOST:
        raise ValueError(f"a rate is {value}")
    return _not_negative(value)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
