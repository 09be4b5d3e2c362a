"""Exported models contain their kernels, so importing them builds none."""

import json

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
_, file, name, folder, shapes = sys.argv
imported = hetero.Core().import_model(file, name, {"CACHE_DIR": folder})
print([imported(np.ones(shape, np.float32))[0].tolist() for shape in eval(shapes)])
"""


def model(rows=4) -> Model:
    x = Parameter(Type.f32, [rows, 8], name="x")
    product = ops.MatMul(x, np.arange(24, dtype=np.float32).reshape(8, 3), False, False)
    return Model(ops.Softmax(ops.Exp(ops.Negative(product)), axis=1), [x])


def run_elsewhere(compiled, device, folder, shapes) -> list:
    """Return the results for inputs of ones in a process that has only the kernels of the exported model."""
    file, kernels = folder / "model.blob", folder / "kernels"
    kernels.mkdir()
    file.write_bytes(compiled.export_model().getvalue())
    results = json.loads(run_python(IMPORT, str(file), device, str(kernels), str(shapes))[0])
    assert not list(kernels.iterdir())
    return results


@pytest.mark.slow
def test_an_imported_model_builds_nothing(device, processor, monkeypatch, tmp_path):
    monkeypatch.undo()  # the other process uses the device's own kernels
    compiled = CORE.compile_model(model(), device)
    assert run_elsewhere(compiled, device, tmp_path, [[4, 8]]) == [compiled(np.ones([4, 8], np.float32))[0].tolist()]


def attention(items: int, words: int) -> Model:
    """An attention over the words of each item, with products before and after it, and a mean of the words."""
    x, draw = Parameter(Type.f32, [items, words, 32], name="x"), np.random.default_rng(0)
    weights = draw.standard_normal((3, 32, 32), np.float32) / 8
    q, k, v = (ops.MatMul(x, each, False, False) for each in weights)
    scores = ops.Softmax(ops.MatMul(q, k, False, True), axis=-1)
    mixed = ops.MatMul(ops.MatMul(scores, v, False, False), np.eye(32, dtype=np.float32), False, False)
    hidden = ops.Add(x, ops.Gelu(mixed, "erf"))
    return Model(ops.ReduceMean(ops.MVN(hidden, np.int64([2]), True, 1e-5, "INSIDE_SQRT"), np.int64([1]), False), [x])


def picture(items: int, width: int) -> Model:
    """Convolutions and a pooling over pictures of any width, with a shortcut."""
    x, draw = Parameter(Type.f32, [items, 3, 16, width], name="x"), np.random.default_rng(0)
    first, second = (draw.random(shape, np.float32) for shape in ((16, 3, 3, 3), (16, 16, 3, 3)))
    hidden = ops.Relu(ops.Convolution(x, first, [2, 2], [1, 1], [1, 1], [1, 1]))
    pooled = ops.AvgPool(
        ops.Add(hidden, ops.Convolution(hidden, second, [1, 1], [1, 1], [1, 1], [1, 1])),
        [2, 2],
        [0, 0],
        [0, 0],
        [2, 2],
        True,
    )
    return Model(ops.Softmax(pooled, axis=1), [x])


LENGTHS = [(items, length) for items in (1, 2, 7, 20) for length in (1, 2, 6, 15, 16, 17, 64, 100, 255, 256, 300, 512)]


@pytest.mark.slow
@pytest.mark.parametrize("make", [attention, picture])
def test_an_imported_model_builds_nothing_for_likely_lengths(device, processor, monkeypatch, tmp_path, make):
    monkeypatch.undo()
    compiled, reference = (CORE.compile_model(make(-1, -1), name) for name in (device, "TEMPLATE"))
    lengths = [each for each in LENGTHS if make is attention or each[1] >= 16]
    shapes = [[items, length, 32] if make is attention else [items, 3, 16, length] for items, length in lengths]
    for shape, found in zip(shapes, run_elsewhere(compiled, device, tmp_path, shapes), strict=True):
        np.testing.assert_allclose(found, reference(np.ones(shape, np.float32))[0], rtol=2e-5, atol=2e-5)


def test_kernels_of_dynamic_models_are_exported(device, tmp_path):
    """Those of likely shapes at once, unless they go to a cache when they are built; others once they were run."""
    compiled = CORE.compile_model(model(-1), device)
    cached = CORE.compile_model(model(-1), device, {"CACHE_DIR": str(tmp_path)})

    def kernels(exported):
        return {name for name in read_blob(exported.export_model()).sections if name.endswith(".bin")}

    few, before = kernels(cached), kernels(compiled)
    compiled(np.ones([70000, 8], np.float32))
    assert few and few < before <= kernels(compiled)


def test_weights_are_exported_compressed():
    x = Parameter(Type.f32, [1, 1024])
    weights = ops.Convert(np.ones((1024, 1024), np.float16), Type.f32)
    compiled = CORE.compile_model(Model(ops.MatMul(x, weights, False, True), [x]), "GPU")
    assert len(compiled.export_model().getbuffer()) < 3 << 20
    np.testing.assert_array_equal(compiled(np.ones([1, 1024], np.float32))[0], np.full([1, 1024], 1024))
