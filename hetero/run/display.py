"""Human-readable reports: tables on a terminal, plain text elsewhere."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from hetero.dispatch.devices import parse_device_name
from hetero.run.benchmark import Benchmark
from hetero.run.calibrate import Calibration
from hetero.run.comparison.differences import Difference
from hetero.run.comparison.search import DeviceComparison
from hetero.run.devices import DeviceInfo, DeviceList, OperationQuery
from hetero.run.model_files import Progress as OnProgress
from hetero.run.model_writing import Compilation, Conversion
from hetero.run.new_plugin import NewPlugin
from hetero.run.report.page import WrittenPage
from hetero.run.tune import Tuning
from hetero.run.yaml_runs.runner import ModelReport, OperationTime, PlacementInfo, RunReport
from hetero.system.messages import escaped

# Maximum number of rows in the tables of subgraphs and of reasons.
MAX_SUBGRAPHS = 20
MAX_REASONS = 20
# Titles of columns that are aligned to the right.
_NUMBERS = {
    "ms", "transfers (ms)", "value", "inputs", "outputs", "max error", "relative error", "after operations", "requests",
    "inferences", "compile (s)", "first", "median", "p90", "p99", "per second", "ratio",
}  # fmt: skip


class _EscapingConsole(Console):
    """A console that escapes all strings: lines, titles and table cells."""

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(escaped(text), **options)


def make_console() -> Console:
    """Return a console for standard output that escapes control characters and ignores markup in text."""
    width = None if sys.stdout.isatty() else 120
    return _EscapingConsole(markup=False, highlight=False, emoji=False, width=width)


@contextmanager
def progress_bar() -> Iterator[OnProgress]:
    """Show a progress bar on standard error if it is a terminal. Yields ``progress(text, done, total)``."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("")

        def show(text: str, done: int, total: int) -> None:
            bar.update(task, description=escaped(text), completed=done, total=total)
            bar.refresh()

        yield show


def show_device_list(console: Console, report: DeviceList) -> None:
    """Print a table of the devices, and the details of each."""
    show_devices(console, report.devices, report.unavailable)
    for kind in sorted({device.faster_type for device in report.devices} - {""}):
        names = ", ".join(device.name for device in report.devices if device.faster_type == kind)
        gain = f"computes f32 models in {kind}; hetero benchmark measures what that gains"
        _line(console, f"{names}: EXECUTION_MODE_HINT=PERFORMANCE {gain}")
    _show_details(console, report.devices)


def show_new_plugin(console: Console, report: NewPlugin) -> None:
    """Print what to do with the new package."""
    _line(console, f"{report.folder}: pip install -e '{report.folder}[test]', and read its README.md")


def show_devices(console: Console, devices: Sequence[DeviceInfo], unavailable: Mapping[str, str]) -> None:
    """Print a table of the devices, and the unavailable ones with the reasons."""
    rows = [(d.name, d.full_name, d.type, ", ".join(d.capabilities)) for d in devices]
    _print_table(console, ("device", "name", "type", "capabilities"), rows)
    _show_unavailable(console, unavailable)


def _show_unavailable(console: Console, unavailable: Mapping[str, str]) -> None:
    for name, reason in unavailable.items():
        _line(console, f"not available: {name} ({reason})")


def _show_details(console: Console, devices: Sequence[DeviceInfo]) -> None:
    """Print the property DEVICE_DETAILS of each device."""
    for device in devices:
        if device.details:
            table = Table(box=None, show_header=False, pad_edge=False, title=device.name, title_justify="left")
            table.title_style = "bold"
            for name, text in device.details.items():
                table.add_row(f"  {name}", text)
            console.print(table)
            console.print()


def show_query(console: Console, operations: Sequence[OperationQuery], everything: bool) -> None:
    """Print operations by device and type, or each one (``everything``), with the reasons of unsupported ones."""
    if everything:
        rows = [(o.name, o.type_name, o.device or f"none: {o.refused}") for o in operations]
        _print_table(console, ("operation", "type", "device"), rows)
    else:
        counts: dict[str, Counter[str]] = {}
        for o in operations:
            counts.setdefault(o.device or f"none: {o.refused}", Counter())[o.type_name] += 1
        rows = [(device, str(types.total()), _counts(types)) for device, types in counts.items()]
        _print_table(console, ("device", "operations", "types"), rows)
    supported = sum(o.device is not None for o in operations)
    _line(console, f"{supported} of {len(operations)} operations can run")


