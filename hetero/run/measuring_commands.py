"""The commands that run inferences of a model: calibrate, tune, compare, benchmark, report."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, Any

import typer

from hetero.run.command import (
    Debug,
    Device,
    Extensions,
    InputSource,
    Json,
    Settings,
    Shapes,
    Strict,
    complete_device,
    one_line_errors,
    print_report,
    read_model,
)
from hetero.system.errors import ConfigError


class Api(enum.Enum):
    """The ways in which a benchmark runs inferences."""

    SYNC = "sync"
    ASYNC = "async"


def calibrate(
    model: Annotated[str, typer.Argument(help="A model file.", show_default=False)],
    device: Device,
    shapes: Shapes = [],  # noqa: B006
    seconds: Annotated[float, typer.Option(help="Time to measure each device.", min=0)] = 10.0,
    folder: Annotated[
        str, typer.Option("--costs-dir", help="Folder for the measurements, as COSTS_DIR.", show_default=False)
    ] = "",
    extensions: Extensions = [],  # noqa: B006
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure a model's operations on each device, for placement.

    PLACEMENT=MIN_CUT and PLACEMENT=PIPELINE use the times.
    """
    with one_line_errors(debug):
        from hetero.run import calibrate as calibration
        from hetero.run.display import progress_bar, show_calibration
        from hetero.run.input_shapes import parse_shapes

        with progress_bar() as progress:
            core, network = read_model(model, extensions, progress)
            inputs = calibration.example_inputs(network, parse_shapes(shapes, network))
            config = {"COSTS_DIR": folder}
            report = calibration.calibrate(core, network, device, inputs, config, seconds, progress)
        print_report(report, as_json, show_calibration)


