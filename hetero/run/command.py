"""Options of several commands, and how commands read models, print reports and report errors."""

from __future__ import annotations

import dataclasses
import json
import logging
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, overload

import typer

from hetero.system.errors import ConfigError, HeteroError
from hetero.system.messages import escaped, get_logger

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from rich.console import Console

    from hetero.graph import Model
    from hetero.runtime import Core

    Report = TypeVar("Report", bound=DataclassInstance)
    OnProgress = Callable[[str, int, int], None]

# The commands import the modules for YAML, tables and devices themselves, so that --help is fast.


def complete_device(incomplete: str) -> list[str]:
    """Return the devices for the completion of ``-d``: also after ``HETERO:`` and after a comma."""
    from hetero.runtime import Core

    begin = incomplete[: max(incomplete.rfind(":"), incomplete.rfind(",")) + 1]
    names = [*Core().available_devices, *(() if begin else ("HETERO:", "AUTO"))]
    return [begin + name for name in names if (begin + name).startswith(incomplete)]


Device = Annotated[
    str,
    typer.Option(
        "--device",
        "-d",
        help="A device string, such as HETERO:A,B.",
        show_default=False,
        autocompletion=complete_device,
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks, also those of devices, and log all steps.")]
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
Strict = Annotated[
    bool, typer.Option("--strict", help="Raise an error if an operation would run on another than the first device.")
]


@overload
def read_model(
    model: str, extensions: list[str], progress: OnProgress, written: Sequence[Path] = ()
) -> tuple[Core, Model]: ...
@overload
def read_model(
    model: str, extensions: list[str], progress: OnProgress, written: Sequence[Path] = (), *, blobs: Literal[True]
) -> tuple[Core, Model | Path]: ...
def read_model(
    model: str, extensions: list[str], progress: OnProgress, written: Sequence[Path] = (), *, blobs: bool = False
) -> tuple[Core, Model | Path]:
    """Read a model file with extensions, whose paths are relative to the current folder. Returns its Core too.

    Raises ConfigError if one of the files that the command writes is read: the model, or a file of its weights. With
    ``blobs``, a compiled model is not read: its path is returned.
    """
    from hetero.frontend.source import record_files
    from hetero.run import model_files
    from hetero.run.yaml_runs.sources import existing_file, extension_source, refuse_overwriting
    from hetero.runtime import Core

    core = Core()
    path, sources = existing_file(model, Path()), [extension_source(text, Path()) for text in extensions]
    refuse_overwriting(written, [path])
    if model_files.is_blob(path):
        if not blobs:
            raise ConfigError(f"{path} is a compiled model, which only hetero run and hetero benchmark take")
        core.add_extension(sources)
        return core, path
    with record_files() as files_read:
        network = model_files.read_model(core, path, sources, progress)
    refuse_overwriting(written, map(Path, files_read))
    return core, network


def print_report(report: Report, as_json: bool, show: Callable[[Console, Report], None]) -> None:
    """Print a report, a dataclass, as JSON or by the function that shows it."""
    from hetero.run.display import make_console

    if as_json:
        print(json.dumps(_strict_json(dataclasses.asdict(report)), indent=2, allow_nan=False))
    else:
        show(make_console(), report)


def _strict_json(value: Any) -> Any:
    """Return a value with texts such as "Infinity" for the numbers that JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: _strict_json(item) for key, item in value.items()}
    return [_strict_json(item) for item in value] if isinstance(value, (list, tuple)) else value


@contextmanager
def one_line_errors(debug: bool) -> Iterator[None]:
    """Print an error of hetero or of a file in one line, and exit with code 2.

    With ``debug`` it is raised instead: its traceback has the exception of a device's plugin as the cause. All that
    hetero logs goes to standard error then: which passes changed a model, hints that a device ignores, and the
    tracebacks of devices and plugin packages that cannot be used. What a device fails at under ``HETERO:NPU,CPU``
    another device takes over, so debug with ``-d NPU``, or with STRICT=YES and RUNTIME_FALLBACK=NO.
    """
    logger = get_logger("hetero")
    level = logger.level
    if debug:
        logging.basicConfig()
        logger.setLevel(logging.DEBUG)
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
    finally:
        logger.setLevel(level)
