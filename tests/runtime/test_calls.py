"""An inference passes few layers: the Python calls of infer() are counted."""

import pytest

from tests.benchmarks.requests import OTHERS, PARTS, python_calls, request_of
from tests.devices import GPUS

# The most calls of one operation, and of ten parts on two devices in turn.
MOST = {"TEMPLATE": (50, 640), "GPU": (105, 640), "ONEDNN": (80, 430), "OPENVINO.CPU": (60, 420)}


@pytest.mark.parametrize("device", MOST)
def test_python_calls_of_an_inference(device):
    one, parts = MOST[device]
    names = [GPUS[0] if name == "GPU" else name for name in (device, OTHERS[device])]
    assert python_calls(request_of(names[:1])) <= one
    assert python_calls(request_of(names * (PARTS // 2))) <= parts
