"""Op, the base class of operations: those of the operation sets and user-defined ones.

A class declares its inputs and attributes::

    class Softmax(Op, opset=8):
        input_names = ("data",)
        axis = Attribute(int, 1)

        def validate_and_infer_types(self):
            self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

and is constructed by ``Softmax(data, axis=-1)``. In ``input_names``, ``"bias?"`` is optional and ``"*nodes"`` takes a
list of any length; both come last. ``inputs = ("data",)`` is accepted too, but not by type checkers, because
``inputs()`` is a method.

A class may also be written like a subclass of openvino.Op: with an ``__init__`` that can be called without arguments
and calls ``super().__init__(self, inputs)``, and with a ``visit_attributes``::

    class Scale(Op):
        def __init__(self, inputs=None, **attributes):
            super().__init__(self, inputs)
            self.attributes = {"factor": 1.0, **attributes}

        def visit_attributes(self, visitor):
            visitor.on_attributes(self.attributes)
            return True
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hetero.graph.attributes import (
    REQUIRED,
    Attribute,
    AttributeCollector,
    AttributeSetter,
    AttributeVisitor,
    as_plain,
)
from hetero.graph.documentation import Documentation
from hetero.graph.node import DiscreteTypeInfo, Node, as_output
from hetero.graph.port import Input, Output
from hetero.graph.upper_layers import need
from hetero.system.errors import ArgumentListError, GraphError

if TYPE_CHECKING:
    from hetero.core.ov_any import RTMap
    from hetero.core.tensor import Tensor

# The instance attributes that belong to a node's place in its graph. A copy does not take them.
_CONNECTIONS = {"_inputs", "_outputs", "_inferred", "_friendly_name", "_instance_id", "rt_info"}
# Instance attributes of these types are copied, all others are shared.
_CONTAINERS = (dict, list, set)


class Op(Node):
    """An operation. Inputs may be given as nodes, outputs, arrays or numbers.

    A subclass defines ``validate_and_infer_types`` and, if hetero computes it, ``evaluate``.
    """

    input_names: tuple[str, ...] = ()
    attributes_declared: tuple[Attribute, ...] = ()
    # The parameters of the constructor in order, if they are not the inputs and then the attributes.
    parameter_order: tuple[str, ...] = ()
    # The name of the constructor's parameter that holds all attributes in a dict, if it has one; optional with "?".
    attributes_in: str = ""
    _signature: inspect.Signature
    output_size = 1

    def __init_subclass__(cls, opset: int | None = None, type_name: str | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declared = cls.__dict__.get("inputs")
        if isinstance(declared, tuple):
            cls.input_names = declared
            del cls.inputs
        members = [value for base in reversed(cls.__mro__) for value in vars(base).values()]
        attributes = {value.name: value for value in members if isinstance(value, Attribute)}
        cls.attributes_declared = tuple(attributes.values())
        version = f"opset{opset}" if opset else "extension"
        type_info = cls.__dict__.get("class_type_info")  # as in a subclass of openvino.Op
        cls.type_info = cls._checked(type_info) if type_info else DiscreteTypeInfo(type_name or cls.__name__, version)
        if docstring := cls.__dict__.get("__doc__"):
            cls.__doc__ = Documentation(docstring)  # type: ignore[assignment]  # a descriptor that returns a string

    def __init__(self, *arguments: Any, name: str | None = None, **keywords: Any) -> None:
        if arguments and arguments[0] is self:
            self._init_openvino_style(*arguments[1:], **keywords)
            return
        bound = self.bind(*arguments, **keywords)
        super().__init__(_flatten(type(self), bound), self.output_size)
        if name:
            self.friendly_name = name
        for attribute in self.attributes_declared:
            setattr(self, attribute.name, bound[attribute.name])
        self.infer()

    def _init_openvino_style(self, inputs: Sequence[Any] | None = None) -> None:
        """Implement ``super().__init__(self, inputs)``: no outputs, and no inference without inputs."""
        Node.__init__(self, (), 0)
        type(self).type_info = self._checked(self.get_type_info())
        if isinstance(inputs, tuple):  # the __init__ of the class takes ``*inputs``
            inputs = inputs[0] if len(inputs) == 1 and isinstance(inputs[0], list) else inputs or None
        if inputs is not None:
            self.set_arguments(inputs)
            self.constructor_validate_and_infer_types()

    @classmethod
    def _checked(cls, info: Any) -> DiscreteTypeInfo:
        if not isinstance(info, DiscreteTypeInfo):
            raise GraphError(f"{cls.__name__}: its type info must be a DiscreteTypeInfo, but is {info!r}")
        return info

    @classmethod
    def of(cls, inputs: Sequence[Output], attributes: Mapping[str, Any] | AttributeVisitor) -> Self:
        """Create a node from its inputs in order, and its attributes by name or from a visitor that sets them.

        For frontends of formats in which inputs have no names. Missing attributes take their defaults. Raises
        GraphError if inputs or attributes do not fit.
        """
        node = cls.unconnected()
        if cls.is_declared():
            cls._check_input_count(len(inputs))
        if not isinstance(attributes, AttributeVisitor):
            attributes = AttributeSetter(attributes, cls.type_info.name)
        node.visit_attributes(attributes)
        node.set_arguments(inputs)
        node.infer()
        return node

    @classmethod
    def unconnected(cls) -> Self:
        """Create a node without inputs and without declared attributes. Raise GraphError if that fails."""
        if cls.is_declared():
            node = object.__new__(cls)
            Node.__init__(node, (), cls.output_size)
            return node
        try:
            return cls()
        except TypeError as error:
            raise GraphError(
                f"{cls.__name__} cannot be constructed without arguments, as frontends do: {error}"
            ) from error

    @classmethod
    def is_declared(cls) -> bool:
        """Return whether the class declares its inputs and attributes, which then define a node completely."""
        return cls.__init__ is Op.__init__

    @classmethod
    def _check_input_count(cls, count: int) -> None:
        minimum = sum(not name.startswith("*") and not name.endswith("?") for name in cls.input_names)
        maximum = None if any(name.startswith("*") for name in cls.input_names) else len(cls.input_names)
        if count < minimum or (maximum is not None and count > maximum):
            raise GraphError(f"{cls.type_info.name}: it has {count} inputs, but takes {minimum} to {maximum or 'any'}")

    @classmethod
    def bind(cls, *arguments: Any, **keywords: Any) -> dict[str, Any]:
        """Return the arguments by name of input or attribute, with defaults. Raise GraphError if they do not fit."""
        try:
            bound = cls.signature().bind(*arguments, **keywords)
        except TypeError as error:
            raise ArgumentListError(f"{cls.type_info.name}: {error}") from None
        bound.apply_defaults()
        return cls._with_attributes_of_dict(bound.arguments) if cls.attributes_in else bound.arguments

    @classmethod
    def _with_attributes_of_dict(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        parameter = cls.attributes_in.strip("?")
        attributes = dict(arguments.pop(parameter) or {})
        for attribute in cls.attributes_declared:
            value = attributes.pop(attribute.name, attribute.default)
            if value is REQUIRED:
                raise GraphError(f"{cls.type_info.name}: {parameter} lacks {attribute.name}")
            arguments[attribute.name] = value
        if attributes:
            raise GraphError(f"{cls.type_info.name}: {parameter} cannot have {', '.join(map(str, attributes))}")
        return arguments

    @classmethod
    def inputs_before(cls, name: str, given: Sequence[Output]) -> list[Output]:
        """Return the optional inputs that are missing before a later one. By default raises GraphError."""
        raise GraphError(f"{cls.type_info.name}: input {name} is given without the optional inputs before it")

    @classmethod
    def signature(cls) -> inspect.Signature:
        """Return the signature of the constructor and the factory: inputs, then attributes."""
        if "_signature" not in cls.__dict__:
            cls._signature = _make_signature(cls)
        return cls._signature

    def set_arguments(self, arguments: Sequence[Any]) -> None:
        """Replace all inputs."""
        self.disconnect()
        sources = [_as_argument(argument, type(self)) for argument in arguments]
        self._inputs = [Input(self, index, source) for index, source in enumerate(sources)]

    def set_argument(self, index: int, argument: Any) -> None:
        """Replace one input, or append one at the index after the last."""
        if not 0 <= index <= len(self._inputs):
            self.fail(f"it has {len(self._inputs)} inputs, so input {index} cannot be set")
        if index == len(self._inputs):
            self._inputs.append(Input(self, index, _as_argument(argument, type(self))))
        else:
            self._inputs[index].replace_source_output(_as_argument(argument, type(self)))

    def constructor_validate_and_infer_types(self) -> None:
        """Infer types and shapes, after the inputs are set."""
        self.infer()

    def visit_attributes(self, visitor: AttributeVisitor) -> bool:
        """Pass all attributes to the visitor, and set those that it changes (optional).

        By default, these are the declared ones. A class with others calls ``visitor.on_attributes(its dict)`` or
        ``self.x = visitor.on_attribute("x", self.x)``. Nodes of the same inputs and attributes must compute the same.
        """
        for attribute in self.attributes_declared:
            value = self.__dict__.get(attribute.name, attribute.default)
            visited = visitor.visit(attribute, value)
            if visited is REQUIRED:
                raise GraphError(f"{self.type_info.name}: attribute {attribute.name} is missing")
            if visited is not value or attribute.name not in self.__dict__:
                setattr(self, attribute.name, visited)
        return True

    def attribute_values(self) -> dict[str, Any]:
        """Return the values of the attributes by their names in the constructor."""
        collector = AttributeCollector()
        self.visit_attributes(collector)
        return collector.values

    def get_attributes(self) -> dict[str, Any]:
        """Return the attributes with OpenVINO's names, types as strings, and shapes and sequences as lists."""
        collector = AttributeCollector()
        self.visit_attributes(collector)
        return {collector.names[name]: as_plain(value) for name, value in collector.values.items()}

    def set_attribute(self, name: str, value: Any) -> None:
        """Set an attribute by its name in the constructor or in OpenVINO; an unknown one is ignored."""
        collector = AttributeCollector()
        self.visit_attributes(collector)
        values = {own: value for own, spelling in collector.names.items() if name in (own, spelling)}
        self.visit_attributes(AttributeSetter(values, self.type_info.name))

    def __getattr__(self, name: str) -> Any:
        """Return ``get_axis`` and ``set_axis`` of an operation with an attribute ``axis``."""
        kind, _, attribute = name.partition("_")
        if kind in ("get", "set") and attribute in self.get_attributes():
            if kind == "get":
                return lambda: self.get_attributes()[attribute]
            return lambda value: self.set_attribute(attribute, value)
        raise AttributeError(f"{type(self).__name__} has no attribute {name}")

    def has_evaluate(self) -> bool:
        """Return whether ``evaluate`` can compute this node (optional); by default, whether the class defines it."""
        return type(self).evaluate is not Op.evaluate

    def evaluate(
        self,
        output_values: Sequence[Tensor],
        input_values: Sequence[Tensor],
        evaluationContext: RTMap | None = None,  # OpenVINO's name
    ) -> bool:
        """Compute the outputs: write to their ``data``, or copy tensors to them (optional). Return True on success.

        Outputs have the inferred type and shape; one whose shape depends on data is empty until its shape is set.
        Inputs are read-only. Several threads may call it at the same time. By default, hetero's own evaluation of the
        operation. Raises TensorError if tensors do not fit, UnsupportedOperationError if hetero cannot compute it.
        """
        return need("evaluation").evaluate_node(self, output_values, input_values)

    def clone_with_new_inputs(self, inputs: Sequence[Output]) -> Node:
        clone = self.copy_unconnected()
        Node.__init__(clone, inputs, len(self._outputs))
        if inputs and clone.take_inference(self):
            return clone
        own_name, clone.friendly_name = clone.friendly_name, self.friendly_name  # the name in error messages
        clone.infer()
        clone.friendly_name = own_name
        if not inputs:
            for mine, other in zip(self._outputs, clone._outputs):
                if mine._partial_shape == other._partial_shape:
                    other._partial_shape = mine._partial_shape  # the same object, so that readers need no inference
        return clone

    def copy_unconnected(self) -> Self:
        """Return a copy of the node without inputs and outputs."""
        clone = object.__new__(type(self))
        for key, value in self.__dict__.items():
            if key not in _CONNECTIONS:
                clone.__dict__[key] = copy.copy(value) if type(value) in _CONTAINERS else value
        return clone

    def has_input(self, name: str) -> bool:
        """Return whether an optional input is connected."""
        return self.input_index(name) < self.get_input_size()

    @classmethod
    def input_index(cls, name: str) -> int:
        return [declared.strip("*?") for declared in cls.input_names].index(name)


