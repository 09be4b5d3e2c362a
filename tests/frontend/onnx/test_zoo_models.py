"""Every ONNX model of the zoo, run operation by operation, against ONNX Runtime."""

import pytest

from hetero.frontend.onnx import OnnxFrontEnd
from tests import zoo
from tests.frontend.onnx.compare import assert_close, run_reference

CASES = [(name, shape) for name, model in zoo.ONNX.items() for shape in model.shapes]


@pytest.mark.parametrize(("name", "shape"), CASES, ids=lambda v: v if isinstance(v, str) else "x".join(map(str, v)))
def test_model(name, shape):
    model = OnnxFrontEnd().convert(zoo.path(name))
    assert_close(run_reference(model, zoo.inputs(name, 0, shape)), zoo.expected(name, 0, shape))
