"""AUTO: which device runs, the startup on another one, and what happens if a device fails."""

import gc
import os
import textwrap
import threading
import time
import weakref

import numpy as np
import pytest

from hetero import AsyncInferQueue, Core, Model, Parameter, Tensor, Type, ops
from hetero.conformance.features import delay
from hetero.conformance.samples import find_sample
from hetero.graph import Constant
from hetero.plugin import Rank
from hetero.system.errors import (
    CancelledError,
    DeviceError,
    NotSupportedError,
    PropertyError,
    UnsupportedOperationError,
)
from tests.devices import core_with
from tests.dispatch.faulty import no_exp, warnings_in
from tests.interpreter import run_python
from tests.runtime.test_fork import fork
from tests.virtual.devices import TIMEOUT, Backend, arrays, slow, square

LIST = "MULTI_DEVICE_PRIORITIES"


def devices_in_use(compiled) -> tuple[str, ...]:
    return tuple(compiled.get_property("EXECUTION_DEVICES"))


def check(request, count: int = 3) -> None:
    for x in arrays(count):
        np.testing.assert_allclose(request.infer(x)[0], x * x, rtol=1e-6)


def wait_for_devices(compiled, *names: str) -> None:
    """Wait until these devices are in use."""
    for _ in range(TIMEOUT * 100):
        if devices_in_use(compiled) == names:
            return
        threading.Event().wait(0.01)
    raise AssertionError(f"{devices_in_use(compiled)} are in use, not {names}")


def test_without_a_list_the_device_of_highest_rank_is_used():
    a, b, c = Backend(rank=Rank.PROCESSOR), Backend(rank=Rank.ACCELERATOR), Backend(rank=Rank.REFERENCE)
    core = core_with(A=a, B=b, C=c)
    without_others = ",".join({f"-{name.split('.')[0]}" for name in Core().host.available_devices})
    for excluded, used in (("", "B"), (",-B", "A"), (",-B,-A", "C")):
        compiled = core.compile_model(square(), f"AUTO:{without_others}{excluded}")
        check(compiled.create_infer_request())
        assert devices_in_use(compiled) == (used,)


def test_ranks_of_the_installed_devices():
    """GPUs come before processors, and TEMPLATE is last; virtual devices are not among them."""
    from hetero.dispatch.devices import preferred_devices

    names = preferred_devices(Core().host)
    assert names[-1] == "TEMPLATE" and set(names) == set(Core().host.available_devices)


def test_the_first_device_that_supports_the_whole_model_is_used(caplog):
    core = core_with(A=Backend(accepts=no_exp), B=Backend())
    x = Parameter(Type.f32, [1, 4], name="x")
    compiled = core.compile_model(Model(ops.Exp(x), [x]), "AUTO:A,B")
    np.testing.assert_allclose(compiled(np.ones([1, 4], np.float32))[0], np.full([1, 4], np.e), rtol=1e-6)
    assert devices_in_use(compiled) == ("B",)
    assert not warnings_in(caplog)  # to support less is no failure
    assert core.query_model(Model(ops.Exp(x), [x]), "AUTO:A,B").refused == {}
    with pytest.raises(UnsupportedOperationError, match="A is picky"):
        core.compile_model(Model(ops.Exp(x), [x]), "AUTO:A")
    with pytest.raises(UnsupportedOperationError, match="AUTO has no device.*A is picky.*C is picky"):
        core_with(A=Backend(accepts=no_exp), C=Backend(accepts=no_exp)).compile_model(
            Model(ops.Exp(x), [x]), "AUTO:A,C"
        )


def test_a_device_that_fails_to_compile_is_replaced_with_one_warning(caplog):
    core = core_with(A=Backend(compile_error="out of memory"), B=Backend())
    compiled = core.compile_model(square(), "AUTO:A,B")
    check(compiled.create_infer_request())
    assert devices_in_use(compiled) == ("B",)
    (warning,) = warnings_in(caplog)
    assert "out of memory" in warning and "B takes over" in warning