def defined_operations() -> Iterator[type[Op]]:
    """Yield all classes of operations in this process. Of two subclasses of one class, the later one comes first."""
    waiting = list(Op.__subclasses__())
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        yield cls


def _make_signature(cls: type[Op]) -> inspect.Signature:
    defaults = {d.strip("*?"): None if d.endswith("?") else REQUIRED for d in cls.input_names}
    if cls.attributes_in:
        defaults[cls.attributes_in.strip("?")] = None if cls.attributes_in.endswith("?") else REQUIRED
    else:
        defaults |= {attribute.name: attribute.default for attribute in cls.attributes_declared}
    parameters = []
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    optional = False
    for name in cls.parameter_order or defaults:
        required = defaults[name] is REQUIRED
        if required and optional:
            # Python allows no required parameter after an optional one, so this one and the rest are keyword-only.
            kind = inspect.Parameter.KEYWORD_ONLY
        optional = optional or not required
        default = inspect.Parameter.empty if required else defaults[name]
        parameters.append(inspect.Parameter(name, kind, default=default))
    return inspect.Signature(parameters)


def _flatten(cls: type[Op], bound: dict[str, Any]) -> list[Output]:
    arguments: list[Output] = []
    for declared in cls.input_names:
        value = bound[declared.strip("*?")]
        if declared.startswith("*"):
            arguments += [_as_argument(v, cls) for v in value]
        elif value is not None:
            if len(arguments) < cls.input_names.index(declared):
                arguments += cls.inputs_before(declared.strip("?"), arguments)
            arguments.append(_as_argument(value, cls))
    return arguments


def _as_argument(value: Any, cls: type[Op]) -> Output:
    if isinstance(value, (Node, Output)):
        return as_output(value)
    from hetero.graph.terminals import Constant

    array = np.asarray(value)
    if array.dtype == object:
        raise ArgumentListError(
            f"{cls.type_info.name}: {value!r} cannot be an input: give a node, an output, an array or a number"
        )
    if not isinstance(value, np.ndarray) and array.dtype == np.float64:
        array = array.astype(np.float32)  # the usual type of models
    return Constant(array).output(0)
