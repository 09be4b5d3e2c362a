"""Resource variables and hash tables. A resource handle becomes a string constant with the resource's name."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length
from hetero.graph import Constant, Output
from hetero.ops.values import exact_value
from hetero.system.errors import FrontendError


@translator("VAR_HANDLE")
def variable_handle(node: TfliteNodeContext) -> Translation:
    container, name = node.get_attribute("container"), node.get_attribute("shared_name")
    return Constant(np.array(f"{container}/{name}" if container else name))


@translator("READ_VARIABLE")
def read_variable(node: TfliteNodeContext) -> Translation:
    return node.variables.read(_name(node))


@translator("ASSIGN_VARIABLE")
def assign_variable(node: TfliteNodeContext) -> Translation:
    node.variables.assign(_name(node), node.get_input(1))
    return []


@translator("HASHTABLE")
def hash_table(node: TfliteNodeContext) -> Translation:
    return Constant(np.array(str(node.get_attribute("table_id"))))


@translator("HASHTABLE_IMPORT")
def fill_hash_table(node: TfliteNodeContext) -> Translation:
    node.tables[_name(node)] = node.get_input(1), node.get_input(2)
    return []


@translator("HASHTABLE_FIND")
def find_in_hash_table(node: TfliteNodeContext) -> Translation:
    keys, values = _table(node)
    default = ops.Reshape(node.get_input(2), np.zeros(0, np.int64), False)
    return ops.LabelEncoder(node.get_input(1), keys, values, default)


@translator("HASHTABLE_SIZE")
def hash_table_size(node: TfliteNodeContext) -> Translation:
    keys, _ = _table(node)
    return ops.Unsqueeze(axis_length(keys, 0), np.int64(0))


def _name(node: TfliteNodeContext) -> str:
    """Return the name of the resource whose handle is input 0. Raises FrontendError if the handle is not constant."""
    name = exact_value(node.get_input(0))
    if name is None:
        raise FrontendError("its resource handle, input 0, must be constant")
    return str(name)


def _table(node: TfliteNodeContext) -> tuple[Output, Output]:
    """Return the keys and the values of the hash table whose handle is input 0. Raises FrontendError if it is empty."""
    name = _name(node)
    if name not in node.tables:
        raise FrontendError(f"hash table {name} is never filled")
    return node.tables[name]
