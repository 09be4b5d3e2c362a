"""Exported programs and torch's outputs, which tests/frameworks/pytorch/make_cases.py made: read without torch."""

from pathlib import Path

import numpy as np
import pytest

from hetero import Core
from tests.devices import GPUS
from tests.frontend.stored_calls import read_calls
from tests.interpreter import run_python

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.name for path in CASES.glob("*.pt2"))


@pytest.mark.every_case
@pytest.mark.parametrize("device", ["TEMPLATE", *GPUS[:1]])
@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_torch(name, device):
    request = Core().compile_model(CASES / name, device).create_infer_request()
    for inputs, outputs in read_calls(CASES, name):
        found = request.infer(inputs).to_tuple()
        assert [array.dtype for array in found] == [array.dtype for array in outputs]
        for array, expected in zip(found, outputs, strict=True):
            np.testing.assert_allclose(array, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_torch_is_not_needed():
    code = "import sys; sys.modules['torch'] = None; import hetero; print(hetero.Core().read_model(sys.argv[1]).inputs)"
    line, _ = run_python(code, str(CASES / "encoder.pt2"))
    assert "shape[2,5,16] type: f32" in line


def test_dynamic_dimensions_have_the_range_of_their_symbol():
    model = Core().read_model(CASES / "dynamic_batch.pt2")
    assert model.input("x").partial_shape.described() == "[s77=1..8,3,16,16]"  # as in the file


def test_nodes_are_named_by_the_modules_that_call_them():
    names = {node.friendly_name for node in Core().read_model(CASES / "convolutions.pt2").get_ops()}
    assert {"layer1.0.conv1/conv2d_1", "layer1.0.conv1.weight", "head.2/linear"} <= names


def test_buffers_that_the_program_changes_are_variables():
    for name in ("cache.pt2", "cache.core.pt2"):
        model = Core().read_model(CASES / name)
        assert [variable.info.variable_id for variable in model.get_variables()] == ["keys", "values"]
        assert len(model.inputs) == len(model.outputs) == 1
