"""The sections of an exported plan: its values and steps, the placement report, and the blob of each subgraph."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.dispatch.cutting.plan import ExecutionStep, Plan, StepPort, build_plan
from hetero.dispatch.cutting.variable_use import VariableUse
from hetero.dispatch.report import PlacementReport
from hetero.graph import Constant, Model, Output, VariableInfo
from hetero.plugin import CompiledModel, Section
from hetero.plugin.blobs.model_sections import ir_in, ir_sections, parameter_of, port_fields, port_fits, section_of
from hetero.system.errors import BlobError, device_errors

_CONSTANTS = "constants "


def plan_sections(name: str, plan: Plan, report: PlacementReport) -> dict[str, Section]:
    """Return the sections of a plan. Raise BlobError, or NotSupportedError if a device cannot export a subgraph."""
    values = list(dict.fromkeys([*plan.inputs, *plan.outputs, *plan.ports]))
    index_of = {value: index for index, value in enumerate(values)}
    fields = {
        "devices": [step.device for step in plan.steps],
        "values": [port_fields(value) for value in values],
        "inputs": [index_of[value] for value in plan.inputs],
        "outputs": [index_of[value] for value in plan.outputs],
        "places": [
            [index_of[value], [_step_port_fields(port, plan.steps) for port in ports]]
            for value, ports in plan.ports.items()
        ],
        "constants": [index_of[value] for value in plan.constants],
        "variables": [
            [use.info.variable_id, f"{use.info.data_type}", str(use.info.data_shape), use.readers, use.setters]
            for use in plan.variables
        ],
        "report": dataclasses.asdict(report),
    }
    constants = Model([Constant(array) for array in plan.constants.values()], [], name)
    sections: dict[str, Section] = {"plan": json.dumps(fields).encode()}
    sections |= {f"{_CONSTANTS}{key}": section for key, section in ir_sections(name, constants).items()}
    for index, step in enumerate(plan.steps):
        with device_errors(f"{step.device} failed to export '{step.compiled.name}'"):
            sections[f"subgraph {index}"] = step.compiled.export_model()
    return sections


def devices_of_plan(sections: Mapping[str, memoryview]) -> list[str]:
    """Return the names of the devices that an exported plan runs on. Raise BlobError if the plan is damaged."""
    with _parse_errors():
        return list(dict.fromkeys(_typed(_fields(sections)["devices"], tuple[str, ...])))


def plan_in(
    sections: Mapping[str, memoryview], import_step: Callable[[str, memoryview], CompiledModel]
) -> tuple[Plan, PlacementReport]:
    """Return the plan and the report in these sections.

    ``import_step`` returns the compiled subgraph for a device name and a blob; its errors are passed on. Raises
    BlobError if the plan is damaged.
    """
    constants_in = {key.removeprefix(_CONSTANTS): s for key, s in sections.items() if key.startswith(_CONSTANTS)}
    with _parse_errors():
        fields = _fields(sections)
        devices = _typed(fields["devices"], tuple[str, ...])
        blobs = [section_of(sections, f"subgraph {index}") for index in range(len(devices))]
        values = [parameter_of(port).output(0) for port in fields["values"]]
        report = _typed(fields["report"], PlacementReport)
    steps = [
        ExecutionStep(f"subgraph {index}", device, import_step(device, blob))
        for index, (device, blob) in enumerate(zip(devices, blobs))
    ]
    constant_nodes = [result.input_value(0).node for result in ir_in(constants_in).results]
    arrays = [node.data for node in constant_nodes if isinstance(node, Constant)]
    with _parse_errors():
        inputs = [_item(values, index) for index in fields["inputs"]]
        outputs = [_item(values, index) for index in fields["outputs"]]
        ports = {_item(values, index): [_step_port(port, steps) for port in ports] for index, ports in fields["places"]}
        constants = {_item(values, index): array for index, array in zip(fields["constants"], arrays, strict=True)}
        variables = [_variable_use(entry, len(steps)) for entry in fields["variables"]]
        _check(steps, inputs, outputs, ports, constants, report)
    return build_plan(steps, inputs, outputs, ports, constants, variables), report


@contextlib.contextmanager
def _parse_errors() -> Iterator[None]:
    """Raise the errors of parsing damaged sections as BlobError."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError) as error:
        raise BlobError(f"the plan of the exported model cannot be understood: {error!r}") from error


