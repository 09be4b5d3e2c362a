"""Comparison of two devices on one model: whether their outputs differ, and the operation that causes it.

The search bisects the cuts of the model. At each cut the tested device runs all operations before it in one piece as in
the whole model, and the values that cross the cut are compared with those of the reference device. So the search finds
the operation at which the error grows most. That operation then runs alone, on the reference's inputs: only if its
outputs differ beyond the tolerance, its own computation is wrong. Otherwise a second bisection looks for the shortest
piece that is wrong when it runs at once, such as operations that the device fuses.

The values at two cuts are in memory, not those of the whole model.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hetero import ops
from hetero.dispatch.cutting.parts import value_name
from hetero.dispatch.devices import ListedDevice
from hetero.graph import Model, Node, Output, port_name
from hetero.graph.unique_names import make_names_unique
from hetero.run.comparison.differences import Difference, difference, largest_difference
from hetero.run.comparison.pieces import Piece, Pieces, Values, taken_branch
from hetero.run.media.samples import Sample
from hetero.run.model_files import Progress, placement_log_muted
from hetero.runtime import CompiledModel, Core
from hetero.system.errors import HeteroError

# The error that rounding alone causes in f32; smaller errors are taken for it.
ROUNDING = 2.0**-23
# Number of operations in the table of --per-operation.
MAX_OPERATIONS = 15


@dataclass(frozen=True)
class CutError:
    """The largest difference of the values at a cut, after a number of operations, of which ``operation`` is last."""

    operations: int
    operation: str
    difference: Difference


@dataclass(frozen=True)
class OperationError:
    """The difference of an operation's outputs, if only this operation runs on the tested device."""

    name: str
    type_name: str
    difference: Difference


@dataclass
class DeviceComparison:
    """The result; ``agrees`` if no difference is beyond the tolerance.

    ``runs`` is the number of inferences, of the whole model or a piece, on both devices together.
    """

    model: str
    device: str
    reference: str
    tolerance: float
    operations: int
    sample: str = ""
    outputs: list[Difference] = field(default_factory=list)
    agrees: bool = True
    growth: list[CutError] = field(default_factory=list)
    # With --per-operation the largest errors of single operations, otherwise the operation that the search found.
    own_errors: list[OperationError] = field(default_factory=list)
    conclusion: str = ""
    runs: int = 0
    reproducer: list[str] = field(default_factory=list)
    command: str = ""


@dataclass(frozen=True)
class Found:
    """A piece that ran alone on the tested device, its inputs, and its largest difference."""

    piece: Piece
    inputs: list[np.ndarray]
    difference: Difference


