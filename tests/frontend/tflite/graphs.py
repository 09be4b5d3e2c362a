"""What a TensorFlow Lite model of a test is made of: tensors, operators, subgraphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from ai_edge_litert.schema_py_generated import SparsityParametersT

Shape = tuple[int, ...]
# An element type of numpy, or the name of one that numpy has not, as "RESOURCE".
ElementType = type | np.dtype | str
COMPARISONS = ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL")


@dataclass(eq=False)
class Tensor:
    """A tensor of a graph; the same object is the same tensor. ``data`` of a constant goes into a buffer.

    ``dtype`` None of a result: that of the operator's first input, or bool where it compares. ``shape`` None: as
    LiteRT makes it.
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
    # The shape with -1 for each dimension that may change, where one may.
    signature: Shape | None = None
    sparsity: SparsityParametersT | None = None


def given(contents: Shape | np.ndarray | list, dtype: ElementType | None = None, **more: Any) -> Tensor:
    """An input. A tuple is its shape, and its contents are random; anything else are the contents of the run.

    It has float32 elements, or int8 ones with a ``scale``, where nothing else is said.
    """
    default = np.int8 if "scale" in more else np.float32
    if isinstance(contents, tuple):
        return Tensor(None, dtype or default, contents, **more)
    array = _array(contents, dtype)
    return Tensor(array, array.dtype, array.shape, **more)


def constant(contents: np.ndarray | list | float, dtype: ElementType | None = None, **more: Any) -> Tensor:
    """A tensor whose contents the model holds; Python's numbers are float32 or int32 ones."""
    array = _array(contents, dtype)
    return Tensor(array, array.dtype, array.shape, is_constant=True, **more)


def made(dtype: ElementType | None = None, shape: Shape | None = None, **more: Any) -> Tensor:
    """A tensor that an operator makes."""
    return Tensor(None, dtype, shape, **more)


def variable(shape: Shape, dtype: ElementType = np.float32, **more: Any) -> Tensor:
    """A state of a recurrent operator: an input that begins as zeros and keeps what the last inference left in it."""
    return Tensor(None, dtype, shape, is_variable=True, **more)


def _array(contents: np.ndarray | list | float, dtype: ElementType | None) -> np.ndarray:
    if isinstance(contents, np.ndarray):
        return contents if dtype is None else contents.astype(dtype)
    array = np.asarray(contents, dtype)
    if dtype is None and array.dtype in (np.float64, np.int64):
        array = array.astype(np.float32 if array.dtype == np.float64 else np.int32)
    return array.astype(object) if array.dtype.kind in "SU" else array


class Op:
    """An operator: a builtin one by its name in schema.fbs, else a custom one, whose options become a flexbuffer.

    An absent input is None. ``outputs``: the tensors, or how many of them there are. ``raw``: a custom one's options
    as they are. ``intermediates``: tensors that tell the scales of numbers within the operator. ``version``: LiteRT's
    kernels take 1, whatever they are asked to do; tell another one only where the version is the test.
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
        self.outputs = [made() for _ in range(outputs)] if isinstance(outputs, int) else list(outputs)
        types = [np.dtype(bool)] if kind in COMPARISONS else [t.dtype for t in self.inputs if t is not None]
        for tensor in self.outputs:
            tensor.dtype = tensor.dtype or next(iter(types), None)


@dataclass(eq=False)
class Graph:
    """A subgraph. Its inputs and outputs, where they are not told, are those given and those that nothing reads."""

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
        """All of them, in the order of the file: inputs and outputs first."""
        used = [
            tensor for op in self.ops for tensor in (*op.inputs, *op.outputs, *op.intermediates) if tensor is not None
        ]
        return list(dict.fromkeys([*self.inputs, *self.outputs, *used]))


class Signature(NamedTuple):
    """Names that the outside knows a graph's inputs and outputs by; the main graph's where none is named."""

    key: str
    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]
    graph: Graph | None = None
