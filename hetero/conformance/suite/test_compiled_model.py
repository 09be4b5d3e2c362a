"""Compiled models: ports, properties and independence of each other."""

from typing import Any

import numpy as np
import pytest

from hetero import CompiledModel, Core, Model, Type
from hetero import properties as props
from hetero.conformance.samples import SampleModel, assert_close, describe_ports, on_threads, supports, used_devices
from hetero.dispatch.devices import parse_device_name
from hetero.system.errors import GraphError, PropertyError


def test_ports_are_those_of_the_model(core: Core, device: str, sample: SampleModel) -> None:
    model = sample.two_inputs()
    compiled = core.compile_model(model, device)
    assert describe_ports(compiled.inputs) == describe_ports(model.inputs)
    assert describe_ports(compiled.outputs) == describe_ports(model.outputs)
    assert compiled.input("b") is compiled.inputs[1] and compiled.output("c") is compiled.outputs[0]
    for find in (compiled.input, compiled.output):
        with pytest.raises(GraphError, match="nothing"):
            find("nothing")


@pytest.mark.needs("dynamic shapes")
def test_ports_of_dynamic_models(core: Core, device: str, sample: SampleModel) -> None:
    model = sample.model(rows=-1)
    compiled = core.compile_model(model, device)
    assert describe_ports(compiled.inputs) == describe_ports(model.inputs)
    assert describe_ports(compiled.outputs) == describe_ports(model.outputs)


def test_outputs_belong_to_the_right_inputs(core: Core, device: str, sample: SampleModel) -> None:
    a, b = sample.array(1), sample.array(2)
    results = core.compile_model(sample.two_inputs(), device)({"b": b, "a": a})
    assert_close(results["c"], sample.expected(a))
    assert_close(results["d"], sample.expected(b))


def test_several_operations(core: Core, device: str, sample: SampleModel) -> None:
    sample.check(core.compile_model(sample.model(length=3), device), length=3)


def test_inputs_and_inner_values_as_outputs(core: Core, device: str, sample: SampleModel) -> None:
    x = sample.parameter("x")
    inner = sample.node(x, "inner")
    model = Model([sample.node(inner, "y"), inner, x, inner], [x])
    compiled = core.compile_model(model, device)
    for seed in (0, 1):
        array = sample.array(seed)
        last, first, given, second = compiled(array).to_tuple()
        assert_close(last, sample.expected(array, length=2), scale=2)
        assert_close(first, sample.expected(array))
        np.testing.assert_array_equal(second, first)
        np.testing.assert_array_equal(given, array)


def test_an_unused_input(core: Core, device: str, sample: SampleModel) -> None:
    x, unread = sample.parameter("x"), sample.parameter("unread")
    compiled = core.compile_model(Model(sample.node(x, "y"), [unread, x]), device)
    array = sample.array()
    assert_close(compiled({"x": array, "unread": array})[0], sample.expected(array))


def test_compiled_models_are_independent(core: Core, device: str, sample: SampleModel) -> None:
    one, two = (core.compile_model(sample.model(rows, length), device) for rows, length in ((2, 1), (3, 2)))
    for seed in (0, 1):
        sample.check(one, seed)
        sample.check(two, seed, rows=3, length=2)


def test_compiling_on_several_threads_at_once(core: Core, device: str, sample: SampleModel) -> None:
    def work(index: int) -> None:
        rows = index + 1
        sample.check(core.compile_model(sample.model(rows), device), rows, rows)

    on_threads(work)


def test_every_supported_property_can_be_read(compiled: CompiledModel) -> None:
    for key in compiled.get_property(props.supported_properties):
        compiled.get_property(key)


def test_unknown_and_read_only_properties_cannot_be_set(compiled: CompiledModel) -> None:
    for act in (compiled.get_property, lambda key: compiled.set_property({key: 1})):
        with pytest.raises(PropertyError, match="NO_SUCH_PROPERTY"):
            act("NO_SUCH_PROPERTY")
    for key, mutability in compiled.get_property(props.supported_properties).items():
        if mutability == "RO":
            with pytest.raises(PropertyError, match=key):
                compiled.set_property({key: compiled.get_property(key)})


def test_properties_describe_the_compiled_model(core: Core, compiled: CompiledModel, device: str) -> None:
    supported = compiled.get_property(props.supported_properties)
    if props.model_name in supported:
        assert compiled.get_property(props.model_name) == "sample"
    if props.optimal_number_of_infer_requests in supported:
        assert compiled.get_property(props.optimal_number_of_infer_requests) >= 1
    if props.execution_devices in supported:
        names = [name.strip("()") for name in compiled.get_property(props.execution_devices)]  # AUTO's startup
        kinds = {parse_device_name(name).kind for name in names}
        assert kinds <= {parse_device_name(name).kind for name in used_devices(core, device)} and kinds


# Values of common properties, none of which changes results.
VALUES: dict[str, tuple[Any, ...]] = {
    props.enable_profiling: (False, True),
    props.disable_transformations: (False, True),
    props.exclusive_async_requests: (False, True),
    props.num_streams: (1, 3),
    props.inference_num_threads: (1, 2),
    props.hint.performance_mode: (props.hint.PerformanceMode.LATENCY, props.hint.PerformanceMode.THROUGHPUT),
    props.hint.num_requests: (1, 3),
    props.hint.execution_mode: (props.hint.ExecutionMode.ACCURACY,),
    props.hint.inference_precision: (Type.f32,),
    props.hint.model_priority: (props.hint.Priority.LOW, props.hint.Priority.HIGH),
}


@pytest.mark.parametrize("key", VALUES)
def test_properties_of_the_compilation_take_precedence(core: Core, device: str, sample: SampleModel, key: str) -> None:
    own = core.get_property(device, props.supported_properties)
    # A virtual device passes other properties on.
    if not any(
        key in core.get_property(name, props.supported_properties) for name in (device, *used_devices(core, device))
    ):
        with pytest.raises(PropertyError, match=key):
            core.compile_model(sample.model(), device, {key: VALUES[key][0]})
        return
    before = core.get_property(device, key) if key in own else None
    for value in VALUES[key]:
        compiled = core.compile_model(sample.model(), device, {key: value})
        assert compiled.get_property(key) == value
        requests = [compiled.create_infer_request() for _ in range(3)]
        for seed, request in enumerate(requests):
            request.start_async(sample.array(seed))
        for seed, request in enumerate(requests):
            request.wait()
            assert_close(request.results[0], sample.expected(sample.array(seed)))
    assert key not in own or core.get_property(device, key) == before


def test_query_agrees_with_compilation(core: Core, device: str, sample: SampleModel) -> None:
    """If the device supports a whole model, it compiles and runs it."""
    for rows in (0, 1, 2, 5):
        model = sample.model(rows)
        if supports(core, model, device):
            sample.check(core.compile_model(model, device), rows=rows)
