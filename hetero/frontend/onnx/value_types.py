"""Conversion of ONNX value types: tensors, sequences, optional values and maps."""

from __future__ import annotations

import logging

from onnx import TensorShapeProto, TypeProto

from hetero.core.containers import ContainerType, ElementType, MapType, OptionalType, SequenceType
from hetero.core.dimension import Symbol
from hetero.core.shape import MAX_RANK, Dimension, PartialShape
from hetero.core.types import Type
from hetero.frontend.onnx.tensors import data_type, element_type
from hetero.graph import Output
from hetero.system.errors import FrontendError

log = logging.getLogger("hetero.frontend")


def value_type(proto: TypeProto) -> tuple[ElementType, PartialShape]:
    """Return the element type and shape of an ONNX type. Raises FrontendError for other types, such as sparse tensors.

    A sequence, an optional value or a map is a scalar of a container type.
    """
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        return element_type(proto.tensor_type.elem_type), _shape(proto.tensor_type)
    if kind in ("sequence_type", "optional_type"):
        inner, shape = value_type(getattr(proto, kind).elem_type)
        if kind == "sequence_type" and isinstance(inner, (Type, MapType)):
            return SequenceType(inner, shape), PartialShape([])
        if kind == "optional_type" and isinstance(inner, (Type, SequenceType)):
            return OptionalType(inner, shape), PartialShape([])
    if kind == "map_type":
        values, _ = value_type(proto.map_type.value_type)
        if isinstance(values, Type):
            return MapType(values, key_type=element_type(proto.map_type.key_type)), PartialShape([])
    raise FrontendError(f"a value of {kind or 'no type'} is not supported")


_NO_NAMES = ("", "?", "-1", "None", "none", "unk", "unknown", "dynamic", "dyn")


def _shape(tensor_type: TypeProto.Tensor) -> PartialShape:
    if not tensor_type.HasField("shape"):
        return PartialShape.dynamic()
    return PartialShape([_dimension(dim) for dim in tensor_type.shape.dim])


def _dimension(proto: TensorShapeProto.Dimension) -> Dimension:
    """Return a dimension, which is dynamic if it has a name, no value or a negative value.

    Exporters write the same word for all lengths that they do not know.
    """
    if proto.HasField("dim_value"):
        return Dimension(max(proto.dim_value, -1))
    name = proto.dim_param
    return Dimension().with_symbol(Symbol(name) if isinstance(name, str) and name not in _NO_NAMES else None)


def narrow_shape(inferred: PartialShape, declared: TypeProto, has_dynamic_inputs: bool) -> PartialShape:
    """Return the inferred shape with its dynamic dimensions replaced by those of the file's value_info.

    A value_info may be wrong, most often because it is older than the change that made the inputs dynamic. Therefore it
    is ignored if it is fully static while the model has dynamic inputs, and if it contradicts the inferred shape. A
    single dimension is ignored if inference knows it to equal a dynamic dimension of an input, which the caller
    chooses. Names of dimensions say nothing about lengths. Some exporters write the length 0, or a shape without
    dimensions, for unknown ones.
    """
    stated = [max(d.dim_value, 0) for d in declared.tensor_type.shape.dim]
    if not stated or len(stated) > MAX_RANK or (has_dynamic_inputs and all(stated)):
        return inferred
    if not inferred.has_rank:
        return PartialShape([length or -1 for length in stated])
    if not any(length and known.is_dynamic and not known.symbol for known, length in zip(inferred, stated)):
        return inferred
    if len(inferred) != len(stated) or not all(known.compatible(n or -1) for known, n in zip(inferred, stated)):
        log.debug("value_info %s is ignored: it contradicts the inferred shape %s", stated, inferred)
        return inferred
    return PartialShape([length if length and not known.symbol else known for known, length in zip(inferred, stated)])


def type_proto(value: Output) -> TypeProto:
    """Return the type of a value as a TypeProto, without its unknown parts."""
    return proto_of_type(value.element_type, value.partial_shape)


def proto_of_type(kind: ElementType, shape: PartialShape) -> TypeProto:
    """Return an element type and a shape as a TypeProto, without its unknown parts."""
    proto = TypeProto()
    if isinstance(kind, MapType):
        proto.map_type.key_type = data_type(kind.key_type)
        proto.map_type.value_type.CopyFrom(proto_of_type(kind.element_type, PartialShape([])))
        return proto
    if isinstance(kind, ContainerType):
        container = proto.sequence_type if isinstance(kind, SequenceType) else proto.optional_type
        container.elem_type.CopyFrom(proto_of_type(kind.element_type, kind.partial_shape))
        return proto
    proto.tensor_type.elem_type = data_type(kind)
    if shape.has_rank:
        proto.tensor_type.shape.SetInParent()
        for dimension in shape:
            added = proto.tensor_type.shape.dim.add()
            if dimension.is_static:
                added.dim_value = dimension.get_length()
    return proto
