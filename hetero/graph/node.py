"""Node, an operation in a graph, which reads Outputs through its Inputs and computes Outputs."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast

import numpy as np

from hetero.core.containers import ElementType
from hetero.core.ov_any import RTMap
from hetero.core.shape import PartialShape, PartialShapeLike
from hetero.core.static_shape import Shape
from hetero.core.types import Type
from hetero.graph.port import Input, Output, shared
from hetero.graph.upper_layers import need
from hetero.system.errors import GraphError
from hetero.system.messages import escaped

if TYPE_CHECKING:
    from hetero.graph.model import Model


_UFUNCS = {np.add: "Add", np.subtract: "Subtract", np.multiply: "Multiply", np.divide: "Divide"}


class Arithmetic:
    """Operators with nodes, arrays and numbers; a number takes the element type of the node."""

    def __add__(self, other: Any) -> Any:
        return _apply("Add", self, other)

    def __radd__(self, other: Any) -> Any:
        return _apply("Add", other, self)

    def __sub__(self, other: Any) -> Any:
        return _apply("Subtract", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _apply("Subtract", other, self)

    def __mul__(self, other: Any) -> Any:
        return _apply("Multiply", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _apply("Multiply", other, self)

    def __truediv__(self, other: Any) -> Any:
        return _apply("Divide", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _apply("Divide", other, self)

    def __array_ufunc__(self, function: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options or function not in _UFUNCS:
            return NotImplemented
        return _apply(_UFUNCS[function], *inputs)


def _apply(name: str, left: Any, right: Any) -> Any:
    operands = (left, right)
    if not all(isinstance(operand, (Arithmetic, np.ndarray, np.generic, int, float)) for operand in operands):
        return NotImplemented
    return getattr(need("operations"), name)(*(_operand(operand, operands) for operand in operands))


def _operand(operand: Any, operands: tuple[Any, Any]) -> Any:
    """Return a number as an array of the element type of the other operand, anything else as it is."""
    if isinstance(operand, (Arithmetic, np.ndarray)):
        return operand
    node = next(one for one in operands if isinstance(one, Arithmetic))
    kind = node.get_element_type()  # type: ignore[attr-defined]  # every Arithmetic is a Node
    return np.asarray(operand, None if kind.is_dynamic() else kind.to_dtype())


# Maximum number of outputs of a node: without it, a number in a small file could fill the memory.
MAX_OUTPUTS = 1 << 16


class DiscreteTypeInfo(NamedTuple):
    """The type of an operation: its name and the operation set that introduced it."""

    name: str
    version_id: str

    @property
    def parent(self) -> DiscreteTypeInfo | None:
        """Always None: unlike OpenVINO's classes, operations here have no types in common above them."""
        return None

    def hash(self) -> int:
        return hash(self)

    def __repr__(self) -> str:
        return f"<DiscreteTypeInfo: {self.name} {self.version_id}>"


class GeneratedName(str):
    """A friendly name that nobody chose: its number depends on the process. It stays one when it is copied."""

    __slots__ = ()


class Named:
    """An object with a friendly name, which appears in messages, properties and device reports."""

    _friendly_name: str

    @property
    def friendly_name(self) -> str:
        return self._friendly_name

    @friendly_name.setter
    def friendly_name(self, name: str) -> None:
        self._friendly_name = name

    def get_friendly_name(self) -> str:
        return self._friendly_name

    def set_friendly_name(self, name: str) -> None:
        self._friendly_name = name

    @property
    def name(self) -> str:
        return self._friendly_name

    def get_name(self) -> str:
        return self._friendly_name


