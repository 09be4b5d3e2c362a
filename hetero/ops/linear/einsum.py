"""Einsum: Einstein summation."""

from __future__ import annotations

from dataclasses import dataclass

from hetero.core.shape import Dimension, PartialShape
from hetero.graph import Attribute, Op
from hetero.ops.checks import check_type, common_type, is_number
from hetero.system.errors import GraphError

ELLIPSIS = "..."


@dataclass
class Subscript:
    """The labels of a tensor's dimensions: letters, and at most one ELLIPSIS for any number of dimensions."""

    labels: list[str]

    @classmethod
    def parse(cls, text: str) -> Subscript:
        """Parse a subscript. Raises ValueError if it has anything but letters and one ellipsis."""
        parts = text.split(ELLIPSIS)
        labels = [*parts[0], *(label for part in parts[1:] for label in (ELLIPSIS, *part))]
        if len(parts) > 2 or not all(label == ELLIPSIS or (label.isascii() and label.isalpha()) for label in labels):
            raise ValueError(text)
        return cls(labels)

    def expanded(self, rank: int, longest: int) -> list[str]:
        """Return a label for each dimension. Those of the ellipsis are numbers up to ``longest`` - 1, right-aligned."""
        if ELLIPSIS not in self.labels:
            return list(self.labels)
        count = rank - len(self.labels) + 1
        position = self.labels.index(ELLIPSIS)
        numbers = [str(number) for number in range(longest - count, longest)]
        return [*self.labels[:position], *numbers, *self.labels[position + 1 :]]


def parse_equation(equation: str) -> tuple[list[Subscript], Subscript]:
    """Return the subscripts of the inputs and of the output.

    If the equation has no output, that is the ellipsis and the labels that occur once, in alphabetical order, as in
    numpy. Raises ValueError if the equation is invalid.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    inputs = [Subscript.parse(text) for text in left.split(",")]
    every = [label for subscript in inputs for label in subscript.labels]
    if arrow:
        output = Subscript.parse(right)
    else:
        once = sorted(label for label in set(every) - {ELLIPSIS} if every.count(label) == 1)
        output = Subscript([ELLIPSIS] * (ELLIPSIS in every) + once)
    if not set(output.labels) <= set(every) or len(set(output.labels)) < len(output.labels):
        raise ValueError(equation)
    return inputs, output


class Einsum(Op, opset=7):
    """The product of the inputs, whose dimensions are labeled by letters, summed over letters not in the output.

    "ij,jk->ik" is a matrix product, "ii->i" a diagonal. Dimensions of an ellipsis are broadcast.

    - ``equation``: the letters of the dimensions of each input, separated by commas, then "->" and those of the output.
      Without "->" the output has the letters that occur once, in alphabetical order.
    """

    input_names = ("*inputs",)
    equation = Attribute(str)

    def validate_and_infer_types(self) -> None:
        check_type(self, range(self.get_input_size()), is_number, "a number")
        element_type = common_type(self, range(self.get_input_size()))
        try:
            subscripts, output = parse_equation(self.equation)
        except ValueError:
            self.fail(f"equation '{self.equation}' must be letters for each input, '->', and some of them once")
        if len(subscripts) != self.get_input_size():
            self.fail(
                f"equation '{self.equation}' has {len(subscripts)} inputs, but the node has {self.get_input_size()}"
            )
        self.set_output_type(0, element_type, self._shape(subscripts, output))

    def _shape(self, subscripts: list[Subscript], output: Subscript) -> PartialShape:
        lengths: dict[str, Dimension] = {}
        broadcast = PartialShape([])
        for index, subscript in enumerate(subscripts):
            shape, labels = self.get_input_partial_shape(index), subscript.labels
            if not shape.has_rank:
                broadcast = shape if ELLIPSIS in labels else broadcast
                continue
            letters = len(labels) - (ELLIPSIS in labels)
            if len(shape) < letters or (len(shape) > letters and ELLIPSIS not in labels):
                self.fail(f"input {index} has the shape {shape}, but {letters} letters in equation '{self.equation}'")
            dimensions = list(shape)
            if ELLIPSIS in labels:
                begin = labels.index(ELLIPSIS)
                end = len(shape) - (len(labels) - begin - 1)
                broadcast = self._broadcast(broadcast, PartialShape(dimensions[begin:end]))
                dimensions[begin:end] = []
            for label, dimension in zip((label for label in labels if label != ELLIPSIS), dimensions):
                lengths[label] = self._merge(label, lengths.get(label, dimension), dimension)
        if ELLIPSIS in output.labels and not broadcast.has_rank:
            return PartialShape.dynamic()
        dimensions = []
        for label in output.labels:
            dimensions += list(broadcast) if label == ELLIPSIS else [lengths.get(label, Dimension())]
        return PartialShape(dimensions)

    def _merge(self, label: str, one: Dimension, other: Dimension) -> Dimension:
        if one.compatible(other):
            # Either may be 1 and broadcast, so the merged dimension keeps a symbol only if both have it.
            return one.merge(other).with_symbol(one.symbol if one.symbol is other.symbol else None)
        if not one.compatible(1) and not other.compatible(1):
            self.fail(f"in equation '{self.equation}' label {label} is both {one} and {other}")
        return one.broadcast(other)  # as in numpy, a dimension of 1 is broadcast

    def _broadcast(self, one: PartialShape, other: PartialShape) -> PartialShape:
        try:
            return one.broadcast(other)
        except GraphError as error:
            self.fail(str(error))
