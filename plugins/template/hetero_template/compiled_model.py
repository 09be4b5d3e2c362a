"""The compiled model: the operations in the order in which they run, with a slot for every value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hetero.graph import Constant, Model, Node, Output, Parameter, Result
from hetero.plugin import CompiledModel
from hetero.properties import PropertyTable
from hetero_template.infer_request import TemplateInferRequest


@dataclass(frozen=True)
class Step:
    """One operation: the slots that it reads and writes, and those that nobody reads after it."""

    node: Node
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    frees: tuple[int, ...]


class TemplateCompiledModel(CompiledModel):
    def __init__(self, model: Model, transformed: Model, properties: PropertyTable) -> None:
        super().__init__(model, properties)
        slots: dict[Output, int] = {}
        for node in transformed.get_ordered_ops():
            for output in node.outputs():
                slots[output] = len(slots)
        self.slot_count = len(slots)
        self.input_slots = [slots[port] for port in transformed.inputs]
        self.output_slots = [slots[result.input_value(0)] for result in transformed.results]
        self.constants: dict[int, np.ndarray] = {}
        self.steps = self._schedule(transformed, slots)

    def create_sync_infer_request(self) -> TemplateInferRequest:
        return TemplateInferRequest(self)

    def _schedule(self, model: Model, slots: dict[Output, int]) -> list[Step]:
        kept = {*self.input_slots, *self.output_slots}
        steps: list[Step] = []
        # From the end to the start: the first reader met is the last to run, and frees what it read.
        for node in reversed(model.get_ordered_ops()):
            if isinstance(node, Constant):
                # A tensor read in place may lie at any address; numpy multiplies matrices fast only when aligned.
                self.constants[slots[node.output(0)]] = np.require(node.data, requirements=["ALIGNED"])
            elif not isinstance(node, (Parameter, Result)):
                reads = tuple(slots[value] for value in node.input_values())
                writes = tuple(slots[output] for output in node.outputs())
                frees = (set(reads) | set(writes)) - kept
                steps.append(Step(node, reads, writes, tuple(frees)))
                kept |= set(reads)
        steps.reverse()
        return steps
