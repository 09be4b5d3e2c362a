"""A model whose shapes have Lengths: what changes with these, besides the operations, which do not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero.compiler import KnownLengths, length_function
from hetero.core.lengths.expression import Expression
from hetero.core.lengths.guards import Guards
from hetero.core.lengths.length import AnyLength, Length
from hetero.core.shape import PartialShape
from hetero.graph import Constant, Model, Node, Op, Output, Parameter, copy_rt_info, is_terminal, walk_nested
from hetero.reference import evaluate, has_evaluate


class VaryingConstant(Op):
    """Stands for numbers that depend on nothing but lengths, in passes, which must not see the numbers at hand."""

    def __init__(self, source: Output) -> None:
        self._kind, self._shape = source.element_type, source.partial_shape
        super().__init__(name=source.node.friendly_name)
        copy_rt_info([source.node], self)

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self._kind, self._shape)


class VaryingModel:
    """Gives a model the numbers for any lengths of the symbols of its guards."""

    def __init__(self, model: Model, guards: Guards) -> None:
        """Replace what depends on nothing but lengths by VaryingConstants. Passes may follow, then ``close``."""
        self.model, self._symbols = model, tuple(guards.hints)
        self.hints = tuple(guards.hints.values())
        self._expressions: dict[Expression, int] = {}
        # In topological order: KnownLengths and what is computed from them, with what stands for their outputs.
        self._sources: list[tuple[Node, list[VaryingConstant]]] = []
        self._constants: dict[Node, Constant] = {}
        for node in model.get_ordered_ops():
            inputs = [value.node for value in node.input_values()]
            varies = any(isinstance(source, VaryingConstant) for source in inputs)
            if isinstance(node, KnownLengths) or (
                varies
                and not is_terminal(node)
                and node.deterministic
                and has_evaluate(node)
                and all(isinstance(source, (Constant, VaryingConstant)) for source in inputs)
            ):
                stand_ins = [VaryingConstant(output) for output in node.outputs()]
                for output, stand_in in zip(node.outputs(), stand_ins):
                    output.replace(stand_in.output(0))
                self._sources.append((node, stand_ins))

    def close(self) -> None:
        """Note the shapes that change, and let the operations read constants."""
        order = self.model.get_ordered_ops()
        self._shapes = [
            (output, self._places(output.shape))
            for node in dict.fromkeys((*order, *walk_nested(order)))
            for output in node.outputs()
            if any(isinstance(length, Length) for length in output.shape)
        ]
        self._numbers = {
            node: self._places(node.numbers.reshape(-1).tolist())
            for node, _ in self._sources
            if isinstance(node, KnownLengths)
        }
        self._evaluate = length_function(self._symbols, list(self._expressions))
        for _, stand_ins in self._sources:
            for stand_in in stand_ins:
                constant = self._constants[stand_in] = Constant(np.zeros(0, np.int64), name=stand_in.friendly_name)
                copy_rt_info([stand_in], constant)
                stand_in.output(0).replace(constant.output(0))

    def _places(self, lengths: Sequence[AnyLength]) -> list[tuple[bool, int]]:
        """Return for each length whether it changes, and the index of its expression or else the length."""
        return [
            (True, self._expressions.setdefault(length.expression, len(self._expressions)))
            if isinstance(length, Length)
            else (False, length)
            for length in lengths
        ]

    def give(self, lengths: Sequence[int]) -> None:
        """Give all values the shapes for these lengths of the symbols, and constants their contents."""
        values = self._evaluate(lengths)

        def numbers(places: Sequence[tuple[bool, int]]) -> tuple[int, ...]:
            return tuple([values[number] if varies else number for varies, number in places])

        shapes: dict[tuple[int, ...], PartialShape] = {}  # few are different
        for output, places in self._shapes:
            shape = numbers(places)
            if shape not in shapes:
                shapes[shape] = PartialShape(shape)
            output.partial_shape = shapes[shape]
            if isinstance(output.node, Parameter):
                output.node.partial_shape = output.partial_shape
        for node, stand_ins in self._sources:
            if isinstance(node, KnownLengths):
                kind = node.get_output_element_type(0).to_dtype()
                arrays = [np.array(numbers(self._numbers[node]), kind).reshape(node.numbers.shape)]
            else:
                sources = [value.node for value in node.input_values()]
                arrays = evaluate(node, [source.data for source in sources if isinstance(source, Constant)])
            for stand_in, array in zip(stand_ins, arrays):
                constant = self._constants[stand_in]
                constant.data = array
                constant.infer()
