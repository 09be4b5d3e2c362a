"""ReadValue and Assign: values that a model remembers from one inference to the next."""

from __future__ import annotations

from typing import Any

from hetero.graph import Attribute, Op
from hetero.graph.variable import Variable, VariableInfo
from hetero.shape import PartialShape
from hetero.types import Type


def _identifier(value: str | Variable) -> str:
    return value.info.variable_id if isinstance(value, Variable) else str(value)


class VariableOp(Op):
    """Base of the operations that read or set a variable, given by its name or as a Variable.

    The value may come from an inference with other input lengths, so the shape of a ReadValue has no symbols.
    """

    variable_id = Attribute(_identifier)
    deterministic = False

    @property
    def variable_info(self) -> VariableInfo:
        """The variable's name, and its type and shape as far as this operation tells them."""
        return VariableInfo(self.variable_id, self.get_output_element_type(0), self.get_output_partial_shape(0))

    def get_variable_id(self) -> str:
        return self.variable_id


class ReadValueV3(VariableOp, type_name="ReadValue", opset=3):
    """The value of a variable; ``init_value`` while none was assigned."""

    inputs = ("init_value",)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0).without_symbols())


class ReadValue(VariableOp, opset=6):
    """The value of a variable; while none was assigned ``init_value``, or zeros without one.

    The variable's type and shape are the given ones, which must hold those of ``init_value``, or else those.
    """

    inputs = ("init_value?",)
    variable_id = Attribute(_identifier, "")  # a default, as it comes after an input that may be left out
    variable_type = Attribute(Type, None)
    variable_shape = Attribute(PartialShape, None)

    @classmethod
    def bind(cls, *arguments: Any, **keywords: Any) -> dict[str, Any]:
        """As OpenVINO's factory, to which the first input may be left out, and type and shape given by a Variable."""
        if arguments and isinstance(arguments[0], (str, Variable)):
            arguments = (None, *arguments)
        bound = super().bind(*arguments, **keywords)
        if isinstance(bound["variable_id"], Variable):
            info = bound["variable_id"].info
            bound |= {"variable_type": info.data_type, "variable_shape": info.data_shape}
        return bound

    def validate_and_infer_types(self) -> None:
        if not self.variable_id:
            self.fail("it must name a variable by variable_id")
        kind, shape = self.variable_type or Type.dynamic, self.variable_shape
        if not self.get_input_size():
            return self.set_output_type(0, kind, PartialShape.dynamic() if shape is None else shape.without_symbols())
        found, initial = self.get_input_element_type(0), self.get_input_partial_shape(0)
        if {kind, found} > {Type.dynamic} or kind is found:
            kind = found if kind.is_dynamic() else kind
        else:
            self.fail(f"variable '{self.variable_id}' is {kind}, but init_value is {found}")
        if shape is None:
            shape = initial
        elif shape.hull(initial) != shape:
            self.fail(f"variable '{self.variable_id}' has the shape {shape}, but init_value {initial}")
        self.set_output_type(0, kind, shape.without_symbols())


class AssignV3(VariableOp, type_name="Assign", opset=3):
    """Sets a variable for the inferences to come, and hands on the value."""

    inputs = ("new_value",)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


class Assign(AssignV3, opset=6):
    """Sets a variable for the inferences to come, and hands on the value; differs from opset3 in IR files only."""
