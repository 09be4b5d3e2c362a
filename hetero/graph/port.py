"""Output, a value that a node computes, Input, an argument of a node, and the search for a port of a model.

An Output has an element type, a shape and, for small integer tensors, the contents as far as they are known before
inference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero.core.ov_any import RTMap
from hetero.core.shape import PartialShape
from hetero.core.static_shape import Shape
from hetero.core.types import Type
from hetero.system.errors import ArgumentTypeError, GraphError
from hetero.system.messages import escaped
from hetero.system.notebook import table

if TYPE_CHECKING:
    from hetero.core.tensor import Tensor
    from hetero.graph.node import Node


# Shared by all outputs before their types are inferred; shapes of outputs are replaced, not changed.
_UNKNOWN_SHAPE = PartialShape.dynamic()


def shared(shape: PartialShape, other: PartialShape) -> PartialShape:
    """Return the other shape if both are equal and static, so that readers need no inference (``is_inferred``)."""
    return other if other is not _UNKNOWN_SHAPE and other.is_static and shape.is_same(other) else shape


class Port:
    """What an Output and an Input have in common: a place at a node, and the type and shape of the value there."""

    __slots__ = ("_index", "_node", "rt_info")

    def __init__(self, node: Node, index: int) -> None:
        self._node, self._index = node, index
        self.rt_info = RTMap()

    @property
    def node(self) -> Node:
        return self._node

    @property
    def index(self) -> int:
        return self._index

    @property
    def element_type(self) -> Type:
        # Typed as a Type for the many callers that read tensors only; a sequence or an optional value has a
        # ContainerType, which has the same methods.
        raise NotImplementedError

    @property
    def partial_shape(self) -> PartialShape:
        raise NotImplementedError

    @property
    def shape(self) -> Shape:
        """The shape. Raises GraphError if it is not fully known."""
        return self.partial_shape.to_shape()

    def get_node(self) -> Node:
        return self._node

    def get_index(self) -> int:
        return self._index

    def get_element_type(self) -> Type:
        return self.element_type

    def get_partial_shape(self) -> PartialShape:
        return self.partial_shape

    def get_shape(self) -> Shape:
        return self.shape

    def get_rt_info(self) -> RTMap:
        return self.rt_info

    def set_rt_info(self, value: Any, key: str) -> None:
        self.rt_info[key] = value


class Output(Port):
    """A value that a node computes."""

    __slots__ = ("_partial_shape", "_successor", "_targets", "element_type", "own_names", "value")
    element_type: Type

    def __init__(self, node: Node, index: int) -> None:
        super().__init__(node, index)
        self.element_type = Type.dynamic
        # The output that took the place of this one; itself if none did.
        self._successor = self
        self._partial_shape = _UNKNOWN_SHAPE
        self.own_names: set[str] = set()  # without the friendly name of a Parameter or Result
        # The contents as far as they are known: None, or an array in which a Dimension stands for each unknown element
        # of an integer tensor (see ops/checks.py).
        self.value: np.ndarray | None = None
        self._targets: dict[Input, None] = {}

    @property
    def partial_shape(self) -> PartialShape:
        """The shape; a copy, so that a caller who changes it does not change the graph."""
        return self._partial_shape.copy()

    @partial_shape.setter
    def partial_shape(self, shape: PartialShape) -> None:
        self._partial_shape = shape

    @property
    def shape(self) -> Shape:
        return self._partial_shape.to_shape()

    def share_shape(self, other: Output) -> None:
        """Let the shapes of two outputs be one object if they are equal and static: see ``shared``."""
        self._partial_shape = shared(self._partial_shape, other._partial_shape)

    def admits(self, shape: tuple[int, ...]) -> bool:
        """Return whether a concrete shape fits the shape of the value."""
        return self._partial_shape.admits(shape)

    def is_as_before(self, tensor: Tensor) -> bool:
        """Return whether a tensor has the element type and the shape that was admitted last.

        Requests ask this in each inference; what is not as before takes the full check, with ``admits``.
        """
        return tensor.has(self.element_type, self._partial_shape.last_admitted)

    @property
    def tensor(self) -> Output:
        """The description of the value: the output itself, which has names, type and shape."""
        return self

    def get_tensor(self) -> Output:
        return self

    @property
    def size(self) -> int:
        """The number of bytes. Raises GraphError if the shape is not fully known."""
        return math.prod(self.shape) * self.element_type.size

    @property
    def names(self) -> set[str]:
        """The names of the tensor; an input or output of a model without any has the friendly name of its node."""
        if not self.own_names and self._node.names_its_value:
            return {self._node.friendly_name}
        return self.own_names

    @names.setter
    def names(self, names: set[str]) -> None:
        self.own_names = names

    @property
    def any_name(self) -> str:
        """One of the tensor's names. Raises GraphError if it has none."""
        names = self.names
        if not names:
            raise GraphError(f"output {self._index} of {self._node.friendly_name} has no name")
        return min(names)

    def get_any_name(self) -> str:
        return self.any_name

    def get_names(self) -> set[str]:
        return self.names

    def set_names(self, names: Set[str]) -> None:
        """Set the names of the tensor. Raise ArgumentTypeError if they are not a set of strings."""
        self.names = _as_names(names)

    def add_names(self, names: Set[str]) -> None:
        """Add names of the tensor. Raise ArgumentTypeError if they are not a set of strings."""
        self.own_names |= _as_names(names)

    def get_target_inputs(self) -> list[Input]:
        """Return the inputs that read this value, in the order in which they were connected."""
        return list(self._targets)

    @property
    def target_inputs(self) -> list[Input]:
        return self.get_target_inputs()

    def remove_target_input(self, target_input: Input) -> None:
        """Remove an input from the readers, although it still reads this value: for nodes that are discarded."""
        self._targets.pop(target_input, None)

    def replace(self, replacement: Output) -> None:
        """Make every reader of this value read another one, which equals it, and add this value's names to that."""
        self.hand_over(replacement)
        for target in self.get_target_inputs():
            target.replace_source_output(replacement)
        replacement.own_names |= self.names

    def hand_over(self, successor: Output) -> None:
        """Note that another output has the contents of this one from now on, as a pass has changed the node.

        ``replace`` does so by itself. This output must not take the place of another one later: it would count as the
        one that has its own first contents again.
        """
        self._successor, successor._successor = successor, successor

    def current(self) -> Output:
        """Return the output that has the contents that this one had when it was made, if all passes keep values."""
        value = self
        while value._successor is not value:
            value = value._successor
        return value

    def __lt__(self, other: Output) -> bool:
        """Order values by their nodes, older ones first, and then by index."""
        if not isinstance(other, Output):
            return NotImplemented
        return (self._node.get_instance_id(), self._index) < (other._node.get_instance_id(), other._index)

    def __copy__(self) -> Output:
        return self  # a value of a graph has no copies

    def __deepcopy__(self, memo: dict[int, Any]) -> Output:
        raise ArgumentTypeError("an Output cannot be copied without its node; copy the model")

    def __repr__(self) -> str:
        return escaped(f"<{type(self).__name__}: {self.description()}>")

    def description(self) -> str:
        """Return names, shape and type as text."""
        return f"names[{', '.join(sorted(self.names))}] shape{self._partial_shape} type: {self.element_type}"


