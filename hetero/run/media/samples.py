"""Inputs of a comparison: files, all files of a folder, or random numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hetero.graph import Model, port_name
from hetero.ops.work_estimate import Shape
from hetero.run.calibrate import example_inputs
from hetero.run.yaml_runs.config import RunConfig, load_config
from hetero.run.yaml_runs.config_inputs import NpyInput, NpzInput
from hetero.run.yaml_runs.inputs import make_inputs
from hetero.run.yaml_runs.sources import existing_file
from hetero.runtime import CompiledModel
from hetero.system.errors import ConfigError

SUFFIXES = (".npz", ".npy", ".yaml", ".yml")


@dataclass(frozen=True)
class Sample:
    """An array for each input of a model, in order."""

    name: str
    arrays: list[np.ndarray]
    file: Path | None = None


def load_samples(
    model: Model | CompiledModel, source: str, shapes: Mapping[str, Shape], seed: int | None
) -> list[Sample]:
    """Return the samples of a file or a folder, or one of random numbers if ``source`` is empty. Raises ConfigError.

    A file is an .npz file with an array for each input, an .npy file for the only input, or a YAML run, of which the
    inputs are used for a sample per inference. ``shapes`` and ``seed`` are those of random numbers.
    """
    if not source:
        return [Sample(f"random, seed {seed or 0}", example_inputs(model, shapes, seed or 0))]
    if shapes or seed is not None:
        raise ConfigError(f"--shape and --seed are for random inputs: leave them out with --inputs {source}")
    folder = Path(source).expanduser()
    files = sorted(file for file in folder.iterdir() if file.suffix in SUFFIXES) if folder.is_dir() else None
    if files == []:
        raise ConfigError(f"the folder {folder} has no file with a suffix of {', '.join(SUFFIXES)}")
    return [sample for file in files or [existing_file(source, Path())] for sample in _read(model, file)]


def _read(model: Model | CompiledModel, file: Path) -> list[Sample]:
    names = [port_name(port) for port in model.inputs]
    specs: Mapping[str, Any]
    if file.suffix == ".npz":
        # A single array may have any name.
        specs = {name: NpzInput.model_construct(npz=file, key=name if len(names) > 1 else None) for name in names}
    elif file.suffix == ".npy":
        if len(names) != 1:
            raise ConfigError(f"{file} has one array, but the model has the inputs {', '.join(names)}: use an npz file")
        specs = {names[0]: NpyInput.model_construct(npy=file)}
    elif file.suffix in SUFFIXES:
        config = load_config(file)
        if not isinstance(config, RunConfig):
            raise ConfigError(f"{file} runs several models: inputs come from a run of one model")
        specs = config.inputs
    else:
        raise ConfigError(f"{file} has no suffix of {', '.join(SUFFIXES)}")
    try:
        inputs = make_inputs(model.inputs, specs, model.outputs)
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from error
    # Without the outputs of an inference, there is no next one that reads them.
    count = 1 if inputs.previous else inputs.count
    return [
        Sample(f"{file}, inference {index}" if count > 1 else str(file), inputs.for_inference(index, {}), file)
        for index in range(count)
    ]
