"""Programs that import openvino, in processes where hetero is in its place."""

import importlib.metadata
import subprocess
import sys

import pytest

from tests.interpreter import run_python

pytestmark = pytest.mark.slow

MODEL = """
import numpy as np
import openvino as ov
from openvino import opset13 as ops
x = ops.parameter([1, 2], np.float32)
model = ov.Model([ops.relu(x)], [x], "relu")
image = np.array([[-1, 2]], np.float32)
"""


def run(tmp_path, code, *options, arguments=()):
    """Run a program by the command line. Return what it prints, and its standard error."""
    program = tmp_path / "program.py"
    program.write_text(code)
    command = [sys.executable, "-m", "hetero.as_openvino", *options, str(program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr.strip()


def test_modules_and_classes_are_those_of_hetero(tmp_path):
    code = """
import openvino as ov, hetero, pickle, sys, importlib, importlib.metadata, importlib.util
import openvino.properties.hint as hints
import openvino.runtime.opset8, openvino._pyopenvino, openvino.frontend.onnx
from openvino.runtime import Core, opset13
from openvino.runtime.passes import Manager
from openvino._pyopenvino import ConstOutput
from openvino import *
assert Core is ov.Core is hetero.Core is openvino._pyopenvino.Core and Tensor is hetero.Tensor
assert isinstance(ov.Type.f32, hetero.Type) and isinstance(hetero.Shape([1]), ov.Shape)
assert hints.inference_precision is hetero.properties.hint.inference_precision
assert opset13.relu is hetero.opset13.relu and openvino.runtime.opset8.relu is hetero.opset8.relu
assert Manager is hetero.passes.Manager
assert pickle.loads(pickle.dumps([ov.Type.f16, ov.Core])) == [hetero.Type.f16, hetero.Core]
assert pickle.loads(b"copenvino\\nModel\\n.") is hetero.Model  # as another process may have written it
assert importlib.import_module("openvino.op") is sys.modules["openvino.op"] is ov.op
assert {"Core", "Model"} <= set(dir(ov)) and importlib.util.find_spec("openvino") is not None
assert tuple(map(int, ov.get_version().split("-")[0].split("."))) >= (2026, 4)
assert ov.__version__ == ov.get_version() == ov.runtime.get_version()
print(importlib.metadata.version("openvino"), sys.argv[1:], __name__, __file__)
"""
    printed, _ = run(tmp_path, code, arguments=["--missing", "-x"])
    # The version of the package that is here to compare with.
    version = importlib.metadata.version("openvino")
    assert printed == f"{version} ['--missing', '-x'] __main__ {tmp_path / 'program.py'}"


def test_child_processes(tmp_path):
    code = """
import concurrent.futures, multiprocessing, subprocess, sys, threading
import openvino as ov

def work(wanted):
    import openvino, openvino.runtime, hetero
    assert openvino.runtime.Core is hetero.Core
    return openvino.Type.f32 == wanted, wanted

if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            assert pool.map(work, [ov.Type.f32, ov.Type.f16]) == [(True, ov.Type.f32), (False, ov.Type.f16)], method
    with concurrent.futures.ThreadPoolExecutor() as pool:
        assert list(pool.map(work, [ov.Type.f32])) == [(True, ov.Type.f32)]
    code = "import openvino.op, sys, subprocess; print(openvino.Core.__module__)"
    code += "; subprocess.run([sys.executable, '-c', 'import openvino; print(openvino.Core.__module__)'], check=True)"
    subprocess.run([sys.executable, "-c", code], check=True)
    code = "import importlib.metadata as m; print(m.version('openvino'), 'numpy' in m.packages_distributions())"
    subprocess.run([sys.executable, "-c", code], check=True)
"""
    printed, _ = run(tmp_path, code)
    assert printed.split() == ["hetero.runtime.core"] * 2 + [importlib.metadata.version("openvino"), "True"]


def test_devices_of_plugins_use_the_real_openvino(tmp_path):
    code = """
result = ov.Core().compile_model(model, "OPENVINO.CPU")(image)[0]
assert result.tolist() == [[0, 2]]
loop = ops.loop(ops.constant(3), ops.constant(True))  # OpenVINO checks the class of its body in C++
i = ops.parameter([1, 2], np.float32)
body = ov.Model([ops.constant(True), ops.add(i, i)], [i])
loop.set_function(body)
loop.set_special_body_ports([-1, 0])
loop.set_merged_input(i, x.output(0), body.results[1])
doubled = ov.Model([loop.get_iter_value(body.results[1], -1)], [x])
assert ov.Core().compile_model(doubled, "OPENVINO.CPU")(image)[0].tolist() == [[-8, 16]]
import hetero, openvino.properties
assert openvino.properties.enable_profiling is hetero.properties.enable_profiling
"""
    run(tmp_path, MODEL + code)


@pytest.mark.parametrize("option", ["HETERO:OPENVINO.CPU,TEMPLATE", "CPU=HETERO:OPENVINO.CPU,TEMPLATE"])
def test_device_map(tmp_path, option):
    code = """
for compiled in (ov.Core().compile_model(model, "CPU"), ov.compile_model(model, "CPU")):
    assert compiled(image)[0].tolist() == [[0, 2]]
    print(compiled.get_property("MULTI_DEVICE_PRIORITIES"))
print(ov.Core().compile_model(model, "TEMPLATE").get_property("EXECUTION_DEVICES"))
"""
    printed, _ = run(tmp_path, MODEL + code, "--device", option)
    first, second, third = printed.splitlines()
    assert "TEMPLATE" in first and first == second
    assert third == "['TEMPLATE']" if "=" in option else "OPENVINO.CPU" in third


def test_device_map_of_a_command(tmp_path):
    run(tmp_path, MODEL + f"ov.serialize(model, {str(tmp_path / 'relu.xml')!r})")
    command = ["benchmark_app", "-m", str(tmp_path / "relu.xml"), "-d", "NOTHING", "-niter", "1", "-json_stats"]
    command = [sys.executable, "-m", "hetero.as_openvino", "--device", "NOTHING=TEMPLATE", *command]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_properties_that_a_mapped_device_lacks(tmp_path):
    """HETERO has no architecture: the device that the program names has one. An unknown property is still an error."""
    code = """
print(ov.Core().get_property("TEMPLATE", "DEVICE_ARCHITECTURE"))
try:
    ov.Core().get_property("TEMPLATE", "NOTHING")
except RuntimeError as error:
    print(error)
"""
    alone, _ = run(tmp_path, MODEL + code)
    assert alone.splitlines()[0] and "TEMPLATE has no property NOTHING" in alone
    assert run(tmp_path, MODEL + code, "--device", "TEMPLATE=HETERO:TEMPLATE")[0] == alone


def test_precision(tmp_path):
    """The sums show the precision: they need 13 bits. OpenVINO itself says what is expected without an option."""
    code = """
import numpy as np
import openvino as ov
from openvino import opset13 as ops
weights = np.full((64, 4), 1 + 2**-12, np.float32)
x = ops.parameter([1, 64], np.float32)
model = ov.Model([ops.matmul(x, ops.constant(weights), False, False)], [x], "product")
for options in ({}, {"EXECUTION_MODE_HINT": "ACCURACY"}, {"EXECUTION_MODE_HINT": "PERFORMANCE"},
                {"INFERENCE_PRECISION_HINT": "f32"}):
    for device in DEVICES:
        print(ov.Core().compile_model(model, device, options)(np.ones((1, 64), np.float32))[0][0, 0], end=" ")
"""
    expected = run_python(code.replace("DEVICES", "('CPU', 'AUTO:CPU')"))[0].split()
    code = code.replace("DEVICES", "('CPU', 'OPENVINO.CPU')")
    assert run(tmp_path, code)[0].split() == expected
    exact = str(64 * (1 + 2**-12))
    printed, _ = run(tmp_path, code, "--precision", "f32")
    assert printed.split() == [exact] * 4 + expected[4:6] + [exact] * 2
    assert expected[2:4] + expected[6:] == [exact] * 4


def test_missing_names(tmp_path):
    code = """
import openvino as ov
import openvino.preprocess

def message(action, kind):
    try:
        action()
    except kind as error:
        return str(error)

def from_import():
    from openvino.preprocess import Nothing
def submodule():
    import openvino.nothing.at_all
print(message(lambda: ov.VAContext, AttributeError))
print(message(from_import, ImportError))
print(message(submodule, ImportError))
assert not hasattr(ov, "__nothing__") and importlib.util.find_spec("openvino.other") is None
"""
    printed, errors = run(tmp_path, "import importlib.util" + code, "--missing")
    names = ["openvino.VAContext", "openvino.preprocess.Nothing", "openvino.nothing"]
    where = "docs/openvino_programs.md lists the names of OpenVINO that it lacks"
    assert printed.splitlines() == [f"hetero has no {name}; {where}" for name in names]
    assert errors.endswith(f"names of openvino that hetero lacks: {', '.join(names)}")


def test_packages_in_cpp_are_refused(tmp_path):
    (tmp_path / "openvino_genai.py").write_text("raise SystemExit('imported')")
    code = """
import importlib.util
assert importlib.util.find_spec("openvino_genai") and not importlib.util.find_spec("openvino_tokenizers")
try:
    import openvino_genai
except ImportError as error:
    print(error)
import openvino as ov
try:
    ov.Core().add_extension("libcustom.so")
except RuntimeError as error:
    print(error)
"""
    package, extension = run(tmp_path, code)[0].splitlines()
    assert package.startswith("openvino_genai takes OpenVINO's own objects in C++, which hetero does not have")
    assert "libcustom.so" in extension


def test_import_in_the_program():
    code = """
import hetero.as_openvino, subprocess, sys
import openvino, hetero
assert openvino.Core is hetero.Core
subprocess.run([sys.executable, "-c", "import openvino; print(openvino.Core.__module__)"], check=True)
"""
    assert run_python(code)[0] == "hetero.runtime.core"
    code = """
import openvino
try:
    import hetero.as_openvino
except ImportError as error:
    print(error)
"""
    assert run_python(code)[0] == "openvino has been imported already: import hetero.as_openvino before it"


def test_a_module_that_is_hetero_already():
    """A program may put hetero in openvino's place itself. Device OPENVINO says so, and Core works."""
    code = "import sys, hetero; sys.modules['openvino'] = hetero; print(hetero.Core().unavailable_devices['OPENVINO'])"
    assert run_python(code)[0].startswith("the module openvino of this process is hetero: run the program by")


def test_commands_and_options_of_python(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.other_one_ran = True")
    command = [sys.executable, "-m", "hetero.as_openvino", "-c", "import openvino as o; print(o.Core, other_one_ran)"]
    environment = {"PYTHONPATH": ":".join([str(tmp_path), *filter(None, sys.path)]), "PATH": ""}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.stdout.strip() == "<class 'hetero.runtime.core.Core'> True", done.stderr
    done = subprocess.run([*command[:3], "echo", "x"], capture_output=True, text=True)
    assert done.stdout.strip() == "x"
