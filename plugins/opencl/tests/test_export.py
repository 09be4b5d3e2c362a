"""Exported models contain their kernels, so importing them builds none."""

import numpy as np
import pytest

import hetero
from hetero import Model, Parameter, Type, ops
from hetero.plugin.blobs.blob import read_blob
from tests.interpreter import run_python

CORE = hetero.Core()
IMPORT = """
import sys, numpy as np, hetero
from hetero_opencl.device import device
def refuse(*arguments):
    raise RuntimeError("a kernel is built")
device.OpenCLDevice.compile = refuse
_, file, name, folder = sys.argv
imported = hetero.Core().import_model(file, name, {"CACHE_DIR": folder})
print(imported(np.ones([4, 8], np.float32))[0].tolist())
"""


def model(rows=4) -> Model:
    x = Parameter(Type.f32, [rows, 8], name="x")
    product = ops.MatMul(x, np.arange(24, dtype=np.float32).reshape(8, 3), False, False)
    return Model(ops.Softmax(ops.Exp(ops.Negative(product)), axis=1), [x])


def run_elsewhere(file, device, folder) -> str:
    """Return what a process prints that has only the kernels of the imported model."""
    return run_python(IMPORT, str(file), device, str(folder))[0]


@pytest.mark.slow
def test_an_imported_model_builds_nothing(device, processor, monkeypatch, tmp_path):
    monkeypatch.undo()  # the other process uses the device's own kernels
    compiled, file, folder = CORE.compile_model(model(), device), tmp_path / "model.blob", tmp_path / "kernels"
    folder.mkdir()
    file.write_bytes(compiled.export_model().getvalue())
    assert run_elsewhere(file, device, folder) == str(compiled(np.ones([4, 8], np.float32))[0].tolist())
    assert not list(folder.iterdir())


def test_kernels_of_dynamic_models_are_exported(device):
    """Those of a likely shape at once, and those of other shapes once they were run."""
    compiled = CORE.compile_model(model(-1), device)
    before = compiled.export_model()
    compiled(np.ones([4000, 8], np.float32))
    kernels = [
        {name for name in read_blob(blob).sections if name.endswith(".bin")}
        for blob in (before, compiled.export_model())
    ]
    assert kernels[0] and kernels[0] <= kernels[1]


def test_weights_are_exported_compressed():
    x = Parameter(Type.f32, [1, 1024])
    weights = ops.Convert(np.ones((1024, 1024), np.float16), Type.f32)
    compiled = CORE.compile_model(Model(ops.MatMul(x, weights, False, True), [x]), "GPU")
    assert len(compiled.export_model().getbuffer()) < 3 << 20
    np.testing.assert_array_equal(compiled(np.ones([1, 1024], np.float32))[0], np.full([1, 1024], 1024))
