"""Decoder: from the bytes of a TensorFlow Lite file to plain data.

The format is a FlatBuffer with the schema tensorflow/compiler/mlir/lite/schema/schema.fbs; the package ``tflite`` has
the generated readers. The contents of tensors are views of the file's bytes.
"""

from __future__ import annotations

import itertools
import re
import struct
from functools import cache
from typing import Any

import numpy as np
import tflite

from hetero.core.packing import is_packed, packed_size, unpack
from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.frontend.tflite.decoded import Signature, TfliteGraph, TfliteModel, TfliteNode, TfliteTensor
from hetero.frontend.tflite.flexbuffer import read_map
from hetero.frontend.tflite.quantization import Quantization
from hetero.frontend.tflite.sparsity import densify
from hetero.system.allocation import string_array
from hetero.system.errors import FrontendError, GraphError

# The exceptions that FlatBuffer readers raise if an offset or a length is wrong.
_DAMAGE_ERRORS = (
    struct.error, KeyError, IndexError, ValueError, TypeError, OverflowError, AttributeError, AssertionError,
)  # fmt: skip

# The decoder reads at most this many times the file's size: parts of a file may be shared, but not without limit.
_READ_LIMIT_FACTOR = 4

# Attributes that are FlexBuffer maps of further attributes.
_NESTED = ("custom_attributes", "composite_attributes")

_TYPES = {
    "FLOAT32": Type.f32, "FLOAT16": Type.f16, "BFLOAT16": Type.bf16, "FLOAT64": Type.f64, "BOOL": Type.boolean,
    "STRING": Type.string, "INT4": Type.i4, "INT8": Type.i8, "INT16": Type.i16, "INT32": Type.i32, "INT64": Type.i64,
    "UINT8": Type.u8, "UINT16": Type.u16, "UINT32": Type.u32, "UINT64": Type.u64, "INT2": Type.i2, "UINT4": Type.u4,
}  # fmt: skip
# Element types of LiteRT's schema that the package ``tflite`` lacks.
_NEWER_KINDS = {19: "INT2", 20: "UINT4"}


def decode(data: memoryview) -> TfliteModel:
    """Decode a file. Raises FrontendError if it is damaged or has unsupported contents."""
    try:
        return _TfliteDecoder(data).model()
    except _DAMAGE_ERRORS as error:
        raise FrontendError(f"it is truncated or damaged: {type(error).__name__}: {error}") from error