def show_compilation(console: Console, report: Compilation) -> None:
    """Print the placement of a compiled model, and its file."""
    if report.placement:
        _show_placement(console, report.placement)
    size = f"{report.byte_size / 1e6:.1f} MB, compiled in {report.compile_seconds:.2f} s"
    _line(console, f"written: {report.file}, for {report.device}, {size}")


def show_conversion(console: Console, report: Conversion) -> None:
    """Print the files of a converted model, and what became of its weights."""
    if layers := report.weights:
        counts = Counter(layer.mode.partition("_")[0] for layer in layers)
        kinds = " and ".join(f"{count} in {mode}" for mode, count in sorted(counts.items()))
        before, after = (sum(sizes) / 1e6 for sizes in zip(*((x.bytes_before, x.bytes_after) for x in layers)))
        worst = max(layers, key=lambda layer: layer.error)
        _line(console, f"weights: {before:.1f} MB became {after:.1f} MB, {kinds}")
        _line(console, f"largest error: {worst.error:.1%} of the weights '{worst.name}' ({worst.mode})")
    _line(console, f"written: {' and '.join(report.files)}, {report.operations} operations")


def show_report(console: Console, page: WrittenPage) -> None:
    """Print the summary of a report page, and its file."""
    _line(console, page.report.summary)
    _line(console, f"written: {page.file}")


def show_run(console: Console, report: RunReport) -> None:
    """Print the report of a run: first the outputs, then how each model ran, and which devices it could not use."""
    for model in report.models:
        for output in model.outputs:
            _SHOW_OUTPUT[output["kind"]](console, output)
    for model in report.models:
        console.print()
        _show_model(console, model)
    wanted = {parse_device_name(name).kind for model in report.models for name in re.split("[:,]", model.device)}
    _show_unavailable(console, {name: why for name, why in report.unavailable.items() if name in wanted})


def _show_model(console: Console, report: ModelReport) -> None:
    size = "compiled" if report.operations is None else f"{report.operations} operations"
    _line(console, f"{Path(report.model).name}: {size} on {report.device}")
    if report.placement:
        _show_placement(console, report.placement)
    if report.slowest:
        _show_slowest(console, report.slowest)
    _show_times(console, report)


def show_calibration(console: Console, calibration: Calibration) -> None:
    """Print the slowest operations on each device, and the time of an inference for each placement."""
    shapes = ", ".join(f"{name} {shape}" for name, shape in calibration.input_shapes.items())
    _line(console, f"measured with {shapes}")
    devices = list(dict.fromkeys(device for o in calibration.operations for device in o.milliseconds))
    columns = ("slowest operations", "type", "MIN_CUT", *(f"ms on {device}" for device in devices))
    rows = []
    for o in calibration.operations:
        times = (_ms(o.milliseconds[d]) if d in o.milliseconds else "cannot run it" for d in devices)
        rows.append((o.name, o.type_name, o.device, *times))
    _print_table(console, columns, rows)
    for placement, milliseconds in calibration.milliseconds.items():
        _line(console, f"{placement}: {_ms(milliseconds)} ms")
    _line(console, f"MIN_CUT: {calibration.summary}")


def show_tuning(console: Console, report: Tuning) -> None:
    """Print what tuning gained, and where the results are."""
    ratio = report.milliseconds_before / report.milliseconds
    before, after = _ms(report.milliseconds_before), _ms(report.milliseconds)
    speed = f"{ratio:.2f} times as fast" if abs(ratio - 1) > report.noise else "no difference beyond the noise"
    times = f"an inference takes {after} ms; it took {before} ms before"
    _line(console, f"{times}: {speed} (times vary by {report.noise:.0%})")
    _line(console, f"{report.operations or 'no more'} operations measured, in {report.file}")
    if report.is_default:
        _line(console, f"later compilations for {report.device} use it; delete the file to undo that")
    else:
        _line(console, f"compilations use it with --property TUNING_FILE={report.file}")


