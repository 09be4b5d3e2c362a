"""Models of the zoo on AUTO, MULTI and BATCH, compared with ONNX Runtime. In the full tier all models run."""

import numpy as np
import pytest

from hetero import Core
from tests import zoo
from tests.devices import GPUS
from tests.tiers import IS_FULL

MAX_ERROR = 1e-4  # relative to the largest magnitude of an output
SAMPLE = ("squeezenet", "ocr_direction", "voice_activity")
NAMES = list(zoo.ONNX) if IS_FULL else SAMPLE


def check(results, name: str, seed: int) -> None:
    for output, expected in zoo.expected(name, seed).items():
        assert results[output].shape == expected.shape
        error = np.abs(results[output].astype(np.float64) - expected).max()
        assert error <= MAX_ERROR * np.abs(expected).max()


@pytest.mark.parametrize("name", NAMES)
def test_auto_before_and_after_the_switch(name):
    compiled = Core().compile_model(zoo.path(name), f"AUTO:{GPUS[0]},TEMPLATE")
    request = compiled.create_infer_request()
    check(request.infer(zoo.inputs(name, 0)), name, 0)
    compiled.get_runtime_model()  # waits for the best device
    assert compiled.get_property("EXECUTION_DEVICES") == [GPUS[0]]
    for one in (request, compiled.create_infer_request()):
        check(one.infer(zoo.inputs(name, 0)), name, 0)


@pytest.mark.parametrize("device", [f"MULTI:{','.join(GPUS)},TEMPLATE", f"BATCH:{GPUS[0]}(2)"])
@pytest.mark.parametrize("name", NAMES)
def test_several_requests_at_once(name, device):
    compiled = Core().compile_model(zoo.path(name), device)
    requests = [compiled.create_infer_request() for _ in range(4)]
    for request in requests:
        request.start_async(zoo.inputs(name, 0))
    for request in requests:
        request.wait()
        check(request.results, name, 0)