class _TfliteDecoder:
    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._model = tflite.Model.GetRootAs(data, 0)
        self._read_budget = _READ_LIMIT_FACTOR * len(data)
        # The unpacked elements of buffers of 2- and 4-bit types, by buffer index and type.
        self._unpacked: dict[tuple[int, Type], np.ndarray] = {}
        self._buffers = self._all(self._model, "Buffers")
        self._codes = [self._code(code) for code in self._all(self._model, "OperatorCodes")]

    def model(self) -> TfliteModel:
        graphs = [self._graph(graph) for graph in self._all(self._model, "Subgraphs")]
        if not graphs:
            raise FrontendError("it has no graph")
        return TfliteModel(
            graphs[0],
            dict(enumerate(graphs)),
            [self._signature(signature) for signature in self._all(self._model, "SignatureDefs")],
            self._text(self._model.Description()),
            {self._text(entry.Name()): self._bytes(entry.Buffer()) for entry in self._all(self._model, "Metadata")},
        )

    def _all(self, table: Any, vector: str) -> list[Any]:
        """Return the elements of a vector of tables."""
        length, get = getattr(table, f"{vector}Length")(), getattr(table, vector)
        self._spend(4 * length)
        return [get(index) for index in range(length)]

    def _spend(self, count: int) -> None:
        """Charge the read budget for ``count`` bytes. Raises ValueError if it is exhausted.

        A malicious file can refer to the same part many times and so expand to far more than its size.
        """
        self._read_budget -= count
        if self._read_budget < 0:
            raise ValueError(f"its parts add up to more than {_READ_LIMIT_FACTOR} times its size")

    def _text(self, content: bytes | None) -> str:
        self._spend(len(content or b""))
        return _text(content)

    def _ints(self, table: Any, vector: str) -> list[int]:
        self._spend(4 * getattr(table, f"{vector}Length")())
        return getattr(table, f"{vector}AsNumpy")().tolist() if getattr(table, f"{vector}Length")() else []

    def _code(self, code: tflite.OperatorCode) -> tuple[str, int, bool]:
        """Return the name and the version of an operator code, and whether it is a custom operator."""
        # Older files only have the deprecated field, a signed byte; newer files use the other one.
        number = max(code.DeprecatedBuiltinCode(), code.BuiltinCode())
        names = names_of(tflite.BuiltinOperator)
        if number not in names:
            raise FrontendError(f"operator code {number} is unknown; the file may be of a newer schema")
        if number == tflite.BuiltinOperator.CUSTOM:
            return self._text(code.CustomCode()), code.Version(), True
        return names[number], code.Version(), False

    def _graph(self, graph: tflite.SubGraph) -> TfliteGraph:
        tensors = [self._tensor(tensor) for tensor in self._all(graph, "Tensors")]
        nodes = [self._node(operator) for operator in self._all(graph, "Operators")]
        inputs, outputs = self._ints(graph, "Inputs"), self._ints(graph, "Outputs")
        used = [index for node in nodes for index in (*node.input_keys(), *node.outputs)]
        used += [index for node in nodes for index in node.intermediates if index != -1]
        for index in (*used, *inputs, *outputs):
            if not 0 <= index < len(tensors):
                raise ValueError(f"there is no tensor {index}")
        for node in nodes:
            node.name = next((tensors[i].name for i in node.outputs if tensors[i].name), node.op_type)
            node.reads_variables = any(tensors[i].is_variable for i in node.input_keys())
        return TfliteGraph(self._text(graph.Name()), inputs, outputs, nodes, tensors)

    def _tensor(self, tensor: tflite.Tensor) -> TfliteTensor:
        name, number = self._text(tensor.Name()), tensor.Type()
        kind = (_NEWER_KINDS | names_of(tflite.TensorType)).get(number, str(number))
        shape = self._ints(tensor, "Shape")
        # Dynamic dimensions are -1 in the shape signature; files without one have static shapes.
        lengths = self._ints(tensor, "ShapeSignature") or shape
        try:
            decoded = TfliteTensor(_TYPES.get(kind, Type.dynamic), PartialShape(lengths), name, kind)
        except GraphError as error:
            raise FrontendError(f"tensor '{name}': {error}") from error
        # Float tensors have the value ranges of training there, and f16 or f32 constants a meaningless scale.
        if not decoded.element_type.is_real() and decoded.element_type.is_static():
            decoded.quantization = self._quantization(tensor, decoded)
        decoded.is_variable = bool(tensor.IsVariable())
        if decoded.element_type.is_static() and not decoded.is_variable:
            try:
                decoded.data = self._contents(tensor, decoded.element_type, tuple(shape))
            except (*_DAMAGE_ERRORS, FrontendError) as error:
                raise FrontendError(f"tensor '{name}' cannot be read: {error}") from error
        return decoded

    def _quantization(self, tensor: tflite.Tensor, decoded: TfliteTensor) -> Quantization | None:
        params = tensor.Quantization()
        if params is None or not params.ScaleLength():
            return None
        self._spend(4 * params.ScaleLength() + 8 * params.ZeroPointLength())
        scales = np.array(params.ScaleAsNumpy(), np.float32)
        zeros = np.array(params.ZeroPointAsNumpy() if params.ZeroPointLength() else 0).astype(np.int32)
        if not scales.any():
            return None  # some converters write a scale of 0 for tensors that are not quantized
        if not np.isfinite(scales).all():
            raise FrontendError(f"tensor '{decoded.name}' has scales that are not finite")
        if zeros.size not in (1, scales.size):
            raise FrontendError(f"tensor '{decoded.name}' has {scales.size} scales, but {zeros.size} zero points")
        axis, rank = params.QuantizedDimension(), len(decoded.partial_shape)
        if scales.size > 1 and not 0 <= axis < rank:
            raise FrontendError(f"tensor '{decoded.name}' has scales along axis {axis}, but {rank} dimensions")
        return Quantization(scales, np.broadcast_to(zeros.reshape(-1), scales.shape), axis)

    def _contents(self, tensor: tflite.Tensor, kind: Type, shape: tuple[int, ...]) -> np.ndarray | None:
        data, sparsity = self._bytes(tensor.Buffer()), tensor.Sparsity()
        if sparsity is not None:
            return densify(sparsity, data, kind, shape)
        if not len(data):
            # A tensor without elements is constant even though it has no buffer.
            return np.zeros(shape, np.str_ if kind is Type.string else kind.to_dtype()) if 0 in shape else None
        if kind is Type.string:
            return _strings(data, shape)
        needed = packed_size(int(np.prod(shape, dtype=object)), kind)
        if needed != len(data):
            raise FrontendError(f"it holds {len(data)} bytes, but {kind}{list(shape)} needs {needed}")
        if not is_packed(kind):
            return np.frombuffer(data, kind.to_dtype()).reshape(shape)
        # Tensors of several graphs may share a buffer.
        key = (tensor.Buffer(), kind)
        if key not in self._unpacked:
            self._unpacked[key] = unpack(data, kind, (int(np.prod(shape)),))
        return self._unpacked[key].reshape(shape)

    def _bytes(self, index: int) -> memoryview:
        """Return the contents of a buffer. Large files store them after the FlatBuffer, at an offset."""
        buffer = self._buffers[index]
        # Like the TensorFlow Lite interpreter: offsets 0 and 1 mean that the data is in the buffer itself.
        if buffer.Offset() > 1:
            end = buffer.Offset() + buffer.Size()
            if end > len(self._data):
                raise ValueError(f"buffer {index} ends beyond the file")
            return self._data[buffer.Offset() : end]
        return memoryview(buffer.DataAsNumpy()) if buffer.DataLength() else memoryview(b"")

    def _node(self, operator: tflite.Operator) -> TfliteNode:
        op_type, version, is_custom = self._codes[operator.OpcodeIndex()]
        options = bytes(operator.CustomOptionsAsNumpy()) if operator.CustomOptionsLength() else b""
        self._spend(len(options))
        attributes = read_map(options) if is_custom else self._builtin_attributes(operator)
        tensors = (self._ints(operator, vector) for vector in ("Inputs", "Outputs", "Intermediates"))
        inputs, outputs, intermediates = tensors
        bodies = [value for name, value in attributes.items() if name.endswith("subgraph_index") or name == "subgraph"]
        return TfliteNode(
            "",
            op_type,
            [None if index == -1 else index for index in inputs],
            outputs,
            attributes,
            bodies,
            version=version,
            is_custom=is_custom,
            custom_options=options,
            intermediates=intermediates,
        )

    def _builtin_attributes(self, operator: tflite.Operator) -> dict[str, Any]:
        attributes: dict[str, Any] = {}
        for number, table, union in (
            (operator.BuiltinOptionsType(), operator.BuiltinOptions(), tflite.BuiltinOptions),
            (operator.BuiltinOptions2Type(), operator.BuiltinOptions2(), tflite.BuiltinOptions2),
        ):
            if number and table is not None:
                attributes |= self._attributes(names_of(union)[number], table)
        for name in _NESTED:
            attributes = {**read_map(bytes(attributes.get(name, ()))), **attributes}
        return attributes

    def _attributes(self, kind: str, table: Any) -> dict[str, Any]:
        """Return the fields of an options table by their names in the schema; vectors as tuples."""
        table_class = getattr(tflite, kind)
        options = table_class()
        options.Init(table.Bytes, table.Pos)
        attributes = {name: _field(options, method) for name, method in _fields(table_class).items()}
        self._spend(sum(len(value) for value in attributes.values() if isinstance(value, (str, tuple))))
        return attributes

    def _signature(self, signature: tflite.SignatureDef) -> Signature:
        inputs, outputs = (
            {self._text(entry.Name()): entry.TensorIndex() for entry in self._all(signature, vector)}
            for vector in ("Inputs", "Outputs")
        )
        return Signature(self._text(signature.SignatureKey()), signature.SubgraphIndex(), inputs, outputs)


