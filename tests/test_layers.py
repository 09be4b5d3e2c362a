"""The architecture: layers import only lower ones, hetero names no plugin, and ``import hetero`` is light."""

import ast
from pathlib import Path

import pytest

from tests.interpreter import run_python

ROOT = Path(__file__).parents[1] / "hetero"
# From bottom to top. Each layer imports only itself and the layers before it.
LAYERS = [
    "messages", "errors", "files", "mapped_file", "cache_folder", "fork", "allocation", "tracing", "types", "packing",
    "packed_bytes", "type_conversion", "static_shape", "ov_any", "dimension", "shape", "layout", "containers",
    "regions", "tensor_memory", "tensor", "tensor_vector", "properties", "graph", "layout_helpers", "ops", "preprocess",
    "reference", "passes", "_offline_transformations", "package_utils", "utils", "exceptions", "helpers", "op",
    "frontend", "plugin", "dispatch", "virtual", "runtime", "run", "conformance",
]  # fmt: skip
# These export names of several layers and belong to none.
ABOVE_ALL = {"__init__", "builtin", "opset_modules"}
FILES = sorted(ROOT.rglob("*.py"))
PLUGINS = ROOT.parent / "plugins"
PLUGIN_FILES = sorted(path for path in PLUGINS.rglob("*.py") if "tests" not in path.parts)


def layer_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_layers(tree: ast.Module) -> set[str]:
    """Return the layers that a file imports, also those that only type checkers import."""
    modules = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "hetero":
            modules += [f"hetero.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.append(node.module)
        elif isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
    return {module.split(".")[1] for module in modules if module.startswith("hetero.")}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_only_lower_layers(path):
    layer = layer_of(path)
    if layer in ABOVE_ALL:
        return
    allowed = set(LAYERS[: LAYERS.index(layer) + 1])
    assert imported_layers(ast.parse(path.read_text())) & set(LAYERS) <= allowed


@pytest.mark.parametrize("path", PLUGIN_FILES, ids=lambda p: str(p.relative_to(PLUGINS)))
def test_plugins_import_no_layer_above_the_plugin_api(path):
    if path.name != "__main__.py":  # a command line
        above = set(LAYERS[LAYERS.index("plugin") + 1 :])
        assert not imported_layers(ast.parse(path.read_text())) & above


def test_every_file_belongs_to_a_layer():
    assert {layer_of(path) for path in FILES} == {*LAYERS, *ABOVE_ALL}


# The property keys in properties/intel_gpu are OpenVINO's, and begin with the name of its plugin.
@pytest.mark.parametrize(
    "path", [path for path in FILES if path.parent.name != "intel_gpu"], ids=lambda p: str(p.relative_to(ROOT))
)
def test_no_plugin_is_named(path):
    tree = ast.parse(path.read_text())
    documented = [n for n in ast.walk(tree) if isinstance(n, (ast.Module, ast.ClassDef, ast.FunctionDef))]
    docstrings = {ast.get_docstring(n, clean=False) for n in documented}
    strings = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)} - docstrings
    named = [s for s in strings for word in ("GPU", "TEMPLATE", "hetero_opencl", "hetero_template") if word in s]
    assert not named


def test_import_is_light():
    heavy = ["pyopencl", "networkx", "onnx", "pydantic", "yaml", "typer", "rich", "PIL"]
    heavy += [f"hetero.{layer}" for layer in ("ops", "reference", "dispatch", "frontend")]
    code = f"import sys, hetero; print([m for m in {heavy!r} if m in sys.modules])"
    assert run_python(code)[0] == "[]"