def tune(
    model: Annotated[str, typer.Argument(help="A model file.", show_default=False)],
    device: Device,
    shapes: Shapes = [],  # noqa: B006
    file: Annotated[
        str, typer.Option("--file", metavar="FILE", help="Where to keep the results, for the property TUNING_FILE.")
    ] = "",
    extensions: Extensions = [],  # noqa: B006
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Find the fastest kernels of a device for a model.

    Later compilations use them.
    """
    with one_line_errors(debug):
        from hetero.run import tune as tuning
        from hetero.run.calibrate import example_inputs
        from hetero.run.display import progress_bar, show_tuning
        from hetero.run.input_shapes import parse_shapes

        with progress_bar() as progress:
            core, network = read_model(model, extensions, progress)
            arrays = example_inputs(network, parse_shapes(shapes, network))
            report = tuning.tune(core, network, device, arrays, file, progress)
        print_report(report, as_json, show_tuning)


def compare(
    model: Annotated[str, typer.Argument(help="A model file.", show_default=False)],
    device: Device,
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
        str, typer.Option(metavar="FILE", help="Where to write the operations that differ: MODEL-differs.xml.")
    ] = "",
    extensions: Extensions = [],  # noqa: B006
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Find the operation at which two devices differ.

    The exit code is 1 if one does.
    """
    with one_line_errors(debug):
        from hetero.run.comparison.command import Request, run_comparison
        from hetero.run.display import progress_bar, show_comparison

        request = Request(
            model, device, reference, inputs, shapes, seed, tolerance, per_operation, settings, reproducer, extensions
        )
        with progress_bar() as progress:
            core, network = read_model(model, extensions, progress)
            report = run_comparison(core, network, request, progress)
        print_report(report, as_json, show_comparison)
    if not report.agrees:
        raise typer.Exit(1)


def benchmark(
    devices: Annotated[
        list[str],
        typer.Option(
            "--device",
            "-d",
            help="A device. Several run in turn.",
            show_default=False,
            autocompletion=complete_device,
        ),
    ],
    model: Annotated[str, typer.Argument(help="A model file, or a file of hetero compile.", show_default=False)] = "",
    option: Annotated[
        str, typer.Option("-m", metavar="MODEL", help="The model, as benchmark_app has it.", show_default=False)
    ] = "",
    batch: Annotated[int, typer.Option("--batch", "-b", help="The batch size; 0: that of the model.", min=0)] = 0,
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
    strict: Strict = False,
    seconds: Annotated[float, typer.Option("--time", "-t", help="Seconds to measure each device.", min=0)] = 10.0,
    inferences: Annotated[
        int, typer.Option("--niter", "-niter", help="Inferences of each device, instead of --time.", min=0)
    ] = 0,
    inputs: Annotated[
        str,
        typer.Option(
            "--inputs", "-i", metavar="FILE|FOLDER", help="An .npz, .npy or YAML file, or a folder. Random by default."
        ),
    ] = "",
    shapes: Annotated[
        list[str],
        typer.Option("--shape", "-shape", metavar="INPUT=1,3,224,224", help="The shape of an input. May be repeated."),
    ] = [],  # noqa: B006
    counts: Annotated[bool, typer.Option("--pc", "-pc", help="Show the times of subgraphs and operations.")] = False,
    table: Annotated[str, typer.Option("--csv", metavar="FILE", help="Also write the results as CSV.")] = "",
    extensions: Extensions = [],  # noqa: B006
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure latency and throughput of a model on devices."""
    with one_line_errors(debug):
        from hetero.run import benchmark as measuring
        from hetero.run.display import progress_bar, show_benchmark
        from hetero.run.input_shapes import parse_shapes, reshape, shapes_that_do_not_fit
        from hetero.run.media.samples import load_samples
        from hetero.run.model_files import compile_model
        from hetero.run.settings import parse_properties, strict_properties
        from hetero.run.yaml_runs.sources import refuse_overwriting, writable_file

        options = {
            "NUM_STREAMS": streams, "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": hint.upper(),
            "INFERENCE_PRECISION_HINT": precision, "PERF_COUNT": "YES" if counts else "",
        }  # fmt: skip
        if bool(model) == bool(option):
            raise ConfigError("hetero benchmark takes one model: hetero benchmark MODEL -d DEVICE")
        model = model or option
        properties = {key: value for key, value in options.items() if value} | parse_properties(settings)
        candidates = [(name, properties | (strict_properties(name) if strict else {})) for name in devices]
        files = [writable_file(table, Path())] if table else []
        refuse_overwriting(files, [Path(inputs)] if inputs else [])
        duration = measuring.Duration(seconds, inferences)
        with progress_bar() as progress:
            core, network = read_model(model, extensions, progress, files, blobs=True)
            if isinstance(network, Path):
                if batch:
                    raise ConfigError(f"{network} is compiled already, for one batch size: leave out -b")
                example: Any = compile_model(core, network, *candidates[0])
            else:
                reshape(network, shapes_that_do_not_fit(network, parse_shapes(shapes, network)), batch)
                example = network
            samples = load_samples(example, inputs, parse_shapes(shapes, example), None)
            report = measuring.benchmark(
                core, network, Path(model).name, candidates, samples,
                requests if api is Api.ASYNC else None, duration, progress,
            )  # fmt: skip
        for file in files:
            measuring.write_csv(report, file)
        print_report(report, as_json, show_benchmark)


def report(
    model: Annotated[str, typer.Argument(help="A model file.", show_default=False)],
    device: Device,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE.html", help="By default MODEL.html.")] = "",
    settings: Settings = [],  # noqa: B006
    strict: Strict = False,
    inputs: InputSource = "",
    shapes: Shapes = [],  # noqa: B006
    extensions: Extensions = [],  # noqa: B006
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Write a page that shows what runs where, why, and how fast."""
    with one_line_errors(debug):
        from hetero.run.display import progress_bar, show_report
        from hetero.run.input_shapes import parse_shapes
        from hetero.run.media.samples import load_samples
        from hetero.run.report.data import report_data
        from hetero.run.report.page import write_page
        from hetero.run.settings import parse_properties
        from hetero.run.yaml_runs.sources import refuse_overwriting, writable_file

        properties = parse_properties(settings, device if strict else "")
        file = writable_file(output or f"{Path(model).stem}.html", Path())
        refuse_overwriting([file], [Path(inputs)] if inputs else [])
        with progress_bar() as progress:
            core, network = read_model(model, extensions, progress, [file])
            arrays = load_samples(network, inputs, parse_shapes(shapes, network), None)[0].arrays
            data = report_data(core, network, Path(model).name, device, arrays, properties, progress)
        print_report(write_page(data, file), as_json, show_report)
