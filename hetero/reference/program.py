"""Program: a Model prepared for repeated numpy evaluation, as a list of steps and one slot per value."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetero.errors import DeviceError
from hetero.graph import Constant, Model, Node, Output, Parameter, Result
from hetero.reference.registry import Array, Run, Runner, VariableValues, make_runner, to_dtypes


@dataclass(frozen=True)
class Step:
    """One operation: the slots that it reads and writes, and those that no later step reads."""

    node: Node
    run: Runner
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    dtypes: tuple[np.dtype | None, ...]
    frees: tuple[int, ...]


class Program:
    """The steps of a Model. It has no state of a run, so several runs may be active at once.

    Raises UnsupportedOperationError if the reference cannot evaluate an operation, including those in bodies.
    """

    def __init__(self, model: Model) -> None:
        order = _assignments_last(model.get_ordered_ops())
        slots: dict[Output, int] = {}
        for node in order:
            for output in node.outputs():
                slots[output] = len(slots)
        self.input_slots = [slots[port] for port in model.inputs]
        self.output_slots = [slots[result.input_value(0)] for result in model.results]
        self._values: list[Any] = [None] * len(slots)  # arrays of Constants
        for node in order:
            if isinstance(node, Constant):
                # Memory-mapped tensors may be at any address, but numpy's gemm is fast only on aligned arrays.
                self._values[slots[node.output(0)]] = np.require(node.data, requirements=["ALIGNED"])
        self._constants = {id(array) for array in self._values if array is not None}
        self.steps = self._schedule(order, slots)

    def is_constant(self, array: Array) -> bool:
        """Return whether an array is that of a Constant of the model, which must not be written to."""
        return id(array) in self._constants

    @np.errstate(all="ignore")  # infinities and NaN are valid results
    def run(
        self,
        inputs: Iterable[Array],
        variables: VariableValues,
        observe: Callable[[Node, float], None] | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> list[Array]:
        """Return the outputs for these inputs: new arrays, or views of inputs, constants and contents of variables.

        ``variables`` are read and written; ``observe`` is called with every operation and its time in seconds.
        ``check`` is called before each operation and each iteration of a body, and may raise to end the run.
        Raises DeviceError if an operation fails on its inputs.
        """
        return self.run_nested(inputs, Run(variables, check), observe)

    def run_nested(
        self, inputs: Iterable[Array], run: Run, observe: Callable[[Node, float], None] | None = None
    ) -> list[Array]:
        """Run a body within the run of another Program, which has already silenced numpy's warnings."""
        values = self._values.copy()
        for slot, array in zip(self.input_slots, inputs):
            values[slot] = array
        started = time.perf_counter() if observe else 0.0
        for step in self.steps:
            run.check()
            try:
                results = step.run(run, *[values[slot] for slot in step.reads])
                results = to_dtypes(results, step.dtypes)
            except (ValueError, IndexError, TypeError, ArithmeticError, MemoryError) as error:
                # Problems that shape inference cannot detect while shapes are dynamic.
                name, kind = step.node.friendly_name, step.node.type_info.name
                raise DeviceError(f"{kind} '{name}' cannot run on these inputs: {error}") from error
            for slot, array in zip(step.writes, results):
                values[slot] = array
            for slot in step.frees:
                values[slot] = None
            if observe:
                ended = time.perf_counter()
                observe(step.node, ended - started)
                started = ended
        return [values[slot] for slot in self.output_slots]

    def _schedule(self, order: Sequence[Node], slots: dict[Output, int]) -> list[Step]:
        kept = {*self.input_slots, *self.output_slots}
        steps: list[Step] = []
        # In reverse order, so that the first reader of a slot found is the last one to run, and frees the slot.
        for node in reversed(order):
            if not isinstance(node, (Parameter, Constant, Result)):
                reads = tuple(slots[value] for value in node.input_values())
                writes = tuple(slots[output] for output in node.outputs())
                frees = tuple((set(reads) | set(writes)) - kept)
                run, dtypes = make_runner(node)
                steps.append(Step(node, run, reads, writes, dtypes, frees))
                kept |= set(reads)
        steps.reverse()
        return steps


def _assignments_last(order: Sequence[Node]) -> list[Node]:
    """Move all Assign nodes and their dependents to the end, so that variables are read before they are set."""
    last: set[Node] = set()
    for node in order:
        if node.type_info.name == "Assign" or any(value.node in last for value in node.input_values()):
            last.add(node)
    return [*(node for node in order if node not in last), *(node for node in order if node in last)]
