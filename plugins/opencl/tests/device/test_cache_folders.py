"""OpenCL devices with cache folders that cannot be written to."""

import os
import resource
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from hetero_opencl.device import caches

from hetero.system.errors import DeviceError
from tests.interpreter import run_python


@pytest.fixture(autouse=True)
def processor(monkeypatch) -> None:
    """Each test runs once, because the choice of kernels makes no difference here."""
    monkeypatch.delenv("POCL_CACHE_DIR", raising=False)


# Runs two models on every OpenCL device, or on TEMPLATE if there is none. All results are equal.
RUN = """
import numpy as np, hetero
from hetero import ops
core = hetero.Core()
devices = [name for name in core.available_devices if name.startswith("GPU")]
for device in devices or ["TEMPLATE"]:
    for power in (2, 3):
        x = hetero.Parameter(hetero.Type.f32, [4])
        model = hetero.Model(ops.Power(ops.Exp(x), np.float32(power)), [x])
        print(core.compile_model(model, device)(np.zeros(4, np.float32))[0])
print(len(devices))
"""


def run(limit: int = resource.RLIM_INFINITY, **environment: str) -> tuple[list[str], str]:
    """Return what a new interpreter prints and logs if it cannot write files larger than ``limit`` bytes."""
    set_limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, limit))
    printed, logged = run_python(RUN, preexec_fn=set_limit, **environment)
    return printed.splitlines(), logged


@pytest.mark.slow
def test_own_sample_works_without_a_cache_and_says_so_once(tmp_path):
    blocked = tmp_path / "file"
    blocked.touch()
    expected, _ = run(XDG_CACHE_HOME=str(tmp_path / "cache"))
    printed, logged = run(XDG_CACHE_HOME=str(blocked))
    assert printed == expected
    assert logged.count(f"the cache folder {blocked}/hetero/opencl is not used: Not a directory") == 1


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0, 4096, 100_000])
def test_a_limit_of_the_size_of_files_does_not_end_the_process(limit, tmp_path):
    """It stands for a full disk. PoCL cannot work without files; other devices can."""
    printed, logged = run(limit, XDG_CACHE_HOME=str(tmp_path))
    *results, count = printed
    assert results == ["[1. 1. 1. 1.]"] * 2 * max(int(count), 1)
    assert "Traceback" not in logged


def of_platform(name: str) -> SimpleNamespace:
    return SimpleNamespace(name="cpu", platform=SimpleNamespace(name=name))


POCL = of_platform("Portable Computing Language")


def test_pocl_uses_a_temporary_folder_if_its_own_cannot_be_written_to(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").touch()
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path / "file"))
    caches.choose_pocl_folder()
    folder = Path(os.environ["POCL_CACHE_DIR"])
    assert folder.is_dir() and folder.stat().st_mode & 0o777 == 0o700 and not folder.is_relative_to(tmp_path)
    assert caplog.messages[-1] == f"PoCL keeps its kernels in {folder} until this process ends"
    caches.check_pocl_space(POCL)


def test_pocl_keeps_a_folder_that_can_be_written_to(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path / "kernels"))
    caches.choose_pocl_folder()
    assert os.environ["POCL_CACHE_DIR"] == str(tmp_path / "kernels") and not caplog.messages
    assert (tmp_path / "kernels").stat().st_mode & 0o777 == 0o700


def test_pocl_is_not_asked_to_build_when_its_folder_is_full(tmp_path, monkeypatch):
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(caches, "has_space", lambda folder, byte_size: False)
    caches.check_pocl_space(of_platform("Intel(R) OpenCL"))
    with pytest.raises(
        DeviceError, match=f"cpu cannot build kernels: PoCL cannot write to its cache folder {tmp_path}"
    ):
        caches.check_pocl_space(POCL)