class ConstOutput(Output):
    """An input or output of a compiled model."""

    __slots__ = ()


class Input(Port):
    """An argument of a node: reads the output of another node."""

    __slots__ = ("_source",)

    def __init__(self, node: Node, index: int, source: Output) -> None:
        super().__init__(node, index)
        self._source = source
        source._targets[self] = None

    @property
    def element_type(self) -> Type:
        return self._source.element_type

    @property
    def partial_shape(self) -> PartialShape:
        return self._source.partial_shape

    def get_source_output(self) -> Output:
        return self._source

    def replace_source_output(self, new_source_output: Output) -> None:
        """Read another value. Types and shapes are not inferred again."""
        if not isinstance(new_source_output, Output):
            raise ArgumentTypeError(f"an input reads an Output, not {new_source_output!r}")
        self._source._targets.pop(self, None)
        self._source = new_source_output
        new_source_output._targets[self] = None

    def __repr__(self) -> str:
        return f"<Input: shape{self._source._partial_shape} type: {self.element_type}>"

    def get_tensor(self) -> Output:
        """Return the value that the input reads."""
        return self._source


def _as_names(names: Set[str]) -> set[str]:
    if not isinstance(names, Set) or not all(isinstance(name, str) for name in names):
        raise ArgumentTypeError(f"the names of a tensor are a set of strings, not {names!r}")
    return set(names)


PortKey = int | str | Output


def describe_ports(title: str, inputs: Sequence[Output], outputs: Sequence[Output]) -> str:
    """Return the text of a model: its title and its ports, one a line."""
    read, computed = (
        ",\n".join(escaped(f"<ConstOutput: {port.description()}>") for port in ports) for ports in (inputs, outputs)
    )
    return f"<{title}\ninputs[\n{read}\n]\noutputs[\n{computed}\n]>"


def find_port(
    ports: Sequence[Output], key: PortKey | None, problem: str, index_error: type[GraphError] = GraphError
) -> Output:
    """Return a port by index, name or port, or the only one.

    Raises GraphError, or ``index_error`` for an index, with a message that begins with ``problem`` if there is none.
    """
    if key is None:
        if len(ports) == 1:
            return ports[0]
        raise GraphError(f"{problem} by default: it has {len(ports)}, choose one by index or name")
    if isinstance(key, Output):
        if key in ports:
            return key
        # A port of the model that this one was compiled from has the same names.
        for port in ports:
            if key.names and key.names & port.names:
                return port
    elif isinstance(key, int):
        if -len(ports) <= key < len(ports):
            return ports[key]
    elif not isinstance(key, str):
        raise ArgumentTypeError(f"an input or output is found by index, name or port, not by {key!r}")
    else:
        for port in ports:
            if key in port.names or key == port.node.friendly_name:
                return port
    known = ", ".join(port_name(port) for port in ports)
    error = index_error if isinstance(key, int) else GraphError
    raise error(f"{problem} {key}: it has {known or 'none'}")


def port_name(port: Output) -> str:
    """Return the name of a port in messages: a tensor name, or the node's name if it has none."""
    return port.any_name if port.names else port.node.friendly_name


def ports_table(inputs: Sequence[Output], outputs: Sequence[Output]) -> str:
    """Return the names, element types and shapes of inputs and outputs as HTML."""
    rows = [
        (kind, port_name(port), port.element_type.to_string(), port.partial_shape.described())
        for kind, ports in (("input", inputs), ("output", outputs))
        for port in ports
    ]
    return table(("", "name", "type", "shape"), rows)
