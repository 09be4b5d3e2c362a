"""Case, one call of a raw TensorFlow operator, and shorthands for its inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

_random = np.random.default_rng(0)


@dataclass(frozen=True, eq=False)
class Fixed:
    """An input that is a constant of the graph."""

    array: np.ndarray


@dataclass(frozen=True, eq=False)
class Quantized:
    """An input of integers as a quantized type of TensorFlow, for example "qint8"."""

    array: np.ndarray
    kind: str


@dataclass(frozen=True, eq=False)
class Case:
    """Inputs in the operator's order (a list for a list of tensors), and attributes, types as ``tf.name``.

    ``outputs``: the indices of the outputs to compare, default all. ``is_random``: compare only types and shapes.
    ``is_static``: run only with known dimensions.
    """

    operator: str
    inputs: list[Any]
    attributes: dict[str, Any] = field(default_factory=dict)
    outputs: list[int] | None = None
    tolerance: float = 0.0
    is_random: bool = False
    is_static: bool = False


def fixed(value: Any, dtype: Any = np.int32) -> Fixed:
    """Return a constant input, by default of i32."""
    return Fixed(np.array(value, dtype))


def reals(*shape: int, low: float = -2, high: float = 2, dtype: Any = np.float32) -> np.ndarray:
    return _random.uniform(low, high, shape).astype(dtype)


def integers(*shape: int, low: int = -5, high: int = 6, dtype: Any = np.int32) -> np.ndarray:
    return _random.integers(low, high, shape).astype(dtype)


def booleans(*shape: int) -> np.ndarray:
    return _random.integers(0, 2, shape).astype(np.bool_)


def complexes(*shape: int) -> np.ndarray:
    return (reals(*shape) + 1j * reals(*shape)).astype(np.complex64)
