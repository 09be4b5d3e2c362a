"""ReadValue and Assign: variables that keep their values between inferences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.graph import Attribute, Node, Op, accepts, walk_nested
from hetero.graph.variable import Variable, VariableInfo


@accepts("a name or a Variable")
def _identifier(value: str | Variable) -> str:
    return value.info.variable_id if isinstance(value, Variable) else str(value)


class VariableOp(Op):
    """Base of operations that read or set a variable, given by its id or as a Variable.

    The output shape of a ReadValue has no symbols, as the value may come from an inference with other input lengths.

    - ``variable_id``: the name of the variable in the model, or a Variable.
    - ``new_value``: the value to set.
    """

    variable_id = Attribute(_identifier)
    deterministic = False

    @property
    def variable_info(self) -> VariableInfo:
        """The variable's id, and its type and shape as far as this operation knows them."""
        return VariableInfo(self.variable_id, self.get_output_element_type(0), self.get_output_partial_shape(0))

    def get_variable_id(self) -> str:
        return self.variable_id


class ReadValueV3(VariableOp, type_name="ReadValue", opset=3):
    """The value of a variable before this inference, or ``init_value`` before the first Assign."""

    input_names = ("init_value",)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0).without_symbols())


class ReadValue(VariableOp, opset=6):
    """The value of a variable before this inference; before the first Assign ``init_value``, or zeros without one.

    ``variable_type`` and ``variable_shape`` must cover those of ``init_value``, and default to them.

    - ``variable_id``: the name of the variable in the model, or a Variable.
    - ``variable_type``: the element type of the variable.
    - ``variable_shape``: the shape of the variable.
    """

    input_names = ("init_value?",)
    variable_id = Attribute(_identifier, "")  # needs a default because it follows an optional input
    variable_type = Attribute(Type, None)
    variable_shape = Attribute(PartialShape, None)

    @classmethod
    def bind(cls, *arguments: Any, **keywords: Any) -> dict[str, Any]:
        """Accept the arguments of OpenVINO's factory: the input may be omitted, a Variable gives type and shape."""
        if arguments and isinstance(arguments[0], (str, Variable)):
            arguments = (None, *arguments)
        bound = super().bind(*arguments, **keywords)
        if isinstance(bound["variable_id"], Variable):
            info = bound["variable_id"].info
            bound |= {"variable_type": info.data_type, "variable_shape": info.data_shape}
        return bound

    def get_attributes(self) -> dict[str, Any]:
        unset = {"variable_type": "dynamic", "variable_shape": []}
        return super().get_attributes() | {name: plain for name, plain in unset.items() if getattr(self, name) is None}

    def validate_and_infer_types(self) -> None:
        if not self.variable_id:
            self.fail("it must name a variable by variable_id")
        element_type, shape = self.variable_type or Type.dynamic, self.variable_shape
        if not self.get_input_size():
            shape = PartialShape.dynamic() if shape is None else shape.without_symbols()
            return self.set_output_type(0, element_type, shape)
        initial_type, initial_shape = self.get_input_element_type(0), self.get_input_partial_shape(0)
        if {element_type, initial_type} > {Type.dynamic} or element_type is initial_type:
            element_type = initial_type if element_type.is_dynamic() else element_type
        else:
            self.fail(f"variable '{self.variable_id}' is {element_type}, but init_value is {initial_type}")
        if shape is None:
            shape = initial_shape
        elif shape.hull(initial_shape) != shape:
            self.fail(f"variable '{self.variable_id}' has the shape {shape}, but init_value {initial_shape}")
        self.set_output_type(0, element_type, shape.without_symbols())


class AssignV3(VariableOp, type_name="Assign", opset=3):
    """Set a variable for the following inferences; outputs the value."""

    input_names = ("new_value",)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


class Assign(AssignV3, opset=6):
    """Set a variable for the following inferences; outputs the value. Differs from opset3 in IR files only."""


def assigned_variables(nodes: Iterable[Node]) -> set[str]:
    """Return the ids of the variables that nodes and their bodies assign."""
    return {node.variable_id for node in walk_nested(nodes) if isinstance(node, AssignV3)}
