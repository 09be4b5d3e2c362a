"""Program: a Model prepared to be run many times with numpy, its operations in order and a slot for every value."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hetero.errors import DeviceError
from hetero.graph import Constant, Model, Node, Output, Parameter, Result
from hetero.reference.registry import Run, Runner, VariableValues, in_types, make_runner


@dataclass(frozen=True)
class Step:
    """One operation: the slots that it reads and writes, and those that nobody reads after it."""

    node: Node
    run: Runner
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    dtypes: tuple[np.dtype | None, ...]
    frees: tuple[int, ...]


class Program:
    """The steps of a Model. It holds nothing of a run, so that several may be under way at once.

    Raises UnsupportedOperationError where the reference does not know an operation, also within bodies.
    """

    def __init__(self, model: Model) -> None:
        order = _assignments_last(model.get_ordered_ops())
        slots: dict[Output, int] = {}
        for node in order:
            for output in node.outputs():
                slots[output] = len(slots)
        self.input_slots = [slots[port] for port in model.inputs]
        self.output_slots = [slots[result.input_value(0)] for result in model.results]
        self._values: list[np.ndarray | None] = [None] * len(slots)
        for node in order:
            if isinstance(node, Constant):
                # A tensor read in place may lie at any address; numpy multiplies matrices fast only when aligned.
                self._values[slots[node.output(0)]] = np.require(node.data, requirements=["ALIGNED"])
        self._constants = {id(array) for array in self._values if array is not None}
        self.steps = self._schedule(order, slots)

    def is_constant(self, array: np.ndarray) -> bool:
        """Whether an array is that of a Constant of the model, which nobody may write to."""
        return id(array) in self._constants

    @np.errstate(all="ignore")  # infinities and NaN are values here
    def run(
        self,
        inputs: Iterable[np.ndarray],
        variables: VariableValues,
        observe: Callable[[Node, float], None] | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> list[np.ndarray]:
        """The outputs for these inputs: in new memory, or inputs, constants and contents of variables, or views.

        ``variables`` are read and written; ``observe`` is called with every operation and its seconds. ``check``
        is called before each operation and each iteration of a body, and may raise to end the run.
        Raises DeviceError where an operation cannot run on what it gets.
        """
        return self.run_again(inputs, Run(variables, check), observe)

    def run_again(
        self,
        inputs: Iterable[np.ndarray],
        run: Run,
        observe: Callable[[Node, float], None] | None = None,
    ) -> list[np.ndarray]:
        """As ``run``, for a body: within the run of another Program, which has silenced numpy's warnings."""
        values = self._values.copy()
        for slot, array in zip(self.input_slots, inputs):
            values[slot] = array
        started = time.perf_counter() if observe else 0.0
        for step in self.steps:
            run.check()
            try:
                results = step.run(run, *[values[slot] for slot in step.reads])
                results = in_types(results, step.dtypes)
            except (ValueError, IndexError, TypeError, ArithmeticError, MemoryError) as error:
                # What shape inference could not see before the shapes were known.
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
        # From the end to the start: the first reader met is the last to run, and frees what it read.
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
    """The order with all that sets variables, and what reads from that, behind all else: first they are read."""
    late: set[Node] = set()
    for node in order:
        if node.type_info.name == "Assign" or any(value.node in late for value in node.input_values()):
            late.add(node)
    return [*(node for node in order if node not in late), *(node for node in order if node in late)]