def show_benchmark(console: Console, report: Benchmark) -> None:
    """Print latencies and throughput of each device, and with PERF_COUNT its subgraphs and slowest operations."""
    shapes = ", ".join(f"{name} {shape}" for name, shape in report.input_shapes.items())
    _line(console, f"{report.model}, api {report.api}, {shapes}")
    rows = []
    for row in report.measurements:
        latencies = (row.compile_seconds, row.first, row.median, row.p90, row.p99)
        speed = (f"{row.throughput:.1f}", f"{row.ratio:.2f}")
        rows.append((row.device, str(row.requests), str(row.inferences), *map(_ms, latencies), *speed))
    times = ("compile (s)", "first", "median", "p90", "p99")
    _print_table(console, ("device", "requests", "inferences", *times, "per second", "ratio"), rows)
    _line(console, "latencies in ms; ratio: how many times as fast as the first device")
    for row in report.measurements:
        if row.faster_type:
            gain = f"{row.faster_ratio:.2f} times as fast in {row.faster_type}, which is less exact"
            _line(console, f"{row.device}: --property EXECUTION_MODE_HINT=PERFORMANCE is {gain}")
    for row in report.measurements:
        if row.slowest:
            _line(console, row.device)
            if row.placement:
                _show_placement(console, row.placement)
            _show_slowest(console, row.slowest)


def show_comparison(console: Console, report: DeviceComparison) -> None:
    """Print the differences of the outputs, how the error grows, and what causes it."""
    title = f"{report.model}: {report.operations} operations on {report.device}, compared with {report.reference}"
    _line(console, f"{title}; inputs: {report.sample}; tolerance {report.tolerance:g}")
    errors, elements = ("max error", "relative error"), ("at", report.device, report.reference)
    rows: list[Sequence[str]] = [(error.value, *_errors(error), *_elements(error)) for error in report.outputs]
    _print_table(console, ("output", *errors, *elements), rows)
    if report.growth:
        rows = [(str(c.operations), c.operation, *_errors(c.difference), c.difference.value) for c in report.growth]
        _print_table(console, ("after operations", "the last of which is", *errors, "in the value"), rows)
    if report.own_errors:
        rows = [(o.name, o.type_name, *_errors(o.difference), *_elements(o.difference)) for o in report.own_errors]
        _print_table(console, ("operation alone", "type", *errors, *elements), rows)
    _line(console, "the outputs agree" if report.agrees and not report.conclusion else report.conclusion)
    _line(console, f"{report.runs} runs")
    if report.reproducer:
        _line(console, f"written: {', '.join(report.reproducer)}; the difference alone:")
        _line(console, report.command)


def _errors(difference: Difference) -> tuple[str, str]:
    return f"{difference.max_error:.2g}", f"{difference.relative_error:.2g}"


def _elements(difference: Difference) -> tuple[str, str, str]:
    """Return where the largest error is, and the elements there, or why there is none."""
    place = difference.problem or ("" if difference.index is None else str(difference.index))
    return place, difference.found or "", difference.expected or ""


def _show_placement(console: Console, placement: PlacementInfo) -> None:
    _line(console, placement.summary)
    columns = {
        "ms": [s.milliseconds for s in placement.subgraphs if s.milliseconds is not None],
        "transfers (ms)": [s.transfer_milliseconds for s in placement.subgraphs if s.transfer_milliseconds is not None],
    }
    times_by_column = {column: times for column, times in columns.items() if len(times) == len(placement.subgraphs)}
    rows = []
    for index, s in enumerate(placement.subgraphs[:MAX_SUBGRAPHS]):
        times = [_ms(times[index]) for times in times_by_column.values()]
        rows.append((str(s.index), s.device, str(s.operations), str(s.inputs), str(s.outputs), *times))
    rest = placement.subgraphs[MAX_SUBGRAPHS:]
    if rest:
        times = [_ms(sum(times[MAX_SUBGRAPHS:])) for times in times_by_column.values()]
        rows.append((f"{len(rest)} more", "", str(sum(s.operations for s in rest)), "", "", *times))
    _print_table(console, ("subgraph", "device", "operations", "inputs", "outputs", *times_by_column), rows)
    if placement.reasons:
        shown = sorted(placement.reasons, key=lambda r: -sum(r.types.values()))[:MAX_REASONS]
        reasons = [(r.device, r.reason, _counts(r.types)) for r in shown]
        if len(placement.reasons) > len(shown):
            reasons.append(("", f"{len(placement.reasons) - len(shown)} more reasons: see PLACEMENT_REPORT", ""))
        _print_table(console, ("device", "reason", "operations"), reasons)