def test_if_all_devices_fail_the_error_has_all_reasons():
    core = core_with(A=Backend(compile_error="one", fast=False), B=Backend(compile_error="two"))
    for options in ({}, {"ENABLE_STARTUP_FALLBACK": False}):
        with pytest.raises(DeviceError, match="AUTO has no device for 'square': A: one; B: two"):
            core.compile_model(square(), "AUTO:A,B", options)


def test_the_first_inferences_run_on_the_device_that_compiles_fast(caplog):
    a, b = slow(), Backend()
    compiled = core_with(A=a, B=b).compile_model(square(), "AUTO:A,B")
    assert devices_in_use(compiled) == ("(B)",)
    before = compiled.create_infer_request()
    check(before)
    assert (a.count, b.count) == (0, 3)
    a.may_compile.set()
    wait_for_devices(compiled, "A")
    after = compiled.create_infer_request()
    check(before)
    check(after)
    assert (a.count, b.count) == (6, 3)
    assert not warnings_in(caplog)


def test_the_switch_during_inferences_is_not_noticed():
    a, b = slow(), Backend()
    compiled = core_with(A=a, B=b).compile_model(square(), "AUTO:A,B", {"PERFORMANCE_HINT": "THROUGHPUT"})
    queue, results = AsyncInferQueue(compiled, 4), []
    queue.set_callback(lambda request, x: results.append((x, request.results[0].copy())))
    for index, x in enumerate(arrays(200)):
        if index == 50:
            a.may_compile.set()
        if index == 100:
            wait_for_devices(compiled, "A")
        queue.start_async(x, x)
    queue.wait_all()
    assert len(results) == 200 and a.count + b.count == 200 and a.count > 0 < b.count
    for x, found in results:
        np.testing.assert_allclose(found, x * x, rtol=1e-6)


def test_the_helper_is_released_after_the_switch():
    a, b = slow(), Backend()
    compiled = core_with(A=a, B=b).compile_model(square(), "AUTO:A,B")
    check(compiled.create_infer_request())
    helper = weakref.ref(compiled._compiled.pool.workers[0].compiled)
    a.may_compile.set()
    wait_for_devices(compiled, "A")
    for _ in range(100):
        gc.collect()
        if helper() is None:
            return
        threading.Event().wait(0.01)
    raise AssertionError("the compiled model of B is still referenced")


@pytest.mark.parametrize("options", [{"ENABLE_STARTUP_FALLBACK": False}, {"DEVICE_BIND_BUFFER": True}])
def test_without_startup_fallback_the_best_device_is_waited_for(options):
    a, b = slow(), Backend()
    threading.Timer(0.2, a.may_compile.set).start()
    compiled = core_with(A=a, B=b).compile_model(square(), "AUTO:A,B", options)
    assert devices_in_use(compiled) == ("A",) and not b.compiled


def test_a_failing_compilation_in_the_background_leaves_the_fast_device(caplog):
    a, b = slow(compile_error="out of memory"), Backend()
    compiled = core_with(A=a, B=b).compile_model(square(), "AUTO:A,B")
    request = compiled.create_infer_request()
    check(request)
    a.may_compile.set()
    wait_for_devices(compiled, "B")
    check(request)
    (warning,) = warnings_in(caplog)
    assert "out of memory" in warning and "B takes over" in warning


def test_a_device_that_fails_at_startup_does_not_hinder_the_best_one():
    a, b = Backend(fast=False), Backend(compile_error="broken")
    compiled = core_with(A=a, B=b).compile_model(square(), "AUTO:A,B")
    check(compiled.create_infer_request())
    wait_for_devices(compiled, "A")


def test_inferences_that_fail_at_startup_wait_for_the_best_device():
    a, b = slow(), Backend("raise", healthy=1)
    compiled = core_with(A=a, B=b).compile_model(square(), "AUTO:A,B")
    request = compiled.create_infer_request()
    x = arrays(1)[0]
    request.start_async(x)
    assert not request.wait_for(100)
    a.may_compile.set()
    assert request.wait_for(TIMEOUT * 1000)
    np.testing.assert_allclose(request.results[0], x * x, rtol=1e-6)


