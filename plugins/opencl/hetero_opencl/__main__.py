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
from hetero_opencl.compile.lowering_dump import STAGES, format_table
from hetero_opencl.compiled_model import OpenCLCompiledModel
from hetero_opencl.estimate.lower_for_profile import lower_for_profile
from hetero_opencl.estimate.report import ESTIMATE_COLUMNS, estimate_program, estimate_rows, make_model
from hetero_opencl.lowering.program import KernelProgram
from hetero_opencl.plugin import OpenCLPlugin
from hetero_opencl.profiles.hardware import Hardware, hardware_of, known_gpus

#: A stage that is not one of lowering: what the program would take on a GPU that is not at hand.
ESTIMATE, GUARDS = "estimate", "guards"

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
        list[str],
        typer.Option("--stage", metavar="NAME", help=f"One of {', '.join(STAGES)}, {ESTIMATE}. May be repeated."),
    ] = [],  # noqa: B006
    shapes: Shapes = [],  # noqa: B006
    extensions: Extensions = [],  # noqa: B006
    device: Annotated[str, typer.Option("--device", "-d", help="An OpenCL device.")] = "GPU.0",
    profile: Annotated[
        str, typer.Option("--profile", metavar="NAME", help=f"A GPU that is not at hand: {', '.join(known_gpus())}.")
    ] = "",
) -> None:
    """Print the stages of lowering a model: all of them, or the named ones. Stage estimate needs a profile.

    Stage guards alone is of the program that serves other shapes too.
    """
    with one_line_errors(debug=False):
        known = [*STAGES, *([ESTIMATE] if profile else ())]
        unknown = [name for name in stages if name not in known]
        if unknown:
            hint = f"; {ESTIMATE} needs a --profile" if ESTIMATE in unknown else ""
            raise ConfigError(f"unknown stage {', '.join(unknown)}: the stages are {', '.join(known)}{hint}")
        if profile:
            hardware = hardware_of(profile)
            program = program_for(model, hardware, shapes, extensions)
            lines = report([program], [name for name in stages or known if name != ESTIMATE])
            lines += [_estimate(program, hardware)] if not stages or ESTIMATE in stages else []
        else:
            programs = programs_of(model, device, shapes, extensions, is_dynamic=stages == ["guards"])
            lines = report(programs, stages or known)
        for line in lines:
            print("\n".join(map(escaped, line.split("\n"))))


def programs_of(
    file: str, device: str, shapes: list[str], extensions: list[str], is_dynamic: bool
) -> list[KernelProgram]:
    """Return the programs of a model file for these input shapes. Other dynamic shapes get assumed values.

    Runs the model once, because shapes that depend on data are known only then. With ``is_dynamic`` a program may serve
    other shapes too; then it is lowered for the typical lengths of a class.

    Raises ConfigError for a shape that does not fit the model.
    """
    _, model = read_model(file, extensions, lambda text, done, total: None)
    arrays = [np.asarray(array) for array in example_inputs(model, parse_shapes(shapes, model))]
    if not is_dynamic:
        model.reshape({index: array.shape for index, array in enumerate(arrays)})
    compiled = OpenCLPlugin().compile_model(model, {"DEVICE_ID": device.partition(".")[2]})
    assert isinstance(compiled, OpenCLCompiledModel)
    request = compiled.create_sync_infer_request()
    for port, array in zip(compiled.inputs, arrays):
        request.set_tensor(port, Tensor(array))
    request.infer()
    return compiled.last_programs()


def program_for(file: str, hardware: Hardware, shapes: list[str], extensions: list[str]) -> KernelProgram:
    """Return the program of a model file for a GPU that is not at hand; if shapes depend on data, the first one."""
    _, model = read_model(file, extensions, lambda text, done, total: None)
    return lower_for_profile(model, hardware.profile(), example_inputs(model, parse_shapes(shapes, model)))


def _estimate(program: KernelProgram, hardware: Hardware) -> str:
    estimate = estimate_program(program, make_model(hardware))
    table = format_table(ESTIMATE_COLUMNS, estimate_rows(program, estimate))
    total = (
        f"estimated {estimate.seconds * 1e3:.3f} ms, {100 * estimate.fraction_of_peak:.1f} % of peak: "
        f"{len(estimate.launches)} launches, {estimate.transfer_seconds * 1e3:.3f} ms of transfers"
    )
    return f"== {ESTIMATE}: Estimated times on {hardware.name}.\n\n{total}\n\n{table}\n"


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
