"""The stages of lowering as they are printed."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hetero_opencl.__main__ import app
from hetero_opencl.compile.lowering_dump import STAGES
from hetero_opencl.device.device import present_devices
from hetero_opencl.profiles.profile import Family
from typer.testing import CliRunner

import hetero
from hetero import Constant, Model, Parameter, Type, ops
from tests import zoo
from tests.tiers import in_sample


@pytest.fixture
def file(tmp_path) -> str:
    """Two products by one transposed matrix, one of them with a bias, and a chain that is fused."""
    x, y = (Parameter(Type.f32, shape, name=name) for shape, name in (([-1, 40], "x"), ([30, 40], "y")))
    one = ops.MatMul(x, y, False, True, name="one")
    biased = ops.Add(one, Constant(np.ones(30, np.float32)), name="biased")
    other = ops.MatMul(ops.Exp(x, name="exp"), y, False, True, name="other")
    total = ops.Relu(ops.Subtract(biased, other, name="difference"), name="total")
    hetero.save_model(Model(total, [x, y]), tmp_path / "model.xml")
    return str(tmp_path / "model.xml")


@pytest.fixture(autouse=True)
def gpu(monkeypatch):
    """Select kernels for GPUs: those for CPUs depend on the measured speeds of the device."""
    for one in present_devices().usable:
        monkeypatch.setattr(one, "profile", replace(one.profile, family=Family.GPU, vector_width=1))


def printed(*arguments) -> list[str]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


def row(lines, *beginning) -> list[str]:
    """The words of the only row of a table that begins with these."""
    (found,) = [line.split() for line in lines if line.split()[: len(beginning)] == list(beginning)]
    return found[len(beginning) :]


def test_all_stages_in_order(file, device):
    lines = printed(file, "--device", device, "--shape", "x=8,40")
    assert [line.split()[1].rstrip(":") for line in lines if line.startswith("== ")] == list(STAGES)


def test_the_content_of_stages(file):
    def stage(name):
        return printed(file, "--stage", name, "--shape", "x=8,40")

    assert row(stage("transform"), "exp", "Exp") == ["x", "f32[8,40]"]
    fused = stage("fuse")
    assert row(fused, "other") == ["4", "Add", "MatMul", "Subtract", "Relu"]
    layouts = stage("layout")
    assert "1 conversions" in layouts[2]
    assert row(layouts, "one", "y", "axes") == ["1,0", "here"]
    assert row(layouts, "other", "y", "axes") == ["1,0", "for", "'one'"]
    kernels, *implementation = row(stage("select"), "one", "MatMul")[:4]
    assert kernels.replace("group_gemm", "gemm") == "strided_copy+gemm"  # GPUs have a kernel of their own
    assert implementation == ["matmul", "in", "rows"]
    program = stage("program")
    kernels = [line.split()[2].removeprefix("group_") for line in program if line.split() and line.split()[0].isdigit()]
    assert sorted(kernels) == ["elementwise", "gemm", "gemm", "strided_copy"]


def test_the_memory_plan(file):
    lines = printed(file, "--stage", "memory", "--shape", "x=8,40")
    # The transposed y is read by both products.
    assert row(lines, "y")[0] == "4,800" and row(lines, "y")[3] == "before"
    assert row(lines, "scratch", "of", "one")[0] == "4,800"
    assert row(lines, "other")[-1] == "after"
    drawing = lines[lines.index("arena 0") + 1 :]
    assert len([line for line in drawing if line]) == 6  # before, four launches, after
    assert {len(line.split()[1]) for line in drawing if line} == {96}


def test_several_programs(tmp_path):
    """The shapes of the second program depend on results of the first."""
    x = Parameter(Type.f32, [5], name="x")
    places = ops.Convert(ops.NonZero(ops.Relu(x)), Type.f32)
    hetero.save_model(Model(ops.Softmax(places, 1), [x]), tmp_path / "model.xml")
    lines = printed(tmp_path / "model.xml", "--stage", "transform")
    assert len([line for line in lines if line.startswith("== transform of program")]) == 2


def test_parts_of_a_buffer(tmp_path):
    """Two convolutions write to one buffer, which the third reads: the drawing shows it once."""
    x = Parameter(Type.f32, [1, 8, 16, 16], name="x")
    weights = Constant(np.ones([8, 8, 1, 1], np.float32))
    first = [ops.Convolution(x, weights, [1, 1], [0, 0], [0, 0], [1, 1], name=name) for name in ("one", "two")]
    last = Constant(np.ones([8, 16, 1, 1], np.float32))
    joined = ops.Convolution(ops.Concat([ops.Relu(v) for v in first], 1), last, [1, 1], [0, 0], [0, 0], [1, 1])
    hetero.save_model(Model(joined, [x]), tmp_path / "model.xml")
    lines = printed(tmp_path / "model.xml", "--stage", "memory")
    assert "arena 0" in lines


# The command takes shapes of inputs and no values. This network has no branch for a sampling rate of 0.
NEEDS_VALUES = {"voice_activity"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in zoo.MODELS if in_sample(name, 4) and name not in NEEDS_VALUES])
def test_models(name):
    port = zoo.MODELS[name]
    shape = f"{port.input}={','.join(map(str, port.shapes[0]))}"
    extensions = ["--extension", zoo_extensions()] if name.startswith("selfie") else []
    lines = printed(zoo.path(name), "--shape", shape, *extensions)
    assert {line.split()[1].rstrip(":") for line in lines if line.startswith("== ")} == set(STAGES)


def zoo_extensions() -> Path:
    return Path(__file__).parents[4] / "configs" / "mediapipe_operators.py"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--stage", "magic"], "unknown stage magic"), (["--shape", "z=1"], "no input z"), (["--device", "GPU.77"], "77")],
)
def test_mistakes(file, arguments, message):
    result = CliRunner().invoke(app, [file, *arguments])
    assert result.exit_code == 2 and message in result.stderr
