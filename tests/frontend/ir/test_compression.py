"""f16 compression by save_model: which constants, how accurate, and how much memory it takes."""

import tracemalloc

import numpy as np
import openvino
import pytest

import hetero
from hetero import opset13 as ops
from hetero.frontend.ir import IrFrontEnd
from hetero.frontend.onnx import OnnxFrontEnd
from hetero.graph import is_constant
from hetero.graph.order import walk_nested
from tests import zoo
from tests.frontend.ir.samples import full_model

core = openvino.Core()
F32 = np.float32


def saved(model, tmp_path, **keywords):
    hetero.save_model(model, tmp_path / "model.xml", **keywords)
    return IrFrontEnd().convert(tmp_path / "model.xml")


def constant_types(model):
    return [node.get_element_type().to_string() for node in walk_nested(model.get_ordered_ops()) if is_constant(node)]


def added(array):
    x = hetero.Parameter(hetero.Type.f32 if array.dtype == F32 else hetero.Type.f64, array.shape, name="x")
    return hetero.Model([ops.add(x, hetero.Constant(array, name="addend"))], [x])


CASES = {
    "ordinary": (F32([1, -2.5, 1e-3]), "f16"),
    "of double precision": (np.float64([1, -2.5, 1e-3]), "f16"),
    "the largest": (F32([65504, -65504]), "f16"),
    "too large": (F32([1, 65505]), "f32"),
    "too large and negative": (F32([1, -1e6]), "f32"),
    "a few too small": (F32([1, 2, 1e-9, 1e-9]), "f16"),
    "most too small": (F32([1, 1e-9, 1e-9, -1e-9]), "f32"),
    "zeros": (F32([0, 0, 0]), "f16"),
    "infinite": (F32([np.inf, 1]), "f16"),
    "empty": (F32([]), "f32"),
}


@pytest.mark.parametrize("case", CASES)
def test_which_constants(tmp_path, case):
    array, wanted = CASES[case]
    model = saved(added(array), tmp_path)
    assert constant_types(model) == [wanted]
    assert constant_types(saved(added(array), tmp_path, compress_to_fp16=False)) == [
        hetero.Type(array.dtype).to_string()
    ]
    source = model.results[0].input_value(0).node.input_value(1).node
    assert source.friendly_name == "addend"
    assert source.get_element_type() is hetero.Type(array.dtype)


def test_openvino_knows_the_conversion(tmp_path):
    """OpenVINO writes a Convert that it does not recognize as decompression differently."""
    hetero.save_model(added(F32([1, 2])), tmp_path / "ours.xml")
    openvino.save_model(core.read_model(tmp_path / "ours.xml"), tmp_path / "theirs.xml")
    note = '<attribute name="decompression" version="0" />'
    assert note in (tmp_path / "ours.xml").read_text() and note in (tmp_path / "theirs.xml").read_text()


def test_what_decides_shapes_stays_exact(tmp_path):
    """1.3 as f16 is less, and 10 * 1.3 would become 12."""
    x = hetero.Parameter(hetero.Type.f32, [1, 1, "?", "?"], name="x")
    scale = hetero.Constant(F32([1, 1, 1.3, 1.3]), name="scale")
    sizes = ops.convert(ops.multiply(ops.convert(ops.shape_of(x), "f32"), scale), "i64")
    larger = ops.interpolate(ops.multiply(x, F32(1.5)), sizes, "nearest", "sizes", axes=np.int64([0, 1, 2, 3]))
    model = hetero.Model([larger], [x])
    assert sorted(constant_types(saved(model, tmp_path))) == ["f16", "f32", "i64"]
    compiled = hetero.Core().compile_model(tmp_path / "model.xml", "TEMPLATE")
    assert compiled([np.ones((1, 1, 10, 20), F32)])[0].shape == (1, 1, 13, 26)


def test_constants_of_bodies(tmp_path):
    given = hetero.Parameter(hetero.Type.f32, [2])
    bodies = [hetero.Model([ops.multiply(given, F32([2, 3]))], [given])]
    given = hetero.Parameter(hetero.Type.f32, [2])
    bodies.append(hetero.Model([ops.add(given, F32([4, 5]))], [given]))
    x, which = hetero.Parameter(hetero.Type.f32, [2]), hetero.Parameter(hetero.Type.boolean, [])
    branch = ops.if_op(which)
    for index, body in enumerate(bodies):
        branch.set_function(index, body)
    branch.set_input(x.output(0), bodies[0].parameters[0], bodies[1].parameters[0])
    branch.set_output(bodies[0].results[0], bodies[1].results[0])
    model = hetero.Model([branch], [x, which])
    assert constant_types(saved(model, tmp_path)) == ["f16", "f16"]
    assert constant_types(model) == ["f32", "f32"]


def test_a_full_model_is_the_same_but_for_rounding(tmp_path):
    read = saved(full_model(), tmp_path)
    assert [str(o.partial_shape) for o in read.outputs] == [str(o.partial_shape) for o in full_model().outputs]


@pytest.mark.parametrize(("compressed", "share"), [(False, 0.05), (True, 0.6)])
def test_memory(tmp_path, compressed, share):
    """For a memory-mapped model, compression takes half of its size, and uncompressed constants take nothing."""
    path = zoo.path("resnet50")
    model = OnnxFrontEnd().convert(path)
    hetero.save_model(full_model(), tmp_path / "other.xml")  # what is imported on first use does not count
    tracemalloc.start()
    try:
        hetero.save_model(model, tmp_path / "model.xml", compress_to_fp16=compressed)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        read = IrFrontEnd().convert(tmp_path / "model.xml")
        after, peak_of_reading = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < share * path.stat().st_size
    assert sum(node.byte_size for node in read.get_ordered_ops() if is_constant(node)) > 40e6
    assert max(peak_of_reading, after) - before < 0.05 * path.stat().st_size
