"""OpenVINO's equivalents of what describes values: types, shapes, entries of port maps and variables."""

from __future__ import annotations

from typing import Any

import openvino
from openvino import op

from hetero.core.shape import PartialShape
from hetero.graph import Model, Output
from hetero_openvino.memory import hetero_type, openvino_type


class Untranslatable(Exception):
    """OpenVINO has no equivalent of an operation. The text is the reason."""


def type_of(value: Output) -> openvino.Type:
    """Return the element type of a value. Raises Untranslatable if OpenVINO has none."""
    kind = openvino_type(value.element_type)
    if kind is None:
        raise Untranslatable(f"the plugin does not pass {value.element_type} values to OpenVINO")
    return kind


def shape_of(shape: PartialShape) -> openvino.PartialShape:
    return openvino.PartialShape(str(shape))


def check_output(mine: Output, theirs: openvino.Output) -> None:
    """Raise Untranslatable if OpenVINO infers another type or shape."""
    kind, shape = hetero_type(theirs.get_element_type()), theirs.get_partial_shape()
    if kind is not mine.element_type or not shape.compatible(shape_of(mine.partial_shape)):
        expected = f"{mine.element_type}{mine.partial_shape}"
        raise Untranslatable(f"OpenVINO's output {mine.index} is {kind}{shape}, not {expected}")


def description_of(description: Any, shape: PartialShape) -> Any:
    """Return OpenVINO's object for an entry of a port map; its fields have the same names.

    ``shape``: that of the operation's input or output. OpenVINO takes a negative axis for another one.
    """
    fields = dict(vars(description))
    if fields.get("axis", 0) < 0:
        if not shape.has_rank:
            raise Untranslatable(f"its axis {fields['axis']} is one of an unknown number of dimensions")
        fields["axis"] += len(shape)
    return getattr(op.util, type(description).__name__)(**fields)


def variables_of(model: Model) -> dict[str, op.util.Variable]:
    made = {}
    for variable in model.variables:
        info = op.util.VariableInfo()
        info.variable_id = variable.info.variable_id
        info.data_type = openvino_type(variable.info.data_type) or openvino.Type.dynamic
        info.data_shape = shape_of(variable.info.data_shape)
        made[info.variable_id] = op.util.Variable(info)
    return made
