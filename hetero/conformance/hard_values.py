"""Hard values: elements, shapes and memory of inputs at which engines differ from the definition of an operation.

``cells`` yields the product of the operations of the table, their element types and the hard values. A cell in which a
hard value makes no sense for an operation has the reason instead of inputs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from hetero import Core, InferRequest, Type
from hetero.conformance.operations import FLOATS, INTEGERS, OPERATIONS, OperationCase
from hetero.conformance.samples import TOLERANCES, check_refusal, supports
from hetero.system.errors import GraphError, UnsupportedValueError

Values = Callable[[Any], Sequence[float]]
# Elements by the name of what is hard about them, from the limits of an element type.
_REALS: Mapping[str, Values] = {
    "NaN": lambda limits: [np.nan, -np.nan],
    "infinities": lambda limits: [np.inf, -np.inf],
    "zeros": lambda limits: [0.0, -0.0],
    "denormals": lambda limits: [limits.smallest_subnormal, -limits.tiny / 2],
    "largest": lambda limits: [limits.max, limits.min],
    "near one": lambda limits: [1 + limits.eps, 1 - limits.eps / 2],
    "ties": lambda limits: [0.5, 1.5, 2.5, -0.5, -1.5, -2.5],
    "small": lambda limits: [1e-3, -1e-3, 1e-5, -1e-5, -6.0, -10.0],
    "far": lambda limits: [20.0, -20.0, 90.0, -90.0, 1e4, -1e4],
}
_INTEGERS: Mapping[str, Values] = {
    "extremes": lambda limits: [limits.min, limits.max, limits.max - 1],
    "negative": lambda limits: [-7, -3, -2, -1, 0],
    "beyond f32": lambda limits: [2**24 + 1, 2**24 + 3, 2**30 + 1],
    "beyond i32": lambda limits: [2**31, 2**33 + 1, -(2**40) - 3],
    "beyond f64": lambda limits: [2**53 + 1, 2**62 + 1, -(2**60) - 1],
}
# Elements that all elements of the first input are.
_ALL_EQUAL: Mapping[str, float] = {"only NaN": np.nan, "only infinity": np.inf, "only negative infinity": -np.inf}
_SHAPES = ("scalar", "rank 1", "rank 6", "axes of length 1", "empty", "large")
# Shapes of the inputs of element-wise operations.
_ANY_SHAPE = {
    "scalar": (), "rank 1": (7,), "rank 6": (2, 1, 3, 1, 2, 2), "axes of length 1": (1, 3, 1, 4), "empty": (3, 0, 2),
    "large": (3, 1031),
}  # fmt: skip
_ORDINARY = {"real": (-2.5, -1.0, -0.5, 0.5, 1.0, 2.5, 3.0), "integer": (1, 2, 3, 7)}
_SUMS = (
    "ReduceL1", "ReduceL2", "ReduceMean", "ReduceSum", "ReduceProd", "MatMul", "Softmax", "MVN", "NormalizeL2",
    "CumSum", "LogSoftmax", "AvgPool", "Convolution", "GroupConvolution", "Interpolate",
)  # fmt: skip


class Cell(NamedTuple):
    """An operation, an element type and a hard value: the case with the shapes of its inputs, or why it is not run."""

    operation: OperationCase
    kind: Type
    hard_value: str
    arrays: tuple[np.ndarray, ...] = ()
    reason: str = ""

    @property
    def name(self) -> str:
        return f"{self.operation.name}-{self.kind}-{self.hard_value}".replace(" ", "_")


def cells() -> Iterator[Cell]:
    """Yield the cells of the table."""
    for operation in OPERATIONS:
        for kind in operation.kinds:
            yield from cells_of(operation, kind)


def cells_of(operation: OperationCase, kind: Type) -> Iterator[Cell]:
    """Yield the cells of an operation and an element type; none if the operation is not defined for the type."""
    try:
        operation.model(kind)
    except GraphError:
        return
    yield from _elements_of(operation, kind)
    yield from (_of_shape(operation, kind, name) for name in _names_of_shapes(operation))
    yield _strided(operation, kind)


def _elements_of(operation: OperationCase, kind: Type) -> Iterator[Cell]:
    if kind is Type.boolean:
        return
    limits = ml_dtypes.finfo(kind.to_dtype()) if kind in FLOATS else np.iinfo(kind.to_dtype())
    for name, values in (_REALS if kind in FLOATS else _INTEGERS).items():
        numbers = [float(v) if kind in FLOATS else int(v) for v in values(limits)]
        if reason := _why_not(operation, kind, name, numbers):
            yield Cell(operation, kind, name, reason=reason)
        elif operation.is_elementwise:
            yield _all_pairs(operation, kind, name, numbers)
        else:
            arrays = [_sprinkled(a, numbers, seed) for seed, a in enumerate(operation.arrays(kind))]
            yield Cell(operation, kind, name, tuple(arrays))
    if kind in FLOATS and not operation.is_elementwise:
        for name, number in _ALL_EQUAL.items():
            if reason := _why_not(operation, kind, name, [number]):
                yield Cell(operation, kind, name, reason=reason)
            else:
                first, *others = operation.arrays(kind)
                yield Cell(operation, kind, name, (np.full_like(first, number), *others))


def _why_not(operation: OperationCase, kind: Type, name: str, numbers: Sequence[float]) -> str:
    """Return why an operation is not tried with some elements, "" if it is."""
    if kind in INTEGERS:
        limits = np.iinfo(kind.to_dtype())
        if not all(limits.min <= number <= limits.max for number in numbers):
            return f"{kind} has no such values"
    is_sum = operation.name.partition(" of ")[0] in _SUMS
    if name == "largest" and is_sum:
        return "sums of the largest values overflow, in an order that is not defined"
    if operation.name == "Interpolate" and not np.isfinite(numbers).all():
        return "whether a neighbor with a weight of 0 counts is not defined"
    if operation.name == "MaxPool" and name == "only negative infinity":
        return "the maximum begins with the lowest finite number, as in OpenVINO"
    if name in ("beyond f64", "extremes") and operation.name.startswith(("ReduceL2", "ReduceMean")):
        return "the formula is not exact there"
    return ""


def _all_pairs(operation: OperationCase, kind: Type, name: str, numbers: Sequence[float]) -> Cell:
    """Return the cell of an element-wise operation with all combinations of hard and ordinary elements."""
    ordinary = _ORDINARY["real" if kind in FLOATS else "integer"]
    combinations = list(itertools.product([*numbers, *ordinary], repeat=len(operation.shapes)))
    columns = [_array(column, kind) for column in zip(*combinations, strict=True)]
    return _where_defined(operation, kind, name, columns)


def _where_defined(operation: OperationCase, kind: Type, name: str, arrays: list[np.ndarray]) -> Cell:
    if operation.domain is not None and (kind in INTEGERS or len(arrays) == 1):
        defined = operation.domain(*arrays)
        if not defined.any() and defined.size:
            return Cell(operation, kind, name, reason="no result is defined there")
        arrays = [np.where(defined, array, array[defined].flat[0] if defined.any() else 0) for array in arrays]
    shapes = tuple(array.shape for array in arrays)
    return Cell(operation._replace(shapes=shapes), kind, name, tuple(arrays))


def _array(values: Sequence[float], kind: Type) -> np.ndarray:
    return np.array(values, np.float64 if kind in FLOATS else object).astype(kind.to_dtype())


def _sprinkled(array: np.ndarray, numbers: Sequence[float], seed: int) -> np.ndarray:
    """Return the array with a fifth of its elements replaced."""
    generator = np.random.default_rng(seed)
    hard = _array(numbers, Type(array.dtype))[generator.integers(0, len(numbers), array.shape)]
    return np.where(generator.random(array.shape) < 0.2, hard, array)


def _names_of_shapes(operation: OperationCase) -> Sequence[str]:
    return list(dict.fromkeys((*_SHAPES, *operation.more_shapes)))


def _of_shape(operation: OperationCase, kind: Type, name: str) -> Cell:
    if operation.is_elementwise:
        shapes: tuple[tuple[int, ...], ...] = (_ANY_SHAPE[name],) * len(operation.shapes)
    elif name in operation.more_shapes:
        shapes = operation.more_shapes[name]
    else:
        return Cell(operation, kind, name, reason="the case has no such shape")
    changed = operation._replace(shapes=shapes)
    if operation.is_elementwise:
        return _where_defined(changed, kind, name, changed.arrays(kind))
    return Cell(changed, kind, name, tuple(changed.arrays(kind)))


def _strided(operation: OperationCase, kind: Type) -> Cell:
    """Return the cell of inputs whose memory has gaps and another order of axes."""
    arrays = [np.repeat(array.T, 2, 0)[::2].T for array in operation.arrays(kind)]
    return Cell(operation, kind, "strided", tuple(arrays))


class CellRunner:
    """Runs cells on a device. ``dynamic``: all dimensions of the models' inputs are dynamic.

    Cells of the same operation, element type and input shapes share a compiled model; if dynamic, also those of the
    same ranks, so that inferences of a model have inputs of many shapes.
    """

    def __init__(self, core: Core, device: str, dynamic: bool) -> None:
        self._core, self._device, self._dynamic = core, device, dynamic
        self._requests: dict[tuple[Any, ...], InferRequest | None] = {}

    def run(self, cell: Cell) -> bool:
        """Assert that the device is right in a cell, twice with equal bits. Return False if it refuses the cell.

        It refuses by its query, or by an UnsupportedValueError, after which HETERO goes on with the next device.
        """
        shapes = cell.operation.shapes
        key = (cell.operation.name, cell.kind, tuple(map(len, shapes)) if self._dynamic else shapes)
        if key not in self._requests:
            self._requests[key] = self._request(cell)
        request = self._requests[key]
        if request is None:
            return False
        try:
            first = [np.array(result) for result in request.infer(list(cell.arrays)).to_tuple()]
        except UnsupportedValueError:
            return False
        assert_right(cell, first)
        for one, other in zip(first, request.infer(list(cell.arrays)).to_tuple(), strict=True):
            assert one.tobytes() == np.asarray(other).tobytes(), "two inferences with the same inputs differ"
        return True

    def _request(self, cell: Cell) -> InferRequest | None:
        """Return a request of the model of a cell, None if the device refuses it."""
        model = cell.operation.model(cell.kind, self._dynamic)
        if supports(self._core, model, self._device):
            return self._core.compile_model(model, self._device).create_infer_request()
        check_refusal(self._core, model, self._device)
        return None


def assert_right(cell: Cell, results: Sequence[np.ndarray]) -> None:
    """Assert that results are those of the formula. Denormals may count as zeros, in inputs and results."""
    expected = cell.operation.expected(cell.arrays)
    flushed = cell.operation.expected([_flushed(array) for array in cell.arrays])
    for index, result in enumerate(results):
        for wanted in (expected[index], flushed[index]):
            assert result.shape == wanted.shape, f"output {index} has the shape {result.shape}, not {wanted.shape}"
            assert result.dtype == wanted.dtype, f"output {index} has the type {result.dtype}, not {wanted.dtype}"
        wrong = ~(_is_near(cell, result, expected[index]) | _is_near(cell, result, flushed[index]))
        if wrong.any():
            first = tuple(int(i) for i in np.argwhere(wrong)[0])
            inputs = [str(a[first]) for a in cell.arrays if a.shape == result.shape]
            raise AssertionError(
                f"{np.count_nonzero(wrong)} of {wrong.size} elements of output {index} are wrong; at {first} it is "
                f"{result[first]}, not {expected[index][first]}" + (f", of {', '.join(inputs)}" if inputs else "")
            )


def _flushed(array: np.ndarray) -> np.ndarray:
    if Type(array.dtype) not in FLOATS:
        return array
    tiny = ml_dtypes.finfo(array.dtype).tiny
    return np.where(np.abs(array) < tiny, np.copysign(np.zeros_like(array), array), array)


def _is_near(cell: Cell, result: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return where elements are within the tolerance of the case."""
    kind = Type(expected.dtype)
    if kind not in FLOATS:
        return np.asarray(result == expected)
    limits = ml_dtypes.finfo(expected.dtype)
    result, expected = result.astype(np.float64), expected.astype(np.float64)
    finite = np.abs(expected[np.isfinite(expected)])
    with np.errstate(all="ignore"):
        if cell.operation.ulps:
            tolerance = cell.operation.ulps * float(limits.eps) * np.abs(expected) + float(limits.tiny)
        elif cell.operation.is_elementwise:
            tolerance = TOLERANCES[kind] * np.abs(expected) + TOLERANCES[kind] / 10
        else:
            tolerance = TOLERANCES[kind] * (np.abs(expected) + finite.max(initial=0))
        near = np.abs(result - expected) <= tolerance
    same = (result == expected) | (np.isnan(result) & np.isnan(expected))
    # A result next to the largest one may round to infinity.
    overflow = np.isinf(result) & (np.abs(expected) >= float(limits.max) * (1 - 4 * float(limits.eps)))
    return np.asarray(same | near & np.isfinite(expected) | overflow & (np.sign(result) == np.sign(expected)))
