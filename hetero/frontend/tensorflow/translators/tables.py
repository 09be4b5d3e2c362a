"""Hash tables: their contents are constants, and a lookup compares the keys."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.errors import FrontendError
from hetero.frontend.tensorflow.handles import Values
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.tensorflow.tables import TableHandle, read_table_file
from hetero.frontend.translation import Translation
from hetero.frontend.values import constant_input, int64
from hetero.graph import Constant
from hetero.types import Type


@translator("HashTable", "HashTableV2", "MutableHashTable", "MutableHashTableV2")
def hash_table(node: TensorflowNodeContext) -> Values:
    return TableHandle(node.resource_name, node.get_attribute("key_dtype"), node.get_attribute("value_dtype"))


def _table(node: TensorflowNodeContext) -> TableHandle:
    handle = node.get_handle(0)
    if not isinstance(handle, TableHandle):
        raise FrontendError("input 0 must be a table")
    return handle


@translator("LookupTableImport", "LookupTableImportV2", "InitializeTable", "InitializeTableV2")
def initialize(node: TensorflowNodeContext) -> Values:
    keys, values = constant_input(node, 1, "keys"), constant_input(node, 2, "values")
    node.tables[_table(node).name] = keys.reshape(-1), values.reshape(-1)
    return []


@translator("InitializeTableFromTextFile", "InitializeTableFromTextFileV2")
def initialize_from_file(node: TensorflowNodeContext) -> Values:
    table, path = _table(node), node.asset_path(1)
    columns = node.get_attribute("key_index"), node.get_attribute("value_index")
    delimiter = node.get_attribute("delimiter", "\t")
    node.tables[table.name] = read_table_file(path, table, *columns, delimiter, node.get_attribute("vocab_size", -1))
    return []


def _contents(node: TensorflowNodeContext) -> tuple[np.ndarray, np.ndarray]:
    name = _table(node).name
    if name not in node.tables:
        raise FrontendError(f"table '{name}' is not initialized by constants or a file of the model")
    return node.tables[name]


@translator("LookupTableFind", "LookupTableFindV2")
def find(node: TensorflowNodeContext) -> Translation:
    """Strings are compared with each key of the table, numbers are searched in the sorted keys."""
    keys, values = _contents(node)
    wanted, default = node.get_input(1), node.get_input(2)
    if not len(keys):
        return ops.Broadcast(default, ops.ShapeOf(wanted))
    if keys.dtype.kind != "U":
        order = np.argsort(keys, kind="stable")
        ordered = Constant(keys[order])
        index = ops.Minimum(ops.SearchSorted(ordered, wanted, False, Type.i64), int64(len(keys) - 1)).output(0)
        found = ops.Equal(ops.Gather(ordered, index, int64(0)), wanted).output(0)
        return ops.Select(found, ops.Gather(Constant(values[order]), index, int64(0)), default)
    matches = ops.Equal(ops.Unsqueeze(wanted, int64([-1])), Constant(keys))
    # The index of the first match: TopK keeps the order of equal elements.
    top = ops.TopK(ops.Convert(matches, Type.i32), int64(1), -1, "max", "value", Type.i64, True)
    found = ops.ReduceLogicalOr(matches, int64([-1]), False).output(0)
    chosen = ops.Gather(Constant(values), ops.Squeeze(top.output(1), int64([-1])), int64(0))
    return ops.Select(found, chosen, default)


@translator("LookupTableSize", "LookupTableSizeV2")
def size(node: TensorflowNodeContext) -> Translation:
    return int64(len(_contents(node)[0]))