class _Side:
    """One of the two devices."""

    def __init__(self, core: Core, name: str, properties: Mapping[str, Any]) -> None:
        self._core, self._properties = core, properties
        self.device = ListedDevice(name, *core.resolve_device(name))
        self.runs = 0

    def compile(self, model: Model) -> CompiledModel:
        with placement_log_muted():
            return self._core.compile_model(model, self.device.name, self._properties)

    def infer(self, compiled: CompiledModel, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Run once in a new request, in which variables have their initial values."""
        self.runs += 1
        return list(compiled.infer_new_request(list(inputs)).to_tuple())

    def run(self, piece: Piece, values: Values) -> dict[Output, np.ndarray]:
        if not piece.outputs:
            return {}
        arrays = self.infer(self.compile(piece.model), [values[value] for value in piece.inputs])
        return dict(zip(piece.outputs, arrays))


class Comparer:
    """Compares two devices on one model. ``found`` is the piece that shows the difference without the rest."""

    def __init__(
        self,
        core: Core,
        model: Model,
        device: str,
        reference: str,
        tolerance: float,
        properties: Mapping[str, Any],
        progress: Progress = lambda text, done, total: None,
    ) -> None:
        """``properties`` are those of the tested device only."""
        make_names_unique(model)
        self._core, self._model, self._properties = core, model, properties
        self._tolerance, self._progress = tolerance, progress
        self._pieces = Pieces(model)
        self._tested, self._reference = _Side(core, device, properties), _Side(core, reference, {})
        count = len(self._pieces.nodes)
        self.report = DeviceComparison(model.friendly_name, device, reference, tolerance, count)
        self.found: Found | None = None
        # The reference's values at the ends of the model and of the interval that is searched.
        self._at: dict[int, dict[Output, np.ndarray]] = {}
        # A bisection over n cuts takes two runs a step.
        self._expected_runs = 2 * math.ceil(math.log2(max(count, 2))) + 4

    def compare(self, samples: Sequence[Sample], per_operation: bool) -> DeviceComparison:
        """Compare the outputs for all samples, and search the cause of the largest error beyond the tolerance.

        ``per_operation``: run each operation alone instead, whether the outputs differ or not.
        """
        self._compare_outputs(samples)
        self.report.agrees = all(output.relative_error <= self._tolerance for output in self.report.outputs)
        try:
            if per_operation:
                self._compare_operations()
            elif self._pieces.nodes and not self.report.agrees:
                self._search()
        except HeteroError as error:
            # The devices ran the whole model, so the verdict stands.
            ended = f"the search ended, because a piece of the model cannot run: {error}"
            self.report.conclusion = "; ".join(filter(None, [self.report.conclusion, ended]))
        self.report.runs = self._tested.runs + self._reference.runs
        return self.report

    def _compare_outputs(self, samples: Sequence[Sample]) -> None:
        """Compare the outputs of the whole model, and keep the values of the sample with the largest error."""
        # The reference's values in the middle save the first run of the search.
        cuts = self._pieces.cuts
        middle = cuts[(len(cuts) - 1) // 2]
        inner = self._pieces.values_at(middle)
        self._report_progress("the outputs")
        tested, reference = self._tested.compile(self._model), self._reference.compile(self._pieces.with_outputs(inner))
        results = self._model.results
        worst = -1.0
        for sample in samples:
            computed = self._tested.infer(tested, sample.arrays)
            expected = self._reference.infer(reference, sample.arrays)
            differences = [
                difference(port_name(port), *arrays) for port, *arrays in zip(self._model.outputs, computed, expected)
            ]
            error = max((difference.relative_error for difference in differences), default=0.0)
            if error > worst:
                worst, self.report.sample, self.report.outputs = error, sample.name, differences
                self._at = {
                    len(self._pieces.nodes): {r.input_value(0): array for r, array in zip(results, expected)},
                    middle: dict(zip(inner, expected[len(results) :])),
                    0: dict(zip(self._model.inputs, sample.arrays)),
                }

    def _search(self) -> None:
        """Find the operation at which the error grows most, or else the shortest piece that is wrong by itself."""
        cuts = self._pieces.cuts
        worst = max(self.report.outputs, key=lambda output: output.relative_error)
        self.report.growth.append(CutError(cuts[-1], self._pieces.nodes[-1].friendly_name, worst))
        # Errors within the tolerance matter, because a later operation may enlarge them. But rounding in a short type
        # is a large step too, and then the search is repeated for the growth beyond the tolerance.
        searched = set()
        for floor in (ROUNDING, self._tolerance):
            high = self._largest_growth(floor)
            own = None if high in searched else self._run_alone(cuts[high - 1], cuts[high])
            searched.add(high)
            if own:
                self.report.own_errors.append(self._own_error(own))
            if own and self._is_wrong(own):
                self.found = own
                self.report.conclusion = (
                    f"{_named(own.piece.nodes[-1])}, operation {cuts[high]} of {cuts[-1]}, is the first that differs, "
                    f"and it differs by {own.difference.relative_error:.2g} if it runs alone on the inputs that it has "
                    f"on {self._reference.device.name}"
                )
                self._search_branch(own)
                return
        self._search_piece(high)

    def _largest_growth(self, floor: float) -> int:
        """Return the index of a cut at which the error is much larger than at the cut before, by bisection.

        Errors below ``floor`` count as ``floor``.
        """
        cuts = self._pieces.cuts
        low, high = 0, len(cuts) - 1
        before, after = floor, self._error_at(cuts[high])
        while high - low > 1:
            middle = (low + high) // 2
            error = self._error_at(cuts[middle])
            # The half in which the error grows by the larger factor.
            if min(error, 1.0) > math.sqrt(before * min(after, 1.0)):
                high, after = middle, error
            else:
                low, before = middle, max(error, floor)
            self._forget({cuts[low], cuts[high]})
        return high

    def _search_branch(self, own: Found) -> None:
        """If the found operation is an If, search the operations of the branch that it takes."""
        node = own.piece.nodes[-1]
        if not isinstance(node, ops.If):
            return
        model, inputs = taken_branch(node, own.piece, own.inputs)
        devices = (self.report.device, self.report.reference)
        inner = Comparer(self._core, model, *devices, self._tolerance, self._properties, self._progress)
        report = inner.compare([Sample(self.report.sample, inputs)], per_operation=False)
        self._tested.runs += report.runs
        if inner.found:
            self.found = inner.found
            self.report.own_errors += report.own_errors
            self.report.conclusion += f"; in the branch that it takes, {report.conclusion}"

    def _search_piece(self, end: int) -> None:
        """Find the last cut from which the operations up to cut ``end`` are wrong if they run at once."""
        cuts = self._pieces.cuts
        low, high = -1, end
        while high - low > 1:
            middle = (low + high) // 2
            piece = self._run_alone(cuts[middle], cuts[end], only_last=end < len(cuts) - 1)
            if piece and self._is_wrong(piece):
                low, self.found = middle, piece
            else:
                high = middle
            self._forget({cuts[max(low, 0)], cuts[end]})
        if self.found is None:
            self.report.conclusion = "only the whole model differs, and no piece of it does"
            return
        nodes = self.found.piece.nodes
        self.report.conclusion = (
            f"no operation differs beyond the tolerance by itself, but the {len(nodes)} operations from "
            f"{_named(nodes[0])} to {_named(nodes[-1])} together differ by {self.found.difference.relative_error:.2g}: "
            "the device may compute them as one, or small errors add up"
        )

    def _compare_operations(self) -> None:
        """Run each operation alone on the reference's inputs, and keep the largest errors and the first one."""
        errors: list[OperationError] = []
        for start, stop in itertools.pairwise(self._pieces.cuts):
            own = self._run_alone(start, stop)
            self._forget({stop})
            if own and own.difference.relative_error:
                errors.append(self._own_error(own))
                self.found = self.found or (own if self._is_wrong(own) else None)
        errors.sort(key=lambda error: -error.difference.relative_error)
        self.report.own_errors = errors[:MAX_OPERATIONS]
        count = sum(error.difference.relative_error > self._tolerance for error in errors)
        self.report.conclusion = (
            f"{count} of {len(self._pieces.nodes)} operations differ beyond the tolerance if they run alone"
        )
        if self.found:
            self.report.agrees = False
            self.report.conclusion += f"; the first is {_named(self.found.piece.nodes[-1])}"

    def _own_error(self, own: Found) -> OperationError:
        node = own.piece.nodes[-1]
        return OperationError(node.friendly_name, node.type_info.name, own.difference)

    def _is_wrong(self, piece: Found) -> bool:
        return piece.difference.relative_error > self._tolerance

    def _error_at(self, cut: int) -> float:
        """Compare the values at a cut after the tested device ran all operations before it, unless that was done."""
        for known in self.report.growth:
            if known.operations == cut:
                return known.difference.relative_error
        expected = self._reference_values(cut)
        self._report_progress(f"{cut} of {len(self._pieces.nodes)} operations")
        computed = self._tested.run(self._pieces.piece(0, cut, list(expected), self._tested.device), self._at[0])
        worst = largest_difference(_compare(computed, expected))
        if worst is None:
            return 0.0
        self.report.growth.append(CutError(cut, self._pieces.nodes[cut - 1].friendly_name, worst))
        self.report.growth.sort(key=lambda cut: cut.operations)
        return worst.relative_error

    def _run_alone(self, start: int, stop: int, only_last: bool = True) -> Found | None:
        """Run operations on the tested device alone, on the reference's inputs, and compare their outputs.

        ``only_last``: compare those of the last operation only. Returns None if nothing reads them.
        """
        values, expected = {**self._at[0], **self._reference_values(start)}, self._reference_values(stop)
        last = self._pieces.nodes[stop - 1]
        compared = {last} if only_last else {*self._pieces.nodes[start:stop]}
        self._report_progress(_named(last))
        outputs = [value for value in expected if value.node in compared]
        piece = self._pieces.piece(start, stop, outputs, self._tested.device)
        worst = largest_difference(_compare(self._tested.run(piece, values), expected))
        return Found(piece, [values[value] for value in piece.inputs], worst) if worst else None

    def _reference_values(self, cut: int) -> dict[Output, np.ndarray]:
        """Return the reference's values at a cut, computed from those at the last cut before it that are known."""
        if cut not in self._at:
            start = max(known for known in self._at if known < cut)
            values = {**self._at[0], **self._at[start]}
            needed = self._pieces.values_at(cut)
            missing = [value for value in needed if value not in values]
            values |= self._reference.run(self._pieces.piece(start, cut, missing, self._reference.device), values)
            self._at[cut] = {value: values[value] for value in needed}
        return self._at[cut]

    def _forget(self, kept: set[int]) -> None:
        """Release the reference's values at all cuts but these and the ends of the model."""
        kept = {0, len(self._pieces.nodes), *kept}
        self._at = {cut: values for cut, values in self._at.items() if cut in kept}

    def _report_progress(self, what: str) -> None:
        done = self._tested.runs + self._reference.runs
        self._progress(f"Comparing {what}", done, max(done + 1, self._expected_runs))


def _compare(computed: Values, expected: Values) -> list[Difference]:
    return [difference(value_name(value), array, expected[value]) for value, array in computed.items()]


def _named(node: Node) -> str:
    return f"{node.type_info.name} '{node.friendly_name}'"
