"""Cases of operations: a graph of one operation, its numpy formula, and the shapes and element types of its inputs.

Expected results are numpy formulas. They do not come from hetero.reference, because that is one of the devices tested.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from hetero import Model, Op, Parameter, Type
from hetero.conformance.samples import random_array

FLOATS = (Type.f32, Type.f16, Type.bf16, Type.f64)
INTEGERS = (Type.i32, Type.i64, Type.i8, Type.u8)
NUMBERS = (*FLOATS, *INTEGERS)
ALL = (*NUMBERS, Type.boolean)

Formula = Callable[..., "np.ndarray | tuple[np.ndarray, ...]"]
Formulas = Mapping[type[Op], Formula]


class OperationCase(NamedTuple):
    """A case: how to build an operation from its inputs, its formula, the input shapes and the element types.

    ``formula``: computes the results by numpy. It gets f64 arrays if the element type is a floating-point type, else
    arrays of that type. ``batched``: whether the first dimension of all inputs is a batch of any size, including 0.
    ``more_shapes``: further shapes of the inputs, by what is hard about them. ``is_elementwise``: whether an element of
    the result depends on the elements at its place only; such an operation takes inputs of any shape. ``domain``:
    returns where the result is defined, for integers. ``ulps``: the permitted error of an element in units in the last
    place; 0 if ``TOLERANCES`` hold.
    """

    name: str
    build: Callable[..., Op]
    formula: Formula
    shapes: tuple[tuple[int, ...], ...]
    kinds: tuple[Type, ...]
    batched: bool = True
    more_shapes: Mapping[str, tuple[tuple[int, ...], ...]] = MappingProxyType({})
    is_elementwise: bool = False
    domain: Callable[..., np.ndarray] | None = None
    ulps: int = 0

    def model(self, kind: Type, dynamic: bool = False) -> Model:
        """Return a model of the operation alone. With ``dynamic``, all dimensions of the inputs are dynamic."""
        shapes = [[-1] * len(shape) if dynamic else shape for shape in self.shapes]
        inputs = [Parameter(kind, shape, name=f"x{index}") for index, shape in enumerate(shapes)]
        node = self.build(*(node.output(0) for node in inputs))
        node.friendly_name = self.name
        return Model(node.outputs(), inputs, self.name)

    def arrays(self, kind: Type, rows: int | None = None) -> list[np.ndarray]:
        """Return inputs: reals from 0.2 to 2, integers from 1 to 9 or booleans. ``rows``: replaces the batch size."""
        shapes = self.shapes if rows is None else [(rows, *shape[1:]) for shape in self.shapes]
        return [random_array(kind, shape, seed, (0.2, 2)) for seed, shape in enumerate(shapes)]

    def expected(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the results for inputs of one element type, by the formula."""
        dtype = arrays[0].dtype
        is_float = Type(dtype) in FLOATS
        with np.errstate(all="ignore"):
            results = self.formula(*(array.astype(np.float64) if is_float else array for array in arrays))
            return [self._rounded(result, dtype) for result in (results if isinstance(results, tuple) else (results,))]

    @staticmethod
    def _rounded(result: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """Return a result in the element type of the inputs, for which f64 stands; integers are truncated."""
        return result.astype(dtype) if result.dtype == np.float64 else result


def cases(
    shapes: tuple[tuple[int, ...], ...],
    kinds: tuple[Type, ...],
    operations: Mapping[str, tuple[Callable[..., Op], Formula]],
    more_shapes: Mapping[str, tuple[tuple[int, ...], ...]],
) -> list[OperationCase]:
    """Return the cases of operations, by name, that take the same inputs."""
    return [
        OperationCase(name, build, formula, shapes, kinds, more_shapes=more_shapes)
        for name, (build, formula) in operations.items()
    ]
