"""Op: the base of operations that state their inputs and attributes as class data.

A class of an operation set reads like its specification::

    class Softmax(Op, opset=8):
        inputs = ("data",)
        axis = Attribute(int, 1)

        def validate_and_infer_types(self):
            self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

and is made by ``Softmax(data, axis=-1)``. In ``inputs``, ``"bias?"`` may be left out and ``"*nodes"`` takes
a list of any length; both come last.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hetero.errors import GraphError
from hetero.graph.node import DiscreteTypeInfo, Node, Output, as_output

REQUIRED = object()


class Attribute:
    """An attribute: a converter, which raises ValueError for what it cannot take, and a default.

    ``ir``: its name in IR files, where that is not the one that the factory has.
    """

    def __init__(self, convert: Callable[[Any], Any], default: Any = REQUIRED, ir: str | None = None) -> None:
        self.convert, self.default, self.ir_name = convert, default, ir

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.ir_name = self.ir_name or name

    def __get__(self, node: Node | None, owner: type) -> Any:
        return self if node is None else node.__dict__[self.name]

    def __set__(self, node: Node, value: Any) -> None:
        try:
            node.__dict__[self.name] = None if value is None and self.default is None else self.convert(value)
        except (ValueError, TypeError):
            accepts = getattr(self.convert, "accepts", self.convert.__name__)
            raise GraphError(
                f"{node.type_info.name}: attribute {self.name} cannot be {value!r}, it takes {accepts}"
            ) from None


def integers(value: Any) -> tuple[int, ...]:
    """A tuple of ints from a sequence of whole numbers."""
    return tuple(int(v) for v in value)


integers.accepts = "a sequence of whole numbers"  # type: ignore[attr-defined]


def floats(value: Any) -> tuple[float, ...]:
    """A tuple of floats from a sequence of numbers."""
    return tuple(float(v) for v in value)


floats.accepts = "a sequence of numbers"  # type: ignore[attr-defined]


def texts(value: Any) -> tuple[str, ...]:
    """A tuple of strings from a sequence of them, not from one string."""
    if isinstance(value, str):
        raise ValueError
    return tuple(str(v) for v in value)


texts.accepts = "a sequence of strings"  # type: ignore[attr-defined]


def choice(*options: str) -> Callable[[Any], str]:
    """A converter that takes one of the strings, in any case."""

    def convert(value: Any) -> str:
        if str(value).lower() not in options:
            raise ValueError
        return str(value).lower()

    convert.accepts = f"one of {', '.join(options)}"  # type: ignore[attr-defined]
    return convert


class Op(Node):
    """An operation with declared inputs and attributes. Inputs may be given as nodes, outputs, arrays or numbers."""

    inputs_declared: tuple[str, ...] = ()
    attributes_declared: tuple[Attribute, ...] = ()
    # The names of the parameters in order, where that is not all inputs and then all attributes.
    parameter_order: tuple[str, ...] = ()
    # The name of the one parameter, a dict, in which all attributes are given, where the factory has such;
    # with "?" it may be left out.
    attributes_in: str = ""
    output_size = 1

    def __init_subclass__(cls, opset: int | None = None, type_name: str | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declared = cls.__dict__.get("inputs")
        if isinstance(declared, tuple):
            # The class data is moved aside, since a node's inputs() is a method.
            cls.inputs_declared = declared
            del cls.inputs
        declared_by_all = [value for base in reversed(cls.__mro__) for value in vars(base).values()]
        attributes = {value.name: value for value in declared_by_all if isinstance(value, Attribute)}
        cls.attributes_declared = tuple(attributes.values())
        version = f"opset{opset}" if opset else "extension"
        cls.type_info = DiscreteTypeInfo(type_name or cls.__name__, version)

    def __init__(self, *arguments: Any, name: str | None = None, **keywords: Any) -> None:
        bound = self.bind(*arguments, **keywords)
        super().__init__(_flatten(type(self), bound), self.output_size)
        if name:
            self.friendly_name = name
        for attribute in self.attributes_declared:
            setattr(self, attribute.name, bound[attribute.name])
        self.infer()

    @classmethod
    def of(cls, inputs: Sequence[Output], attributes: Mapping[str, Any]) -> Op:
        """A node of the inputs in order, and of attributes by their names; those left out take their defaults.

        For readers of files, where inputs have no names. Raises GraphError where inputs or attributes do not fit.
        """
        node = object.__new__(cls)
        least = sum(not declared.startswith("*") and not declared.endswith("?") for declared in cls.inputs_declared)
        most = None if any(declared.startswith("*") for declared in cls.inputs_declared) else len(cls.inputs_declared)
        if len(inputs) < least or (most is not None and len(inputs) > most):
            raise GraphError(f"{cls.type_info.name}: it has {len(inputs)} inputs, but takes {least} to {most or 'any'}")
        Node.__init__(node, inputs, cls.output_size)
        for attribute in cls.attributes_declared:
            value = attributes.get(attribute.name, attribute.default)
            if value is REQUIRED:
                raise GraphError(f"{cls.type_info.name}: attribute {attribute.name} is missing")
            setattr(node, attribute.name, value)
        node.infer()
        return node

    @classmethod
    def bind(cls, *arguments: Any, **keywords: Any) -> dict[str, Any]:
        """Arguments by the names of inputs and attributes, with defaults. Raises GraphError where they do not fit."""
        try:
            bound = cls.signature().bind(*arguments, **keywords)
        except TypeError as error:
            raise GraphError(f"{cls.type_info.name}: {error}") from None
        bound.apply_defaults()
        return cls._with_attributes_of_dict(bound.arguments) if cls.attributes_in else bound.arguments

    @classmethod
    def _with_attributes_of_dict(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        parameter = cls.attributes_in.strip("?")
        given = dict(arguments.pop(parameter) or {})
        for attribute in cls.attributes_declared:
            value = given.pop(attribute.name, attribute.default)
            if value is REQUIRED:
                raise GraphError(f"{cls.type_info.name}: {parameter} lacks {attribute.name}")
            arguments[attribute.name] = value
        if given:
            raise GraphError(f"{cls.type_info.name}: {parameter} cannot have {', '.join(map(str, given))}")
        return arguments

    @classmethod
    def signature(cls) -> inspect.Signature:
        """The parameters of the constructor and the factory: inputs, then attributes."""
        cached = cls.__dict__.get("_signature")
        if cached is None:
            cached = cls._signature = _make_signature(cls)
        return cached

    def get_attributes(self) -> dict[str, Any]:
        return {attribute.name: getattr(self, attribute.name) for attribute in self.attributes_declared}

    def clone_with_new_inputs(self, inputs: Sequence[Output]) -> Node:
        clone = self.copy_unconnected()
        Node.__init__(clone, inputs, len(self._outputs))
        clone.friendly_name = self.friendly_name
        clone.rt_info.update(self.rt_info)
        for mine, other in zip(self._outputs, clone._outputs):
            other.names = set(mine.names)
            other.rt_info = dict(mine.rt_info)
        clone.infer()
        return clone

    def copy_unconnected(self) -> Op:
        """A node of this class with the same attributes, without inputs and outputs."""
        copy = object.__new__(type(self))
        for attribute in self.attributes_declared:
            copy.__dict__[attribute.name] = self.__dict__[attribute.name]
        return copy

    def has_input(self, name: str) -> bool:
        """Whether an optional input is connected."""
        return self.input_index(name) < self.get_input_size()

    @classmethod
    def input_index(cls, name: str) -> int:
        return [declared.strip("*?") for declared in cls.inputs_declared].index(name)


def _make_signature(cls: type[Op]) -> inspect.Signature:
    defaults = {d.strip("*?"): None if d.endswith("?") else REQUIRED for d in cls.inputs_declared}
    if cls.attributes_in:
        defaults[cls.attributes_in.strip("?")] = None if cls.attributes_in.endswith("?") else REQUIRED
    else:
        defaults |= {attribute.name: attribute.default for attribute in cls.attributes_declared}
    parameters = []
    kind, optional = inspect.Parameter.POSITIONAL_OR_KEYWORD, False
    for name in cls.parameter_order or defaults:
        required = defaults[name] is REQUIRED
        if required and optional:
            # Python allows no required parameter after an optional one: from there on they are by keyword.
            kind = inspect.Parameter.KEYWORD_ONLY
        optional = optional or not required
        default = inspect.Parameter.empty if required else defaults[name]
        parameters.append(inspect.Parameter(name, kind, default=default))
    return inspect.Signature(parameters)


def _flatten(cls: type[Op], bound: dict[str, Any]) -> list[Output]:
    arguments: list[Output] = []
    for declared in cls.inputs_declared:
        value = bound[declared.strip("*?")]
        if declared.startswith("*"):
            arguments += [_as_argument(v, cls) for v in value]
        elif value is not None:
            if len(arguments) < cls.inputs_declared.index(declared):
                raise GraphError(
                    f"{cls.type_info.name}: input {declared.strip('?')} is given but one before it is left out"
                )
            arguments.append(_as_argument(value, cls))
    return arguments


def _as_argument(value: Any, cls: type[Op]) -> Output:
    if isinstance(value, (Node, Output)):
        return as_output(value)
    from hetero.graph.terminals import Constant

    array = np.asarray(value)
    if array.dtype == object:
        raise GraphError(
            f"{cls.type_info.name}: {value!r} cannot be an input: give a node, an output, an array or a number"
        )
    if not isinstance(value, np.ndarray) and array.dtype == np.float64:
        array = array.astype(np.float32)  # a Python float stands for the common type of models
    return Constant(array).output(0)
