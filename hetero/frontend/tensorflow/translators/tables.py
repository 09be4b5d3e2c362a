"""Hash tables: their contents are constants, and a lookup compares the keys."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.frontend.tensorflow.handles import Values
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.tensorflow.tables import TableHandle, read_table_file
from hetero.frontend.tensorflow.variables import BodyVariables
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import constant_input, int64
from hetero.graph import Constant
from hetero.system.errors import FrontendError

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
    table, path = _table(node), node.asset_path(1)
    columns = node.get_attribute("key_index"), node.get_attribute("value_index")
    delimiter, size = node.get_attribute("delimiter", "\t"), node.get_attribute("vocab_size", -1)
    node.tables.initialize(table, *read_table_file(path, table, *columns, delimiter, size))
    return []


@translator("LookupTableFind", "LookupTableFindV2")
def find(node: TensorflowNodeContext) -> Translation:
    """Strings are compared with each key of the table, numbers are searched in the sorted keys."""
    keys, values = node.tables.read(_table(node))
    wanted, default = node.get_input(1), node.get_input(2)
    if not len(keys):
        return ops.Broadcast(default, ops.Concat([ops.ShapeOf(wanted), int64(values.shape[1:])], 0))
    if keys.dtype.kind != "U":
        order = np.argsort(keys, kind="stable")
        keys, values = keys[order], values[order]
        index = ops.Minimum(ops.SearchSorted(keys, wanted, False, Type.i64), int64(len(keys) - 1)).output(0)
        found = ops.Equal(ops.Gather(keys, index, int64(0)), wanted).output(0)
    else:
        matches = ops.Equal(ops.Unsqueeze(wanted, int64([-1])), Constant(keys))
        # The index of the first match: TopK keeps the order of equal elements.
        top = ops.TopK(ops.Convert(matches, Type.i32), int64(1), -1, "max", "value", Type.i64, True)
        found = ops.ReduceLogicalOr(matches, int64([-1]), False).output(0)
        index = ops.Squeeze(top.output(1), int64([-1])).output(0)
    if values.ndim > 1:
        found = ops.Unsqueeze(found, int64(range(1 - values.ndim, 0))).output(0)
    return ops.Select(found, ops.Gather(values, index, int64(0)), default)


@translator("LookupTableSize", "LookupTableSizeV2")
def size(node: TensorflowNodeContext) -> Translation:
    return int64(len(node.tables.read(_table(node))[0]))
