"""Models of the zoo on ONEDNN in bf16, compared with ONNX Runtime."""

import numpy as np
import pytest

from hetero import Core
from tests import zoo

# The error relative to the largest magnitude of an output: bf16 has 8 bits.
MAX_ERROR = 0.05


@pytest.mark.parametrize("name", ["resnet50", "ocr_recognition", "shufflenet"])
def test_bf16(name):
    """Without bf16 in the processor, oneDNN computes in f32 what it cannot, or the operations go to TEMPLATE."""
    core = Core()
    model = core.read_model(zoo.path(name))
    options = {"DEVICE_PROPERTIES": {"ONEDNN": {"INFERENCE_PRECISION_HINT": "bf16"}}}
    found = core.compile_model(model, "HETERO:ONEDNN,TEMPLATE", options)(zoo.inputs(name))
    for output, array in zoo.expected(name).items():
        assert np.abs(found[output] - array).max() <= MAX_ERROR * np.abs(array).max()
