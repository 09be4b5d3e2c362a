"""The plugin guide's InferRequest.cancel: an inference ends between launches, as only short slices are queued."""

from dataclasses import replace

import numpy as np
import pytest
from hetero_opencl.device.device import present_devices
from hetero_opencl.execute.workspace import COMPLETE, execution_status
from hetero_opencl.lowering import program

from hetero import Core, Model, Parameter, Type, ops
from hetero.system.errors import CancelledError

LENGTH = 12
X = np.linspace(-1, 1, 64 * 64, dtype=np.float32).reshape(64, 64)


def softmax_chain() -> Model:
    x = Parameter(Type.f32, X.shape)
    value = x
    for _ in range(LENGTH):
        value = ops.Softmax(value, 1)
    return Model([value], [x])


def compiled(device):
    """Return the chain, with a launch of its own for each operation because of PERF_COUNT."""
    return Core().compile_model(softmax_chain(), device, {"PERF_COUNT": True})


def test_at_most_two_slices_are_queued(device, bound_programs, plugin_request, monkeypatch):
    expected = compiled(device)(X)[0]
    monkeypatch.setattr(program, "SLICE_SECONDS", 0.0)
    request = compiled(device).create_infer_request()
    np.testing.assert_array_equal(request.infer(X)[0], expected)
    (bound,) = bound_programs(request)
    assert bound.program.slice_ends == [*range(1, LENGTH + 1)]

    for cancelled_at in (1, 5, LENGTH):
        queued = []

        def check(cancelled_at=cancelled_at, queued=queued):
            events = [event for _, event in bound.launched]
            assert all(execution_status(event) == COMPLETE for event in events[:-2])
            queued.append(len(events))
            if len(queued) == cancelled_at:
                raise CancelledError("cancelled")

        with monkeypatch.context() as patch:
            patch.setattr(plugin_request(request), "check_cancelled", check)
            with pytest.raises(CancelledError):
                request.infer(X)
        assert queued == [*range(cancelled_at)]
        np.testing.assert_array_equal(request.infer(X)[0], expected)


def test_slices_follow_the_estimates(device, bound_programs, monkeypatch):
    request = compiled(device).create_infer_request()
    request.infer(X)
    assert bound_programs(request)[0].program.slice_ends == [LENGTH]  # an ordinary program is queued as a whole
    for one in present_devices().usable:
        slow = replace(one.profile, flops_per_second=1e6, bytes_per_second=1e6, launch_seconds=0.01)
        monkeypatch.setattr(one, "profile", slow)
    request = compiled(device).create_infer_request()
    request.infer(X)
    (bound,) = bound_programs(request)
    ends, seconds = bound.program.slice_ends, [launch.seconds for launch in bound.program.commands]
    assert len(ends) > 1 and ends[-1] == LENGTH
    for begin, end in zip([0, *ends], ends):
        assert sum(seconds[begin : end - 1]) <= 0.1
        assert end == LENGTH or sum(seconds[begin:end]) > 0.1
