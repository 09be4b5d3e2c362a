"""An inference passes few layers: the Python calls of infer() are counted."""

import numpy as np
import pytest

from tests.benchmarks.requests import OTHERS, PARTS, python_calls, request_of
from tests.devices import GPUS

# The most calls of one operation, and of ten parts on two devices in turn.
MOST = {"TEMPLATE": (44, 300), "GPU": (70, 295), "ONEDNN": (49, 205), "OPENVINO.CPU": (47, 195)}


@pytest.mark.parametrize("device", MOST)
def test_python_calls_of_an_inference(device):
    one, parts = MOST[device]
    names = [GPUS[0] if name == "GPU" else name for name in (device, OTHERS[device])]
    assert python_calls(request_of(names[:1])) <= one
    assert python_calls(request_of(names * (PARTS // 2))) <= parts


@pytest.mark.parametrize("device", ["TEMPLATE", f"HETERO:{GPUS[0]},TEMPLATE"])
def test_shared_arrays_take_turns(device):
    """Arrays that are shared one after the other are in one tensor; an output in the memory of an input is separate."""
    request = request_of(["TEMPLATE"] if device == "TEMPLATE" else [GPUS[0], "TEMPLATE"])
    arrays = [np.full((16, 16), value, np.float32) for value in (1, -2, 3)]
    tensors = []
    for array in (*arrays, arrays[0]):
        (result,) = request.infer([array], share_inputs=True).values()
        np.testing.assert_array_equal(result, np.maximum(array, 0))
        tensors.append(request.get_input_tensor())
        assert tensors[-1].array is array
    assert all(tensor is tensors[0] for tensor in tensors)
    (output,) = request.infer([arrays[2]], share_inputs=True, share_outputs=True).values()
    output[:] = 5
    (result,) = request.infer([output], share_inputs=True).values()
    np.testing.assert_array_equal(result, np.full((16, 16), 5, np.float32))
