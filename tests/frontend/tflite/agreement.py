"""Comparison of models that this frontend reads and a device runs with LiteRT."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from ai_edge_litert.interpreter import OpResolverType

import hetero
from tests.devices import GPUS
from tests.frontend.tflite.litert import REFERENCE, Arrays, LiteRT, assert_close
from tests.frontend.tflite.models import LiteModel

CORE = hetero.Core()
# The devices that tables of cases run on. The reference takes over what an OpenCL device does not support.
DEVICES = ("TEMPLATE", "HETERO:GPU,TEMPLATE")
# The same with every OpenCL device instead of the default one.
EACH_GPU = ("TEMPLATE", *(f"HETERO:{gpu},TEMPLATE" for gpu in GPUS))
# For operators that OpenCL devices support entirely.
WITHOUT_FALLBACK = ("TEMPLATE", *GPUS)


def assert_as_litert(
    model: LiteModel,
    device: str = "TEMPLATE",
    tolerance: float = 1e-5,
    steps: int = 1,
    resolver: OpResolverType = REFERENCE,
    calls: Sequence[Arrays] = (),
) -> None:
    """Assert that a device gives the types, shapes and results of LiteRT for the model's inputs and further ``calls``.

    Floats are within ``tolerance`` of the largest magnitude, elements of quantized outputs within ``steps``.
    """
    oracle = LiteRT(model.content, resolver)
    request = CORE.compile_model(model.content, device).create_infer_request()
    for inputs in (model.inputs, *calls):
        found = request.infer(inputs)
        expected = oracle(inputs)
        assert_close({name: found[name] for name in expected}, expected, model.quantized, tolerance, steps)


def operator_test(
    cases: Mapping[str, LiteModel | Callable[[], LiteModel]], devices: Sequence[str] = DEVICES, **options: Any
) -> Callable[[str, str], None]:
    """Return a test that runs each case, a model or a function that builds one, on each device.

    ``options``: of ``assert_as_litert``.
    """

    @pytest.mark.parametrize("device", devices)
    @pytest.mark.parametrize("case", cases)
    def test(case: str, device: str) -> None:
        model = cases[case]
        assert_as_litert(model() if callable(model) else model, device, **options)

    return test


def assert_gives(model: LiteModel, expected: Sequence[np.ndarray], device: str, tolerance: float = 1e-5) -> None:
    """Assert that a device gives these outputs. For operators that LiteRT has no kernel for."""
    found = CORE.compile_model(model.content, device)(model.inputs)
    numbered = {str(index): array for index, array in enumerate(expected)}
    assert len(found) == len(expected)
    assert_close({name: found[int(name)] for name in numbered}, numbered, tolerance=tolerance)
