"""The constants of all programs of a model are bounded in bytes, and programs that are dropped free their memory."""

import gc
import weakref

import numpy as np

import hetero
from hetero import Model, Parameter, Type, ops
from hetero.compiler import program_cache

BUDGET = 1 << 18


def test_dropped_programs_free_their_memory_and_come_back(device, plugin_request, monkeypatch):
    """Each count has a table of its own in its program, of 40 kB."""
    monkeypatch.setattr(program_cache, "MIN_BYTES", BUDGET)
    count = Parameter(Type.i64, [])
    numbers = ops.Range(np.int64(0), count, np.int64(1), "f32")
    compiled = hetero.Core().compile_model(Model([ops.Cos(numbers)], [count]), device)
    idle, busy = compiled.create_infer_request(), compiled.create_infer_request()

    def run(request, wanted):
        result = request.infer([np.array(wanted)])[0]
        np.testing.assert_allclose(result, np.cos(np.arange(wanted, dtype=np.float32)), atol=1e-5)
        (bound,) = plugin_request(request).bound_model.bound_programs
        return weakref.ref(bound.program), weakref.ref(bound)

    allocated = compiled.get_property("GPU_MEMORY_STATISTICS")["cl_mem"]
    dropped, kept = run(idle, 10000), run(idle, 10001)
    made = [run(busy, wanted) for wanted in range(10002, 10030)]
    gc.collect()
    assert [reference() for reference in dropped] == [None, None]
    assert all(reference() is not None for reference in kept)  # it ran last in its request
    alive = [program() for program, _ in made if program() is not None]
    assert 2 <= len(alive) < 8 and alive[-1] is made[-1][0]()
    assert compiled.get_property("GPU_MODEL_MEMORY")["weights"] <= BUDGET
    # The tables, the last one of the idle request, and the arenas of two requests.
    assert compiled.get_property("GPU_MEMORY_STATISTICS")["cl_mem"] - allocated <= BUDGET + 4 * 41000
    run(busy, 10002)
    run(idle, 10000)
