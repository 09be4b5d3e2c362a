"""Tuning: measured times of implementations, which take the place of their estimates.

A tuning file is JSON and has the times for one device and driver. It can be copied to machines with the same device.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import platformdirs

from hetero.graph import Output, is_constant
from hetero.plugin import atomic_write, get_logger

if TYPE_CHECKING:
    from hetero_opencl.device.device import OpenCLDevice
    from hetero_opencl.lowering.implementation import KernelOperation

log = get_logger("hetero.opencl")


class Measurement(NamedTuple):
    """The best configuration of an implementation for an operation and layouts, and its time."""

    configuration: Mapping[str, int]
    seconds: float


@dataclass
class Tuning:
    """The measurements for a device, by ``operation_key``, and by implementation and layouts (``Choice.key``)."""

    device: str
    file: Path
    measurements: dict[str, dict[str, Measurement]] = field(default_factory=dict)

    @classmethod
    def load(cls, device: OpenCLDevice, path: str = "") -> Tuning:
        """Return the content of a file, by default the one that ``hetero tune`` writes for the device.

        It is empty, after one warning, if the file is damaged, of another device or driver, or a missing one that
        ``path`` names.
        """
        name = f"{device.architecture}, driver {device.handle.driver_version}"
        tuning = cls(name, Path(path) if path else _default_file(name))
        try:
            content = json.loads(tuning.file.read_bytes())
            measured_on, measurements = content["device"], _measurements(content["operations"])
        except FileNotFoundError as error:
            problem = str(error.strerror) if path else ""
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            problem = f"it is damaged ({type(error).__name__}: {error})"
        else:
            problem = "" if measured_on == name else f"it is for {measured_on}, and this is {name}"
            tuning.measurements = {} if problem else measurements
        if problem:
            _warn_once(f"the tuning file {tuning.file} is not used: {problem}")
        return tuning

    def save(self) -> None:
        """Write the file. Raises OSError if that is not possible."""
        operations = {
            key: {name: measurement._asdict() for name, measurement in measured.items()}
            for key, measured in self.measurements.items()
        }
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(self.file) as (stream,):
            stream.write(json.dumps({"device": self.device, "operations": operations}, indent=1).encode())


def _default_file(device: str) -> Path:
    name = "".join(letter if letter.isalnum() else "_" for letter in device)
    return platformdirs.user_cache_path("hetero") / "tuning" / f"{name}.json"


def operation_key(operation: KernelOperation) -> str:
    """Return what the time of an operation depends on: types, attributes, and the types and shapes of inputs."""
    numbers = {node: f"%{index}" for index, node in enumerate(operation.nodes)}

    def describe(value: Output) -> str:
        if value.node in numbers:
            return numbers[value.node]
        return f"{value.element_type}{value.partial_shape}{' constant' if is_constant(operation.outer(value)) else ''}"

    lines = []
    for node in operation.nodes:
        attributes = ", ".join(f"{name}={value}" for name, value in sorted(node.attribute_values().items()))
        lines.append(f"{node.type_info.name}({attributes}) {'; '.join(map(describe, node.input_values()))}")
    return " | ".join(lines)


def _measurements(operations: Mapping[str, Any]) -> dict[str, dict[str, Measurement]]:
    """Return the measurements of a file. Raises ValueError, LookupError, TypeError or AttributeError for others."""
    return {
        key: {name: _measurement(**measurement) for name, measurement in measured.items()}
        for key, measured in operations.items()
    }


def _measurement(configuration: Mapping[str, Any], seconds: Any) -> Measurement:
    if not 0 < float(seconds) < float("inf"):
        raise ValueError(f"{seconds} is not a time in seconds")
    return Measurement({name: int(number) for name, number in configuration.items()}, float(seconds))


@functools.cache
def _warn_once(message: str) -> None:
    log.warning(message)
