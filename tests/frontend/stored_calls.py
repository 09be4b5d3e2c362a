"""Stored calls of a model, with the results of a framework: arrays ``0.input.0``, ``0.output.0`` … in a file."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np


def read_calls(folder: Path, name: str) -> list[tuple[list[np.ndarray], list[np.ndarray]]]:
    """Return the inputs and the outputs of each call of a model file, which are beside it as ``.npz``."""
    found: dict[int, tuple[list[np.ndarray], list[np.ndarray]]] = defaultdict(lambda: ([], []))
    with np.load(folder / f"{name.partition('.')[0]}.npz") as arrays:
        for key in arrays:
            at, kind, _ = key.split(".")
            found[int(at)][kind == "output"].append(arrays[key])
    return [found[at] for at in sorted(found)]