@pytest.mark.parametrize("fault", ["raise", "wrong shape", "wrong type", "set tensor", "create request"])
def test_a_device_that_fails_at_inferences_is_replaced_with_one_warning(fault, caplog):
    a, b = Backend(fault, healthy=4), Backend()
    compiled = core_with(A=a, B=b).compile_model(square(), "AUTO:A,B", {"ENABLE_STARTUP_FALLBACK": False})
    requests = [compiled.create_infer_request() for _ in range(2)]
    for request in requests:
        check(request)
    check(requests[0])
    assert devices_in_use(compiled) == ("B",)
    (warning,) = warnings_in(caplog)
    assert "no longer on A: " in warning and "now on B" in warning


def test_many_requests_survive_a_failing_device(caplog):
    a, b = Backend("raise", healthy=20, max_streams=2), Backend(max_streams=2)
    options = {"PERFORMANCE_HINT": "THROUGHPUT"}
    compiled = core_with(A=a, B=b).compile_model(square(), "AUTO:A,B", options)
    queue, results = AsyncInferQueue(compiled, 4), []
    queue.set_callback(lambda request, x: results.append((x, request.results[0].copy())))
    for x in arrays(100):
        queue.start_async(x, x)
    queue.wait_all()
    assert len(results) == 100
    for x, found in results:
        np.testing.assert_allclose(found, x * x, rtol=1e-6)
    assert len(warnings_in(caplog)) == 1 and devices_in_use(compiled) == ("B",)


def test_without_runtime_fallback_the_error_is_raised():
    core = core_with(A=Backend("raise", healthy=1), B=Backend())
    compiled = core.compile_model(square(), "AUTO:A,B", {"ENABLE_RUNTIME_FALLBACK": False})
    with pytest.raises(DeviceError, match="A failed.*lost"):
        compiled(arrays(1)[0])
    assert devices_in_use(compiled) == ("A",)


def test_an_inference_that_fails_everywhere_drops_no_device(caplog):
    a, b = Backend("raise", healthy=2), Backend("raise", healthy=1)
    compiled = core_with(A=a, B=b).compile_model(square(), "AUTO:A,B")
    request = compiled.create_infer_request()
    check(request, 1)
    for _ in range(2):
        with pytest.raises(DeviceError, match="A failed.*lost"):
            request.infer(arrays(1)[0])
    assert devices_in_use(compiled) == ("A",) and not warnings_in(caplog)


def test_variables_stay_on_one_device():
    core = core_with(A=slow(), B=Backend())
    core.get_plugin("A").may_compile.set()
    sample = find_sample(core, "B")
    compiled = core.compile_model(delay(sample), "AUTO:A,B")
    assert devices_in_use(compiled) == ("A",)
    one, other = compiled.create_infer_request(), compiled.create_infer_request()
    for given, remembered in ((1, 9), (2, 1), (3, 2)):
        for request in (one, other):
            found = request.infer(sample.array(given))[0]
            np.testing.assert_allclose(found, sample.expected(sample.array(remembered)), rtol=1e-4)
    (state,) = one.query_state()
    state.reset()
    np.testing.assert_allclose(one.infer(sample.array(5))[0], sample.expected(sample.array(9)), rtol=1e-4)


def test_models_of_higher_priority_keep_their_device_to_themselves():
    core = core_with(A=Backend(), B=Backend())
    high = core.compile_model(square(), "AUTO:A,B", {"MODEL_PRIORITY": "HIGH"})
    low = core.compile_model(square(), "AUTO:A,B", {"MODEL_PRIORITY": "LOW"})
    also_high = core.compile_model(square(), "AUTO:A,B", {"MODEL_PRIORITY": "HIGH"})
    assert [devices_in_use(model) for model in (high, low, also_high)] == [("A",), ("B",), ("A",)]
    del high, also_high
    gc.collect()
    assert devices_in_use(core.compile_model(square(), "AUTO:A,B", {"MODEL_PRIORITY": "LOW"})) == ("A",)


