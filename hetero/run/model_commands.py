"""The commands that read a model and run no inference: query, compile, convert."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from hetero.run.command import (
    Debug,
    Device,
    Extensions,
    Json,
    Settings,
    Shapes,
    Strict,
    one_line_errors,
    print_report,
    read_model,
)


def query(
    model: Annotated[str, typer.Argument(help="A model file.", show_default=False)],
    device: Device,
    settings: Settings = [],  # noqa: B006
    extensions: Extensions = [],  # noqa: B006
    everything: Annotated[bool, typer.Option("--all", help="List every operation.")] = False,
    drawing: Annotated[
        str | None, typer.Option("--draw", metavar="FILE", help="Draw the operations by device: a .dot file.")
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """List the operations that a device supports, and why not others."""
    with one_line_errors(debug):
        from hetero.run.devices import Query, draw_operations, drawing_file, query_operations
        from hetero.run.display import progress_bar, show_query
        from hetero.run.settings import parse_properties

        properties = parse_properties(settings)
        file = drawing_file(drawing) if drawing else None
        with progress_bar() as progress:
            core, network = read_model(model, extensions, progress, [file] if file else [])
            progress(f"Querying {device}", 1, 2)
            operations = query_operations(core, network, device, properties)
            if file:
                draw_operations(network, operations, device, file)
        report = Query(Path(model).name, device, operations)
        print_report(report, as_json, lambda console, report: show_query(console, report.operations, everything))


def compile_(
    model: Annotated[str, typer.Argument(help="A model file.", show_default=False)],
    device: Device,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="By default MODEL.blob.")] = "",
    settings: Settings = [],  # noqa: B006
    strict: Strict = False,
    extensions: Extensions = [],  # noqa: B006
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Compile a model for a device to a file.

    hetero run and hetero benchmark take the file in place of a model.
    """
    with one_line_errors(debug):
        from hetero.run.display import progress_bar, show_compilation
        from hetero.run.model_writing import compile_to_blob
        from hetero.run.settings import parse_properties
        from hetero.run.yaml_runs.sources import writable_file

        properties = parse_properties(settings, device if strict else "")
        file = writable_file(output or f"{Path(model).stem}.blob", Path())
        with progress_bar() as progress:
            core, network = read_model(model, extensions, progress, [file])
            report = compile_to_blob(core, network, device, properties, file, progress)
        print_report(report, as_json, show_compilation)


def convert(
    model: Annotated[str, typer.Argument(help="A model file.", show_default=False)],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="An .xml file, with a .bin file, or an .onnx file; by default MODEL.xml.",
        ),
    ] = "",
    shapes: Shapes = [],  # noqa: B006
    weights: Annotated[
        Literal["fp16", "int8", "int4"] | None,
        typer.Option("--weights", help="Store f32 and f64 constants as f16, or weights as integers with scales."),
    ] = None,
    group: Annotated[int, typer.Option("--group", help="The elements that have a scale in common in int4.")] = 128,
    ratio: Annotated[
        float, typer.Option("--ratio", help="The part of the weights in int4; those with larger errors are in int8.")
    ] = 1.0,
    keep: Annotated[
        list[str], typer.Option("--keep", metavar="PATTERN", help="Names of weights or operations to leave alone.")
    ] = [],  # noqa: B006
    extensions: Extensions = [],  # noqa: B006
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Convert a model of any format to OpenVINO IR or ONNX."""
    with one_line_errors(debug):
        from hetero.run.display import progress_bar, show_conversion
        from hetero.run.model_writing import convert_model, converted_files

        files = converted_files(output or f"{Path(model).stem}.xml")
        with progress_bar() as progress:
            _, network = read_model(model, extensions, progress, files)
            report = convert_model(network, files, shapes, weights, group, ratio, keep)
        print_report(report, as_json, show_conversion)
