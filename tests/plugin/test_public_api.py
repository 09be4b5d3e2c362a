"""The plugin API is a contract: the bundled plugins import nothing else from hetero, nor does a new plugin."""

import ast
import importlib

import pytest

import hetero.compiler
import hetero.graph
import hetero.plugin
from tests.structure import PACKAGES, module_name, source_files

# Packages whose modules may be imported, and the packages of which the exported names may be.
MODULES = (
    "hetero.core",
    "hetero.ops",
    "hetero.passes",
    "hetero.properties",
    "hetero.reference",
    "hetero.system.errors",
)
EXPORTED = {module.__name__: module.__all__ for module in (hetero.compiler, hetero.graph, hetero.plugin)}
# Modules that use hetero as the program of a user does: command lines, and programs in processes of their own.
PROGRAMS = {
    "hetero_opencl.__main__",  # the command line
    "hetero_opencl.trial_process",  # runs small models on a device before hetero uses it
    "hetero_ray.worker",  # runs models on the devices of another machine
    # The process that builds kernels starts in half the time without the plugin API.
    "hetero_opencl.device.caches",
    "hetero_opencl.device.intel",
    "hetero_opencl.device.pocl",
}
TEMPLATE = PACKAGES["hetero"] / "hetero/run/plugin_template/hetero_example"
PLUGIN_FILES = {
    **{module_name(path): path for package in PACKAGES if package != "hetero" for path in source_files(package)},
    **{f"template.{path.stem}": path for path in TEMPLATE.rglob("*.py")},
}


def private_imports(path) -> list[str]:
    """Return the imports of a file from hetero that are not in the contract."""
    imported = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            imported += [(node.module or "", alias.name) for alias in node.names]
    return [f"{module} {name}".strip() for module, name in imported if not is_public(module, name)]


def is_public(module: str, name: str) -> bool:
    if module == "hetero":
        module, name = f"hetero.{name}", ""
    in_modules = any(f"{module}.".startswith(f"{public}.") for public in MODULES)
    return module.partition(".")[0] != "hetero" or in_modules or name in EXPORTED.get(module, ())


def test_the_programs_exist():
    assert PLUGIN_FILES.keys() >= PROGRAMS


@pytest.mark.parametrize("module", sorted(PLUGIN_FILES.keys() - PROGRAMS))
def test_plugins_import_the_plugin_api_only(module):
    assert private_imports(PLUGIN_FILES[module]) == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("from hetero.plugin.host import Host", ["hetero.plugin.host Host"]),
        ("from hetero.plugin import Plugin, nothing", ["hetero.plugin nothing"]),
        ("from hetero import Core, ops", ["hetero Core"]),
        ("import hetero.runtime", ["hetero.runtime"]),
        ("def f():\n    from hetero.system.files import atomic_write", ["hetero.system.files atomic_write"]),
        ("from hetero.core.types import Type\nfrom hetero.system.errors import DeviceError", []),
    ],
)
def test_private_names_are_found(tmp_path, line, expected):
    (tmp_path / "module.py").write_text(line)
    assert private_imports(tmp_path / "module.py") == expected


@pytest.mark.parametrize("package", EXPORTED)
def test_each_exported_name_exists_once(package):
    names, module = EXPORTED[package], importlib.import_module(package)
    assert len(set(names)) == len(names) and all(hasattr(module, name) for name in names)
