"""Hash tables: their contents are known before the model runs, and a lookup compares the keys."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hetero import ops
from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.frontend.source import Companion
from hetero.frontend.tensorflow.decoding.tensors import decode_text
from hetero.frontend.tensorflow.node_context import Handle, TensorflowNodeContext, Values, translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import constant_input, int64
from hetero.frontend.translation.variables import BodyVariables
from hetero.graph import Constant
from hetero.system.errors import FrontendError

# The index of a column that stands for the whole line of a file, and the one for its number.
_WHOLE_LINE, _LINE_NUMBER = -2, -1


_MAX_FILE_BYTES = 1 << 28


@dataclass(frozen=True)
class TableHandle(Handle):
    """A hash table, by its name.

    ``value_shape``: the shape of one value. ``is_mutable``: whether it is empty, not invalid, before it is initialized.
    ``reserved``: keys that stand for entries without a value.
    """

    name: str
    key_type: Type
    value_type: Type
    value_shape: tuple[int, ...] = ()
    is_mutable: bool = False
    reserved: tuple[int | float | str, ...] = ()


# The keys [n] and the values [n, …] of a table.
Contents = tuple[np.ndarray, np.ndarray]


class Tables:
    """The contents of a model's tables by name, as the nodes that are translated one after the other change them.

    ``restored``: the contents of mutable tables in the checkpoint.
    """

    def __init__(self, restored: Mapping[str, Contents]) -> None:
        self._restored = restored
        self._contents: dict[str, Contents] = {}
        self._initial: dict[str, Contents] = {}
        self._read: set[str] = set()

    def keep_initial(self) -> None:
        """Make the present contents those at the start of the model."""
        self._initial = dict(self._contents)

    def restart(self) -> None:
        """Return to the contents at the start of the model."""
        self._contents = dict(self._initial)
        self._read.clear()

    def read(self, table: TableHandle) -> Contents:
        """Return the keys and the values of a table. Raises FrontendError if it is not initialized."""
        self._read.add(table.name)
        return self._current(table)

    def _current(self, table: TableHandle) -> Contents:
        if table.name in self._contents:
            return self._contents[table.name]
        if table.name in self._restored:
            self.initialize(table, *self._restored[table.name])
            return self._contents[table.name]
        if not table.is_mutable:
            raise FrontendError(f"table '{table.name}' is not initialized by constants or a file of the model")
        keys, values = (kind.to_dtype() for kind in (table.key_type, table.value_type))
        return np.zeros(0, keys), np.zeros((0, *table.value_shape), values)

    def initialize(self, table: TableHandle, keys: np.ndarray, values: np.ndarray) -> None:
        """Replace the contents of a table. Raises FrontendError if there is not one value for each key."""
        shape = (keys.size, *table.value_shape)
        if values.size != math.prod(shape):
            raise FrontendError(f"table '{table.name}' has {keys.size} keys, but values of shape {list(values.shape)}")
        keys, values = keys.reshape(-1), values.reshape(shape)
        if table.reserved:
            is_used = ~np.isin(keys, table.reserved)
            keys, values = keys[is_used], values[is_used]
        self._contents[table.name] = keys, values

    def insert(self, table: TableHandle, keys: np.ndarray, values: np.ndarray) -> None:
        """Add keys to a table; the last value of a key counts. Raises FrontendError if the model has read it before."""
        old_keys, old_values = self._unread(table)
        values = values.reshape(keys.size, *table.value_shape)
        keys, values = np.concatenate([old_keys, keys.reshape(-1)]), np.concatenate([old_values, values])
        unique, from_end = np.unique(keys[::-1], return_index=True)
        self.initialize(table, unique, values[::-1][from_end])

    def _unread(self, table: TableHandle) -> Contents:
        if table.name in self._read:
            # In its next inference the model would read other contents.
            raise FrontendError(f"table '{table.name}' is changed after it is read, which is not supported")
        return self._current(table)

    def remove(self, table: TableHandle, keys: np.ndarray) -> None:
        """Remove keys from a table. Raises FrontendError if the model has read it before."""
        present, values = self._unread(table)
        is_kept = ~np.isin(present, keys)
        self.initialize(table, present[is_kept], values[is_kept])


def read_table_file(
    file: Companion, table: TableHandle, key_index: int, value_index: int, delimiter: str, size: int
) -> Contents:
    """Return the keys and values in the first ``size`` lines of a text file, all if it is -1. Raises FrontendError."""
    data, path = file.map(), file.path
    if len(data) > _MAX_FILE_BYTES:
        raise FrontendError(f"the file {path} is larger than {_MAX_FILE_BYTES} bytes")
    lines = decode_text(data).splitlines()
    lines = lines if size < 0 else lines[:size]
    return (
        _column(lines, key_index, delimiter, table.key_type, path),
        _column(lines, value_index, delimiter, table.value_type, path),
    )


def _column(lines: list[str], index: int, delimiter: str, element_type: Type, path: Path) -> np.ndarray:
    if index == _LINE_NUMBER:
        return np.arange(len(lines)).astype(element_type.to_dtype())
    texts = lines if index == _WHOLE_LINE else [_part(line, index, delimiter, path) for line in lines]
    try:
        return np.array(texts, np.str_).astype(element_type.to_dtype())
    except ValueError as error:
        raise FrontendError(f"the file {path} has a text where a number should be: {error}") from error


def _part(line: str, index: int, delimiter: str, path: Path) -> str:
    parts = line.split(delimiter)
    if not 0 <= index < len(parts):
        raise FrontendError(f"the file {path} has a line without a column {index}")
    return parts[index]


_OF_TENSORS = ("MutableHashTableOfTensors", "MutableHashTableOfTensorsV2")


_DENSE = ("MutableDenseHashTable", "MutableDenseHashTableV2")


@translator("HashTable", "HashTableV2", "MutableHashTable", "MutableHashTableV2", *_OF_TENSORS, *_DENSE)
def hash_table(node: TensorflowNodeContext) -> Values:
    """Inputs of a dense table: the key of an empty entry and that of a deleted one."""
    value_shape = node.get_attribute("value_shape", PartialShape([]))
    reserved: list[int | float | str] = []
    for index in range(node.get_input_size()):
        key = constant_input(node, index, "empty_key or deleted_key")
        if key.ndim:
            raise FrontendError("keys that are tensors are not supported: they must be scalars")
        reserved.append(key.item())
    return TableHandle(
        node.resource_name,
        node.get_attribute("key_dtype"),
        node.get_attribute("value_dtype"),
        value_shape.to_shape(),
        node.get_op_type().startswith("Mutable"),
        tuple(reserved),
    )


def _table(node: TensorflowNodeContext) -> TableHandle:
    handle = node.get_handle(0)
    if not isinstance(handle, TableHandle):
        raise FrontendError("input 0 must be a table")
    return handle


@translator("LookupTableImport", "LookupTableImportV2", "InitializeTable", "InitializeTableV2")
def initialize(node: TensorflowNodeContext) -> Values:
    keys, values = constant_input(node, 1, "keys"), constant_input(node, 2, "values")
    node.tables.initialize(_table(node), keys, values)
    return []


@translator("LookupTableInsert", "LookupTableInsertV2")
def insert(node: TensorflowNodeContext) -> Values:
    """Add constants; each inference must insert the same ones."""
    _refuse_in_body(node)
    keys, values = constant_input(node, 1, "keys"), constant_input(node, 2, "values")
    node.tables.insert(_table(node), keys, values)
    return []


@translator("LookupTableRemoveV2")
def remove(node: TensorflowNodeContext) -> Values:
    _refuse_in_body(node)
    node.tables.remove(_table(node), constant_input(node, 1, "keys"))
    return []


def _refuse_in_body(node: TensorflowNodeContext) -> None:
    if isinstance(node.variables, BodyVariables):
        raise FrontendError("a table that a branch or a loop changes is not supported")


@translator("InitializeTableFromTextFile", "InitializeTableFromTextFileV2")
def initialize_from_file(node: TensorflowNodeContext) -> Values:
    table, file = _table(node), node.asset(1)
    columns = node.get_attribute("key_index"), node.get_attribute("value_index")
    delimiter, size = node.get_attribute("delimiter", "\t"), node.get_attribute("vocab_size", -1)
    node.tables.initialize(table, *read_table_file(file, table, *columns, delimiter, size))
    return []


@translator("LookupTableFind", "LookupTableFindV2")
def find(node: TensorflowNodeContext) -> Translation:
    """Strings are compared with each key of the table, numbers are searched in the sorted keys."""
    keys, values = node.tables.read(_table(node))
    queries, default = node.get_input(1), node.get_input(2)
    if not len(keys):
        return ops.Broadcast(default, ops.Concat([ops.ShapeOf(queries), int64(values.shape[1:])], 0))
    if keys.dtype.kind != "U":
        order = np.argsort(keys, kind="stable")
        keys, values = keys[order], values[order]
        index = ops.Minimum(ops.SearchSorted(keys, queries, False, Type.i64), int64(len(keys) - 1)).output(0)
        is_present = ops.Equal(ops.Gather(keys, index, int64(0)), queries).output(0)
    else:
        matches = ops.Equal(ops.Unsqueeze(queries, int64([-1])), Constant(keys))
        # The index of the first match: TopK keeps the order of equal elements.
        top = ops.TopK(ops.Convert(matches, Type.i32), int64(1), -1, "max", "value", Type.i64, True)
        is_present = ops.ReduceLogicalOr(matches, int64([-1]), False).output(0)
        index = ops.Squeeze(top.output(1), int64([-1])).output(0)
    if values.ndim > 1:
        is_present = ops.Unsqueeze(is_present, int64(range(1 - values.ndim, 0))).output(0)
    return ops.Select(is_present, ops.Gather(values, index, int64(0)), default)


@translator("LookupTableSize", "LookupTableSizeV2")
def size(node: TensorflowNodeContext) -> Translation:
    return int64(len(node.tables.read(_table(node))[0]))
