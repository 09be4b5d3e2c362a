"""The command ``benchmark_app``: measures a model with the options of OpenVINO's command of this name."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from hetero.run.command import one_line_errors

if TYPE_CHECKING:
    from hetero.run.benchmark import Benchmark

# Options whose values are properties of the device.
_PROPERTIES = {
    "hint": "PERFORMANCE_HINT", "nstreams": "NUM_STREAMS", "nthreads": "INFERENCE_NUM_THREADS",
    "infer_precision": "INFERENCE_PRECISION_HINT", "cdir": "CACHE_DIR",
}  # fmt: skip
_HINTS = {"throughput": "THROUGHPUT", "tput": "THROUGHPUT", "latency": "LATENCY",
          "cumulative_throughput": "CUMULATIVE_THROUGHPUT", "ctput": "CUMULATIVE_THROUGHPUT", "none": ""}  # fmt: skip


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("benchmark_app", description="Measure a model on a device.")
    add = parser.add_argument
    add("-m", "--path_to_model", dest="model", required=True, help="a model file, or a compiled model")
    add("-d", "--target_device", dest="device", default="CPU", help="the device, CPU by default")
    add("-i", "--paths_to_input", dest="inputs", default="", help="an .npz or .npy file, or a folder; else random")
    add("-hint", "--perf_hint", dest="hint", choices=_HINTS, help="by default throughput, with -api sync latency")
    add("-api", "--api_type", dest="api", choices=("sync", "async"), help="by default async, with -hint latency sync")
    add("-niter", "--number_iterations", dest="niter", type=int, default=0, help="number of inferences, instead of -t")
    add("-t", "--time", dest="seconds", type=float, help="seconds to measure, 10 by default")
    add("-b", "--batch_size", dest="batch", type=int, default=0, help="the first dimension, or that of the layout's N")
    add("-shape", dest="shape", default="", help="shapes of inputs, such as x[1,3],y[1,4] or [1,3]")
    add("-data_shape", dest="data_shape", default="", help="shapes of the data for dynamic inputs, as for -shape")
    add("-nireq", "--number_infer_requests", dest="nireq", type=int, default=0, help="requests with -api async")
    add("-nstreams", "--number_streams", dest="nstreams", default="", help="NUM_STREAMS")
    add("-nthreads", "--number_threads", dest="nthreads", default="", help="INFERENCE_NUM_THREADS")
    add("-infer_precision", dest="infer_precision", default="", help="INFERENCE_PRECISION_HINT")
    add("-cdir", "--cache_dir", dest="cdir", default="", help="CACHE_DIR")
    add("-extensions", "--extensions", dest="extensions", default="", help="a Python file of extensions")
    add("-load_config", dest="load_config", default="", help="a JSON file of properties by device")
    add("-pc", "--perf_counts", dest="counts", action="store_true", help="show the times of operations")
    add("-json_stats", "--json_stats", dest="json", action="store_true", help="print the report as JSON")
    add("-report_type", "--report_type", dest="report_type", default="", help="any kind: write the report as CSV too")
    add("-report_folder", "--report_folder", dest="report_folder", default=".", help="folder of the CSV file")
    add("-inference_only", "--inference_only", nargs="?", const="true", default="true", help="true: it is always so")
    add("-no_warmup", action="store_true", help="has no effect: the first inferences are never counted")
    add("-pin", "--infer_threads_pinning", dest="pin", default="", help="has no effect")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure a model, and return the exit status."""
    given = make_parser().parse_args(arguments)
    try:
        _measure(given)
    except typer.Exit as ended:
        return ended.exit_code
    return 0


def _measure(given: argparse.Namespace) -> None:
    with one_line_errors(False):
        from hetero.run import benchmark as measuring
        from hetero.run.command import print_report, read_model
        from hetero.run.display import progress_bar, show_benchmark
        from hetero.run.input_shapes import parse_shapes, reshape
        from hetero.run.media.samples import load_samples
        from hetero.run.model_files import compile_model

        api = given.api or ("sync" if given.hint == "latency" else "async")
        properties = _properties(given, api)
        seconds = 10.0 if given.seconds is None else given.seconds
        with progress_bar() as progress:
            core, network = read_model(
                given.model, list(filter(None, given.extensions.split(","))), progress, blobs=True
            )
            if not isinstance(network, Path):
                reshape(network, parse_shapes(list(filter(None, [given.shape])), network), given.batch)
            example = compile_model(core, network, given.device, properties) if isinstance(network, Path) else network
            shapes = parse_shapes(list(filter(None, [given.data_shape])), example)
            samples = load_samples(example, given.inputs, shapes, None)
            report = measuring.benchmark(
                core, network, Path(given.model).name, [(given.device, properties)], samples,
                given.nireq if api == "async" else None, measuring.Duration(seconds, given.niter), progress,
            )  # fmt: skip
        if given.report_type:
            measuring.write_csv(report, Path(given.report_folder) / "benchmark_report.csv")
        print_report(report, given.json, show_benchmark)
        if not given.json:
            print("\n".join(_statistics(report)))


def _statistics(report: Benchmark) -> list[str]:
    """Return the results of the only device in the words of OpenVINO's command, which scripts search for."""
    (measured,) = report.measurements
    lengths = {shape[0] for shape in report.input_shapes.values() if len(shape) > 1}
    pictures = measured.throughput * (lengths.pop() if len(lengths) == 1 else 1)  # of a batch
    return [
        f"[ INFO ] Count:            {measured.inferences} iterations",
        "[ INFO ] Latency:",
        f"[ INFO ]    Median:        {measured.median:.2f} ms",
        f"[ INFO ]    Min:           {measured.minimum:.2f} ms",
        f"[ INFO ]    Max:           {measured.maximum:.2f} ms",
        f"[ INFO ] Throughput:   {pictures:.2f} FPS",
    ]


def _properties(given: argparse.Namespace, api: str) -> dict[str, Any]:
    """Return the properties of the compilation: those of the file, and those of the options."""
    properties: dict[str, Any] = {}
    if given.load_config:
        content = json.loads(Path(given.load_config).read_text(encoding="utf-8"))
        properties |= content.get(given.device, {})
    values = vars(given) | {"hint": _HINTS[given.hint or ("latency" if api == "sync" else "throughput")]}
    properties |= {key: values[option] for option, key in _PROPERTIES.items() if values[option]}
    return properties | ({"PERF_COUNT": "YES"} if given.counts else {})


if __name__ == "__main__":
    sys.exit(main())