class Node(Named, Arithmetic):
    """An operation: it has attributes, reads values and computes values."""

    type_info = DiscreteTypeInfo("Node", "")
    # The inputs whose contents decide output shapes or behavior, such as the axes of a reduction. A device may
    # read them on the host and specialize for their contents.
    shape_inputs: tuple[int, ...] = ()
    # The Models that an operation such as Loop runs.
    bodies: Sequence[Model] = ()
    # Whether the friendly name is the name of the tensor if that has no other, as for inputs and outputs of models.
    names_its_value = False
    rt_info: RTMap
    _counter = itertools.count()

    def __init__(self, arguments: Sequence[Output | Node] = (), output_size: int = 1) -> None:
        self._instance_id = next(Node._counter)
        self._friendly_name = GeneratedName(self.name)
        self.rt_info = RTMap()
        self._outputs = [Output(self, index) for index in range(output_size)]
        self._inputs = [Input(self, index, as_output(a)) for index, a in enumerate(arguments)]
        # The descriptions of inputs and outputs at the last inference; empty after an attribute was set.
        self._inferred: list[object] = []

    @property
    def name(self) -> str:
        """A name that no other node of the process has, and that does not change, unlike the friendly name."""
        return f"{self.type_info.name}_{self._instance_id}"

    def get_name(self) -> str:
        return self.name

    # Methods that a class of operations defines.

    def validate_and_infer_types(self) -> None:
        """Check inputs and attributes, and set the type and shape of every output (required). Raises GraphError."""
        raise NotImplementedError(f"{type(self).__name__} does not define validate_and_infer_types")

    @property
    def deterministic(self) -> bool:
        """Whether the same inputs always give the same outputs. Other operations are neither folded nor merged."""
        return True

    def infer_value(self) -> np.ndarray | None:
        """Return the contents of output 0 as far as they are known before inference, or None (optional)."""
        return None

    def infer_values(self) -> Sequence[np.ndarray | None]:
        """Return the known contents of every output, if they are known for more than output 0 (optional)."""
        return [self.infer_value()]

    def clone_with_new_inputs(self, inputs: Sequence[Output]) -> Node:
        """Return the same operation on other inputs (required)."""
        raise NotImplementedError(f"{type(self).__name__} does not define clone_with_new_inputs")

    def attribute_values(self) -> dict[str, Any]:
        """Return the values of the attributes by their names in the constructor."""
        return {}

    def get_attributes(self) -> dict[str, Any]:
        """Return the attributes by OpenVINO's names."""
        return {}

    # Methods of all operations.

    def infer(self) -> None:
        """Infer types, shapes and known contents of the outputs from the inputs."""
        shapes = [output._partial_shape for output in self._outputs]
        self.validate_and_infer_types()
        for output, shape in zip(self._outputs, shapes):
            output._partial_shape = shared(output._partial_shape, shape)
        for output, value in zip(self._outputs, self.infer_values()):
            output.value = value
        self._inferred = [*_descriptions(self.input_values()), *_descriptions(self._outputs)]

    def take_inference(self, other: Node) -> bool:
        """Take types, shapes and known contents from a node of the same attributes, if its inputs are described alike.

        Descriptions are compared by identity. Returns False, and changes nothing, if they differ, or if the inputs or
        outputs of the other node were changed after its last inference.
        """
        if not other._was_inferred_from(self.input_values()):
            return False
        for mine, source in zip(self._outputs, other._outputs):
            mine.element_type, mine.value = source.element_type, source.value
            mine._partial_shape = source._partial_shape
        self._inferred = other._inferred
        return True

    def is_inferred(self) -> bool:
        """Return whether inputs and declared attributes are those of the last inference, and outputs its results."""
        return self._was_inferred_from(self.input_values())

    def _was_inferred_from(self, inputs: Sequence[Output]) -> bool:
        found = [*_descriptions(inputs), *_descriptions(self._outputs)]
        return len(found) == len(self._inferred) and all(map(operator.is_, found, self._inferred))

    def copy_with_new_inputs(self, inputs: Sequence[Output]) -> Node:
        """Return the same operation on other inputs, with this one's names and rt_info."""
        clone = self.clone_with_new_inputs(inputs)
        clone.friendly_name = self.friendly_name
        clone.rt_info.update(self.rt_info)
        for output, cloned in zip(self._outputs, clone._outputs):
            cloned.names = set(output.own_names)
            cloned.rt_info = RTMap(output.rt_info)
        return clone

    def set_output_type(self, index: int, element_type: ElementType, shape: PartialShapeLike) -> None:
        """Set the type and shape of an output. Outputs up to this index are added."""
        if index >= len(self._outputs):
            self.set_output_size(index + 1)
        output = self._outputs[index]
        output.element_type, output.partial_shape = cast(Type, element_type), PartialShape(shape)

    def set_output_size(self, size: int) -> None:
        if size > MAX_OUTPUTS:
            self.fail(f"it has {size} outputs, only up to {MAX_OUTPUTS} are possible")
        self._outputs = self._outputs[:size] + [Output(self, i) for i in range(len(self._outputs), size)]

    def fail(self, problem: str) -> NoReturn:
        """Raise GraphError with a message that begins with the type and the name of this node."""
        raise GraphError(f"{self.type_info.name} '{self.friendly_name}': {problem}")

    def input(self, input_index: int) -> Input:
        try:
            return self._inputs[input_index]
        except IndexError:
            self.fail(f"it has {len(self._inputs)} inputs, so there is no input {input_index}")

    def inputs(self) -> list[Input]:
        return list(self._inputs)

    def input_value(self, index: int) -> Output:
        return self.input(index).get_source_output()

    def input_values(self) -> list[Output]:
        return [i._source for i in self._inputs]

    def output(self, output_index: int) -> Output:
        try:
            return self._outputs[output_index]
        except IndexError:
            self.fail(f"it has {len(self._outputs)} outputs, so there is no output {output_index}")

    def outputs(self) -> list[Output]:
        return list(self._outputs)

    def get_input_size(self) -> int:
        return len(self._inputs)

    def get_output_size(self) -> int:
        return len(self._outputs)

    def get_input_element_type(self, index: int) -> Type:
        return self.input(index).element_type

    def get_input_partial_shape(self, index: int) -> PartialShape:
        return self.input(index).partial_shape

    def get_input_shape(self, index: int) -> Shape:
        return self.input(index).shape

    def get_output_element_type(self, index: int) -> Type:
        return self.output(index).element_type

    def get_output_partial_shape(self, index: int) -> PartialShape:
        return self.output(index).partial_shape

    def get_output_shape(self, index: int) -> Shape:
        return self.output(index).shape

    def get_element_type(self) -> Type:
        return self._only_output().element_type

    @property
    def shape(self) -> Shape:
        return self._only_output().shape

    def get_type_name(self) -> str:
        return self.type_info.name

    def get_type_info(self) -> DiscreteTypeInfo:
        return self.type_info

    def get_rt_info(self) -> RTMap:
        return self.rt_info

    def set_rt_info(self, value: Any, key: str) -> None:
        self.rt_info[key] = value

    def get_instance_id(self) -> int:
        """Return a number that no other node of the process has; nodes that are made later have larger ones."""
        return self._instance_id

    def get_input_tensor(self, index: int) -> Output:
        """Return the value that an input reads."""
        return self.input_value(index)

    def get_output_tensor(self, index: int) -> Output:
        return self.output(index)

    def disconnect(self) -> None:
        """Remove the node's inputs from the readers of their sources."""
        for reader in self._inputs:
            reader.get_source_output()._targets.pop(reader, None)

    def _only_output(self) -> Output:
        if len(self._outputs) != 1:
            raise GraphError(
                f"{self.type_info.name} '{self.friendly_name}' has {len(self._outputs)} outputs: "
                "name one by output(index)"
            )
        return self._outputs[0]

    def __iter__(self) -> Iterator[Output]:
        return iter(self._outputs)

    def __repr__(self) -> str:
        return escaped(f"<{self.type_info.name}: '{self.friendly_name}' ({self.describe_outputs()})>")

    def describe_outputs(self) -> str:
        """Return the shapes of the outputs as text."""
        return ", ".join(str(output._partial_shape) for output in self._outputs)


def as_output(value: Output | Node) -> Output:
    """Return the value itself, or the first output of a node, as OpenVINO does if a node is an argument."""
    return value.output(0) if isinstance(value, Node) else value


def _descriptions(values: Iterable[Output]) -> Iterator[object]:
    for value in values:
        yield from (value.element_type, value._partial_shape, value.value)
