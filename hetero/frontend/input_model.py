"""InputModel: a model file that a program looks at and changes before it is converted; and Place, a part of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hetero.core.shape import PartialShape, PartialShapeLike
from hetero.core.types import Type
from hetero.graph import Constant, Model, Node, Output, Parameter, Result
from hetero.system.errors import FrontendError


class Place:
    """A tensor or an operation of an InputModel.

    ``target``: its name, if the model is not translated; it is looked up once outputs are chosen.
    """

    def __init__(self, model: InputModel, target: Output | Node | str) -> None:
        self._model, self._given = model, target

    @property
    def _target(self) -> Output | Node:
        if isinstance(self._given, str):
            found = self._model.find(self._given)
            if found is None:
                raise FrontendError(f"the model has no tensor or operation '{self._given}'")
            self._given = found
        return self._given

    @property
    def given_name(self) -> str:
        """The name by which it was looked up in a model that is not translated."""
        return str(self._given)

    @property
    def tensor(self) -> Output:
        """The tensor, or the first output of the operation."""
        return self._target.output(0) if isinstance(self._target, Node) else self._target

    @property
    def operation(self) -> Node:
        """The operation, or the one that computes the tensor."""
        return self._target if isinstance(self._target, Node) else self._target.node

    def get_names(self) -> list[str]:
        """Return the names of the tensor, or the name of the operation."""
        return [self._target.friendly_name] if isinstance(self._target, Node) else sorted(self._target.names)

    def is_input(self) -> bool:
        return any(self.is_equal(place) for place in self._model.get_inputs())

    def is_output(self) -> bool:
        return any(self.is_equal(place) for place in self._model.get_outputs())

    def is_equal(self, other: Place) -> bool:
        return self._target is other._target

    def is_equal_data(self, other: Place) -> bool:
        """Return whether both stand for the same data: a tensor and the operation with this output do."""
        return self.tensor is other.tensor

    def get_producing_operation(self) -> Place:
        return Place(self._model, self.operation)

    def get_consuming_operations(self) -> list[Place]:
        readers = dict.fromkeys(reader.node for reader in self.tensor.get_target_inputs())
        return [Place(self._model, node) for node in readers if not isinstance(node, Result)]

    def get_source_tensor(self, *, input_port_index: int = 0) -> Place:
        """Return the tensor that an input of the operation reads."""
        return Place(self._model, self.operation.input_value(input_port_index))

    def get_target_tensor(self, *, output_port_index: int = 0) -> Place:
        """Return the tensor that the operation computes."""
        return Place(self._model, self.operation.output(output_port_index))


class InputModel:
    """A model that was read; ``FrontEnd.convert`` returns it with the changes made here.

    Unlike OpenVINO's it is translated already, so operations and tensors are those of the translated model. If it
    cannot be translated as a whole, places can be found by name and chosen as outputs; everything else raises the
    FrontendError of the translation.

    ``translate``: returns the model; ``translate_outputs``: the same with only the outputs of these names.
    """

    def __init__(self, translate: Callable[[], Model], translate_outputs: Callable[[Sequence[str]], Model]) -> None:
        self._translate_outputs = translate_outputs
        self._model: Model | FrontendError
        try:
            self._model = translate()
        except FrontendError as error:
            self._model = error

    @property
    def model(self) -> Model:
        """The model as it was changed. Raises FrontendError if it cannot be translated."""
        if isinstance(self._model, FrontendError):
            raise self._model
        return self._model

    def get_inputs(self) -> list[Place]:
        return [Place(self, port) for port in self.model.inputs]

    def get_outputs(self) -> list[Place]:
        return [Place(self, result.input_value(0)) for result in self.model.results]

    def get_place_by_tensor_name(self, tensor_name: str) -> Place | None:
        return self._place(tensor_name, self._tensor)

    def get_place_by_operation_name(self, operation_name: str) -> Place | None:
        return self._place(operation_name, self._operation)

    def get_place_by_input_index(self, input_idx: int) -> Place:
        return Place(self, self.model.input(input_idx))

    def get_partial_shape(self, place: Place) -> PartialShape:
        return place.tensor.partial_shape

    def set_partial_shape(self, place: Place, shape: PartialShapeLike) -> None:
        """Set the shape of an input, and infer all others again."""
        self._parameter(place).partial_shape = PartialShape(shape)
        self.model.validate_nodes_and_infer_types()

    def get_element_type(self, place: Place) -> Any:
        return place.tensor.element_type

    def set_element_type(self, place: Place, type: Type) -> None:
        """Set the element type of an input, and infer all others again."""
        self._parameter(place).element_type = Type(type)
        self.model.validate_nodes_and_infer_types()

    def set_name_for_tensor(self, tensor: Place, new_name: str) -> None:
        tensor.tensor.names = {new_name}

    def add_name_for_tensor(self, tensor: Place, new_name: str) -> None:
        tensor.tensor.names = {*tensor.tensor.own_names, new_name}

    def set_name_for_operation(self, operation: Place, new_name: str) -> None:
        operation.operation.friendly_name = new_name

    def set_tensor_value(self, place: Place, value: np.ndarray) -> None:
        """Replace a tensor by a constant."""
        place.tensor.replace(Constant(np.asarray(value)).output(0))
        self._keep(
            self.model.results, [parameter for parameter in self.model.parameters if parameter is not place.operation]
        )

    def add_output(self, place: Place) -> Place:
        """Make a tensor an output of the model too."""
        self.model.add_outputs([place.tensor])
        return place

    def remove_output(self, place: Place) -> None:
        self._keep(
            [result for result in self.model.results if result.input_value(0) is not place.tensor],
            self.model.parameters,
        )

    def cut_and_add_new_input(self, place: Place, new_name: str = "") -> None:
        """Make a tensor an input of the model instead of computing it."""
        self._cut([place], [new_name])
        self._keep(self.model.results, self.model.parameters)

    def override_all_outputs(self, outputs: Sequence[Place]) -> None:
        """Make these tensors the outputs of the model."""
        if isinstance(self._model, FrontendError):
            self._model = self._translate_outputs([place.given_name for place in outputs])
            return self._keep(self.model.results, self.model.parameters)
        self._keep([Result(place.tensor) for place in outputs], self.model.parameters)

    def override_all_inputs(self, inputs: Sequence[Place]) -> None:
        """Make these tensors the inputs of the model. Raises FrontendError if they are not enough."""
        self._keep(self.model.results, self._cut(inputs, [""] * len(inputs)), inputs_are_given=True)

    def extract_subgraph(self, inputs: Sequence[Place], outputs: Sequence[Place]) -> None:
        """Keep only what computes these outputs from these inputs."""
        self.override_all_outputs(outputs)
        self.override_all_inputs(inputs)

    def _operations(self) -> list[Node]:
        return [node for node in self.model.get_ordered_ops() if not isinstance(node, Result)]

    def find(self, name: str) -> Output | Node | None:
        """Return the tensor, else the operation, of this name. Raises FrontendError if the model is not translated."""
        return self._tensor(name) or self._operation(name)

    def _tensor(self, name: str) -> Output | None:
        named = {name: result.input_value(0) for result in self.model.results for name in result.output(0).names}
        values = (value for node in self._operations() for value in node.outputs())
        return next((value for value in values if name in value.names), named.get(name))

    def _operation(self, name: str) -> Node | None:
        return next((node for node in self._operations() if node.friendly_name == name), None)

    def _place(self, name: str, find: Callable[[str], Output | Node | None]) -> Place | None:
        target = name if isinstance(self._model, FrontendError) else find(name)
        return None if target is None else Place(self, target)

    def _parameter(self, place: Place) -> Parameter:
        node = place.operation
        if not isinstance(node, Parameter) or node not in self.model.parameters:
            raise FrontendError(f"{place.get_names()} is no input of the model, whose type and shape can be set")
        return node

    def _cut(self, places: Sequence[Place], names: Sequence[str]) -> list[Parameter]:
        """Return the inputs for tensors: new ones for those that are computed."""
        parameters: list[Parameter] = []
        for place, name in zip(places, names):
            value, node = place.tensor, place.operation
            if isinstance(node, Parameter):
                parameter = node
            else:
                parameter = Parameter(value.element_type, value.partial_shape, name=name or node.friendly_name)
                value.replace(parameter.output(0))
                if name:
                    parameter.output(0).names = {name}
                self.model.add_parameters([parameter])
            parameters.append(parameter)
        return parameters

    def _keep(self, results: Sequence[Result], parameters: Sequence[Parameter], inputs_are_given: bool = False) -> None:
        """Keep these outputs, and of the inputs those that they need or, if they are given, exactly these."""
        needed = set(Model(results, self.model.parameters, sinks=self.model.sinks).get_ordered_ops())
        read = {node for reader in needed for node in (value.node for value in reader.input_values())}
        kept = parameters if inputs_are_given else [parameter for parameter in parameters if parameter in read]
        if missing := [
            parameter.friendly_name
            for parameter in self.model.parameters
            if parameter in read and parameter not in kept
        ]:
            raise FrontendError(f"the outputs also depend on the inputs {', '.join(missing)}")
        changed = Model(results, kept, self.model.friendly_name, sinks=self.model.sinks)
        changed.rt_info.update(self.model.rt_info)
        self._model = changed
