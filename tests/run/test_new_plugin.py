"""``hetero plugin new``: its files and errors. tests/conformance tests that the package works."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hetero.run.cli import app


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def hetero(*arguments):
    return CliRunner().invoke(app, ["plugin", "new", *arguments])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["n", "NPU", "my_very_long_name_20", "Example_a"])
def test_package_has_all_files_with_the_name_replaced(name, folder):
    result = hetero(name)
    assert result.exit_code == 0, result.stderr
    package = "hetero_" + name.lower()
    (package_folder,) = folder.iterdir()
    assert package_folder.name == package.replace("_", "-") and package_folder.name in result.stdout
    files = {str(path.relative_to(package_folder)) for path in package_folder.rglob("*") if path.is_file()}
    modules = ("__init__", "plugin", "operations", "compiled_model", "infer_request")
    own = {f"{package}/{module}.py" for module in modules}
    assert files == {"pyproject.toml", "README.md", f"tests/test_{name.lower()}.py", *own}
    text = "".join((package_folder / file).read_text() for file in files)
    assert name.upper() in text and ("example" in name.lower() or "example" not in text.lower())
    ruff = [sys.executable, "-m", "ruff"]
    for command in (["check", "--select", "E,F,I,UP,B,SIM,RUF", "--ignore", "B905"], ["format", "--check"]):
        result = subprocess.run([*ruff, *command, "."], cwd=package_folder, capture_output=True, text=True)
        assert result.returncode == 0, result.stdout


def test_option_folder(folder):
    assert hetero("NPU", "--folder", "some/where").exit_code == 0
    assert Path("some/where/hetero_npu/plugin.py").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["1npu"], "'1npu' is not a valid device name: use a letter, then letters, digits"),
        (["a-b"], "'a-b' is not a valid device name"),
        (["a__b"], "'a__b' is not a valid device name"),
        (["../npu"], "'../npu' is not a valid device name"),
        (["größe"], "'größe' is not a valid device name"),
        (["n" * 21], "at most 20 characters"),
        (["hetero"], "there is a device HETERO already"),
        (["template"], "there is a device TEMPLATE already"),
        (["opencl"], "there is a package hetero_opencl already"),
        (["NPU", "--folder", "taken"], "taken exists already: choose another folder"),
        (["NPU", "--folder", "file"], "file exists already"),
        (["NPU", "--folder", "file/below"], "file"),
    ],
)
def test_errors_are_one_line(arguments, message, folder):
    (folder / "taken").mkdir()
    (folder / "file").write_text("mine")
    result = hetero(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1 and message in result.stderr
    assert sorted(path.name for path in folder.rglob("*")) == ["file", "taken"]
    assert (folder / "file").read_text() == "mine"