def _show_slowest(console: Console, operations: Sequence[OperationTime]) -> None:
    rows = [(o.name, o.type_name, o.execution, _ms(o.milliseconds)) for o in operations]
    _print_table(console, ("slowest operations", "type", "execution", "ms"), rows)


def _show_times(console: Console, report: ModelReport) -> None:
    what = "first run" if report.inferences == 1 else f"first run, of {report.inferences} inferences"
    rows = [
        ("read", f"{report.read_seconds:.2f} s"),
        ("compile", f"{report.compile_seconds:.2f} s"),
        (what, f"{_ms(report.first_milliseconds)} ms"),
    ]
    if (count := len(report.milliseconds)) > 1:
        low, high = min(report.milliseconds), max(report.milliseconds)
        steady = f"{_ms(median(report.milliseconds))} ms, the median of {count}, from {_ms(low)} to {_ms(high)}"
        rows.append(("each later run", steady))
    if report.transfer_milliseconds is not None:
        rows.append(("of a run, transfers", f"{_ms(report.transfer_milliseconds)} ms"))
    for name, text in rows:
        _line(console, f"{name + ':':<{max(len(name) for name, _ in rows) + 2}}{text}")


def _show_summary(console: Console, output: Mapping[str, Any]) -> None:
    line = f"{output['output']}: {output['type']} {output['shape']}"
    if "min" in output:
        line += f", from {output['min']:.6g} to {output['max']:.6g}, mean {output['mean']:.6g}"
    _line(console, line)


def _show_top_k(console: Console, output: Mapping[str, Any]) -> None:
    has_items = any(row["item"] for row in output["rows"])
    rows = []
    for row in output["rows"]:
        label = str(row["index"]) if row["label"] is None else row["label"]
        rows.append((*([str(row["item"])] if has_items else []), label, f"{row['value']:.4f}"))
    _print_table(console, (*(["item"] if has_items else []), output["output"], "value"), rows)


def _show_segments(console: Console, output: Mapping[str, Any]) -> None:
    rows = [(f"{row['start']:.2f}", f"{row['end']:.2f}", f"{row['highest']:.4f}") for row in output["rows"]]
    _print_table(console, ("from (s)", "to (s)", "highest value"), rows)


def _show_notes(console: Console, output: Mapping[str, Any]) -> None:
    numbers = ("start", "end", "strength")
    rows = [(row["name"], *(f"{row[key]:.2f}" for key in numbers)) for row in output["rows"]]
    _print_table(console, ("note", "from (s)", "to (s)", "strength"), rows)


_SHOW_OUTPUT: dict[str, Callable[[Console, Mapping[str, Any]], None]] = {
    "summary": _show_summary,
    "top_k": _show_top_k,
    "ctc": lambda console, output: _line(console, f"text: {output['text']} ({output['confidence']:.1%})"),
    "segments": _show_segments,
    "notes": _show_notes,
    "file": lambda console, output: _line(console, f"written: {output['file']}"),
}


def _print_table(console: Console, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        is_number = column.startswith("ms on ") or column in _NUMBERS
        table.add_column(column, justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _line(console: Console, text: str) -> None:
    console.print(text, soft_wrap=True)


def _counts(types: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(types.items(), key=lambda item: -item[1]))


def _ms(milliseconds: float) -> str:
    return f"{milliseconds:.2f}"
