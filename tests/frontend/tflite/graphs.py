"""The parts of a TensorFlow Lite model of a test: tensors, operators and graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from ai_edge_litert.schema_py_generated import SparsityParametersT

Shape = tuple[int, ...]
# A numpy type, or the name of a type of the schema that numpy lacks, such as "RESOURCE".
ElementType = type | np.dtype | str
COMPARISONS = ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL")


@dataclass(eq=False)
class Tensor:
    """A tensor of a graph; the same object is the same tensor. ``data`` of a constant goes into a buffer.

    ``dtype`` None for a result: the type of the operator's first input, or bool for comparisons. ``shape`` None: the
    shape that LiteRT infers.
    """

    data: np.ndarray | None = None
    dtype: ElementType | None = None
    shape: Shape | None = None
    is_constant: bool = False
    is_variable: bool = False
    scale: float | Sequence[float] = ()
    zero_point: int | Sequence[int] = 0
    axis: int = 0
    name: str | None = None
    # The shape with -1 for dynamic dimensions, if there are any.
    signature: Shape | None = None
    sparsity: SparsityParametersT | None = None


def feed(contents: Shape | np.ndarray | list, dtype: ElementType | None = None, **more: Any) -> Tensor:
    """Return an input. ``contents``: a tuple is the shape of random contents; anything else is the contents.

    The default element type is float32, or int8 with a ``scale``.
    """
    default = np.int8 if "scale" in more else np.float32
    if isinstance(contents, tuple):
        return Tensor(None, dtype or default, contents, **more)
    array = _array(contents, dtype)
    return Tensor(array, array.dtype, array.shape, **more)


def constant(contents: np.ndarray | list | float, dtype: ElementType | None = None, **more: Any) -> Tensor:
    """Return a constant. Python floats and ints become float32 and int32."""
    array = _array(contents, dtype)
    return Tensor(array, array.dtype, array.shape, is_constant=True, **more)


def out(dtype: ElementType | None = None, shape: Shape | None = None, **more: Any) -> Tensor:
    """Return an output of an operator."""
    return Tensor(None, dtype, shape, **more)


def variable(shape: Shape, dtype: ElementType = np.float32, **more: Any) -> Tensor:
    """Return a state of a recurrent operator: a variable tensor, which starts as zeros."""
    return Tensor(None, dtype, shape, is_variable=True, **more)


def _array(contents: np.ndarray | list | float, dtype: ElementType | None) -> np.ndarray:
    if isinstance(contents, np.ndarray):
        return contents if dtype is None else contents.astype(dtype)
    array = np.asarray(contents, dtype)
    if dtype is None and array.dtype in (np.float64, np.int64):
        array = array.astype(np.float32 if array.dtype == np.float64 else np.int32)
    return array.astype(object) if array.dtype.kind in "SU" else array


class Op:
    """An operator: a builtin one by its name in schema.fbs, else a custom one, whose options become a FlexBuffer.

    An omitted input is None. ``outputs``: the tensors or their number. ``raw``: the options of a custom operator as
    bytes. ``intermediates``: tensors that declare the quantization of values within the operator. ``version``: needed
    only if the version itself is tested, as LiteRT's kernels accept 1 for every feature.
    """

    def __init__(
        self,
        kind: str,
        inputs: Sequence[Tensor | None] = (),
        outputs: Sequence[Tensor] | int = 1,
        *,
        version: int = 1,
        raw: bytes | None = None,
        intermediates: Sequence[Tensor] = (),
        **options: Any,
    ) -> None:
        self.kind, self.inputs, self.version, self.raw, self.options = kind, list(inputs), version, raw, options
        self.intermediates = list(intermediates)
        self.outputs = [out() for _ in range(outputs)] if isinstance(outputs, int) else list(outputs)
        types = [np.dtype(bool)] if kind in COMPARISONS else [t.dtype for t in self.inputs if t is not None]
        for tensor in self.outputs:
            tensor.dtype = tensor.dtype or next(iter(types), None)


@dataclass(eq=False)
class Graph:
    """A graph. By default its inputs are the tensors that no operator outputs, its outputs those that none reads."""

    ops: Sequence[Op]
    inputs: Sequence[Tensor] | None = None
    outputs: Sequence[Tensor] | None = None
    name: str = "main"

    def __post_init__(self) -> None:
        results = {tensor for op in self.ops for tensor in op.outputs}
        read = [tensor for op in self.ops for tensor in op.inputs if tensor is not None]
        if self.inputs is None:
            fed = [t for t in read if not (t in results or t.is_constant or t.is_variable)]
            self.inputs = list(dict.fromkeys(fed))
        if self.outputs is None:
            self.outputs = [tensor for op in self.ops for tensor in op.outputs if tensor not in read]

    @property
    def tensors(self) -> list[Tensor]:
        """All tensors in the order of the file: inputs and outputs first."""
        used = [
            tensor for op in self.ops for tensor in (*op.inputs, *op.outputs, *op.intermediates) if tensor is not None
        ]
        return list(dict.fromkeys([*self.inputs, *self.outputs, *used]))


class Signature(NamedTuple):
    """A signature: names of a graph's inputs and outputs; of the main graph by default."""

    key: str
    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]
    graph: Graph | None = None
