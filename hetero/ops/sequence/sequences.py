"""ONNX's operations on sequences of tensors and on optional values; OpenVINO has none."""

from __future__ import annotations

from functools import reduce

import numpy as np

from hetero.core.containers import ElementType, OptionalType, SequenceType, element_type_of
from hetero.core.shape import Dimension, PartialShape, concatenate
from hetero.core.types import Type
from hetero.graph import Attribute, Op
from hetero.ops.checks import normalize_axis


def _sequence_type(node: Op, index: int = 0) -> SequenceType:
    """Return the type of an input. Raises GraphError if it is known and not a sequence."""
    element_type = node.get_input_element_type(index)
    if isinstance(element_type, SequenceType):
        return element_type
    if element_type.is_static():
        node.fail(f"input {index} must be a sequence, but is {element_type}")
    return SequenceType()


def _with_item(node: Op, sequence: SequenceType, index: int) -> SequenceType:
    """Return the type of a sequence after adding the tensor of an input."""
    element_type, shape = node.get_input_element_type(index), node.get_input_partial_shape(index)
    if {sequence.element_type, element_type} > {Type.dynamic}:
        return SequenceType(Type.dynamic, sequence.partial_shape.hull(shape))
    if sequence.element_type is not element_type:
        node.fail(f"a sequence of {sequence.element_type} cannot take a tensor of {element_type}")
    return SequenceType(element_type, sequence.partial_shape.hull(shape))


class SequenceConstruct(Op):
    """The sequence of its inputs.

    - ``nodes``: the tensors.
    """

    input_names = ("*nodes",)

    def validate_and_infer_types(self) -> None:
        if not self.get_input_size():
            return self.set_output_type(0, SequenceType(), [])
        first = SequenceType(self.get_input_element_type(0), self.get_input_partial_shape(0))
        whole = reduce(lambda kind, index: _with_item(self, kind, index), range(1, self.get_input_size()), first)
        self.set_output_type(0, whole, [])


class SequenceEmpty(Op):
    """An empty sequence of tensors of ``element_type``."""

    element_type = Attribute(Type, Type.f32)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, SequenceType(self.element_type), [])


class SequenceInsert(Op):
    """The sequence with a tensor inserted before ``position``, which may be negative; by default appended."""

    input_names = ("sequence", "tensor", "position?")

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, _with_item(self, _sequence_type(self), 1), [])


class SequenceErase(Op):
    """The sequence without the tensor at ``position``, by default the last one."""

    input_names = ("sequence", "position?")

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, _sequence_type(self), [])


class SequenceAt(Op):
    """The tensor at ``position``; a negative position counts from the end.

    - ``sequence``: a sequence of tensors.
    """

    input_names = ("sequence", "position")

    def validate_and_infer_types(self) -> None:
        sequence = _sequence_type(self)
        self.set_output_type(0, sequence.element_type, sequence.partial_shape)


class SequenceLength(Op):
    """The number of tensors in a sequence, an i64 scalar."""

    input_names = ("sequence",)

    def validate_and_infer_types(self) -> None:
        _sequence_type(self)
        self.set_output_type(0, Type.i64, [])


class SplitToSequence(Op):
    """A tensor split along an axis into a sequence.

    A vector ``split`` has the length of each part; a scalar is the length of all parts but the last, which may be
    shorter. Without ``split`` the length is 1, and the axis is removed unless ``keep_dims`` is set.

    - ``axis``: the axis of the data, which may be negative.
    """

    input_names = ("data", "split?")
    axis = Attribute(int, 0)
    keep_dims = Attribute(bool, True)

    def validate_and_infer_types(self) -> None:
        shape = self.get_input_partial_shape(0)
        if shape.has_rank:
            axis = normalize_axis(self, self.axis, len(shape))
            length = [Dimension()] if self.has_input("split") else [1] if self.keep_dims else []
            shape = concatenate(shape[:axis], length, shape[axis + 1 :])
        self.set_output_type(0, SequenceType(self.get_input_element_type(0), shape), [])


class ConcatFromSequence(Op):
    """The tensors of a sequence concatenated along an axis, or stacked along a new axis.

    - ``new_axis``: whether ``axis`` is a new axis.
    """

    input_names = ("sequence",)
    axis = Attribute(int)
    new_axis = Attribute(bool, False)

    def validate_and_infer_types(self) -> None:
        sequence = _sequence_type(self)
        shape = sequence.partial_shape
        if shape.has_rank:
            axis = normalize_axis(self, self.axis, len(shape) + self.new_axis)
            rest = shape[axis:] if self.new_axis else shape[axis + 1 :]
            shape = concatenate(shape[:axis], [Dimension()], rest)
        self.set_output_type(0, sequence.element_type, shape)


class Optional(Op):
    """An optional that contains its input; without an input, an empty optional of ``content_type``.

    - ``value``: a tensor or a sequence.
    """

    input_names = ("value?",)
    content_type = Attribute(element_type_of, Type.dynamic)

    def validate_and_infer_types(self) -> None:
        if self.get_input_size():
            kind, shape = self.get_input_element_type(0), self.get_input_partial_shape(0)
        else:
            kind, shape = self.content_type, PartialShape.dynamic()
        self.set_output_type(0, OptionalType(kind, shape), [])


class OptionalHasElement(Op):
    """Whether an optional is not empty; True for other types, False without an input."""

    input_names = ("optional?",)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, Type.boolean, [])

    def infer_value(self) -> np.ndarray | None:
        kind = self.get_input_element_type(0) if self.get_input_size() else None
        if isinstance(kind, OptionalType) or (kind is not None and kind.is_dynamic()):
            return None
        return np.array(kind is not None)


class OptionalGetElement(Op):
    """The value in an optional; other types are passed through."""

    input_names = ("optional",)

    def validate_and_infer_types(self) -> None:
        kind: ElementType = self.get_input_element_type(0)
        if not isinstance(kind, OptionalType):
            return self.set_output_type(0, kind, self.get_input_partial_shape(0))
        is_sequence = isinstance(kind.element_type, SequenceType)
        self.set_output_type(0, kind.element_type, [] if is_sequence else kind.partial_shape)
