"""MultiSubGraphOp, the base of operations that contain Models, called bodies, and the descriptions of their ports.

A frontend sets inputs, bodies and descriptions one after the other with ``set_arguments``, ``set_function``,
``set_input_descriptions`` and ``set_output_descriptions``, and calls ``infer`` at the end. Every field of a description
is an index into the operation's inputs or outputs, or into the body's parameters or results. The names, fields and
defaults are OpenVINO's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

from hetero.core.containers import ContainerType, ElementType, OptionalType, SequenceType, enclosing_type
from hetero.core.shape import Dimension, PartialShape
from hetero.graph import Model, Node, Op, Output, Parameter, Result, as_output
from hetero.graph.node import DiscreteTypeInfo
from hetero.graph.port import Input

# Maximum nesting of bodies. Inference, cloning and evaluation are recursive, and Python's stack is limited.
MAX_NESTING = 100
# The body of a node until one is set.
MISSING_BODY = Model([], [])

Port = TypeVar("Port", Parameter, Result)


class MultiSubGraphOp(Op):
    """Base of operations with ``body_count`` bodies."""

    output_size = 0
    body_count = 1
    bodies: list[Model]
    # The node is incomplete as long as it has fewer inputs.
    min_inputs = 0
    #: Nesting depth of the bodies, including those of this node.
    depth = 1

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        self.bodies = [MISSING_BODY] * self.body_count
        self.input_descriptions: list[list[InputDescription]] = [[] for _ in self.bodies]
        self.output_descriptions: list[list[OutputDescription]] = [[] for _ in self.bodies]
        super().__init__(*arguments, **keywords)

    @property
    def deterministic(self) -> bool:
        """Whether every operation of the bodies is deterministic."""
        return all(node.deterministic for body in self.bodies for node in body.get_ordered_ops())

    def copy_unconnected(self) -> Self:
        copy = super().copy_unconnected()
        copy.bodies = [body if body is MISSING_BODY else body.clone() for body in self.bodies]
        # Descriptions are immutable, so copies may share them.
        copy.input_descriptions = [list(descriptions) for descriptions in self.input_descriptions]
        copy.output_descriptions = [list(descriptions) for descriptions in self.output_descriptions]
        return copy

    def validate_and_infer_types(self) -> None:
        """Infer the bodies and set the outputs from their results. Does nothing while a body or an input is missing."""
        self.check_inputs()
        if self.is_complete():
            nodes = [node for body in self.bodies for node in body.get_ordered_ops()]
            self.depth = 1 + max((node.depth for node in nodes if isinstance(node, MultiSubGraphOp)), default=0)
            if self.depth > MAX_NESTING:
                self.fail(f"bodies are nested more than {MAX_NESTING} deep")
            self.infer_bodies()

    def is_complete(self) -> bool:
        """Return whether all bodies and inputs are set."""
        return MISSING_BODY not in self.bodies and self.get_input_size() >= self.min_inputs

    def check_complete(self) -> None:
        """Raise GraphError if a body or an input is missing, or a Parameter of a body has no source."""
        if not self.is_complete():
            self.fail("it is incomplete; set its bodies and its inputs")
        for body, fed in zip(self.bodies, self.fed_parameters()):
            for index, parameter in enumerate(body.parameters):
                if index not in fed:
                    self.fail(f"parameter '{parameter.friendly_name}' of its body has no source")

    def fed_parameters(self) -> list[set[int]]:
        """Return, for each body, the indices of the Parameters that have a source."""
        return [{each.body_parameter_index for each in descriptions} for descriptions in self.input_descriptions]

    def check_inputs(self) -> None:
        """Check the inputs that are not connected to a body. Raises GraphError if one is invalid."""

    def infer_bodies(self) -> None:
        """Infer types and shapes of the bodies and of the outputs. Raises GraphError if they are invalid."""
        raise NotImplementedError

    def _input_for(self, value: Output | Node) -> int:
        """Return the index of the input connected to a value; add an input if there is none."""
        value = as_output(value)
        sources = self.input_values()
        if value in sources:
            return sources.index(value)
        self._inputs.append(Input(self, len(sources), value))
        return len(sources)

    def _new_output(self, description: OutputDescription, body: int = 0) -> Output:
        self.set_output_size(max(description.output_index + 1, len(self._outputs)))
        self.output_descriptions[body].append(description)
        self.infer()
        return self.output(description.output_index)

    def _feed(self, body: int, description: InputDescription, shape: PartialShape | None = None) -> None:
        """Set the type and shape of a body's Parameter from its input, and the known value if it is not sliced."""
        parameter = self._port(self.bodies[body].parameters, description.body_parameter_index, "parameter")
        if description.input_index >= self.get_input_size():
            self.fail(f"a body reads input {description.input_index}, but there are {self.get_input_size()}")
        source = self.input_value(description.input_index)
        parameter.element_type = source.element_type
        parameter.partial_shape = source.partial_shape if shape is None else shape
        parameter.known_value = source.value if isinstance(description, InvariantInputDescription) else None

    def _result(self, body: int, index: int) -> Output:
        return self._port(self.bodies[body].results, index, "result").output(0)

    def _port(self, ports: Sequence[Port], index: int, what: str) -> Port:
        if not 0 <= index < len(ports):
            self.fail(f"the body has no {what} {index}: it has {len(ports)}")
        return ports[index]

    def _set_outputs(self, outputs: dict[int, tuple[Any, ...]]) -> None:
        """Set the element type and shape of each output by index. Raises GraphError if an output is missing."""
        missing = set(range(self.get_output_size())) - outputs.keys()
        if missing:
            self.fail(f"no body computes output {min(missing)}")
        for index, (element_type, shape) in outputs.items():
            # Symbols of a body's Parameters are valid within one iteration only.
            self.set_output_type(index, element_type, shape.without_symbols())

    def _index_of(self, ports: Sequence[Node], port: Node | Output) -> int:
        """Return the index of a Parameter or a Result, or of the first Result that returns a value."""
        node = port.node if isinstance(port, Output) else port
        for index, candidate in enumerate(ports):
            if candidate is node or (isinstance(candidate, Result) and candidate.input_value(0) == port):
                return index
        self.fail(f"'{node.friendly_name}' is not among the body's {[p.friendly_name for p in ports]}")


