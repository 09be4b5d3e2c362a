"""Many threads with one Core and one compiled model: correct results, no growing memory, no leaked threads."""

import gc
import os
import subprocess
import sys
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

from hetero import AsyncInferQueue, Core, Model, Parameter, Type, ops

THREADS, INFERENCES = 8, 1250  # for each thread


def model() -> Model:
    """y = tanh(x) · weights, with a dynamic number of rows."""
    weights = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)
    x = Parameter(Type.f32, [-1, 4], name="x")
    return Model(ops.MatMul(ops.Tanh(x, name="tanh"), weights, False, False, name="product"), [x], "small")


def expected(x: np.ndarray) -> np.ndarray:
    return np.tanh(x) @ np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)


@pytest.mark.parametrize("device", ["TEMPLATE", "GPU", "HETERO:GPU,TEMPLATE"])
def test_eight_threads_with_their_own_requests(device):
    core = Core()
    options = {"AFFINITIES": {"tanh": "TEMPLATE"}} if device.startswith("HETERO") else {}
    compiled = core.compile_model(model(), device, options)
    wrong: list[np.ndarray] = []
    meeting = threading.Barrier(THREADS + 1)

    def work(seed: int) -> None:
        request = compiled.create_infer_request()
        xs = np.random.default_rng(seed).standard_normal([16, 2, 4]).astype(np.float32)
        ys = expected(xs)

        def infer(count: int) -> None:
            for index in range(count):
                x, y = xs[index % 16], ys[index % 16]
                if index % 5 == 0:
                    request.start_async(x)
                    request.wait()
                    result = request.results[0]
                else:
                    result = request.infer(x)[0]
                if not np.allclose(result, y, rtol=1e-5, atol=1e-6):
                    wrong.append(x)

        infer(INFERENCES // 2)
        meeting.wait(120)  # the main thread measures the memory now …
        meeting.wait(120)
        infer(INFERENCES - INFERENCES // 2)
        meeting.wait(120)  # … and now, while all requests still exist
        meeting.wait(120)

    tracemalloc.start()
    try:
        threads = [threading.Thread(target=work, args=[seed], daemon=True) for seed in range(THREADS)]
        for thread in threads:
            thread.start()
        in_use = []
        for _ in range(2):
            meeting.wait(120)
            gc.collect()
            in_use.append(tracemalloc.get_traced_memory()[0])
            meeting.wait(120)
        for thread in threads:
            thread.join(120)
            assert not thread.is_alive()
    finally:
        tracemalloc.stop()
    assert not wrong
    # Bytes for 5,000 inferences. The smallest leak would be an object of 16 bytes and a reference to it per inference.
    # Smaller growth comes from tables of the interpreter.
    assert in_use[1] - in_use[0] < 24 * THREADS * INFERENCES // 2


@pytest.mark.parametrize("device", ["TEMPLATE", "GPU", "HETERO:GPU,TEMPLATE"])
def test_threads_end_with_the_core(device):
    before = set(threading.enumerate())
    core = Core()
    compiled = core.compile_model(model(), device, {"NUM_STREAMS": 2})
    queue = AsyncInferQueue(compiled, 4)
    x = np.ones([3, 4], np.float32)
    for _ in range(20):
        queue.start_async(x)
    queue.wait_all()
    references = [weakref.ref(thing) for thing in (core, compiled._compiled, queue[0]._request.request)]
    threads = set(threading.enumerate()) - before
    assert threads
    del core, compiled, queue
    gc.collect()
    assert [reference() for reference in references] == [None] * 3
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


def test_compiled_model_keeps_its_core_alive():
    compiled = Core().compile_model(model(), "HETERO:TEMPLATE")
    gc.collect()
    request = compiled.create_infer_request()
    x = np.ones([3, 4], np.float32)
    request.start_async(x)
    request.wait()
    np.testing.assert_allclose(request.results[0], expected(x), rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "device",
    [
        '"TEMPLATE"',
        '"HETERO:A,B", {"AFFINITIES": {"[ace]": "B"}}',
        '"HETERO:A,B", {"AFFINITIES": {"[ace]": "B"}, "DEVICE_TIMEOUT": 2000}',
    ],
)
def test_program_exits_while_inferences_run(device):
    """Also with branches on two devices, and with requests that restart in their callbacks."""
    code = (
        "import numpy as np\n"
        "from hetero import AsyncInferQueue, Model, Parameter, Type, ops\n"
        "from tests.devices import PickyPlugin, core_with\n"
        "x = Parameter(Type.f32, [100, 100], name='x')\n"
        "product = lambda a, b, name: ops.MatMul(a, b, False, False, name=name)\n"
        "a, b = product(x, x, 'a'), product(x, x, 'b')\n"
        "c, d = product(a, b, 'c'), product(b, a, 'd')\n"
        "model = Model(product(product(c, d, 'e'), product(d, c, 'f'), 'g'), [x])\n"
        f"compiled = core_with(A=PickyPlugin(), B=PickyPlugin()).compile_model(model, {device})\n"
        "requests = [compiled.create_infer_request() for _ in range(50)]\n"
        "for request in requests:\n"
        "    request.set_callback(lambda request: request.start_async(), request)\n"
        "    request.start_async(np.ones([100, 100], np.float32))\n"
    )
    # Threads of OpenBLAS would wait for each other on a busy machine.
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
