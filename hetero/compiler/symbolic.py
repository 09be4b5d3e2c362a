"""Specialization of a model for a class of input shapes, whose lengths are those of ``hetero.core.lengths``."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hetero.core.containers import ElementType
from hetero.core.dimension import Dimension
from hetero.core.lengths.expression import Bounds, Symbol
from hetero.core.lengths.guards import Guards
from hetero.core.lengths.length import AnyLength, Length
from hetero.core.shape import PartialShape
from hetero.core.static_shape import Shape
from hetero.core.types import Type
from hetero.graph import Constant, Model, Node, Op, Output, Parameter, Result
from hetero.graph.rt_info import copy_rt_info
from hetero.ops.checks import has_lengths
from hetero.ops.movement.movement import Concat
from hetero.passes import specialize

# Lengths that are likely, of texts and of pictures, and the channels of these.
_WORDS, _PIXELS, _CHANNELS = 128, 512, 3
# Those of each bucket that is likely, and some that have programs of their own in many models: 1 is broadcast, 16 is
# less than kernels of convolutions want, and 512 is the longest text.
_ITEMS, _LENGTHS = (1, 8, 128), (1, 8, 128, 300, 16, 512)
# Numbers in the contents of an input that may be lengths, and how many there may be.
_CONTENTS, _MOST_CONTENTS = range(2, 1 << 31), 16


class KnownLengths(Op):
    """Numbers some of which are Lengths, in place of what computes them from shapes.

    ``numbers`` is an object array of ints and Lengths, ``data`` the numbers of the shape at hand, which notes that the
    program is for these only.
    """

    def __init__(self, numbers: np.ndarray, kind: Type, known: np.ndarray) -> None:
        """``known``: the same numbers as shape inference knows contents, with Dimensions for Lengths."""
        self.numbers, self._kind, self._shape = numbers, kind, Shape(numbers.shape)
        self._known = known
        super().__init__()

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self._kind, self._shape)

    def infer_value(self) -> np.ndarray | None:
        return self._known

    @property
    def data(self) -> np.ndarray:
        flat = [int(number) for number in self.numbers.reshape(-1)]
        return np.array(flat, self._kind.to_dtype()).reshape(self.numbers.shape)


def contents_of(value: np.ndarray) -> tuple[int, ...] | None:
    """Return the contents of an input that may be lengths, None of others: these are few integers."""
    return tuple(value.reshape(-1).tolist()) if value.dtype.kind in "iu" and value.size <= _MOST_CONTENTS else None


def guards_for(
    model: Model,
    shapes: Sequence[tuple[int, ...]],
    hint_of: Callable[[int], int],
    contents: Sequence[tuple[int, ...]] = (),
) -> tuple[Guards, list[tuple[AnyLength, ...]]]:
    """Return new Guards, and the shapes of the inputs with Lengths for the dimensions that may have other ones.

    Dimensions of one name are one symbol, unless their lengths differ. The Lengths are for ``hint_of(length)``, where
    that is in range: if it is the same in a bucket, kernels are the same whichever shape comes first.

    After the shapes come the ``contents`` of inputs that decide shapes, with Lengths for numbers from 2 on: others mean
    something else, as -1 does in Reshape.
    """
    symbols: dict[tuple[str, int], Symbol] = {}
    hints: dict[Symbol, int] = {}
    ranges: dict[Symbol, Bounds] = {}
    places: list[list[Symbol | int]] = []
    for port, shape in zip(model.inputs, shapes):
        partial = port.partial_shape
        dimensions = list(partial) if partial.has_rank else [Dimension()] * len(shape)
        place: list[Symbol | int] = []
        for dimension, length in zip(dimensions, shape):
            if dimension.is_static:
                place.append(length)
                continue
            name = dimension.name
            symbol = symbols.setdefault((name, length), Symbol(name)) if name else Symbol()
            longest = math.inf if dimension.max_length < 0 else dimension.max_length
            ranges[symbol] = dimension.min_length, longest
            hint = hint_of(length)
            hints[symbol] = hint if dimension.min_length <= hint <= longest else length
            place.append(symbol)
        places.append(place)
    for numbers in contents:
        place = list(numbers)
        for index, number in enumerate(numbers):
            if number in _CONTENTS:
                place[index] = symbol = Symbol()
                ranges[symbol], hints[symbol] = (_CONTENTS.start, math.inf), hint_of(number)
        places.append(place)
    guards = Guards(hints, ranges)
    return guards, [tuple(Length.of(d, guards) if isinstance(d, Symbol) else d for d in place) for place in places]


def give_lengths(model: Model, lengths: Mapping[Symbol, int]) -> None:
    """Give the values of a model, some of whose shapes have Lengths, the shapes for these lengths of the symbols."""
    for node in model.get_ordered_ops():
        for output in node.outputs():
            shape = output.partial_shape
            if shape.is_static:
                output.partial_shape = PartialShape(
                    [d.expression.evaluate(lengths) if isinstance(d, Length) else d for d in shape.to_shape()]
                )
                if isinstance(node, Parameter):
                    node.partial_shape = output.partial_shape


def shapes_ahead(model: Model, states: Sequence[int | None] = (), items: int = 1) -> list[list[tuple[int, ...]]]:
    """Return the shapes of inputs for which programs are made ahead: those likely to come last are the last.

    An input that stands for a value of another model has those that this value is likely to have for one item. Beside
    ``states``, which the first inference has filled, there are the last alone. Both parameters as in ``likely_shapes``.
    """
    usual = likely_shapes(model, states, items)
    known = [parameter.likely_shapes for parameter in model.parameters]
    if usual and items == 1 and any(known):
        numbers = range(max(map(len, known)))
        found = [[of[number] if of else shape for of, shape in zip(known, usual)] for number in numbers]
    else:
        found = [shapes for shapes in (prompt_shapes(model), usual) if shapes]
    return found[-1:] if states else found


def likely_shapes(
    model: Model, states: Sequence[int | None] = (), items: int = 1, length: int | None = None
) -> list[tuple[int, ...]]:
    """Return shapes of inputs that are likely to come, as far as a model tells; nothing if it tells no rank of one.

    That is one item, text of a hundred words, and pictures of some hundred pixels, or ``items`` of a ``length``. Models
    with caches write word by word. These are variables, inputs that an output continues, and the last inputs if these
    are ``states``: for each the axis along which it grows, None if that is not known.
    """
    shapes = []
    ports = model.inputs
    caches: dict[int, int | None] = {**_caches_of(model)}
    caches.update(enumerate(states, len(ports) - len(states)))
    is_step = bool(caches) or _reads_variables(model)
    for index, port in enumerate(ports):
        if not port.partial_shape.has_rank:
            return []
        rank = len(port.partial_shape)
        if not is_step and rank > 3:
            lengths = [items, *[_CHANNELS] * (rank - 3), *[length or _PIXELS] * 2]
        elif not is_step:
            lengths = [items, *[length or _WORDS] * rank]
        elif index not in caches:
            lengths = [items, *[1] * rank]
        else:
            grows = range(1, rank) if (axis := caches[index]) is None else [axis]
            lengths = [length or _WORDS if axis in grows else items for axis in range(rank)]
        shapes.append(tuple(map(_likely, port.partial_shape, lengths)))
    return shapes


def prompt_shapes(model: Model) -> list[tuple[int, ...]]:
    """Return likely shapes of the first inference of a model with caches, those that are inputs empty; else nothing."""
    caches, ports = _caches_of(model), model.inputs
    if not (caches or _reads_variables(model)) or any(not port.partial_shape.has_rank for port in ports):
        return []
    shapes = []
    for index, port in enumerate(ports):
        axes = range(len(port.partial_shape))
        lengths = [int(axis != caches[index]) if index in caches else _WORDS if axis else 1 for axis in axes]
        shapes.append(tuple(map(_likely, port.partial_shape, lengths)))
    return shapes


def shapes_of_buckets(model: Model, states: Sequence[int | None] = ()) -> list[list[tuple[int, ...]]]:
    """Return shapes as ``likely_shapes`` does, in each bucket of items and of lengths that is likely."""
    found = [likely_shapes(model, states, *each) for each in itertools.product(_ITEMS, _LENGTHS)]
    return [shapes for index, shapes in enumerate(found) if shapes and shapes not in found[:index]]


def _reads_variables(model: Model) -> bool:
    return any(node.type_info.name == "ReadValue" for node in model.get_ordered_ops())


def _caches_of(model: Model) -> dict[int, int]:
    """Return the axes along which outputs continue inputs, by the indices of these."""
    return {i: axis for i, port in enumerate(model.inputs) if (axis := _grown_axis(port)) is not None}


def _grown_axis(value: Output) -> int | None:
    """Return the axis along which an output of the model continues an input, None if there is no such output."""
    for target in value.get_target_inputs():
        concat = target.node
        if isinstance(concat, Concat) and target.index == 0 and value.partial_shape.has_rank:
            axis: int = concat.axis % len(value.partial_shape)
            is_result = any(isinstance(reader.node, Result) for reader in concat.output(0).get_target_inputs())
            if is_result and value.partial_shape[axis].is_dynamic:
                return axis
    return None


def _likely(dimension: Dimension, usual: int) -> int:
    longest = usual if dimension.max_length < 0 else dimension.max_length
    return max(dimension.min_length, min(usual, longest))


def specialize_for_lengths(
    model: Model,
    shapes: Sequence[tuple[AnyLength, ...]],
    values: Mapping[int, np.ndarray],
    types: Mapping[int, ElementType],
) -> Model:
    """Return a copy of the model for input shapes with Lengths, as ``specialize`` does for numbers.

    Behind the shapes are the contents of the ``values`` that have ``contents_of``, also with Lengths. What computes
    lengths is replaced by KnownLengths.
    """
    contents = iter(shapes[len(model.inputs) :])
    given: dict[int, np.ndarray | Node] = {}
    for index, value in values.items():
        numbers = None if contents_of(value) is None else next(contents, None)
        given[index] = value if numbers is None else _known(numbers, value, model.inputs[index].element_type)
    lengths = dict(enumerate(shapes[: len(model.inputs)]))
    special = specialize(model, lengths, given, types)  # type: ignore[arg-type]  # of Lengths
    for node in special.get_ordered_ops():
        if isinstance(node, (Parameter, Constant, Result)):
            continue
        for output in node.outputs():
            known_value = output.value
            if known_value is None or known_value.dtype != object or not output.get_target_inputs():
                continue
            if not has_lengths(known_value):
                continue
            known = KnownLengths(_as_numbers(known_value), output.element_type, known_value)
            known.friendly_name = node.friendly_name
            copy_rt_info([node], known)
            output.replace(known.output(0))
        if not any(output.get_target_inputs() for output in node.outputs()):
            node.disconnect()  # it reads nothing any more, so that what it read may have one reader
    return special


def _known(numbers: Sequence[AnyLength], value: np.ndarray, kind: Type) -> np.ndarray | KnownLengths:
    """Return contents of an input with Lengths as a node, without as they are."""
    if not any(isinstance(number, Length) for number in numbers):
        return value
    flat = np.empty(len(numbers), object)
    flat[:] = [Dimension.of(number) if isinstance(number, Length) else number for number in numbers]  # type: ignore[arg-type]
    known = flat.reshape(value.shape)
    return KnownLengths(_as_numbers(known), kind, known)


def _as_numbers(known: np.ndarray) -> np.ndarray:
    """Return known contents with ints and Lengths in place of Dimensions."""
    flat = [item.get_length() if isinstance(item, Dimension) else int(item) for item in known.reshape(-1)]
    numbers = np.empty(len(flat), object)
    numbers[:] = flat
    return numbers.reshape(known.shape)