def test_requests_are_cancelled_while_they_wait_and_while_they_run():
    a = Backend("hang", healthy=1, max_streams=1)
    compiled = core_with(A=a).compile_model(square(), "AUTO:A")
    running, waiting = compiled.create_infer_request(), compiled.create_infer_request()
    running.start_async(arrays(1)[0])
    waiting.start_async(arrays(1)[0])
    waiting.cancel()
    a.released.set()
    with pytest.raises(CancelledError):
        waiting.wait_for(TIMEOUT * 1000)
    running.wait_for(TIMEOUT * 1000)
    check(waiting)


def test_remote_tensors_wait_for_the_device_that_takes_them():
    a, b = slow(), Backend()
    core = core_with(A=a, B=b)
    compiled = core.compile_model(square(), "AUTO:A,B")
    request = compiled.create_infer_request()
    threading.Timer(0.2, a.may_compile.set).start()
    context = compiled.get_context()
    assert context == core.get_default_context("A")
    x = arrays(1)[0]
    tensor = context.create_tensor(Type.f32, x.shape)
    tensor.copy_from(x)
    request.set_tensor("x", tensor)
    request.infer()
    np.testing.assert_allclose(request.get_output_tensor().data, x * x, rtol=1e-6)
    assert (a.count, b.count) == (1, 0)


def test_exports_are_refused_and_the_model_cache_holds_the_blob_of_the_device(tmp_path):
    loaded = []
    for _ in range(2):
        core = core_with(A=Backend())
        compiled = core.compile_model(square(), "AUTO:A", {"CACHE_DIR": str(tmp_path)})
        check(compiled.create_infer_request())
        loaded.append(compiled.get_property("LOADED_FROM_CACHE"))
        assert len(list(tmp_path.glob("*.blob"))) == 1
    assert loaded == [False, True]
    with pytest.raises(NotSupportedError, match="AUTO cannot export models: compile for A"):
        compiled.export_model()
    with pytest.raises(NotSupportedError, match="AUTO cannot import models"):
        core.get_plugin("AUTO").import_model({}, {})


def test_the_profile_and_the_runtime_model_are_those_of_the_device():
    compiled = core_with(A=Backend()).compile_model(square(), "AUTO:A", {"PERF_COUNT": True})
    request = compiled.create_infer_request()
    check(request)
    assert "y" in {info.node_name for info in request.get_profiling_info()}
    assert any(node.friendly_name == "y" for node in compiled.get_runtime_model().get_ordered_ops())


def test_callbacks_may_start_the_next_inference():
    compiled = core_with(A=Backend()).compile_model(square(), "AUTO:A")
    request, ended, left = compiled.create_infer_request(), threading.Event(), [5]

    def again(_: object) -> None:
        left[0] -= 1
        (request.start_async if left[0] else ended.set)()

    request.set_callback(again)
    request.start_async(arrays(1)[0])
    assert ended.wait(TIMEOUT)
    request.wait()


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("AUTO:HETERO", "AUTO:HETERO cannot use HETERO, which is a virtual device too"),
        ("HETERO:AUTO", "HETERO:AUTO cannot use AUTO, which is a virtual device too"),
        ("AUTO:AUTO", "AUTO:AUTO cannot use itself"),
        ("AUTO:MULTI", "MULTI, which is a virtual device too"),
        ("AUTO:XYZ", "there is no device XYZ"),
        ("AUTO:TEMPLATE,TEMPLATE", "TEMPLATE twice"),
        ("AUTO:TEMPLATE(x)", "write a positive number as in TEMPLATE\\(4\\)"),
        ("MULTI", "MULTI is given no devices"),
    ],
)
def test_bad_device_lists_get_one_sentence(device, message):
    with pytest.raises(DeviceError, match=message):
        Core().compile_model(square(), device)


