"""A TensorFlow Lite model as plain data: the output of the decoder and the input of the translators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.frontend.tflite.quantization import Quantization
from hetero.system.errors import FrontendError


@dataclass
class DecodedTensor:
    """A tensor of a graph.

    ``kind``: the name of its element type in the schema's TensorType. ``element_type``: the same as a Type, dynamic for
    resources, variants and complex numbers. ``data``: the contents of a constant tensor, else None. ``is_variable``:
    whether it keeps its contents from one inference to the next.
    """

    name: str
    kind: str
    element_type: Type
    partial_shape: PartialShape
    quantization: Quantization | None = None
    data: np.ndarray | None = None
    is_variable: bool = False

    @property
    def is_complex(self) -> bool:
        """Whether its elements are complex numbers; see ``complex_numbers`` for their representation."""
        return self.kind.startswith("COMPLEX")

    @property
    def required_quantization(self) -> Quantization:
        """The quantization of a tensor that must have one. Raises FrontendError if it has none."""
        if self.quantization is None:
            raise FrontendError(f"tensor '{self.name}' must be quantized")
        return self.quantization


@dataclass
class DecodedOperator:
    """An operator.

    ``op_type``: the name in the schema's BuiltinOperator; for a custom operator, its custom code. ``inputs`` and
    ``outputs``: indices of tensors, -1 for an omitted input. ``attributes``: the fields of its options table, by their
    names in the schema. For custom operators, and additionally for STABLEHLO_CUSTOM_CALL and STABLEHLO_COMPOSITE, they
    include the entries of the FlexBuffer map in the options, if there is one.
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
        """The name of the operation that a StableHLO custom call or composite stands for; "" for other operators."""
        name = {"STABLEHLO_CUSTOM_CALL": "call_target_name", "STABLEHLO_COMPOSITE": "name"}.get(self.op_type, "")
        return self.attributes.get(name, "")


@dataclass
class DecodedGraph:
    """A graph: its tensors, its operators in execution order, and the indices of its input and output tensors."""

    name: str
    tensors: list[DecodedTensor]
    operators: list[DecodedOperator]
    inputs: Sequence[int]
    outputs: Sequence[int]


@dataclass
class Signature:
    """A signature of a graph: the index of each input and output tensor by the name that users call it by."""

    key: str
    graph: int
    inputs: Mapping[str, int] = field(default_factory=dict)
    outputs: Mapping[str, int] = field(default_factory=dict)


@dataclass
class DecodedModel:
    """The contents of a file. The first graph is the main one."""

    graphs: list[DecodedGraph]
    signatures: list[Signature]
    description: str
    metadata: Mapping[str, memoryview]
