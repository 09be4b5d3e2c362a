"""Every model of the zoo in IR files that OpenVINO writes, read by us."""

import openvino
import pytest

from hetero.frontend.ir import IrFrontEnd
from tests import zoo
from tests.frontend.ir.test_zoo_models import OPENVINOS, core
from tests.frontend.onnx.compare import assert_close, run_reference


@pytest.mark.parametrize("name", OPENVINOS)
def test_we_read_what_openvino_writes(tmp_path, name):
    openvino.serialize(core.read_model(zoo.path(name)), tmp_path / "model.xml")
    model = IrFrontEnd().convert(tmp_path / "model.xml")
    assert_close(run_reference(model, zoo.inputs(name)), zoo.expected(name))
