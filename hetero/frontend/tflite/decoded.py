"""A TensorFlow Lite model as plain data: the output of the decoder and the input of the translators.

The key of a value is the index of its tensor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hetero.frontend.tflite.quantization import Quantization
from hetero.frontend.translation.decoded import DecodedGraph, DecodedModel, DecodedNode, DecodedTensor, Key
from hetero.system.errors import FrontendError


@dataclass
class TfliteTensor(DecodedTensor):
    """A tensor of a graph.

    ``kind``: the name of its element type in the schema's TensorType. ``element_type``: the same as a Type, dynamic for
    resources, variants and complex numbers. ``data``: the contents of a constant tensor, else None. ``is_variable``:
    whether it keeps its contents from one inference to the next.
    """

    name: str = ""
    kind: str = ""
    quantization: Quantization | None = None
    data: np.ndarray | None = None
    is_variable: bool = False

    @property
    def is_complex(self) -> bool:
        """True if its elements are complex numbers; see ``complex_numbers`` for their representation."""
        return self.kind.startswith("COMPLEX")

    @property
    def required_quantization(self) -> Quantization:
        """The quantization of a tensor that must have one. Raises FrontendError if it has none."""
        if self.quantization is None:
            raise FrontendError(f"tensor '{self.name}' must be quantized")
        return self.quantization


@dataclass
class TfliteNode(DecodedNode):
    """An operator, named as its first output tensor that has a name, because the file has no names of operators.

    ``op_type``: the name in the schema's BuiltinOperator; for a custom operator, its custom code. ``attributes``: the
    fields of its options table, by their names in the schema. For custom operators, and additionally for
    STABLEHLO_CUSTOM_CALL and STABLEHLO_COMPOSITE, they include the entries of the FlexBuffer map in the options, if
    there is one. ``bodies``: the indices of graphs in the model, in the order of the schema.
    """

    is_custom: bool = False
    custom_options: bytes = b""
    intermediates: Sequence[int] = ()
    reads_variables: bool = False

    @property
    def callee(self) -> str:
        """The name of the operation that a StableHLO custom call or composite stands for; "" for other operators."""
        name = {"STABLEHLO_CUSTOM_CALL": "call_target_name", "STABLEHLO_COMPOSITE": "name"}.get(self.op_type, "")
        return self.attributes.get(name, "")

    @property
    def kind(self) -> str:
        return f"{'the custom ' if self.is_custom else ''}{self.op_type}"

    @property
    def operator_names(self) -> Sequence[str]:
        return [self.callee, self.op_type]

    @property
    def has_effects(self) -> bool:
        return self.reads_variables or super().has_effects


@dataclass
class TfliteGraph(DecodedGraph):
    """A graph and its tensors, which its operators refer to by their indices."""

    tensors: list[TfliteTensor] = field(default_factory=list)

    def name_of(self, key: Key) -> str:
        return self.tensors[key].name


@dataclass
class Signature:
    """A signature of a graph: the index of each input and output tensor by the name that users call it by."""

    key: str
    graph: int
    inputs: Mapping[str, int] = field(default_factory=dict)
    outputs: Mapping[str, int] = field(default_factory=dict)


@dataclass
class TfliteModel(DecodedModel):
    """The contents of a file. ``functions``: all graphs by their indices; graph 0 is the main one."""

    signatures: list[Signature] = field(default_factory=list)
    description: str = ""
    metadata: Mapping[str, memoryview] = field(default_factory=dict)

    def keys_by_name(self) -> dict[str, int]:
        signatures = (signature.outputs for signature in self.signatures if signature.graph == 0)
        return {name: index for outputs in signatures for name, index in outputs.items()} | super().keys_by_name()