@cache
def _fields(options: type) -> dict[str, str]:
    """Return the names of the methods that read the fields of an options table, by the fields' names in the schema."""
    methods = [name for name in vars(options) if re.match("(?!Init$|GetRootAs)[A-Z]", name)]
    vectors = [name.removesuffix("Length") for name in methods if name.endswith("Length")]
    others = {f"{vector}{ending}" for vector in vectors for ending in ("AsNumpy", "Length", "IsNone")}
    return {
        re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", method).lower(): method
        for method in methods
        if method not in others and not method.endswith("BufferHasIdentifier")
    }


def _field(table: Any, method: str) -> Any:
    """Return the value of a field; a tuple for a vector."""
    read, length = getattr(table, method), getattr(table, f"{method}Length", None)
    return _plain(read()) if length is None else tuple(_plain(read(index)) for index in range(length()))


def _plain(value: Any) -> Any:
    return _text(value) if isinstance(value, bytes) else value


def _strings(data: memoryview, shape: tuple[int, ...]) -> np.ndarray:
    """Decode a string tensor: the count, the offset of each string and of the end (all i32), and the text."""
    (count,) = struct.unpack_from("<i", data)
    offsets = struct.unpack_from(f"<{count + 1}i", data, 4)
    if list(offsets) != sorted(offsets) or not 0 <= offsets[0] <= offsets[-1] <= len(data):
        raise ValueError("the offsets of its strings must ascend and lie within its bytes")
    return string_array([bytes(data[begin:end]).decode() for begin, end in itertools.pairwise(offsets)]).reshape(shape)


@cache
def names_of(enumeration: type) -> dict[int, str]:
    """Return the names of an enumeration of the schema by their values."""
    return {value: name for name, value in vars(enumeration).items() if isinstance(value, int)}


def _text(content: bytes | None) -> str:
    return (content or b"").decode(errors="replace")
