"""Every ONNX model of the zoo in IR files that we write, read by us and by OpenVINO."""

import openvino
import pytest

import hetero
from hetero.frontend.ir import IrFrontEnd
from hetero.frontend.onnx import OnnxFrontEnd
from tests import zoo
from tests.frontend.onnx.compare import assert_close, run_reference

core = openvino.Core()
# OpenVINO can neither read the ONNX file of voice activity nor run its If, whose branches differ in rank.
OPENVINOS = [name for name in zoo.ONNX if name != "voice_activity"]


def run_openvino(path, inputs):
    compiled = core.compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    results = compiled(inputs)
    return {output.get_any_name(): results[output] for output in compiled.outputs}


@pytest.mark.parametrize("name", zoo.ONNX)
def test_after_a_trip_template_computes_the_same(tmp_path, name):
    hetero.serialize(OnnxFrontEnd().convert(zoo.path(name)), tmp_path / "model.xml")
    compiled = hetero.Core().compile_model(tmp_path / "model.xml", "TEMPLATE")
    results = compiled(zoo.inputs(name))
    assert_close({output: results[output] for output in zoo.expected(name)}, zoo.expected(name), tolerance=1e-4)


@pytest.mark.parametrize("name", OPENVINOS)
def test_openvino_reads_what_we_write(tmp_path, name):
    hetero.serialize(OnnxFrontEnd().convert(zoo.path(name)), tmp_path / "model.xml")
    assert_close(run_openvino(tmp_path / "model.xml", zoo.inputs(name)), zoo.expected(name))


# Of OCR models OpenVINO fuses the GELUs, whose constants it takes for exact although they were rounded; the large
# ones would say nothing new.
@pytest.mark.parametrize("name", ["magika", "basic_pitch", "ocr_direction", "squeezenet"])
def test_both_read_the_same_halves(tmp_path, name):
    """Rounding to f16 changes a model's results, but all readers must agree on them."""
    hetero.save_model(OnnxFrontEnd().convert(zoo.path(name)), tmp_path / "model.xml")
    assert (tmp_path / "model.bin").stat().st_size < 0.6 * zoo.path(name).stat().st_size
    model = IrFrontEnd().convert(tmp_path / "model.xml")
    inputs = zoo.inputs(name)
    assert_close(run_reference(model, inputs), run_openvino(tmp_path / "model.xml", inputs))