def _fields(sections: Mapping[str, memoryview]) -> dict[str, Any]:
    return json.loads(section_of(sections, "plan").tobytes())


def _step_port_fields(port: StepPort, steps: Sequence[ExecutionStep]) -> list[Any]:
    compiled = steps[port.step].compiled
    is_output = port.port in compiled.outputs
    return [port.step, is_output, (compiled.outputs if is_output else compiled.inputs).index(port.port)]


def _step_port(fields: Sequence[Any], steps: Sequence[ExecutionStep]) -> StepPort:
    step, is_output, index = fields
    compiled = steps[_index(step, len(steps))].compiled
    return StepPort(step, _item(compiled.outputs if is_output else compiled.inputs, index))


def _variable_use(fields: Sequence[Any], count: int) -> VariableUse:
    name, kind, shape, readers, setters = fields
    info = VariableInfo(_typed(name, str), Type(_typed(kind, str)), PartialShape(_typed(shape, str)))
    return VariableUse(
        info, tuple(_index(step, count) for step in readers), tuple(_index(step, count) for step in setters)
    )


def _check(
    steps: Sequence[ExecutionStep],
    inputs: Sequence[Output],
    outputs: Sequence[Output],
    ports_of: Mapping[Output, Sequence[StepPort]],
    constants: Mapping[Output, np.ndarray],
    report: PlacementReport,
) -> None:
    """Raise ValueError unless every port has one value, and every value is written before it is read."""
    expected = [port for step in steps for port in (*step.compiled.inputs, *step.compiled.outputs)]
    bound = [port.port for ports in ports_of.values() for port in ports]
    if len(bound) != len(expected) or set(bound) != set(expected):
        raise ValueError("each port of a subgraph must have one value")
    input_set = set(inputs)
    for value, ports in ports_of.items():
        writers = [port.step for port in ports if port.port in steps[port.step].compiled.outputs]
        written = [] if value in input_set else [ports[0].step]
        if writers != written or any(port.step <= ports[0].step for port in ports[len(written) :] if written):
            raise ValueError(f"'{value.node.friendly_name}' is not written before it is read")
        if any(not port_fits(value, port.port) for port in ports):
            raise ValueError(f"'{value.node.friendly_name}' does not fit a port that reads or writes it")
    known = {*input_set, *ports_of, *constants}
    if len(input_set) != len(inputs) or not known.issuperset(outputs):
        raise ValueError("an output is written by no step")
    if len(report.subgraphs) != len(steps):
        raise ValueError("the report is of another plan")
    report.summary()  # logged at every import; an inconsistent report raises one of the errors of _parse_errors


def _index(index: Any, count: int) -> int:
    if not 0 <= _typed(index, int) < count:
        raise IndexError(index)
    return index


def _item(items: Sequence[Any], index: Any) -> Any:
    return items[_index(index, len(items))]


def _typed(value: Any, kind: Any) -> Any:
    """Convert a value from JSON to the type of a dataclass field. Raise TypeError if it is of another type."""
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        kinds = typing.get_type_hints(kind)
        return kind(**{name: _typed(value[name], kinds[name]) for name in kinds})
    if typing.get_origin(kind) is tuple:
        return tuple(_typed(item, typing.get_args(kind)[0]) for item in _typed(value, list))
    accepted = (int, float) if kind is float else typing.get_args(kind) or (kind,)
    if type(value) not in accepted:
        raise TypeError(f"{value!r} stands where {kind} should")
    return value
