"""The types of ONNX values: tensors, sequences of them, and optional ones."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from onnx import TypeProto, ValueInfoProto

from hetero.containers import ContainerType, ElementType, OptionalType, SequenceType
from hetero.errors import FrontendError
from hetero.frontend.onnx.tensors import data_type, element_type
from hetero.graph import Output
from hetero.shape import LARGEST_RANK, PartialShape

log = logging.getLogger("hetero.frontend")


def value_type(proto: TypeProto) -> tuple[ElementType, PartialShape]:
    """Element type and shape; a sequence or an optional is a scalar. Raises FrontendError for other kinds."""
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        return element_type(proto.tensor_type.elem_type), _shape(proto.tensor_type)
    if kind in ("sequence_type", "optional_type"):
        inner, shape = value_type(getattr(proto, kind).elem_type)
        container = SequenceType if kind == "sequence_type" else OptionalType
        return container(inner, shape), PartialShape([])
    raise FrontendError(f"a value of {kind or 'no type'} is not supported")


def _shape(tensor_type: TypeProto.Tensor) -> PartialShape:
    if not tensor_type.HasField("shape"):
        return PartialShape.dynamic()
    # A dimension with a name, with none, or of a negative length may have any length.
    lengths = [d.dim_value if d.HasField("dim_value") else -1 for d in tensor_type.shape.dim]
    return PartialShape([length if length >= 0 else -1 for length in lengths])


def declared_types(infos: Iterable[ValueInfoProto]) -> dict[str, TypeProto]:
    """The types that a graph states of its values, by name."""
    return {info.name: info.type for info in infos}


def narrow_shape(inferred: PartialShape, declared: TypeProto, open_inputs: bool) -> PartialShape:
    """The inferred shape with the lengths that a value_info of the file states and inference leaves open.

    A value_info may be wrong, most often because it dates from before the inputs were made dynamic. So one without an
    unknown length is ignored if a length of the model's inputs is unknown (``open_inputs``), and a length where
    inference finds that of an input, which the caller chooses. One that contradicts the inferred shape is ignored too.
    Names of dimensions say nothing here. Lengths of 0 and shapes without dimensions are what some exporters write for
    what they do not know.
    """
    stated = [max(d.dim_value, 0) for d in declared.tensor_type.shape.dim]
    if not stated or len(stated) > LARGEST_RANK or (open_inputs and all(stated)):
        return inferred
    if not inferred.has_rank:
        return PartialShape([length or -1 for length in stated])
    if not any(said and known.is_dynamic and not known.symbol for known, said in zip(inferred, stated)):
        return inferred
    if len(inferred) != len(stated) or not all(known.compatible(said or -1) for known, said in zip(inferred, stated)):
        log.debug("a value_info that says %s is ignored: the inferred shape is %s", stated, inferred)
        return inferred
    return PartialShape([said if said and not known.symbol else known for known, said in zip(inferred, stated)])


def type_proto(value: Output) -> TypeProto:
    """The type of a value as ONNX writes it. What is not known of it is left out."""
    return _proto_of(value.element_type, value.partial_shape)


def _proto_of(kind: ElementType, shape: PartialShape) -> TypeProto:
    proto = TypeProto()
    if isinstance(kind, ContainerType):
        inner = proto.sequence_type if isinstance(kind, SequenceType) else proto.optional_type
        inner.elem_type.CopyFrom(_proto_of(kind.element_type, kind.partial_shape))
        return proto
    proto.tensor_type.elem_type = data_type(kind)
    if shape.has_rank:
        proto.tensor_type.shape.SetInParent()
        for dimension in shape:
            added = proto.tensor_type.shape.dim.add()
            if dimension.is_static:
                added.dim_value = dimension.get_length()
    return proto
