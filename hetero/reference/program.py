"""Program: a model prepared for evaluation with numpy, and the evaluation of single operations."""

from __future__ import annotations

import time
from collections import ChainMap
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from hetero.core.tensor import Tensor
from hetero.core.types import Type
from hetero.graph import Constant, Model, Node, Output, is_terminal
from hetero.ops.control_flow.variables import AssignV3, assigned_variables
from hetero.reference.registry import (
    Array,
    Run,
    Runner,
    UncancelledRun,
    VariableValues,
    evaluate,
    make_runner,
    to_dtypes,
)
from hetero.system.errors import ArgumentTypeError, DeviceError, TensorError


class EvaluationStep(NamedTuple):
    """One operation: what it reads of the slots, the slots that it writes, and those that no later step reads."""

    node: Node
    run: Runner
    read: Callable[[list[Any]], Sequence[Array]]
    writes: tuple[int, ...]
    dtypes: tuple[np.dtype | None, ...]
    frees: tuple[int, ...]


class Program:
    """The steps of a Model or a body. It has no state of a run, so several runs may be active at once.

    All operations read the contents that variables had when the run of their graph began. What Assigns set, and bodies
    of operations, takes effect when the run ends: first that of bodies, in the order of the operations.

    Raises UnsupportedOperationError if the reference cannot evaluate an operation, including those in bodies.
    """

    def __init__(self, model: Model) -> None:
        order = model.get_ordered_ops()
        slots = {port: index for index, port in enumerate(model.inputs)}
        for node in order:
            for output in node.outputs():
                slots.setdefault(output, len(slots))
        output_slots = [slots[result.input_value(0)] for result in model.results]
        values: list[Any] = [None] * len(slots)
        for node in order:
            if isinstance(node, Constant):
                # Memory-mapped tensors may be at any address, but numpy's gemm is fast only on aligned arrays. A view,
                # so that no result that owns its memory is a constant.
                values[slots[node.output(0)]] = np.require(node.data, requirements=["ALIGNED"]).view()
        self._after_inputs = values[len(model.inputs) :]  # the values at the start of a run, without the inputs
        self._assigned = {
            node.variable_id: slots[node.input_value(0)] for node in order if isinstance(node, AssignV3)
        }  # the last Assign of a variable counts
        self._has_assigning_bodies = any(node.bodies and assigned_variables([node]) for node in order)
        kept = {*range(len(model.inputs)), *output_slots, *self._assigned.values()}
        self.steps = _schedule(order, slots, kept)
        self._outputs = _picker(output_slots)

    def run(
        self, inputs: Iterable[Array], run: Run, observe: Callable[[Node, float], None] | None = None
    ) -> Sequence[Array]:
        """Return the outputs for these inputs: new arrays, inputs, or views of inputs, constants and variables.

        ``observe`` is called with every operation and its time in seconds. Raises DeviceError if an operation fails on
        its inputs. The caller silences numpy's warnings, as infinities and NaN are valid results.
        """
        values = [*inputs, *self._after_inputs]
        changes: VariableValues = {}  # by bodies
        if self._has_assigning_bodies:
            run = _Scope(run, run.variables, changes)
        started = time.perf_counter() if observe else 0.0
        for node, runner, read, writes, dtypes, frees in self.steps:
            run.check_cancelled()
            try:
                results = runner(run, *read(values))
                if type(results) is np.ndarray and results.dtype is dtypes[0]:
                    values[writes[0]] = results
                else:
                    for slot, array in zip(writes, to_dtypes(results, dtypes)):
                        values[slot] = array
            except (ValueError, IndexError, TypeError, ArithmeticError, MemoryError) as error:
                # Problems that shape inference cannot detect while shapes are dynamic.
                name, kind = node.friendly_name, node.type_info.name
                raise DeviceError(f"{kind} '{name}' cannot run on these inputs: {error}") from error
            for slot in frees:
                values[slot] = None
            if observe:
                ended = time.perf_counter()
                observe(node, ended - started)
                started = ended
        if changes:
            run.variables.update(changes)
        if self._assigned:
            for name, slot in self._assigned.items():
                # Copied, as the array may be an input's memory or become an output's.
                run.variables[name] = values[slot].copy()
        return self._outputs(values)


