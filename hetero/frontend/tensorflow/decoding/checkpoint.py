"""Tensors of a checkpoint: ``PREFIX.index`` says where in the files ``PREFIX.data-…`` each of them is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np

from hetero.core.types import Type
from hetero.frontend.protobuf import Message, WireError, decode, read_varint
from hetero.frontend.source import Companion
from hetero.frontend.tensorflow.decoding.element_types import dtype_of, shape_of, type_of
from hetero.frontend.tensorflow.decoding.messages import BUNDLE_ENTRY, BUNDLE_HEADER, OBJECTS
from hetero.frontend.tensorflow.decoding.string_table import read_string_table
from hetero.frontend.tensorflow.decoding.tensors import text_array
from hetero.system.errors import FrontendError

_BIG_ENDIAN = 1
_MAX_SHARDS = 100_000
_CHECKSUM_SIZE = 4
# The key of the description of the objects that hold the variables.
_OBJECTS = "_CHECKPOINTABLE_OBJECT_GRAPH"


class Checkpoint(Mapping[str, np.ndarray]):
    """The tensors by their keys. The files are memory-mapped, and the arrays are views of them.

    ``model``: the file of the graph. Raises FrontendError if the files are missing or damaged; of a data file, when a
    tensor in it is read.
    """

    def __init__(self, prefix: Path, model: Path) -> None:
        self._prefix, self._model = prefix, model
        table = read_string_table(self._map("index"))
        if b"" not in table:
            raise FrontendError("the index of the checkpoint has no header")
        header = decode(table.pop(b""), BUNDLE_HEADER)
        if header.endianness == _BIG_ENDIAN:
            raise FrontendError("a checkpoint with big-endian numbers is not supported")
        if not 0 < header.num_shards <= _MAX_SHARDS:
            raise FrontendError(f"the checkpoint has {header.num_shards} data files")
        self._shard_count = header.num_shards
        self._entries = {key.decode("utf-8", "replace"): value for key, value in table.items()}
        self._shards: dict[int, memoryview] = {}

    def __getitem__(self, key: str) -> np.ndarray:
        entry = decode(self._entries[key], BUNDLE_ENTRY)
        try:
            return self._array(entry)
        except FrontendError as error:
            raise FrontendError(f"tensor '{key}' of the checkpoint: {error}") from error

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def object_keys(self) -> dict[str, str]:
        """Return the keys of variables by their names, as the objects that hold them say; {} without objects.

        Names that several variables have say nothing, and are left out. Raises FrontendError if the description of the
        objects is damaged.
        """
        if _OBJECTS not in self._entries:
            return {}
        entry = decode(self._entries[_OBJECTS], BUNDLE_ENTRY)
        try:
            (content,) = _byte_strings(self._data(entry), 1)
            objects = decode(content, OBJECTS).nodes
        except (FrontendError, WireError) as error:
            raise FrontendError(f"the objects of the checkpoint are damaged: {error}") from error
        attributes = [attribute for one in objects for attribute in one.attributes]
        counts = Counter(attribute.full_name for attribute in attributes)
        return {one.full_name: one.checkpoint_key for one in attributes if counts[one.full_name] == 1}

    def _array(self, entry: Message) -> np.ndarray:
        if entry.slices:
            raise FrontendError("a variable that is stored in several parts is not supported")
        dtype, shape = dtype_of(entry.dtype), shape_of(entry.shape).to_shape()
        is_text = type_of(entry.dtype) is Type.string
        if not is_text and entry.size != math.prod(shape) * dtype.itemsize:
            raise FrontendError(f"{dtype} {list(shape)} has {entry.size} bytes")
        data = self._data(entry)
        found = text_array(_byte_strings(data, math.prod(shape))) if is_text else np.frombuffer(data, dtype)
        return found.reshape(shape)

    def _data(self, entry: Message) -> memoryview:
        shard = self._shard(entry.shard_id)
        if not 0 <= entry.offset <= len(shard) - entry.size:
            raise FrontendError("it ends after the end of its file, which is truncated")
        return shard[entry.offset : entry.offset + entry.size]

    def _shard(self, number: int) -> memoryview:
        if not 0 <= number < self._shard_count:
            raise FrontendError(f"there is no data file {number}")
        if number not in self._shards:
            self._shards[number] = self._map(f"data-{number:05}-of-{self._shard_count:05}")
        return self._shards[number]

    def _map(self, suffix: str) -> memoryview:
        return Companion(self._prefix.with_name(f"{self._prefix.name}.{suffix}"), self._model).map()


def _byte_strings(data: memoryview, count: int) -> list[memoryview]:
    """Return strings, which are stored as their lengths, a checksum of the lengths, and their bytes."""
    if count > len(data):
        raise FrontendError(f"{count} strings have only {len(data)} bytes")
    try:
        lengths, offset = [], 0
        for _ in range(count):
            length, offset = read_varint(data, offset, len(data))
            lengths.append(length)
    except WireError as error:
        raise FrontendError(f"its strings are damaged: {error}") from error
    ends = list(accumulate(lengths, initial=offset + _CHECKSUM_SIZE))
    if ends[-1] != len(data):
        raise FrontendError("the lengths of its strings do not add up to its size")
    return [data[begin:end] for begin, end in pairwise(ends)]
