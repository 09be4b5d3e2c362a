"""Operators that run other graphs: IF, WHILE, CALL, CALL_ONCE and composites; resource variables and hash tables.

A resource handle becomes a string constant with the resource's name.
"""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.frontend.tflite.node_context import TfliteNodeContext, rows, translator
from hetero.frontend.translation.control_flow import Branch, translate_if, translate_while
from hetero.frontend.translation.subgraph import Subgraph
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import axis_length
from hetero.graph import Constant, Output, constant_array
from hetero.ops.checks import exact_value
from hetero.system.errors import FrontendError

rows(
    {
        # The called graph, for a composite its decomposition, is inlined.
        **dict.fromkeys(
            ("CALL", "STABLEHLO_COMPOSITE"), lambda node: node.get_subgraph(0).inline(node.get_inputs(), node.name)
        ),
        "READ_VARIABLE": lambda node: node.variables.read(_name(node)),
        "HASHTABLE": lambda node: Constant(np.array(str(node.get_attribute("table_id")))),
        "HASHTABLE_SIZE": lambda node: ops.Unsqueeze(axis_length(_table(node)[0], 0), np.int64(0)),
    }
)


@translator("STABLEHLO_CUSTOM_CALL")
def custom_call(node: TfliteNodeContext) -> Translation:
    """Raise FrontendError: only an extension can know what a custom call computes."""
    target = node.get_attribute("call_target_name")
    raise FrontendError(f"it calls '{target}', for which there is no extension: add a ConversionExtension of this name")


@translator("CALL_ONCE")
def call_once(node: TfliteNodeContext) -> Translation:
    """Initialize variables and hash tables by the called graph."""
    with node.variables.initializing():
        node.get_subgraph(0).inline([], node.name)
    return []


@translator("IF")
def if_operator(node: TfliteNodeContext) -> Translation:
    """Both graphs take all inputs except the condition. A variable that either assigns becomes an output of both."""
    condition, *inputs = node.get_inputs()
    graphs = [node.get_subgraph(0), node.get_subgraph(1)]
    for graph in graphs:
        _check_counts(graph, len(inputs), node.get_output_size())
    known = constant_array(condition)
    if known is not None:
        return graphs[0 if known.item() else 1].inline(inputs, node.name)
    branches = [Branch(graph.translate_into, graph.input_names, graph.name) for graph in graphs]
    return translate_if(condition, branches, inputs, node.variables)


@translator("WHILE", "STABLEHLO_WHILE")
def while_operator(node: TfliteNodeContext) -> Translation:
    """Translate to a Loop. The condition is computed before the Loop and at the end of its body.

    Variables that the body assigns become inputs and outputs of the Loop.
    """
    condition, step = node.get_subgraph(0), node.get_subgraph(1)
    inputs = node.get_inputs()
    _check_counts(condition, len(inputs), 1)
    _check_counts(step, len(inputs), node.get_output_size())
    # Resource handles are the same in all iterations.
    carried = [index for index in range(len(inputs)) if node.input_tensor(index).kind != "RESOURCE"]
    return translate_while(condition, step, inputs, carried, node.variables, node.name)


def _check_counts(graph: Subgraph, inputs: int, outputs: int) -> None:
    """Raise FrontendError if a graph has another number of inputs or outputs."""
    graph.check_input_count(inputs)
    if graph.output_count != outputs:
        raise FrontendError(f"its graph '{graph.name}' has {graph.output_count} outputs, but {outputs} are needed")


@translator("VAR_HANDLE")
def variable_handle(node: TfliteNodeContext) -> Translation:
    container, name = node.get_attribute("container"), node.get_attribute("shared_name")
    return Constant(np.array(f"{container}/{name}" if container else name))


@translator("ASSIGN_VARIABLE")
def assign_variable(node: TfliteNodeContext) -> Translation:
    node.variables.assign(_name(node), node.get_input(1))
    return []


@translator("HASHTABLE_IMPORT")
def fill_hash_table(node: TfliteNodeContext) -> Translation:
    node.tables[_name(node)] = node.get_input(1), node.get_input(2)
    return []


@translator("HASHTABLE_FIND")
def find_in_hash_table(node: TfliteNodeContext) -> Translation:
    keys, values = _table(node)
    default = ops.Reshape(node.get_input(2), np.zeros(0, np.int64), False)
    return ops.LabelEncoder(node.get_input(1), keys, values, default)


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
