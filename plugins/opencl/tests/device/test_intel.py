"""Intel's OpenCL CPU runtime as pip installs it, together with PoCL and the machine's drivers."""

import os
import platform
import sys
from pathlib import Path

import pytest
from hetero_opencl.device import intel

from tests.interpreter import run_python

FULL_NAMES = """
import hetero
core = hetero.Core()
print([core.get_property(name, "FULL_DEVICE_NAME") for name in core.available_devices if name.startswith("GPU")])
"""
only_where_published = pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="Intel publishes its runtime for Linux on x86-64"
)


@pytest.fixture
def site(tmp_path, monkeypatch) -> Path:
    """The only folder of installed packages, with a fake of Intel's runtime that cannot be loaded."""
    site = tmp_path / "site"
    information = site / "intel_opencl_rt-1.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Name: intel-opencl-rt\nVersion: 1\n")
    (information / "RECORD").write_text("../lib/libintelocl.so,,\n../lib/libgone.so,,\n")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/libintelocl.so").write_text("not a library")
    monkeypatch.setattr(sys, "path", [str(site)])
    return site


@pytest.fixture
def drivers(tmp_path, monkeypatch) -> Path:
    """A user's vendor folder with one driver."""
    folder = tmp_path / "vendors"
    folder.mkdir()
    (folder / "acme.icd").write_text("libacme.so\n")
    monkeypatch.setenv("OCL_ICD_VENDORS", str(folder))
    return folder


def visible_drivers() -> dict[str, str]:
    """Return the content of the vendor folder that the loader uses."""
    return {file.name: file.read_text().strip() for file in Path(os.environ["OCL_ICD_VENDORS"]).iterdir()}


def test_the_loader_finds_it_together_with_the_users_drivers(site, drivers, caplog):
    with intel.visible():
        folder = Path(os.environ["OCL_ICD_VENDORS"])
        library = str(site.parent / "lib/libintelocl.so")
        assert visible_drivers() == {"acme.icd": "libacme.so", "hetero-intel.icd": library}
    assert os.environ["OCL_ICD_VENDORS"] == str(drivers) and not folder.exists()
    assert f"{library}) is not used: " in caplog.text and "file too short" in caplog.text


def test_no_variable_is_left_behind_after_an_error(site, monkeypatch):
    monkeypatch.delenv("OCL_ICD_VENDORS", raising=False)
    with pytest.raises(ZeroDivisionError), intel.visible():
        folder = Path(os.environ["OCL_ICD_VENDORS"])
        raise ZeroDivisionError
    assert "OCL_ICD_VENDORS" not in os.environ and not folder.exists()


def test_a_single_driver_named_by_the_user_stays_the_only_one(site, drivers, monkeypatch):
    monkeypatch.setenv("OCL_ICD_VENDORS", str(drivers / "acme.icd"))
    with intel.visible():
        assert os.environ["OCL_ICD_VENDORS"] == str(drivers / "acme.icd")


@pytest.mark.parametrize("name", ["{}/libintelocl.so", "libintelocl.so"])
def test_a_copy_that_the_machine_has_is_used_instead(site, drivers, name):
    (drivers / "libintelocl.so").touch()
    (drivers / "intel.icd").write_text(name.format(drivers))
    with intel.visible():
        assert os.environ["OCL_ICD_VENDORS"] == str(drivers)


def test_an_entry_for_a_missing_copy_is_ignored(site, drivers):
    (drivers / "intel.icd").write_text("/opt/anaconda1anaconda2anaconda3/lib/libintelocl.so")
    with intel.visible():
        assert "hetero-intel.icd" in visible_drivers()


def test_without_the_runtime_nothing_changes(site, drivers):
    (site.parent / "lib/libintelocl.so").unlink()
    with intel.visible():
        assert os.environ["OCL_ICD_VENDORS"] == str(drivers)


@pytest.mark.slow
@only_where_published
@pytest.mark.parametrize("before", ["", "import pyopencl", "import openvino"])
def test_both_runtimes_work(before, tmp_path):
    """Also if another library has loaded a TBB that is too old for Intel's runtime."""
    code = f"{before}\n{FULL_NAMES}\nimport numpy, os, hetero.ops as ops\n"
    code += "x = hetero.Parameter(hetero.Type.f32, [3])\n"
    code += "for name in ['TEMPLATE', *(n for n in core.available_devices if n.startswith('GPU'))]:\n"
    code += "    print(core.compile_model(hetero.Model(ops.Exp(x), [x]), name)(numpy.zeros(3, 'f'))[0])\n"
    code += "print(os.environ.get('OCL_ICD_VENDORS'))\n"
    printed, logged = run_python(code, TMPDIR=str(tmp_path))
    names, *results, variable = printed.splitlines()
    assert "(Portable Computing Language)" in names and "(Intel(R) OpenCL)" in names
    assert results == ["[1. 1. 1.]"] * 3 and variable == "None"
    assert logged == "" and not list(tmp_path.glob("hetero*"))


@pytest.mark.slow
@only_where_published
def test_opencl_used_before_hetero(tmp_path):
    printed, logged = run_python(f"import pyopencl; pyopencl.get_platforms()\n{FULL_NAMES}")
    assert "(Portable Computing Language)" in printed and "(Intel(R) OpenCL)" not in printed
    assert logged.count("\n") == 0 and logged.endswith(
        "OpenCL was used before hetero, and its loader looks for drivers only once per process"
    )
