"""The meaning of common properties, if the device has them."""

import sys
import threading
from typing import Any

import pytest

from hetero import Core
from hetero import properties as props
from hetero.conformance.samples import SampleModel, assert_close, used_devices
from hetero.dispatch.devices import parse_device_name
from hetero.plugin import SyncInferRequest

HINT, STREAMS, REQUESTS = (
    props.hint.performance_mode, props.num_streams, props.optimal_number_of_infer_requests,
)  # fmt: skip


def has(core: Core, device: str, *keys: str) -> bool:
    """Return whether the device supports all these properties."""
    return set(keys) <= core.get_property(device, props.supported_properties).keys()


def test_streams_follow_the_performance_hint(core: Core, device: str, sample: SampleModel) -> None:
    if not has(core, device, HINT, STREAMS, REQUESTS, props.hint.num_requests):
        return
    modes = props.hint.PerformanceMode
    latency = core.compile_model(sample.model(), device, {HINT: modes.LATENCY}).get_property(STREAMS)
    cases: list[tuple[dict[str, Any], range]] = [
        ({HINT: modes.LATENCY}, range(latency, latency + 1)),
        ({HINT: modes.THROUGHPUT}, range(latency, sys.maxsize)),
        ({HINT: modes.THROUGHPUT, props.hint.num_requests: 1}, range(1, 2)),
        ({HINT: modes.THROUGHPUT, STREAMS: 3}, range(3, 4)),
    ]
    for options, expected in cases:
        compiled = core.compile_model(sample.model(), device, options)
        assert compiled.get_property(STREAMS) in expected, options
        assert compiled.get_property(REQUESTS) >= compiled.get_property(STREAMS)


def test_execution_devices_and_caching_properties(core: Core, device: str) -> None:
    supported = core.get_property(device, props.supported_properties)
    assert core.get_property(device, props.caching_properties).items() <= supported.items()
    kinds = {parse_device_name(name).kind for name in core.get_property(device, props.execution_devices)}
    assert kinds and kinds <= {parse_device_name(name).kind for name in used_devices(core, device)}


def test_properties_are_those_of_the_compilation(core: Core, device: str, sample: SampleModel) -> None:
    for key, value in (
        (HINT, props.hint.PerformanceMode.THROUGHPUT),
        (props.hint.model_priority, props.hint.Priority.HIGH),
        (props.hint.execution_mode, props.hint.ExecutionMode.ACCURACY),
        (STREAMS, 2),
    ):
        if has(core, device, key):
            compiled = core.compile_model(sample.model(), device, {key: value})
            assert compiled.get_property(key) == value
            sample.check(compiled, 1)


@pytest.mark.parametrize("exclusive", [False, True])
def test_exclusive_requests_share_a_thread_in_the_order_of_priority(
    core: Core, device: str, sample: SampleModel, exclusive: bool
) -> None:
    if not has(core, device, props.exclusive_async_requests, props.hint.model_priority):
        return
    held, go, started, threads = threading.Event(), threading.Event(), [], set()

    def watch(request: SyncInferRequest, name: str) -> None:
        start = request.start

        def note_and_start() -> None:
            if name == "first":
                held.set()
                assert go.wait(60)
            started.append(name)
            threads.add(threading.get_ident())
            start()

        request.start = note_and_start  # type: ignore[method-assign]  # for this request only

    requests = []
    try:
        for name in ("first", "LOW", "HIGH"):
            priority = "MEDIUM" if name == "first" else name
            options: dict[str, Any] = {props.exclusive_async_requests: exclusive, props.hint.model_priority: priority}
            requests.append(core.compile_model(sample.model(), device, options).create_infer_request())
            if exclusive:
                watch(requests[-1]._request.request, name)
            requests[-1].start_async(sample.array(1))
            assert not exclusive or held.wait(60)
    finally:
        go.set()
    for request in requests:
        request.wait()
        assert_close(request.results[0], sample.expected(sample.array(1)))
    assert not exclusive or (started == ["first", "HIGH", "LOW"] and len(threads) == 1)


def test_disabled_transformations_change_no_result(core: Core, device: str, sample: SampleModel) -> None:
    if has(core, device, props.disable_transformations):
        compiled = core.compile_model(sample.model(length=3), device, {props.disable_transformations: True})
        expected = core.compile_model(sample.model(length=3), device)(sample.array(1))[0]
        assert_close(compiled(sample.array(1))[0], expected)
