"""Constant folding: values that depend on no input are computed when the model is compiled."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hetero import ops
from hetero.core.containers import ContainerType
from hetero.graph import Constant, Input, Model, Node, Op, Output, Parameter, Result, is_constant
from hetero.graph.rt_info import copy_rt_info
from hetero.ops.checks import is_exact
from hetero.ops.control_flow.bodies import MISSING_BODY
from hetero.ops.control_flow.control_flow import SubGraphOp
from hetero.ops.convolution import CONVOLUTIONS
from hetero.ops.work_estimate import assumed_shape, bytes_of, work_of
from hetero.passes.compression.compressed_weights import fold_compressed_weights, stays_compressed
from hetero.passes.manager import keeps_values
from hetero.reference import evaluate, has_evaluate
from hetero.system.errors import HeteroError
from hetero.system.mapped_file import release_pages

# A result that is larger than its inputs is folded only up to this many bytes.
MAX_GROWN_BYTES = 1 << 20
# The budget of folding: bytes on top of the model's Constants, and arithmetic operations.
BYTES, BYTES_PER_NODE = 1 << 20, 1 << 15
OPERATIONS, OPERATIONS_PER_NODE = 2 * 10**9, 10**7
# The least cost of running one operation of a body, in arithmetic operations: about 10 microseconds.
BODY_OVERHEAD = 10**5


class FoldingBudget:
    """The bytes that folding may add to a graph, and the arithmetic operations that it may take.

    The bytes grow with the number of nodes and the size of the Constants, the operations with the number of nodes, so a
    small file cannot make compilation expensive. Operations that exceed the budget stay in the graph and run at
    inference. A result may be up to ``growth`` times as large as the inputs of the operation, or MAX_GROWN_BYTES bytes.
    With a ``growth`` above 1, it may also be ``growth`` times as large as the largest Constant: each block of weights
    has one scale, which is repeated.
    """

    def __init__(self, nodes: Sequence[Node], growth: int = 1) -> None:
        arrays = {id(node.contents): node.decoded_bytes for node in nodes if isinstance(node, Constant)}
        self._growth = growth
        self._most_grown = max(MAX_GROWN_BYTES, growth * max(arrays.values(), default=0) if growth > 1 else 0)
        self._bytes = BYTES + BYTES_PER_NODE * len(nodes) + growth * sum(arrays.values())
        self._operations: float = OPERATIONS + OPERATIONS_PER_NODE * len(nodes)

    def spend(self, node: Node) -> bool:
        """Return whether a node that reads only Constants can be folded, and subtract its cost from the budget."""
        sources = {source.node for source in node.input_values() if isinstance(source.node, Constant)}
        read = sum(source.decoded_bytes for source in sources)
        written = sum(bytes_of(output, {output: assumed_shape(output.partial_shape)}) for output in node.outputs())
        is_known = all(output.partial_shape.is_static for output in node.outputs())
        if is_known and written > self._growth * read and written > self._most_grown:
            return False
        # The result replaces Constants that no other node reads.
        freed = sum(s.decoded_bytes for s in sources if all(t.node is node for t in s.output(0).get_target_inputs()))
        added, operations = written - freed, _operations_of(node)
        if added > self._bytes or operations > self._operations:
            return False
        self._bytes -= added
        self._operations -= operations
        return True


def _operations_of(node: Node) -> float:
    """Return the arithmetic operations of a node; infinity if the number of iterations of a body is unknown."""
    if MISSING_BODY in node.bodies:
        return math.inf
    if isinstance(node, SubGraphOp):
        count = node.get_num_iterations()
        return count * _operations_of_body(node.body) if count >= 0 else math.inf
    if node.bodies:
        return max(map(_operations_of_body, node.bodies))
    shapes = {value: assumed_shape(value.partial_shape) for value in (*node.input_values(), *node.outputs())}
    return work_of(node, shapes).operations


def _operations_of_body(body: Model) -> float:
    return sum(BODY_OVERHEAD + _operations_of(node) for node in body.get_ordered_ops())


@keeps_values
def fold_constants(model: Model) -> bool:
    """Replace values that depend on Constants alone, or on static shapes, by Constants.

    Operations that exceed the FoldingBudget or cannot be evaluated stay, and so do those that dequantize weights of
    products and tables, see ``stays_compressed``. Ensures: types and shapes are inferred.
    """
    changed = False
    sinks, order = set(model.sinks), model.get_ordered_ops()
    budget = FoldingBudget(order)
    for node in order:
        if isinstance(node, (Parameter, Constant)):
            continue
        # What an undeclared attribute or a body changes is not noted.
        if node.bodies or not (isinstance(node, Op) and node.is_declared() and node.is_inferred()):
            node.infer()
        if isinstance(node, Result):
            continue
        if not stays_compressed(node):
            changed |= fold_node(node, budget)
        if node not in sinks and not any(output.get_target_inputs() for output in node.outputs()):
            node.disconnect()
    return changed


def constant_nodes(order: Sequence[Node]) -> set[Node]:
    """Return the operations that depend on Constants alone, in a model given in topological order."""
    constant: set[Node] = set()
    for node in order:
        sources = [value.node for value in node.input_values()]
        if sources and node.deterministic and all(source in constant or is_constant(source) for source in sources):
            constant.add(node)
    return constant


def fold_node(node: Node, budget: FoldingBudget) -> bool:
    """Replace the known outputs of a node by Constants, and return whether there were any."""
    changed = False
    for output, array in zip(node.outputs(), _known_outputs(node, budget)):
        if array is not None and output.get_target_inputs():
            name = node.friendly_name if node.get_output_size() == 1 else f"{node.friendly_name}.{output.index}"
            constant = Constant(array, name=name)
            copy_rt_info([node], constant)
            output.replace(constant.output(0))
            changed = True
    return changed


def _known_outputs(node: Node, budget: FoldingBudget) -> Sequence[np.ndarray | None]:
    exact = [_exact_array(output) for output in node.outputs()]
    if all(array is not None for array in exact):
        return exact
    sources = [value.node for value in node.input_values() if isinstance(value.node, Constant)]
    if not node.deterministic or any(isinstance(output.element_type, ContainerType) for output in node.outputs()):
        return exact  # a Constant cannot hold a container
    if not sources or len(sources) < node.get_input_size() or not has_evaluate(node) or not budget.spend(node):
        return exact
    arrays = [source.data for source in sources]
    try:
        return evaluate(node, arrays)
    except (HeteroError, ValueError, IndexError, TypeError, ArithmeticError, MemoryError):
        return exact  # the same error is raised at inference, where the user sees it
    finally:
        for array in arrays:
            release_pages(array)


def _exact_array(output: Output) -> np.ndarray | None:
    """Return the value of an output in its element type, which may be narrower; None if it is not fully known."""
    value = output.value
    return None if not is_exact(value) else value.astype(output.element_type.to_dtype(), copy=False)


# The operations that read weights, and rearrange them for their kernels once if they are Constants.
_READERS = (*CONVOLUTIONS, ops.MatMul, ops.RNNSequence, ops.GRUSequence, ops.LSTMSequence)
# Bytes of f32 per byte of four-bit integers.
_GROWTH = 8


def fold_weights(model: Model) -> bool:
    """Fold weights of convolutions, MatMuls and recurrent operations that are computed from Constants.

    Takes more memory, but a device would compute and rearrange them again in every inference. Integer weights of
    operations on integers stay, except those of convolutions, which inspect their filters when they are compiled.
    """
    budget, weights = FoldingBudget(model.get_ordered_ops(), _GROWTH), _weights(model)
    return any([fold_node(node, budget) for node in weights])


def with_folded_weights(model: Model, takes_compressed: bool = False) -> Model:
    """Return a copy of the model with folded weights, see ``fold_weights``, or the model if it has none to fold.

    A device keeps the model itself for export, as it is smaller. ``takes_compressed``: whether the device reads weights
    of ``fold_compressed_weights``.
    """
    if not _weights(model):
        return model
    copy = model.clone()
    if takes_compressed:
        fold_compressed_weights(copy)
    fold_weights(copy)
    return copy


def _weights(model: Model) -> list[Node]:
    """Return the operations that compute weights from Constants, in topological order."""
    order = model.get_ordered_ops()
    constant, weights = constant_nodes(order), set[Node]()
    for node in reversed(order):
        targets = (target for output in node.outputs() for target in output.get_target_inputs())
        if node in constant and any(target.node in weights or _is_weight(target) for target in targets):
            weights.add(node)
    return [node for node in order if node in weights]


def _is_weight(target: Input) -> bool:
    if not isinstance(target.node, _READERS):
        return False
    return isinstance(target.node, CONVOLUTIONS) or target.get_element_type().is_real()
