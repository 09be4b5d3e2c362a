"""Comparison of a device with arrays in a file, which another framework computed from the same inputs."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hetero.graph import Model, Output, Result
from hetero.run.comparison.differences import difference
from hetero.run.comparison.pieces import Pieces
from hetero.run.comparison.search import DeviceComparison
from hetero.run.media import array_files
from hetero.run.media.samples import Sample
from hetero.run.model_files import Progress, placement_log_muted
from hetero.run.yaml_runs.inputs import check_size
from hetero.runtime import Core
from hetero.system.errors import ConfigError
from hetero.system.messages import suggest


def compare_with_file(
    core: Core,
    model: Model,
    device: str,
    file: Path,
    sample: Sample,
    tolerance: float,
    properties: Mapping[str, Any],
    progress: Progress,
) -> DeviceComparison:
    """Compare values of a model, by tensor or operation name in an npz file, in the order of their computation.

    Raises ConfigError for a name that the model does not have, and for a file that cannot be read.
    """
    values = _values(model, file)
    outputs = {result.input_value(0): index for index, result in enumerate(model.results)}
    inner = [value for value in values if value not in outputs]
    places = outputs | {value: len(model.results) + index for index, value in enumerate(inner)}
    pieces = Pieces(model)
    progress(f"Running on {device}", 1, 2)
    with placement_log_muted():
        compiled = core.compile_model(pieces.with_outputs(inner), device, properties)
    arrays = compiled(list(sample.arrays)).to_tuple()
    try:
        differences = [
            difference(
                name, arrays[places[value]], array_files.read_npz(file, name, functools.partial(check_size, value))
            )
            for value, name in values.items()
        ]
    except (ValueError, OSError, MemoryError) as error:
        raise ConfigError(f"{file} cannot be compared: {error}") from error
    wrong = [difference.value for difference in differences if difference.relative_error > tolerance]
    report = DeviceComparison(
        model.friendly_name, device, str(file), tolerance, len(pieces.nodes), sample.name, differences
    )
    report.agrees, report.runs = not wrong, 1
    if wrong:
        report.conclusion = f"{wrong[0]} is the first of {len(wrong)} values that differ beyond the tolerance"
    return report


def _values(model: Model, file: Path) -> dict[Output, str]:
    """Return the values that the arrays of a file belong to, in topological order, with their names in the file."""
    try:
        names = set(array_files.npz_keys(file))
    except (ValueError, OSError) as error:
        raise ConfigError(f"{file} cannot be compared: {error}") from error
    known: dict[str, Output] = {}
    ports = [port for node in model.get_ordered_ops() for port in node.outputs()]
    for port in reversed(ports):
        value = port.node.input_value(0) if isinstance(port.node, Result) else port
        known |= dict.fromkeys((port.node.friendly_name, *port.names), value)
    for name in sorted(names - known.keys()):
        raise ConfigError(f"the model has no value {name}, which {file} contains; {suggest(name, known)}")
    by_value = {known[name]: name for name in sorted(names)}
    return {port: by_value[port] for port in ports if port in by_value}
