"""A child process of os.fork() continues to compute, or gets a clear error. It never hangs."""

import subprocess
import sys
import textwrap

import pytest

from tests.devices import GPUS

PROGRAM = """
import faulthandler, os, sys, threading
import numpy as np
from hetero import AsyncInferQueue, Core
from hetero.system.errors import CancelledError, DeviceError
from tests.runtime.test_threads import expected, model

DEVICE = {device!r}

def run(request, x=np.ones([3, 4], np.float32)):
    np.testing.assert_allclose(request.infer(x)[0], expected(x), rtol=1e-5)
    request.start_async(2 * x)
    request.wait()
    np.testing.assert_allclose(request.results[0], expected(2 * x), rtol=1e-5)

def error_of(call, *arguments):
    try:
        call(*arguments)
    except Exception as error:
        return error

{parent}
child = os.fork()
if child == 0:
    faulthandler.dump_traceback_later(30, exit=True)  # if it hangs
{child}
    sys.exit(0)
os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def fork(parent: str, child: str, device: str) -> None:
    """Run both pieces of code for DEVICE; raise AssertionError if one fails or hangs."""
    parent, child = textwrap.dedent(parent), textwrap.indent(textwrap.dedent(child), " " * 4)
    code = PROGRAM.format(device=device, parent=parent, child=child)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("device", ["TEMPLATE", "HETERO:TEMPLATE"])
def test_child_uses_objects_of_the_parent(device):
    fork(
        """
        core = Core()
        compiled = core.compile_model(model(), DEVICE, {"PERF_COUNT": True})
        request, queue = compiled.create_infer_request(), AsyncInferQueue(compiled, 2)
        run(request)
        """,
        """
        run(request)
        run(compiled.create_infer_request())
        run(core.compile_model(model(), DEVICE).create_infer_request())
        run(Core().compile_model(model(), DEVICE).create_infer_request())
        for _ in range(4):
            queue.start_async(np.ones([3, 4], np.float32))
        queue.wait_all()
        """,
        device,
    )


@pytest.mark.slow
@pytest.mark.parametrize("device", ["TEMPLATE", "HETERO:TEMPLATE"])
def test_running_inference_of_the_parent_is_cancelled_in_the_child(device):
    fork(
        """
        compiled = Core().compile_model(model(), DEVICE, {"DEVICE_TIMEOUT": 60000} if ":" in DEVICE else {})
        request, waiting = compiled.create_infer_request(), compiled.create_infer_request()
        queue = AsyncInferQueue(compiled, 1)
        begun = threading.Event()
        for started in (request, waiting, queue):
            started.set_callback(lambda *_: (begun.set(), threading.Event().wait()))
            started.start_async(np.ones([3, 4], np.float32))
        begun.wait(30)
        """,
        """
        for call in (request.wait, waiting.wait, queue.wait_all):
            error = error_of(call)
            assert isinstance(error, CancelledError) and "started in the parent process" in str(error), error
        for started in (request, waiting, queue):
            started.set_callback(lambda *_: None)
        run(request)
        run(waiting)
        queue.start_async(np.ones([3, 4], np.float32))
        queue.wait_all()
        """,
        device,
    )


@pytest.mark.slow
def test_locks_held_by_other_threads_are_renewed_in_the_child():
    fork(
        """
        from tests.devices import PickyPlugin
        core, begun, calls = Core(), threading.Event(), []

        def make():
            calls.append(None)
            if len(calls) == 1:
                begun.set()
                threading.Event().wait()
            return PickyPlugin()

        core.register_plugin(make, "SLOW")
        threading.Thread(target=core.get_plugin, args=["SLOW"], daemon=True).start()
        begun.wait(30)
        """,
        "run(core.compile_model(model(), DEVICE).create_infer_request())",
        "SLOW",
    )


@pytest.mark.slow
def test_properties_of_devices_are_inherited():
    fork(
        'core = Core(); core.set_property("TEMPLATE", {"NUM_STREAMS": 2})',
        'assert core.get_property("TEMPLATE", "NUM_STREAMS") == 2',
        "TEMPLATE",
    )


@pytest.mark.slow
@pytest.mark.parametrize("device", GPUS)
def test_gpu_is_unavailable_in_the_child_and_hetero_uses_other_devices(device):
    fork(
        "core = Core(); core.available_devices",
        """
        for other in (core, Core()):
            for call in (other.compile_model, other.query_model):
                error = error_of(call, model(), DEVICE)
                assert isinstance(error, DeviceError) and "device GPU" in str(error) and "spawn" in str(error), error
            assert "spawn" in other.unavailable_devices["GPU"] and "GPU" not in other.available_devices
            run(other.compile_model(model(), f"HETERO:{DEVICE},TEMPLATE").create_infer_request())
        """,
        device,
    )


@pytest.mark.slow
@pytest.mark.parametrize("device", GPUS)
def test_model_compiled_for_gpu_fails_or_falls_back_in_the_child(device):
    fork(
        """
        core = Core()
        compiled = [core.compile_model(model(), name) for name in (DEVICE, f"HETERO:{DEVICE},TEMPLATE")]
        requests = [one.create_infer_request() for one in compiled]
        for request in requests:
            run(request)
        """,
        """
        x = np.ones([3, 4], np.float32)
        for call, *arguments in ((requests[0].infer, x), (run, requests[0]), (compiled[0].create_infer_request,)):
            error = error_of(call, *arguments)
            assert isinstance(error, DeviceError) and "GPU" in str(error) and "spawn" in str(error), error
        run(requests[1])
        assert compiled[1].get_property("EXECUTION_DEVICES") == ["TEMPLATE"]
        """,
        device,
    )