def test_unknown_and_bad_properties_are_refused():
    core = Core()
    for options, message in (
        ({"NO_SUCH": 1}, "AUTO has no property NO_SUCH"),
        ({"SCHEDULE_POLICY": "FIRST"}, "SCHEDULE_POLICY of AUTO cannot be 'FIRST'"),
        ({"DEVICE_PROPERTIES": {"TEMPLATE": {"NUM_STREAMS": "x"}}}, "NUM_STREAMS of TEMPLATE cannot be 'x'"),
    ):
        with pytest.raises(PropertyError, match=message):
            core.compile_model(square(), "AUTO:TEMPLATE", options)


def test_properties_are_passed_on_to_the_devices():
    core = core_with(A=Backend(max_streams=8))
    compiled = core.compile_model(square(), "AUTO:A", {"NUM_STREAMS": 3})
    assert compiled.get_property("NUM_STREAMS") == compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS") == 3
    compiled = core.compile_model(square(), "AUTO:A", {"DEVICE_PROPERTIES": {"A": {"NUM_STREAMS": 5}}})
    assert compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS") == 5


def test_the_number_of_requests_is_known_before_the_best_device_is_ready():
    a = slow(max_streams=4)
    compiled = core_with(A=a, B=Backend()).compile_model(square(), "AUTO:A,B", {"PERFORMANCE_HINT": "THROUGHPUT"})
    assert compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS") == 4
    assert devices_in_use(compiled) == ("(B)",)
    a.may_compile.set()


def test_values_of_a_user_are_not_changed():
    weights = np.ones([1, 4], np.float32)
    x = Parameter(Type.f32, [1, 4], name="x")
    model = Model(ops.Add(x, Constant(weights), name="y"), [x], "add")
    output = Tensor(np.zeros([1, 4], np.float32), shared_memory=True)
    request = core_with(A=Backend()).compile_model(model, "AUTO:A").create_infer_request()
    request.set_output_tensor(output)
    request.infer(np.ones([1, 4], np.float32))
    np.testing.assert_array_equal(output.data, np.full([1, 4], 2))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("device", ["AUTO:TEMPLATE", "MULTI:TEMPLATE", "BATCH:TEMPLATE"])
def test_a_forked_process_goes_on(device):
    fork(
        """
        compiled = Core().compile_model(model(), DEVICE)
        request, queue = compiled.create_infer_request(), AsyncInferQueue(compiled, 2)
        run(request)
        """,
        """
        run(request)
        for x in range(4):
            queue.start_async(np.ones([3, 4], np.float32))
        queue.wait_all()
        run(compiled.create_infer_request())
        """,
        device,
    )


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_forked_during_the_startup_finishes_it():
    fork(
        """
        from tests.devices import core_with
        from tests.virtual.devices import Backend, slow
        a = slow()
        compiled = core_with(A=a, B=Backend()).compile_model(model(), "AUTO:A,B")
        request = compiled.create_infer_request()
        run(request)
        assert compiled.get_property("EXECUTION_DEVICES") == ["(B)"]
        """,
        """
        a.may_compile = threading.Event()
        a.may_compile.set()
        run(request)
        compiled.get_context()
        assert compiled.get_property("EXECUTION_DEVICES") == ["A"]
        run(request)
        """,
        "",
    )


@pytest.mark.slow
def test_the_program_ends_during_a_compilation_in_the_background():
    """The compilation, here one that takes a minute, is abandoned, and nothing is logged but that."""
    code = """
        import time
        from tests.devices import core_with
        from tests.virtual.devices import Backend, arrays, slow, square
        a = slow()
        compiled = core_with(A=a, B=Backend()).compile_model(square(), "AUTO:A,B")
        print(compiled(arrays(1)[0])[0].shape)
    """
    started = time.perf_counter()
    output, errors = run_python(textwrap.dedent(code))
    assert output == "(1, 4)" and "Traceback" not in errors and "takes over" not in errors
    assert time.perf_counter() - started < TIMEOUT
