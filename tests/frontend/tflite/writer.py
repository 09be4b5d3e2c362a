"""Writer of test graphs as TensorFlow Lite files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import Builder, flexbuffers

from tests.frontend.tflite import buffers
from tests.frontend.tflite.graphs import ElementType, Graph, Op, Signature, Tensor

TENSOR_TYPES = {
    np.dtype(dtype): number
    for dtype, number in (
        (np.float32, schema.TensorType.FLOAT32),
        (np.float16, schema.TensorType.FLOAT16),
        (np.float64, schema.TensorType.FLOAT64),
        (ml_dtypes.bfloat16, schema.TensorType.BFLOAT16),
        (ml_dtypes.int2, schema.TensorType.INT2),
        (ml_dtypes.int4, schema.TensorType.INT4),
        (ml_dtypes.uint4, schema.TensorType.UINT4),
        (np.int8, schema.TensorType.INT8),
        (np.int16, schema.TensorType.INT16),
        (np.int32, schema.TensorType.INT32),
        (np.int64, schema.TensorType.INT64),
        (np.uint8, schema.TensorType.UINT8),
        (np.uint16, schema.TensorType.UINT16),
        (np.uint32, schema.TensorType.UINT32),
        (np.uint64, schema.TensorType.UINT64),
        (np.bool_, schema.TensorType.BOOL),
        (np.complex64, schema.TensorType.COMPLEX64),
        (np.complex128, schema.TensorType.COMPLEX128),
        (np.object_, schema.TensorType.STRING),
    )
}
# Operators whose options table has another name than the operator.
OPTIONS = {
    "L2_NORMALIZATION": "L2Norm",
    "UNIDIRECTIONAL_SEQUENCE_RNN": "SequenceRNN",
    "CONV_3D_TRANSPOSE": "Conv3D",
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"), "Pool2D"),
    **dict.fromkeys(("MAXIMUM", "MINIMUM"), "MaximumMinimum"),
    **dict.fromkeys(("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL", "MULTINOMIAL"), "Random"),
    **dict.fromkeys(("SUM", "MEAN", *(f"REDUCE_{name}" for name in ("PROD", "MAX", "MIN", "ANY", "ALL"))), "Reducer"),
}
ENUMERATIONS = (
    schema.Padding,
    schema.ActivationFunctionType,
    schema.TensorType,
    schema.MirrorPadMode,
    schema.LSTMKernelType,
    schema.CombinerType,
    schema.LSHProjectionType,
    schema.FullyConnectedOptionsWeightsFormat,
    schema.ReduceWindowFunction,
    schema.StablehloComparisonDirection,
    schema.StablehloComparisonType,
    schema.RngAlgorithm,
)


def write(graph: Graph, signatures: Sequence[Signature] = ()) -> bytes:
    """Return the file of a model with this main graph and the graphs in options. Names tensors that have no name."""
    return _Writer(graph, signatures).write(signatures)


def packed(model: schema.ModelT) -> bytes:
    """Serialize a model."""
    builder = Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


class _Writer:
    def __init__(self, graph: Graph, signatures: Sequence[Signature]) -> None:
        self._graphs = [graph]
        for known in self._graphs:  # grows during the loop, as graphs may refer to further graphs
            found = [value for op in known.ops for value in op.options.values() if isinstance(value, Graph)]
            found += [signature.graph for signature in signatures if signature.graph is not None]
            self._graphs += [body for body in dict.fromkeys(found) if body not in self._graphs]
        self._buffers = [schema.BufferT()]
        self._codes: dict[tuple[str, int], int] = {}

    def write(self, signatures: Sequence[Signature]) -> bytes:
        subgraphs = [self._subgraph(graph) for graph in self._graphs]
        model = schema.ModelT(
            version=3,
            operatorCodes=[_operator_code(*code) for code in self._codes],
            subgraphs=subgraphs,
            buffers=self._buffers,
            signatureDefs=[self._signature(signature) for signature in signatures] or None,
        )
        return packed(model)

    def _subgraph(self, graph: Graph) -> schema.SubGraphT:
        places = {tensor: i for i, tensor in enumerate(graph.tensors)}
        for tensor, i in places.items():
            tensor.name = tensor.name or f"tensor_{i}"
        places[None] = -1
        return schema.SubGraphT(
            tensors=[self._tensor(tensor) for tensor in graph.tensors],
            inputs=[places[tensor] for tensor in graph.inputs],
            outputs=[places[tensor] for tensor in graph.outputs],
            operators=[self._operator(op, places) for op in graph.ops],
            name=graph.name,
        )

    def _tensor(self, tensor: Tensor) -> schema.TensorT:
        if tensor.is_constant:
            self._buffers.append(schema.BufferT(data=buffers.encode(tensor.data)))
        return schema.TensorT(
            shape=list(tensor.shape or ()),
            type=_type_number(tensor.dtype),
            buffer=len(self._buffers) - 1 if tensor.is_constant else 0,
            name=tensor.name,
            quantization=_quantization(tensor),
            isVariable=tensor.is_variable,
            sparsity=tensor.sparsity,
            shapeSignature=list(tensor.signature) if tensor.signature else None,
            hasRank=tensor.shape is not None,
        )

    def _operator(self, op: Op, places: Mapping[Tensor | None, int]) -> schema.OperatorT:
        operator = schema.OperatorT(
            opcodeIndex=self._codes.setdefault((op.kind, op.version), len(self._codes)),
            inputs=[places[tensor] for tensor in op.inputs],
            outputs=[places[tensor] for tensor in op.outputs],
            intermediates=[places[tensor] for tensor in op.intermediates] or None,
        )
        if not _is_builtin(op.kind):
            options = flexbuffers.Dumps(op.options) if op.options else b""
            operator.customOptions = np.frombuffer(op.raw or options, np.uint8)
            return operator
        wanted = (OPTIONS.get(op.kind, op.kind) + "Options").replace("_", "").lower()
        for union, suffix in ((schema.BuiltinOptions, ""), (schema.BuiltinOptions2, "2")):
            for name, number in vars(union).items():
                if name.lower() == wanted:
                    setattr(operator, f"builtinOptions{suffix}Type", number)
                    setattr(operator, f"builtinOptions{suffix}", self._options(name, op))
                    return operator
        assert not op.options, f"{op.kind} has no options"
        return operator

    def _options(self, name: str, op: Op) -> Any:
        options = getattr(schema, f"{name}T")()
        for key, value in op.options.items():
            first, *rest = key.split("_")
            key = first + "".join(part[:1].upper() + part[1:] for part in rest)
            assert hasattr(options, key), f"{op.kind} has no option {key}, but {', '.join(vars(options))}"
            if isinstance(value, Graph):
                value = self._graphs.index(value)
            elif isinstance(value, str) and isinstance(getattr(options, key), int):
                value = next(getattr(kind, value) for kind in ENUMERATIONS if hasattr(kind, value))
            setattr(options, key, value)
        return options

    def _signature(self, signature: Signature) -> schema.SignatureDefT:
        graph = signature.graph or self._graphs[0]

        def maps(named: Mapping[str, Tensor]) -> list[schema.TensorMapT]:
            tensors = graph.tensors
            return [schema.TensorMapT(name=name, tensorIndex=tensors.index(tensor)) for name, tensor in named.items()]

        return schema.SignatureDefT(
            inputs=maps(signature.inputs),
            outputs=maps(signature.outputs),
            signatureKey=signature.key,
            subgraphIndex=self._graphs.index(graph),
        )


def _is_builtin(kind: str) -> bool:
    return hasattr(schema.BuiltinOperator, kind)


def _operator_code(kind: str, version: int) -> schema.OperatorCodeT:
    code = schema.OperatorCodeT(version=version)
    code.builtinCode = getattr(schema.BuiltinOperator, kind) if _is_builtin(kind) else schema.BuiltinOperator.CUSTOM
    # Readers from before the schema had 128 operators read this field.
    code.deprecatedBuiltinCode = min(code.builtinCode, schema.BuiltinOperator.PLACEHOLDER_FOR_GREATER_OP_CODES)
    code.customCode = None if _is_builtin(kind) else kind
    return code


def _quantization(tensor: Tensor) -> schema.QuantizationParametersT | None:
    scale = np.atleast_1d(tensor.scale).astype(np.float32)
    if not scale.size:
        return None
    zero_point = np.broadcast_to(tensor.zero_point, scale.shape).astype(np.int64)
    return schema.QuantizationParametersT(scale=scale, zeroPoint=zero_point, quantizedDimension=tensor.axis)


def _type_number(dtype: ElementType) -> int:
    if isinstance(dtype, str) and hasattr(schema.TensorType, dtype):
        return getattr(schema.TensorType, dtype)
    return TENSOR_TYPES[np.dtype(dtype)]