def widen(
    kind: ElementType, shape: PartialShape, other_kind: ElementType, other_shape: PartialShape
) -> tuple[ElementType, PartialShape] | None:
    """Return the element type and shape of a value that changes between iterations; None if the types differ.

    A dimension that differs becomes unknown instead of an interval, so repeated widening ends even if it always grows.
    """
    both = widen_type(kind, other_kind)
    if both.is_dynamic() and kind.is_static() and other_kind.is_static():
        return None
    return both, _widen_shape(shape, other_shape)


def _widen_shape(shape: PartialShape, other: PartialShape) -> PartialShape:
    if not shape.has_rank or not other.has_rank or len(shape) != len(other):
        return PartialShape.dynamic()
    return PartialShape([a if a.hull(b) == a else Dimension() for a, b in zip(shape, other)])


def widen_type(first: ElementType, second: ElementType) -> ElementType:
    """Return the element type of a value that changes from one to the other; dynamic if they have nothing in common."""
    if isinstance(first, OptionalType) and isinstance(second, SequenceType):
        # At run time an optional that contains a sequence is represented like the sequence.
        second = OptionalType(second, first.partial_shape)
    if first == second or not isinstance(first, ContainerType) or type(first) is not type(second):
        return enclosing_type(first, second)
    inner = widen_type(first.element_type, second.element_type)
    return type(first)(inner, _widen_shape(first.partial_shape, second.partial_shape))


class _Description:
    """What all connections have in common."""

    def get_type_info(self) -> DiscreteTypeInfo:
        return DiscreteTypeInfo(type(self).__name__, "util")

    def copy(self) -> Self:
        return replace(self)  # type: ignore[type-var]  # every subclass is a dataclass

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


@dataclass(repr=False)
class InputDescription(_Description):
    """Connection of an input of the operation to a Parameter of the body."""

    input_index: int = 0
    body_parameter_index: int = 0


@dataclass(repr=False)
class SliceInputDescription(InputDescription):
    """Each iteration receives the next slice of the input.

    Slices of length ``part_size`` along ``axis`` start every ``stride`` elements, from ``start`` to ``end``, both
    inclusive. Negative positions count from the end of the axis (-1 is the last). A negative stride goes backwards.
    """

    start: int = 0
    stride: int = 0
    part_size: int = 0
    end: int = 0
    axis: int = 0


@dataclass(repr=False)
class MergedInputDescription(InputDescription):
    """The first iteration receives the input, each later one the body's Result of the previous iteration."""

    body_value_index: int = 0


@dataclass(repr=False)
class InvariantInputDescription(InputDescription):
    """Every iteration receives the whole input."""


@dataclass(repr=False)
class _OutputDescription(_Description):
    """Connection of a Result of the body to an output of the operation."""

    body_value_index: int = 0
    output_index: int = 0


@dataclass(repr=False)
class ConcatOutputDescription(_OutputDescription):
    """The Results of all iterations concatenated along ``axis``, in reverse order if the stride is negative."""

    start: int = 0
    stride: int = 0
    part_size: int = 0
    end: int = 0
    axis: int = 0


@dataclass(repr=False)
class BodyOutputDescription(_OutputDescription):
    """The Result of one iteration, -1 for the last."""

    iteration: int = -1


OutputDescription = ConcatOutputDescription | BodyOutputDescription
