"""PlacementReport: the device of each operation and the reason, as the property PLACEMENT_REPORT.

``summary()`` is the line that is logged at level DEBUG when a model is compiled, and that commands show. ``str()`` is
the whole report. ``dataclasses.asdict`` converts it to data that JSON can hold.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from hetero.dispatch.placement.affinity import FIRST_DEVICE
from hetero.system.messages import escaped, get_logger
from hetero.system.notebook import paragraph, table

# A child of the device's logger, so that LOG_LEVEL applies to it.
log = get_logger("hetero.HETERO.placement")
# Maximum number of operation types that the summary names for a device.
MAX_NAMED = 5


@dataclass(frozen=True)
class OperationReport:
    """The placement of one operation, with the reason.

    ``subgraph`` is None if the operation was folded at compile time. ``work`` is its number of arithmetic operations,
    with assumed lengths for dynamic dimensions.
    """

    name: str
    type_name: str
    device: str
    reason: str
    subgraph: int | None
    work: float


@dataclass(frozen=True)
class SubgraphReport:
    """One subgraph: the names of its operations, and the number of values that cross its boundary.

    ``apart``: the operations of which the device would have joined some with operations outside, or moved them there,
    and that it transformed on their own instead. ``programs``: lines that say for which shapes the device has programs,
    if shapes are dynamic and the device reports that.
    """

    index: int
    device: str
    operations: tuple[str, ...]
    inputs: int
    outputs: int
    apart: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()


@dataclass(frozen=True)
class BoundaryReport:
    """A value that one subgraph writes and others read; ``byte_size`` is None if the shape depends on the data.

    ``memory`` is the memory that they share, or how often an inference copies the value.
    """

    value: str
    element_type: str
    shape: str
    byte_size: int | None
    source: int
    targets: tuple[int, ...]
    memory: str

    def __str__(self) -> str:
        to = ", ".join(map(str, self.targets))
        size = _bytes(self.byte_size)
        return f"'{self.value}' {self.element_type}{self.shape}, {size}: subgraph {self.source} to {to}, {self.memory}"


@dataclass(frozen=True)
class FailureReport:
    """Operations that a device supports but does not run, as it failed at them."""

    device: str
    operations: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class PlacementReport:
    """The placement of a model; ``devices`` are in the user's order."""

    model: str
    devices: tuple[str, ...]
    operations: tuple[OperationReport, ...]
    subgraphs: tuple[SubgraphReport, ...]
    boundaries: tuple[BoundaryReport, ...]
    failures: tuple[FailureReport, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """The number of operations on each device that has any, in the user's order."""
        counts = Counter(operation.device for operation in self.operations)
        return {device: counts[device] for device in self.devices if counts[device]}

    @property
    def elsewhere(self) -> list[OperationReport]:
        """The operations that are not on the first device, or are there for another reason than its rank."""
        first = self.devices[0]
        return [o for o in self.operations if o.device != first or o.reason != FIRST_DEVICE]

    def summary(self) -> str:
        """Return one line that begins with the user's first device, even if that runs no operation.

        ``GPU 171/180 operations (98.2% of the work) in 3 subgraphs; TEMPLATE 9 (1.8%): TopK, …; 4 boundaries, 1.2 MB an
        inference``
        """
        first, *others = self.devices
        counts = self.counts
        parts = [f"{first} {counts.get(first, 0)}/{counted(len(self.operations), 'operation')}"]
        share = self._shares()
        if first in counts:
            of_work = f" ({share[first]} of the work)" if share else ""
            parts[0] += f"{of_work} in {counted(sum(s.device == first for s in self.subgraphs), 'subgraph')}"
        for device in others:
            if device in counts:
                of_work = f" ({share[device]})" if share else ""
                parts.append(f"{device} {counts[device]}{of_work}: {self._types_on(device)}")
        if self.boundaries:
            parts.append(f"{counted(len(self.boundaries), 'boundary')}, {self._traffic()} an inference")
        return "; ".join(parts)

    def __str__(self) -> str:
        reasons = {o.name: f"{o.type_name} '{o.name}'" for o in self.operations}
        reasons |= {o.name: f"{o.type_name} '{o.name}' ({o.reason})" for o in self.elsewhere}
        lines = [f"'{self.model}' on {', '.join(self.devices)}: {self.summary()}"]
        for f in self.failures:
            lines.append(f"{f.device} is not used for {counted(len(f.operations), 'operation')}: {f.reason}")
        for s in self.subgraphs:
            ends = f"{counted(s.inputs, 'input')}, {counted(s.outputs, 'output')}"
            lines.append(f"subgraph {s.index} on {s.device}: {counted(len(s.operations), 'operation')}, {ends}")
            if s.apart:
                lines.append(f"  transformed apart, as fusions would cross the boundary: {', '.join(s.apart)}")
            lines += [f"  {program}" for program in s.programs]
            lines += [f"  {reasons[name]}" for name in s.operations]
        folded = [o.name for o in self.operations if o.subgraph is None]
        if folded:
            lines += [f"on no device: {counted(len(folded), 'operation')}", *(f"  {reasons[name]}" for name in folded)]
        return "\n".join(map(escaped, [*lines, *(f"boundary {boundary}" for boundary in self.boundaries)]))

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the summary, the subgraphs, and why operations are not on the first device."""
        types = {o.name: o.type_name for o in self.operations}
        parts = [
            (s.index, s.device, len(s.operations), _names(Counter(types[name] for name in s.operations)))
            for s in self.subgraphs
        ]
        reasons = Counter((o.device, o.reason) for o in self.elsewhere)
        shown = paragraph(self.summary()) + table(("subgraph", "device", "operations", "types"), parts)
        if reasons:
            rows = [(device, reason, count) for (device, reason), count in reasons.most_common()]
            shown += table(("device", "reason", "operations"), rows)
        return shown

    def _shares(self) -> dict[str, str]:
        """Return the part of the work on each device as a percentage, if several devices have work."""
        work: dict[str, float] = dict.fromkeys(self.counts, 0.0)
        for operation in self.operations:
            work[operation.device] += operation.work
        total = sum(work.values())
        return {device: _percent(part / total) for device, part in work.items()} if total and len(work) > 1 else {}

    def _types_on(self, device: str) -> str:
        return _names(Counter(o.type_name for o in self.operations if o.device == device))

    def _traffic(self) -> str:
        sizes = [b.byte_size for b in self.boundaries]
        known = _bytes(sum(size for size in sizes if size is not None))
        unknown = sizes.count(None)
        if not unknown:
            return known
        if unknown == len(sizes):
            return "of sizes that depend on the data,"
        return f"{known} and {unknown} of unknown size"


def _names(types: Counter[str]) -> str:
    """Return the most frequent types."""
    names = [name for name, _ in types.most_common()]
    return ", ".join(names[:MAX_NAMED]) + (", …" if len(names) > MAX_NAMED else "")


def _percent(part: float) -> str:
    """Format a ratio as a percentage that is 0% only for nothing and 100% only for everything."""
    text = f"{part:.1%}"
    if 0 < part < 1 and text in ("0.0%", "100.0%"):
        return "<0.1%" if part < 0.5 else ">99.9%"
    return text


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: ``1 boundary``, ``2 boundaries``."""
    plural = noun if count == 1 else f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count} {plural}"


def _bytes(count: int | None) -> str:
    if count is None:
        return "unknown size"
    if count < 1000:
        return counted(count, "byte")
    size = count / 1000
    for unit in ("kB", "MB"):
        if size < 1000:
            return f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
