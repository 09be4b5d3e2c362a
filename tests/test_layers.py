"""The architecture: layers import only lower ones, hetero names no plugin, and ``import hetero`` is light."""

import ast

import pytest

from hetero.dispatch import devices
from tests.interpreter import run_python
from tests.structure import (
    PACKAGES,
    imports_against_order,
    imports_of,
    layer_in,
    layers,
    module_name,
    source_files,
)

ROOT = PACKAGES["hetero"] / "hetero"
FILES = source_files("hetero")
# The plugin API, and what it is written with.
ABOVE_THE_PLUGIN_API = set(layers()["hetero"][layers()["hetero"].index("plugin") + 1 :])
PLUGIN_FILES = [path for package in PACKAGES if package != "hetero" for path in source_files(package)]


@pytest.mark.parametrize("room, order", layers().items())
def test_imports_only_lower_layers(room, order):
    assert imports_against_order(room, order) == []


def test_virtual_devices_use_what_the_devices_of_the_dispatcher_export():
    exported = {f"hetero.dispatch.devices.{name}" for name in devices.__all__}
    files = [path for path in FILES if path.is_relative_to(ROOT / "virtual")]
    used = {entry.module for path in files for entry in imports_of(path) if "dispatch" in entry.module}
    assert used and used <= exported


@pytest.mark.parametrize("path", PLUGIN_FILES, ids=module_name)
def test_plugins_import_no_layer_above_the_plugin_api(path):
    if path.name != "__main__.py":  # a command line
        assert not {layer_in("hetero", entry.module) for entry in imports_of(path)} & ABOVE_THE_PLUGIN_API


# The property keys in properties/intel_gpu are OpenVINO's, and begin with the name of its plugin.
@pytest.mark.parametrize(
    "path", [path for path in FILES if path.parent.name != "intel_gpu"], ids=lambda p: str(p.relative_to(ROOT))
)
def test_no_plugin_is_named(path):
    tree = ast.parse(path.read_text())
    documented = [n for n in ast.walk(tree) if isinstance(n, (ast.Module, ast.ClassDef, ast.FunctionDef))]
    docstrings = {ast.get_docstring(n, clean=False) for n in documented}
    strings = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)} - docstrings
    strings = {s for s in strings if not s.startswith("hetero ")}  # an example of a command, with a user's devices
    named = [s for s in strings for word in ("GPU", "TEMPLATE", "hetero_opencl", "hetero_template") if word in s]
    assert not named


@pytest.mark.slow
def test_import_is_light():
    heavy = ["pyopencl", "networkx", "onnx", "pydantic", "yaml", "typer", "rich", "PIL"]
    heavy += [f"hetero.{layer}" for layer in ("ops", "reference", "dispatch", "frontend")]
    code = f"import sys, hetero; print([m for m in {heavy!r} if m in sys.modules])"
    assert run_python(code)[0] == "[]"
