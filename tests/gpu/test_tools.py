"""Fetching the tools: what is there afterwards, and what is if it fails."""

import json
import os
import platform
import subprocess
import sys

import pytest

from tests.gpu import tools
from tests.gpu.marks import needs_tools

LIST_PLATFORMS = """
import json, pyopencl
print(json.dumps({one.name: [device.name for device in one.get_devices()] for one in pyopencl.get_platforms()}))
"""


@needs_tools
@pytest.mark.parametrize(
    ("runtime", "name", "device"),
    [
        ("oclgrind", "Oclgrind", "Oclgrind Simulator"),
        ("rusticl", "rusticl", "llvmpipe"),
        ("intel-gpu", "Intel(R) OpenCL HD Graphics", "Intel(R) Graphics"),
    ],
)
def test_runtimes(runtime, name, device):
    """Each environment lists the device of its runtime, and none of the others."""
    environment = os.environ | tools.environment(runtime)
    listed = subprocess.run(
        [sys.executable, "-c", LIST_PLATFORMS],
        env=environment,
        cwd=tools.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(listed.stdout)
    (only,) = found.pop(name)
    assert only.startswith(device)
    assert set(found) <= {"Portable Computing Language"}  # that of pyopencl's wheel


@needs_tools
def test_vendors_are_not_installed():
    vendors = tools.FOLDER / "vendors"
    assert sorted(file.name for file in vendors.glob("*/*.icd")) == ["intel-gpu.icd", "oclgrind.icd", "rusticl.icd"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tools, "FOLDER", tmp_path / "build" / "gpu-tools")
    return tools.FOLDER


def test_nothing_is_left_of_a_fetch_that_fails(folder, monkeypatch, capsys):
    def unpack(scratch, unpacked):
        (unpacked / "usr/bin").mkdir(parents=True)
        yield "unpacking 1 of 29"
        raise RuntimeError("apt-get failed: E: Unable to locate package clang-19")

    monkeypatch.setattr(tools, "_check_system", lambda: None)
    monkeypatch.setattr(tools, "_unpack", unpack)
    with pytest.raises(SystemExit, match="^error: apt-get failed: E: Unable to locate package clang-19$"):
        tools.main()
    assert capsys.readouterr().out == "unpacking 1 of 29\n"
    assert [path.name for path in folder.parent.iterdir()] == ["gpu-tools.lock"]
    assert not tools.is_complete()


def test_they_are_fetched_once(folder, monkeypatch):
    fetched = []

    def unpack(scratch, unpacked):
        fetched.append(unpacked)
        unpacked.mkdir()
        yield from ()

    for name, function in {"_unpack": unpack, "_set_up": lambda unpacked: None, "_check_system": lambda: None}.items():
        monkeypatch.setattr(tools, name, function)
    monkeypatch.setattr(tools, "_check_libraries", lambda unpacked: None)
    tools.fetch()
    tools.fetch()
    assert len(fetched) == 1
    monkeypatch.setattr(tools, "PACKAGES", ("clang-19", "a new one"))
    tools.fetch()
    assert len(fetched) == 2


def test_other_systems(folder, monkeypatch):
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"ID": "fedora", "PRETTY_NAME": "Fedora Linux 42"})
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    message = "^the tools are packages of Debian 12 for x86_64, and this system is Fedora Linux 42 on aarch64$"
    with pytest.raises(RuntimeError, match=message):
        tools.fetch()