def _schedule(order: Sequence[Node], slots: dict[Output, int], kept: set[int]) -> list[EvaluationStep]:
    """Return the steps of operations in this order. The slots ``kept`` are never freed."""
    steps: list[EvaluationStep] = []
    # In reverse order, so that the first reader of a slot found is the last one to run, and frees the slot.
    for node in reversed(order):
        if not is_terminal(node):
            reads = [slots[value] for value in node.input_values()]
            writes = tuple(slots[output] for output in node.outputs())
            frees = tuple({*reads, *writes} - kept)
            run, dtypes = make_runner(node)
            if node.bodies and assigned_variables([node]):
                run = _in_scope(run)
            steps.append(EvaluationStep(node, run, _picker(reads), writes, dtypes, frees))
            kept.update(reads)
    steps.reverse()
    return steps


def _picker(slots: Sequence[int]) -> Callable[[list[Any]], Sequence[Any]]:
    """Return a function of a list that returns its items in these slots, faster than a loop over the slots."""
    if len(slots) > 1:
        return itemgetter(*slots)
    return itemgetter(slice(slots[0], slots[0] + 1) if slots else slice(0))


class _Scope:
    """A run with other contents of variables; ``changes`` is what bodies of the graph set, for the end of its run."""

    def __init__(self, run: Run, variables: VariableValues, changes: VariableValues) -> None:
        self.variables, self.check_cancelled, self.changes = variables, run.check_cancelled, changes


def _in_scope(runner: Runner) -> Runner:
    """Return the runner of an operation whose bodies assign variables: only they read what they set before."""

    def run_node(graph: _Scope, *arrays: Array) -> Any:
        changes: VariableValues = {}
        results = runner(_Scope(graph, ChainMap(changes, graph.variables), changes), *arrays)
        graph.changes.update(changes)
        return results

    return run_node


def evaluate_node(node: Node, outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> bool:
    """Compute the outputs of a node. Raises TensorError if tensors do not fit, and UnsupportedOperationError."""
    name = f"{node.type_info.name} '{node.friendly_name}'"
    _check(name, "inputs", inputs, node.input_values())
    _check_count(name, "outputs", outputs, node.outputs())
    _write(evaluate(node, [tensor.array for tensor in inputs]), outputs)
    return True


def evaluate_model(model: Model, outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> bool:
    """Compute the outputs of a model. Raises TensorError if tensors do not fit, and UnsupportedOperationError."""
    name = f"model '{model.friendly_name}'"
    _check(name, "inputs", inputs, model.inputs)
    _check_count(name, "outputs", outputs, model.outputs)
    with np.errstate(all="ignore"):  # infinities and NaN are valid results
        _write(Program(model).run([tensor.array for tensor in inputs], UncancelledRun()), outputs)
    return True


def _check(name: str, kind: str, tensors: Sequence[Tensor], ports: Sequence[Output]) -> None:
    _check_count(name, kind, tensors, ports)
    for index, (tensor, port) in enumerate(zip(tensors, ports)):
        if not isinstance(tensor, Tensor):
            raise ArgumentTypeError(f"{name}: its {kind} are Tensors, not {type(tensor).__name__}")
        kinds = {port.element_type, tensor.element_type} - {Type.dynamic}
        if not port.admits(tensor.shape) or len(kinds) > 1:
            expected, found = f"{port.element_type}{port.partial_shape}", f"{tensor.element_type}{list(tensor.shape)}"
            raise TensorError(f"{name}: tensor {index} of its {kind} must be {expected}, but is {found}")


def _check_count(name: str, kind: str, tensors: Sequence[Tensor], ports: Sequence[Output]) -> None:
    if len(tensors) != len(ports):
        raise TensorError(f"{name} has {len(ports)} {kind}, but {len(tensors)} tensors are given")


def _write(arrays: Sequence[np.ndarray], outputs: Sequence[Tensor]) -> None:
    for array, tensor in zip(arrays, outputs):
        tensor.copy_from(array)
