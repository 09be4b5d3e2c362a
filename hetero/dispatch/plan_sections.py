"""A plan as the sections of a blob: which values go where, what the report tells, and the blob of each subgraph."""

from __future__ import annotations

import dataclasses
import json
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hetero.dispatch.plan import Place, Plan, Step
from hetero.dispatch.report import PlacementReport
from hetero.errors import BlobError
from hetero.graph import Constant, Model
from hetero.plugin import CompiledModel, Section
from hetero.plugin.model_sections import ir_in, ir_sections, parameter_of, port_fields, port_fits, section_of

_CONSTANTS = "constants "


def plan_sections(name: str, plan: Plan, report: PlacementReport) -> dict[str, Section]:
    """The sections of a plan. Raises BlobError, and NotSupportedError where a device cannot export its subgraphs."""
    values = list(dict.fromkeys([*plan.inputs, *plan.outputs, *plan.places]))
    number_of = {value: number for number, value in enumerate(values)}
    fields = {
        "devices": [step.device for step in plan.steps],
        "values": [port_fields(value) for value in values],
        "inputs": [number_of[value] for value in plan.inputs],
        "outputs": [number_of[value] for value in plan.outputs],
        "places": [
            [number_of[value], [_place_fields(place, plan.steps) for place in places]]
            for value, places in plan.places.items()
        ],
        "constants": [number_of[value] for value in plan.constants],
        "setters": plan.setters,
        "report": dataclasses.asdict(report),
    }
    constants = Model([Constant(array) for array in plan.constants.values()], [], name)
    sections: dict[str, Section] = {"plan": json.dumps(fields).encode()}
    sections |= {f"{_CONSTANTS}{key}": section for key, section in ir_sections(name, constants).items()}
    return sections | {f"subgraph {index}": step.compiled.export_model() for index, step in enumerate(plan.steps)}


def devices_of_plan(sections: Mapping[str, memoryview]) -> list[str]:
    """The devices that the subgraphs of an exported plan run on, by name. Raises BlobError."""
    try:
        return list(dict.fromkeys(map(_text, _fields(sections)["devices"])))
    except _WRONG as error:
        raise _not_understood(error) from error


def plan_in(
    sections: Mapping[str, memoryview], import_step: Callable[[str, memoryview], CompiledModel]
) -> tuple[Plan, PlacementReport]:
    """The plan in these sections; ``import_step`` makes a compiled subgraph of a device's name and its blob.

    Raises BlobError for what is no plan, and what ``import_step`` raises.
    """
    constants_in = {key.removeprefix(_CONSTANTS): s for key, s in sections.items() if key.startswith(_CONSTANTS)}
    try:
        fields = _fields(sections)
        names = list(map(_text, fields["devices"]))
        blobs = [section_of(sections, f"subgraph {index}") for index in range(len(names))]
        values = [parameter_of(port).output(0) for port in fields["values"]]
        report = _typed(fields["report"], PlacementReport)
    except _WRONG as error:
        raise _not_understood(error) from error
    steps = [
        Step(f"subgraph {index}", name, import_step(name, blob)) for index, (name, blob) in enumerate(zip(names, blobs))
    ]
    constants = [result.input_value(0).node for result in ir_in(constants_in).results]
    try:
        plan = Plan(
            steps,
            inputs=[_of(values, number) for number in fields["inputs"]],
            outputs=[_of(values, number) for number in fields["outputs"]],
            setters={name: _index(step, len(steps)) for name, step in fields["setters"].items()},
        )
        for number, places in fields["places"]:
            plan.places[_of(values, number)] = [_place(place, steps) for place in places]
        for number, constant in zip(fields["constants"], constants, strict=True):
            plan.constants[_of(values, number)] = constant.data
        _check(plan, report)
    except _WRONG as error:
        raise _not_understood(error) from error
    plan.link()
    return plan, report


_WRONG = (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError)


def _not_understood(error: Exception) -> BlobError:
    return BlobError(f"the plan of the exported model cannot be understood: {error!r}")


def _fields(sections: Mapping[str, memoryview]) -> dict[str, Any]:
    return json.loads(section_of(sections, "plan").tobytes())


def _place_fields(place: Place, steps: Sequence[Step]) -> list:
    compiled = steps[place.step].compiled
    is_output = place.port in compiled.outputs
    return [place.step, is_output, (compiled.outputs if is_output else compiled.inputs).index(place.port)]


def _place(fields: Sequence, steps: Sequence[Step]) -> Place:
    step, is_output, number = fields
    compiled = steps[_index(step, len(steps))].compiled
    return Place(step, _of(compiled.outputs if is_output else compiled.inputs, number))


def _check(plan: Plan, report: PlacementReport) -> None:
    """Raise ValueError unless every port has one value, which an earlier step has written where it is read."""
    ports = [port for step in plan.steps for port in (*step.compiled.inputs, *step.compiled.outputs)]
    placed = [place.port for places in plan.places.values() for place in places]
    if len(placed) != len(ports) or set(placed) != set(ports):
        raise ValueError("each port of a subgraph must have one value")
    inputs = set(plan.inputs)
    for value, places in plan.places.items():
        writers = [place.step for place in places if place.port in plan.steps[place.step].compiled.outputs]
        written = [] if value in inputs else [places[0].step]
        if writers != written or any(place.step <= places[0].step for place in places[len(written) :] if written):
            raise ValueError(f"'{value.node.friendly_name}' is not written before it is read")
        if any(not port_fits(value, place.port) for place in places):
            raise ValueError(f"'{value.node.friendly_name}' does not fit where it is read")
    known = inputs | plan.places.keys() | plan.constants.keys()
    if len(inputs) != len(plan.inputs) or not known.issuperset(plan.outputs):
        raise ValueError("an output is written by no step")
    if len(report.subgraphs) != len(plan.steps):
        raise ValueError("the report is of another plan")
    report.summary()  # which is made of every import: it raises what _WRONG lists if the report contradicts itself


def _index(number: Any, count: int) -> int:
    if not 0 <= _typed(number, int) < count:
        raise IndexError(number)
    return number


def _of(items: Sequence, number: Any) -> Any:
    return items[_index(number, len(items))]


def _text(value: Any) -> str:
    return _typed(value, str)


def _typed(value: Any, kind: Any) -> Any:
    """A value from JSON in a type that a data class states. Raises TypeError."""
    if dataclasses.is_dataclass(kind):
        kinds = typing.get_type_hints(kind)
        return kind(**{name: _typed(value[name], kinds[name]) for name in kinds})
    if typing.get_origin(kind) is tuple:
        return tuple(_typed(item, typing.get_args(kind)[0]) for item in _typed(value, list))
    accepted = (int, float) if kind is float else typing.get_args(kind) or (kind,)
    if type(value) not in accepted:
        raise TypeError(f"{value!r} stands where {kind} should")
    return value
