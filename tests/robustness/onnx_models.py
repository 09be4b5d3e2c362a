"""ONNX models: the backend cases of the ONNX project, changed through their protobuf messages and as bytes."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import onnx
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from onnx import TensorProto, helper, numpy_helper

from hetero.conformance.onnx_cases import cases
from tests.frontend.onnx.test_damaged_files import sample
from tests.robustness.damage import FRACTIONS, NESTING, WORDS, Files, Mutator, number, on_file
from tests.robustness.running import read_and_run

NAME = "model.onnx"
LARGEST, LARGEST_NESTED = 4000, 200_000  # bytes; small models make quick cases
# Raised by protobuf for bytes that are not a model, and for names that are not text.
UNREADABLE = (DecodeError, ValueError, TypeError)
INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32: (32, True),
    FieldDescriptor.CPPTYPE_INT64: (64, True),
    FieldDescriptor.CPPTYPE_UINT32: (32, False),
    FieldDescriptor.CPPTYPE_UINT64: (64, False),
}


@functools.cache
def samples() -> list[Files]:
    contents = [*[sample()] * 20, *(case.model.SerializeToString() for case in cases("node").values() if case.model)]
    return [{NAME: content} for content in contents if len(content) <= LARGEST]


def run(folder: Path) -> None:
    read_and_run(folder / NAME)


def _of_model(change: Callable[[onnx.ModelProto, Random], None]) -> Mutator:
    """Return a mutator of files made from one of the parsed model; unreadable bytes stay as they are."""

    def mutate(files: Files, rng: Random) -> None:
        with contextlib.suppress(*UNREADABLE):
            model = onnx.ModelProto.FromString(files[NAME])
            change(model, rng)
            files[NAME] = model.SerializeToString()

    return mutate


def field_of(kind: type[Message]) -> Mutator:
    """Return a mutator of one field of one message of this kind: of its items if it is repeated, else of its value."""

    def change(model: onnx.ModelProto, rng: Random) -> None:
        known = list(_messages(model))
        message = rng.choice([message for message in known if isinstance(message, kind)] or known)
        present = [field for field, _ in message.ListFields()]
        field = rng.choice(present if present and rng.random() < 0.8 else list(message.DESCRIPTOR.fields))
        if field.is_repeated:
            items = list(getattr(type(message).FromString(message.SerializeToString()), field.name))
            _change_items(items, lambda: _value(field, known, rng), rng)
            message.ClearField(field.name)
            getattr(message, field.name).extend(items)
        elif rng.random() < 0.2:
            message.ClearField(field.name)
        elif field.message_type:
            getattr(message, field.name).CopyFrom(_value(field, known, rng))
        else:
            setattr(message, field.name, _value(field, known, rng))

    return _of_model(change)


def _messages(root: Message) -> Iterator[Message]:
    waiting = [root]
    while waiting:
        message = waiting.pop()
        yield message
        for field, value in message.ListFields():
            if field.message_type:
                waiting += value if field.is_repeated else [value]


def _change_items(items: list[Any], make: Callable[[], Any], rng: Random) -> None:
    place, kind = rng.randrange(len(items) + 1), rng.choice(["add", "set", "remove", "repeat", "exchange", "clear"])
    if kind == "add" or place == len(items):
        items.insert(place, make())
    elif kind == "set":
        items[place] = make()
    elif kind == "remove":
        del items[place]
    elif kind == "repeat":
        items.insert(rng.randrange(len(items)), items[place])
    elif kind == "exchange":
        items.append(items.pop(place))
    else:
        items.clear()


def _value(field: FieldDescriptor, known: list[Message], rng: Random) -> Any:
    """Return a value that the field can hold; names of existing values make cycles, names of operators other nodes."""
    if field.message_type:
        kind = GetMessageClass(field.message_type)
        alike = [message for message in known if isinstance(message, kind)]
        return kind.FromString(
            rng.choice(alike).SerializeToString() if alike else b""
        )  # a copy, as it may contain its new place
    if field.cpp_type in INTEGERS:
        return rng.choice([number(rng, *INTEGERS[field.cpp_type]), rng.randint(0, 25)])
    if field.cpp_type == FieldDescriptor.CPPTYPE_ENUM:
        return rng.choice([value.number for value in field.enum_type.values])
    if field.cpp_type in (FieldDescriptor.CPPTYPE_FLOAT, FieldDescriptor.CPPTYPE_DOUBLE):
        return rng.choice(FRACTIONS)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return rng.choice([b"", rng.randbytes(rng.choice([1, 3, 8, 100])), rng.choice(WORDS).encode()])
    names = [
        name for message in known if isinstance(message, onnx.NodeProto) for name in [*message.input, *message.output]
    ]
    return rng.choice(rng.choice([WORDS, names or WORDS, names or WORDS, _operators()]))


@functools.cache
def _operators() -> list[str]:
    return sorted({schema.name for schema in onnx.defs.get_all_schemas() if schema.domain == ""})


def know_input(model: onnx.ModelProto, rng: Random) -> None:
    """Turn an input of the model into an initializer: shapes, axes and sizes become numbers known at reading."""
    inputs = [value for value in model.graph.input if value.type.tensor_type.shape.dim]
    if not inputs:
        return
    value = rng.choice(inputs)
    kind = value.type.tensor_type.elem_type
    shape = [min(max(dim.dim_value, 0), 8) for dim in value.type.tensor_type.shape.dim]
    if kind in (TensorProto.INT64, TensorProto.INT32):
        bits = 64 if kind == TensorProto.INT64 else 32
        numbers = [rng.choice([rng.randint(-1, 5), number(rng, bits)]) for _ in range(int(np.prod(shape)))]
    elif kind == TensorProto.FLOAT:
        numbers = [rng.choice(FRACTIONS) for _ in range(int(np.prod(shape)))]
    else:
        return
    array = np.array(numbers).astype(helper.tensor_dtype_to_np_dtype(kind)).reshape(shape)
    model.graph.initializer.append(numpy_helper.from_array(array, value.name))
    model.graph.input.remove(value)


def nest(files: Files, rng: Random) -> None:
    """Nest the graph in many levels of If. Written as bytes, as protobuf itself nests 33 levels at most."""
    with contextlib.suppress(*UNREADABLE):
        files[NAME] = _nested(onnx.ModelProto.FromString(files[NAME]), rng.choice(NESTING))


def _nested(model: onnx.ModelProto, depth: int) -> bytes:
    yes = numpy_helper.from_array(np.array(True), "nested")
    outside = onnx.GraphProto(input=model.graph.input, initializer=[yes]).SerializeToString()
    model.graph.ClearField("input")
    leaf = graph = model.graph.SerializeToString()
    names = [value.name for value in model.graph.output]
    model.ClearField("graph")
    for level in range(depth):
        branches = [_part(5, _branch(name) + _part(6, body)) for name, body in (("then", graph), ("else", leaf))]
        outputs = [f"{name}_{level}" for name in names]
        node = onnx.NodeProto(op_type="If", input=["nested"], output=outputs).SerializeToString()
        values = [onnx.ValueInfoProto(name=name) for name in outputs]
        graph = onnx.GraphProto(name="g", output=values).SerializeToString() + _part(1, node + b"".join(branches))
        if len(graph) > LARGEST_NESTED:
            break
    return model.SerializeToString() + _part(7, graph + outside)


def _branch(name: str) -> bytes:
    return onnx.AttributeProto(name=f"{name}_branch", type=onnx.AttributeProto.GRAPH).SerializeToString()


def _part(field: int, content: bytes) -> bytes:
    """Return a field of bytes in the wire format: number and kind, length, content."""
    sizes, size = [], len(content)
    while size >= 128:
        sizes.append(size % 128 + 128)
        size //= 128
    return bytes([8 * field + 2, *sizes, size]) + content


MUTATORS = {
    "bytes": on_file(NAME),
    "anything": field_of(Message),
    "node": field_of(onnx.NodeProto),
    "attribute": field_of(onnx.AttributeProto),
    "tensor": field_of(TensorProto),
    "dimension": field_of(onnx.TensorShapeProto),
    "graph": field_of(onnx.GraphProto),
    "known input": _of_model(know_input),
    "nest": nest,
}
