"""GPUs that are not at hand: the files about them, and the command that lowers and estimates for them."""

import numpy as np
import pytest
from hetero_opencl.__main__ import app
from hetero_opencl.estimate.compilers.toolchain import VARIABLE
from hetero_opencl.profiles.hardware import hardware_of, known_gpus
from hetero_opencl.profiles.profile import Family
from typer.testing import CliRunner

import hetero
from hetero import Model, Parameter, Type, ops
from hetero.system.errors import ConfigError

# What the vendors' pages state for f32, in TFLOP/s. AMD gives 61.4 for the RX 7900 XTX, which can issue two
# multiply-adds at once, and 16.17 for the RX 6800.
PEAKS = {
    "rx_7900": 61.4 / 2, "rx_6800": 16.17, "mi210": 22.6, "a100": 19.5, "t4": 8.1, "rtx_4090": 82.6, "arc_a770": 17.2,
    "hd_530": 0.442,
}  # fmt: skip


def test_every_gpu_has_a_peak():
    assert set(known_gpus()) == set(PEAKS)


@pytest.mark.parametrize("name", PEAKS)
def test_peaks(name):
    """To a percent: vendors round."""
    assert hardware_of(name).flops_per_second / 1e12 == pytest.approx(PEAKS[name], rel=0.01)


@pytest.mark.parametrize("name", PEAKS)
def test_the_parts_of_a_gpu_fit_each_other(name):
    one = hardware_of(name)
    assert one.wave % one.lanes == 0 and one.wave in one.sub_groups
    assert one.register_bytes // one.register_size >= one.most_registers
    assert one.largest_local_bytes <= one.local_bytes
    assert one.largest_work_group <= one.schedulers * one.waves * max(one.sub_groups)
    # f64 is an option of OpenCL C 1.2, which Arc has not.
    assert one.profile().has_doubles == (name != "arc_a770")
    assert one.profile().family is Family.GPU


def test_unknown_gpu():
    with pytest.raises(ConfigError, match=r"^unknown profile 'gtx_970': the profiles are a100, arc_a770, .*, t4$"):
        hardware_of("gtx_970")


@pytest.fixture
def file(tmp_path):
    x = Parameter(Type.f32, [4, 64], name="x")
    weights = ops.Constant(np.ones((64, 32), np.float32))
    hetero.save_model(Model(ops.MatMul(x, weights, False, False, name="product"), [x]), tmp_path / "model.xml")
    return str(tmp_path / "model.xml")


def test_stages_for_a_gpu_that_is_not_at_hand(file):
    result = CliRunner().invoke(app, [file, "--profile", "arc_a770", "--stage", "select"])
    assert result.exit_code == 0, result.output
    assert "product" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--profile", "gtx_970"], "unknown profile 'gtx_970': the profiles are a100, "),
        (["--stage", "estimate"], "unknown stage estimate: the stages are "),
        (["--stage", "estimate"], "; estimate needs a --profile"),
        (["--profile", "t4", "--stage", "magic"], "unknown stage magic: the stages are "),
    ],
)
def test_mistakes(file, arguments, message):
    result = CliRunner().invoke(app, [file, *arguments])
    assert result.exit_code == 2
    assert message in result.stderr and len(result.stderr.splitlines()) == 1


def test_estimates_without_compilers(file, tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    result = CliRunner().invoke(app, [file, "--profile", "rx_7900", "--stage", "estimate"])
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ") and "is not found" in line and "install " in line
    assert f"or set {VARIABLE} to a folder that has it" in line
