"""A TensorFlow Lite model as plain data: what the decoder makes of a file, and translators read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hetero.frontend.tflite.quantization import Quantization
from hetero.shape import PartialShape
from hetero.types import Type


@dataclass
class DecodedTensor:
    """A tensor of a graph.

    ``element_type``: None for resources, variants and complex numbers, which no Type stands for (``kind`` names it).
    ``data``: its contents where it is constant. ``is_variable``: it keeps its contents from one inference to the next.
    """

    name: str
    kind: str
    element_type: Type | None
    partial_shape: PartialShape
    quantization: Quantization | None = None
    data: np.ndarray | None = None
    is_variable: bool = False

    @property
    def is_complex(self) -> bool:
        """Whether its elements are complex numbers: values of such have their two parts along one more last axis."""
        return self.kind.startswith("COMPLEX")


@dataclass
class DecodedOperator:
    """An operator: its type, as the schema or, of a custom one, the model names it, and the tensors by their indices.

    An input that is left out is -1. ``attributes``: those of its options that the schema has, under the schema's
    names; of a custom operator what its options hold, where they are a FlexBuffer map, and of StableHLO's custom calls
    and composites that besides. ``callee``: what these two name as the operation that they stand for.
    """

    op_type: str
    version: int
    inputs: Sequence[int]
    outputs: Sequence[int]
    attributes: Mapping[str, Any]
    is_custom: bool = False
    custom_options: bytes = b""
    intermediates: Sequence[int] = ()

    @property
    def callee(self) -> str:
        name = {"STABLEHLO_CUSTOM_CALL": "call_target_name", "STABLEHLO_COMPOSITE": "name"}.get(self.op_type, "")
        return self.attributes.get(name, "")


@dataclass
class DecodedGraph:
    """A graph: its tensors, its operators in the order in which they run, and the tensors that it takes and gives."""

    name: str
    tensors: list[DecodedTensor]
    operators: list[DecodedOperator]
    inputs: Sequence[int]
    outputs: Sequence[int]


@dataclass
class Signature:
    """Names that users know inputs and outputs of a graph by: tensors by their names in it."""

    key: str
    graph: int
    inputs: Mapping[str, int] = field(default_factory=dict)
    outputs: Mapping[str, int] = field(default_factory=dict)


@dataclass
class DecodedModel:
    """All of a file. The first graph is the one that is run."""

    graphs: list[DecodedGraph]
    signatures: list[Signature]
    description: str
    metadata: Mapping[str, bytes]
