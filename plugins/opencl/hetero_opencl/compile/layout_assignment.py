"""Layout assignment: choose an implementation for each operation so that kernels and conversions take the least time.

Each operation has choices with a cost and the layouts they read and write; a value that is written in one layout and
read in another one is converted. Dynamic programming in topological order, and back, is exact on trees. Where values
have several readers the cost of what is before is split between these, and the assignment is then improved operation
by operation until nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hetero.graph import Node, Output
from hetero_opencl.lowering.implementation import ROWS, Choice, Layout

# Returns the seconds for converting a value from one layout to another.
ConversionCost = Callable[[Output, Layout, Layout], float]

# Maximum number of times that all choices are reconsidered.
_MAX_SWEEPS = 8


def assign_layouts(choices: Mapping[Node, Sequence[Choice]], conversion_cost: ConversionCost) -> dict[Node, Choice]:
    """Return the choice for each operation.

    ``choices`` are in topological order. Values that none of these operations computes or reads are in rows.
    """
    return _Assignment(choices, conversion_cost).run()


class _Assignment:
    def __init__(self, choices: Mapping[Node, Sequence[Choice]], conversion_cost: ConversionCost) -> None:
        self._choices, self._conversion_cost = choices, conversion_cost
        self._costs: dict[tuple[Output, Layout, Layout], float] = {}
        self._readers = {
            node: [(target.node, target.index) for output in node.outputs() for target in output.get_target_inputs()]
            for node in choices
        }
        self._chosen: dict[Node, Choice] = {}

    def run(self) -> dict[Node, Choice]:
        # The least seconds of a choice with all that is before it, for each choice of each operation.
        least: dict[Node, list[float]] = {}
        for node, options in self._choices.items():
            least[node] = [option.seconds + self._cheapest_sources(node, option, least) for option in options]
        for node in reversed(list(self._choices)):
            self._choose(node, node.outputs(), least[node])
        for _ in range(_MAX_SWEEPS):
            if not any([self._improve(node) for node, options in self._choices.items() if len(options) > 1]):
                break
        return self._chosen

    def _cheapest_sources(self, node: Node, option: Choice, least: Mapping[Node, Sequence[float]]) -> float:
        total = 0.0
        for value, layout in zip(node.input_values(), option.signature.inputs):
            source = value.node
            if source not in self._choices:
                total += self._conversion(value, ROWS, layout)
                continue
            share = 1 / max(1, len(self._readers[source]))
            total += min(
                before * share + self._conversion(value, other.signature.output, layout)
                for before, other in zip(least[source], self._choices[source])
            )
        return total

    def _improve(self, node: Node) -> bool:
        """Take the best choice for the present ones of all neighbors; return whether it is another one."""
        before = self._chosen[node]
        values = dict.fromkeys((*node.input_values(), *node.outputs()))
        self._choose(node, list(values), [option.seconds for option in self._choices[node]])
        return self._chosen[node] is not before

    def _choose(self, node: Node, values: Sequence[Output], costs: Sequence[float]) -> None:
        """Take the choice with the least sum of its cost and the conversions of values."""
        seconds = []
        for option, cost in zip(self._choices[node], costs):
            self._chosen[node] = option
            seconds.append(cost + sum(map(self._conversions, values)))
        self._chosen[node] = self._choices[node][seconds.index(min(seconds))]

    def _conversions(self, value: Output) -> float:
        """Return the seconds of the conversions of a value, each once for all readers of a layout."""
        written = self._chosen[value.node].signature.output if value.node in self._chosen else ROWS
        layouts = {self._read(target.node, target.index) for target in value.get_target_inputs()}
        return sum(self._conversion(value, written, layout) for layout in layouts)

    def _read(self, node: Node, index: int) -> Layout:
        return self._chosen[node].signature.inputs[index] if node in self._chosen else ROWS

    def _conversion(self, value: Output, written: Layout, read: Layout) -> float:
        key = value, written, read
        if key not in self._costs:
            self._costs[key] = self._conversion_cost(*key)
        return self._costs[key]
