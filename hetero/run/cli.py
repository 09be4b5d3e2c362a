"""The command ``hetero``. Errors of the user are one line on standard error, with exit code 2."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hetero.run import measuring_commands, model_commands
from hetero.run.command import Debug, Json, Strict, one_line_errors, print_report
from hetero.system.messages import escaped


class _OneLineErrors(TyperGroup):
    """A command whose errors of usage are one line, like all other errors. Ctrl-C ends it with exit code 130."""

    def main(self, *args: Any, **options: Any) -> Any:
        try:
            code = super().main(*args, **{**options, "standalone_mode": False})
        except typer.TyperException as error:
            text = error.format_message().replace("Value error, ", "")
            if text.startswith("Usage:"):  # the help, of a command that needs arguments
                print(text, file=sys.stderr)
            else:
                similar = " or ".join(getattr(error, "possibilities", None) or ())
                problem = f"{error.message}; did you mean {similar}?" if similar else text
                print(f"error: {escaped(problem[:1].lower() + problem[1:])}", file=sys.stderr)
            code = error.exit_code
        sys.exit(code)


# The commands import the modules for YAML, tables and devices themselves, so that --help is fast.
app = typer.Typer(
    cls=_OneLineErrors,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(value: bool) -> None:
    if value:
        from hetero import __version__

        print(f"hetero {__version__}")
        raise typer.Exit


@app.callback(epilog="Begin with: hetero devices")
def hetero(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Run one neural network on several devices at once."""


def _print_schema(value: bool) -> None:
    if value:
        from hetero.run.yaml_runs.config import json_schema

        print(json.dumps(json_schema(), indent=2))
        raise typer.Exit


def run(
    file: Annotated[Path, typer.Argument(help="The run, in YAML.", show_default=False)],
    settings: Annotated[
        list[str],
        typer.Option("--set", metavar="KEY=VALUE", help="Change an entry, such as device=CPU. May be repeated."),
    ] = [],  # noqa: B006
    strict: Strict = False,
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
    """Run models as a YAML file describes.

    Prints the outputs, the placement and the times.
    """
    with one_line_errors(debug):
        from hetero.run.display import progress_bar, show_run
        from hetero.run.settings import strict_properties
        from hetero.run.yaml_runs.config import load_config
        from hetero.run.yaml_runs.runner import run as run_config
        from hetero.run.yaml_runs.sources import refuse_overwriting, writable_file
        from hetero.system.tracing import Recorder

        config = load_config(file, settings)
        for part in config.chain().values() if strict else ():
            part.properties.update(strict_properties(part.device))
        if trace:
            refuse_overwriting(
                [*config.files_written(), writable_file(str(trace), Path())], [file, *config.files_read()]
            )
        with progress_bar() as progress, Recorder() if trace else nullcontext() as recorder:
            report = run_config(config, progress)
        if recorder and trace:
            recorder.save(trace)
        print_report(report, as_json, show_run)


def devices(as_json: Json = False, debug: Debug = False) -> None:
    """List the usable devices, and why others cannot be used."""
    with one_line_errors(debug):
        from hetero.run.devices import DeviceList, find_devices
        from hetero.run.display import show_device_list
        from hetero.runtime import Core

        core = Core()
        print_report(DeviceList(find_devices(core), core.unavailable_devices), as_json, show_device_list)


def new(
    name: Annotated[str, typer.Argument(help="The device's name, such as NPU.", show_default=False)],
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Where to write the package: hetero-NAME by default.")
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Write a pip package for a new device.

    It has one working operation, a test and a README.
    """
    with one_line_errors(debug):
        from hetero.run.display import show_new_plugin
        from hetero.run.new_plugin import new_plugin

        print_report(new_plugin(name, folder), as_json, show_new_plugin)


# Each command, with an example for its help.
_COMMANDS: dict[Callable[..., None], str] = {
    run: "hetero run configs/ocr.yaml --set device=CPU",
    devices: "hetero devices",
    model_commands.query: "hetero query model.onnx -d HETERO:GPU,TEMPLATE",
    model_commands.compile_: "hetero compile model.onnx -d GPU -o model.blob",
    model_commands.convert: "hetero convert model.tflite -o model.xml",
    measuring_commands.compare: "hetero compare model.onnx -d GPU --to TEMPLATE",
    measuring_commands.benchmark: "hetero benchmark model.onnx -d GPU -d CPU -t 5",
    measuring_commands.calibrate: "hetero calibrate model.onnx -d HETERO:GPU,TEMPLATE",
    measuring_commands.tune: "hetero tune model.onnx -d GPU",
    measuring_commands.report: "hetero report model.onnx -d HETERO:GPU,TEMPLATE -o page.html",
}
for _command, _example in _COMMANDS.items():
    app.command(_command.__name__.rstrip("_"), epilog=f"Example: {_example}")(_command)

plugin = typer.Typer(help="Create device packages.", no_args_is_help=True, rich_markup_mode=None)
plugin.command("new", epilog="Example: hetero plugin new NPU --folder hetero-npu")(new)
app.add_typer(plugin, name="plugin")


def main() -> None:
    """Run the console script. Characters that the terminal's encoding lacks are printed as escapes."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.unraisablehook = _repeat_interrupt
    app()


def _repeat_interrupt(ignored: sys.UnraisableHookArgs) -> None:
    """Interrupt the program again if Ctrl-C came while a finalizer ran, whose exceptions Python ignores."""
    if issubclass(ignored.exc_type, KeyboardInterrupt):
        # Later, because exceptions of this function are ignored too.
        timer = threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT))
        timer.daemon = True
        timer.start()
    else:
        sys.__unraisablehook__(ignored)
