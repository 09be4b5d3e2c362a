"""The command ``hetero``. Errors of the user are one line on standard error, with exit code 2."""

from __future__ import annotations

import dataclasses
import enum
import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from hetero.errors import HeteroError
from hetero.messages import escaped

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from rich.console import Console

    from hetero.graph import Model
    from hetero.runtime import Core

    Report = TypeVar("Report", bound=DataclassInstance)

# The commands import the modules for YAML, tables and devices themselves, so that --help is fast.
app = typer.Typer(
    help="Run one neural network on several devices at once.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

plugin = typer.Typer(help="Create device packages.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(plugin, name="plugin")


class Api(enum.Enum):
    """How a benchmark runs inferences."""

    SYNC = "sync"
    ASYNC = "async"


Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Extensions = Annotated[
    list[str],
    typer.Option("--extension", metavar="FILE", help="A Python file of extensions, or a module. May be repeated."),
]
Shapes = Annotated[
    list[str],
    typer.Option("--shape", metavar="INPUT=1,3,224,224", help="The shape of an input. May be repeated."),
]
InputSource = Annotated[
    str,
    typer.Option("--inputs", metavar="FILE|FOLDER", help="An .npz, .npy or YAML file, or a folder. Random by default."),
]
Settings = Annotated[
    list[str], typer.Option("--property", metavar="KEY=VALUE", help="A property of the device. May be repeated.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]


def _print_schema(value: bool) -> None:
    if value:
        from hetero.run.config import json_schema

        print(json.dumps(json_schema(), indent=2))
        raise typer.Exit


@app.command()
def run(
    file: Annotated[Path, typer.Argument(help="The run, in YAML.", show_default=False)],
    settings: Annotated[
        list[str],
        typer.Option("--set", metavar="KEY=VALUE", help="Change an entry, such as device=CPU. May be repeated."),
    ] = [],  # noqa: B006
    as_json: Json = False,
    trace: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a trace of the run as JSON, for ui.perfetto.dev.", show_default=False),
    ] = None,
    schema: Annotated[
        bool,
        typer.Option(
            "--schema", help="Print the JSON Schema of runs, for editors.", is_eager=True, callback=_print_schema
        ),
    ] = False,
    debug: Debug = False,
) -> None:
    """Run one or several models as a YAML file describes, and report placement, outputs and times."""
    with _one_line_errors(debug):
        from hetero.run.config import load_config
        from hetero.run.display import progress_bar, show_run
        from hetero.run.runner import run as run_config
        from hetero.run.sources import refuse_overwriting, writable_file
        from hetero.tracing import Recorder

        config = load_config(file, settings)
        if trace:
            refuse_overwriting(
                [*config.files_written(), writable_file(str(trace), Path())], [file, *config.files_read()]
            )
        with progress_bar() as progress, Recorder() if trace else nullcontext() as recorder:
            report = run_config(config, progress)
        if recorder and trace:
            recorder.save(trace)
        _print_report(report, as_json, show_run)


@app.command()
def devices(as_json: Json = False, debug: Debug = False) -> None:
    """List the usable devices, and why others cannot be used."""
    with _one_line_errors(debug):
        from hetero.run.devices import find_devices
        from hetero.run.display import make_console, show_details, show_devices
        from hetero.runtime import Core

        core = Core()
        usable, unavailable = find_devices(core), core.unavailable_devices
        if as_json:
            report = {"devices": [dataclasses.asdict(d) for d in usable], "unavailable": unavailable}
            print(json.dumps(report, indent=2))
        else:
            console = make_console()
            show_devices(console, usable, unavailable)
            show_details(console, usable)


@app.command()
def query(
    model: Annotated[str, typer.Argument(help="A model file.", show_default=False)],
    device: Annotated[str, typer.Option("--device", "-d", help="A device string.", show_default=False)],
    extensions: Extensions = [],  # noqa: B006
    everything: Annotated[bool, typer.Option("--all", help="List every operation.")] = False,
    drawing: Annotated[
        str | None,
        typer.Option("--draw", metavar="FILE", help="Draw the operations by device, for Graphviz: a .dot file."),
    ] = None,
    debug: Debug = False,
) -> None:
    """List the operations of a model that a device supports, and why it rejects the others."""
    with _one_line_errors(debug):
        from hetero.run.devices import draw_operations, drawing_file, query_operations
        from hetero.run.display import make_console, progress_bar, show_query

        file = drawing_file(drawing) if drawing else None
        with progress_bar() as progress:
            core, network = _read_model(model, extensions, progress)
            progress(f"Querying {device}", 1, 2)
            operations = query_operations(core, network, device)
            if file:
                draw_operations(network, operations, device, file)
        show_query(make_console(), operations, everything)


@app.command()
def calibrate(
    model: Annotated[str, typer.Argument(help="A model file.", show_default=False)],
    device: Annotated[str, typer.Option("--device", "-d", help="Devices, as HETERO:A,B.", show_default=False)],
    shapes: Shapes = [],  # noqa: B006
    seconds: Annotated[float, typer.Option(help="Time to measure each device.", min=0)] = 10.0,
    folder: Annotated[
        str, typer.Option("--costs-dir", help="Folder for the measurements, as COSTS_DIR.", show_default=False)
    ] = "",
    extensions: Extensions = [],  # noqa: B006
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure a model's operations on each device, for PLACEMENT=MIN_CUT and PLACEMENT=PIPELINE."""
    with _one_line_errors(debug):
        from hetero.run import calibrate as calibration
        from hetero.run.display import progress_bar, show_calibration

        with progress_bar() as progress:
            core, network = _read_model(model, extensions, progress)
            inputs = calibration.example_inputs(network, calibration.parse_shapes(shapes))
            config = {"COSTS_DIR": folder}
            report = calibration.calibrate(core, network, device, inputs, config, seconds, progress)
        _print_report(report, as_json, show_calibration)


@app.command()
def tune(
    model: Annotated[str, typer.Argument(help="A model file.", show_default=False)],
    device: Annotated[str, typer.Option("--device", "-d", help="A device.", show_default=False)],
    shapes: Shapes = [],  # noqa: B006
    file: Annotated[
        str, typer.Option("--file", metavar="FILE", help="Where to keep the results, for the property TUNING_FILE.")
    ] = "",
    extensions: Extensions = [],  # noqa: B006
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure how a device runs a model's operations fastest, for later compilations."""
    with _one_line_errors(debug):
        from hetero.run import tune as tuning
        from hetero.run.calibrate import example_inputs, parse_shapes
        from hetero.run.display import progress_bar, show_tuning

        with progress_bar() as progress:
            core, network = _read_model(model, extensions, progress)
            report = tuning.tune(core, network, device, example_inputs(network, parse_shapes(shapes)), file, progress)
        _print_report(report, as_json, show_tuning)


@app.command()
def compare(
    model: Annotated[str, typer.Argument(help="A model file.", show_default=False)],
    device: Annotated[str, typer.Option("--device", "-d", help="The tested device.", show_default=False)],
    reference: Annotated[
        str,
        typer.Option("--to", metavar="DEVICE|FILE.npz", help="Another device, or arrays by name.", show_default=False),
    ],
    inputs: InputSource = "",
    shapes: Shapes = [],  # noqa: B006
    seed: Annotated[int | None, typer.Option(help="The seed of random inputs.", min=0, show_default="0")] = None,
    tolerance: Annotated[
        float, typer.Option(help="The largest accepted error, relative to a value's largest magnitude.", min=0)
    ] = 1e-4,
    per_operation: Annotated[
        bool, typer.Option("--per-operation", help="Run each operation alone, on the inputs that the reference has.")
    ] = False,
    settings: Settings = [],  # noqa: B006
    reproducer: Annotated[
        str, typer.Option(metavar="FILE.xml", help="Where to write the operations that differ: MODEL-differs.xml.")
    ] = "",
    extensions: Extensions = [],  # noqa: B006
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Compare a device with another one on a model, and find the operation that differs. Exit code 1 if one does."""
    with _one_line_errors(debug):
        from hetero.run.comparison.command import Request, run_comparison
        from hetero.run.display import progress_bar, show_comparison

        request = Request(
            model, device, reference, inputs, shapes, seed, tolerance, per_operation, settings, reproducer, extensions
        )
        with progress_bar() as progress:
            core, network = _read_model(model, extensions, progress)
            report = run_comparison(core, network, request, progress)
        _print_report(report, as_json, show_comparison)
    if not report.agrees:
        raise typer.Exit(1)


@app.command()
def benchmark(
    model: Annotated[str, typer.Argument(help="A model file.", show_default=False)],
    devices: Annotated[
        list[str], typer.Option("--device", "-d", help="A device. Several run in turn.", show_default=False)
    ],
    api: Annotated[Api, typer.Option("--api", "-api", help="One request, or several at once.")] = Api.SYNC,
    requests: Annotated[
        int, typer.Option("--nireq", "-nireq", help="Requests with api async; 0: the device decides.", min=0)
    ] = 0,
    streams: Annotated[str, typer.Option("--nstreams", "-nstreams", help="NUM_STREAMS.", show_default=False)] = "",
    threads: Annotated[
        str, typer.Option("--nthreads", "-nthreads", help="INFERENCE_NUM_THREADS.", show_default=False)
    ] = "",
    hint: Annotated[str, typer.Option("--hint", "-hint", help="PERFORMANCE_HINT.", show_default=False)] = "",
    precision: Annotated[
        str, typer.Option("--infer-precision", "-infer_precision", help="INFERENCE_PRECISION_HINT.", show_default=False)
    ] = "",
    settings: Settings = [],  # noqa: B006
    seconds: Annotated[float, typer.Option("--time", "-t", help="Seconds to measure each device.", min=0)] = 10.0,
    inferences: Annotated[
        int, typer.Option("--niter", "-niter", help="Inferences of each device, instead of --time.", min=0)
    ] = 0,
    inputs: InputSource = "",
    shapes: Shapes = [],  # noqa: B006
    counts: Annotated[bool, typer.Option("--pc", "-pc", help="Show the times of subgraphs and operations.")] = False,
    table: Annotated[str, typer.Option("--csv", metavar="FILE", help="Also write the results as CSV.")] = "",
    extensions: Extensions = [],  # noqa: B006
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure latency and throughput of a model on one or several devices."""
    with _one_line_errors(debug):
        from hetero.run import benchmark as measuring
        from hetero.run.calibrate import parse_shapes
        from hetero.run.display import progress_bar, show_benchmark
        from hetero.run.samples import load_samples
        from hetero.run.settings import parse_properties
        from hetero.run.sources import refuse_overwriting, writable_file

        options = {
            "NUM_STREAMS": streams, "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": hint.upper(),
            "INFERENCE_PRECISION_HINT": precision, "PERF_COUNT": "YES" if counts else "",
        }  # fmt: skip
        properties = {key: value for key, value in options.items() if value} | parse_properties(settings)
        file = writable_file(table, Path()) if table else None
        if file:
            refuse_overwriting([file], [Path(model), *([Path(inputs)] if inputs else [])])
        duration = measuring.Duration(seconds, inferences)
        with progress_bar() as progress:
            core, network = _read_model(model, extensions, progress)
            samples = load_samples(network, inputs, parse_shapes(shapes), None)
            report = measuring.benchmark(
                core, network, Path(model).name, devices, samples, properties,
                requests if api is Api.ASYNC else None, duration, progress,
            )  # fmt: skip
        if file:
            measuring.write_csv(report, file)
        _print_report(report, as_json, show_benchmark)


@app.command()
def report(
    model: Annotated[str, typer.Argument(help="A model file.", show_default=False)],
    device: Annotated[str, typer.Option("--device", "-d", help="Devices, as HETERO:A,B.", show_default=False)],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The page to write.")] = "report.html",
    settings: Settings = [],  # noqa: B006
    inputs: InputSource = "",
    shapes: Shapes = [],  # noqa: B006
    extensions: Extensions = [],  # noqa: B006
    debug: Debug = False,
) -> None:
    """Measure a model and write a page with its graph, placement, times and memory, for a browser."""
    with _one_line_errors(debug):
        from hetero.run.calibrate import parse_shapes
        from hetero.run.display import progress_bar
        from hetero.run.report.data import report_data
        from hetero.run.report.page import write_page
        from hetero.run.samples import load_samples
        from hetero.run.settings import parse_properties
        from hetero.run.sources import refuse_overwriting, writable_file

        file = writable_file(output, Path())
        refuse_overwriting([file], [Path(model), *([Path(inputs)] if inputs else [])])
        properties = parse_properties(settings)
        with progress_bar() as progress:
            core, network = _read_model(model, extensions, progress)
            arrays = load_samples(network, inputs, parse_shapes(shapes), None)[0].arrays
            data = report_data(core, network, Path(model).name, device, arrays, properties, progress)
        write_page(data, file)
        print(escaped(f"{file}: {data.summary}"))


@plugin.command("new")
def new(
    name: Annotated[str, typer.Argument(help="The device's name, such as NPU.", show_default=False)],
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Where to write the package: hetero-NAME by default.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Write a pip package for a new device, with one working operation, a test and a README."""
    with _one_line_errors(debug):
        from hetero.run.new_plugin import new_plugin

        package = new_plugin(name, folder)
        print(escaped(f"{package}: pip install -e '{package}[test]', and read its README.md"))


def _read_model(model: str, extensions: list[str], progress: Callable[[str, int, int], None]) -> tuple[Core, Model]:
    """Read a model file with extensions, whose paths are relative to the current folder. Returns its Core too."""
    from hetero.run.runner import read_model
    from hetero.run.sources import existing_file, extension_source
    from hetero.runtime import Core

    core = Core()
    path, sources = existing_file(model, Path()), [extension_source(text, Path()) for text in extensions]
    return core, read_model(core, path, sources, progress)


def _print_report(report: Report, as_json: bool, show: Callable[[Console, Report], None]) -> None:
    """Print a report, a dataclass, as JSON or by the function that shows it."""
    from hetero.run.display import make_console

    if as_json:
        print(json.dumps(dataclasses.asdict(report), indent=2))
    else:
        show(make_console(), report)


@contextmanager
def _one_line_errors(debug: bool) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of the output has closed the pipe; typer exits silently
    except (HeteroError, OSError) as error:
        if debug:
            raise
        text = str(error)
        if isinstance(error, OSError) and error.filename is not None:
            text = f"{error.filename}: {error.strerror}"
        print(f"error: {escaped(text)}", file=sys.stderr)
        raise typer.Exit(2) from None


def main() -> None:
    """Run the console script. Characters that the terminal's encoding lacks are printed as escapes."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    app()
