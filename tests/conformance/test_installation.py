"""Packages with devices and operations as others make and install them: with pip, in an environment of its own."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import numpy as np
import onnx.parser
import pytest
from onnx import TensorProto, helper

from tests import zoo
from tests.test_readme import blocks

ROOT = Path(__file__).parents[2]
# Reads a model, its inputs and a device string; writes outputs and what ran where.
PROGRAM = """
import json, sys
import numpy as np
from hetero import Core

model, inputs, device, outputs = sys.argv[1:]
compiled = Core().compile_model(model, device)
results = compiled(dict(np.load(inputs)))
np.savez(outputs, **{port.any_name: results[port] for port in compiled.outputs})
operations = compiled.get_property("PLACEMENT_REPORT").operations
print(json.dumps([[operation.type_name, operation.device] for operation in operations]))
"""


class Environment:
    """A virtual environment of its own in a folder, which sees nothing of this repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._variables = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "HETERO_ZOO")}
        # Without a pip of its own, which would take seconds to install: this one's works on it from outside.
        self._call(sys.executable, "-m", "venv", "--without-pip", "venv")

    def run(self, program: str, *arguments: str) -> str:
        """What a program of the environment prints on standard output; it must succeed."""
        return self._call(str(self.folder / "venv" / "bin" / program), *arguments)

    def install(self, *requirements: str) -> None:
        self._pip("--python", "venv", "install", "--no-compile", *requirements)

    def build_wheels(self, *sources: str) -> list[str]:
        """Build packages in folders here; the wheels."""
        wheels = self.folder / f"wheels of {' '.join(Path(source).name for source in sources)}"
        self._pip("wheel", "--no-deps", "--wheel-dir", str(wheels), *sources)
        return [str(wheel) for wheel in wheels.glob("*.whl")]

    def _pip(self, *arguments: str) -> None:
        self._call(sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments)

    def _call(self, *command: str) -> str:
        done = subprocess.run(command, cwd=self.folder, env=self._variables, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def infer(self, model: Path, inputs: dict[str, np.ndarray], device: str) -> tuple[dict, list]:
        """The outputs of a model by their names, and the type and the device of each operation."""
        np.savez(self.folder / "inputs.npz", **inputs)
        told = self.run("python", "-c", PROGRAM, str(model), "inputs.npz", device, "outputs.npz")
        return dict(np.load(self.folder / "outputs.npz")), json.loads(told.splitlines()[-1])


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> Environment:
    """An environment with hetero, TEMPLATE and pytest, from wheels."""
    folder = tmp_path_factory.mktemp("installation")
    environment = Environment(folder)
    # Copies, since building leaves folders in the sources.
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    (folder / "hetero").mkdir()
    shutil.copytree(ROOT / "hetero", folder / "hetero" / "hetero", ignore=ignore)
    for name in ("pyproject.toml", "README.md", "_hetero_pytest.py"):
        shutil.copy(ROOT / name, folder / "hetero")
    shutil.copytree(ROOT / "plugins" / "template", folder / "template", ignore=ignore)
    environment.install(*environment.build_wheels("./hetero", "./template"), "pytest")
    shutil.rmtree(folder / "hetero")
    shutil.rmtree(folder / "template")
    return environment


def test_wheels_have_every_file_of_their_packages(environment):
    for source in (ROOT / "hetero", ROOT / "plugins" / "template" / "hetero_template"):
        (wheel,) = environment.folder.glob(f"wheels*/{source.name}-*.whl")
        packed = set(zipfile.ZipFile(wheel).namelist())
        files = [path.relative_to(source.parent) for path in source.rglob("*") if path.is_file()]
        # Tools leave caches in the sources.
        files = [file for file in files if not any(part.startswith((".", "__pycache__")) for part in file.parts)]
        assert {str(file) for file in files} <= packed


def new_plugin(environment: Environment, name: str) -> Path:
    """A package as ``hetero plugin new`` writes it."""
    environment.run("hetero", "plugin", "new", name)
    return environment.folder / f"hetero-{name.lower()}"


def install(environment: Environment, package: Path) -> None:
    """Build the package's wheel and install that."""
    environment.install("--no-deps", *environment.build_wheels(f"./{package.name}"))


def test_a_new_device_passes_the_kit_and_runs_its_part_of_a_model(environment):
    package = new_plugin(environment, "NPU")
    install(environment, package)
    assert "NPU" in environment.run("hetero", "devices")
    assert "1 passed" in environment.run("pytest", f"{package.name}/tests")
    told = environment.run(
        "pytest", "--pyargs", "hetero.conformance", "--device", "NPU", "-k", "not test_case and not test_hard"
    )
    assert " passed" in told and "skipped" not in told and "unsupported features: " in told
    name = "squeezenet"
    shape = zoo.MODELS[name].shapes[0]
    found, placed = environment.infer(zoo.path(name), zoo.inputs(name, 0, shape), "HETERO:NPU,TEMPLATE")
    assert {device for kind, device in placed if kind == "Relu"} == {"NPU"}
    assert {device for kind, device in placed if kind != "Relu"} == {"TEMPLATE"}
    for output, expected in zoo.expected(name, 0, shape).items():
        assert found[output].shape == expected.shape
        assert np.abs(found[output] - expected).max() <= 1e-4 * np.abs(expected).max()


OPERATION = '''"""SoftClip: x / (1 + |x| / limit), which lies between -limit and limit."""

import numpy as np
from hetero import Op
from hetero.frontend import OpExtension
from hetero.graph import Attribute


class SoftClip(Op):
    inputs = ("x",)
    limit = Attribute(float)

    def validate_and_infer_types(self):
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


def soft_clip(node, x):
    return x / (1 + np.abs(x) / x.dtype.type(node.limit))


def make_extensions():
    return OpExtension(SoftClip, attr_names_map={"limit": "threshold"})
'''
HOOK = """

@hookimpl
def hetero_register_extensions(registry: Registry) -> None:
    registry.register_extension(_make_extensions)


def _make_extensions():
    from hetero_acme.soft_clip import make_extensions

    return make_extensions()
"""


def test_a_device_with_an_operation_of_its_own(environment):
    """Model files with the operation are read and run without a line of the user's."""
    package = new_plugin(environment, "acme") / "hetero_acme"
    (package / "soft_clip.py").write_text(OPERATION)
    with open(package / "__init__.py", "a") as file:
        file.write(HOOK)
    operations = (package / "operations.py").read_text()
    operations = operations.replace("\n\n\n", "\nfrom hetero_acme.soft_clip import soft_clip\n\n\n", 1)
    operations = operations.replace('("Relu", "opset1"): relu,', '("SoftClip", "extension"): soft_clip,')
    (package / "operations.py").write_text(operations)
    install(environment, package.parent)

    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", 3]) for name in "xy"]
    nodes = [
        helper.make_node("Exp", ["x"], ["a"]),
        helper.make_node("SoftClip", ["a"], ["b"], domain="com.acme", threshold=2.0),
        helper.make_node("Neg", ["b"], ["y"]),
    ]
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.acme", 1)]
    model = helper.make_model(helper.make_graph(nodes, "model", value[:1], value[1:]), opset_imports=imports)
    (environment.folder / "model.onnx").write_bytes(model.SerializeToString())
    x = np.float32([[-1, 0, 1], [2, 3, 4]])
    found, placed = environment.infer(environment.folder / "model.onnx", {"x": x}, "HETERO:ACME,TEMPLATE")
    assert placed == [["Exp", "TEMPLATE"], ["SoftClip", "ACME"], ["Negative", "TEMPLATE"]]
    np.testing.assert_allclose(found["y"], -np.exp(x) / (1 + np.exp(x) / 2), rtol=1e-6)


# What device GPU needs besides; large, and there already.
OPENCL = ("pyopencl*", "pytools*", "siphash24*")
PROJECT = """
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "soft-ops"
version = "1.0"
dependencies = ["hetero"]

"""
MORE = """

class Shift(Op):
    inputs = ("x",)
    by = Attribute(int)

    def validate_and_infer_types(self):
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

    def evaluate(self, outputs, inputs):
        outputs[0].data[:] = inputs[0].data + self.by
        return True
"""
EXPORT = """
from hetero import Core

compiled = Core().compile_model("soft.onnx", "HETERO:GPU,TEMPLATE")
open("blob", "wb").write(compiled.export_model().getbuffer())
"""
IMPORT = """
import numpy as np
from hetero import Core

compiled = Core().import_model("blob", "HETERO:GPU,TEMPLATE")
print(compiled(np.zeros((1, 3), np.float32))[0].tolist())
"""


def add_opencl(environment: Environment) -> None:
    """Device GPU from its wheel, with pyopencl, which brings PoCL, as it is installed here."""
    shutil.copytree(ROOT / "plugins" / "opencl", environment.folder / "opencl", ignore=shutil.ignore_patterns("tests"))
    environment.install("--no-deps", *environment.build_wheels("./opencl"))
    borrowed = environment.folder / "borrowed"
    borrowed.mkdir()
    for pattern in OPENCL:
        for found in Path(sysconfig.get_path("platlib")).glob(pattern):
            (borrowed / found.name).symlink_to(found)
    (site_packages,) = (environment.folder / "venv").glob("lib/python*/site-packages")
    (site_packages / "borrowed.pth").write_text(f"{borrowed}\n")


def test_a_package_with_operations_and_no_device(environment):
    """The package of docs/custom_operations.md and an operation without OpenCL C run on GPU and TEMPLATE."""
    add_opencl(environment)
    package = environment.folder / "soft-ops"
    (package / "soft_ops").mkdir(parents=True)
    page = "docs/custom_operations.md"
    operations, hook = blocks("python", page)
    (package / "soft_ops" / "operations.py").write_text(operations + MORE)
    for before, after in (
        ("import SoftClip", "import Shift, SoftClip"),
        ("return SoftClip", "return [SoftClip, Shift]"),
    ):
        hook = hook.replace(before, after)
    (package / "soft_ops" / "__init__.py").write_text(hook)
    (package / "pyproject.toml").write_text(PROJECT + blocks("toml", page)[0])
    install(environment, package)

    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17, "soft" : 1]>
        agraph (float[rows, 3] x) => (float[rows, 3] y) {
            a = Exp (x)
            b = soft.SoftClip <limit = 2.0> (a)
            c = soft.Shift <by = 3> (b)
            y = Neg (c)
        }""")
    (environment.folder / "soft.onnx").write_bytes(model.SerializeToString())
    x = np.float32([[-1, 0, 1], [2, 3, 4]])
    found, placed = environment.infer(environment.folder / "soft.onnx", {"x": x}, "HETERO:GPU,TEMPLATE")
    assert placed == [["Exp", "GPU"], ["SoftClip", "GPU"], ["Shift", "TEMPLATE"], ["Negative", "GPU"]]
    np.testing.assert_allclose(found["y"], -(np.exp(x) / (1 + np.exp(x) / 2) + 3), rtol=1e-5)
    # Exported by one process, it is known to the next.
    environment.run("python", "-c", EXPORT)
    told = environment.run("python", "-c", IMPORT)
    np.testing.assert_allclose(json.loads(told.splitlines()[-1]), [[-(1 / 1.5 + 3)] * 3], rtol=1e-5)
    told = environment.run("hetero", "query", "soft.onnx", "-d", "GPU")
    assert "no kernel for extension::Shift" in " ".join(told.split())
