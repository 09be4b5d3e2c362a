"""Runtime models."""

from pathlib import Path
from typing import Any

import pytest

from hetero import CompiledModel, Core, serialize
from hetero import properties as props
from hetero.conformance.samples import SampleModel
from hetero.graph import ExecutionNode, Parameter, Result, execution

pytestmark = pytest.mark.needs("runtime models")


@pytest.fixture
def compiled(core: Core, device: str, sample: SampleModel) -> CompiledModel:
    return core.compile_model(sample.model(length=2), device)


def test_it_executes_all_operations_from_inputs_to_outputs(compiled: CompiledModel) -> None:
    model = compiled.get_runtime_model()
    nodes = sorted(model.get_ordered_ops(), key=lambda node: int(node.rt_info.get(execution.EXECUTION_ORDER)))
    assert all(isinstance(node, (ExecutionNode, Parameter, Result)) for node in nodes)
    assert [int(node.rt_info.get(execution.EXECUTION_ORDER)) for node in nodes] == list(range(len(nodes)))
    for index, node in enumerate(nodes):
        assert all(value.node in nodes[:index] for value in node.input_values()), "a node runs before one that it reads"
    original_names = [name for node in nodes for name in node.rt_info.get(execution.ORIGINAL_LAYERS).split(",")]
    assert original_names.count("y1") == original_names.count("y") == 1
    for mine, port in zip([*model.inputs, *model.outputs], [*compiled.inputs, *compiled.outputs], strict=True):
        assert (mine.element_type, mine.partial_shape) == (port.element_type, port.partial_shape)


def test_every_node_has_all_rt_info(compiled: CompiledModel) -> None:
    for node in compiled.get_runtime_model().get_ordered_ops():
        for key in (
            execution.LAYER_TYPE, execution.IMPLEMENTATION, execution.ORIGINAL_LAYERS, execution.EXECUTION_TIME,
            execution.OUTPUT_PRECISIONS, execution.OUTPUT_LAYOUTS, execution.RUNTIME_PRECISION,
        ):  # fmt: skip
            assert isinstance(node.rt_info.get(key), str)


def test_times_of_all_inferences_with_perf_count_only(
    core: Core, device: str, sample: SampleModel, compiled: CompiledModel
) -> None:
    has_profiling = props.enable_profiling in core.get_property(device, props.supported_properties)
    for profiled in (False, True) if has_profiling else (None,):
        options: dict[str, Any] = {} if profiled is None else {props.enable_profiling: profiled}
        model = core.compile_model(sample.model(length=2), device, options)
        requests = [model.create_infer_request() for _ in range(2)]
        for request in requests:
            request.infer(sample.array())
        times = {node.rt_info.get(execution.EXECUTION_TIME) for node in model.get_runtime_model().get_ordered_ops()}
        assert bool(times - {execution.NOT_EXECUTED}) == bool(profiled)
        assert all(time.isdecimal() for time in times - {execution.NOT_EXECUTED})


def test_it_can_be_written(compiled: CompiledModel, tmp_path: Path) -> None:
    serialize(compiled.get_runtime_model(), tmp_path / "runtime.xml")
    assert 'originalLayersNames="' in (tmp_path / "runtime.xml").read_text(encoding="utf-8")
