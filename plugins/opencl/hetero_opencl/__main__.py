"""``python -m hetero_opencl MODEL`` prints how a model is lowered for an OpenCL device, stage by stage."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer

from hetero.core.tensor import Tensor
from hetero.plugin import escaped
from hetero.run.calibrate import example_inputs
from hetero.run.command import Extensions, Shapes, one_line_errors, read_model
from hetero.run.input_shapes import parse_shapes
from hetero.system.errors import ConfigError
from hetero_opencl.compile.lowering_dump import STAGES
from hetero_opencl.compiled_model import OpenCLCompiledModel
from hetero_opencl.lowering.program import KernelProgram
from hetero_opencl.plugin import OpenCLPlugin

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command(epilog="Example: python -m hetero_opencl model.onnx --stage select")
def show(
    model: Annotated[str, typer.Argument(help="A model file.", show_default=False)],
    stages: Annotated[
        list[str], typer.Option("--stage", metavar="NAME", help=f"One of {', '.join(STAGES)}. May be repeated.")
    ] = [],  # noqa: B006
    shapes: Shapes = [],  # noqa: B006
    extensions: Extensions = [],  # noqa: B006
    device: Annotated[str, typer.Option("--device", "-d", help="An OpenCL device.")] = "GPU.0",
) -> None:
    """Print the stages of lowering a model: all of them, or the named ones."""
    with one_line_errors(debug=False):
        unknown = [name for name in stages if name not in STAGES]
        if unknown:
            raise ConfigError(f"unknown stage {', '.join(unknown)}: the stages are {', '.join(STAGES)}")
        for line in report(programs_of(model, device, shapes, extensions), stages or list(STAGES)):
            print("\n".join(map(escaped, line.split("\n"))))


def programs_of(file: str, device: str, shapes: list[str], extensions: list[str]) -> list[KernelProgram]:
    """Return the programs of a model file for these input shapes. Other dynamic shapes get assumed values.

    Runs the model once, because shapes that depend on data are known only then.

    Raises ConfigError for a shape that does not fit the model.
    """
    _, model = read_model(file, extensions, lambda text, done, total: None)
    compiled = OpenCLPlugin().compile_model(model, {"DEVICE_ID": device.partition(".")[2]})
    assert isinstance(compiled, OpenCLCompiledModel)
    request = compiled.create_sync_infer_request()
    for port, array in zip(compiled.inputs, example_inputs(model, parse_shapes(shapes, model))):
        request.set_tensor(port, Tensor(np.asarray(array)))
    request.infer()
    return compiled.last_programs()


def report(programs: list[KernelProgram], stages: list[str]) -> list[str]:
    """Return the text of the stages of each program. A model whose shapes depend on data has several programs."""
    lines = []
    for number, program in enumerate(programs, 1):
        suffix = f" of program {number} of {len(programs)}" if len(programs) > 1 else ""
        for name in stages:
            lines += [f"== {name}{suffix}: {STAGES[name].__doc__}", "", STAGES[name](program), ""]
    return lines


if __name__ == "__main__":
    app()
