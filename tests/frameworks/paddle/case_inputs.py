"""Inputs and attributes of cases of operators."""

from __future__ import annotations

from typing import Any

import numpy as np
from paddle.base import core

from tests.frameworks.paddle.programs import Case, Constant, Input

GENERATOR = np.random.default_rng(0)


def real(*shape: int, low: float = -2, high: float = 2) -> np.ndarray:
    return GENERATOR.uniform(low, high, shape).astype(np.float32)


def integers(high: int, *shape: int, dtype: str = "int64", low: int = 0) -> np.ndarray:
    return GENERATOR.integers(low, high, shape).astype(dtype)


def weights(*shape: int) -> Constant:
    return Constant(real(*shape))


def vector(*numbers: float, dtype: str = "int64") -> Constant:
    return Constant(np.array(numbers, dtype))


def case(op_type: str, inputs: dict[str, Input], outputs: str | dict[str, int] = "Out", **attributes: Any) -> Case:
    ports = outputs if isinstance(outputs, dict) else dict.fromkeys(outputs.split(), 1)
    return Case(op_type, inputs, ports, attributes)


# A kind of variables, and element types as attributes.
STEP_SCOPES = core.VarDesc.VarType.STEP_SCOPES
BOOL, INT32, INT64, FLOAT16, FLOAT32, FLOAT64 = 0, 2, 3, 4, 5, 6
