"""Models read by this frontend and run on a device, against LiteRT."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from ai_edge_litert.interpreter import OpResolverType

import hetero
from tests.frontend.tflite.litert import REFERENCE, Arrays, LiteRT, assert_close
from tests.frontend.tflite.models import LiteModel

CORE = hetero.Core()
# Where tables of cases run: the OpenCL device that is the default, with what it does not run on the reference.
DEVICES = ("TEMPLATE", "HETERO:GPU,TEMPLATE")


def assert_as_litert(
    model: LiteModel,
    device: str = "TEMPLATE",
    tolerance: float = 1e-5,
    steps: int = 1,
    resolver: OpResolverType = REFERENCE,
    calls: Sequence[Arrays] = (),
) -> None:
    """The device gives the types, shapes and results of LiteRT: for the model's inputs, and for further ``calls``.

    Floats are within ``tolerance`` of the largest magnitude, elements of quantized outputs within ``steps``.
    """
    oracle = LiteRT(model.content, resolver)
    request = CORE.compile_model(model.content, device).create_infer_request()
    for inputs in (model.inputs, *calls):
        found = request.infer(inputs)
        expected = oracle(inputs)
        assert_close({name: found[name] for name in expected}, expected, model.quantized, tolerance, steps)


def assert_gives(model: LiteModel, expected: Sequence[np.ndarray], device: str, tolerance: float = 1e-5) -> None:
    """The device gives these outputs: for operators that LiteRT has no kernels of."""
    found = CORE.compile_model(model.content, device)(model.inputs)
    numbered = {str(index): array for index, array in enumerate(expected)}
    assert len(found) == len(expected)
    assert_close({name: found[int(name)] for name in numbered}, numbered, tolerance=tolerance)
